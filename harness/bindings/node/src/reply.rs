//! The results that `index.js` reads.

use napi_derive::napi;
use rolecall_front::embed::Answer;

/// The result of a call.
#[napi(object, object_from_js = false)]
pub struct Reply {
    /// `rendered`, or the code of the error.
    pub kind: &'static str,
    /// The prompt, or the reason why there is none.
    pub text: String,
    /// The line of the template, from 1, if it is known.
    pub line: Option<u32>,
    /// The column in that line, from 1, if it is known.
    pub column: Option<u32>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Reply {
        let number = |place: Option<usize>| place.and_then(|place| u32::try_from(place).ok());
        Reply {
            kind: answer.kind.name(),
            text: answer.text,
            line: number(answer.line),
            column: number(answer.column),
        }
    }
}
