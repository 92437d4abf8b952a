//! The certificates by which servers are checked.

use rolecall_base::environment::path;
use rolecall_base::file::{MOST_TEXT, read_bytes};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// The certificates in the file that `SSL_CERT_FILE` names, or one of the variables that
/// Python's tools read instead; otherwise those that come with this program.
pub(crate) fn config() -> TlsConfig {
    let names = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
    let file = names.into_iter().find_map(path);
    let pem = file.and_then(|file| read_bytes(&file, MOST_TEXT).ok());
    let certificates = pem.map(|pem| certificates(&pem));
    let certificates = certificates.filter(|known| !known.is_empty());
    let roots = certificates.map_or(RootCerts::WebPki, RootCerts::from);
    TlsConfig::builder().root_certs(roots).build()
}

/// The certificates in a PEM file.
fn certificates(pem: &[u8]) -> Vec<Certificate<'static>> {
    let items = parse_pem(pem).filter_map(Result::ok);
    items
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect()
}
