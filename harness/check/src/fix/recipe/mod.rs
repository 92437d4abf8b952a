//! Recipes: how the source of a Jinja template may be changed for a contract. They go by the look
//! of the source; whether a change is right, its proof says.

mod pattern;

mod lost;

mod arguments;
mod guards;
mod nulls;
mod parts;
mod printed;
mod quoted;

use super::tag::{Edit, edited, together};

pub(super) use pattern::Source;

/// A way to change sources for some contracts.
struct Recipe {
    contracts: &'static [&'static str],
    edits: fn(&Source<'_>) -> Vec<Edit>,
    /// What all the changes need at the beginning of the source.
    preamble: Option<fn(&Source<'_>) -> Edit>,
}

/// Changes of a source that belong together.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    preamble: Option<Edit>,
    edits: Vec<Edit>,
    /// Whether others differ from it only in the place or in a few signs, so that the first clean one
    /// is taken.
    pub(super) is_one_of_many: bool,
}

impl Recipe {
    const fn new(
        contracts: &'static [&'static str],
        edits: fn(&Source<'_>) -> Vec<Edit>,
    ) -> Recipe {
        Recipe {
            contracts,
            edits,
            preamble: None,
        }
    }

    /// The same, where the changes need something at the beginning of the source.
    const fn after(self, preamble: fn(&Source<'_>) -> Edit) -> Recipe {
        Recipe {
            preamble: Some(preamble),
            ..self
        }
    }
}

/// The recipes, in the order in which they are tried.
const RECIPES: [Recipe; 29] = [
    Recipe::new(&["no-tools-alike"], guards::of_tools),
    Recipe::new(&["no-calls-alike", "no-null-leak"], guards::of_calls),
    Recipe::new(
        &["arguments-encoded-once", "arguments-alike"],
        arguments::encoded_twice,
    ),
    Recipe::new(&["arguments-alike", "no-repr-leak"], arguments::not_encoded),
    Recipe::new(&["arguments-alike", "no-repr-leak"], arguments::objects),
    Recipe::new(&["arguments-alike"], arguments::refused),
    Recipe::new(&["arguments-encoded-once"], arguments::within_call),
    Recipe::new(QUOTED, quoted::as_json),
    Recipe::new(QUOTED, quoted::as_json_text),
    Recipe::new(QUOTED, quoted::as_python),
    Recipe::new(&["no-repr-leak"], printed::tools),
    Recipe::new(&["no-repr-leak"], printed::tools_or_texts),
    Recipe::new(&["no-repr-leak"], printed::choices),
    Recipe::new(&["no-repr-leak"], printed::of_arguments),
    Recipe::new(&["no-repr-leak"], printed::defaults),
    Recipe::new(&["no-repr-leak"], printed::tested),
    Recipe::new(&["no-repr-leak"], printed::tested_for_null),
    Recipe::new(&["no-repr-leak"], printed::tested_or_texts),
    Recipe::new(&["no-repr-leak"], printed::escaped),
    Recipe::new(&["no-repr-leak"], printed::escaped_by_texts),
    Recipe::new(&["no-null-leak"], nulls::printed),
    Recipe::new(&["no-null-leak"], nulls::named),
    Recipe::new(&["no-null-leak"], nulls::variables),
    Recipe::new(&["refusal-words", "schema-kept"], nulls::missing),
    Recipe::new(&["messages-kept"], lost::overwritten),
    Recipe::new(&["messages-kept"], lost::waiting),
    // Each of them changes more than the one before it.
    Recipe::new(PARTS, parts::printed).after(parts::printing_macro),
    Recipe::new(PARTS, parts::taken).after(parts::taking_macro),
    Recipe::new(PARTS, parts::taken_and_tested).after(parts::taking_macro),
];

/// Where a text belongs that is lost, the source does not say: so there are many ways, and one of them
/// is enough.
type Ways = fn(&Source<'_>) -> Vec<Vec<Edit>>;

const WAYS: [(&str, Ways); 2] = [
    ("content-beside-calls", lost::beside_calls),
    ("messages-kept", lost::later_system),
];

/// The contracts that a mark in a value breaks.
const QUOTED: &[&str] = &["calls-whole", "result-verbatim", "schema-kept"];

/// The contracts that text parts break.
const PARTS: &[&str] = &["text-part-is-text", "capabilities-work"];

/// The ways to change a source for a contract: each recipe alone, then those together that need
/// nothing at the beginning of the source.
pub(super) fn candidates(contract: &str, source: &Source<'_>) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = RECIPES
        .iter()
        .filter(|recipe| recipe.contracts.contains(&contract))
        .filter_map(|recipe| {
            let edits = (recipe.edits)(source);
            let preamble = recipe.preamble.map(|preamble| preamble(source));
            (!edits.is_empty()).then_some(Candidate {
                preamble,
                edits,
                is_one_of_many: false,
            })
        })
        .collect();
    let plain = candidates
        .iter()
        .filter(|candidate| candidate.preamble.is_none());
    let plain: Vec<Vec<Edit>> = plain.map(|candidate| candidate.edits.clone()).collect();
    if plain.len() > 1 {
        candidates.push(Candidate {
            preamble: None,
            edits: together(plain),
            is_one_of_many: false,
        });
    }
    let ways = WAYS.iter().filter(|(known, _)| *known == contract);
    candidates.extend(
        ways.flat_map(|(_, ways)| ways(source))
            .map(|edits| Candidate {
                preamble: None,
                edits,
                is_one_of_many: true,
            }),
    );
    candidates
}

impl Candidate {
    /// The source with all the changes.
    pub(super) fn source(&self, source: &Source<'_>) -> String {
        edited(source.text(), self.preamble.iter().chain(&self.edits))
    }

    pub(super) fn len(&self) -> usize {
        self.edits.len()
    }

    /// The same with some of the changes only.
    pub(super) fn with(&self, is_kept: impl Fn(usize) -> bool) -> Candidate {
        let edits = self.edits.iter().enumerate();
        let edits = edits.filter(|(at, _)| is_kept(*at));
        Candidate {
            preamble: self.preamble.clone(),
            edits: edits.map(|(_, edit)| edit.clone()).collect(),
            is_one_of_many: self.is_one_of_many,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(contract: &str, source: &str) -> Vec<String> {
        let source = Source::new(source);
        let candidates = candidates(contract, &source);
        candidates
            .iter()
            .map(|candidate| candidate.source(&source))
            .collect()
    }

    #[test]
    fn a_contract_has_its_own_recipes() {
        let source = "tools is not none {%- if tools is not none -%}x{% endif %}";
        assert_eq!(
            sources("no-tools-alike", source),
            ["tools is not none {%- if tools -%}x{% endif %}"]
        );
        assert_eq!(sources("no-such-contract", source), [""; 0]);
    }

    #[test]
    fn some_of_the_changes_can_be_made() {
        let text = "{{ m.content }}{{ n.content }}";
        let source = Source::new(text);
        let [all] = &candidates("no-null-leak", &source)[..] else {
            panic!();
        };
        assert_eq!(all.len(), 2);
        assert_eq!(
            all.with(|at| at == 1).source(&source),
            "{{ m.content }}{{ n.content if n.content is not none else '' }}"
        );
    }
}
