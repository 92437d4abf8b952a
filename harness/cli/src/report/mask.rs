//! Masks: which bytes and tokens of a prompt the model writes, for people and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use rolecall_answers::mask::{Learned, Mask, MaskedTurn};
use rolecall_check::tokenizer::Token;
use rolecall_core::Template;
use rolecall_explore::marking::{Blame, Marked};
use rolecall_explore::masks::{CaseMask, TemplateMasks};
use rolecall_io::template_file::place;
use serde::Serialize;

use super::assumed;
use super::json::{self, VERSION};
use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::trace::visible;
use super::wrapping::wrapped;

/// The most cases that are named next to a count.
const MOST_NAMED: usize = 3;

/// The most differences from the marks that a summary shows.
const MOST_DIFFERENCES: usize = 8;

/// Writes the mask of one case: each stretch of the prompt, and whether the model writes it. With
/// tokens, each token is on a line of its own.
pub fn write_case(
    out: &mut dyn Write,
    masks: &TemplateMasks<'_>,
    case: &CaseMask<'_>,
    tokens: Option<&[Token]>,
) -> io::Result<()> {
    let width = screen::width();
    let template = masks.template;
    let name = Styled(HEADING, template.name.as_str());
    let file = Styled(QUIET, place(template, None));
    let title = format!("{name} {}  {file}", case.case.id);
    writeln!(out, "{}", wrapped(&title, width, 2))?;
    write_assumed(out, masks, width)?;
    let mask = match &case.mask {
        Ok(mask) => mask,
        Err(why) => return writeln!(out, "{}", wrapped(&format!("  {why}"), width, 4)),
    };
    let learned = mask.ranges();
    let bytes: usize = learned.iter().map(ExactSizeIterator::len).sum();
    let turns = counted(mask.turns.len(), "turn", "turns");
    let all = thousands(mask.prompt.len());
    let line = format!(
        "  the model writes {} of {all} bytes, in {turns}",
        thousands(bytes)
    );
    writeln!(out, "{}", wrapped(&line, width, 4))?;
    for turn in &mask.turns {
        let line = format!("  {}", in_words(turn, &mask.prompt));
        writeln!(out, "{}", wrapped(&line, width, 4))?;
    }
    if let Some(marked) = &case.marked {
        let line = match case.agrees() {
            Some(true) => format!("  {}", Styled(GOOD, "the template marks the same")),
            _ => format!("  {}", Styled(NOTE, "the template marks something else")),
        };
        writeln!(out, "{}", wrapped(&line, width, 4))?;
        for difference in differences(mask, marked) {
            let line = format!("    {}", difference.in_words());
            writeln!(out, "{}", wrapped(&line, width, 6))?;
        }
    }
    writeln!(out)?;
    match tokens {
        Some(tokens) => write_tokens(out, mask, tokens),
        None => write_stretches(out, mask, width),
    }
}

fn write_assumed(out: &mut dyn Write, masks: &TemplateMasks<'_>, width: usize) -> io::Result<()> {
    match assumed::in_words("rendered", &masks.assumed) {
        Some(line) => {
            let line = format!("  {}", Styled(QUIET, line));
            writeln!(out, "{}", wrapped(&line, width, 4))
        }
        None => Ok(()),
    }
}

/// The learned part of a turn, in words.
fn in_words(turn: &MaskedTurn, prompt: &str) -> String {
    let said = format!("messages[{}]", turn.message);
    let ranges: Vec<String> = turn
        .ranges()
        .map(|range| format!("{}..{}", range.start, range.end))
        .collect();
    if ranges.is_empty() {
        return format!("{said}: {}", Styled(NOTE, "not in the prompt"));
    }
    let asked = match &turn.learned {
        Learned::Otherwise(_) => {
            let words = "the text before it is not the prompt that asks for it";
            format!(", {}", Styled(NOTE, words))
        }
        _ => String::new(),
    };
    let end = match &turn.end {
        Some(end) => format!("up to `{}`", visible(&prompt[end.clone()])),
        None if turn.is_begun => "up to the end, where the model goes on".to_owned(),
        None => Styled(NOTE, "no token ends it").to_string(),
    };
    format!("{said}: bytes {}, {end}{asked}", ranges.join(" and "))
}

/// Writes each stretch that the model writes or does not write.
fn write_stretches(out: &mut dyn Write, mask: &Mask, width: usize) -> io::Result<()> {
    let mut at = 0;
    let mut write = |range: Range<usize>, is_learned: bool| -> io::Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let (style, word) = if is_learned {
            (GOOD, "writes")
        } else {
            (QUIET, "reads")
        };
        let bytes = Styled(QUIET, format!("{}..{}", range.start, range.end));
        let text = Styled(style, visible(&mask.prompt[range]));
        let line = format!("{word:<6} {bytes}  {text}");
        writeln!(out, "{}", wrapped(&line, width, 8))
    };
    for range in mask.ranges() {
        write(at..range.start, false)?;
        at = range.end;
        write(range, true)?;
    }
    write(at..mask.prompt.len(), false)
}

/// Writes each token with 1 before it if the model writes it, and 0 if it does not.
fn write_tokens(out: &mut dyn Write, mask: &Mask, tokens: &[Token]) -> io::Result<()> {
    let learned = token_mask(&mask.ranges(), tokens);
    let number = |token: &Token| token.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let widest = tokens.iter().map(|token| number(token).len()).max();
    let widest = widest.unwrap_or_default();
    for (token, is_learned) in tokens.iter().zip(learned) {
        let (style, digit) = if is_learned { (GOOD, 1) } else { (QUIET, 0) };
        let number = Styled(QUIET, format!("{:>widest$}", number(token)));
        let text = visible(mask.prompt.get(token.range.clone()).unwrap_or_default());
        writeln!(
            out,
            "{digit}  {number}  {}",
            Styled(style, format!("\"{text}\""))
        )?;
    }
    Ok(())
}

/// Which tokens the model writes: those with a byte in one of the ranges, as transformers decides.
pub fn token_mask(ranges: &[Range<usize>], tokens: &[Token]) -> Vec<bool> {
    let is_learned = |token: &Token| {
        let mut ranges = ranges.iter();
        ranges.any(|range| token.range.start < range.end && range.start < token.range.end)
    };
    tokens.iter().map(is_learned).collect()
}

/// A stretch that the model writes and the template does not mark, or the other way round.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    /// Whether the template marks it.
    is_marked: bool,
    text: String,
}

impl Difference {
    fn in_words(&self) -> String {
        let text = &self.text;
        if self.is_marked {
            format!("marked, though the model does not write it: `{text}`")
        } else {
            format!("not marked, though the model writes it: `{text}`")
        }
    }
}

/// The stretches in which a mask and the marks differ.
fn differences(mask: &Mask, marked: &[Range<usize>]) -> Vec<Difference> {
    let learned = mask.ranges();
    let without = |ranges: &[Range<usize>], others: &[Range<usize>], is_marked| {
        let mut left = Vec::new();
        for range in ranges {
            let mut at = range.start;
            for other in others
                .iter()
                .filter(|it| it.start < range.end && it.end > range.start)
            {
                left.push(at..other.start.max(at));
                at = other.end.max(at);
            }
            left.push(at..range.end.max(at));
        }
        left.retain(|range| !range.is_empty());
        let texts = left.into_iter().map(|range| shortened(&mask.prompt[range]));
        let differences = texts.map(move |text| Difference { is_marked, text });
        differences.collect::<Vec<_>>()
    };
    let mut all = without(&learned, marked, false);
    all.extend(without(marked, &learned, true));
    all
}

/// A text on one line, of which the middle may be left out.
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

/// Writes what the model writes in all cases: how many turns, and those that are not as they should
/// be.
pub fn write(out: &mut dyn Write, masks: &TemplateMasks<'_>) -> io::Result<()> {
    let width = screen::width();
    let template = masks.template;
    let name = Styled(HEADING, template.name.as_str());
    let file = Styled(QUIET, place(template, None));
    writeln!(out, "{}", wrapped(&format!("{name}  {file}"), width, 2))?;
    write_assumed(out, masks, width)?;
    let found = |case: &&CaseMask<'_>| case.mask.is_ok();
    let all = masks.cases.iter().filter(found).count();
    let cases = counted(all, "case", "cases");
    let refused = match masks.cases.len() - all {
        0 => String::new(),
        refused => format!(", and no prompt for {} more", thousands(refused)),
    };
    let line = format!("  {cases} with answers{refused}");
    writeln!(out, "{}", wrapped(&line, width, 4))?;
    for group in GROUPS {
        let turns = |case: &CaseMask<'_>| {
            let mask = case.mask.as_ref().ok();
            mask.map_or(0, |mask| {
                let turns = mask.turns.iter();
                turns.filter(|turn| (group.holds)(turn)).count()
            })
        };
        let count: usize = masks.cases.iter().map(turns).sum();
        if count == 0 {
            continue;
        }
        let style = if group.is_good { GOOD } else { NOTE };
        let count = Styled(style, counted(count, "turn", "turns"));
        let shown = masks.cases.iter().filter(|case| turns(case) > 0);
        let shown: Vec<_> = shown.map(|case| case.case.id.to_string()).collect();
        let names = if group.is_good {
            String::new()
        } else {
            format!(
                ", such as {}",
                shown[..shown.len().min(MOST_NAMED)].join(", ")
            )
        };
        let line = format!("  {count} {}{names}", group.words);
        writeln!(out, "{}", wrapped(&line, width, 4))?;
    }
    write_marks(out, masks, width)
}

/// Turns that are counted together.
struct Group {
    words: &'static str,
    is_good: bool,
    holds: fn(&MaskedTurn) -> bool,
}

/// The groups of turns, in the order of a summary.
const GROUPS: [Group; 4] = [
    Group {
        words: "as asked",
        is_good: true,
        holds: |turn| matches!(turn.learned, Learned::AsAsked(_)),
    },
    Group {
        words: "after another text than the prompt that asks for them",
        is_good: false,
        holds: |turn| matches!(turn.learned, Learned::Otherwise(_)),
    },
    Group {
        words: "not in the prompt",
        is_good: false,
        holds: |turn| matches!(turn.learned, Learned::Nothing),
    },
    Group {
        words: "without a token that ends them",
        is_good: false,
        holds: |turn| !turn.is_begun && turn.end.is_none() && turn.learned.range().is_some(),
    },
];

/// Writes in how many cases the template marks what the model writes, and the differences.
fn write_marks(out: &mut dyn Write, masks: &TemplateMasks<'_>, width: usize) -> io::Result<()> {
    if !masks.has_marks() {
        return writeln!(out, "  the template has no `{{% generation %}}` marks");
    }
    let compared: Vec<_> = masks.cases.iter().filter_map(CaseMask::agrees).collect();
    let same = compared.iter().filter(|same| **same).count();
    let style = if same == compared.len() { GOOD } else { NOTE };
    let (same, all) = (thousands(same), counted(compared.len(), "case", "cases"));
    let line = format!(
        "  its marks are the same in {} of {all}",
        Styled(style, same)
    );
    writeln!(out, "{}", wrapped(&line, width, 4))?;
    let mut differing: BTreeMap<Difference, Vec<String>> = BTreeMap::new();
    for case in &masks.cases {
        if let (Ok(mask), Some(marked)) = (&case.mask, &case.marked) {
            for difference in differences(mask, marked) {
                differing
                    .entry(difference)
                    .or_default()
                    .push(case.case.id.to_string());
            }
        }
    }
    let mut differing: Vec<_> = differing.into_iter().collect();
    differing.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
    let more = differing.len().saturating_sub(MOST_DIFFERENCES);
    for (difference, cases) in differing.iter().take(MOST_DIFFERENCES) {
        let count = Styled(BAD, format!("{}×", thousands(cases.len())));
        let line = format!("    {count} {}, in {}", difference.in_words(), cases[0]);
        writeln!(out, "{}", wrapped(&line, width, 6))?;
    }
    if more > 0 {
        let more = counted(more, "other difference", "other differences");
        writeln!(out, "    and {more}")?;
    }
    Ok(())
}

/// Writes that a template got marks, and their proof.
pub fn write_marked(
    out: &mut dyn Write,
    template: &Template,
    file: &Path,
    marked: &Marked,
) -> io::Result<()> {
    let width = screen::width();
    let name = Styled(HEADING, template.name.as_str());
    let blocks = counted(
        marked.blocks,
        "`{% generation %}` block",
        "`{% generation %}` blocks",
    );
    let line = format!("{name}: {} with {blocks}", file.display());
    writeln!(out, "{}", wrapped(&line, width, 2))?;
    let prompts = counted(marked.prompts, "prompt stays", "prompts stay");
    let refusals = counted(marked.refusals, "refusal", "refusals");
    let line = format!("  {prompts} byte for byte, and {refusals} as well");
    writeln!(out, "{}", wrapped(&line, width, 4))?;
    let answers = counted(marked.answers, "prompt", "prompts");
    let line = format!("  the marks are what the model writes, in {answers} with answers");
    writeln!(out, "{}", wrapped(&line, width, 4))
}

/// Writes why a template gets no marks.
pub fn write_blame(out: &mut dyn Write, template: &Template, blame: &Blame) -> io::Result<()> {
    let width = screen::width();
    let name = Styled(HEADING, template.name.as_str());
    let none = Styled(BAD, "no marks are right in every case");
    writeln!(out, "{}", wrapped(&format!("{name}: {none}"), width, 2))?;
    writeln!(out, "{}", wrapped(&format!("  {blame}"), width, 4))
}

/// The masks of a template as JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MaskDocument<'m> {
    /// The version of this format.
    rolecall: u32,
    /// The template's name.
    template: &'m str,
    /// The template's file, as it was given.
    file: String,
    /// The special tokens that are not set, each with the text that Rolecall used for it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    assumed: BTreeMap<&'static str, &'static str>,
    /// The cases. If none was named, those that have an assistant's message.
    masks: Vec<MaskJson<'m>>,
}

/// The mask of a prompt. Places are bytes of the prompt, from 0.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MaskJson<'m> {
    /// The case: `family/name`.
    case: String,
    /// The prompt. It is missing if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'m str>,
    /// Why there is no mask.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// The stretches that the model writes, in the order of the prompt. No two of them touch.
    learned: Vec<BytesJson>,
    /// What the template's own `{% generation %}` blocks mark. It is missing if the template has
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    marked: Option<Vec<BytesJson>>,
    /// The assistant's turns, in the order of the conversation.
    turns: Vec<TurnJson>,
    /// The tokens of the prompt, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Vec<TokenJson>>,
}

/// An assistant's turn.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TurnJson {
    /// The index of its message.
    message: usize,
    /// `as-asked` if it comes after the very prompt that asks for it, `otherwise` if another text
    /// comes before it, and `nothing` if the turn is not in the prompt.
    kind: &'static str,
    /// What the model writes of it, up to the results of its calls if more of it comes after them.
    /// It is missing if that is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    learned: Option<BytesJson>,
    /// What the model writes of it after the results of its calls.
    further: Vec<BytesJson>,
    /// The token that ends it: the last bytes of the learned text. It is missing if no token does.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<BytesJson>,
}

/// A token of a prompt.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TokenJson {
    /// Its number in the vocabulary, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    /// The bytes that it represents.
    prompt: BytesJson,
    /// Whether the model writes it.
    learned: bool,
}

/// Bytes of the prompt.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BytesJson {
    /// The first byte, from 0.
    start: usize,
    /// The byte after the last.
    end: usize,
}

impl From<&Range<usize>> for BytesJson {
    fn from(range: &Range<usize>) -> BytesJson {
        BytesJson {
            start: range.start,
            end: range.end,
        }
    }
}

/// Writes masks as JSON. `tokens` has the tokens of the only case, if they were asked for.
pub fn write_json(
    out: &mut dyn Write,
    masks: &TemplateMasks<'_>,
    tokens: Option<&[Token]>,
) -> io::Result<()> {
    let document = MaskDocument {
        rolecall: VERSION,
        template: masks.template.name.as_str(),
        file: place(masks.template, None),
        assumed: masks.assumed.clone(),
        masks: masks
            .cases
            .iter()
            .map(|case| mask_json(case, tokens))
            .collect(),
    };
    json::write(out, &document)
}

fn mask_json<'m>(case: &'m CaseMask<'_>, tokens: Option<&[Token]>) -> MaskJson<'m> {
    let all = |ranges: &[Range<usize>]| ranges.iter().map(BytesJson::from).collect::<Vec<_>>();
    let mask = case.mask.as_ref().ok();
    let learned = mask.map(Mask::ranges).unwrap_or_default();
    let turns = mask.map_or(&[][..], |mask| &mask.turns);
    MaskJson {
        case: case.case.id.to_string(),
        prompt: mask.map(|mask| mask.prompt.as_str()),
        refused: case.mask.as_ref().err().map(ToString::to_string),
        marked: case.marked.as_deref().map(all),
        turns: turns.iter().map(TurnJson::of).collect(),
        tokens: tokens.map(|tokens| {
            let is_learned = token_mask(&learned, tokens);
            let tokens = tokens.iter().zip(is_learned);
            let tokens = tokens.map(|(token, learned)| TokenJson {
                id: token.id,
                prompt: BytesJson::from(&token.range),
                learned,
            });
            tokens.collect()
        }),
        learned: all(&learned),
    }
}

impl TurnJson {
    fn of(turn: &MaskedTurn) -> TurnJson {
        TurnJson {
            message: turn.message,
            kind: match turn.learned {
                Learned::AsAsked(_) => "as-asked",
                Learned::Otherwise(_) => "otherwise",
                Learned::Nothing => "nothing",
            },
            learned: turn.learned.range().as_ref().map(BytesJson::from),
            further: turn.further.iter().map(BytesJson::from).collect(),
            end: turn.end.as_ref().map(BytesJson::from),
        }
    }
}
