//! Report cards on a terminal. A single card fills a screen: first what to fix, then what the
//! template can do, then the other broken contracts with their evidence. Several templates get a
//! line each.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;

use super::assumed;
use super::card::{
    ALONE, CardDetail, FindingStyle, one_line, setting, style_of as style_of_severity, write_alone,
    write_broken, write_content_decides, write_roundtrip, write_switches,
};
use super::columns::{Cell, Columns};
use super::numbers::{counted, thousands};
use super::other_fault::{FaultKind, OtherFault};
use super::screen::{self, whose};
use super::style::{BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use super::syntax_error;
use super::wrapping::{paragraph, wrapped_command};
use rolecall_check::capability::{Ability, Capabilities, GenerationPrompt, Support};
use rolecall_check::card::Card;
use rolecall_check::contract::{self, Finding, Judgement, Severity};
use rolecall_core::invocation;
use rolecall_suite::run::TimedResults;

/// The width of the left half of a card.
const HALF: usize = 38;

/// How wide a screen has to be for both halves: no value is wider than 12.
const BESIDE: usize = HALF + 2 + NAME + 1 + 12;

/// The width of a name in a half.
const NAME: usize = 18;

/// Writes a card: first the unexplained errors, then what the template can do, then the other
/// broken contracts. `shown_as` has the words after `rolecall show` that name the template.
pub fn write_card(
    out: &mut dyn Write,
    card: &Card,
    detail: CardDetail,
    shown_as: &str,
) -> io::Result<()> {
    let (name, setting) = (&card.template, setting(card));
    let title = format!("{} {}", Styled(HEADING, name), Styled(QUIET, setting));
    paragraph(out, &title, 2)?;
    if let Some(error) = &card.syntax_error {
        // There is nothing else to say: every conversation fails for this reason.
        return syntax_error::write(out, error);
    }
    paragraph(out, &tally(card), 2)?;
    if let Some(assumed) = assumed::in_words("examined", &card.assumed) {
        paragraph(out, &Styled(QUIET, assumed).to_string(), 2)?;
    }
    let extent = FindingStyle {
        detail,
        width: screen::width(),
        shown_as: Some(shown_as),
    };
    let is_first =
        |finding: &&Finding| finding.severity() == Severity::Error && finding.deliberate.is_none();
    let first: Vec<&Finding> = card.broken().filter(is_first).collect();
    if !first.is_empty() {
        writeln!(out, "\n{}", Styled(HEADING, "what to fix first"))?;
        for finding in first {
            write_broken(out, finding, extent)?;
        }
        writeln!(out, "\n{}", Styled(HEADING, "what it can do"))?;
    }
    write_capabilities(out, &card.capabilities)?;
    write_switches(out, &card.capabilities.switches, screen::width())?;
    write_content_decides(out, &card.content_decides, screen::width())?;
    write_roundtrip(out, &card.read_back, screen::width())?;
    for severity in Severity::ALL {
        for finding in card.broken().filter(|finding| !is_first(finding)) {
            // Limitations and notes are facts; whoever wants their evidence asks for everything.
            let is_wanted = severity.is_defect() || detail == CardDetail::Full;
            if finding.severity() == severity && is_wanted {
                write_broken(out, finding, extent)?;
            }
        }
    }
    if detail != CardDetail::Full {
        write_facts(out, card)?;
    }
    write_alone(out, card, screen::width())
}

/// Writes how to look at a prompt of the card that shows its worst defect. Writes nothing if there
/// is no defect left to fix.
pub fn write_advice(out: &mut dyn Write, card: &Card, shown_as: &str) -> io::Result<()> {
    let worst = card.unexplained().min_by_key(|finding| finding.severity());
    let evidence = worst.and_then(|finding| finding.evidence().first());
    let Some(render) = evidence.and_then(|evidence| evidence.renders.last()) else {
        return Ok(());
    };
    if card.syntax_error.is_some() {
        return Ok(());
    }
    let command = invocation::command(&format!("show {shown_as} probe/{}", render.probe));
    paragraph(out, "to see a conversation and its prompt in whole:", 2)?;
    writeln!(out, "{}", wrapped_command(&command, screen::width(), 2))?;
    writeln!(out)
}

/// Writes a template's limitations and notes in few words.
fn write_facts(out: &mut dyn Write, card: &Card) -> io::Result<()> {
    let of = |severity| {
        let broken = card.broken();
        broken.filter(move |finding| finding.severity() == severity)
    };
    let mut heading = Some("\nlimitations");
    for finding in of(Severity::Limitation) {
        if let Some(heading) = heading.take() {
            writeln!(out, "{}", Styled(PLAIN, heading))?;
        }
        let what = finding.evidence().first().map_or("", |first| &first.what);
        let id = Styled(QUIET, format!("({})", finding.contract.id));
        paragraph(out, &format!("  {} {id}", one_line(what)), 4)?;
    }
    let notes: Vec<_> = of(Severity::Note)
        .map(|finding| finding.contract.id)
        .collect();
    if notes.is_empty() {
        return Ok(());
    }
    let text = format!("\n{} {}", Styled(PLAIN, "notes"), notes.join(", "));
    paragraph(out, &text, 2)
}

/// `2 errors, 1 warning, 3 notes; 24 contracts hold, 8 do not apply`
fn tally(card: &Card) -> String {
    let mut parts = Vec::new();
    for (severity, style, one, many) in [
        (Severity::Error, BAD, "error", "errors"),
        (Severity::Warning, NOTE, "warning", "warnings"),
        (Severity::Limitation, PLAIN, "limitation", "limitations"),
        (Severity::Note, QUIET, "note", "notes"),
    ] {
        let count = card.count(severity);
        if count > 0 {
            parts.push(Styled(style, counted(count, one, many)).to_string());
        }
    }
    if card.explained_count() > 0 {
        parts.push(format!("{} known", thousands(card.explained_count())));
    }
    if parts.is_empty() {
        parts.push(Styled(GOOD, "nothing broken").to_string());
    }
    let holding = count(card, |verdict| *verdict == Judgement::Holds);
    let other = count(card, |verdict| {
        matches!(verdict, Judgement::DoesNotApply(_))
    });
    format!(
        "{}; {}, {} not apply",
        parts.join(", "),
        counted(holding, "contract holds", "contracts hold"),
        counted(other, "does", "do")
    )
}

fn count(card: &Card, is: impl Fn(&Judgement) -> bool) -> usize {
    card.findings
        .iter()
        .filter(|finding| is(&finding.judgement))
        .count()
}

/// Writes what a template can do, in two columns, and below them the words of its refusals.
fn write_capabilities(out: &mut dyn Write, capabilities: &Capabilities) -> io::Result<()> {
    let reasoning = &capabilities.reasoning.fields;
    let shown = |ability: &Ability| {
        let (name, support) = (ability.short?, ability.of(capabilities)?);
        if reasoning.is_empty()
            && std::ptr::eq(support, &raw const capabilities.reasoning.in_history)
        {
            return Some(("reasoning", "not shown", QUIET));
        }
        Some((name, support.name(), style_of(support)))
    };
    let [mut left, mut right] = [Ability::ROLES, Ability::TOOLS]
        .map(|abilities| abilities.iter().filter_map(shown).collect::<Vec<_>>());
    let date = if capabilities.date { "printed" } else { "no" };
    right.push(("date", date, PLAIN));
    if screen::width() < BESIDE {
        left.append(&mut right);
    }
    for row in 0..left.len().max(right.len()) {
        let cell = |side: &[(&str, &str, Style)], width: usize| match side.get(row) {
            Some((name, value, style)) => {
                let gap = width.saturating_sub(NAME + 2 + value.len());
                format!(
                    "  {name:NAME$} {}{:gap$}",
                    Styled(*style, value),
                    "",
                    gap = gap
                )
            }
            None => " ".repeat(width + 1),
        };
        let line = cell(&left, HALF) + &cell(&right, 0);
        writeln!(out, "{}", line.trim_end())?;
    }
    let prompt = match &capabilities.generation_prompt {
        GenerationPrompt::Suffix { text } => format!("adds {}", one_line(text)),
        GenerationPrompt::Ignored => "ignored".to_owned(),
        GenerationPrompt::Other => "changes the prompt".to_owned(),
        GenerationPrompt::Unknown { why } => one_line(why),
    };
    let mut lines = vec![("generation prompt", prompt)];
    for (name, list) in [
        ("special tokens", &capabilities.special_tokens),
        ("variables", &capabilities.variables),
    ] {
        if !list.is_empty() {
            lines.push((name, list.join(", ")));
        }
    }
    if !reasoning.is_empty() {
        lines.push(("reasoning from", reasoning.join(", ")));
    }
    for (name, value) in lines {
        paragraph(out, &format!("  {name:NAME$} {value}"), NAME + 3)?;
    }
    write_refusals(out, capabilities)
}

fn style_of(support: &Support) -> Style {
    match support {
        Support::Kept | Support::Merged => GOOD,
        Support::Partial | Support::Dropped => BAD,
        Support::Refused { .. } => PLAIN,
        Support::Unknown { .. } => QUIET,
        Support::Failed { .. } => NOTE,
    }
}

/// Writes the words of refusals and failures, each with the inputs that cause them.
fn write_refusals(out: &mut dyn Write, capabilities: &Capabilities) -> io::Result<()> {
    let mut words: Vec<(&str, bool, Vec<&str>)> = Vec::new();
    for (name, support) in capabilities.supports() {
        let (Support::Refused { message } | Support::Failed { message }) = support else {
            continue;
        };
        let is_refusal = matches!(support, Support::Refused { .. });
        let known = words
            .iter_mut()
            .find(|(known, kind, _)| *known == message.as_str() && *kind == is_refusal);
        match known {
            Some((_, _, names)) => names.push(name),
            None => words.push((message, is_refusal, vec![name])),
        }
    }
    for (message, is_refusal, names) in words {
        let verb = if is_refusal { "refuses" } else { "fails on" };
        paragraph(out, &format!("  {verb} {}", names.join(", ")), 4)?;
        paragraph(out, &format!("    {}", Styled(QUIET, one_line(message))), 4)?;
    }
    Ok(())
}

/// Writes a line for each template, and one for each contract that some template breaks.
pub fn write_table(out: &mut dyn Write, cards: &[Card]) -> io::Result<()> {
    let heading = |text: &str| Cell::new(HEADING, text);
    let mut table = Columns::right_aligned([1, 2, 3, 4]);
    let headings = [
        "template", "errors", "warnings", "limits", "notes", "broken",
    ];
    table.row(headings.map(heading));
    let counts = |card: &Card| {
        Severity::ALL.map(|severity| match card.count(severity) {
            0 => Cell::new(QUIET, "·"),
            count => Cell::new(style_of_severity(severity), thousands(count)),
        })
    };
    for card in cards {
        let mut broken: Vec<&Finding> = card.unexplained().collect();
        broken.sort_by_key(|finding| finding.severity());
        let ids: Vec<_> = broken.iter().map(|finding| finding.contract.id).collect();
        table.row(
            std::iter::once(Cell::new(PLAIN, &card.template))
                .chain(counts(card))
                .chain([Cell::new(PLAIN, ids.join(", "))]),
        );
    }
    table.write(out)?;
    writeln!(out)?;

    // A template may break a contract less badly than another one does.
    let mut broken: BTreeMap<(Severity, &str), usize> = BTreeMap::new();
    let mut judged: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in cards.iter().flat_map(|card| &card.findings) {
        let id = finding.contract.id;
        if !matches!(finding.judgement, Judgement::DoesNotApply(_)) {
            *judged.entry(id).or_default() += 1;
        }
        if finding.is_broken() {
            *broken.entry((finding.severity(), id)).or_default() += 1;
        }
    }
    let mut table = Columns::right_aligned([2]);
    table.row(["contract", "", "broken", "of", "meaning"].map(heading));
    for severity in Severity::ALL {
        for contract in contract::ALL {
            let Some(count) = broken.get(&(severity, contract.id)) else {
                continue;
            };
            let style = style_of_severity(severity);
            table.row([
                Cell::new(PLAIN, contract.id),
                Cell::new(style, severity.name()),
                Cell::new(style, thousands(*count)),
                Cell::new(
                    QUIET,
                    thousands(judged.get(contract.id).copied().unwrap_or(0)),
                ),
                Cell::new(QUIET, contract.meaning),
            ]);
        }
    }
    table.write(out)?;
    writeln!(out)?;
    let mut alone: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in cards.iter().flat_map(|card| &card.without_front) {
        *alone.entry(finding.contract.id).or_default() += 1;
    }
    if alone.is_empty() {
        return Ok(());
    }
    let counts: Vec<_> = alone
        .iter()
        .map(|(id, count)| format!("{id} {}", thousands(*count)))
        .collect();
    paragraph(out, &Styled(NOTE, ALONE).to_string(), 2)?;
    paragraph(out, &format!("  {}", counts.join(", ")), 2)?;
    writeln!(out)
}

/// Writes the last line: how many templates of which suite, if they are of one, how fast, and the
/// result. `others` fail the check, too.
pub fn write_close(
    out: &mut dyn Write,
    run: &TimedResults<Card>,
    others: &[OtherFault],
    origin: Option<&str>,
) -> io::Result<()> {
    let broken = |severity| -> usize { run.results.iter().map(|card| card.count(severity)).sum() };
    let (errors, warnings) = (broken(Severity::Error), broken(Severity::Warning));
    let of_kind = |is_base: bool| {
        let others = others.iter();
        others
            .filter(|other| (other.kind == FaultKind::Base) == is_base)
            .count()
    };
    let style = match (errors, warnings, others.len()) {
        (0, 0, 0) => GOOD,
        (0, _, 0) => NOTE,
        _ => BAD,
    };
    // No contract says more about a template that cannot be read.
    let mut read = run
        .results
        .iter()
        .filter(|card| card.syntax_error.is_none());
    if read.any(|card| card.unexplained().next().is_some()) {
        let explain = invocation::command("explain CONTRACT");
        let help = format!("`{explain}` explains a contract and how to fix a template");
        paragraph(out, &Styled(QUIET, help).to_string(), 2)?;
    }
    writeln!(
        out,
        "{}{} in {:.2} s: {}",
        origin.map_or_else(String::new, whose),
        Styled(HEADING, counted(run.results.len(), "template", "templates")),
        run.elapsed.as_secs_f64(),
        Styled(
            style,
            format!(
                "{}, {}{}{}{}",
                counted(errors, "error", "errors"),
                counted(warnings, "warning", "warnings"),
                match of_kind(true) {
                    0 => String::new(),
                    count => format!(
                        ", {} from a base",
                        counted(count, "difference", "differences")
                    ),
                },
                match of_kind(false) {
                    0 => String::new(),
                    count => format!(
                        ", {}",
                        counted(count, "problem with a file", "problems with files")
                    ),
                },
                match run.results.iter().map(Card::explained_count).sum() {
                    0 => String::new(),
                    known => format!(", {} known", thousands(known)),
                }
            )
        )
    )
}
