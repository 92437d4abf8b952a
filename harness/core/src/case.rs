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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its name in the suite: `family/name`, perhaps with a front.
    pub id: CaseId,
    /// The file that holds it; empty if it does not come from a file.
    pub path: PathBuf,
    /// What it is for, in a sentence.
    pub about: Option<String>,
    /// The messages, exactly as they are written.
    pub messages: Vec<Value>,
    /// The tools; `None` reaches a Jinja template as `None`.
    pub tools: Option<Vec<Value>>,
    /// The documents, exactly as they are written.
    pub documents: Option<Vec<Value>>,
    /// Whether the prompt should end with the opening of the assistant's turn.
    pub add_generation_prompt: bool,
    /// The field of the last message that the model should continue, such as `content`. The prompt
    /// then ends inside that field. The application does this; no template sees the option.
    pub continue_final_message: Option<String>,
    /// Extra template variables; they win over the template's own.
    pub variables: Map<String, Value>,
    /// Names that are not defined for templates, although all others are given.
    pub undefined: Vec<String>,
    /// The time that the clock shows while the template runs.
    pub now: Moment,
    /// The dialects whose templates can take this case.
    pub dialects: Vec<Dialect>,
    /// The name of the front with which the case is rendered; none for the template's own front.
    pub front: Option<&'static str>,
}

/// The roles of messages that applications send.
pub const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// The name of the message field that holds the text.
pub const CONTENT: &str = "content";

written_as_text! {
    CaseId = "a case", |text| text.parse().ok();
}

impl CaseId {
    /// The most characters in the name of a family or a case. A family is a file, so its name is
    /// short.
    pub const MOST_CHARACTERS: usize = 64;

    /// Separates the name of a case from the name of its front: see [`Case::with_front`]. No name in a
    /// case file may contain it.
    pub const FRONT_MARK: char = '@';

    /// Makes an ID from a family and a name.
    pub fn new(family: &str, name: &str) -> CaseId {
        CaseId {
            family: family.into(),
            name: name.into(),
        }
    }

    /// The name of the same case with a front.
    #[must_use]
    pub fn with_front(&self, front: &str) -> CaseId {
        CaseId::new(
            &self.family,
            &format!("{}{}{front}", self.written_name(), CaseId::FRONT_MARK),
        )
    }

    /// The name within the family as the case file has it, without any front.
    pub fn written_name(&self) -> &str {
        let name = self.name.split_once(CaseId::FRONT_MARK);
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

    /// Whether a case or a family may have this name. It consists of words of lower-case letters
    /// and digits, joined by single dashes, and has at most [`CaseId::MOST_CHARACTERS`] characters.
    pub fn allows(name: &str) -> bool {
        let is_word = |word: &str| {
            let mut bytes = word.bytes();
            !word.is_empty() && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        name.len() <= CaseId::MOST_CHARACTERS && name.split('-').all(is_word)
    }
}

impl Hash for CaseId {
    /// Hashes only the name. Few families share one, and each pair looks its record up.
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
                if CaseId::allows(family) && name.split(CaseId::FRONT_MARK).all(CaseId::allows) =>
            {
                Ok(CaseId::new(family, name))
            }
            _ => Err(InvalidCaseId(text.to_owned())),
        }
    }
}

impl Case {
    /// A case named `anonymous/case` that has only messages. Its clock shows the suite's moment:
    /// see [`Moment::default`].
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
            undefined: Vec::new(),
            variables: Map::new(),
            now: Moment::default(),
            dialects: Dialect::ALL.to_vec(),
            front: None,
        }
    }

    /// The same case with a front. Its name then ends with the front's name.
    #[must_use]
    pub fn with_front(&self, front: &'static str) -> Case {
        Case {
            id: self.id.with_front(front),
            front: Some(front),
            ..self.clone()
        }
    }

    /// This case with other messages and tools, and with these variables only.
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
            undefined: self.undefined.clone(),
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
