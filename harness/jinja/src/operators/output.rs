//! The output of `{{ … }}`, filter blocks and call blocks.

use minijinja::value::Value;
use minijinja::{AutoEscape, Error, Output, State};

use crate::explanation;
use crate::generation;
use crate::meter::produce;
use crate::operator::Operator;
use crate::provenance;
use crate::python::markup::escaped;
use crate::python::text;
use crate::refusal::invalid;
use crate::registry::Registry;

/// Adds the operators to a registry.
pub(super) fn add(registry: &mut Registry<'_>) {
    registry.add_operator(Operator::TextOnly, text_only);
    registry.add_operator(Operator::Capture, capture);
    registry.add_operator(Operator::Captured, |text: Value, is_open: bool| {
        if is_open {
            provenance::end();
        }
        provenance::captured(text)
    });
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
        let escaped = escaped(&text)?;
        if provenance::is_traced() {
            provenance::write(&explanation::written_escaped(value, &text, &escaped));
        }
        generation::before_write(output)?;
        output.write_str(&escaped)?;
        return Ok(());
    }
    if provenance::is_traced() {
        provenance::write(&explanation::written(value, &text));
    }
    produce(text.len())?;
    generation::before_write(output)?;
    output.write_str(&text)?;
    Ok(())
}

/// Notes that a text that is captured, and not written, begins or ends.
fn capture(begins: bool) {
    generation::capture(begins);
    if begins {
        provenance::begin();
    } else {
        provenance::end();
    }
}

/// The output of a filter block or a call block. Jinja2 writes it without `str()`, so only a text
/// can be joined with the rest of the prompt.
fn text_only(value: Value) -> Result<Value, Error> {
    if value.as_str().is_some() {
        return Ok(value);
    }
    Err(invalid(format!("expected a text, found {}", value.kind())))
}
