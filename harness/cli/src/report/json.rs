//! Results as JSON documents. Each one says which version of this format it has.

use std::io::{self, BufWriter, Write};
use std::ops::Range;

use serde::Serialize;

/// The version of all JSON results. A version may get new keys; existing keys keep their meaning.
pub const VERSION: u32 = 1;

/// Types of documents: each key with its meaning, its type and where its value comes from. A key with
/// a question mark is absent if it has no value.
macro_rules! document {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident $(<$lifetime:lifetime>)?
        from ($($from:ident: $of:ty),* $(,)?) $(with { $($with:tt)* })? {
            $($(#[$key:meta])* $field:ident $(? $(@ $never:tt)?)?: $ty:ty = $value:expr,)*
        }
    )*) => {$(
        #[derive(Debug, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        $vis struct $name $(<$lifetime>)? {
            $(
                $(#[$key])*
                $(#[serde(skip_serializing_if = "Option::is_none")] $($never)?)?
                $field: $ty,
            )*
        }

        impl $(<$lifetime>)? $name $(<$lifetime>)? {
            $vis fn of($($from: $of),*) -> Self {
                $($($with)*)?
                $name { $($field: $value),* }
            }
        }
    )*};
}
pub(crate) use document;

document! {
    /// Bytes of a text.
    pub struct BytesJson from (range: &Range<usize>) {
        /// The first byte, from 0.
        start: usize = range.start,
        /// The byte after the last.
        end: usize = range.end,
    }
}

/// Writes a document, indented so that people can read it too.
pub fn write(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    // The serialiser writes each sign alone.
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, document)?;
    writeln!(out)?;
    out.flush()
}
