//! Servers of models as engines: each is asked for the prompt that it really makes of a
//! conversation, as its clients write it.
//!
//! A server has the template of its model. Which one that is most of them tell, and a template
//! that a server does not have is not asked of it.

mod http;

mod application;

mod llama_server;
mod ollama;
mod tgi;
mod vllm;

mod engine;

use rolecall::problem::closest;
use rolecall::protocol::ProtocolLimits;

pub(crate) use engine::{Server, Serving};

use application::Application;
use http::{Client, HttpError};

/// The kinds of servers.
const KINDS: [&str; 4] = ["llama-server", "vllm", "ollama", "tgi"];

/// A server as it is named: `KIND=URL`, or `KIND:MODEL=URL`.
pub(crate) struct Named<'n> {
    kind: &'n str,
    model: Option<&'n str>,
    address: &'n str,
}

impl<'n> Named<'n> {
    /// What a text names, if it is written as a server is.
    pub(crate) fn parse(text: &'n str) -> Option<Named<'n>> {
        let (name, address) = text.split_once('=')?;
        let (kind, model) = match name.split_once(':') {
            Some((kind, model)) => (kind, Some(model)),
            None => (name, None),
        };
        let is_kind = !kind.is_empty()
            && kind
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && kind.bytes().any(|byte| byte.is_ascii_lowercase());
        let is_address = address.starts_with("http://") || address.starts_with("https://");
        let is_server = is_kind && (is_address || KINDS.contains(&kind));
        is_server.then_some(Named {
            kind,
            model: model.filter(|model| !model.is_empty()),
            address,
        })
    }

    /// Finds out what the server is; why it cannot be asked, in words.
    pub(crate) fn open(&self, limits: &ProtocolLimits) -> Result<Server, String> {
        // Clients of OpenAI's interface have that at the end of their addresses.
        let address = self.address.trim_end_matches('/');
        let address = address.strip_suffix("/v1").unwrap_or(address);
        let client = Client::new(address, limits)?;
        let address = client.address().to_owned();
        let (kind, model) = (self.kind, self.model);
        let application: Result<Box<dyn Application>, HttpError> = match kind {
            "llama-server" => boxed(llama_server::LlamaServer::open(client, model)),
            "vllm" => boxed(vllm::Vllm::open(client, model)),
            "ollama" => boxed(ollama::Ollama::open(client, model)),
            "tgi" => boxed(tgi::Tgi::open(client, model)),
            _ => return Err(self.unknown()),
        };
        match application {
            Ok(application) => Ok(Server::new(application, &address)),
            Err(error) => Err(format!(
                "the server `{kind}` at {address} cannot be asked: {error}"
            )),
        }
    }

    /// That there is no such kind of server.
    fn unknown(&self) -> String {
        let help = closest(self.kind, KINDS)
            .map_or_else(String::new, |kind| format!("; did you mean `{kind}`?"));
        let listed = KINDS.map(|kind| format!("`{kind}`")).join(", ");
        format!(
            "no kind of server is named `{}`{help}\n  there are {listed}",
            self.kind
        )
    }
}

fn boxed<A: Application + 'static>(
    opened: Result<A, HttpError>,
) -> Result<Box<dyn Application>, HttpError> {
    opened.map(|application| Box::new(application) as Box<dyn Application>)
}
