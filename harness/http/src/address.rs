//! Addresses on servers.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

/// An `http://` or `https://` address.
#[derive(Debug, Clone)]
pub struct Address(Uri);

impl Address {
    /// An address that begins with `http://` or `https://` and names a host.
    pub fn parse(text: &str) -> Option<Address> {
        let uri: Uri = text.parse().ok()?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        (is_http && has_host).then_some(Address(uri))
    }

    /// The name of the host.
    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// Whether two addresses are of one server: the same host, port and encryption.
    pub fn is_same_server(&self, other: &Address) -> bool {
        self.scheme() == other.scheme() && self.authority().eq_ignore_ascii_case(other.authority())
    }

    /// Whether the host is this machine.
    pub fn is_this_machine(&self) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']');
        let is_loopback = |address: IpAddr| address.is_loopback();
        host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
    }

    /// The target of a redirect from here. The error says why it must not be followed: a
    /// redirect never leaves encryption.
    pub(crate) fn redirected(&self, location: &str) -> Result<Address, String> {
        let (scheme, authority) = (self.scheme(), self.authority());
        let target = if location.contains("://") {
            location.to_owned()
        } else if location.starts_with("//") {
            format!("{scheme}:{location}")
        } else if location.starts_with('/') {
            format!("{scheme}://{authority}{location}")
        } else {
            let path = self.0.path();
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{scheme}://{authority}{folder}/{location}")
        };
        let target = Address::parse(&target).ok_or(format!("not an address: {target}"))?;
        if scheme == "https" && target.scheme() != "https" {
            return Err(format!("{target} is not encrypted"));
        }
        Ok(target)
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    fn scheme(&self) -> &str {
        self.0.scheme_str().unwrap_or("https")
    }

    fn authority(&self) -> &str {
        self.0
            .authority()
            .map_or("", |authority| authority.as_str())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
