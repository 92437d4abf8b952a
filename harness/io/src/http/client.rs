//! Asking servers.

use std::thread;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::RequestBuilder;
use ureq::http::header;
use ureq::tls::TlsConfig;

use crate::http::address::Address;
use crate::http::answer::Answer;
use crate::http::no_answer::NoAnswer;
use crate::http::tls;

/// The pauses before the second and the third attempt.
const PAUSES: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1200)];

pub struct Client {
    agent: Agent,
    /// Why no server can be checked.
    uncertified: Option<String>,
    token: Option<(Address, String)>,
}

/// Settings for all requests of a client.
#[derive(Default)]
pub struct Settings {
    /// A token, and the only server that gets it.
    pub token: Option<(Address, String)>,
    pub connecting: Option<Duration>,
    /// The time limit for the next bytes.
    pub reading: Option<Duration>,
    /// Whether to connect without a proxy.
    pub is_direct: bool,
    /// Whether each request has a connection of its own. Some servers end a connection after a
    /// hundred requests, and a request may be on its way then.
    pub has_new_connections: bool,
}

#[derive(Default)]
pub struct Request<'a> {
    /// The media type that is accepted.
    pub accept: Option<&'a str>,
    /// The wanted bytes of a file: the first, and the one after the last.
    pub range: Option<(u64, u64)>,
    /// The body of a POST; without it the request is a GET.
    pub json: Option<&'a Value>,
    /// The time limit for the whole answer.
    pub within: Option<Duration>,
}

impl Client {
    pub fn new(settings: Settings) -> Client {
        let (tls, uncertified) = match tls::config() {
            Ok(tls) => (tls, None),
            Err(why) => (TlsConfig::default(), Some(why)),
        };
        let mut config = Agent::config_builder()
            .tls_config(tls)
            // The headers of a refusal say why, and an error of the crate has none of them.
            .http_status_as_error(false)
            // Whoever asks follows redirects, and so sees the headers of each host and may refuse to
            // leave encryption.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("rolecall/", env!("CARGO_PKG_VERSION")))
            // Limits, ranges and lengths are those of the file. A compressed answer would have others.
            .accept_encoding("identity")
            .timeout_connect(settings.connecting)
            .timeout_per_read(settings.reading);
        if settings.is_direct {
            config = config.proxy(None);
        }
        if settings.has_new_connections {
            config = config.max_idle_connections(0);
        }
        Client {
            agent: config.build().new_agent(),
            uncertified,
            token: settings.token,
        }
    }

    pub fn ask(&self, address: &Address, request: &Request<'_>) -> Result<Answer, NoAnswer> {
        // Only now, because a server on this machine is asked without encryption and needs no
        // certificates.
        if let Some(why) = self.uncertified.as_ref().filter(|_| address.is_encrypted()) {
            return Err(NoAnswer::Unreachable(why.clone()));
        }
        let response = match request.json {
            None => self
                .completed(self.agent.get(address.uri()), address, request)
                .call(),
            Some(json) => self
                .completed(self.agent.post(address.uri()), address, request)
                .header(header::CONTENT_TYPE, "application/json")
                .send(json.to_string()),
        };
        Ok(Answer::new(address, response?))
    }

    /// Adds the headers and limits to a request.
    fn completed<B>(
        &self,
        builder: RequestBuilder<B>,
        address: &Address,
        request: &Request<'_>,
    ) -> RequestBuilder<B> {
        let mut builder = builder.config().timeout_global(request.within).build();
        if let Some(accept) = request.accept {
            builder = builder.header(header::ACCEPT, accept);
        }
        if let Some((from, to)) = request.range {
            builder = builder.header(header::RANGE, format!("bytes={from}-{}", to - 1));
        }
        match &self.token {
            Some((server, token)) if server.is_same_server(address) => {
                builder.header(header::AUTHORIZATION, format!("Bearer {token}"))
            }
            _ => builder,
        }
    }
}

/// Asks up to three times. `pause` gets a failure and the usual pause, and returns how long to
/// wait, or none if asking again cannot help.
pub fn repeatedly<T, E>(
    ask: impl Fn() -> Result<T, E>,
    pause: impl Fn(&E, Duration) -> Option<Duration>,
) -> Result<T, E> {
    for usual in PAUSES {
        match ask() {
            Err(error) => match pause(&error, usual) {
                Some(pause) => thread::sleep(pause),
                None => return Err(error),
            },
            answer => return answer,
        }
    }
    ask()
}
