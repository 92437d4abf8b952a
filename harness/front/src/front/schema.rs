//! JSON Schemas, as SGLang 0.5.23 corrects and checks them (`function_call/utils.py`).

use serde_json::Value;

/// The types of JSON Schema.
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Other names of types, such as those of databases.
const ALIASES: [(&str, &[&str]); 6] = [
    (
        "string",
        &[
            "str",
            "text",
            "varchar",
            "char",
            "enum",
            "uuid",
            "date",
            "datetime",
            "time",
            "timestamp",
            "binary",
            "blob",
            "bytea",
            "bytes",
            "varbinary",
        ],
    ),
    ("boolean", &["bool"]),
    ("integer", &["bigint", "smallint", "tinyint"]),
    ("number", &["double", "decimal", "real", "numeric"]),
    ("array", &["arr", "tuple", "set"]),
    ("object", &["map"]),
];

/// Beginnings of names of types. A digit, a bracket or a blank may follow.
const BEGINNINGS: [(&str, &[&str]); 4] = [
    ("integer", &["int", "uint", "long", "short", "unsigned"]),
    ("number", &["num", "float"]),
    ("array", &["list"]),
    ("object", &["dict"]),
];

/// The keys whose value is an object of schemas, a list of them, and one of them.
const OBJECTS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLE: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Replaces other names of types by JSON Schema's.
pub(super) fn correct_types(schema: &mut Value) {
    let fields = match schema {
        Value::Array(items) => return items.iter_mut().for_each(correct_types),
        Value::Object(fields) => fields,
        _ => return,
    };
    match fields.get_mut("type") {
        Some(Value::String(name)) => *name = corrected(name),
        Some(Value::Array(names)) => {
            let mut found = Vec::new();
            for mut name in names.drain(..) {
                if let Value::String(text) = &name {
                    name = corrected(text).into();
                }
                if !found.contains(&name) {
                    found.push(name);
                }
            }
            *names = found;
        }
        _ => {}
    }
    for key in OBJECTS {
        if let Some(Value::Object(inner)) = fields.get_mut(key) {
            inner.values_mut().for_each(correct_types);
        }
    }
    for key in LISTS.iter().chain(&SINGLE) {
        if let Some(inner) = fields.get_mut(*key) {
            correct_types(inner);
        }
    }
}

fn corrected(name: &str) -> String {
    let base = name
        .split('(')
        .next()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    if TYPES.contains(&name) || TYPES.contains(&base.as_str()) {
        return if TYPES.contains(&name) {
            name.to_owned()
        } else {
            base
        };
    }
    let is_alias = |(_, names): &&(&str, &[&str])| names.contains(&base.as_str());
    let begins = |(_, names): &&(&str, &[&str])| {
        names.iter().any(|begin| {
            let rest = base.strip_prefix(begin);
            rest.is_some_and(|rest| {
                rest.is_empty()
                    || rest.starts_with(|c: char| c.is_ascii_digit() || "[<( \t".contains(c))
            })
        })
    };
    let mut aliases = ALIASES.iter();
    let found = aliases
        .find(is_alias)
        .or_else(|| BEGINNINGS.iter().find(begins));
    found.map_or(name, |(known, _)| known).to_owned()
}

/// Whether a value is a JSON Schema of the version 2020-12.
pub(super) fn is_valid(schema: &Value) -> bool {
    let Value::Object(fields) = schema else {
        return schema.is_boolean();
    };
    fields.iter().all(|(key, value)| match key.as_str() {
        "type" => match value {
            Value::Array(names) => {
                !names.is_empty() && names.iter().all(is_type) && are_different(names)
            }
            name => is_type(name),
        },
        "required" => {
            let names = value.as_array();
            names.is_some_and(|names| names.iter().all(Value::is_string) && are_different(names))
        }
        "enum" | "examples" => value.is_array(),
        "$id" | "$schema" | "$ref" | "$anchor" | "$comment" | "title" | "description"
        | "format" | "pattern" => value.is_string(),
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => value.is_boolean(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value
            .as_f64()
            .is_some_and(|number| number >= 0.0 && number.fract() == 0.0),
        key if OBJECTS.contains(&key) => value
            .as_object()
            .is_some_and(|inner| inner.values().all(is_valid)),
        key if LISTS.contains(&key) => value
            .as_array()
            .is_some_and(|inner| !inner.is_empty() && inner.iter().all(is_valid)),
        key if SINGLE.contains(&key) => is_valid(value),
        _ => true,
    })
}

fn is_type(name: &Value) -> bool {
    name.as_str().is_some_and(|name| TYPES.contains(&name))
}

fn are_different(values: &[Value]) -> bool {
    let mut values = values.iter().enumerate();
    let earlier = values.clone();
    values.all(|(at, value)| earlier.clone().take(at).all(|(_, other)| other != value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_get_the_names_of_json_schema() {
        for (name, expected) in [
            ("string", "string"),
            ("String", "string"),
            ("VARCHAR(255)", "string"),
            ("int32", "integer"),
            ("internal", "internal"),
            ("float", "number"),
            ("list[str]", "array"),
            ("list_price", "list_price"),
            ("dict", "object"),
            ("bool", "boolean"),
            ("any", "any"),
        ] {
            assert_eq!(corrected(name), expected, "{name}");
        }
        let mut schema =
            json!({"type": ["int", "integer", "null"], "items": {"anyOf": [{"type": "str"}]}});
        correct_types(&mut schema);
        assert_eq!(
            schema,
            json!({"type": ["integer", "null"], "items": {"anyOf": [{"type": "string"}]}})
        );
    }

    #[test]
    fn what_is_no_schema_is_found() {
        for (schema, expected) in [
            (json!({}), true),
            (json!(true), true),
            (json!("x"), false),
            (json!({"type": "any"}), false),
            (
                json!({"properties": {"a": {"type": "string", "x": 1}}, "required": ["a"]}),
                true,
            ),
            (json!({"required": "a"}), false),
            (json!({"required": ["a", "a"]}), false),
            (json!({"properties": []}), false),
            (json!({"anyOf": []}), false),
            (json!({"minLength": -1}), false),
            (json!({"items": {"enum": 1}}), false),
            (json!({"type": []}), false),
        ] {
            assert_eq!(is_valid(&schema), expected, "{schema}");
        }
    }
}
