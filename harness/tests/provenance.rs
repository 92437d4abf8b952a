//! Where the bytes of prompts come from: the engines' spans for every template and case.

use rayon::prelude::*;
use rolecall::engines::Engines;
use rolecall_model::provenance::{Input, InputKind, Origin, Span};
use rolecall_model::{Case, Conversation, Dialect, Outcome, Provenance, Template};
use serde_json::Value;

use crate::project::SUITE;

/// Operations that change letters, each into one of the same length.
const SPELLINGS: [&str; 6] = [
    "upper",
    "lower",
    "title",
    "capitalize",
    "swapcase",
    "casefold",
];

/// What the spans of some prompts are like, in bytes.
#[derive(Default)]
struct Share {
    prompts: usize,
    exact: usize,
    /// Made from inputs that are known.
    made: usize,
    /// Made from nothing that is known.
    unknown: usize,
}

impl Share {
    fn add(mut self, other: Share) -> Share {
        self.prompts += other.prompts;
        self.exact += other.exact;
        self.made += other.made;
        self.unknown += other.unknown;
        self
    }

    /// The share of some of the bytes, in percent.
    fn part(&self, bytes: usize) -> f64 {
        let all = self.exact + self.made + self.unknown;
        100.0 * bytes as f64 / all.max(1) as f64
    }
}

/// The text that a path names, if it names one.
fn text_of<'c>(case: &'c Case, template: &'c Template, input: &Input) -> Option<&'c str> {
    let (root, rest) = input
        .path
        .split_at(input.path.find(['.', '[']).unwrap_or(input.path.len()));
    let list = |items: &'c [Value], rest: &str| {
        let (index, rest) = rest.strip_prefix('[')?.split_once(']')?;
        let item = items.get(index.parse::<usize>().ok()?)?;
        Some((item, rest.to_owned()))
    };
    let (mut value, mut rest) = match (input.kind, root) {
        (InputKind::Message, _) => list(&case.messages, rest)?,
        (InputKind::Tool, _) => list(case.tools.as_deref()?, rest)?,
        (InputKind::Document, _) => list(case.documents.as_deref()?, rest)?,
        (InputKind::Token, name) => (template.special_tokens.get(name)?, rest.to_owned()),
        (InputKind::Variable, name) => (case.variables.get(name)?, rest.to_owned()),
        (InputKind::Clock, _) => return None,
    };
    while !rest.is_empty() {
        (value, rest) = if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            (value.get(&name[..end])?, name[end..].to_owned())
        } else if let Some(key) = rest.strip_prefix("[\"") {
            let end = key.find("\"]")?;
            let name: String = serde_json::from_str(&format!("\"{}\"", &key[..end])).ok()?;
            (value.get(&name)?, key[end + 2..].to_owned())
        } else {
            list(value.as_array()?, &rest)?
        };
    }
    value.as_str()
}

/// Examines the spans of a prompt: they cover it, and what is exact stands where they say.
fn examine(case: &Case, template: &Template, prompt: &str, spans: &[Span]) -> Share {
    let mut share = Share {
        prompts: 1,
        ..Share::default()
    };
    let mut end = 0;
    for span in spans {
        let place = format!("{}:{}: {span:?}", template.name, case.id);
        assert_eq!(span.prompt.start, end, "{place}");
        end = span.prompt.end;
        let text = prompt.get(span.prompt.clone()).unwrap();
        let origin = match &span.origin {
            Origin::Literal { source } => template.source.get(source.clone()),
            Origin::Input { input, bytes } if !span.operations.contains(&"key") => {
                text_of(case, template, input).and_then(|text| text.get(bytes.clone()))
            }
            Origin::Input { .. } => None,
            Origin::Made { from } => {
                if from.is_empty() {
                    share.unknown += text.len();
                } else {
                    share.made += text.len();
                }
                continue;
            }
        };
        share.exact += text.len();
        let is_spelt = span.operations.iter().any(|name| SPELLINGS.contains(name));
        if let Some(origin) = origin
            && origin.len() == text.len()
            && !is_spelt
            && template.dialect == Dialect::Jinja
        {
            assert_eq!(origin, text, "{place}");
        }
    }
    assert_eq!(end, prompt.len(), "{}:{}", template.name, case.id);
    share
}

/// The spans of every case with a template.
fn examined(template: &Template, cases: &[Case]) -> Share {
    let engines = Engines::default();
    let engine = engines.for_dialect(template.dialect).unwrap();
    let program = engine.compile(template).unwrap();
    cases
        .par_iter()
        .map(|case| {
            let conversation = Conversation::new(case);
            let mut provenance = Provenance::default();
            let outcome = program.render_with(&conversation, &mut provenance);
            let plain = program.render(&conversation);
            assert_eq!(outcome, plain, "{}:{}", template.name, case.id);
            match (outcome, provenance.spans) {
                (Outcome::Rendered { text }, Some(spans)) => examine(case, template, &text, &spans),
                (Outcome::Rendered { .. }, None) => {
                    panic!("no spans: {}:{}", template.name, case.id)
                }
                _ => Share::default(),
            }
        })
        .reduce(Share::default, Share::add)
}

#[test]
fn every_byte_of_every_prompt_has_an_origin() {
    let of_dialect = |one: &&Template| one.dialect == Dialect::Jinja;
    let mut all = Share::default();
    for template in SUITE.templates.iter().filter(of_dialect) {
        let share = examined(template, &SUITE.cases);
        assert!(share.prompts > 0, "{}", template.name);
        all = all.add(share);
    }
    let known = 100.0 - all.part(all.unknown);
    println!(
        "{} prompts: {:.2} % of the bytes are literals or pieces of inputs, {known:.2} % have a \
         source that is known",
        all.prompts,
        all.part(all.exact)
    );
    assert!(known > 99.5, "{known:.2} %");
}
