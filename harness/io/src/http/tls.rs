//! The certificates by which servers are checked.

use std::path::Path;

use rolecall_core::environment::path;
use rolecall_core::file::{MOST_TEXT, read_bytes};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// The variables that name a file with certificates. Python's tools read the last two.
const NAMES: [&str; 3] = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];

/// The certificates in the file that the first variable of [`NAMES`] names; otherwise those that
/// come with this program. The error says why the file holds none.
pub(crate) fn config() -> Result<TlsConfig, String> {
    let named = NAMES.into_iter().find_map(|name| Some((name, path(name)?)));
    let roots = match named {
        Some((name, file)) => certificates(name, &file)?,
        None => RootCerts::WebPki,
    };
    Ok(TlsConfig::builder().root_certs(roots).build())
}

/// The certificates in a PEM file.
fn certificates(name: &str, file: &Path) -> Result<RootCerts, String> {
    let failed = |why: String| format!("{name} names {}: {why}", file.display());
    let pem = read_bytes(file, MOST_TEXT).map_err(|problem| failed(problem.message))?;
    let items = parse_pem(&pem).filter_map(Result::ok);
    let found: Vec<Certificate<'static>> = items
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    if found.is_empty() {
        return Err(failed("it holds no certificate".to_owned()));
    }
    Ok(RootCerts::from(found))
}
