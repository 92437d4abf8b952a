//! A conversation as a caller hands it over, with its options, as a case.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString, PyTuple};
use rolecall_core::{CONTENT, Case, Dialect, Moment};
use rolecall_front::front::Front;
use serde_json::{Map, Value};

use crate::conversion::{Converter, text};
use crate::errors::refused;

/// The arguments of a render, besides the conversation.
pub(crate) struct Options<'a, 'py> {
    /// JSON schemas or functions.
    pub(crate) tools: Option<&'a Bound<'py, PyAny>>,
    /// Mappings.
    pub(crate) documents: Option<&'a Bound<'py, PyAny>>,
    /// Without a word, true unless a message is continued.
    pub(crate) add_generation_prompt: Option<&'a Bound<'py, PyAny>>,
    /// True, or the name of a field.
    pub(crate) continue_final_message: Option<&'a Bound<'py, PyAny>>,
    /// A date, or a date and time: a text, or an object of `datetime`.
    pub(crate) now: Option<&'a Bound<'py, PyAny>>,
    pub(crate) variables: Option<&'a Bound<'py, PyDict>>,
}

impl<'a, 'py> Options<'a, 'py> {
    /// No options, and an empty dictionary of variables.
    pub(crate) fn none(variables: &'a Bound<'py, PyDict>) -> Options<'a, 'py> {
        Options {
            tools: None,
            documents: None,
            add_generation_prompt: None,
            continue_final_message: None,
            now: None,
            variables: Some(variables),
        }
    }
}

/// A case without its messages.
#[derive(Clone)]
pub(crate) struct Request {
    case: Case,
    converter: Converter,
}

impl Request {
    /// Takes over the options of renders for a dialect. `reads_clock` says whether the template may
    /// ask for the time.
    pub(crate) fn new(
        py: Python<'_>,
        dialect: Dialect,
        reads_clock: bool,
        options: &Options<'_, '_>,
    ) -> PyResult<Request> {
        let converter = Converter::of(dialect);
        let mut case = Case::from_messages(Vec::new());
        case.tools = options
            .tools
            .map(|tools| self::tools(converter, tools))
            .transpose()?;
        let documents = options.documents.map(|all| list(converter, all));
        case.documents = documents.transpose()?;
        case.continue_final_message = match options.continue_final_message {
            None => None,
            Some(said) => match said.cast::<PyString>() {
                Ok(field) => Some(text(field)?).filter(|field| !field.is_empty()),
                Err(_) => said.is_truthy()?.then(|| CONTENT.to_owned()),
            },
        };
        case.add_generation_prompt = match options.add_generation_prompt {
            None => case.continue_final_message.is_none(),
            Some(said) => said.is_truthy()?,
        };
        if let Some(variables) = options.variables {
            case.variables = self::variables(converter, variables)?;
        }
        if let Some(now) = options.now {
            case.now = moment(now)?;
        } else if reads_clock {
            let class = py.import("datetime")?.getattr(intern!(py, "datetime"))?;
            case.now = moment(&class.call_method0(intern!(py, "now"))?)?;
        }
        Ok(Request { case, converter })
    }

    pub(crate) fn case(&self, conversation: &Bound<'_, PyAny>) -> PyResult<Case> {
        let mut case = self.case.clone();
        case.messages = messages(self.converter, conversation)?;
        Ok(case)
    }

    /// The only case.
    pub(crate) fn into_case(mut self, conversation: &Bound<'_, PyAny>) -> PyResult<Case> {
        self.case.messages = messages(self.converter, conversation)?;
        Ok(self.case)
    }
}

/// The messages of a conversation: a list, or something that holds one in `messages`.
fn messages(converter: Converter, conversation: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    let py = conversation.py();
    if !conversation.is_instance_of::<PyList>()
        && let Some(messages) = conversation.getattr_opt(intern!(py, "messages"))?
    {
        return list(converter, &messages);
    }
    list(converter, conversation)
}

/// The values of a list or another iterable.
fn list(converter: Converter, items: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    if let Ok(list) = items.cast_exact::<PyList>() {
        return list.iter().map(|item| converter.value(&item)).collect();
    }
    if let Some(what) = no_list(items)? {
        let why = format!("a list is needed, and this is of type `{what}`");
        return Err(refused(items.py(), &why));
    }
    items
        .try_iter()?
        .map(|item| converter.value(&item?))
        .collect()
}

/// The type of what can be iterated over but is no list of values, and of what cannot.
fn no_list(items: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let is_one = !items.is_instance_of::<PyString>()
        && !items.is_instance_of::<PyDict>()
        && items.hasattr(intern!(items.py(), "__iter__"))?;
    Ok(if is_one {
        None
    } else {
        Some(items.get_type().name()?.to_string())
    })
}

/// Tools: schemas, or functions that become schemas.
pub(crate) fn tools(converter: Converter, tools: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    let py = tools.py();
    if let Some(what) = no_list(tools)? {
        let why = format!("tools have to be a list, and these are of type `{what}`");
        return Err(refused(py, &why));
    }
    let mut values = Vec::new();
    for tool in tools.try_iter()? {
        let tool = tool?;
        if tool.is_instance_of::<PyDict>() || tool.is_instance_of::<PyMapping>() {
            values.push(converter.value(&tool)?);
        } else {
            let module = py.import("rolecall.json_schema")?;
            let schema = module.call_method1("schema_of_tool", (tool,))?;
            values.push(converter.value(&schema)?);
        }
    }
    Ok(values)
}

fn variables(converter: Converter, variables: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    match converter.value(variables.as_any())? {
        Value::Object(variables) => Ok(variables),
        _ => Ok(Map::new()),
    }
}

/// The moment of a date, or of a date and time. It is the wall clock's: an offset does not move it.
fn moment(now: &Bound<'_, PyAny>) -> PyResult<Moment> {
    let py = now.py();
    let written = if let Ok(text) = now.cast::<PyString>() {
        self::text(text)?
    } else if let Some(method) = now.getattr_opt(intern!(py, "isoformat"))? {
        method.call0()?.extract()?
    } else {
        let kind = now.get_type().name()?;
        let why = format!(
            "`now` has to be a text such as 2026-01-02 or a datetime, and is of type `{kind}`"
        );
        return Err(refused(py, &why));
    };
    let mut whole = written.trim().replacen(' ', "T", 1);
    if !whole.contains('T') {
        whole.push_str("T00:00:00");
    }
    let time = whole.split_once('T').map_or("", |(_, time)| time);
    if !time.contains(['Z', 'z', '+', '-']) {
        whole.push('Z');
    }
    whole
        .parse()
        .map_err(|_| refused(py, &format!("`now` is no date and time: {written}")))
}

/// Whether an argument holds several conversations, as transformers decides it: the first item is a
/// list, or holds messages.
pub(crate) fn is_batch(conversation: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_list =
        conversation.is_instance_of::<PyList>() || conversation.is_instance_of::<PyTuple>();
    if !is_list || conversation.len()? == 0 {
        return Ok(false);
    }
    let first = conversation.get_item(0)?;
    if first.is_instance_of::<PyDict>() {
        return Ok(false);
    }
    Ok(first.is_instance_of::<PyList>()
        || first.is_instance_of::<PyTuple>()
        || first.hasattr(intern!(conversation.py(), "messages"))?)
}

pub(crate) fn front(py: Python<'_>, name: &str) -> PyResult<Front> {
    name.parse().map_err(|error| {
        let names = Front::ALL.map(|front| format!("`{front}`")).join(", ");
        refused(py, &format!("{error}; there are {names}"))
    })
}
