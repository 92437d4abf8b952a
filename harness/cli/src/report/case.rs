//! A case in a few lines, for people.

use std::io::{self, Write};

use rolecall_check::probe::spaced;
use serde_json::{Map, Value};

use crate::report::style::{HEADING, Styled};
use crate::report::wrapping::paragraph;

/// Writes a line for each of its messages and other fields.
pub fn write(out: &mut dyn Write, name: &str, case: &Map<String, Value>) -> io::Result<()> {
    writeln!(out, "{}", Styled(HEADING, name))?;
    for (key, value) in case {
        match value {
            Value::Array(elements) => {
                writeln!(out, "  {key}:")?;
                for element in elements {
                    paragraph(out, &format!("    {}", spaced(element)), 6)?;
                }
            }
            value => paragraph(out, &format!("  {key}: {}", spaced(value)), 4)?,
        }
    }
    writeln!(out)
}
