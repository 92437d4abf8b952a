//! The texts of a conversation that somebody wrote: where they are, and how they are changed.

use std::ops::Range;

use rolecall_core::{CONTENT, Case};
use serde_json::Value;

/// What a text of a conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Subject {
    /// What a message says, reasoning and arguments of calls included.
    Content,
    /// The name of a tool, or of someone who speaks.
    Name,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

/// The steps of a path such as `messages[2].content`. None if a key is not a name.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, indexes) = match part.find('[') {
            Some(at) => part.split_at(at),
            None => (part, ""),
        };
        if !name.is_empty() {
            steps.push(Step::Key(name));
        }
        for index in indexes.split_terminator(']') {
            let index = index.strip_prefix('[')?.parse().ok()?;
            steps.push(Step::Index(index));
        }
    }
    Some(steps)
}

/// What the text at a path is. None for what nobody wrote as a text: roles, types, IDs, schemas.
pub(crate) fn subject(path: &str) -> Option<Subject> {
    use Step::{Index, Key};
    match steps(path)?.as_slice() {
        [.., Key("type" | "role" | "id")] => None,
        [Key("prompt" | "system")]
        | [Key("documents"), Index(_), _, ..]
        | [Key("messages"), Index(_), Key(CONTENT), Index(_), ..] => Some(Subject::Content),
        [Key("messages"), Index(_), Key(key)] => match *key {
            CONTENT | "reasoning_content" | "reasoning" | "thinking" => Some(Subject::Content),
            "name" | "tool_name" => Some(Subject::Name),
            _ => None,
        },
        [
            Key("messages"),
            Index(_),
            Key("tool_calls"),
            Index(_),
            rest @ ..,
        ] => match rest {
            [Key("name")] | [Key("function"), Key("name")] => Some(Subject::Name),
            [Key("arguments"), ..] | [Key("function"), Key("arguments"), ..] => {
                Some(Subject::Content)
            }
            _ => None,
        },
        [Key("tools"), Index(_), rest @ ..] => match rest {
            [Key("name")] | [Key("function"), Key("name")] => Some(Subject::Name),
            [Key("description")] | [Key("function"), Key("description")] => Some(Subject::Content),
            _ => None,
        },
        _ => None,
    }
}

/// Who speaks at a path, and whether the message is the last one. For reports and to tell alike
/// comparisons apart.
pub(crate) fn speaker(case: &Case, path: &str) -> (String, bool) {
    if let Some([Step::Key("messages"), Step::Index(at), ..]) = steps(path).as_deref() {
        let role = case
            .messages
            .get(*at)
            .and_then(|message| message["role"].as_str());
        let is_last = at + 1 == case.messages.len();
        return (role.unwrap_or_default().to_owned(), is_last);
    }
    (
        path.split(['[', '.']).next().unwrap_or_default().to_owned(),
        true,
    )
}

/// A case with another text at a path. None if there is no text, or if the bytes are not those of
/// characters.
pub(crate) fn with_text(
    case: &Case,
    path: &str,
    change: impl Fn(&str) -> Option<String>,
) -> Option<Case> {
    let mut case = case.clone();
    let text = text_mut(&mut case, path)?;
    let changed = change(text.as_str()?)?;
    *text = Value::from(changed);
    Some(case)
}

/// The text at a path, if there is one.
pub(crate) fn text_at<'c>(case: &'c Case, path: &str) -> Option<&'c str> {
    let place = Place::of(case, path)?;
    let value = place
        .list_of(case)?
        .get(place.index)?
        .pointer(&place.pointer)?;
    text_of_parts(value).as_str()
}

/// A list of parts may reach the template as one text.
fn text_of_parts(value: &Value) -> &Value {
    value.pointer(FIRST_PART).unwrap_or(value)
}

/// The text with some of its bytes replaced.
pub(crate) fn replaced(text: &str, bytes: &Range<usize>, by: &str) -> Option<String> {
    let (before, after) = (text.get(..bytes.start)?, text.get(bytes.end..)?);
    Some(format!("{before}{by}{after}"))
}

/// Where a value is in a case.
struct Place {
    list: List,
    index: usize,
    /// From there on, as JSON pointers are written.
    pointer: String,
}

enum List {
    Messages,
    Tools,
    Documents,
}

/// The text of a list of parts.
const FIRST_PART: &str = "/0/text";

impl Place {
    fn of(case: &Case, path: &str) -> Option<Place> {
        let of_role = |role: &str| {
            let mut messages = case.messages.iter();
            Some(Place {
                list: List::Messages,
                index: messages.rposition(|message| message["role"] == role)?,
                pointer: format!("/{CONTENT}"),
            })
        };
        let steps = steps(path)?;
        let (list, index, rest) = match steps.as_slice() {
            // Ollama's names for the texts of the last turn.
            [Step::Key("prompt")] => return of_role("user"),
            [Step::Key("system")] => return of_role("system"),
            [Step::Key("messages"), Step::Index(at), rest @ ..] => (List::Messages, *at, rest),
            [Step::Key("tools"), Step::Index(at), rest @ ..] => (List::Tools, *at, rest),
            [Step::Key("documents"), Step::Index(at), rest @ ..] => (List::Documents, *at, rest),
            _ => return None,
        };
        let mut pointer = String::new();
        for step in rest {
            match step {
                Step::Key(key) => {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    pointer.extend(["/", &key]);
                }
                Step::Index(at) => pointer.extend(["/", &at.to_string()]),
            }
        }
        Some(Place {
            list,
            index,
            pointer,
        })
    }

    fn list_of<'c>(&self, case: &'c Case) -> Option<&'c Vec<Value>> {
        match self.list {
            List::Messages => Some(&case.messages),
            List::Tools => case.tools.as_ref(),
            List::Documents => case.documents.as_ref(),
        }
    }

    fn list_of_mut<'c>(&self, case: &'c mut Case) -> Option<&'c mut Vec<Value>> {
        match self.list {
            List::Messages => Some(&mut case.messages),
            List::Tools => case.tools.as_mut(),
            List::Documents => case.documents.as_mut(),
        }
    }
}

fn text_mut<'c>(case: &'c mut Case, path: &str) -> Option<&'c mut Value> {
    let place = Place::of(case, path)?;
    let item = place.list_of_mut(case)?.get_mut(place.index)?;
    let mut value = item.pointer_mut(&place.pointer)?;
    if value.is_array() {
        value = value.pointer_mut(FIRST_PART)?;
    }
    value.is_string().then_some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_that_somebody_wrote_are_distinguished_from_the_rest() {
        for (path, expected) in [
            ("messages[0].content", Some(Subject::Content)),
            ("messages[10].content[1].text", Some(Subject::Content)),
            (
                "messages[1].tool_calls[0].function.arguments.city",
                Some(Subject::Content),
            ),
            (
                "messages[1].tool_calls[0].function.name",
                Some(Subject::Name),
            ),
            ("tools[3].function.name", Some(Subject::Name)),
            ("prompt", Some(Subject::Content)),
            ("messages[0].role", None),
            ("messages[0].content[0].type", None),
            ("messages[1].tool_calls[0].id", None),
            ("tools[0].function.parameters.type", None),
            ("documents[0].text", Some(Subject::Content)),
            ("documents[0]", None),
            ("bos_token", None),
            ("messages", None),
        ] {
            assert_eq!(subject(path), expected, "{path}");
        }
    }

    #[test]
    fn a_text_is_changed_in_its_place() {
        let case = Case::from_messages(vec![json!({"role": "user", "content": "one two"})]);
        let path = "messages[0].content";
        let changed = with_text(&case, path, |text| replaced(text, &(4..7), "six")).unwrap();
        assert_eq!(changed.messages[0]["content"], "one six");
        let missing = with_text(&case, "messages[1].content", |_| Some(String::new()));
        assert!(missing.is_none());
        assert_eq!(speaker(&case, path), ("user".to_owned(), true));
    }
}
