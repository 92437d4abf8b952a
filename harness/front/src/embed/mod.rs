//! Templates and conversations go in as JSON texts, prompts come out: the ground for bindings of
//! Rolecall's chat template engines to other languages. The package for Python uses its compiled
//! templates.
//!
//! ```rust
//! use rolecall_front::embed::{AnswerKind, ChatTemplate};
//!
//! let source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}";
//! let options = r#"{"special_tokens": {"eos_token": "</s>"}}"#;
//! let chat = ChatTemplate::compile(source, options).expect("a template"); // once: keep it
//! let answer = chat.render(r#"[{"role": "user", "content": "Hi"}]"#);
//! assert_eq!((answer.kind, answer.text.as_str()), (AnswerKind::Rendered, "<user>Hi</s>"));
//! ```
//!
//! A [`ChatTemplate`] is compiled once. Several threads may render with it at once. Every render
//! ends in an [`Answer`]: a prompt, or the reason why there is none. No template and no
//! conversation makes a call panic. JSON keeps what a template sees: the order of keys, nulls, and
//! every digit of a number.
//!
//! The modules are listed in the order in which they build on each other; each one uses only those
//! above it.

pub mod answer;

mod fields;

mod conversation;

mod options;

pub mod compiled_template;

pub mod chat_template;

pub use answer::{Answer, AnswerKind};
pub use chat_template::ChatTemplate;
pub use compiled_template::CompiledTemplate;
pub use conversation::read_conversation;
pub use options::read_template;
