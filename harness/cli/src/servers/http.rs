//! HTTP with a server of models: JSON that is sent, and JSON that comes back, whole and within
//! bounds.
//!
//! What may pass soon is asked again, a few times: connections that are refused or end early, and
//! answers by which a server says that it is busy or not ready yet.

use std::io::Read as _;
use std::thread;
use std::time::{Duration, Instant};

use rolecall::protocol::ProtocolLimits;
use serde_json::Value;
use ureq::http::{Response, Uri, header};
use ureq::{Agent, Body};

use crate::environment::text;
use crate::tls;

/// How long is waited before something is asked again.
const PAUSES: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1200)];

/// How long is waited before a server that is not ready yet is asked again, at the start.
const LOADING: Duration = Duration::from_millis(500);

/// The variable with the key that servers may want.
pub(super) const KEY: &str = "ROLECALL_API_KEY";

/// Bytes of an error that are told, where it is no JSON.
const MOST_WORDS: usize = 200;

/// A server, as it is asked.
pub(super) struct Client {
    agent: Agent,
    /// Its address, without a slash at its end.
    address: String,
    key: Option<String>,
    limits: ProtocolLimits,
}

/// What a server answers.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// What was asked for.
    Json(Value),
    /// That it refuses, in its words.
    Refused(String),
}

impl Answer {
    /// What was asked for, where a server of this kind does not refuse.
    pub(super) fn json(self, path: &str) -> Result<Value, HttpError> {
        match self {
            Answer::Json(value) => Ok(value),
            Answer::Refused(words) => Err(HttpError::unexpected(path, words)),
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum HttpError {
    /// There is no connection, or none any more.
    #[error("{address} cannot be reached: {why}")]
    Unreachable { address: String, why: String },
    /// The server takes too long.
    #[error("no answer within {} s", .limit.as_secs_f64())]
    TimedOut { limit: Duration },
    /// The connection ended before the answer did.
    #[error("the connection ended instead of an answer: {why}")]
    CutOff { why: String },
    /// The server wants a key, or another one.
    #[error("the server refuses access with the status {status}: {words}; {KEY} has the key")]
    Denied { status: u16, words: String },
    /// It is busy, or not ready.
    #[error("the server is not ready: {words}")]
    NotReady { words: String },
    /// The answer is larger than it may be.
    #[error("its answer is longer than the limit")]
    TooLong,
    /// It is another server than the one that was named.
    #[error("it answers {path} otherwise than such a server does: {words}")]
    Unexpected { path: String, words: String },
}

impl HttpError {
    /// That a server answers a path as no such server does.
    pub(super) fn unexpected(path: &str, words: impl Into<String>) -> HttpError {
        HttpError::Unexpected {
            path: path.to_owned(),
            words: words.into(),
        }
    }

    /// Whether asking again may help.
    fn may_pass(&self) -> bool {
        matches!(
            self,
            HttpError::Unreachable { .. } | HttpError::CutOff { .. } | HttpError::NotReady { .. }
        )
    }

    /// Whether nothing else will be answered either.
    pub(super) fn is_final(&self) -> bool {
        matches!(
            self,
            HttpError::Unreachable { .. } | HttpError::Denied { .. } | HttpError::NotReady { .. }
        )
    }
}

impl Client {
    /// Of a server at an address; why that is none, in words.
    pub(super) fn new(address: &str, limits: &ProtocolLimits) -> Result<Client, String> {
        let address = address.trim_end_matches('/');
        let uri: Uri = address.parse().map_err(|_| not_an_address(address))?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let host = uri.host().filter(|host| is_http && !host.is_empty());
        let host = host.ok_or_else(|| not_an_address(address))?;
        let mut config = Agent::config_builder()
            .tls_config(tls::config())
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("rolecall/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity");
        // Nobody reaches this machine better by way of another.
        if is_this_machine(host) {
            config = config.proxy(None);
        }
        Ok(Client {
            agent: config.build().new_agent(),
            address: address.to_owned(),
            key: text(KEY),
            limits: limits.clone(),
        })
    }

    /// Its address.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Gets something, with the patience for a server that has just been started.
    pub(super) fn get(&self, path: &str) -> Result<Answer, HttpError> {
        self.patiently(path, None)
    }

    /// Gets what a server may not have.
    pub(super) fn get_if_there(&self, path: &str) -> Option<Value> {
        match self.once(path, None, self.limits.time) {
            Ok(Answer::Json(value)) => Some(value),
            Ok(Answer::Refused(_)) | Err(_) => None,
        }
    }

    /// Asks something at the start.
    pub(super) fn ask_first(&self, path: &str, body: &Value) -> Result<Answer, HttpError> {
        self.patiently(path, Some(body))
    }

    /// Asks something; a few times, where that may help.
    pub(super) fn ask(&self, path: &str, body: &Value) -> Result<Answer, HttpError> {
        for pause in PAUSES {
            match self.once(path, Some(body), self.limits.time) {
                Err(error) if error.may_pass() => thread::sleep(pause),
                answer => return answer,
            }
        }
        self.once(path, Some(body), self.limits.time)
    }

    fn patiently(&self, path: &str, body: Option<&Value>) -> Result<Answer, HttpError> {
        let begin = Instant::now();
        let mut pauses = PAUSES.iter();
        loop {
            let answer = self.once(path, body, self.limits.start);
            let pause = match &answer {
                Err(HttpError::NotReady { .. }) if begin.elapsed() < self.limits.start => LOADING,
                Err(error) if error.may_pass() => match pauses.next() {
                    Some(pause) => *pause,
                    None => return answer,
                },
                _ => return answer,
            };
            thread::sleep(pause);
        }
    }

    fn once(&self, path: &str, body: Option<&Value>, limit: Duration) -> Result<Answer, HttpError> {
        let url = format!("{}{path}", self.address);
        let key = self.key.as_ref().map(|key| format!("Bearer {key}"));
        let response = match body {
            None => {
                let request = self.agent.get(&url).config();
                let mut request = request.timeout_global(Some(limit)).build();
                if let Some(key) = &key {
                    request = request.header(header::AUTHORIZATION, key);
                }
                request.call()
            }
            Some(body) => {
                let request = self.agent.post(&url).config();
                let mut request = request.timeout_global(Some(limit)).build();
                if let Some(key) = &key {
                    request = request.header(header::AUTHORIZATION, key);
                }
                request
                    .header(header::CONTENT_TYPE, "application/json")
                    .send(body.to_string())
            }
        };
        let response = response.map_err(|error| self.failure(error, limit))?;
        let status = response.status().as_u16();
        let text = self.read(response, limit)?;
        meaning(path, status, &text)
    }

    fn read(&self, response: Response<Body>, limit: Duration) -> Result<String, HttpError> {
        let most = self.limits.answer as u64;
        let mut bytes = Vec::new();
        let reader = response.into_body().into_reader();
        reader
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| match ureq::Error::from(error) {
                ureq::Error::Timeout(_) => HttpError::TimedOut { limit },
                error => HttpError::CutOff {
                    why: error.to_string(),
                },
            })?;
        if bytes.len() as u64 > most {
            return Err(HttpError::TooLong);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Why there is no answer at all.
    fn failure(&self, error: ureq::Error, limit: Duration) -> HttpError {
        use std::io::ErrorKind;
        let why = error.to_string();
        let address = self.address.clone();
        match error {
            ureq::Error::Timeout(_) => HttpError::TimedOut { limit },
            ureq::Error::Io(error) => match error.kind() {
                ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof => HttpError::CutOff { why },
                ErrorKind::TimedOut | ErrorKind::WouldBlock => HttpError::TimedOut { limit },
                _ => HttpError::Unreachable { address, why },
            },
            ureq::Error::Protocol(_) => HttpError::CutOff { why },
            _ => HttpError::Unreachable { address, why },
        }
    }
}

/// What an answer says.
fn meaning(path: &str, status: u16, text: &str) -> Result<Answer, HttpError> {
    let json: Option<Value> = serde_json::from_str(text).ok();
    let words = json
        .as_ref()
        .and_then(words)
        .unwrap_or_else(|| beginning(text));
    match (status, json) {
        (200..300, Some(json)) => Ok(Answer::Json(json)),
        (401 | 403, _) => Err(HttpError::Denied { status, words }),
        (429 | 502 | 503 | 504, _) => Err(HttpError::NotReady { words }),
        (400..404 | 406..600, Some(_)) => Ok(Answer::Refused(words)),
        (_, _) => {
            let words = format!("status {status}: {words}");
            Err(HttpError::unexpected(path, words))
        }
    }
}

fn not_an_address(text: &str) -> String {
    format!("`{text}` is no address of a server; write it as http://127.0.0.1:8080")
}

/// Whether a host is the machine that this runs on.
fn is_this_machine(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
}

/// The words of an error, as servers have them.
fn words(json: &Value) -> Option<String> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    let mut found = places.iter().filter_map(|place| json.pointer(place));
    let found = found.find(|value| !value.is_null())?;
    Some(match found {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// The beginning of what is no JSON.
fn beginning(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MOST_WORDS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None if text.is_empty() => "nothing".to_owned(),
        None => text.to_owned(),
    }
}
