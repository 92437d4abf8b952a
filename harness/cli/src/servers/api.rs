//! The API of a model server: sends JSON, and reads JSON answers up to a limit.
//!
//! Passing failures are retried a few times: connections that are refused or end early, and
//! answers that the server is busy or not ready yet.

use rolecall_core::Cut;
use std::thread;
use std::time::{Duration, Instant};

use rolecall_core::environment;
use rolecall_io::http::{
    Address, Client, NoAnswer, Request, Settings, repeatedly, without_password,
};
use rolecall_io::protocol::ProtocolLimits;
use serde_json::Value;

use super::credentials::Credentials;

/// The pause before a starting server is asked again.
const LOADING: Duration = Duration::from_millis(500);

/// The environment variable with the key that servers may require.
const KEY: &str = "ROLECALL_API_KEY";

/// The most characters of an error that are shown.
const MOST_WORDS: usize = 200;

/// A server and how to ask it.
pub(super) struct Api {
    client: Client,
    /// Its address, without a slash at its end.
    address: String,
    limits: ProtocolLimits,
    credentials: Credentials,
}

#[derive(Debug, PartialEq)]
pub(super) enum ApiAnswer {
    Json(Value),
    /// A refusal, with the server's message.
    Refused(String),
}

impl ApiAnswer {
    /// The answer as JSON. A refusal is an error: a server of this kind does not refuse
    /// this.
    pub(super) fn json(self, path: &str) -> Result<Value, ApiError> {
        match self {
            ApiAnswer::Json(value) => Ok(value),
            ApiAnswer::Refused(words) => Err(ApiError::unexpected(path, beginning(&words))),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiError {
    /// There is no connection, or none any more.
    #[error("{address} cannot be reached: {why}")]
    Unreachable { address: String, why: String },
    /// The server takes too long.
    #[error("no answer within {} s", .limit.as_secs_f64())]
    TimedOut { limit: Duration },
    /// The connection ended before the answer did.
    #[error("the connection ended without an answer: {why}")]
    CutOff { why: String },
    /// The server requires a key, or rejects this one.
    #[error("the server refuses access with the status {status}: {words}; {}", key_help(*.credentials))]
    Denied {
        status: u16,
        words: String,
        credentials: Credentials,
    },
    /// It is busy, or not ready.
    #[error("the server is not ready: {words}")]
    NotReady {
        words: String,
        /// How long the server asks to wait.
        pause: Option<Duration>,
    },
    /// The answer is larger than it may be.
    #[error("its answer is longer than the limit")]
    TooLong,
    /// It sends its clients to another place, which nobody has named.
    #[error(
        "it redirects to {place}, where nothing is sent; name that address if it is the right one"
    )]
    Redirected { place: String },
    /// It is a server of another kind than the one named.
    #[error("its answer to {path} is not that of such a server: {words}")]
    Unexpected { path: String, words: String },
}

impl ApiError {
    /// The error for an answer that no server of this kind gives.
    pub(super) fn unexpected(path: &str, words: impl Into<String>) -> ApiError {
        ApiError::Unexpected {
            path: path.to_owned(),
            words: words.into(),
        }
    }

    /// How long to wait before asking again, if that may help.
    fn pause(&self, usual: Duration) -> Option<Duration> {
        let may_pass = matches!(
            self,
            ApiError::Unreachable { .. } | ApiError::CutOff { .. } | ApiError::NotReady { .. }
        );
        may_pass.then_some(usual)
    }

    /// Whether no other request will succeed either.
    pub(super) fn is_final(&self) -> bool {
        matches!(
            self,
            ApiError::Unreachable { .. } | ApiError::Denied { .. } | ApiError::NotReady { .. }
        )
    }
}

impl Api {
    /// The API at an address. The error says why the address is not valid.
    pub(super) fn new(
        text: &str,
        limits: &ProtocolLimits,
        credentials: Credentials,
    ) -> Result<Api, String> {
        // Clients of OpenAI's API have `/v1` at the end of their addresses.
        let text = text.trim_end_matches('/');
        let text = text.strip_suffix("/v1").unwrap_or(text);
        let address = Address::parse(text).ok_or_else(|| {
            let shown = without_password(text);
            format!("`{shown}` is not the address of a server; write it as http://127.0.0.1:8080")
        })?;
        let client = Client::new(Settings {
            // No proxy is needed to reach this machine.
            is_direct: address.is_this_machine(),
            token: key(credentials).map(|key| (address, key)),
            ..Settings::default()
        });
        Ok(Api {
            client,
            address: text.to_owned(),
            limits: limits.clone(),
            credentials,
        })
    }

    /// The API of a server that this process has started.
    pub(super) fn of_started(port: u16, limits: &ProtocolLimits) -> Api {
        Api {
            client: Client::new(Settings {
                is_direct: true,
                has_new_connections: true,
                ..Settings::default()
            }),
            address: format!("http://127.0.0.1:{port}"),
            limits: limits.clone(),
            credentials: Credentials::None,
        }
    }

    /// Whether the server gets a key.
    pub(super) fn has_key(&self) -> bool {
        key(self.credentials).is_some()
    }

    pub(super) fn address(&self) -> String {
        without_password(&self.address)
    }

    /// Gets a path, and waits for a server that is still starting.
    pub(super) fn get(&self, path: &str) -> Result<ApiAnswer, ApiError> {
        self.patiently(path, None)
    }

    /// Gets a path that the server may not have.
    pub(super) fn get_if_there(&self, path: &str) -> Option<Value> {
        match self.once(path, None, self.limits.time) {
            Ok(ApiAnswer::Json(value)) => Some(value),
            Ok(ApiAnswer::Refused(_)) | Err(_) => None,
        }
    }

    /// Sends a request, and waits for a server that is still starting.
    pub(super) fn ask_first(&self, path: &str, body: &Value) -> Result<ApiAnswer, ApiError> {
        self.patiently(path, Some(body))
    }

    /// Sends a request, and retries it if that may help.
    pub(super) fn ask(&self, path: &str, body: &Value) -> Result<ApiAnswer, ApiError> {
        let ask = || self.once(path, Some(body), self.limits.time);
        repeatedly(ask, ApiError::pause)
    }

    pub(super) fn ask_once(&self, path: &str, body: &Value) -> Result<ApiAnswer, ApiError> {
        self.once(path, Some(body), self.limits.time)
    }

    /// Sends a request once. Returns the status of the answer, too. A status of 500 or more is an answer in any
    /// form.
    pub(super) fn ask_for_status(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<(u16, ApiAnswer), ApiError> {
        let (status, text) = self.text(path, Some(body), self.limits.time)?;
        match meaning(path, status, &text, self.credentials) {
            Err(ApiError::Unexpected { words, .. }) if status >= 500 => {
                Ok((status, ApiAnswer::Refused(words)))
            }
            answer => Ok((status, answer?)),
        }
    }

    /// Sends a request once, and reads an answer that comes in events: their data as a list. An
    /// answer of another kind is a refusal.
    pub(super) fn ask_for_events(&self, path: &str, body: &Value) -> Result<ApiAnswer, ApiError> {
        let (status, text) = self.text(path, Some(body), self.limits.time)?;
        if !(200..300).contains(&status) || !text.contains("data:") {
            return meaning(path, status, &text, self.credentials);
        }
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let data = data.map(str::trim).filter(|data| *data != "[DONE]");
        let events = data.map(serde_json::from_str);
        let events: Result<Vec<Value>, _> = events.collect();
        match events {
            Ok(events) => Ok(ApiAnswer::Json(events.into())),
            Err(error) => Err(ApiError::unexpected(path, error.to_string())),
        }
    }

    /// Whether a path answers with success, within a time.
    pub(super) fn is_well(&self, path: &str, within: Duration) -> bool {
        let answer = self.text(path, None, within);
        answer.is_ok_and(|(status, _)| (200..300).contains(&status))
    }

    fn patiently(&self, path: &str, body: Option<&Value>) -> Result<ApiAnswer, ApiError> {
        let begin = Instant::now();
        let ask = || loop {
            match self.once(path, body, self.limits.start) {
                Err(ApiError::NotReady { .. }) if begin.elapsed() < self.limits.start => {
                    thread::sleep(LOADING);
                }
                answer => return answer,
            }
        };
        repeatedly(ask, ApiError::pause)
    }

    fn once(
        &self,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<ApiAnswer, ApiError> {
        let (status, text) = self.text(path, body, limit)?;
        meaning(path, status, &text, self.credentials)
    }

    /// The status and the text of an answer.
    fn text(
        &self,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<(u16, String), ApiError> {
        let url = format!("{}{path}", self.address);
        let address = Address::parse(&url).ok_or_else(|| {
            ApiError::unexpected(path, format!("{} is no address", without_password(&url)))
        })?;
        let request = Request {
            json: body,
            within: Some(limit),
            ..Request::default()
        };
        let failed = |why| self.failure(why, limit);
        let answer = self.client.ask(&address, &request).map_err(failed)?;
        if let Some(Ok(place)) = answer.redirect() {
            return Err(ApiError::Redirected {
                place: place.to_string(),
            });
        }
        let status = answer.status();
        let pause = answer.header("Retry-After").filter(|_| status == 429);
        // The header may have a date instead of seconds (RFC 9110, section 10.2.3). Then the usual
        // pauses hold.
        let pause = pause.and_then(|seconds| seconds.parse().ok());
        let bytes = answer.read(self.limits.answer as u64).map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match pause.map(Duration::from_secs) {
            Some(pause) => Err(ApiError::NotReady {
                words: beginning(&said(serde_json::from_str(&text).ok().as_ref(), &text)),
                pause: Some(pause),
            }),
            None => Ok((status, text)),
        }
    }

    /// Why there is no answer at all.
    fn failure(&self, why: NoAnswer, limit: Duration) -> ApiError {
        match why {
            NoAnswer::Unreachable(why) => ApiError::Unreachable {
                address: self.address(),
                why,
            },
            NoAnswer::TimedOut => ApiError::TimedOut { limit },
            NoAnswer::CutOff(why) => ApiError::CutOff { why },
            NoAnswer::TooLarge => ApiError::TooLong,
        }
    }
}

fn key(credentials: Credentials) -> Option<String> {
    match credentials {
        Credentials::FromEnvironment => environment::text(KEY),
        Credentials::None => None,
    }
}

/// What to do about a server that wants a key.
fn key_help(credentials: Credentials) -> String {
    match credentials {
        Credentials::FromEnvironment => format!("{KEY} has the key"),
        Credentials::None => {
            format!("{KEY} is used only for addresses on the command line, such as --engine")
        }
    }
}

/// The meaning of a status and a body.
fn meaning(
    path: &str,
    status: u16,
    text: &str,
    credentials: Credentials,
) -> Result<ApiAnswer, ApiError> {
    let json: Option<Value> = serde_json::from_str(text).ok();
    let words = said(json.as_ref(), text);
    match (status, json) {
        (200..300, Some(json)) => Ok(ApiAnswer::Json(json)),
        (401 | 403, _) => Err(ApiError::Denied {
            status,
            words: beginning(&words),
            credentials,
        }),
        (429 | 502 | 503 | 504, _) => Err(ApiError::NotReady {
            words: beginning(&words),
            pause: None,
        }),
        // 404 and 405 are not among these: without the path or the method, it is a server of another
        // kind.
        (400..404 | 406..600, Some(_)) => Ok(ApiAnswer::Refused(words)),
        (_, _) => {
            let words = format!("status {status}: {}", beginning(&words));
            Err(ApiError::unexpected(path, words))
        }
    }
}

/// The message of an error, or the beginning of another text.
fn said(json: Option<&Value>, text: &str) -> String {
    json.and_then(words).unwrap_or_else(|| beginning(text))
}

/// The message of an error, where servers put it.
fn words(json: &Value) -> Option<String> {
    // OpenAI's API has the first place, Ollama the second, older versions of vLLM the third, and
    // FastAPI the last.
    let places = ["/error/message", "/error", "/message", "/detail"];
    let mut found = places.iter().filter_map(|place| json.pointer(place));
    let found = found.find(|value| !value.is_null())?;
    Some(match found {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// The beginning of a server's words.
fn beginning(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MOST_WORDS) {
        Some((at, _)) => format!("{}…", text.cut(..at)),
        None if text.is_empty() => "nothing".to_owned(),
        None => text.to_owned(),
    }
}
