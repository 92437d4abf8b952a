//! The published template whose prompts are nearest to those of another one.

use std::iter;
use std::ops::Range;
use std::rc::Rc;

use rolecall_core::{Cut, Dialect};
use rolecall_front::front::Front;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

use crate::probe::catalogue::{
    ASSISTANT_FIRST, ASSISTANT_SPACES, ASSISTANT_TWO_PARTS, CALL, CALL_RESULT, CALL_TURN_USER,
    CALL_WITH_TEXT, DEVELOPER_USER, DOCUMENT, EMPTY_ANSWER, IMAGE, IMAGE_AFTER, IMAGES_IN_TURNS,
    INLINE_REASONING, INLINE_REASONING_USER, LATE_SYSTEM, LONG_IDS, NULL_CALL, PARALLEL,
    PARALLEL_TURN, QUOTED_CALL, QUOTED_RESULT, QUOTED_TOOL, REASONED, REASONED_CALL, REASONED_LOOP,
    REASONED_TURN_USER, REASONED_USER, REASONING_CONTENT, RESULT_PARTS, RESULT_SPACES, RICH_TOOL,
    SYSTEM_SPACES, SYSTEM_TOOLS, SYSTEM_TURNS, SYSTEM_USER, SYSTEM_USER_ASSISTANT, THINK_TAG,
    TOOLS, TWO_ASSISTANTS, TWO_DOCUMENTS, TWO_PARTS, TWO_ROUNDS, TWO_SYSTEM, TWO_TURNS,
    TWO_TURNS_USER_CLOSED, TYPED_ARGUMENTS, UNION_TYPE, USER, USER_SPACES,
};
use crate::probe::{Probe, ProbeOutcome, Prober, Setting, words};
use crate::published::{Index, Part, Parts, Published, hash};
use rolecall_core::problem::Problem;

/// The conversations whose prompts are compared. Contracts look at all of them, so that a card renders
/// none of them for this.
const PROBES: [Probe; 50] = [
    USER,
    SYSTEM_USER,
    SYSTEM_TURNS,
    TWO_TURNS,
    TWO_TURNS_USER_CLOSED,
    SYSTEM_USER_ASSISTANT,
    LATE_SYSTEM,
    TWO_SYSTEM,
    DEVELOPER_USER,
    ASSISTANT_FIRST,
    TWO_PARTS,
    IMAGE,
    EMPTY_ANSWER,
    ASSISTANT_SPACES,
    TOOLS,
    SYSTEM_TOOLS,
    RICH_TOOL,
    CALL,
    CALL_RESULT,
    CALL_TURN_USER,
    PARALLEL,
    PARALLEL_TURN,
    TWO_ROUNDS,
    TYPED_ARGUMENTS,
    CALL_WITH_TEXT,
    REASONED,
    REASONED_USER,
    REASONED_LOOP,
    REASONED_TURN_USER,
    THINK_TAG,
    DOCUMENT,
    TWO_DOCUMENTS,
    USER_SPACES,
    SYSTEM_SPACES,
    RESULT_SPACES,
    ASSISTANT_TWO_PARTS,
    RESULT_PARTS,
    IMAGE_AFTER,
    IMAGES_IN_TURNS,
    TWO_ASSISTANTS,
    QUOTED_TOOL,
    QUOTED_CALL,
    QUOTED_RESULT,
    UNION_TYPE,
    LONG_IDS,
    NULL_CALL,
    REASONING_CONTENT,
    REASONED_CALL,
    INLINE_REASONING,
    INLINE_REASONING_USER,
];

/// The switches that most templates with reasoning have. A question is asked with them off, too, and the question
/// after reasoning with them on.
const SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];

/// The least likeness of the nearest template, in thousandths. Of 152 different templates measured in
/// November 2026, 63 have a neighbour with this likeness, and all of these are of the same family.
const LEAST: usize = 600;

/// The least likeness of one that gives the same prompt in a fifth of the conversations.
const LEAST_ALIKE: usize = 300;

/// So many places at which two templates differ are named.
const MOST_PLACES: usize = 3;

/// A part of a prompt, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnPart {
    pub(crate) part: Part,
    pub(crate) at: Range<usize>,
}

/// The prompts of a template, each cut into parts at the words of its conversation. A conversation
/// without a prompt is one part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skeleton {
    /// What each conversation is, and its parts.
    prompts: Vec<(&'static str, Vec<OwnPart>)>,
    parts: Parts,
}

/// The published template that is nearest to another one, and how the two differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nearest {
    /// Its name: on the hub, or where else it was published.
    pub template: String,
    /// How many other published templates give the same prompts.
    pub others: usize,
    /// Whether the model's own files name it as the base.
    pub is_named: bool,
    /// How many conversations were compared.
    pub conversations: usize,
    /// How many of them give the same prompt, apart from special tokens.
    pub same: usize,
    /// The other conversations, in words.
    pub differs: Vec<&'static str>,
    /// Between what other text is, in words.
    pub places: Vec<String>,
}

/// The mark of the probes and of how their prompts are cut.
fn mark() -> u32 {
    // With other probes, the parts of an index would be those of other conversations, and nothing would
    // be near.
    let names: Vec<&str> = PROBES.iter().map(|probe| probe.name).collect();
    hash(&names.join(" "))
}

/// The index that comes with Rolecall.
pub fn builtin() -> &'static Index {
    Index::builtin(mark())
}

/// Reads the file of an index.
///
/// # Errors
///
/// It cannot be read, is damaged, or is of another version.
pub fn read(path: &Path) -> Result<Index, Problem> {
    Index::read(path, mark())
}

/// The index of templates with these names and prompts.
pub fn index<'s>(templates: impl Iterator<Item = (&'s str, Dialect, &'s Skeleton)>) -> Index {
    // A template that gives no prompt is like every other one that gives none.
    let templates = templates.filter(|(_, _, skeleton)| skeleton.is_rendered());
    let templates = templates.map(|(name, dialect, skeleton)| Published {
        name: name.to_owned(),
        others: 0,
        dialect,
        parts: skeleton.parts.clone(),
    });
    Index::of(mark(), templates)
}

impl Skeleton {
    /// The prompts of a template. Nothing with another front than that of the index: another application
    /// gives other prompts.
    pub(crate) fn of(prober: &Prober<'_>) -> Skeleton {
        if prober.front() != Front::default_of(prober.dialect()) {
            return Skeleton::default();
        }
        let all = conversations(prober);
        let prompts: Vec<_> = all
            .map(|(about, seen)| (about, cut(prober, &seen)))
            .collect();
        let parts = prompts.iter().flat_map(|(_, parts)| parts);
        let parts = parts.map(|own| own.part).collect();
        Skeleton { prompts, parts }
    }

    /// Whether some conversation gives a prompt with a word of it.
    fn is_rendered(&self) -> bool {
        let mut all = self.prompts.iter();
        all.any(|(_, parts)| parts.len() > 1)
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Each part once, with what the first conversation is that has it.
    pub(crate) fn own_parts(&self) -> impl Iterator<Item = (&'static str, &OwnPart)> {
        let mut known = Vec::new();
        let all = self.prompts.iter();
        let all = all.flat_map(|(about, parts)| parts.iter().map(|own| (*about, own)));
        all.filter(move |(_, own)| {
            let is_new = !known.contains(&own.part);
            known.push(own.part);
            is_new
        })
    }

    /// The conversation that shows a part, and where it is in its prompt.
    pub(crate) fn shown(
        &self,
        prober: &Prober<'_>,
        part: Part,
    ) -> Option<(Rc<ProbeOutcome>, Range<usize>)> {
        let mut all = self.prompts.iter().zip(conversations(prober));
        all.find_map(|((_, parts), (_, seen))| {
            let own = parts.iter().find(|own| own.part == part)?;
            Some((seen, own.at.clone()))
        })
    }

    /// The published template that is nearest, or the one that the model's files name as its base, and
    /// whether they name it. None if all of them are of other families.
    pub(crate) fn nearest_in<'i>(
        &self,
        index: &'i Index,
        dialect: Dialect,
        base: Option<&str>,
    ) -> Option<(&'i Published, bool)> {
        if !self.is_rendered() {
            return None;
        }
        if let Some(named) = base.and_then(|name| index.named(name, dialect)) {
            return Some((named, true));
        }
        let (likeness, one) = *index.near(&self.parts, dialect, LEAST_ALIKE).first()?;
        // Many templates refuse the same conversations: that is no likeness.
        let is_same =
            |parts: &[OwnPart]| parts.len() > 1 && parts.iter().all(|own| one.parts.has(own.part));
        let shown = self.prompts.iter().filter(|(_, parts)| is_same(parts));
        let is_near = likeness >= LEAST || 5 * shown.count() >= self.prompts.len();
        is_near.then_some((one, false))
    }

    /// The published template that is nearest, or the one that the model's files name as its base, and how
    /// the two differ. None if all of them are of other families.
    pub fn nearest(&self, index: &Index, dialect: Dialect, base: Option<&str>) -> Option<Nearest> {
        let (one, is_named) = self.nearest_in(index, dialect, base)?;
        let is_foreign = |own: &&OwnPart| !one.parts.has(own.part);
        let differs = self.prompts.iter();
        let differs = differs.filter(|(_, parts)| parts.iter().any(|own| is_foreign(&own)));
        let differs: Vec<_> = differs.map(|(about, _)| *about).collect();
        let same = self.prompts.len() - differs.len();
        let mut places: Vec<String> = Vec::new();
        for own in self.own_parts().map(|(_, own)| own).filter(is_foreign) {
            let place = place(own.part.sides());
            if !places.contains(&place) {
                places.push(place);
            }
        }
        Some(Nearest {
            template: one.name.clone(),
            others: one.others,
            is_named,
            conversations: self.prompts.len(),
            same,
            differs,
            places,
        })
    }
}

impl Nearest {
    /// A sentence: which template it is, in how many conversations both give one prompt, and what differs.
    pub fn in_words(&self) -> String {
        let Nearest {
            template,
            conversations,
            same,
            ..
        } = self;
        let others = match self.others {
            0 => String::new(),
            1 => " (and 1 more)".to_owned(),
            some => format!(" (and {some} more)"),
        };
        let base = if self.is_named { "its base " } else { "" };
        let how = match *same {
            0 => format!("in none of {conversations} conversations quite"),
            all if all == *conversations => format!("in all {all} conversations"),
            some => format!("in {some} of {conversations} conversations"),
        };
        let mut places: Vec<&str> = self.places.iter().map(String::as_str).collect();
        let rest = places.len().saturating_sub(MOST_PLACES);
        places.truncate(MOST_PLACES);
        let more = if rest > 0 {
            format!("; and {rest} more")
        } else {
            String::new()
        };
        let differs = if places.is_empty() {
            String::new()
        } else {
            format!("; other text {}{more}", places.join("; "))
        };
        format!("renders as {base}`{template}`{others} {how}{differs}")
    }
}

/// What each conversation is, and its outcome.
fn conversations<'p>(
    prober: &'p Prober<'_>,
) -> impl Iterator<Item = (&'static str, Rc<ProbeOutcome>)> + 'p {
    let plain = PROBES.iter().map(|probe| (probe.about, prober.see(*probe)));
    let later = iter::once_with(|| ("a question on another day", prober.see_later(USER)));
    let read = prober.variables();
    let switches = SWITCHES
        .into_iter()
        .filter(move |name| read.contains(*name));
    let set = switches.flat_map(|name| {
        let with = |is_on: bool| {
            prober.with_setting(&Setting {
                name: name.to_owned(),
                value: Value::Bool(is_on),
            })
        };
        [
            ("a question with thinking off", with(false).see(USER)),
            (
                "a question after reasoning, with thinking on",
                with(true).see(REASONED_USER),
            ),
        ]
    });
    plain.chain(later).chain(set)
}

/// A prompt cut into parts at the words of its conversation. Special tokens that the template reads count by
/// their names: a file without its model has others.
fn cut(prober: &Prober<'_>, seen: &ProbeOutcome) -> Vec<OwnPart> {
    let Some(text) = seen.text() else {
        let part = Part::between([NOTHING, REFUSED], seen.probe);
        return vec![OwnPart { part, at: 0..0 }];
    };
    let template = prober.template();
    let tokens: Vec<(&str, String)> = template
        .special_tokens
        .iter()
        .filter(|(name, _)| template.source.contains(name.as_str()))
        .filter_map(|(name, token)| {
            Some((
                token.as_str().filter(|it| !it.is_empty())?,
                format!("⟨{name}⟩"),
            ))
        })
        .collect();
    // A template may write a word with capitals. Only ASCII is changed, so every byte keeps its place.
    let lower = text.to_ascii_lowercase();
    let mut parts = Vec::new();
    let (mut from, mut before) = (0, "");
    for word in words_in(&lower).chain(iter::once(text.len()..text.len())) {
        let after = lower.cut(word.clone());
        let between = text.cut(from..word.start);
        let between = tokens
            .iter()
            .fold(between.to_owned(), |text, (token, name)| {
                text.replace(token, name)
            });
        // Of two texts of one kind, the words say which it is.
        let between = format!("{before} {between} {after}");
        let part = Part::between([kind(before), kind(after)], &between);
        parts.push(OwnPart {
            part,
            at: from..word.start,
        });
        (from, before) = (word.end, after);
    }
    parts
}

/// Where the words of probes are in a text. All end with the same letters.
fn words_in(lower: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
    lower.match_indices(words::END).map(move |(at, end)| {
        let end = at + end.len();
        let run = lower.cut(from..end);
        let run = run.cut(run.trim_end_matches(is_letter).len()..);
        // A letter before the word may be the template's.
        let word = words::ALL.into_iter().find(|word| run.ends_with(word));
        let start = end - word.map_or(run.len(), str::len);
        from = end;
        start..end
    })
}

/// The kinds of texts between which a part is. Nothing is before the beginning of a prompt and after its end.
const KINDS: [(&str, &[&str]); 12] = [
    ("", &[""]),
    ("a system message", &[words::SYSTEM, words::SECOND_SYSTEM]),
    ("a developer message", &[words::DEVELOPER]),
    (
        "a question",
        &[words::USER, words::SECOND_USER, words::THIRD_USER],
    ),
    ("an answer", &[words::ASSISTANT, words::SECOND_ASSISTANT]),
    ("reasoning", &[words::REASONING, words::SECOND_REASONING]),
    ("a result", &[words::RESULT, words::SECOND_RESULT]),
    ("a document", &[words::DOCUMENT, words::SECOND_DOCUMENT]),
    ("a tool's name", &[words::TOOL, words::SECOND_TOOL]),
    ("a tool's description", &[words::TOOL_ABOUT]),
    (
        "a parameter",
        &[
            words::FIRST_KEY,
            words::SECOND_KEY,
            words::OBJECT_ABOUT,
            words::INNER_KEY,
            words::INNER_ABOUT,
            words::INNER_CHOICE,
            words::DEFAULT,
        ],
    ),
    (
        "an argument",
        &[
            words::FIRST_VALUE,
            words::SECOND_VALUE,
            words::THIRD_VALUE,
            words::FOURTH_VALUE,
        ],
    ),
];

/// The kind of all other words.
const OTHER: u32 = 12;

/// The kind of what is after a conversation that gives no prompt.
pub(crate) const REFUSED: u32 = 13;

/// The kind of the beginning and of the end of a prompt.
pub(crate) const NOTHING: u32 = 0;

/// The kind of questions.
pub(crate) const QUESTION: u32 = 3;

/// The kinds of tools and calls: names, descriptions, parameters and arguments.
pub(crate) const OF_CALLS: [u32; 4] = [8, 9, 10, 11];

fn kind(word: &str) -> u32 {
    let known = (0..)
        .zip(KINDS)
        .find(|(_, (_, words))| words.contains(&word));
    known.map_or(OTHER, |(kind, _)| kind)
}

/// Between what a part with these sides is, in words: `between a question and an answer`.
pub(crate) fn place(sides: [u32; 2]) -> String {
    let name = |kind: u32| {
        KINDS
            .get(kind as usize)
            .map_or("another text", |(name, _)| name)
    };
    match sides.map(|kind| (kind, name(kind))) {
        [(NOTHING, _), (NOTHING | REFUSED, _)] => "the whole prompt".to_owned(),
        [(NOTHING, _), (_, after)] => format!("before {after}"),
        [(_, before), (NOTHING, _)] => format!("after {before}, at the end"),
        [(_, before), (_, after)] => format!("between {before} and {after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::ProbeInputs;
    use rolecall_core::Template;
    use rolecall_front::engines::Engines;

    const CHATML: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n\
        {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

    fn skeleton(dialect: Dialect, source: &str) -> Skeleton {
        let engines = Engines::default();
        let template = Template::from_source("t", dialect, source);
        let template = crate::card::with_assumed_tokens(&template);
        let inputs = ProbeInputs::default();
        Skeleton::of(&Prober::new(
            engines.for_dialect(dialect),
            &template,
            &inputs,
        ))
    }

    fn against(known: &str, own: &str) -> Option<Nearest> {
        let known = skeleton(Dialect::Jinja, known);
        let index = index([("org/known", Dialect::Jinja, &known)].into_iter());
        skeleton(Dialect::Jinja, own).nearest(&index, Dialect::Jinja, None)
    }

    #[test]
    fn the_place_of_a_difference_is_named() {
        let same = against(CHATML, CHATML).unwrap();
        assert_eq!((same.same, same.differs.len()), (51, 0));
        assert_eq!(
            same.in_words(),
            "renders as `org/known` in all 51 conversations"
        );
        let lost = CHATML.replace("assistant\n", "assistant");
        let near = against(CHATML, &lost).unwrap();
        assert!(
            near.same > 0 && near.places[0] == "after a question, at the end",
            "{near:?}"
        );
        let other = "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}";
        assert_eq!(against(CHATML, other), None);
    }

    #[test]
    fn special_tokens_count_by_their_names() {
        let with_eos = CHATML.replace("<|im_end|>", "{{ eos_token }}");
        let engines = Engines::default();
        let template = Template::from_source("t", Dialect::Jinja, &with_eos)
            .with_special_token("eos_token", "<E>");
        let inputs = ProbeInputs::default();
        let own = Skeleton::of(&Prober::new(
            engines.for_dialect(Dialect::Jinja),
            &template,
            &inputs,
        ));
        assert_eq!(own.parts, skeleton(Dialect::Jinja, &with_eos).parts);
    }

    #[test]
    fn strange_templates_have_no_neighbour() {
        let long = format!("{}{{{{ messages }}}}", "今日は良い天気です\n".repeat(1000));
        for source in [
            "",
            "text",
            "{{ raise_exception('no') }}",
            "{% broken",
            &long,
        ] {
            let own = skeleton(Dialect::Jinja, source);
            assert_eq!(
                own.nearest(builtin(), Dialect::Jinja, None),
                None,
                "{source:.20}"
            );
            let go = skeleton(Dialect::Go, source);
            assert_eq!(
                go.nearest(builtin(), Dialect::Go, None),
                None,
                "{source:.20}"
            );
        }
        assert_eq!(
            index([("none", Dialect::Jinja, &skeleton(Dialect::Jinja, ""))].into_iter()).count(),
            0
        );
    }

    #[test]
    fn the_index_that_comes_with_rolecall_can_be_read() {
        assert!(builtin().count() > 100, "{}", builtin().count());
    }
}
