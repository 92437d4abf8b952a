//! Report cards on a terminal: what to fix first, then what a template can do, on a screen, then
//! the rest of what is broken, with its evidence; of many templates a line each.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;

use super::card::{
    ALONE, Detail, Extent, one_line, setting, style_of as style_of_severity, write_alone,
    write_broken,
};
use super::columns::{Cell, Columns};
use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use super::syntax_error;
use super::wrapping::{wrapped, wrapped_command};
use crate::capability::{Capabilities, GenerationPrompt, Support};
use crate::card::Card;
use crate::contract::{self, Finding, Judgement, Severity};
use crate::invocation;
use crate::run::Timed;

/// The width of the left half of a card.
const HALF: usize = 38;

/// As wide as a screen has to be for both halves: no value is wider than 12.
const BESIDE: usize = HALF + 2 + NAME + 1 + 12;

/// The width of a name in it.
const NAME: usize = 18;

/// Writes a card: the errors that nothing explains first, then what the template can do, then what
/// else is broken. `shown_as` are the words after `rolecall show` that name the template.
pub fn write_card(
    out: &mut dyn Write,
    card: &Card,
    detail: Detail,
    shown_as: &str,
) -> io::Result<()> {
    let (name, setting) = (&card.template, setting(card));
    let title = format!("{} {}", Styled(HEADING, name), Styled(QUIET, setting));
    paragraph(out, &title, 2)?;
    if let Some(error) = &card.syntax_error {
        // Nothing else is to be said: every conversation fails for this.
        return syntax_error::write(out, error);
    }
    paragraph(out, &tally(card), 2)?;
    if let Some(assumed) = assumed(card) {
        paragraph(out, &Styled(QUIET, assumed).to_string(), 2)?;
    }
    let extent = Extent {
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
    for severity in Severity::ALL {
        for finding in card.broken().filter(|finding| !is_first(finding)) {
            // Limitations and notes are facts; those who want their evidence ask for everything.
            let is_wanted = severity.is_defect() || detail == Detail::Full;
            if finding.severity() == severity && is_wanted {
                write_broken(out, finding, extent)?;
            }
        }
    }
    if detail != Detail::Full {
        write_facts(out, card)?;
    }
    write_alone(out, card, screen::width())
}

/// Writes how to look at the prompts of a card: at one that shows its worst defect. Nothing
/// where no defect is left that someone should mend.
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

/// What a template does not do, and what is worth knowing of it, in few words.
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

/// A paragraph as wide as the screen; its lines but the first begin with `hang` spaces.
fn paragraph(out: &mut dyn Write, text: &str, hang: usize) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, screen::width(), hang))
}

/// What stood for special tokens that nothing sets.
fn assumed(card: &Card) -> Option<String> {
    let assumed = card.assumed.iter();
    let tokens: Vec<String> = assumed
        .map(|(name, token)| format!("`{token}` for {name}"))
        .collect();
    (!tokens.is_empty()).then(|| {
        let tokens = tokens.join(" and ");
        format!("examined with {tokens}, which nothing sets: --special-token does, or the model's folder")
    })
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
    if card.known() > 0 {
        parts.push(format!("{} known", thousands(card.known())));
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

/// What a template can do, in two columns, and below them in which words it refuses.
fn write_capabilities(out: &mut dyn Write, capabilities: &Capabilities) -> io::Result<()> {
    let Capabilities {
        roles,
        tool_calls,
        tool_results,
        ..
    } = capabilities;
    let of = |name: &'static str, support: &Support| {
        (name, support.name().to_owned(), style_of(support))
    };
    let plain = |name: &'static str, value: String| (name, value, PLAIN);
    let parts = |role: &str| capabilities.typed_content.get(role);
    let left = [
        Some(of("system", &roles.system.leading)),
        Some(of("  alone", &roles.system.alone)),
        Some(of("  two", &roles.system.two)),
        Some(of("  later on", &roles.system.late)),
        Some(of("developer", &roles.developer)),
        Some(of("unknown role", &roles.unknown)),
        Some(of("users in a row", &roles.consecutive_users)),
        Some(of("answers in a row", &roles.consecutive_assistants)),
        Some(of("answer first", &roles.assistant_first)),
        parts("user").map(|support| of("parts, user", support)),
        parts("assistant").map(|support| of("parts, assistant", support)),
        parts("system").map(|support| of("parts, system", support)),
        parts("tool").map(|support| of("parts, tool", support)),
    ];
    let date = if capabilities.date { "printed" } else { "no" };
    let reasoning = &capabilities.reasoning.fields;
    let right = [
        Some(of("tools", &capabilities.tools)),
        Some(of("tool calls", &tool_calls.single)),
        Some(of("  object arguments", &tool_calls.object_arguments)),
        Some(of("  JSON text", &tool_calls.string_arguments)),
        Some(of("  parallel", &tool_calls.parallel)),
        Some(of("tool results", &tool_results.single)),
        Some(of("  without ID", &tool_results.without_id)),
        Some(of("  without name", &tool_results.without_name)),
        Some(of("  long ID", &tool_results.long_id)),
        Some(if reasoning.is_empty() {
            ("reasoning", "not shown".to_owned(), QUIET)
        } else {
            of("reasoning, history", &capabilities.reasoning.in_history)
        }),
        Some(of("documents", &capabilities.documents)),
        Some(of("continued answer", &capabilities.continue_final_message)),
        Some(plain("date", date.to_owned())),
    ];
    let mut left: Vec<_> = left.into_iter().flatten().collect();
    let mut right: Vec<_> = right.into_iter().flatten().collect();
    if screen::width() < BESIDE {
        left.append(&mut right);
    }
    for row in 0..left.len().max(right.len()) {
        let cell = |side: &[(&str, String, Style)], width: usize| match side.get(row) {
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

/// The words of refusals and failures, each with what gets them.
fn write_refusals(out: &mut dyn Write, capabilities: &Capabilities) -> io::Result<()> {
    let mut words: Vec<(&str, bool, Vec<String>)> = Vec::new();
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

    // A contract may be broken in ways that are not equally bad.
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
    for finding in cards.iter().flat_map(|card| &card.alone) {
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

/// Writes the last line: how many, how fast, and what came of it.
pub fn write_close(out: &mut dyn Write, run: &Timed<Card>) -> io::Result<()> {
    let broken = |severity| -> usize { run.results.iter().map(|card| card.count(severity)).sum() };
    let (errors, warnings) = (broken(Severity::Error), broken(Severity::Warning));
    let style = match (errors, warnings) {
        (0, 0) => GOOD,
        (0, _) => NOTE,
        _ => BAD,
    };
    // Of a template that cannot be read no contract says more.
    let mut read = run
        .results
        .iter()
        .filter(|card| card.syntax_error.is_none());
    if read.any(|card| card.unexplained().next().is_some()) {
        let explain = invocation::command("explain CONTRACT");
        let help = format!("`{explain}` says what a contract means, and how to mend a template");
        paragraph(out, &Styled(QUIET, help).to_string(), 2)?;
    }
    writeln!(
        out,
        "{} in {:.2} s: {}",
        Styled(HEADING, counted(run.results.len(), "template", "templates")),
        run.elapsed.as_secs_f64(),
        Styled(
            style,
            format!(
                "{}, {}{}",
                counted(errors, "error", "errors"),
                counted(warnings, "warning", "warnings"),
                match run.results.iter().map(Card::known).sum() {
                    0 => String::new(),
                    known => format!(", {} known", thousands(known)),
                }
            )
        )
    )
}
