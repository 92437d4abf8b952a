//! A conversation as one JSON value, which can be changed anywhere.

use rolecall_core::Case;
use serde_json::{Map, Value};

const KEYS: [&str; 4] = ["messages", "tools", "documents", "variables"];

/// The messages, the tools, the documents and the variables of a case.
pub(super) fn parts(case: &Case) -> Value {
    let list = |list: &Option<Vec<Value>>| list.clone().map_or(Value::Null, Value::Array);
    let values = [
        case.messages.clone().into(),
        list(&case.tools),
        list(&case.documents),
        case.variables.clone().into(),
    ];
    let keys = KEYS.iter().map(|key| (*key).to_owned());
    Value::Object(keys.zip(values).collect::<Map<_, _>>())
}

/// A case with other parts. A part that has the wrong form is absent.
pub(super) fn with_parts(case: &Case, mut parts: Value) -> Case {
    let mut take = |key: &str| parts.get_mut(key).map(Value::take).unwrap_or_default();
    let mut list = |key: &str| match take(key) {
        Value::Array(list) => Some(list),
        _ => None,
    };
    let messages = list("messages").unwrap_or_default();
    let (tools, documents) = (list("tools"), list("documents"));
    let variables = match take("variables") {
        Value::Object(variables) => variables,
        _ => Map::new(),
    };
    Case {
        documents,
        ..case.saying(messages, tools, variables)
    }
}

/// How much there is to read in a case.
pub(super) fn size(case: &Case) -> usize {
    let options = usize::from(!case.add_generation_prompt)
        + usize::from(case.continue_final_message.is_some());
    // A list that is absent is nothing to read, and an empty one is.
    let lists = [&case.tools, &case.documents];
    let lists = lists.into_iter().flatten().count();
    parts(case).to_string().len() + 8 * (options + lists)
}

/// The places of the objects and of the lists in a value, as JSON pointers.
#[derive(Default)]
pub(super) struct Pointers {
    pub(super) objects: Vec<String>,
    pub(super) lists: Vec<String>,
}

impl Pointers {
    pub(super) fn of(value: &Value) -> Pointers {
        let mut found = Pointers::default();
        found.collect(value, &mut String::new());
        found
    }

    fn collect(&mut self, value: &Value, at: &mut String) {
        let length = at.len();
        let mut within = |found: &mut Pointers, step: &str, inner: &Value| {
            at.push('/');
            at.push_str(&step.replace('~', "~0").replace('/', "~1"));
            found.collect(inner, at);
            at.truncate(length);
        };
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    within(self, key, inner);
                }
                // The outermost object has the parts, whose keys stay.
                if length > 0 {
                    self.objects.push(at.clone());
                }
            }
            Value::Array(list) => {
                for (index, inner) in list.iter().enumerate() {
                    within(self, &index.to_string(), inner);
                }
                self.lists.push(at.clone());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_case_is_its_parts() {
        let mut case = Case::from_messages(vec![json!({"role": "user", "content": "x"})]);
        case.documents = Some(vec![json!({"a/b": {"text": []}})]);
        case.variables.insert("think".to_owned(), json!(true));
        let whole = parts(&case);
        let again = with_parts(&case, whole.clone());
        assert_eq!(parts(&again), whole);
        assert_eq!(again.tools, None);
        let pointers = Pointers::of(&whole);
        assert_eq!(
            pointers.objects,
            [
                "/messages/0",
                "/documents/0/a~1b",
                "/documents/0",
                "/variables"
            ]
        );
        assert_eq!(
            pointers.lists,
            ["/messages", "/documents/0/a~1b/text", "/documents"]
        );
        assert!(
            pointers
                .lists
                .iter()
                .all(|list| whole.pointer(list).is_some())
        );
    }
}
