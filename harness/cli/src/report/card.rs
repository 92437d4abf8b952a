//! The report card of a template, for people.

use std::io::{self, Write};

use anstyle::Style;

use super::clean;
use super::difference::write_windows;
use super::excerpt;
use super::numbers::thousands;
use super::screen::ENDLESS;
use super::style::{BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use super::wrapping::{wrapped, wrapped_command};
use rolecall_answers::comparison::Verdict;
use rolecall_check::capability::{
    Ability, Capabilities, GenerationPrompt, Support, Switch, SwitchValue,
};
use rolecall_check::card::Card;
use rolecall_check::contract::{Evidence, Finding, Judgement, Render, Severity};
use rolecall_check::probe::spaced;
use rolecall_check::probe::{ContentComparison, LiteralKind};
use rolecall_check::roundtrip::Roundtrip;
use rolecall_core::invocation;
use rolecall_core::transcript::{self, encode_char};
use rolecall_front::front::Front;

/// How much a card says about broken contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardDetail {
    /// A line for each piece of evidence.
    Brief,
    /// The first few pieces of evidence, and below the worst one its place in the prompt, if it is
    /// known.
    Marked,
    /// Also the conversation, and the prompt or the difference.
    Full,
}

/// How to write findings.
#[derive(Debug, Clone, Copy)]
pub(super) struct FindingStyle<'s> {
    /// How much to write.
    pub(super) detail: CardDetail,
    pub(super) width: usize,
    /// The words after `rolecall show` that name the template, if readers may want to see its
    /// prompts.
    pub(super) shown_as: Option<&'s str>,
}

impl FindingStyle<'_> {
    /// Lines of any width, without advice.
    pub(super) fn whole(detail: CardDetail) -> FindingStyle<'static> {
        FindingStyle {
            detail,
            width: ENDLESS,
            shown_as: None,
        }
    }
}

/// How many pieces of evidence to show at once: a template that loses messages loses them in twenty
/// conversations.
const MOST_REPORTED: usize = 4;

/// The heading for contracts that only the template without its application breaks.
pub(super) const ALONE: &str =
    "broken on servers that pass conversations to the template unchanged";

/// The width of the first column.
const NAME: usize = 26;

/// Writes a card: first the broken contracts, then those that hold, then what the template can do.
pub fn write(out: &mut dyn Write, card: &Card, detail: CardDetail) -> io::Result<()> {
    writeln!(
        out,
        "{} {}",
        Styled(HEADING, &card.template),
        Styled(QUIET, setting(card))
    )?;
    if let Some(error) = &card.syntax_error {
        return writeln!(out, "\nerror {}: {}", error.place, one_line(&error.message));
    }
    for severity in Severity::ALL {
        for finding in card.broken() {
            if finding.severity() == severity {
                write_broken(out, finding, FindingStyle::whole(detail))?;
            }
        }
    }
    write_alone(out, card, ENDLESS)?;
    write_rest(out, card)?;
    write_capabilities(out, &card.capabilities)?;
    write_switches(out, &card.capabilities.switches, ENDLESS)?;
    write_content_decides(out, &card.content_decides, ENDLESS)?;
    write_roundtrip(out, &card.read_back, ENDLESS)
}

/// Writes what content decides: the literals by their lines, and where the template asks whether
/// there is a text.
pub(super) fn write_content_decides(
    out: &mut dyn Write,
    comparisons: &[ContentComparison],
    width: usize,
) -> io::Result<()> {
    if comparisons.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", Styled(HEADING, "what content decides"))?;
    let (empty, others): (Vec<_>, Vec<_>) = comparisons
        .iter()
        .partition(|one| one.kind == LiteralKind::Empty);
    for one in others {
        let effect = if one.changes_prompt {
            ", changes other text"
        } else {
            ""
        };
        let about = format!("{}, of {}{effect}", one.kind.name(), one.of.join(" and "));
        let text = format!(
            "  line {}: {} `{}` {}",
            one.line,
            one.operation,
            one_line(&one.literal),
            Styled(QUIET, format!("({about})"))
        );
        writeln!(out, "{}", wrapped(&text, width, 4))?;
    }
    if !empty.is_empty() {
        let lines: Vec<String> = empty.iter().map(|one| one.line.to_string()).collect();
        let text = format!("  whether there is a text: line {}", lines.join(", "));
        writeln!(out, "{}", wrapped(&text, width, 4))?;
    }
    Ok(())
}

/// Writes how answers are parsed: each verdict with the answers that have it.
pub(super) fn write_roundtrip(
    out: &mut dyn Write,
    answers: &[Roundtrip],
    width: usize,
) -> io::Result<()> {
    if answers.is_empty() {
        return Ok(());
    }
    let heading = Styled(HEADING, "answers, read with the response template");
    writeln!(out, "\n{heading}")?;
    for verdict in Verdict::ALL {
        let of_verdict = answers.iter().filter(|it| it.verdict == verdict.name());
        let about: Vec<&str> = of_verdict.map(|answer| answer.about).collect();
        if about.is_empty() {
            continue;
        }
        let style = match verdict {
            Verdict::ReadBack => GOOD,
            Verdict::Changed | Verdict::Failed => BAD,
            _ => NOTE,
        };
        let name = Styled(style, verdict.name());
        let text = match verdict {
            // Only what does not come back has to be named.
            Verdict::ReadBack => format!("  {name}: {}", about.len()),
            _ => format!("  {name}: {} ({})", about.len(), about.join("; ")),
        };
        writeln!(out, "{}", wrapped(&text, width, 4))?;
    }
    Ok(())
}

/// Writes the variables that users may set: each value with what it changes.
pub(super) fn write_switches(
    out: &mut dyn Write,
    switches: &[Switch],
    width: usize,
) -> io::Result<()> {
    if switches.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", Styled(HEADING, "switches"))?;
    for switch in switches {
        let default = switch.default.as_ref().map_or_else(String::new, |value| {
            format!(" (as {} if it is not set)", spaced(value))
        });
        let text = format!("  {}{}", switch.name, Styled(QUIET, default));
        writeln!(out, "{}", wrapped(&text, width, 4))?;
        for SwitchValue {
            value,
            effect,
            probe,
            ..
        } in &switch.values
        {
            let probe = Styled(QUIET, format!("[{probe}]"));
            let text = format!("    {}: {} {probe}", spaced(value), one_line(effect));
            writeln!(out, "{}", wrapped(&text, width, 6))?;
        }
    }
    Ok(())
}

/// Writes the contracts that are broken only if no application prepares the conversation.
pub(super) fn write_alone(out: &mut dyn Write, card: &Card, width: usize) -> io::Result<()> {
    if card.without_front.is_empty() {
        return Ok(());
    }
    let heading = Styled(NOTE, ALONE).to_string();
    writeln!(out, "\n{}", wrapped(&heading, width, 2))?;
    for finding in &card.without_front {
        let what = finding.evidence().first().map_or("", |first| &first.what);
        let text = format!("  {:NAME$} {}", finding.contract.id, one_line(what));
        writeln!(out, "{}", wrapped(&text, width, NAME + 3))?;
        if let Some(why) = &finding.deliberate {
            let text = format!("  {:NAME$} {} {why}", "", Styled(GOOD, "known:"));
            writeln!(out, "{}", wrapped(&text, width, NAME + 3))?;
        }
    }
    Ok(())
}

/// The setting of the card: the dialect, the front and the engine.
pub(super) fn setting(card: &Card) -> String {
    let Card {
        dialect,
        front,
        engine,
        ..
    } = card;
    match front {
        Front::Raw => format!("({dialect}), no front, engine {engine}"),
        front => format!("({dialect}), front {front}, engine {engine}"),
    }
}

/// A card in its accepted form: in brief, without colours, without a line break at the end.
pub fn plain(card: &Card) -> io::Result<String> {
    let mut text = Vec::new();
    write(&mut text, card, CardDetail::Brief)?;
    Ok(clean::plain(&text).trim_end().to_owned())
}

/// Writes a broken contract with its evidence.
pub(super) fn write_broken(
    out: &mut dyn Write,
    finding: &Finding,
    extent: FindingStyle<'_>,
) -> io::Result<()> {
    let FindingStyle { detail, width, .. } = extent;
    let mut paragraph = |text: String| writeln!(out, "{}", wrapped(&text, width, 4));
    let contract = finding.contract;
    let severity = finding.severity();
    let style = style_of(severity);
    let quiet = |text: String| format!("  {}", Styled(QUIET, text));
    paragraph(format!(
        "\n{:7} {}",
        Styled(style, severity.name()),
        Styled(HEADING, contract.id),
    ))?;
    paragraph(quiet(format!("should be: {}", contract.meaning)))?;
    paragraph(quiet(format!(
        "guards against: {}",
        contract.guards_against
    )))?;
    if let Some(why) = &finding.deliberate {
        paragraph(format!("  {} {why}", Styled(GOOD, "known:")))?;
    }
    let reported = match detail {
        CardDetail::Marked => MOST_REPORTED,
        CardDetail::Brief | CardDetail::Full => usize::MAX,
    };
    for (nth, evidence) in finding.evidence().iter().take(reported).enumerate() {
        let what = one_line(&evidence.what);
        let place = match place(evidence) {
            place if place.is_empty() => String::new(),
            place => format!(" {}", Styled(QUIET, format!("[{place}]"))),
        };
        // Evidence of a failure begins with its line.
        let is_reported = |line: &usize| what.contains(&format!("line {line}: "));
        let line = evidence.line().filter(|line| !is_reported(line));
        let place = match line.filter(|_| detail != CardDetail::Brief) {
            Some(line) => format!("{place} {}", Styled(QUIET, format!("(line {line})"))),
            None => place,
        };
        let rank = match evidence.severity {
            Some(other) if other != severity => format!("{other}: "),
            _ => String::new(),
        };
        let text = format!("  - {rank}{what}{place}");
        writeln!(out, "{}", wrapped(&text, width, 4))?;
        if let Some(because) = &evidence.because {
            let text = format!(
                "    {}",
                Styled(QUIET, format!("why: {}", one_line(because)))
            );
            writeln!(out, "{}", wrapped(&text, width, 6))?;
        }
        match detail {
            CardDetail::Marked if nth == 0 => excerpt::write(out, evidence, "    ", width)?,
            CardDetail::Brief | CardDetail::Marked => {}
            CardDetail::Full => write_renders(out, evidence, width)?,
        }
    }
    let more = finding.evidence().len().saturating_sub(reported);
    if more > 0 {
        let text = quiet(format!("… and {} more: --all shows them", thousands(more)));
        writeln!(out, "{}", wrapped(&text, width, 4))?;
    }
    let first = finding.evidence().first();
    if let (CardDetail::Full, Some(name), Some(first)) = (detail, extent.shown_as, first) {
        let render = first.renders.last();
        let probe = render.map_or("", |render| render.probe);
        let command = invocation::command(&format!("show {name} probe/{probe}"));
        writeln!(out, "{}", Styled(QUIET, "  to see it in whole:"))?;
        writeln!(out, "{}", wrapped_command(&command, width, 4))?;
    }
    Ok(())
}

/// Writes the conversations of a piece of evidence and what proves it: the difference, the place in
/// the prompt, or the whole prompt if something is missing there.
fn write_renders(out: &mut dyn Write, evidence: &Evidence, width: usize) -> io::Result<()> {
    for render in &evidence.renders {
        write_asked(out, render, 4, width)?;
    }
    if let Some(diff) = evidence.diff() {
        return write_windows(out, &diff, "    ", width);
    }
    if evidence.at.is_some() {
        return excerpt::write(out, evidence, "    ", width);
    }
    for render in &evidence.renders {
        for line in transcript::encode(&render.outcome).lines() {
            writeln!(out, "{}", wrapped(&format!("      {line}"), width, 6))?;
        }
    }
    Ok(())
}

pub(super) fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::Error => BAD,
        Severity::Warning => NOTE,
        Severity::Limitation | Severity::Note => PLAIN,
    }
}

/// Writes a probe's conversation, one message on a line.
pub(super) fn write_asked(
    out: &mut dyn Write,
    render: &Render,
    indent: usize,
    width: usize,
) -> io::Result<()> {
    let heading = format!("{:indent$}{}: {}", "", render.probe, render.about);
    writeln!(
        out,
        "{}",
        wrapped(&Styled(QUIET, heading).to_string(), width, indent + 2)
    )?;
    let list = |name: &str| {
        render.conversation[name]
            .as_array()
            .map_or(&[][..], Vec::as_slice)
    };
    for message in list("messages") {
        let line = format!("{:indent$}  {}", "", one_line(&spaced(message)));
        writeln!(
            out,
            "{}",
            wrapped(&Styled(QUIET, line).to_string(), width, indent + 4)
        )?;
    }
    Ok(())
}

/// The probes that give the evidence, and where their prompts differ first; empty if the evidence
/// is in the source.
fn place(evidence: &Evidence) -> String {
    let probes: Vec<_> = evidence.renders.iter().map(|render| render.probe).collect();
    let probes = probes.join(", ");
    match evidence.parts_at {
        Some(at) => format!("{probes}, byte {at}"),
        None => probes,
    }
}

fn write_rest(out: &mut dyn Write, card: &Card) -> io::Result<()> {
    let holding: Vec<_> = card
        .findings
        .iter()
        .filter(|finding| finding.judgement == Judgement::Holds)
        .map(|finding| finding.contract.id)
        .collect();
    if !holding.is_empty() {
        writeln!(out, "\n{}", Styled(GOOD, "holds"))?;
        for id in holding {
            writeln!(out, "  {id}")?;
        }
    }
    let mut heading = Some("does not apply");
    let mut before: Option<&str> = None;
    for finding in &card.findings {
        if let Judgement::DoesNotApply(why) = &finding.judgement {
            if let Some(heading) = heading.take() {
                writeln!(out, "\n{}", Styled(QUIET, heading))?;
            }
            // Contracts with the same reason are together, and need it once.
            let reason = if before == Some(why) {
                "likewise".to_owned()
            } else {
                one_line(why)
            };
            writeln!(out, "  {:NAME$} {reason}", finding.contract.id)?;
            before = Some(why);
        }
    }
    Ok(())
}

fn write_capabilities(out: &mut dyn Write, capabilities: &Capabilities) -> io::Result<()> {
    writeln!(out, "\n{}", Styled(HEADING, "capabilities"))?;
    for ability in Ability::all() {
        let Some(support) = ability.of(capabilities) else {
            continue;
        };
        let name = ability.long;
        let style = match support {
            Support::Kept | Support::Merged => GOOD,
            Support::Partial | Support::Dropped => BAD,
            Support::Refused { .. } | Support::Unknown { .. } => PLAIN,
            Support::Failed { .. } => NOTE,
        };
        let word = Styled(style, support.name());
        match support.reason() {
            Some(reason) => writeln!(out, "  {name:NAME$} {word}: {}", one_line(reason))?,
            None => writeln!(out, "  {name:NAME$} {word}")?,
        }
    }
    let list = |items: Vec<&str>| {
        if items.is_empty() {
            "none".to_owned()
        } else {
            items.join(", ")
        }
    };
    let strings = |items: &[String]| list(items.iter().map(String::as_str).collect());
    let prompt = match &capabilities.generation_prompt {
        GenerationPrompt::Suffix { text } => format!("adds {}", one_line(text)),
        GenerationPrompt::Ignored => "ignored".to_owned(),
        GenerationPrompt::Other => "changes the prompt".to_owned(),
        GenerationPrompt::Unknown { why } => format!("unknown: {}", one_line(why)),
    };
    let date = if capabilities.date {
        "in the prompt"
    } else {
        "not in the prompt"
    };
    for (name, value) in [
        ("generation prompt", prompt),
        (
            "reasoning from",
            list(capabilities.reasoning.fields.clone()),
        ),
        ("date", date.to_owned()),
        ("special tokens read", strings(&capabilities.special_tokens)),
        ("variables read", strings(&capabilities.variables)),
    ] {
        writeln!(out, "  {name:NAME$} {value}")?;
    }
    Ok(())
}

/// A text on one line, with every character visible.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        encode_char(c, &mut line);
    }
    line.replace('\n', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::{Dialect, Template};
    use rolecall_jinja::JinjaEngine;

    #[test]
    fn the_full_card_shows_what_differs() {
        let source = "{% for m in messages %}{{ loop.last }}{{ m.content }}\n{% endfor %}";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let card = rolecall_check::card::examine(&JinjaEngine::new(), &template);
        let written = |detail| {
            let mut out = Vec::new();
            write(&mut out, &card, detail).unwrap();
            anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
        };
        let (brief, full) = (written(CardDetail::Brief), written(CardDetail::Full));
        let line = "  - what was written before changes when the conversation goes on \
            [user-assistant, user-assistant-user-closed, byte 14]\n";
        assert!(brief.contains(line), "{brief}");
        let diff = "    first difference at byte 14, line 2, column 1: expected `T`, found `F`\n";
        let asked = "    user-assistant: a question and its answer\n      \
            {\"role\": \"user\", \"content\": \"askquill\"}\n";
        let why = "    why: what is printed near line 1 gives another text; ";
        assert!(full.contains(&format!("{line}{why}")), "{full}");
        assert!(full.contains(&format!("computed again\n{asked}")), "{full}");
        assert!(full.contains(diff), "{full}");
        assert!(!brief.contains(diff));
    }
}
