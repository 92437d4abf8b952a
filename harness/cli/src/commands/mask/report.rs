//! Masks: which bytes and tokens of a prompt the model writes, for people and as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use minijinja::{Value, context};
use rolecall_answers::mask::{Learned, Mask, MaskedTurn, NoMask};
use rolecall_check::tokenizer::Token;
use rolecall_core::{Cut, Outcome, OutcomeKind, Template};
use rolecall_explore::marking::{Blame, Marked};
use rolecall_explore::masks::{CaseMask, TemplateMasks, Trained, differences};
use rolecall_io::template_file::place;
use rolecall_suite::cause::{self, Cause};

use crate::report::format::Format;
use crate::report::json::{BytesJson, VERSION, document};
use crate::report::style::{BAD, HEADING, Styled};
use crate::report::text::text;
use crate::report::trace::visible;
use crate::report::wrapping::paragraph;
use crate::report::{assumed, json};

/// The most cases that are named next to a count.
const MOST_NAMED: usize = 3;

/// The most differences from the marks that a summary shows.
const MOST_DIFFERENCES: usize = 8;

/// Writes masks: a text about all of them, or about the only one if it was named. `tokens` has the
/// tokens of that one, if they were asked for.
pub fn write(
    out: &mut dyn Write,
    masks: &TemplateMasks<'_>,
    tokens: Option<&[Token]>,
    format: Format,
    is_named: bool,
) -> io::Result<()> {
    match masks.cases.as_slice() {
        _ if format == Format::Json => json::write(out, &MaskDocument::of(masks, tokens)),
        [case] if is_named => write_case(out, masks, case, tokens),
        _ => write_all(out, masks),
    }
}

/// Writes the mask of one case: each stretch of the prompt, and whether the model writes it. With
/// tokens, each token is on a line of its own.
fn write_case(
    out: &mut dyn Write,
    masks: &TemplateMasks<'_>,
    case: &CaseMask<'_>,
    tokens: Option<&[Token]>,
) -> io::Result<()> {
    let mask = case.mask.as_ref().ok();
    let learned = mask.map(Mask::ranges).unwrap_or_default();
    let turns = mask.map_or(&[][..], |mask| &mask.turns);
    let prompt = mask.map_or("", |mask| mask.prompt.as_str());
    let all = |done, found: Option<Vec<(bool, String)>>| {
        let found = found.into_iter().flatten();
        found
            .map(|(is_done, text)| in_words(done, is_done, &text))
            .collect::<Value>()
    };
    let id = |token: &Token| token.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let tokens_shown = tokens.unwrap_or_default();
    let learned_tokens = token_mask(&learned, tokens_shown).into_iter();
    let rows = tokens_shown
        .iter()
        .zip(learned_tokens)
        .map(|(token, is_learned)| {
            let text = visible(prompt.get(token.range.clone()).unwrap_or_default());
            let (style, digit) = if is_learned {
                ("good", 1)
            } else {
                ("quiet", 0)
            };
            context! { style, digit, id => id(token), text }
        });
    text!(out, include_str!("mask_case.txt"), {
        name => masks.template.name.as_str(),
        case => case.case.id.to_string(),
        file => place(masks.template, None),
        assumed => assumed::in_words("rendered", &masks.assumed),
        refused => case.mask.as_ref().err().map(ToString::to_string),
        learned => learned.iter().map(ExactSizeIterator::len).sum::<usize>(),
        all => prompt.len(),
        turns => turns.iter().map(|turn| turn_data(turn, prompt)).collect::<Value>(),
        agrees => case.marked.is_some().then(|| case.agrees() == Some(true)),
        differences => all("marked", unmarked(case)),
        trained => trained(masks),
        learned_otherwise => all("learned", case.untrained()),
        widest => tokens_shown.iter().map(|token| id(token).len()).max().unwrap_or_default(),
        tokens => rows.collect::<Value>(),
        stretches => match tokens {
            Some(_) => Vec::new(),
            None => stretches(prompt, &learned),
        },
    })
}

/// The learned part of a turn.
fn turn_data(turn: &MaskedTurn, prompt: &str) -> Value {
    let end = turn
        .end
        .as_ref()
        .map(|end| format!("up to `{}`", visible(prompt.cut(end.clone()))));
    let goes_on = turn
        .is_begun
        .then(|| "up to the end, where the model goes on".to_owned());
    context! {
        said => format!("messages[{}]", turn.message),
        ranges => turn.ranges().map(|range| format!("{}..{}", range.start, range.end)).collect::<Value>(),
        end => end.or(goes_on),
        is_otherwise => matches!(turn.learned, Learned::Otherwise(_)),
        is_left_out => turn.is_left_out,
        lacks_reasoning => turn.lacks_reasoning,
    }
}

/// Each stretch that the model writes or does not write.
fn stretches(prompt: &str, learned: &[Range<usize>]) -> Vec<Value> {
    let mut at = 0;
    let mut all = Vec::new();
    for range in learned
        .iter()
        .cloned()
        // An empty range at the end brings the bytes after the last one.
        .chain(std::iter::once(prompt.len()..prompt.len()))
    {
        all.push((at..range.start, "reads", "quiet"));
        at = range.end;
        all.push((range, "writes", "good"));
    }
    let all = all.into_iter().filter(|(range, ..)| !range.is_empty());
    let all = all.map(|(range, word, style)| {
        let bytes = format!("{}..{}", range.start, range.end);
        context! { word, style, bytes, text => visible(prompt.cut(range)) }
    });
    all.collect()
}

/// Which tokens the model writes: those with a byte in one of the ranges, as transformers decides.
pub fn token_mask(ranges: &[Range<usize>], tokens: &[Token]) -> Vec<bool> {
    let is_learned = |token: &Token| {
        let mut ranges = ranges.iter();
        ranges.any(|range| token.range.start < range.end && range.start < token.range.end)
    };
    tokens.iter().map(is_learned).collect()
}

/// A stretch that is marked or learned and that the model does not write, or the other way round, in
/// words.
fn in_words(done: &str, is_done: bool, text: &str) -> String {
    let text = shortened(text);
    if is_done {
        format!("{done}, though the model does not write it: `{text}`")
    } else {
        format!("not {done}, though the model writes it: `{text}`")
    }
}

/// The stretches in which a mask and the template's marks differ.
fn unmarked(case: &CaseMask<'_>) -> Option<Vec<(bool, String)>> {
    let (mask, marked) = (case.mask.as_ref().ok()?, case.marked.as_deref()?);
    Some(differences([&mask.prompt; 2], [&mask.ranges(), marked]))
}

/// How many cases have something in common, and one of them.
#[derive(Default)]
struct Tally<'m>(BTreeMap<String, Vec<&'m CaseMask<'m>>>);

impl<'m> Tally<'m> {
    fn add(&mut self, words: String, case: &'m CaseMask<'m>) {
        self.0.entry(words).or_default().push(case);
    }

    /// The most frequent ones, and how many others there are.
    fn rows(self) -> Value {
        let mut all: Vec<_> = self.0.into_iter().collect();
        // The sort is stable, so equal counts keep the order of their words.
        all.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
        let more = all.len().saturating_sub(MOST_DIFFERENCES);
        let rows = all.iter().take(MOST_DIFFERENCES).map(|(words, cases)| {
            context! { count => cases.len(), words, case => cases[0].case.id.to_string() }
        });
        context! { rows => rows.collect::<Value>(), more }
    }
}

/// What a trainer makes of the cases.
fn trained(masks: &TemplateMasks<'_>) -> Option<Value> {
    let name = masks.trainer.as_deref()?;
    let (mut causes, mut learned) = (Tally::default(), Tally::default());
    let (mut same, mut same_mask, mut texts, mut refused, mut both) = (0, 0, 0, 0, 0);
    for case in &masks.cases {
        let Some(trained) = &case.trained else {
            continue;
        };
        let own = match &case.mask {
            Ok(mask) => Outcome::from(Ok(mask.prompt.clone())),
            Err(NoMask::Refused(outcome)) => outcome.clone(),
            Err(NoMask::Untraced) => continue,
        };
        let sides = [&own, &trained.outcome];
        match case.untrained() {
            Some(differences) => {
                texts += 1;
                same += usize::from(sides[0] == sides[1]);
                same_mask += usize::from(differences.is_empty());
                let words = differences
                    .iter()
                    .map(|(is, text)| in_words("learned", *is, text));
                for words in words.collect::<BTreeSet<_>>() {
                    learned.add(words, case);
                }
            }
            None if case.mask.is_ok() => refused += 1,
            None if sides[1].kind() != OutcomeKind::Rendered => both += 1,
            None => {}
        }
        let [has_own, has_trained] = sides.map(|side| side.kind() == OutcomeKind::Rendered);
        let words = match (has_own, has_trained) {
            (true, true) if own != trained.outcome => {
                Cause::of(sides, &cause::edits(sides)).into_name()
            }
            (true, false) => cause::error(trained.outcome.text()),
            (false, true) => {
                let why = cause::error(own.text());
                format!("a text, although the template refuses: {why}")
            }
            _ => continue,
        };
        causes.add(words, case);
    }
    Some(context! {
        name, same, other => texts - same, refused, both, texts, same_mask,
        causes => causes.rows(), learned => learned.rows(),
    })
}

/// A text on one line, perhaps without its middle.
fn shortened(text: &str) -> String {
    /// How much is shown of the beginning and of the end.
    const SHOWN: usize = 24;
    let count = text.chars().count();
    if count <= 2 * SHOWN {
        return visible(text);
    }
    let head: String = text.chars().take(SHOWN).collect();
    let tail: String = text.chars().skip(count - SHOWN).collect();
    format!("{}…{}", visible(&head), visible(&tail))
}

/// Writes what the model writes in all cases: how many turns, those that are not as they should be,
/// and in how many cases the template marks the same.
fn write_all(out: &mut dyn Write, masks: &TemplateMasks<'_>) -> io::Result<()> {
    let all = masks.cases.iter().filter(|case| case.mask.is_ok()).count();
    let groups = GROUPS.iter().filter_map(|(words, is_good, holds)| {
        let turns = |case: &CaseMask<'_>| {
            let turns = case.mask.iter().flat_map(|mask| &mask.turns);
            turns.filter(|turn| holds(turn)).count()
        };
        let shown = masks.cases.iter().filter(|case| turns(case) > 0);
        let names: Vec<_> = shown
            .take(MOST_NAMED)
            .map(|case| case.case.id.to_string())
            .collect();
        let count: usize = masks.cases.iter().map(turns).sum();
        let names = names.join(", ");
        (count > 0).then(|| context! { count, words => *words, is_good => *is_good, names })
    });
    let mut marked = Tally::default();
    for case in &masks.cases {
        for (is_marked, text) in unmarked(case).into_iter().flatten() {
            marked.add(in_words("marked", is_marked, &text), case);
        }
    }
    let compared: Vec<_> = masks.cases.iter().filter_map(CaseMask::agrees).collect();
    text!(out, include_str!("report.txt"), {
        name => masks.template.name.as_str(),
        file => place(masks.template, None),
        assumed => assumed::in_words("rendered", &masks.assumed),
        cases => all,
        refused => masks.cases.len() - all,
        groups => groups.collect::<Value>(),
        has_marks => masks.has_marks(),
        same => compared.iter().filter(|same| **same).count(),
        compared => compared.len(),
        marks => marked.rows(),
        trained => trained(masks),
    })
}

/// A kind of turns: in words, whether it is as it should be, and which turns it has.
type TurnKind = (&'static str, bool, fn(&MaskedTurn) -> bool);

/// The kinds of turns that are counted, in the order of a summary.
const GROUPS: [TurnKind; 6] = [
    ("as asked", true, |turn| {
        matches!(turn.learned, Learned::AsAsked(_))
    }),
    (
        "after another text than the prompt that asks for them",
        false,
        |turn| matches!(turn.learned, Learned::Otherwise(_)),
    ),
    ("not in the prompt", false, |turn| {
        matches!(turn.learned, Learned::Nothing)
    }),
    ("without a token that ends them", false, |turn| {
        !turn.is_begun && turn.end.is_none() && turn.learned.range().is_some()
    }),
    (
        "without their reasoning, which the template leaves out",
        false,
        |turn| turn.lacks_reasoning,
    ),
    (
        "not learned, because their messages say so",
        false,
        |turn| turn.is_left_out,
    ),
];

/// Writes that a template got marks, and their proof.
pub fn write_marked(
    out: &mut dyn Write,
    template: &Template,
    file: &Path,
    marked: &Marked,
) -> io::Result<()> {
    text!(out, include_str!("marked.txt"), {
        name => template.name.as_str(),
        file => file.display().to_string(),
        blocks => marked.blocks,
        prompts => marked.prompts,
        refusals => marked.refusals,
        answers => marked.answers,
    })
}

/// Writes why a template gets no marks.
pub fn write_blame(out: &mut dyn Write, template: &Template, blame: &Blame) -> io::Result<()> {
    let name = Styled(HEADING, template.name.as_str());
    let none = Styled(BAD, "no marks are right in every case");
    paragraph(out, &format!("{name}: {none}"), 2)?;
    paragraph(out, &format!("  {blame}"), 4)
}

document! {
    /// The masks of a template as JSON.
    pub struct MaskDocument<'m> from (masks: &'m TemplateMasks<'_>, tokens: Option<&[Token]>) {
        /// The version of this format.
        rolecall: u32 = VERSION,
        /// The template's name.
        template: &'m str = masks.template.name.as_str(),
        /// The template's file, as it was given.
        file: String = place(masks.template, None),
        /// The special tokens that are not set, each with the text that Rolecall used for it.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        assumed: BTreeMap<&'static str, &'static str> = masks.assumed.clone(),
        /// The trainer with which the masks are compared: its name and its versions.
        trainer?: Option<&'m str> = masks.trainer.as_deref(),
        /// The cases. If none was named, those that have an assistant's message.
        masks: Vec<MaskJson<'m>> =
            masks.cases.iter().map(|case| MaskJson::of(case, tokens)).collect(),
    }

    /// The mask of a prompt. Places are bytes of the prompt, from 0.
    struct MaskJson<'m> from (case: &'m CaseMask<'_>, tokens: Option<&[Token]>) with {
        let all = |ranges: &[Range<usize>]| ranges.iter().map(BytesJson::of).collect::<Vec<_>>();
        let mask = case.mask.as_ref().ok();
        let learned = mask.map(Mask::ranges).unwrap_or_default();
        let turns = mask.map_or(&[][..], |mask| &mask.turns);
    } {
        /// The case: `family/name`.
        case: String = case.case.id.to_string(),
        /// The prompt. It is missing if there is none.
        prompt?: Option<&'m str> = mask.map(|mask| mask.prompt.as_str()),
        /// Why there is no mask.
        refused?: Option<String> = case.mask.as_ref().err().map(ToString::to_string),
        /// The stretches that the model writes, in the order of the prompt. No two of them touch.
        learned: Vec<BytesJson> = all(&learned),
        /// What the template's own `{% generation %}` blocks mark. It is missing if the template has
        /// none.
        marked?: Option<Vec<BytesJson>> = case.marked.as_deref().map(all),
        /// The assistant's turns, in the order of the conversation.
        turns: Vec<TurnJson> = turns.iter().map(TurnJson::of).collect(),
        /// What the trainer makes of the case, if there is one. Trainers get whole conversations, and so
        /// does the template here: no case asks for an answer.
        trained?: Option<TrainedJson<'m>> = case.trained.as_ref().map(|trained| TrainedJson::of(case, trained)),
        /// The tokens of the prompt, if they were asked for.
        tokens?: Option<Vec<TokenJson>> = tokens.map(|tokens| {
            let is_learned = token_mask(&learned, tokens);
            let tokens = tokens.iter().zip(is_learned);
            let tokens = tokens.map(|(token, learned)| TokenJson::of(token, learned));
            tokens.collect()
        }),
    }

    /// What a trainer makes of a conversation.
    struct TrainedJson<'m> from (case: &'m CaseMask<'_>, trained: &'m Trained) with {
        let is_text = trained.outcome.kind() == OutcomeKind::Rendered;
    } {
        /// The text on which it trains. It is missing if that is the prompt, or if there is none.
        text?: Option<&'m str> = Some(trained.outcome.text())
            .filter(|text| is_text && case.mask.as_ref().map_or(true, |mask| mask.prompt != *text)),
        /// Why there is no text.
        refused?: Option<String> = (!is_text).then(|| trained.outcome.to_string()),
        /// The stretches of its text that the model learns, in their order. No two of them touch.
        learned: Vec<BytesJson> = trained.learned.iter().map(BytesJson::of).collect(),
        /// Whether the model learns exactly what it writes, where both texts are alike. It is missing
        /// unless both have a text.
        same_mask?: Option<bool> = case.untrained().map(|differences| differences.is_empty()),
    }

    /// An assistant's turn.
    struct TurnJson from (turn: &MaskedTurn) {
        /// The index of its message.
        message: usize = turn.message,
        /// `as-asked` if it comes after the very prompt that asks for it, `otherwise` if another text
        /// comes before it, and `nothing` if the turn is not in the prompt.
        kind: &'static str = match turn.learned {
            Learned::AsAsked(_) => "as-asked",
            Learned::Otherwise(_) => "otherwise",
            Learned::Nothing => "nothing",
        },
        /// What the model writes of it, up to the results of its calls if more of it comes after them.
        /// It is missing if that is nothing.
        learned?: Option<BytesJson> = turn.learned.range().as_ref().map(BytesJson::of),
        /// What the model writes of it after the results of its calls.
        further: Vec<BytesJson> = turn.further.iter().map(BytesJson::of).collect(),
        /// The token that ends it: the last bytes of the learned text. It is missing if no token does.
        end?: Option<BytesJson> = turn.end.as_ref().map(BytesJson::of),
        /// Whether its message says that the model shall not learn it: `weight` is 0, or `train` or
        /// `training` is false. Then `learned` of the whole mask does not have it.
        left_out: bool = turn.is_left_out,
        /// Whether its message has reasoning that the template does not write.
        lacks_reasoning: bool = turn.lacks_reasoning,
    }

    /// A token of a prompt.
    struct TokenJson from (token: &Token, learned: bool) {
        /// Its number in the vocabulary, if that is known.
        id?: Option<u32> = token.id,
        /// The bytes that it represents.
        prompt: BytesJson = BytesJson::of(&token.range),
        /// Whether the model writes it.
        learned: bool = learned,
    }
}
