//! Answers of models, read as messages: the class `ResponseParser`.

// Its documentation is Python's.
#![allow(clippy::doc_link_with_quotes, clippy::doc_markdown)]

use std::sync::{Mutex, PoisonError};

use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString};
use rolecall_core::Dialect;
use rolecall_response::{
    Event, Limits, Message, Object, Options, ParseError, ResponseTemplate, Stream, TemplateError,
    TemplateErrorKind, Text, Value,
};

use crate::conversion::Converter;
use crate::errors;
use crate::request::tools;

/// A response template: the one that a caller hands over, or the model's own.
pub(crate) fn template(
    py: Python<'_>,
    given: Option<&Bound<'_, PyAny>>,
    own: Option<&serde_json::Value>,
) -> PyResult<ResponseTemplate> {
    let given = given.map(|given| Converter::of(Dialect::Jinja).value(given));
    let given = given.transpose()?;
    let Some(json) = given.as_ref().or(own) else {
        return Err(PyAttributeError::new_err(
            "this template has no response_template, so it cannot read answers",
        ));
    };
    ResponseTemplate::from_json(json).map_err(|error| unusable(py, &error))
}

/// An answer, a prefix, or a list of them as texts. Token ids become texts by a tokenizer.
pub(crate) fn decoded<'py>(
    given: &Bound<'py, PyAny>,
    tokenizer: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    if given.is_instance_of::<PyString>() {
        return Ok(given.clone());
    }
    let given = match given.getattr_opt("tolist")? {
        Some(tolist) => tolist.call0()?,
        None => given.clone(),
    };
    if given
        .get_item(0)
        .is_ok_and(|first| !first.is_instance_of::<PyInt>())
    {
        let texts = PyList::empty(py);
        for one in given.try_iter()? {
            texts.append(decoded(&one?, tokenizer)?)?;
        }
        return Ok(texts.into_any());
    }
    if given.len()? == 0 {
        return Ok(given);
    }
    let Some(tokenizer) = tokenizer else {
        return Err(errors::refused(
            py,
            "token ids need a `tokenizer` that turns them into a text",
        ));
    };
    match tokenizer.getattr_opt("decode")? {
        Some(decode) => decode.call1((given,)),
        None => tokenizer.call1((given,)),
    }
}

/// Begins to read an answer.
pub(crate) fn begin(
    py: Python<'_>,
    template: &ResponseTemplate,
    prefix: Option<&str>,
    tools: Option<&Bound<'_, PyAny>>,
) -> PyResult<Stream> {
    let converter = Converter::of(Dialect::Jinja);
    let tools = tools
        .map(|tools| self::tools(converter, tools))
        .transpose()?;
    let options = Options {
        prompt: prefix,
        tools: tools.as_deref().unwrap_or_default(),
        limits: Limits::default(),
    };
    py.detach(|| template.stream(&options))
        .map_err(|error| unread(py, &error))
}

/// Reads the rest of an answer at once.
pub(crate) fn finish<'py>(
    py: Python<'py>,
    mut stream: Stream,
    text: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let read = py.detach(|| {
        stream.feed(text)?;
        let (_, message) = stream.finish()?;
        Ok(message)
    });
    let message = read.map_err(|error| unread(py, &error))?;
    self::message(py, &message)
}

/// Reads an answer piece by piece, as the parser that ``get_response_parser`` of transformers 5.24
/// returns. :meth:`Template.get_response_parser` makes one.
///
/// ``initial_events`` are those of the prompt's end, for example that reasoning has begun.
#[pyclass(frozen, module = "rolecall")]
pub(crate) struct ResponseParser {
    stream: Mutex<Stream>,
}

impl ResponseParser {
    /// A parser of an answer that has begun.
    pub(crate) fn of(stream: Stream) -> ResponseParser {
        ResponseParser {
            stream: Mutex::new(stream),
        }
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Stream) -> Result<T, ParseError> + Send,
    ) -> PyResult<T> {
        let called = py.detach(|| {
            let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
            call(&mut stream)
        });
        called.map_err(|error| unread(py, &error))
    }
}

#[pymethods]
impl ResponseParser {
    /// The events of the prompt's end.
    #[getter]
    fn initial_events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let initial = self.with(py, |stream| Ok(stream.initial_events().to_vec()))?;
        events(py, &initial)
    }

    /// Read the next piece, and return what happened: a list of events.
    ///
    /// An event has the ``type`` ``region_open``, ``region_chunk`` or ``region_close``, and the
    /// ``field`` of the message.
    fn feed<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let fed = self.with(py, |stream| stream.feed(text))?;
        events(py, &fed)
    }

    /// End the answer, and return the message and the last events.
    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyList>)> {
        let (last, message) = self.with(py, Stream::finish)?;
        Ok((self::message(py, &message)?, events(py, &last)?))
    }
}

/// The exception for a response template that cannot be used.
fn unusable(py: Python<'_>, error: &TemplateError) -> PyErr {
    let kind = match (error.kind, error.kind.raised()) {
        (_, Some(kind)) => kind.python_name(),
        (TemplateErrorKind::Syntax, _) => "ValueError",
        _ => "NotImplementedError",
    };
    errors::new(py, "ResponseError", (error.to_string(), kind))
}

/// The exception for an answer that has no message.
fn unread(py: Python<'_>, error: &ParseError) -> PyErr {
    match error {
        ParseError::Raised { kind, message } => {
            errors::new(py, "ResponseError", (message.as_str(), kind.python_name()))
        }
        other => errors::new(py, "LimitExceeded", (other.to_string(),)),
    }
}

fn message<'py>(py: Python<'py>, message: &Message) -> PyResult<Bound<'py, PyDict>> {
    object(py, &message.fields)
}

fn events<'py>(py: Python<'py>, events: &[Event]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for event in events {
        let dictionary = PyDict::new(py);
        let (kind, field) = match event {
            Event::Open { field } => ("region_open", field),
            Event::Chunk { field, .. } => ("region_chunk", field),
            Event::Close { field, .. } => ("region_close", field),
            _ => continue,
        };
        dictionary.set_item("type", kind)?;
        dictionary.set_item("field", field)?;
        match event {
            Event::Chunk { text, dirty, .. } => {
                dictionary.set_item("text", text)?;
                dictionary.set_item("dirty", dirty)?;
            }
            Event::Close { value, .. } => dictionary.set_item("value", self::value(py, value)?)?,
            _ => {}
        }
        list.append(dictionary)?;
    }
    Ok(list)
}

fn object<'py>(py: Python<'py>, object: &Object) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    for (key, value) in object {
        dictionary.set_item(text(py, key)?, self::value(py, value)?)?;
    }
    Ok(dictionary)
}

fn value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(bool) => bool.into_bound_py_any(py),
        Value::Integer(integer) => py.get_type::<PyInt>().call1((integer.digits(),)),
        Value::Float(float) => float.into_bound_py_any(py),
        Value::Text(text) => Ok(self::text(py, text)?.into_any()),
        Value::List(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(self::value(py, item)?)?;
            }
            Ok(list.into_any())
        }
        Value::Object(object) => Ok(self::object(py, object)?.into_any()),
    }
}

/// A text of Python, which may have lone surrogates.
fn text<'py>(py: Python<'py>, text: &Text) -> PyResult<Bound<'py, PyString>> {
    if let Some(text) = text.to_utf8() {
        return Ok(PyString::new(py, &text));
    }
    let units = text.codes().iter().flat_map(|code| code.to_le_bytes());
    let bytes = PyBytes::new(py, &units.collect::<Vec<u8>>());
    let decoded = bytes.call_method1("decode", ("utf-32-le", "surrogatepass"))?;
    Ok(decoded.cast_into::<PyString>()?)
}
