//! The JSON Schemas of the files that people write.

use crate::{case_file, configuration};
use rolecall_io::template_file;

/// The paths of the schemas below the suite's `cases` folder, and their contents.
pub const FILES: [(&str, &str); 3] = [
    ("schema/cases.schema.json", case_file::SCHEMA),
    ("schema/template.schema.json", template_file::SIDECAR_SCHEMA),
    ("schema/suite.schema.json", configuration::SCHEMA),
];

/// The schema of a type that is read.
#[cfg(feature = "schema")]
pub fn read<T: schemars::JsonSchema>() -> String {
    schema_text::<T>(schemars::generate::SchemaSettings::draft2020_12())
}

/// The schema of a type that is written. Fields that may be omitted are not required.
#[cfg(feature = "schema")]
pub(crate) fn written<T: schemars::JsonSchema>() -> String {
    schema_text::<T>(schemars::generate::SchemaSettings::draft2020_12().for_serialize())
}

#[cfg(feature = "schema")]
fn schema_text<T: schemars::JsonSchema>(settings: schemars::generate::SchemaSettings) -> String {
    let schema = settings.into_generator().into_root_schema_for::<T>();
    // A schema is plain data: it always has a JSON form.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
