//! The JSON Schemas of the input files, generated from the types that read them.

use std::path::PathBuf;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;

use crate::case_file::CaseFile;
use crate::configuration::ConfigurationFile;
use rolecall_io::template_file::Sidecar;

/// A schema file of the suite.
#[derive(Debug)]
pub struct SchemaFile {
    /// Its path below the suite's `cases` folder.
    pub path: PathBuf,
    pub text: String,
}

/// The schema files, as they should be.
pub fn files() -> &'static [SchemaFile] {
    static FILES: LazyLock<[SchemaFile; 3]> = LazyLock::new(|| {
        [
            file::<CaseFile>("schema/cases.schema.json"),
            file::<Sidecar>("schema/template.schema.json"),
            file::<ConfigurationFile>("schema/suite.schema.json"),
        ]
    });
    &*FILES
}

/// The schema of a type that is read, under a path.
pub fn file<T: schemars::JsonSchema>(path: &str) -> SchemaFile {
    of::<T>(SchemaSettings::draft2020_12(), path)
}

/// The schema of a type that is written, under a path. Fields that may be omitted are not
/// required.
pub(crate) fn written<T: schemars::JsonSchema>(path: &str) -> SchemaFile {
    of::<T>(SchemaSettings::draft2020_12().for_serialize(), path)
}

fn of<T: schemars::JsonSchema>(settings: SchemaSettings, path: &str) -> SchemaFile {
    let schema = settings.into_generator().into_root_schema_for::<T>();
    // A schema is plain data: it always has a JSON form.
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    SchemaFile {
        path: path.into(),
        text: text + "\n",
    }
}
