//! What a parser reports, while it reads and at the end.

use serde_json::{Map, Value as Json, json};

use crate::value::{Object, Value};

/// Something that happened to a field while the answer was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A region of a field begins.
    Open {
        /// The field's name.
        field: String,
    },
    /// More text of the region that is open.
    Chunk {
        /// The field's name.
        field: String,
        /// The text.
        text: String,
        /// Whether the text is not a part of the field's value, but has to be parsed first.
        dirty: bool,
    },
    /// The region has ended.
    Close {
        /// The field's name.
        field: String,
        /// The value of this region.
        value: Value,
    },
}

impl Event {
    /// The event as the reference writes it, with the value as in [`Value::to_json`].
    pub fn to_json(&self) -> Json {
        match self {
            Event::Open { field } => json!({"type": "region_open", "field": field}),
            Event::Chunk { field, text, dirty } => {
                json!({"type": "region_chunk", "field": field, "text": text, "dirty": dirty})
            }
            Event::Close { field, value } => {
                json!({"type": "region_close", "field": field, "value": value.to_json()})
            }
        }
    }
}

/// The message that an answer is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// The fields: first the template's defaults, then the others in the order of their regions.
    pub fields: Object,
}

impl Message {
    /// The message as an object, with values as in [`Value::to_json`].
    pub fn to_json(&self) -> Json {
        let fields = self.fields.iter();
        // Names of fields come from JSON, so no name has a lone surrogate.
        let fields = fields.map(|(name, value)| (name.to_string(), value.to_json()));
        Json::Object(fields.collect::<Map<_, _>>())
    }
}
