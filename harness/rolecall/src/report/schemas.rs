//! The JSON Schemas of what programs read, generated from the types that are written.

use super::document::Cards;
use super::jsonl::Object;
use super::listing;
use super::matrix;
use super::trial;
use crate::schema::{SchemaFile, file};

/// The schema files, as they should be; their paths are below the repository's `harness`.
pub fn files() -> [SchemaFile; 5] {
    [
        file::<Cards<'_>>("schema/cards.schema.json"),
        file::<listing::Document>("schema/list.schema.json"),
        file::<matrix::Document>("schema/matrix.schema.json"),
        file::<Object<'_>>("schema/outcome.schema.json"),
        file::<trial::Document>("schema/probe.schema.json"),
    ]
}
