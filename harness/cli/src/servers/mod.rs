//! Model servers as engines of Rolecall: llama-server, vLLM, SGLang, Ollama and TGI return the prompts that
//! they really make of a conversation, and Rolecall compares them. A llama-server is also started
//! with models that write given texts, and Rolecall compares the messages that it reads.
//!
//! A server has the template of its model, and most servers say which one it is. A server is
//! not asked to render a template that it does not have.

mod credentials;

mod api;

mod application;

mod llama_server;
mod ollama;
mod sglang;
mod tgi;
mod vllm;

mod engine;

mod started;

mod chat;

mod counting;

mod mock_models;

use rolecall_core::problem::closest;
use rolecall_io::protocol::ProtocolLimits;

pub use counting::{CountingServer, NoCount};
pub use credentials::Credentials;
pub use engine::{Server, Serving};
pub use mock_models::ServerProgram;

use api::{Api, ApiError};
use application::Application;

const KINDS: [&str; 5] = ["llama-server", "vllm", "sglang", "ollama", "tgi"];

/// A server's name on the command line: `KIND=URL`, or `KIND:MODEL=URL`.
pub struct ServerName<'n> {
    kind: &'n str,
    model: Option<&'n str>,
    address: &'n str,
}

impl<'n> ServerName<'n> {
    /// Reads a name; none if the text is not written as a server.
    pub fn parse(text: &'n str) -> Option<ServerName<'n>> {
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
        is_server.then_some(ServerName {
            kind,
            model: model.filter(|model| !model.is_empty()),
            address,
        })
    }

    /// Connects to the server. The error says why it cannot be asked.
    pub fn open(
        &self,
        limits: &ProtocolLimits,
        credentials: Credentials,
    ) -> Result<Server, String> {
        let api = Api::new(self.address, limits, credentials)?;
        let address = api.address();
        let (kind, model) = (self.kind, self.model);
        let application: Result<Box<dyn Application>, ApiError> = match kind {
            "llama-server" => boxed(llama_server::LlamaServer::open(api, model)),
            "vllm" => boxed(vllm::Vllm::open(api, model)),
            "sglang" => boxed(sglang::SgLang::open(api, model)),
            "ollama" => boxed(ollama::Ollama::open(api, model)),
            "tgi" => boxed(tgi::Tgi::open(api, model)),
            _ => return Err(self.unknown()),
        };
        match application {
            Ok(application) => Ok(Server::new(application, &address)),
            Err(error) => Err(format!(
                "the server `{kind}` at {address} cannot be asked: {error}"
            )),
        }
    }

    /// The message for an unknown kind of server.
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
    opened: Result<A, ApiError>,
) -> Result<Box<dyn Application>, ApiError> {
    opened.map(|application| Box::new(application) as Box<dyn Application>)
}
