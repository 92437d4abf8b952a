//! Adding a case to a case file of the user's own. Everything else in the file stays as it is.

use std::path::Path;

use serde_json::{Map, Value};

use rolecall_check::probe::spaced;
use rolecall_core::json::{self, NodeKind};
use rolecall_core::problem::{Position, Problem};

/// The text of a case file with one more case. `text` is the file's, if there is one.
///
/// # Errors
///
/// The file is no case file, or has a case of that name.
pub fn with_case(
    path: &Path,
    text: Option<&str>,
    name: &str,
    case: &Map<String, Value>,
) -> Result<String, Problem> {
    let Some(text) = text else {
        let about = "Conversations that were added with `rolecall add`.";
        return Ok(new_file(about, [(name, case)]));
    };
    let entry = entry(name, case);
    let no_cases = || Problem::new(path, "the file is no case file: it has no `cases`");
    let root = json::parse(path, text)?;
    let cases = root.entry("cases").ok_or_else(no_cases)?;
    let NodeKind::Object(fields) = &cases.kind else {
        return Err(no_cases());
    };
    if let Some(known) = fields.iter().find(|field| field.name == name) {
        let message = format!("a case named `{name}` is already there");
        return Err(Problem::new(path, message)
            .at(Position::of(text, known.range.start))
            .help("give the new one another name with --name"));
    }
    // After the last case, or as the first one.
    let (at, new) = match fields.last() {
        Some(last) => (last.range.end, format!(",\n    {entry}")),
        None => (cases.range.start + 1, format!("\n    {entry}\n  ")),
    };
    let mut text = text.to_owned();
    let end = if fields.is_empty() {
        cases.range.end - 1
    } else {
        at
    };
    text.replace_range(at..end, &new);
    Ok(text)
}

/// The text of a new case file.
pub fn new_file<'c>(
    about: &str,
    cases: impl IntoIterator<Item = (&'c str, &'c Map<String, Value>)>,
) -> String {
    let cases = cases.into_iter().map(|(name, case)| entry(name, case));
    let cases: Vec<String> = cases.collect();
    format!(
        "{{\n  \"about\": {},\n  \"cases\": {{\n    {}\n  }}\n}}\n",
        Value::from(about),
        cases.join(",\n    ")
    )
}

fn entry(name: &str, case: &Map<String, Value>) -> String {
    format!("{}: {}", Value::from(name), shown(case))
}

/// A case as case files have it: a line for each field, and one for each message.
fn shown(case: &Map<String, Value>) -> String {
    let fields = case.iter().map(|(key, value)| {
        let value = match value {
            Value::Array(elements) if !elements.is_empty() => {
                let lines: Vec<String> = elements
                    .iter()
                    .map(|element| format!("        {}", spaced(element)))
                    .collect();
                format!("[\n{}\n      ]", lines.join(",\n"))
            }
            value => spaced(value),
        };
        format!("      {}: {value}", Value::from(key.as_str()))
    });
    let fields: Vec<String> = fields.collect();
    format!("{{\n{}\n    }}", fields.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn add(text: Option<&str>, name: &str) -> Result<String, Problem> {
        let case = json!({"about": "x", "messages": [{"role": "user", "content": "Hi"}]});
        with_case(Path::new("own.json"), text, name, case.as_object().unwrap())
    }

    #[test]
    fn a_case_is_added_and_the_rest_stays() {
        let new = add(None, "one").unwrap();
        let twice = add(Some(&new), "two").unwrap();
        assert!(twice.starts_with(new.split_once("\n    }\n").unwrap().0));
        let value: Value = serde_json::from_str(&twice).unwrap();
        assert_eq!(value["cases"]["two"], value["cases"]["one"]);
        let empty = add(Some("{\"about\": \"a\",   \"cases\": {}}\n"), "one").unwrap();
        assert!(empty.starts_with("{\"about\": \"a\",   \"cases\": {"));
        assert!(serde_json::from_str::<Value>(&empty).is_ok(), "{empty}");
    }

    #[test]
    fn what_cannot_be_added_is_said() {
        let one = add(None, "one").unwrap();
        let twice = add(Some(&one), "one").unwrap_err().to_string();
        assert!(
            twice.contains("a case named `one` is already there"),
            "{twice}"
        );
        for text in ["[]", "{}", "{", "{\"cases\": 3}"] {
            assert!(add(Some(text), "one").is_err(), "{text}");
        }
    }
}
