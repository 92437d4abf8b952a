//! The output of `{{ … }}`, filter blocks and call blocks.

use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, Output, State};

use crate::generation;
use crate::meter::produce;
use crate::operator::Operator;
use crate::python::markup::escaped;
use crate::python::text;
use crate::refusal::invalid;

/// Adds the operators to an environment.
pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_filter(Operator::TextOnly.name(), text_only);
    environment.add_filter(Operator::Capture.name(), generation::capture);
}

/// `{{ value }}`: writes `str(value)`, and counts it. Within `{% autoescape true %}` it is
/// escaped, unless it is a `Markup`.
pub(crate) fn emit(
    output: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let text = text::str(value);
    if !matches!(state.auto_escape(), AutoEscape::None) && !value.is_safe() {
        let text = escaped(&text)?;
        generation::before_write(output)?;
        output.write_str(&text)?;
        return Ok(());
    }
    produce(text.len())?;
    generation::before_write(output)?;
    output.write_str(&text)?;
    Ok(())
}

/// The output of a filter block or a call block. Jinja2 writes it without `str()`, so only a text
/// can be joined with the rest of the prompt.
fn text_only(value: Value) -> Result<Value, Error> {
    if value.as_str().is_some() {
        return Ok(value);
    }
    Err(invalid(format!("expected a text, found {}", value.kind())))
}
