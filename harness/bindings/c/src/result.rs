//! The results that C programs read.

use std::ffi::c_char;
use std::ptr;

use rolecall_front::embed::{Answer, AnswerKind};

/// The kind of a result.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum rolecall_kind {
    /// The template gave a prompt, perhaps an empty one. The text is the prompt.
    ROLECALL_RENDERED = 0,
    /// The template refused the conversation with `raise_exception`. The text is its message.
    ROLECALL_RAISED = 1,
    /// The application refused the conversation before the template saw it. For example,
    /// transformers refuses an empty list of messages.
    ROLECALL_REFUSED = 2,
    /// The template does not compile.
    ROLECALL_SYNTAX = 3,
    /// The template failed while it was running.
    ROLECALL_FAILED = 4,
    /// A limit ran out. The text is its name: `fuel`, `recursion` or `output`.
    ROLECALL_LIMIT = 5,
    /// The library has a defect. The text says what happened.
    ROLECALL_CRASHED = 6,
    /// The arguments of the call are wrong. For example, the conversation is not JSON.
    ROLECALL_INVALID = 7,
}

/// The result of a call. Read its fields, then call `rolecall_result_free`.
#[repr(C)]
#[derive(Debug)]
pub struct rolecall_result {
    /// What the result is.
    pub kind: rolecall_kind,
    /// The prompt, or the reason why there is none: UTF-8, never NULL. The prompt may hold NUL
    /// bytes; a further NUL byte follows after `length` bytes.
    pub text: *const c_char,
    /// The bytes of the text, without the NUL byte at its end.
    pub length: usize,
    /// The line of the template to which the reason belongs, from 1. 0 if it is not known.
    pub line: usize,
    /// The column in that line, from 1, in characters. 0 if it is not known.
    pub column: usize,
}

impl From<AnswerKind> for rolecall_kind {
    fn from(kind: AnswerKind) -> rolecall_kind {
        match kind {
            AnswerKind::Rendered => rolecall_kind::ROLECALL_RENDERED,
            AnswerKind::Raised => rolecall_kind::ROLECALL_RAISED,
            AnswerKind::Refused => rolecall_kind::ROLECALL_REFUSED,
            AnswerKind::Syntax => rolecall_kind::ROLECALL_SYNTAX,
            AnswerKind::Failed => rolecall_kind::ROLECALL_FAILED,
            AnswerKind::Limit => rolecall_kind::ROLECALL_LIMIT,
            AnswerKind::Crashed => rolecall_kind::ROLECALL_CRASHED,
            AnswerKind::Invalid => rolecall_kind::ROLECALL_INVALID,
        }
    }
}

/// Hands an answer to the caller, who frees it.
pub(crate) fn handed(answer: Answer) -> *mut rolecall_result {
    let mut text = answer.text.into_bytes();
    let length = text.len();
    text.push(0);
    let text = Box::into_raw(text.into_boxed_slice());
    Box::into_raw(Box::new(rolecall_result {
        kind: answer.kind.into(),
        text: text.cast::<c_char>(),
        length,
        line: answer.line.unwrap_or_default(),
        column: answer.column.unwrap_or_default(),
    }))
}

/// Frees a result of [`handed`].
///
/// # Safety
///
/// `result` is NULL, or came from [`handed`], is unchanged, and nobody uses it any more.
pub(crate) unsafe fn free(result: *mut rolecall_result) {
    if result.is_null() {
        return;
    }
    // SAFETY: `handed` made it of a box, and the caller gives it back once.
    let result = unsafe { Box::from_raw(result) };
    let text =
        ptr::slice_from_raw_parts_mut(result.text.cast_mut().cast::<u8>(), result.length + 1);
    // SAFETY: `handed` made the text of a box of a slice with one byte more than `length`.
    drop(unsafe { Box::from_raw(text) });
}
