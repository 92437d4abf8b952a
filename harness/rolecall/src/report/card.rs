//! The report card of a template, to read.

use std::io::{self, Write};

use anstyle::Style;

use super::difference::write_windows;
use super::excerpt;
use super::numbers::thousands;
use super::screen::ENDLESS;
use super::style::{BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use super::wrapping::{wrapped, wrapped_command};
use crate::capability::{Capabilities, GenerationPrompt, Support};
use crate::card::Card;
use crate::contract::{Evidence, Finding, Judgement, Render, Severity};
use crate::front::Front;
use crate::invocation;
use crate::probe::spaced;
use crate::transcript::{self, encode_char};

/// How much a card tells about what is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// A line for each piece of evidence.
    Brief,
    /// Of the first few pieces, and below the worst the place in the prompt, where one is known.
    Marked,
    /// What was asked, too, and the prompt or what differs.
    Full,
}

/// How what is broken is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent<'s> {
    /// How much of it.
    pub(super) detail: Detail,
    /// How wide its lines are.
    pub(super) width: usize,
    /// The words after `rolecall show` that name the template, where someone may want to look at
    /// its prompts.
    pub(super) shown_as: Option<&'s str>,
}

impl Extent<'_> {
    /// In lines without an end, and without advice.
    pub(super) fn whole(detail: Detail) -> Extent<'static> {
        Extent {
            detail,
            width: ENDLESS,
            shown_as: None,
        }
    }
}

/// Pieces of evidence that are read at once: a template that loses messages does so in twenty
/// conversations.
const MOST_TOLD: usize = 4;

/// Above contracts that only the template alone breaks.
pub(super) const ALONE: &str = "broken on servers that hand conversations on as they are written";

/// The width of the first column.
const NAME: usize = 26;

/// Writes a card: what is broken first, then what holds, then what the template can do.
pub fn write(out: &mut dyn Write, card: &Card, detail: Detail) -> io::Result<()> {
    writeln!(
        out,
        "{} {}",
        Styled(HEADING, &card.template),
        Styled(QUIET, format!("({})", setting(card)))
    )?;
    if let Some(error) = &card.syntax_error {
        return writeln!(out, "\nerror {}: {}", error.place, one_line(&error.message));
    }
    for severity in Severity::ALL {
        for finding in card.broken() {
            if finding.severity() == severity {
                write_broken(out, finding, Extent::whole(detail))?;
            }
        }
    }
    write_alone(out, card, ENDLESS)?;
    write_rest(out, card)?;
    write_capabilities(out, &card.capabilities)
}

/// Writes what is broken only where no application stands before the template.
pub(super) fn write_alone(out: &mut dyn Write, card: &Card, width: usize) -> io::Result<()> {
    if card.alone.is_empty() {
        return Ok(());
    }
    let heading = Styled(NOTE, ALONE).to_string();
    writeln!(out, "\n{}", wrapped(&heading, width, 2))?;
    for finding in &card.alone {
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

/// What was asked: the dialect, the front and the engine.
pub(super) fn setting(card: &Card) -> String {
    let Card {
        dialect,
        front,
        engine,
        ..
    } = card;
    match front {
        Front::Raw => format!("{dialect} alone, {engine}"),
        front => format!("{dialect} behind {front}, {engine}"),
    }
}

/// A card as it is accepted: in brief, without colours, without a line break at the end.
pub fn plain(card: &Card) -> io::Result<String> {
    let mut text = Vec::new();
    write(&mut text, card, Detail::Brief)?;
    let text = anstream::adapter::strip_bytes(&text).into_vec();
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    Ok(text.trim_end().to_owned())
}

/// Writes a broken contract with what shows it.
pub(super) fn write_broken(
    out: &mut dyn Write,
    finding: &Finding,
    extent: Extent<'_>,
) -> io::Result<()> {
    let Extent { detail, width, .. } = extent;
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
    paragraph(quiet(format!("or else: {}", contract.guards_against)))?;
    if let Some(why) = &finding.deliberate {
        paragraph(format!("  {} {why}", Styled(GOOD, "known:")))?;
    }
    let told = match detail {
        Detail::Marked => MOST_TOLD,
        Detail::Brief | Detail::Full => usize::MAX,
    };
    for (nth, evidence) in finding.evidence().iter().take(told).enumerate() {
        let what = one_line(&evidence.what);
        let place = match place(evidence) {
            place if place.is_empty() => String::new(),
            place => format!(" {}", Styled(QUIET, format!("[{place}]"))),
        };
        let rank = match evidence.severity {
            Some(other) if other != severity => format!("{other}: "),
            _ => String::new(),
        };
        let text = format!("  - {rank}{what}{place}");
        writeln!(out, "{}", wrapped(&text, width, 4))?;
        match detail {
            Detail::Marked if nth == 0 => excerpt::write(out, evidence, "    ", width)?,
            Detail::Brief | Detail::Marked => {}
            Detail::Full => write_renders(out, evidence, width)?,
        }
    }
    let more = finding.evidence().len().saturating_sub(told);
    if more > 0 {
        let text = quiet(format!("… and {} more: --all shows them", thousands(more)));
        writeln!(out, "{}", wrapped(&text, width, 4))?;
    }
    let first = finding.evidence().first();
    if let (Detail::Full, Some(name), Some(first)) = (detail, extent.shown_as, first) {
        let render = first.renders.last();
        let probe = render.map_or("", |render| render.probe);
        let command = invocation::command(&format!("show {name} probe/{probe}"));
        writeln!(out, "{}", Styled(QUIET, "  to see it in whole:"))?;
        writeln!(out, "{}", wrapped_command(&command, width, 4))?;
    }
    Ok(())
}

/// Writes what the probes of a piece of evidence ask, and what shows it: the difference, the place
/// in the prompt, or where something is missing there all of the prompt.
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

/// The style of what is as bad as this.
pub(super) fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::Error => BAD,
        Severity::Warning => NOTE,
        Severity::Limitation | Severity::Note => PLAIN,
    }
}

/// Writes what a probe asks, a message a line.
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

/// Which probes show it, and where their prompts part; empty where the source does.
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
    for finding in &card.findings {
        if let Judgement::DoesNotApply(why) = &finding.judgement {
            if let Some(heading) = heading.take() {
                writeln!(out, "\n{}", Styled(QUIET, heading))?;
            }
            writeln!(out, "  {:NAME$} {}", finding.contract.id, one_line(why))?;
        }
    }
    Ok(())
}

fn write_capabilities(out: &mut dyn Write, capabilities: &Capabilities) -> io::Result<()> {
    writeln!(out, "\n{}", Styled(HEADING, "capabilities"))?;
    let Capabilities {
        roles,
        tool_calls,
        tool_results,
        ..
    } = capabilities;
    let mut rows = vec![
        ("a question".to_owned(), &capabilities.question),
        ("system".to_owned(), &roles.system.leading),
        ("system, alone".to_owned(), &roles.system.alone),
        ("system, two".to_owned(), &roles.system.two),
        ("system, later on".to_owned(), &roles.system.late),
        ("developer".to_owned(), &roles.developer),
        ("an unknown role".to_owned(), &roles.unknown),
        ("two users in a row".to_owned(), &roles.consecutive_users),
        (
            "two assistants in a row".to_owned(),
            &roles.consecutive_assistants,
        ),
        ("the assistant first".to_owned(), &roles.assistant_first),
    ];
    for role in ["user", "assistant", "system", "tool"] {
        if let Some(support) = capabilities.typed_content.get(role) {
            rows.push((format!("text parts, {role}"), support));
        }
    }
    rows.extend(
        [
            ("tools", &capabilities.tools),
            ("tool call", &tool_calls.single),
            ("arguments, object", &tool_calls.object_arguments),
            ("arguments, JSON text", &tool_calls.string_arguments),
            ("parallel calls", &tool_calls.parallel),
            ("tool result", &tool_results.single),
            ("result without ID", &tool_results.without_id),
            ("result without name", &tool_results.without_name),
            ("result with a long ID", &tool_results.long_id),
            ("reasoning in history", &capabilities.reasoning.in_history),
            ("documents", &capabilities.documents),
            ("continued answer", &capabilities.continue_final_message),
        ]
        .map(|(name, support)| (name.to_owned(), support)),
    );
    for (name, support) in rows {
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
    use rolecall_jinja::Minijinja;
    use rolecall_model::{Dialect, Template};

    #[test]
    fn the_full_card_shows_what_differs() {
        let source = "{% for m in messages %}{{ loop.last }}{{ m.content }}\n{% endfor %}";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let card = crate::card::examine(&Minijinja::new(), &template);
        let written = |detail| {
            let mut out = Vec::new();
            write(&mut out, &card, detail).unwrap();
            anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
        };
        let (brief, full) = (written(Detail::Brief), written(Detail::Full));
        let line = "  - what was written before changes when the conversation goes on \
            [user-assistant, user-assistant-user-closed, byte 14]\n";
        assert!(brief.contains(line), "{brief}");
        let diff = "    first difference at byte 14, line 2, column 1: expected `T`, found `F`\n";
        let asked = "    user-assistant: a question and its answer\n      \
            {\"role\": \"user\", \"content\": \"askquill\"}\n";
        assert!(full.contains(&format!("{line}{asked}")), "{full}");
        assert!(full.contains(diff), "{full}");
        assert!(!brief.contains(diff));
    }
}
