//! Grammars of the two template languages, as data, and random texts that follow them.
//!
//! `grammar/jinja.txt` and `grammar/go.txt` say how they are written. A text that has gone deep enough
//! takes only the shortest ways to its end.

use std::collections::HashMap;
use std::sync::LazyLock;

use rolecall_core::Dialect;
use rolecall_core::chance::Chance;

static JINJA: LazyLock<Grammar> =
    LazyLock::new(|| Grammar::parse(include_str!("grammar/jinja.txt")));
static GO: LazyLock<Grammar> = LazyLock::new(|| Grammar::parse(include_str!("grammar/go.txt")));

/// The rules that both grammars have, and how many rules deep a text of each goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A whole template.
    Template,
    /// A statement or two, to be put between others.
    Statements,
    /// An expression, for the place of a value.
    Expression,
    /// A filter, a method, or a pipe into a function, to be put behind a value.
    Suffix,
}

impl Start {
    fn rule(self) -> (&'static str, usize) {
        match self {
            Start::Template => ("template", 13),
            Start::Statements => ("statements", 9),
            Start::Expression => ("expression", 6),
            Start::Suffix => ("suffix", 5),
        }
    }
}

/// A random text of a dialect.
pub fn text(start: Start, dialect: Dialect, chance: &mut Chance) -> String {
    let grammar: &Grammar = match dialect {
        Dialect::Jinja => &JINJA,
        Dialect::Go => &GO,
    };
    let (name, depth) = start.rule();
    let mut text = String::new();
    grammar.write(grammar.names[name], depth, chance, &mut text);
    text
}

struct Grammar {
    names: HashMap<&'static str, usize>,
    rules: Vec<Vec<Alternative>>,
}

struct Alternative {
    weight: usize,
    parts: Vec<Part>,
    /// How many rules deep its shortest text goes.
    height: usize,
}

enum Part {
    Text(String),
    Rule(usize),
    Optional(Vec<Part>),
}

impl Grammar {
    /// The grammar in a text.
    ///
    /// # Panics
    ///
    /// A rule is named that there is not, or one has no end. The tests read both grammars.
    fn parse(text: &'static str) -> Grammar {
        let mut sources: Vec<(&str, String)> = Vec::new();
        for line in text.lines() {
            if let Some(more) = line.strip_prefix("    ") {
                let (_, rule) = sources.last_mut().expect("a rule begins with its name");
                rule.push_str(more);
            } else if !line.is_empty() && !line.starts_with('#') {
                let (name, first) = line.split_once(": ").expect("a rule has a colon");
                sources.push((name, first.to_owned() + " "));
            }
        }
        let names: HashMap<&str, usize> = sources.iter().map(|(name, _)| *name).zip(0..).collect();
        let alternatives = |source: &String| {
            let alternatives = source.split('¦').map(str::trim);
            alternatives
                .map(|one| Alternative::parse(one, &names))
                .collect()
        };
        let rules = sources
            .iter()
            .map(|(_, source)| alternatives(source))
            .collect();
        let mut grammar = Grammar { names, rules };
        grammar.measure();
        grammar
    }

    /// Finds out the heights: those of alternatives without a rule first, and so on.
    fn measure(&mut self) {
        loop {
            let heights: Vec<Option<usize>> = (0..self.rules.len())
                .map(|rule| self.height(rule))
                .collect();
            let mut is_changed = false;
            for alternative in self.rules.iter_mut().flatten() {
                let below = alternative.rules().map(|rule| heights[rule]);
                let height = below.collect::<Option<Vec<usize>>>();
                let height = height.map(|all| 1 + all.into_iter().max().unwrap_or(0));
                if let Some(height) = height
                    && height < alternative.height
                {
                    alternative.height = height;
                    is_changed = true;
                }
            }
            if !is_changed {
                return;
            }
        }
    }

    fn height(&self, rule: usize) -> Option<usize> {
        let least = self.rules[rule].iter().map(|one| one.height).min();
        least.filter(|height| *height < usize::MAX)
    }

    fn write(&self, rule: usize, depth: usize, chance: &mut Chance, out: &mut String) {
        let deepest = depth.max(self.height(rule).unwrap_or(usize::MAX));
        let fits = || {
            let alternatives = self.rules[rule].iter();
            alternatives.filter(move |one| one.height <= deepest)
        };
        let mut choice = chance.below(fits().map(|one| one.weight).sum());
        for alternative in fits() {
            if choice < alternative.weight {
                self.write_parts(&alternative.parts, depth, chance, out);
                return;
            }
            choice -= alternative.weight;
        }
    }

    fn write_parts(&self, parts: &[Part], depth: usize, chance: &mut Chance, out: &mut String) {
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Rule(rule) => self.write(*rule, depth.saturating_sub(1), chance, out),
                Part::Optional(parts) if depth > 0 && chance.one_in(2) => {
                    self.write_parts(parts, depth, chance, out);
                }
                Part::Optional(_) => {}
            }
        }
    }
}

impl Alternative {
    fn parse(source: &str, names: &HashMap<&str, usize>) -> Alternative {
        let weight = source.split_once("× ");
        let weight = weight.and_then(|(digits, rest)| Some((digits.parse().ok()?, rest)));
        let (weight, mut rest) = weight.unwrap_or((1, source));
        Alternative {
            weight,
            parts: parts(&mut rest, names),
            height: usize::MAX,
        }
    }

    /// The rules that each of its texts needs.
    fn rules(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().filter_map(|part| match part {
            Part::Rule(rule) => Some(*rule),
            Part::Text(_) | Part::Optional(_) => None,
        })
    }
}

/// Takes parts from a text, up to the end of the text or of the optional part that they belong to.
fn parts(rest: &mut &str, names: &HashMap<&str, usize>) -> Vec<Part> {
    let mut parts = Vec::new();
    while let Some(first) = rest.chars().next() {
        *rest = &rest[if "«⟦⟧".contains(first) {
            first.len_utf8()
        } else {
            0
        }..];
        parts.push(match first {
            '⟧' => return parts,
            '⟦' => Part::Optional(self::parts(rest, names)),
            '«' => {
                let (name, after) = rest.split_once('»').expect("a name ends");
                *rest = after;
                match name.strip_prefix("U+") {
                    Some(digits) => Part::Text(character(digits).into()),
                    None if name.is_empty() => continue,
                    None => {
                        Part::Rule(*names.get(name).unwrap_or_else(|| panic!("no rule {name}")))
                    }
                }
            }
            _ => {
                let (text, after) = rest.split_at(rest.find(['«', '⟦', '⟧']).unwrap_or(rest.len()));
                *rest = after;
                Part::Text(text.to_owned())
            }
        });
    }
    parts
}

fn character(digits: &str) -> char {
    let number = u32::from_str_radix(digits, 16).ok();
    number.and_then(char::from_u32).expect("a character")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rolecall_core::guard::load;
    use rolecall_core::{Case, Conversation, Outcome, Template};
    use rolecall_front::engines::Engines;
    use serde_json::json;

    use super::*;

    /// A rule that nothing leads to would never be tried.
    #[test]
    fn every_rule_is_used_and_has_an_end() {
        for grammar in [&*JINJA, &*GO] {
            let of = |parts: &[Part]| -> BTreeSet<usize> {
                let mut open: Vec<&Part> = parts.iter().collect();
                let mut rules = BTreeSet::new();
                while let Some(part) = open.pop() {
                    match part {
                        Part::Rule(rule) => _ = rules.insert(*rule),
                        Part::Optional(parts) => open.extend(parts),
                        Part::Text(_) => {}
                    }
                }
                rules
            };
            let alternatives = grammar.rules.iter().flatten();
            let mut used: BTreeSet<usize> = alternatives.flat_map(|one| of(&one.parts)).collect();
            let starts = [
                Start::Template,
                Start::Statements,
                Start::Expression,
                Start::Suffix,
            ];
            used.extend(starts.map(|start| grammar.names[start.rule().0]));
            let unused = grammar
                .names
                .iter()
                .filter(|(_, rule)| !used.contains(rule));
            assert_eq!(unused.map(|(name, _)| *name).collect::<Vec<_>>(), [""; 0]);
            assert!((0..grammar.rules.len()).all(|rule| grammar.height(rule).is_some()));
        }
    }

    /// If all templates failed, they would show nothing.
    #[test]
    fn most_templates_give_a_prompt() {
        let engines = Engines::default();
        let case = Case::from_messages(vec![json!({"role": "user", "content": "hey"})]);
        let conversation = Conversation::new(&case);
        for dialect in Dialect::ALL {
            let engine = engines.for_dialect(dialect);
            let is_rendered = |number| {
                let source = text(Start::Template, dialect, &mut Chance::of(1, number));
                let template = Template::from_source("t", dialect, &source);
                let outcome = load(engine, &template).render(&conversation);
                assert!(!matches!(outcome, Outcome::Crashed { .. }), "{source}");
                matches!(outcome, Outcome::Rendered { .. })
            };
            let rendered = (0..1000).filter(|number| is_rendered(*number)).count();
            assert!(rendered > 250, "{dialect}: {rendered} of 1000");
        }
    }
}
