//! The text of an answer, read as Ollama 0.33 reads it: into reasoning, content and calls.
//!
//! Source: Ollama's packages `thinking` and `tools`, and the chat endpoint of server/routes.go.
//! Ollama finds in the template which texts are around reasoning and before calls. The text arrives
//! in pieces, and what Ollama sends can depend on where they end.

mod answer_text;
mod go_json;

mod template_texts;

mod call_tag;
pub(crate) mod thinking_tags;

mod thinking;

mod calls;

mod reading;

pub use answer_text::{Answer, AnswerEvent, Call};
pub use call_tag::CallTag;
pub use reading::Reading;
pub use thinking_tags::ThinkingTags;
