#![doc = include_str!("../README.md")]
//!
//! A [`ResponseTemplate`] says which parts of the answer are reasoning, text or tool calls.
//! [`ResponseTemplate::parse`] reads a whole answer; [`ResponseTemplate::stream`] reads it piece by
//! piece and reports [`Event`]s. Both give what transformers 5.24 gives: the same message, the same
//! events at the same moments, and an error of the same [`Kind`]. That includes what may surprise:
//! an answer can mean something else in pieces than it means as a whole.
//!
//! # Patterns
//!
//! Patterns are in the language of Python's `regex`, with `.` for any character. These parts of it
//! are supported:
//!
//! - characters, escapes for characters (`\n`, `\x41`, `\u0041`, `\101`), sets with ranges, and
//!   `\w \W \s \S \d \D`, with the tables of Unicode that `regex` has;
//! - `^ $ \A \Z \z \b \B`, and the flags `s` and `m`, for a group or for the rest of one;
//! - groups, with and without a name, alternatives, and comments;
//! - greedy, lazy and possessive repeats, and atomic groups;
//! - lookaheads; lookbehinds without groups and repeats;
//! - references to groups, in the patterns of parsers only.
//!
//! A template with any other pattern is refused as [`TemplateErrorKind::Unsupported`], with the
//! place in the pattern: flags such as `i`, Unicode properties, fuzzy matches, calls of groups,
//! conditional groups and the like. A delimiter may not begin with any character either: at the end
//! of a text `regex` then reads memory that it has not written.
//!
//! # Limits
//!
//! The reference has no limits, and some patterns take it minutes or for ever. Here the steps of all
//! searches count, and the characters of an answer: [`Limits`]. JSON may be nested as deeply as in
//! Python, where a program calls the parser from its top level.
//!
//! An answer is a `str`, so a lone surrogate in it cannot be given. A message may still have one,
//! from an escape in JSON: a [`Text`] can hold it.
//!
//! # Inspections
//!
//! [`ResponseTemplate::inspect`] finds what harms the users of a response template without any
//! conversation, such as a delimiter that is found too early while an answer arrives. Each [`Finding`]
//! has the text that shows it.

#![warn(missing_docs)]

mod characters;

mod text;

mod value;

mod failure;

mod python;

mod pattern;

mod call_list;

mod content;

mod transform;

mod tools;

mod template;

mod event;

mod stream;

mod inspection;

pub use event::{Event, Message};
pub use failure::{Kind, Limit, ParseError, TemplateError, TemplateErrorKind};
pub use inspection::{Evidence, Finding, Inspection, Level, Reading, ReadingMode, Rule};
pub use stream::{Limits, Options, Stream};
pub use template::{ResponseTemplate, TRANSFORMERS};
pub use text::Text;
pub use value::{Integer, Object, Value};
