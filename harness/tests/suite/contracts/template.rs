//! The templates that faults are in.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use rolecall_check::card::{Card, examine_with};
use rolecall_check::tokenizer::Tokenizer;
use rolecall_core::Template;
use rolecall_front::engines::Engines;
use rolecall_io::template_file::{dialect_of, read_template};

use crate::pairs::SUITE;

/// The folder of the templates, from the top of the repository.
const TEMPLATES: &str = "harness/tests/contracts/templates";

/// A template, and the tokenizer of its model if the model is known.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) template: Template,
    pub(super) tokenizer: Option<Arc<Tokenizer>>,
}

impl Subject {
    /// The template with this name: a file in the folder, or a template of the suite.
    pub(super) fn named(name: &str) -> Result<Subject, String> {
        if is_of_suite(name) {
            let mut all = SUITE.templates.iter();
            let found = all.find(|template| template.name.as_str() == name);
            let template = found.ok_or_else(|| format!("the suite has no template {name:?}"))?;
            return Ok(template.clone().into());
        }
        let template = read_template(&path(name)).map_err(|problems| {
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            problems.join("\n")
        })?;
        let subject = Subject::from(template).raw();
        Ok(if name == "sound.jinja" {
            subject.with_tokens("sound")
        } else {
            subject
        })
    }

    /// The same behind no application: it sees exactly what a contract asks.
    pub(super) fn raw(mut self) -> Subject {
        self.template.front = Some("raw".to_owned());
        self
    }

    /// The same with the tokens in a folder.
    pub(super) fn with_tokens(mut self, folder: &str) -> Subject {
        let files = ["tokenizer.json", "generation_config.json"];
        self.template.vocabulary = files
            .map(|file| path("tokens").join(folder).join(file))
            .to_vec();
        let read = rolecall_check::tokens::read(&self.template);
        self.tokenizer = read.unwrap().map(Arc::new);
        self.template.vocabulary.clear();
        self
    }

    pub(super) fn card(&self) -> Card {
        let engines = Engines::default();
        let engine = engines.for_dialect(self.template.dialect);
        examine_with(engine, &self.template, self.tokenizer.as_deref())
    }
}

impl From<Template> for Subject {
    fn from(template: Template) -> Subject {
        let tokenizer = None;
        Subject {
            template,
            tokenizer,
        }
    }
}

/// Whether the suite has the template with this name, and not the folder.
pub(super) fn is_of_suite(name: &str) -> bool {
    let file = Path::new(name);
    let is_json = file.extension().is_some_and(|one| one == "json");
    !is_json && dialect_of(file).is_none()
}

/// The text of a file in the folder.
pub(super) fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(TEMPLATES)
        .join(name)
}

/// The card of the template with this name, made once.
pub(super) fn card_of(name: &str, subject: &Subject) -> Arc<OnceLock<Card>> {
    static CARDS: LazyLock<Mutex<HashMap<String, Arc<OnceLock<Card>>>>> =
        LazyLock::new(Mutex::default);
    let mut cards = CARDS.lock().unwrap_or_else(PoisonError::into_inner);
    let card = Arc::clone(cards.entry(name.to_owned()).or_default());
    drop(cards);
    card.get_or_init(|| subject.card());
    card
}
