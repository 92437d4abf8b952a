//! Cases: named conversations with their rendering options.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::clock::Moment;
use crate::template::Dialect;

/// A case's name: `family/name`, such as `bad-roles/unknown-role`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseId {
    family: Arc<str>,
    name: Arc<str>,
}

/// A text that is not the name of a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no case: a case is named family/name")]
pub struct InvalidCaseId(String);

/// One named conversation with its rendering options.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name.
    pub id: CaseId,
    /// The file it stands in; empty where it was not read from one.
    pub path: PathBuf,
    /// What it is for, in a sentence.
    pub about: Option<String>,
    /// The messages, exactly as they are written.
    pub messages: Vec<Value>,
    /// The tools; `None` reaches a Jinja template as `None`.
    pub tools: Option<Vec<Value>>,
    /// The documents, exactly as they are written.
    pub documents: Option<Vec<Value>>,
    /// Whether the prompt shall end with the opening of the assistant's turn.
    pub add_generation_prompt: bool,
    /// The field of the last message that the model shall go on with, such as `content`:
    /// the prompt then ends inside of it. No template sees this, applications do it.
    pub continue_final_message: Option<String>,
    /// Extra template variables; they win over the template's own.
    pub variables: Map<String, Value>,
    /// What the clock shows while the template runs.
    pub now: Moment,
    /// The dialects that the shape exists in.
    pub dialects: Vec<Dialect>,
    /// The name of the front that it is rendered behind, where that is not the one which
    /// most users of a template have.
    pub front: Option<&'static str>,
}

/// The field of a message with what is said: its name.
pub const CONTENT: &str = "content";

impl CaseId {
    /// The most characters that a family or a case has in its name: a family is a file.
    pub const MOST_CHARACTERS: usize = 64;

    /// What stands between the name of a case and that of the front that it is rendered
    /// behind: see [`Case::behind`]. No case file may use it.
    pub const BEHIND: char = '@';

    /// Puts an ID together from its parts.
    pub fn new(family: &str, name: &str) -> CaseId {
        CaseId {
            family: family.into(),
            name: name.into(),
        }
    }

    /// The name of the same case, rendered behind a front.
    #[must_use]
    pub fn behind(&self, front: &str) -> CaseId {
        CaseId::new(
            &self.family,
            &format!("{}{}{front}", self.written_name(), CaseId::BEHIND),
        )
    }

    /// The name within the family as the case file has it, whatever the front.
    pub fn written_name(&self) -> &str {
        let name = self.name.split_once(CaseId::BEHIND);
        name.map_or(&self.name, |(name, _)| name)
    }

    /// The family: the case file's name without `.json`.
    pub fn family(&self) -> &str {
        &self.family
    }

    /// The name within the family.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a case or a family may have a name: lower-case letters and digits, in words
    /// that single dashes join, at most [`CaseId::MOST_CHARACTERS`] of them.
    pub fn allows(name: &str) -> bool {
        let is_word = |word: &str| {
            let mut bytes = word.bytes();
            !word.is_empty() && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        name.len() <= CaseId::MOST_CHARACTERS && name.split('-').all(is_word)
    }
}

impl Hash for CaseId {
    /// Of the name alone: few families share one, and records are looked up for each pair.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.family, self.name)
    }
}

impl std::str::FromStr for CaseId {
    type Err = InvalidCaseId;

    fn from_str(text: &str) -> Result<CaseId, InvalidCaseId> {
        match text.split_once('/') {
            Some((family, name))
                if CaseId::allows(family) && name.split(CaseId::BEHIND).all(CaseId::allows) =>
            {
                Ok(CaseId::new(family, name))
            }
            _ => Err(InvalidCaseId(text.to_owned())),
        }
    }
}

impl Case {
    /// A case that has messages and nothing else, named `anonymous/case`. Its clock is
    /// frozen at the suite's moment: see [`Moment::default`].
    pub fn from_messages(messages: Vec<Value>) -> Case {
        Case {
            id: CaseId::new("anonymous", "case"),
            path: PathBuf::new(),
            about: None,
            messages,
            tools: None,
            documents: None,
            add_generation_prompt: true,
            continue_final_message: None,
            variables: Map::new(),
            now: Moment::default(),
            dialects: Dialect::ALL.to_vec(),
            front: None,
        }
    }

    /// The same case, rendered behind a front, whose name is in its name.
    #[must_use]
    pub fn behind(&self, front: &'static str) -> Case {
        Case {
            id: self.id.behind(front),
            front: Some(front),
            ..self.clone()
        }
    }

    /// A case that differs from this one in what is said, and is as it else.
    #[must_use]
    pub fn saying(
        &self,
        messages: Vec<Value>,
        tools: Option<Vec<Value>>,
        variables: Map<String, Value>,
    ) -> Case {
        Case {
            id: self.id.clone(),
            path: self.path.clone(),
            about: self.about.clone(),
            messages,
            tools,
            documents: self.documents.clone(),
            add_generation_prompt: self.add_generation_prompt,
            continue_final_message: self.continue_final_message.clone(),
            variables,
            now: self.now,
            dialects: self.dialects.clone(),
            front: self.front,
        }
    }

    /// Whether the case is for templates of a dialect.
    pub fn is_for(&self, dialect: Dialect) -> bool {
        self.dialects.contains(&dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_that_single_dashes_join() {
        for good in ["a", "bad-roles", "9-lives", "a1-b2", &"x".repeat(64)] {
            assert!(CaseId::allows(good), "{good}");
        }
        let long = "x".repeat(65);
        for bad in [
            "", "-", "a-", "-a", "a--b", "A", "a_b", "a/b", "..", "é", &long,
        ] {
            assert!(!CaseId::allows(bad), "{bad}");
        }
        assert_eq!("a/b".parse(), Ok(CaseId::new("a", "b")));
        assert_eq!("a/b@raw".parse(), Ok(CaseId::new("a", "b@raw")));
        for bad in [
            "a", "a/", "/b", "a/b/c", "A/b", "a/b c", "a/@raw", "a@raw/b",
        ] {
            assert!(bad.parse::<CaseId>().is_err(), "{bad}");
        }
    }
}
