//! Tools as Ollama's `api.Tools` keeps them.
//!
//! Source: api/types.go (Tool, `ToolFunction`, `ToolProperty`, `PropertyType`) and
//! template/template.go (`convertToolsForTemplate`) of 0.33.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::error::Error;
use crate::meter::{Meter, Sink, WriteResult};
use crate::unmarshal;
use crate::values::{ListKind, MapKind, Struct, StructKind, Text, Value};

const PLACE: &str = "ChatCompletionRequest.tools";

/// The tools of a case. A case without tools gives a nil slice.
pub(crate) fn tools(tools: Option<&[Json]>) -> Result<Value, Error> {
    let Some(tools) = tools else {
        return Ok(Value::nil_list(ListKind::Tools));
    };
    let tools = tools.iter().map(tool).collect::<Result<_, _>>()?;
    Ok(Value::list(ListKind::Tools, tools))
}

pub(crate) fn names(given: &[Json]) -> Result<Vec<String>, Error> {
    let read = tools(Some(given))?;
    let Value::List(list) = read else {
        return Ok(Vec::new());
    };
    let name = |tool: &Value| {
        let Value::Struct(tool) = tool else {
            return None;
        };
        let Some(Value::Struct(function)) = tool.get("Function") else {
            return None;
        };
        match function.get("Name") {
            Some(Value::Text(name)) => Some(String::from_utf8_lossy(name).into_owned()),
            _ => None,
        }
    };
    Ok(list.items().iter().filter_map(name).collect())
}

fn tool(json: &Json) -> Result<Value, Error> {
    let tool = unmarshal::object(json, PLACE, "api.Tool")?.unwrap_or(unmarshal::nothing());
    let place = format!("{PLACE}.function");
    let function = match unmarshal::member(tool, "function") {
        Some(json) => {
            unmarshal::object(json, &place, "api.ToolFunction")?.unwrap_or(unmarshal::nothing())
        }
        None => unmarshal::nothing(),
    };
    let function = Value::structure(
        StructKind::ToolFunction,
        vec![
            Value::text(unmarshal::string(function, "name", &place)?),
            Value::text(unmarshal::string(function, "description", &place)?),
            parameters(unmarshal::member(function, "parameters"))?,
        ],
    );
    Ok(Value::structure(
        StructKind::Tool,
        vec![
            Value::text(unmarshal::string(tool, "type", PLACE)?),
            any_member(tool, "items")?,
            function,
        ],
    ))
}

fn parameters(json: Option<&Json>) -> Result<Value, Error> {
    let place = format!("{PLACE}.function.parameters");
    let parameters = match json {
        Some(json) => unmarshal::object(json, &place, "api.ToolFunctionParameters")?
            .unwrap_or(unmarshal::nothing()),
        None => unmarshal::nothing(),
    };
    // The template sees a plain, sorted map. Only nested objects keep their order.
    let sorted = match ordered(parameters, &place)? {
        None => Value::Map(crate::values::Map {
            kind: MapKind::Properties,
            entries: None,
        }),
        Some(entries) => Value::map(MapKind::Properties, entries.into_iter().collect()),
    };
    Ok(Value::structure(
        StructKind::Parameters,
        vec![
            Value::text(unmarshal::string(parameters, "type", &place)?),
            any_member(parameters, "$defs")?,
            any_member(parameters, "items")?,
            string_list(parameters, "required", &place)?,
            sorted,
        ],
    ))
}

/// The `properties` of an object, in their order.
fn ordered(object: &Map<String, Json>, place: &str) -> Result<Option<Vec<(Text, Value)>>, Error> {
    let Some(json) = unmarshal::member(object, "properties") else {
        return Ok(None);
    };
    let place = format!("{place}.properties");
    let Some(properties) = unmarshal::object(json, &place, "api.ToolPropertiesMap")? else {
        return Ok(None);
    };
    let entries: Vec<(Text, Value)> = properties
        .iter()
        .map(|(key, value)| Ok((Text::from(key.as_bytes()), property(value, &place)?)))
        .collect::<Result<_, Error>>()?;
    Ok(Some(entries))
}

fn property(json: &Json, place: &str) -> Result<Value, Error> {
    let object =
        unmarshal::object(json, place, "api.ToolProperty")?.unwrap_or(unmarshal::nothing());
    let any_of = match unmarshal::list(object, "anyOf", place, "[]api.ToolProperty")? {
        None => Value::nil_list(ListKind::Properties),
        Some(items) => Value::list(
            ListKind::Properties,
            items
                .iter()
                .map(|item| property(item, place))
                .collect::<Result<_, _>>()?,
        ),
    };
    let enumerated = match unmarshal::list(object, "enum", place, "[]interface {}")? {
        None => Value::nil_list(ListKind::Anything),
        Some(items) => Value::list(
            ListKind::Anything,
            items
                .iter()
                .map(unmarshal::anything)
                .collect::<Result<_, _>>()?,
        ),
    };
    Ok(Value::structure(
        StructKind::Property,
        vec![
            any_of,
            property_type(object, place)?,
            any_member(object, "items")?,
            Value::text(unmarshal::string(object, "description", place)?),
            enumerated,
            Value::Ordered(ordered(object, place)?.map(Arc::new)),
            string_list(object, "required", place)?,
        ],
    ))
}

/// One type or several. A null becomes the empty string, because Go reads null into a string
/// without an error.
fn property_type(object: &Map<String, Json>, place: &str) -> Result<Value, Error> {
    let written = object
        .iter()
        .rev()
        .find(|(key, _)| key.eq_ignore_ascii_case("type"))
        .map(|(_, value)| value);
    let types = match written {
        None => return Ok(Value::nil_list(ListKind::PropertyType)),
        Some(Json::Null) => vec![Value::text("")],
        Some(Json::String(one)) => vec![Value::text(one)],
        Some(Json::Array(many)) => unmarshal::strings(many, &format!("{place}.type"))?,
        Some(other) => {
            return Err(unmarshal::mismatch(
                other,
                &format!("{place}.type"),
                "[]string",
            ));
        }
    };
    Ok(Value::list(ListKind::PropertyType, types))
}

fn any_member(object: &Map<String, Json>, name: &str) -> Result<Value, Error> {
    unmarshal::member(object, name).map_or(Ok(Value::Nil), unmarshal::anything)
}

fn string_list(object: &Map<String, Json>, name: &str, place: &str) -> Result<Value, Error> {
    Ok(match unmarshal::list(object, name, place, "[]string")? {
        None => Value::nil_list(ListKind::Strings),
        Some(items) => Value::list(
            ListKind::Strings,
            unmarshal::strings(items, &format!("{place}.{name}"))?,
        ),
    })
}

/// Tools after another round through JSON, which leaves out empty lists. The endpoint for clients
/// of OpenAI passes its requests on in this way.
pub(crate) fn without_empty_lists(tools: &[Json]) -> Vec<Json> {
    let mut tools = tools.to_vec();
    for tool in tools.iter_mut().filter_map(Json::as_object_mut) {
        for function in members_mut(tool, "function") {
            for parameters in members_mut(function, "parameters") {
                drop_empty_lists(parameters, &["required"]);
                properties_without_empty_lists(parameters);
            }
        }
    }
    tools
}

fn properties_without_empty_lists(object: &mut Map<String, Json>) {
    for properties in members_mut(object, "properties") {
        for property in properties.values_mut().filter_map(Json::as_object_mut) {
            property_without_empty_lists(property);
        }
    }
}

fn property_without_empty_lists(property: &mut Map<String, Json>) {
    drop_empty_lists(property, &["anyOf", "type", "enum", "required"]);
    properties_without_empty_lists(property);
    let any_of = property
        .iter_mut()
        .filter(|(key, _)| key.eq_ignore_ascii_case("anyOf"));
    let choices = any_of
        .filter_map(|(_, value)| value.as_array_mut())
        .flatten();
    for choice in choices.filter_map(Json::as_object_mut) {
        property_without_empty_lists(choice);
    }
}

/// The members that Go may read under a name, if they are objects.
fn members_mut<'j>(
    object: &'j mut Map<String, Json>,
    name: &'static str,
) -> impl Iterator<Item = &'j mut Map<String, Json>> {
    let named = object
        .iter_mut()
        .filter(move |(key, _)| key.eq_ignore_ascii_case(name));
    named.filter_map(|(_, value)| value.as_object_mut())
}

fn drop_empty_lists(object: &mut Map<String, Json>, names: &[&str]) {
    object.retain(|key, value| {
        let is_named = names.iter().any(|name| key.eq_ignore_ascii_case(name));
        !(is_named && value.as_array().is_some_and(Vec::is_empty))
    });
}

/// The work to look at one property.
const PROPERTY: usize = 300;

/// Writes a property's type in TypeScript's words: api/types.go, `ToTypeScriptType`.
pub(crate) fn typescript(out: &mut Sink<'_>, property: &Struct) -> WriteResult {
    out.meter.work(PROPERTY)?;
    let items = |name| match property.get(name) {
        Some(Value::List(list)) => list.items(),
        _ => &[],
    };
    let outer = out.begin_struct(property);
    let mut is_first = true;
    let mut begin = |out: &mut Sink<'_>| {
        if std::mem::take(&mut is_first) {
            return Ok(());
        }
        out.push(b" | ")
    };
    let any_of = items("AnyOf");
    if any_of.is_empty() {
        for one in items("Type") {
            let Value::Text(one) = one else { continue };
            begin(out)?;
            out.push(match &**one {
                b"string" => b"string",
                b"number" | b"integer" => b"number",
                b"boolean" => b"boolean",
                b"array" => b"any[]",
                b"object" => b"Record<string, any>",
                b"null" => b"null",
                _ => b"any",
            })?;
        }
    }
    for one in any_of {
        if let Value::Struct(structure) = one {
            begin(out)?;
            typescript(out, structure)?;
        }
    }
    if is_first {
        out.push(b"any")?;
    }
    out.end(outer);
    Ok(())
}

/// Properties without their order: `ToMap`.
pub(crate) fn to_map(
    properties: Option<&[(Text, Value)]>,
    meter: &mut Meter,
) -> Result<Value, Error> {
    let count = properties.map_or(0, <[_]>::len);
    meter.produce(count.saturating_mul(size_of::<(Text, Value)>()))?;
    meter.work(count.saturating_mul(PROPERTY))?;
    let entries: Option<BTreeMap<Text, Value>> =
        properties.map(|properties| properties.iter().cloned().collect());
    Ok(Value::Map(crate::values::Map {
        kind: MapKind::PlainProperties,
        entries: entries.map(Arc::new),
    }))
}
