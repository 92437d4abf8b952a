//! The places in a conversation that can be changed.

use serde_json::Value;

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
    use rolecall_core::Case;
    use rolecall_core::shrinking::{parts, with_parts};

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
