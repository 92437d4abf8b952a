//! Builds a value of a field from what was captured and parsed.

use std::cell::RefCell;
use std::rc::Rc;

use crate::characters::{WORD, is_in};
use crate::failure::{Kind, ParseError, raised};
use crate::text::Text;
use crate::value::{Object, Value};

/// The shape of a field's value, with placeholders.
#[derive(Clone, Debug)]
pub(crate) enum Transform {
    Plain(Value),
    Placeholder(Vec<Text>),
    List(Vec<Transform>),
    Object(Vec<(Text, Transform)>),
}

/// A value under construction. As in Python, two placeholders of the same name share one list or
/// object, so a change to one is a change to both.
#[derive(Clone, Debug)]
pub(crate) enum Shared {
    Plain(Value),
    List(Rc<RefCell<Vec<Shared>>>),
    Object(Rc<RefCell<indexmap::IndexMap<Text, Shared>>>),
}

/// The values of placeholders.
pub(crate) type Scope = indexmap::IndexMap<Text, Shared>;

impl Transform {
    /// Reads a transform. `Err` has the string that mixes a placeholder with other text.
    pub(crate) fn read(value: &Value) -> Result<Transform, String> {
        Ok(match value {
            Value::Text(text) => match placeholder(text.codes()) {
                Some(path) => Transform::Placeholder(path),
                None if has_placeholder(text.codes()) => return Err(text.to_string()),
                None => Transform::Plain(value.clone()),
            },
            Value::List(items) => Transform::List(
                items
                    .iter()
                    .map(Transform::read)
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(entries) => {
                let entries = entries.iter();
                let entries = entries
                    .map(|(key, value)| Ok::<_, String>((key.clone(), Transform::read(value)?)));
                Transform::Object(entries.collect::<Result<_, _>>()?)
            }
            plain => Transform::Plain(plain.clone()),
        })
    }

    pub(crate) fn apply(&self, scope: &Scope) -> Result<Shared, ParseError> {
        Ok(match self {
            Transform::Plain(value) => Shared::of(value.clone()),
            Transform::Placeholder(path) => look_up(path, scope)?,
            Transform::List(items) => {
                let items: Vec<Shared> = items
                    .iter()
                    .map(|item| item.apply(scope))
                    .collect::<Result<_, _>>()?;
                Shared::list(items)
            }
            Transform::Object(entries) => {
                let entries = entries.iter();
                let entries = entries.map(|(key, value)| Ok((key.clone(), value.apply(scope)?)));
                Shared::Object(Rc::new(RefCell::new(
                    entries.collect::<Result<_, ParseError>>()?,
                )))
            }
        })
    }
}

fn look_up(path: &[Text], scope: &Scope) -> Result<Shared, ParseError> {
    let (root, keys) = path
        .split_first()
        .ok_or_else(|| raised(Kind::Key, "a placeholder has no name"))?;
    let Some(mut value) = scope.get(root).cloned() else {
        return Err(raised(
            Kind::Key,
            format!("the placeholder `{{{root}}}` is not defined"),
        ));
    };
    for key in keys {
        let Shared::Object(entries) = &value else {
            let message = format!(
                "`{key}` of a placeholder `{{{root}…}}` is looked for in what is no object"
            );
            return Err(raised(Kind::Value, message));
        };
        let inner = entries.borrow().get(key).cloned();
        value = inner.ok_or_else(|| {
            raised(
                Kind::Value,
                format!("the placeholder `{{{root}…}}` has no key `{key}`"),
            )
        })?;
    }
    Ok(value)
}

/// The names in `{name}` or `{name.key}`, if a text is that and nothing else.
fn placeholder(text: &[u32]) -> Option<Vec<Text>> {
    let inside = text
        .strip_prefix(&[u32::from('{')])?
        .strip_suffix(&[u32::from('}')])?;
    let parts = inside.split(|code| *code == u32::from('.'));
    let is_name = |part: &[u32]| !part.is_empty() && part.iter().all(|code| is_in(*code, WORD));
    parts
        .map(|part| is_name(part).then(|| Text::from(part)))
        .collect()
}

fn has_placeholder(text: &[u32]) -> bool {
    let is = |character: char| move |code: &u32| *code == u32::from(character);
    let starts = (0..text.len()).filter(|at| is('{')(&text[*at]));
    starts
        .filter_map(|at| Some(&text[at..=at + text[at..].iter().position(is('}'))?]))
        .any(|part| placeholder(part).is_some())
}

impl Shared {
    pub(crate) fn of(value: Value) -> Shared {
        match value {
            Value::List(items) => Shared::list(items.into_iter().map(Shared::of).collect()),
            Value::Object(entries) => {
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| (key, Shared::of(value)));
                Shared::Object(Rc::new(RefCell::new(entries.collect())))
            }
            plain => Shared::Plain(plain),
        }
    }

    pub(crate) fn list(items: Vec<Shared>) -> Shared {
        Shared::List(Rc::new(RefCell::new(items)))
    }

    pub(crate) fn into_value(self) -> Value {
        match self {
            Shared::Plain(value) => value,
            Shared::List(items) => Value::List(
                items
                    .borrow()
                    .iter()
                    .map(|item| item.clone().into_value())
                    .collect(),
            ),
            Shared::Object(entries) => {
                let entries = entries.borrow();
                let entries = entries
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone().into_value()));
                Value::Object(entries.collect::<Object>())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_text_is_a_placeholder() {
        let path = |text: &str| placeholder(Text::from(text).codes()).map(|path| path.len());
        assert_eq!(path("{name}"), Some(1));
        assert_eq!(path("{content.a.b}"), Some(3));
        for other in ["{}", "{ x }", "{a.}", "a", "{a}b", "{a}{b}"] {
            assert_eq!(path(other), None, "{other}");
        }
        let mixes = |text: &str| has_placeholder(Text::from(text).codes());
        assert!(mixes("a{b}") && mixes("{{b}") && mixes("{}{c}"));
        assert!(!mixes("{ b }") && !mixes("{}") && !mixes("{a"));
    }
}
