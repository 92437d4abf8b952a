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
        // The port of `http://user:pass/word@host` is no number, and its host is no host.
        let place = uri.authority()?.as_str().rsplit('@').next()?;
        let port = place.strip_prefix(uri.host()?)?;
        let has_port = matches!(port, "" | ":") || uri.port_u16().is_some();
        (is_http && has_host && has_port).then_some(Address(uri))
    }

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
        let target = Address::parse(&target)
            .ok_or_else(|| format!("not an address: {}", without_password(&target)))?;
        if scheme == "https" && target.scheme() != "https" {
            return Err(format!("{target} is not encrypted"));
        }
        Ok(target)
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.scheme() == "https"
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

/// An address is shown without its password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        without_password(&self.0.to_string()).fmt(f)
    }
}

/// A text that may be an address, with `***` for its password. A name without a password may be a
/// token, so it is not shown either.
pub fn without_password(text: &str) -> String {
    let begin = text.find("://").map_or(0, |at| at + "://".len());
    let (scheme, rest) = text.split_at(begin);
    // A path may hold an `@`. In a text that is no address, a password may hold a slash.
    let end = match Address::parse(text) {
        Some(_) => rest.find(['/', '?', '#']).unwrap_or(rest.len()),
        None => rest.len(),
    };
    let (authority, path) = rest.split_at(end);
    let Some((secret, place)) = authority.rsplit_once('@') else {
        return text.to_owned();
    };
    match secret.split_once(':') {
        Some((user, _)) => format!("{scheme}{user}:***@{place}{path}"),
        None => format!("{scheme}***@{place}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn passwords_are_not_shown() {
        for (text, shown) in [
            ("https://host/path", "https://host/path"),
            ("https://user:secret@host", "https://user:***@host"),
            (
                "https://user:secret@host:80/a?b",
                "https://user:***@host:80/a?b",
            ),
            ("https://user:se/cr@et@host/a", "https://user:***@host/a"),
            ("https://:secret@host", "https://:***@host"),
            ("https://secret@host", "https://***@host"),
            ("user:secret@host", "user:***@host"),
            ("https://host/a@b", "https://host/a@b"),
            ("https://user:secret@host/a@b", "https://user:***@host/a@b"),
            ("ftp://user:secret@host", "ftp://user:***@host"),
            ("", ""),
        ] {
            assert_eq!(without_password(text), shown);
        }
    }
}
