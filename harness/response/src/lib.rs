//! Reads a model's answer back into a message, as transformers does with a response template.
//!
//! A [`ResponseTemplate`] says which parts of the answer are reasoning, text or tool calls.
//! [`ResponseTemplate::parse`] reads a whole answer; [`ResponseTemplate::stream`] reads it piece by
//! piece and reports [`Event`]s. Both give what transformers 5.23 gives: the same message, the same
//! events at the same moments, and an error of the same [`Kind`]. That includes what may surprise:
//! an answer can mean something else in pieces than it means as a whole.
//!
//! ```
//! use rolecall_response::{Options, ResponseTemplate};
//!
//! let template = ResponseTemplate::from_text(
//!     r#"{"start_anchor": "<a>", "fields": {
//!         "reasoning": {"open": "<think>", "close": "</think>"},
//!         "content": {"close": "<end>"}}}"#,
//! )?;
//! let options = Options { prompt: Some("Hi<a><think>"), ..Options::default() };
//! let message = template.parse("Greet.</think>Hello!<end>", &options)?;
//! assert_eq!(message.to_json().to_string(), r#"{"reasoning":"Greet.","content":"Hello!"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Patterns are those of Python's `regex`, without case folding, Unicode properties, calls, fuzzy
//! matches, set operations and what else few people use. A template with such a pattern is refused
//! as [`TemplateErrorKind::Unsupported`]. Everything has limits: [`Limits`].

mod characters;

mod text;

mod value;

mod failure;

mod python;

mod pattern;

mod content;

mod transform;

mod tools;

mod template;

mod event;

mod stream;

pub use event::{Event, Message};
pub use failure::{Kind, Limit, ParseError, TemplateError, TemplateErrorKind};
pub use stream::{Limits, Options, Stream};
pub use template::ResponseTemplate;
pub use text::Text;
pub use value::{Integer, Object, Value};
