//! JSON Schemas of tools, as far as calls show something: whether arguments fit one, and whether it is
//! one. What a schema says in other ways, such as patterns and ranges, is not judged.

use serde_json::Value;

/// How deep schemas are followed. A schema may refer to itself.
const DEEPEST: u8 = 24;

/// The types of JSON Schema.
const TYPES: &str = "string integer number boolean object array null";

/// What is wrong with arguments or a schema, in words that all such have, and what shows it after a name.
pub(super) type Misfit = (&'static str, String);

/// What of some arguments a schema does not allow: the first that is found.
pub(super) fn misfit(schema: &Value, arguments: &Value) -> Option<Misfit> {
    misfit_at([schema, schema], arguments, "", DEEPEST)
}

/// The same for a value at a path in the arguments. The first schema is the whole one.
fn misfit_at([root, schema]: [&Value; 2], value: &Value, path: &str, depth: u8) -> Option<Misfit> {
    let depth = depth.checked_sub(1)?;
    let inner =
        |schema: &Value, value: &Value, path: &str| misfit_at([root, schema], value, path, depth);
    if let Some(address) = schema["$ref"].as_str() {
        return inner(root.pointer(address.strip_prefix('#')?)?, value, path);
    }
    for key in ["anyOf", "oneOf"] {
        let failed = items(&schema[key]).map(|one| inner(one, value, path));
        let failed = failed.collect::<Option<Vec<_>>>();
        if let Some(first) = failed.and_then(|all| all.into_iter().next()) {
            return Some(first);
        }
    }
    let types: Vec<&str> = types(schema).collect();
    let is_null = value.is_null() && schema["nullable"] == true;
    if !types.is_empty() && !is_null && !types.iter().any(|one| is_of(value, one)) {
        let what = "an argument has another type than its tool wants";
        let types = types.join(" or ");
        let detail = format!(": `{path}` is `{value}`, and not of the type {types}");
        return Some((what, detail));
    }
    if schema["enum"].is_array() && !items(&schema["enum"]).any(|one| one == value) {
        let what = "an argument is none of the values that its tool lists";
        let detail = format!(": `{path}` is `{value}`, and not in {}", schema["enum"]);
        return Some((what, detail));
    }
    if let Some(list) = value.as_array().filter(|_| schema["items"].is_object()) {
        let mut list = list.iter().enumerate();
        return list.find_map(|(at, one)| inner(&schema["items"], one, &format!("{path}[{at}]")));
    }
    let fields = value.as_object()?;
    let within = |key: &str| format!("{path}.{key}").trim_start_matches('.').to_owned();
    let mut required = items(&schema["required"]).filter_map(Value::as_str);
    if let Some(key) = required.find(|key| !fields.contains_key(*key)) {
        let what = "a call lacks an argument that its tool requires";
        return Some((what, format!(": there is no `{}`", within(key))));
    }
    let properties = schema["properties"]
        .as_object()
        .filter(|all| !all.is_empty())?;
    let others = "additionalProperties patternProperties anyOf oneOf allOf";
    let says = |key: &str| !schema[key].is_null() && schema[key] != false;
    let is_open = others.split(' ').any(says);
    let mut fields = fields.iter();
    fields.find_map(|(key, value)| match properties.get(key) {
        Some(schema) => inner(schema, value, &within(key)),
        None if is_open => None,
        None => {
            let what = "a call has an argument that its tool does not know";
            Some((what, format!(": `{}` is `{value}`", within(key))))
        }
    })
}

/// The elements of a list, and none of anything else.
fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The types that a schema allows.
fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let all = items(&schema["type"]).filter_map(Value::as_str);
    schema["type"].as_str().into_iter().chain(all)
}

/// Whether a value has a type. Every value has one that is not known.
fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// What is wrong with the schema of a tool's arguments.
pub(super) fn fault(schema: &Value) -> Option<Misfit> {
    let mut values = schema.as_object()?.values();
    let known = "type properties $ref anyOf oneOf allOf required";
    let says_none = known.split(' ').all(|key| schema[key].is_null());
    if says_none && values.any(|one| one["type"].is_string()) {
        let what = "the arguments of a tool are not in the `properties` of its schema";
        return Some((what, format!(": `{schema}`")));
    }
    fault_at(schema, "parameters", DEEPEST)
}

fn fault_at(schema: &Value, path: &str, depth: u8) -> Option<Misfit> {
    let depth = depth.checked_sub(1)?;
    let mut types = types(schema);
    if let Some(kind) = types.find(|one| !TYPES.split(' ').any(|known| known == *one)) {
        let what = "a tool's schema has a type that JSON Schema does not know";
        return Some((what, format!(": `{path}` is of the type `{kind}`")));
    }
    let properties = schema["properties"].as_object();
    let mut required = items(&schema["required"]).filter_map(Value::as_str);
    if let Some(key) = required.find(|key| properties.is_some_and(|all| !all.contains_key(*key))) {
        let what = "a tool requires an argument that its schema does not describe";
        return Some((what, format!(": `{path}` requires `{key}`")));
    }
    let mut inner = properties.into_iter().flatten();
    let fault = inner.find_map(|(key, one)| fault_at(one, key, depth));
    fault.or_else(|| fault_at(schema.get("items")?, path, depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(schema: &Value, arguments: &Value) -> String {
        misfit(schema, arguments).map_or_else(String::new, |one| one.1.replacen(": ", "", 1))
    }

    #[test]
    fn arguments_fit_a_schema_or_what_does_not_fit_is_named() {
        let schema = json!({
            "type": "object", "required": ["city"], "$defs": {"day": {"type": "integer"}},
            "properties": {
                "city": {"type": "string"}, "day": {"$ref": "#/$defs/day"}, "unit": {"enum": ["c", "f"]},
                "tags": {"type": "array", "items": {"type": ["string", "null"]}},
                "more": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"é": {"type": "number"}}, "required": ["é"]}]},
                "maybe": {"type": "string", "nullable": true}, "on": {"type": "boolean"}, "free": {}, "odd": {"type": "str"},
                "lost": {"$ref": "#/$defs/none"}, "self": {"$ref": "#"},
            },
        });
        for (arguments, expected) in [
            (json!({"city": "Oslo"}), ""),
            (
                json!({"city": "", "day": 3.0, "unit": "c", "tags": [null, "a"], "maybe": null}),
                "",
            ),
            (
                json!({"city": "a", "more": null, "free": [1], "odd": 1, "lost": 1}),
                "",
            ),
            (
                json!({"city": "a", "more": {"é": 1}, "self": {"city": "b"}}),
                "",
            ),
            (json!({}), "there is no `city`"),
            (
                json!({"city": null}),
                "`city` is `null`, and not of the type string",
            ),
            (
                json!({"city": "a", "day": "3"}),
                "`day` is `\"3\"`, and not of the type integer",
            ),
            (
                json!({"city": "a", "on": 1}),
                "`on` is `1`, and not of the type boolean",
            ),
            (
                json!({"city": "a", "unit": "k"}),
                "`unit` is `\"k\"`, and not in [\"c\",\"f\"]",
            ),
            (
                json!({"city": "a", "tags": ["b", 1]}),
                "`tags[1]` is `1`, and not of the type string or null",
            ),
            (
                json!({"city": "a", "more": {}}),
                "`more` is `{}`, and not of the type null",
            ),
            (json!({"city": "a", "self": {}}), "there is no `self.city`"),
            (json!({"city": "a", "land": 1}), "`land` is `1`"),
        ] {
            assert_eq!(said(&schema, &arguments), expected, "{arguments}");
        }
        let closed = json!({"properties": {"a": {}}, "additionalProperties": false});
        assert_eq!(said(&closed, &json!({"b": 1})), "`b` is `1`");
        for open in [
            json!({}),
            json!({"properties": {}}),
            json!(true),
            json!({"additionalProperties": true, "properties": {"a": {}}}),
        ] {
            assert_eq!(said(&open, &json!({"b": 1})), "", "{open}");
        }
    }

    #[test]
    fn a_schema_is_one_or_what_is_not_is_named() {
        let detail = |schema: &Value| {
            fault(schema).map_or_else(String::new, |one| one.1.replacen(": ", "", 1))
        };
        for (schema, expected) in [
            (json!({}), ""),
            (json!(null), ""),
            (
                json!({"type": "object", "properties": {"type": {"type": ["string", "null"]}}}),
                "",
            ),
            (
                json!({"type": "strng"}),
                "`parameters` is of the type `strng`",
            ),
            (json!({"type": {}}), ""),
            (
                json!({"properties": {"é": {"items": {"type": "str"}}}}),
                "`é` is of the type `str`",
            ),
            (
                json!({"properties": {}, "required": ["a"]}),
                "`parameters` requires `a`",
            ),
            (
                json!({"city": {"type": "string"}}),
                "`{\"city\":{\"type\":\"string\"}}`",
            ),
        ] {
            assert_eq!(detail(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_within_itself_ends() {
        let mut schema = json!({"type": "object"});
        let mut value = json!({});
        for _ in 0..200 {
            schema = json!({"properties": {"a": schema}});
            value = json!({"a": value});
        }
        assert_eq!(misfit(&schema, &value), None);
        assert_eq!(fault(&schema), None);
        let endless = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
        assert_eq!(misfit(&endless, &json!(1)), None);
    }
}
