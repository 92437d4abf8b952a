//! Report cards on a terminal. A single card fills a screen: first what to fix, then what the
//! template can do, then the other broken contracts with their evidence. Several templates get a
//! line each.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::Style;
use minijinja::{Value, context};

use crate::commands::check::served;
use crate::report::card::{
    CardDetail, FindingStyle, after_result, one_line, setting, style_of as style_of_severity,
    style_of_support, write_about, write_alone, write_broken,
};
use crate::report::diagnostic::{BASE, Diagnostic, FILE};
use crate::report::numbers::{counted, thousands};
use crate::report::screen::whose;
use crate::report::style::{BAD, GOOD, NOTE, PLAIN, QUIET, Styled};
use crate::report::text::{text, written};
use crate::report::wrapping::{paragraph, wrapped_command};
use crate::report::{assumed, screen, style, syntax_error};
use rolecall_check::capability::{Ability, Capabilities, GenerationPrompt, Support};
use rolecall_check::card::Card;
use rolecall_check::contract::{Finding, Judgement, Severity, log_rule};
use rolecall_core::invocation;

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
    let width = screen::width();
    let extent = FindingStyle {
        detail,
        width,
        shown_as: Some(shown_as),
    };
    let mut broken: Vec<&Finding> = card.broken().collect();
    broken.sort_by_key(|finding| finding.rank());
    let is_first =
        |finding: &&Finding| finding.severity() == Severity::Error && finding.deliberate.is_none();
    let (first, others): (Vec<&Finding>, Vec<&Finding>) =
        broken.iter().copied().partition(is_first);
    // Limitations and notes are facts; whoever wants their evidence asks for everything.
    let others = others.into_iter();
    let others = others.filter(|one| one.severity().is_defect() || detail == CardDetail::Full);
    let of = |severity| {
        broken
            .iter()
            .filter(move |finding| finding.severity() == severity)
    };
    let limitations = of(Severity::Limitation).map(|finding| {
        let what = finding.evidence().first().map_or("", |first| &first.what);
        context! { what => one_line(what), id => finding.contract.id }
    });
    // Besides a syntax error there is nothing to say: every conversation fails for this reason.
    let error = card.syntax_error.as_ref();
    text!(out, include_str!("report.txt"), {
        name => &card.template,
        setting => setting(card),
        error => error.map(|error| written(|out| syntax_error::write(out, error))).transpose()?,
        tally => tally(card),
        nearest => card.nearest.as_ref().map_or_else(String::new, |one| one_line(&one.in_words())),
        assumed => assumed::in_words("examined", &card.assumed),
        first => written(|out| first.into_iter().try_for_each(|one| write_broken(out, one, extent)))?,
        capabilities => written(|out| write_capabilities(out, &card.capabilities))?,
        about => written(|out| write_about(out, card, width))?,
        others => written(|out| others.into_iter().try_for_each(|one| write_broken(out, one, extent)))?,
        facts => detail != CardDetail::Full,
        limitations => limitations.collect::<Value>(),
        notes => of(Severity::Note).map(|one| one.contract.id).collect::<Vec<_>>(),
        alone => written(|out| write_alone(out, card, width))?,
        served => card.served.as_ref().map(|one| {
            written(|out| served::write(out, card, one, detail == CardDetail::Full, width))
        }).transpose()?.unwrap_or_default(),
    })
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

/// `2 errors, 1 warning, 3 notes; 24 contracts hold, 8 do not apply`
fn tally(card: &Card) -> String {
    let counts = [
        (Severity::Error, BAD, "error", "errors"),
        (Severity::Warning, NOTE, "warning", "warnings"),
        (Severity::Limitation, PLAIN, "limitation", "limitations"),
        (Severity::Note, QUIET, "note", "notes"),
    ];
    let counts = counts
        .into_iter()
        .filter(|(severity, ..)| card.count(*severity) > 0);
    let counts = counts.map(|(severity, style, one, many)| {
        Styled(style, counted(card.count(severity), one, many)).to_string()
    });
    let known = Some(card.explained_count()).filter(|count| *count > 0);
    let known = known.map(|count| format!("{} known", thousands(count)));
    let mut parts: Vec<String> = counts.chain(known).collect();
    if parts.is_empty() {
        parts.push(Styled(GOOD, "nothing broken").to_string());
    }
    let count = |is: fn(&Judgement) -> bool| {
        card.findings
            .iter()
            .filter(|finding| is(&finding.judgement))
            .count()
    };
    let holding = count(|verdict| *verdict == Judgement::Holds);
    let other = count(|verdict| matches!(verdict, Judgement::DoesNotApply(_)));
    let holding = counted(holding, "contract holds", "contracts hold");
    format!(
        "{}; {holding}, {} not apply",
        parts.join(", "),
        counted(other, "does", "do")
    )
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
        let style = match support {
            Support::Unknown { .. } => QUIET,
            other => style::named(style_of_support(other)),
        };
        Some((name, support.name(), style))
    };
    let [mut left, mut right] = [Ability::ROLES, Ability::TOOLS]
        .map(|abilities| abilities.iter().filter_map(shown).collect::<Vec<_>>());
    let date = if capabilities.date { "printed" } else { "no" };
    right.push(("date", date, PLAIN));
    if screen::width() < BESIDE {
        left.append(&mut right);
    }
    let half = |side: &[(&str, &str, Style)], row: usize, width: usize| match side.get(row) {
        Some((name, value, style)) => {
            let gap = width.saturating_sub(NAME + 2 + value.len());
            format!("  {name:NAME$} {}{:gap$}", Styled(*style, value), "")
        }
        None => " ".repeat(width + 1),
    };
    let halves = (0..left.len().max(right.len())).map(|row| {
        let line = half(&left, row, HALF) + &half(&right, row, 0);
        line.trim_end().to_owned()
    });
    let prompt = match &capabilities.generation_prompt {
        GenerationPrompt::Suffix { text } => format!("adds {}", one_line(text)),
        GenerationPrompt::Ignored => "the same with and without it".to_owned(),
        GenerationPrompt::Other => "changes the prompt".to_owned(),
        GenerationPrompt::Unknown { why } => one_line(why),
    };
    let is_lost = matches!(capabilities.reasoning.in_history, Support::Dropped);
    let training = if is_lost {
        "the reasoning of earlier answers is not in the text: whole conversations train them without it"
    } else {
        ""
    };
    let lines = [
        ("generation prompt", prompt),
        (
            "after a result",
            after_result(capabilities).unwrap_or_default(),
        ),
        ("special tokens", capabilities.special_tokens.join(", ")),
        ("variables", capabilities.variables.join(", ")),
        ("reasoning from", reasoning.join(", ")),
        ("training", training.to_owned()),
        (
            "prefix cache",
            capabilities.prefix_cache.in_words().unwrap_or_default(),
        ),
    ];
    let lines = lines
        .into_iter()
        .filter(|(name, value)| !value.is_empty() || *name == "generation prompt");
    text!(out, include_str!("capabilities.txt"), {
        halves => halves.collect::<Value>(),
        lines => lines.map(|(name, value)| vec![name.to_owned(), value]).collect::<Value>(),
        refusals => refusals(capabilities),
    })
}

/// The words of refusals and failures, each with the inputs that cause them.
fn refusals(capabilities: &Capabilities) -> Value {
    let mut words: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for (name, support) in capabilities.supports() {
        let (verb, message) = match support {
            Support::Refused { message } => ("refuses", message),
            Support::Failed { message } => ("fails on", message),
            _ => continue,
        };
        let mut known = words.iter_mut();
        match known.find(|(known, kind, _)| *known == message.as_str() && *kind == verb) {
            Some((_, _, names)) => names.push(name),
            None => words.push((message, verb, vec![name])),
        }
    }
    let words = words.into_iter();
    words
        .map(|(message, verb, names)| context! { verb, names, message => one_line(message) })
        .collect()
}

/// Writes a line for each template.
pub fn write_table(out: &mut dyn Write, cards: &[Card]) -> io::Result<()> {
    let rows = cards.iter().map(|card| {
        let mut broken: Vec<&Finding> = card.unexplained().collect();
        broken.sort_by_key(|finding| finding.rank());
        let counts = Severity::ALL.map(|severity| {
            vec![
                Value::from(style_of_severity(severity)),
                card.count(severity).into(),
            ]
        });
        context! {
            name => &card.template,
            counts => counts.to_vec(),
            broken => broken.iter().map(|finding| finding.contract.id).collect::<Vec<_>>(),
        }
    });
    text!(out, include_str!("cards_table.txt"), {
        cards => rows.collect::<Value>(),
    })
}

/// Writes the last line: how many templates of which suite, if they are of one, how fast, and the
/// result. `others` are wrong besides the cards, and some of them perhaps fail the check.
pub fn write_close(
    out: &mut dyn Write,
    cards: &[Card],
    elapsed: Duration,
    others: &[Diagnostic<'_>],
    do_others_fail: bool,
    origin: Option<&str>,
) -> io::Result<()> {
    let broken = |severity| -> usize { cards.iter().map(|card| card.count(severity)).sum() };
    let (errors, warnings) = (broken(Severity::Error), broken(Severity::Warning));
    let count = |rule| others.iter().filter(|other| other.rule == rule).count();
    let (bases, files) = (count(BASE), count(FILE));
    let of_log = others.iter().filter(|other| log_rule(other.rule).is_some());
    let of_log = of_log.count();
    // No contract says more about a template that cannot be read.
    let mut read = cards.iter().filter(|card| card.syntax_error.is_none());
    text!(out, include_str!("cards_close.txt"), {
        has_help => read.any(|card| card.unexplained().next().is_some()),
        whose => origin.map_or_else(String::new, whose),
        templates => cards.len(),
        seconds => format!("{:.2}", elapsed.as_secs_f64()),
        errors,
        warnings,
        bases,
        files,
        conversations => others.len() - bases - files - of_log,
        of_log,
        known => cards.iter().map(Card::explained_count).sum::<usize>(),
        style => match (errors, warnings + others.len(), do_others_fail) {
            (0, 0, false) => "good",
            (0, _, false) => "note",
            _ => "bad",
        },
    })
}
