//! HTTP: one answer at a time, whole and within bounds, or why there is none.
//!
//! Redirects are followed here, so that a token goes to the host that it is for and to no other,
//! and so that what that host says about a file is kept where another host has the bytes. What
//! may pass soon is asked again: too many requests, errors of a server, connections that end
//! early.

use std::io::Read as _;
use std::thread;
use std::time::Duration;

use ureq::http::{HeaderMap, Response, Uri, header};
use ureq::{Agent, Body};

use super::settings;
use crate::tls;

/// Times that something is asked, and how long is waited before it is asked again.
const PAUSES: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1200)];
/// The longest that a server may have us wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The longest that connecting takes.
const CONNECTING: Duration = Duration::from_secs(10);
/// The longest that an answer takes in whole.
const WHOLE: Duration = Duration::from_mins(5);
/// The redirects that are followed.
const MOST_REDIRECTS: usize = 8;

/// Asks servers.
pub(super) struct Client {
    agent: Agent,
    /// A token, and the server that it is for.
    token: Option<(Uri, String)>,
}

/// What is asked.
pub(super) struct Ask<'a> {
    /// The address.
    pub(super) url: &'a str,
    /// The kind of answer that is wanted.
    pub(super) accept: Option<&'a str>,
    /// The first byte that is wanted of a file and the one behind the last.
    pub(super) range: Option<(u64, u64)>,
    /// The most bytes that an answer may have.
    pub(super) most: u64,
    /// Whether the bytes are not needed, by what the first host says about them.
    pub(super) is_known: &'a dyn Fn(&HeaderMap) -> bool,
}

/// An answer.
pub(super) struct Answer {
    /// What the host that was asked says, not what a host says that it leads to.
    pub(super) headers: HeaderMap,
    /// The bytes; nothing where they are not needed.
    pub(super) bytes: Option<Vec<u8>>,
    /// Which byte of the file the first one is: servers need not keep to the range.
    pub(super) from: u64,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    /// The server refuses.
    #[error("{host} answers with the status {status}{}", .message.as_ref().map_or_else(String::new, |message| format!(": {message}")))]
    Status {
        host: String,
        status: u16,
        /// What the hub calls it.
        code: Option<String>,
        message: Option<String>,
        /// How long to wait before asking again.
        pause: Option<Duration>,
    },
    /// There is no connection.
    #[error("{host} cannot be reached: {why}")]
    Unreachable { host: String, why: String },
    /// The server takes too long.
    #[error("{host} did not answer in time")]
    TimedOut { host: String },
    /// The connection ended before the answer did.
    #[error("the answer of {host} was cut off: {why}")]
    CutOff { host: String, why: String },
    /// The answer is larger than what is wanted ever is.
    #[error("{url} has more than the {most} bytes that are expected at most")]
    TooLarge { url: String, most: u64 },
    /// The server leads elsewhere without end, or where nobody should go.
    #[error("{host} leads elsewhere, which cannot be followed: {why}")]
    Redirect { host: String, why: String },
    /// The answer is not what such a server gives.
    #[error("{host} is not the server that is expected there: {why}")]
    Unexpected { host: String, why: String },
    /// The address is none.
    #[error("not an address: {0}")]
    Address(String),
}

impl HttpError {
    /// How long to wait before it is asked again, where that may help.
    fn pause(&self, usual: Duration) -> Option<Duration> {
        match self {
            HttpError::Status {
                status: 429 | 500 | 502 | 503 | 504,
                pause,
                ..
            } => Some(pause.unwrap_or(usual).min(LONGEST_PAUSE)),
            HttpError::CutOff { .. } => Some(usual),
            _ => None,
        }
    }

    /// What may be done about it.
    pub(super) fn help(&self) -> &'static str {
        match self {
            HttpError::Status { status: 429, .. } => {
                "too many requests were made: try again in some minutes"
            }
            HttpError::Status { .. } | HttpError::CutOff { .. } => "try again later",
            HttpError::Unreachable { why, .. } if why.contains("certificate") => {
                "where a proxy opens connections, SSL_CERT_FILE has to name a file with its certificates"
            }
            HttpError::Unreachable { .. } => {
                "is there a network? A proxy is taken from HTTPS_PROXY, hosts that need none from NO_PROXY"
            }
            HttpError::TimedOut { .. } => {
                "try again later; HF_HUB_DOWNLOAD_TIMEOUT has the seconds that are waited for an answer"
            }
            HttpError::TooLarge { .. } => "download the model and name its folder",
            HttpError::Redirect { .. } | HttpError::Unexpected { .. } | HttpError::Address(_) => {
                "is the address of the server right? It may be set by HF_ENDPOINT or ROLECALL_OLLAMA_REGISTRY"
            }
        }
    }
}

impl Client {
    /// One that takes the token to one server and to no other.
    pub(super) fn new(token: Option<(&str, String)>) -> Client {
        let waits = settings::waits();
        let config = Agent::config_builder()
            .tls_config(tls::config())
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("rolecall/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity")
            .timeout_connect(Some(CONNECTING.min(waits)))
            .timeout_per_read(Some(waits))
            .timeout_global(Some(WHOLE))
            .build();
        Client {
            agent: config.new_agent(),
            token: token.and_then(|(server, token)| Some((server.parse().ok()?, token))),
        }
    }

    /// The answer to what is asked.
    pub(super) fn get(&self, ask: &Ask<'_>) -> Result<Answer, HttpError> {
        for usual in PAUSES {
            match self.get_once(ask) {
                Err(error) => match error.pause(usual) {
                    Some(pause) => thread::sleep(pause),
                    None => return Err(error),
                },
                answer => return answer,
            }
        }
        self.get_once(ask)
    }

    fn get_once(&self, ask: &Ask<'_>) -> Result<Answer, HttpError> {
        let first = address(ask.url)?;
        let mut at = first.clone();
        let mut told = None;
        for _ in 0..MOST_REDIRECTS {
            let response = self.call(&at, ask)?;
            let status = response.status();
            if status.is_client_error() || status.is_server_error() {
                return Err(refusal(&at, &response));
            }
            if is_same_server(&first, &at) {
                told = Some(response.headers().clone());
            }
            let headers = told.clone().unwrap_or_default();
            if (ask.is_known)(&headers) {
                return Ok(Answer {
                    headers,
                    bytes: None,
                    from: 0,
                });
            }
            if status.is_redirection() {
                at = next(&at, &response)?;
                continue;
            }
            let (from, bytes) = read(&at, response, ask)?;
            return Ok(Answer {
                headers,
                bytes: Some(bytes),
                from,
            });
        }
        Err(HttpError::Redirect {
            host: host(&first),
            why: format!("more than {MOST_REDIRECTS} times"),
        })
    }

    fn call(&self, at: &Uri, ask: &Ask<'_>) -> Result<Response<Body>, HttpError> {
        let mut request = self.agent.get(at);
        if let Some(accept) = ask.accept {
            request = request.header(header::ACCEPT, accept);
        }
        if let Some((from, to)) = ask.range {
            request = request.header(header::RANGE, format!("bytes={from}-{}", to - 1));
        }
        if let Some((server, token)) = &self.token
            && is_same_server(server, at)
        {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        request.call().map_err(|error| failure(at, error))
    }
}

/// The bytes of an answer that are wanted, and which one of the file the first is.
fn read(at: &Uri, response: Response<Body>, ask: &Ask<'_>) -> Result<(u64, Vec<u8>), HttpError> {
    let is_part = response.status().as_u16() == 206;
    let from = match ask.range {
        Some((from, _)) if is_part => from,
        _ => 0,
    };
    // A server that sends the whole file is not listened to longer than needed.
    let wanted = ask.range.map(|(_, to)| to - from);
    let length = response.body().content_length();
    let too_large = || HttpError::TooLarge {
        url: at.to_string(),
        most: ask.most,
    };
    let most = wanted.unwrap_or(ask.most);
    if wanted.is_none() && length.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let limit = if wanted.is_some() { most } else { most + 1 };
    let reader = response.into_body().into_reader();
    reader
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| match ureq::Error::from(error) {
            ureq::Error::Timeout(_) => HttpError::TimedOut { host: host(at) },
            error => HttpError::CutOff {
                host: host(at),
                why: error.to_string(),
            },
        })?;
    let count = bytes.len() as u64;
    if count > most {
        return Err(too_large());
    }
    let expected = length.map(|length| length.min(limit));
    if let Some(expected) = expected.filter(|expected| count < *expected) {
        return Err(HttpError::CutOff {
            host: host(at),
            why: format!("{count} of {expected} bytes came"),
        });
    }
    Ok((from, bytes))
}

/// Why a server refuses.
fn refusal(at: &Uri, response: &Response<Body>) -> HttpError {
    let text = |name: &str| {
        let text = response.headers().get(name)?.to_str().ok()?;
        Some(text.to_owned())
    };
    let pause = text("Retry-After").and_then(|seconds| seconds.parse().ok());
    HttpError::Status {
        host: host(at),
        status: response.status().as_u16(),
        code: text("X-Error-Code"),
        message: text("X-Error-Message"),
        pause: pause.map(Duration::from_secs),
    }
}

/// Why there is no answer at all.
fn failure(at: &Uri, error: ureq::Error) -> HttpError {
    use std::io::ErrorKind;
    let host = host(at);
    let why = error.to_string();
    match error {
        ureq::Error::Timeout(_) => HttpError::TimedOut { host },
        ureq::Error::HostNotFound => HttpError::Unreachable {
            host,
            why: "its name is not known".to_owned(),
        },
        ureq::Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => HttpError::CutOff { host, why },
            ErrorKind::TimedOut | ErrorKind::WouldBlock => HttpError::TimedOut { host },
            _ => HttpError::Unreachable { host, why },
        },
        ureq::Error::Protocol(_) => HttpError::CutOff { host, why },
        _ => HttpError::Unreachable { host, why },
    }
}

fn address(url: &str) -> Result<Uri, HttpError> {
    let address: Uri = url
        .parse()
        .map_err(|_| HttpError::Address(url.to_owned()))?;
    let is_http = matches!(address.scheme_str(), Some("http" | "https"));
    match address.host() {
        Some(host) if is_http && !host.is_empty() => Ok(address),
        _ => Err(HttpError::Address(url.to_owned())),
    }
}

/// Where a redirect leads.
fn next(at: &Uri, response: &Response<Body>) -> Result<Uri, HttpError> {
    let refused = |why: String| HttpError::Redirect {
        host: host(at),
        why,
    };
    let location = response.headers().get(header::LOCATION);
    let location = location
        .and_then(|location| location.to_str().ok())
        .ok_or_else(|| refused("it does not say where".to_owned()))?;
    let (scheme, authority) = (at.scheme_str().unwrap_or("https"), authority(at));
    let target = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else {
        let folder = at.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{location}")
    };
    let target = address(&target).map_err(|error| refused(error.to_string()))?;
    if scheme == "https" && target.scheme_str() != Some("https") {
        return Err(refused(format!("{target} is not encrypted")));
    }
    Ok(target)
}

fn host(at: &Uri) -> String {
    at.host().unwrap_or_default().to_owned()
}

fn authority(at: &Uri) -> &str {
    at.authority().map_or("", |authority| authority.as_str())
}

/// Whether two addresses are of one server: the same host, port and encryption.
fn is_same_server(one: &Uri, other: &Uri) -> bool {
    one.scheme_str() == other.scheme_str() && authority(one).eq_ignore_ascii_case(authority(other))
}
