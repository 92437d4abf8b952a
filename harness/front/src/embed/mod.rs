//! Templates and conversations go in as JSON texts, prompts come out: the ground for bindings of
//! Rolecall's chat template engines to other languages. The package for Python uses its compiled
//! templates.
//!
//! ```rust
//! use rolecall_core::{Dialect, Moment};
//! use rolecall_front::embed::{CompiledTemplate, read_conversation, read_template};
//! use rolecall_front::front::Front;
//!
//! let source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}";
//! let options = r#"{"special_tokens": {"eos_token": "</s>"}}"#;
//! let (template, limits) = read_template(source, options)?;
//! let compiled = CompiledTemplate::new(template, &limits); // once: keep it
//! let conversation = r#"[{"role": "user", "content": "Hi"}]"#;
//! let (case, _) = read_conversation(conversation, Dialect::Jinja, Moment::default)?;
//! let prompt = compiled.outcome(&case, Front::Raw).into_prompt();
//! assert_eq!(prompt.as_deref(), Ok("<user>Hi</s>"));
//! # Ok::<(), String>(())
//! ```
//!
//! JSON keeps what a template sees: the order of keys, nulls, and every digit of a number.

pub mod answer;

mod fields;

mod conversation;

mod options;

pub mod compiled_template;

pub use answer::{Answer, AnswerKind};
pub use compiled_template::CompiledTemplate;
pub use conversation::read_conversation;
pub use options::read_template;
