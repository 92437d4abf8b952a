//! Downloads: one file at a time, complete and limited in size, or why there is none.
//!
//! Redirects are followed here, so that the first host's headers are kept if another host has
//! the bytes. Passing failures are retried: too many requests, server errors, connections that
//! end early.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::http::{
    Address, Answer, Client, HeaderMap, NoAnswer, Request, Settings, repeatedly, without_password,
};

use super::settings;

/// The longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const CONNECTING: Duration = Duration::from_secs(10);
/// The time limit for all answers about a model.
const WHOLE: Duration = Duration::from_mins(2);
/// The most bytes that are fetched of a model. The metadata of large GGUF files has 30 MiB.
const MOST_OF_MODEL: u64 = 128 << 20;
/// The most redirects that are followed.
const MOST_REDIRECTS: usize = 8;

pub(super) struct Downloader {
    client: Client,
    /// When the first answer had to begin.
    begin: Instant,
    /// The bytes that may still be fetched.
    left: Cell<u64>,
}

pub(super) struct Download<'a> {
    pub(super) url: &'a str,
    /// The media type that is accepted.
    pub(super) accept: Option<&'a str>,
    /// The wanted bytes of a file: the first, and the one after the last.
    pub(super) range: Option<(u64, u64)>,
    /// The most bytes that an answer may have.
    pub(super) most: u64,
    /// Whether the first host's headers show that the file is already known, so its bytes
    /// are not needed.
    pub(super) is_known: &'a dyn Fn(&HeaderMap) -> bool,
}

pub(super) struct DownloadedFile {
    /// The headers of the host that was asked, not of one that it redirects to.
    pub(super) headers: HeaderMap,
    /// The bytes; none if they are not needed.
    pub(super) bytes: Option<Vec<u8>>,
    /// The offset of the first byte in the file: servers may ignore the range.
    pub(super) from: u64,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum DownloadError {
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
    /// The answer is larger than any such file.
    #[error("{url} has more than {most} bytes, the expected maximum")]
    TooLarge { url: String, most: u64 },
    /// All files of a model together are larger than any such model's.
    #[error("{host} has more than {MOST_OF_MODEL} bytes of this model, the expected maximum")]
    TooMuch { host: String },
    /// The server redirects too often, or to where the client must not go.
    #[error("a redirect of {host} cannot be followed: {why}")]
    Redirect { host: String, why: String },
    /// The answer is not what such a server gives.
    #[error("{host} is not the expected kind of server: {why}")]
    Unexpected { host: String, why: String },
    #[error("not an address: {0}")]
    Address(String),
}

impl DownloadError {
    /// The error for a server that gives no answer.
    fn of(why: NoAnswer, at: &Address, download: &Download<'_>) -> DownloadError {
        let host = at.host().to_owned();
        match why {
            NoAnswer::Unreachable(why) => DownloadError::Unreachable { host, why },
            NoAnswer::TimedOut => DownloadError::TimedOut { host },
            NoAnswer::CutOff(why) => DownloadError::CutOff { host, why },
            NoAnswer::TooLarge => DownloadError::TooLarge {
                url: at.to_string(),
                most: download.most,
            },
        }
    }

    /// How long to wait before asking again, if that may help.
    fn pause(&self, usual: Duration) -> Option<Duration> {
        match self {
            DownloadError::Status {
                status: 429 | 500 | 502 | 503 | 504,
                pause,
                ..
            } => Some(pause.unwrap_or(usual).min(LONGEST_PAUSE)),
            DownloadError::CutOff { .. } => Some(usual),
            _ => None,
        }
    }

    /// What the user can do about it.
    pub(super) fn help(&self) -> &'static str {
        match self {
            DownloadError::Status { status: 429, .. } => {
                "too many requests were made: try again in some minutes"
            }
            DownloadError::Status { .. } | DownloadError::CutOff { .. } => "try again later",
            DownloadError::Unreachable { why, .. } if why.contains("certificate") => {
                "if a proxy decrypts connections, SSL_CERT_FILE has to name a file with its certificates"
            }
            DownloadError::Unreachable { .. } => {
                "is there a network? A proxy is taken from HTTPS_PROXY, hosts that need none from NO_PROXY"
            }
            DownloadError::TimedOut { .. } => {
                "try again later; HF_HUB_DOWNLOAD_TIMEOUT sets the seconds to wait for an answer"
            }
            DownloadError::TooLarge { .. } | DownloadError::TooMuch { .. } => {
                "download the model and name its folder"
            }
            DownloadError::Redirect { .. }
            | DownloadError::Unexpected { .. }
            | DownloadError::Address(_) => {
                "is the address of the server right? It may be set by HF_ENDPOINT or ROLECALL_OLLAMA_REGISTRY"
            }
        }
    }
}

impl Downloader {
    /// A downloader that sends the token to one server only.
    pub(super) fn new(token: Option<(&str, String)>) -> Downloader {
        let waits = settings::waits();
        let settings = Settings {
            token: token.and_then(|(server, token)| Some((Address::parse(server)?, token))),
            connecting: Some(CONNECTING.min(waits)),
            reading: Some(waits),
            is_direct: false,
            ..Settings::default()
        };
        Downloader {
            client: Client::new(settings),
            begin: Instant::now(),
            left: Cell::new(MOST_OF_MODEL),
        }
    }

    pub(super) fn get(&self, download: &Download<'_>) -> Result<DownloadedFile, DownloadError> {
        repeatedly(|| self.get_once(download), DownloadError::pause)
    }

    fn get_once(&self, download: &Download<'_>) -> Result<DownloadedFile, DownloadError> {
        let first = Address::parse(download.url)
            .ok_or_else(|| DownloadError::Address(without_password(download.url)))?;
        let request = Request {
            accept: download.accept,
            range: download.range,
            json: None,
            within: None,
        };
        let limited = || match WHOLE.checked_sub(self.begin.elapsed()) {
            Some(left) if !left.is_zero() => Ok(Request {
                within: Some(left),
                ..request
            }),
            _ => Err(NoAnswer::TimedOut),
        };
        let mut at = first.clone();
        let mut headers = HeaderMap::new();
        for _ in 0..MOST_REDIRECTS {
            let failed = |why| DownloadError::of(why, &at, download);
            let answer = limited().and_then(|request| self.client.ask(&at, &request));
            let answer = answer.map_err(failed)?;
            if answer.is_refusal() {
                return Err(refusal(&at, &answer));
            }
            // The hub's headers name the version of the file. A host that it redirects to has an `ETag`
            // of its own.
            if first.is_same_server(&at) {
                headers.clone_from(answer.headers());
            }
            // Before the redirect: a file in the cache then costs one request to the hub and none for
            // its bytes.
            if (download.is_known)(&headers) {
                return Ok(DownloadedFile {
                    headers,
                    bytes: None,
                    from: 0,
                });
            }
            if let Some(target) = answer.redirect() {
                at = target.map_err(|why| DownloadError::Redirect {
                    host: at.host().to_owned(),
                    why,
                })?;
                continue;
            }
            let (from, bytes) = match download.range {
                None => (0, answer.read(download.most.min(self.left.get()))),
                Some((from, to)) => {
                    // A server that knows no ranges answers with the status 200, from the first byte
                    // on.
                    let is_part = answer.status() == 206;
                    let wanted = to - from;
                    let bytes = if wanted > self.left.get() {
                        Err(NoAnswer::TooLarge)
                    } else {
                        answer.read_beginning(wanted)
                    };
                    (if is_part { from } else { 0 }, bytes)
                }
            };
            let bytes = match bytes {
                // The smaller limit decides which of the two messages is true.
                Err(NoAnswer::TooLarge) if self.left.get() < download.most => {
                    return Err(DownloadError::TooMuch {
                        host: at.host().to_owned(),
                    });
                }
                bytes => bytes.map_err(failed)?,
            };
            let left = self.left.get().saturating_sub(bytes.len() as u64);
            self.left.set(left);
            return Ok(DownloadedFile {
                headers,
                bytes: Some(bytes),
                from,
            });
        }
        Err(DownloadError::Redirect {
            host: first.host().to_owned(),
            why: format!("more than {MOST_REDIRECTS} times"),
        })
    }
}

/// Why a server refuses.
fn refusal(at: &Address, answer: &Answer) -> DownloadError {
    let text = |name: &str| answer.header(name).map(str::to_owned);
    let pause = text("Retry-After").and_then(|seconds| seconds.parse().ok());
    DownloadError::Status {
        host: at.host().to_owned(),
        status: answer.status(),
        code: text("X-Error-Code"),
        message: text("X-Error-Message"),
        pause: pause.map(Duration::from_secs),
    }
}
