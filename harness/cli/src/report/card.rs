//! The report card of a template, for people.

use std::io::{self, Write};

use minijinja::{Value, context};

use super::difference::write_windows;
use super::screen::ENDLESS;
use super::style::{QUIET, Styled};
use super::text::{text, written};
use super::wrapping::wrapped;
use super::{clean, excerpt};
use rolecall_answers::comparison::Verdict;
use rolecall_check::capability::{Ability, Capabilities, GenerationPrompt, Support};
use rolecall_check::card::Card;
use rolecall_check::contract::{Evidence, Finding, Judgement, Render, Severity};
use rolecall_check::probe::LiteralKind;
use rolecall_check::probe::spaced;
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct FindingStyle<'s> {
    pub(crate) detail: CardDetail,
    pub(crate) width: usize,
    /// The words after `rolecall show` that name the template, if readers may want to see its
    /// prompts.
    pub(crate) shown_as: Option<&'s str>,
}

impl FindingStyle<'_> {
    /// Lines of any width, without advice.
    pub(crate) fn whole(detail: CardDetail) -> FindingStyle<'static> {
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
pub(crate) const ALONE: &str =
    "broken on servers that pass conversations to the template unchanged";

/// Writes a card: first the broken contracts, then those that hold, then what the template can do.
pub fn write(out: &mut dyn Write, card: &Card, detail: CardDetail) -> io::Result<()> {
    let extent = FindingStyle::whole(detail);
    let mut broken: Vec<&Finding> = card.broken().collect();
    broken.sort_by_key(|finding| finding.rank());
    let mut before = None;
    let inapplicable = card.findings.iter().filter_map(|finding| {
        let Judgement::DoesNotApply(why) = &finding.judgement else {
            return None;
        };
        // Contracts with the same reason are together, and need it once.
        let is_same = before.replace(why) == Some(why);
        let why = if is_same {
            "likewise".to_owned()
        } else {
            one_line(why)
        };
        Some(vec![finding.contract.id.to_owned(), why])
    });
    let holding = card
        .findings
        .iter()
        .filter(|one| one.judgement == Judgement::Holds);
    let abilities = Ability::all().filter_map(|ability| {
        let support = ability.of(&card.capabilities)?;
        Some(context! {
            name => ability.long,
            word => support.name(),
            style => style_of_support(support),
            reason => support.reason().map(one_line),
        })
    });
    let error = card.syntax_error.as_ref();
    text!(out, include_str!("card.txt"), {
        name => &card.template,
        setting => setting(card),
        error => error.map(|error| format!("{}: {}", error.place, one_line(&error.message))),
        broken => written(|out| {
            broken.iter().try_for_each(|finding| write_broken(out, finding, extent))?;
            write_alone(out, card, ENDLESS)
        })?,
        holding => holding.map(|one| one.contract.id).collect::<Value>(),
        inapplicable => inapplicable.collect::<Vec<_>>(),
        abilities => abilities.collect::<Value>(),
        facts => facts(&card.capabilities),
        about => written(|out| write_about(out, card, ENDLESS))?,
    })
}

/// The style of what becomes of an input.
pub(crate) fn style_of_support(support: &Support) -> &'static str {
    match support {
        Support::Kept | Support::Merged => "good",
        Support::Partial | Support::Dropped => "bad",
        Support::Refused { .. } | Support::Unknown { .. } => "plain",
        Support::Failed { .. } => "note",
    }
}

/// What the generation prompt is after a tool's result, in words, if it is another one there.
pub(crate) fn after_result(capabilities: &Capabilities) -> Option<String> {
    let added = capabilities.after_result.as_deref()?;
    Some(match added {
        "" => "adds nothing".to_owned(),
        text => format!("adds {}", one_line(text)),
    })
}

/// What else a template does, each with its name.
fn facts(capabilities: &Capabilities) -> Vec<Vec<String>> {
    let list = |items: String| {
        if items.is_empty() {
            "none".to_owned()
        } else {
            items
        }
    };
    let prompt = match &capabilities.generation_prompt {
        GenerationPrompt::Suffix { text } => format!("adds {}", one_line(text)),
        GenerationPrompt::Ignored => "the same with and without it".to_owned(),
        GenerationPrompt::Other => "changes the prompt".to_owned(),
        GenerationPrompt::Unknown { why } => format!("unknown: {}", one_line(why)),
    };
    let date = if capabilities.date {
        "in the prompt"
    } else {
        "not in the prompt"
    };
    let facts = [
        ("generation prompt", prompt),
        (
            "reasoning from",
            list(capabilities.reasoning.fields.join(", ")),
        ),
        ("date", date.to_owned()),
        (
            "special tokens read",
            list(capabilities.special_tokens.join(", ")),
        ),
        ("variables read", list(capabilities.variables.join(", "))),
    ];
    let cache = capabilities.prefix_cache.in_words();
    let cache = cache.map(|words| ("prefix cache", words));
    let after_result = after_result(capabilities);
    let after_result = after_result.map(|words| ("after a result", words));
    let facts = facts.into_iter().chain(after_result).chain(cache);
    facts
        .map(|(name, value)| vec![name.to_owned(), value])
        .collect()
}

/// Writes the variables that users may set, each value with what it changes, then what content
/// decides, and how answers are parsed.
pub(crate) fn write_about(out: &mut dyn Write, card: &Card, width: usize) -> io::Result<()> {
    let switches = card.capabilities.switches.iter().map(|switch| {
        let values = switch.values.iter().map(|one| {
            context! { value => spaced(&one.value), effect => one_line(&one.effect), probe => one.probe }
        });
        let default = switch.default.as_ref().map(spaced);
        let default = default.map(|value| format!(" (as {value} if it is not set)"));
        context! {
            name => &switch.name,
            default => default.unwrap_or_default(),
            values => values.collect::<Value>(),
        }
    });
    let (empty, literals): (Vec<_>, Vec<_>) = card
        .content_decides
        .iter()
        .partition(|one| one.kind == LiteralKind::Empty);
    let literals = literals.into_iter().map(|one| {
        context! {
            line => one.line,
            operation => &one.operation,
            literal => one_line(&one.literal),
            kind => one.kind.name(),
            of => one.of.join(" and "),
            changes => one.changes_prompt,
        }
    });
    let answers = Verdict::ALL.into_iter().filter_map(|verdict| {
        let of_verdict = card
            .read_back
            .iter()
            .filter(|it| it.verdict == verdict.name());
        let about: Vec<&str> = of_verdict.map(|answer| answer.about).collect();
        let style = match verdict {
            Verdict::ReadBack => "good",
            Verdict::Changed | Verdict::Failed => "bad",
            _ => "note",
        };
        // Only what does not come back has to be named.
        let is_whole = verdict == Verdict::ReadBack;
        (!about.is_empty()).then(|| context! { name => verdict.name(), style, is_whole, about })
    });
    text!(out, include_str!("card_about.txt"), {
        width,
        switches => switches.collect::<Value>(),
        literals => literals.collect::<Value>(),
        empty => empty.iter().map(|one| one.line).collect::<Value>(),
        answers => answers.collect::<Value>(),
    })
}

/// Writes the contracts that are broken only if no application prepares the conversation.
pub(crate) fn write_alone(out: &mut dyn Write, card: &Card, width: usize) -> io::Result<()> {
    let findings = card.without_front.iter().map(|finding| {
        let what = finding.evidence().first().map_or("", |first| &first.what);
        context! { id => finding.contract.id, what => one_line(what), known => finding.deliberate.as_deref() }
    });
    text!(out, include_str!("card_alone.txt"), {
        width,
        heading => ALONE,
        findings => findings.collect::<Value>(),
    })
}

/// The setting of the card: the dialect, the front and the engine.
pub(crate) fn setting(card: &Card) -> String {
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
pub(crate) fn write_broken(
    out: &mut dyn Write,
    finding: &Finding,
    extent: FindingStyle<'_>,
) -> io::Result<()> {
    let FindingStyle {
        detail,
        width,
        shown_as,
    } = extent;
    let severity = finding.severity();
    let reported = match detail {
        CardDetail::Marked => MOST_REPORTED,
        CardDetail::Brief | CardDetail::Full => usize::MAX,
    };
    let causes = finding.causes();
    let evidence = causes.iter().take(reported).enumerate();
    let evidence: io::Result<Vec<Value>> = evidence
        .map(|(nth, cause)| {
            let evidence = cause[0];
            let what = one_line(&evidence.what);
            // Evidence of a failure begins with its line.
            let is_reported = |line: &usize| what.contains(&format!("line {line}: "));
            let line = evidence.line().filter(|line| !is_reported(line));
            let rank = evidence.severity.filter(|other| *other != severity);
            let shown = written(|out| match detail {
                CardDetail::Marked if nth == 0 => excerpt::write(out, evidence, "    ", width),
                CardDetail::Brief | CardDetail::Marked => Ok(()),
                CardDetail::Full => write_renders(out, evidence, width),
            })?;
            Ok(context! {
                rank => rank.map_or_else(String::new, |other| format!("{other}: ")),
                place => place(evidence),
                line => line.filter(|_| detail != CardDetail::Brief),
                because => evidence.because.as_deref().map(one_line),
                also => also(&cause[1..], detail),
                what,
                shown,
            })
        })
        .collect();
    let first = finding
        .evidence()
        .first()
        .filter(|_| detail == CardDetail::Full);
    let shown_as = shown_as.zip(first).map(|(name, first)| {
        let probe = first.renders.last().map_or("", |render| render.probe);
        format!("show {name} probe/{probe}")
    });
    text!(out, include_str!("finding.txt"), {
        width,
        severity => severity.name(),
        style => style_of(severity),
        id => finding.contract.id,
        meaning => finding.contract.meaning,
        guards_against => finding.contract.guards_against,
        known => finding.deliberate.as_deref(),
        evidence => evidence?,
        more => causes.len().saturating_sub(reported),
        shown_as,
    })
}

/// Where else the same is so, for the same cause.
fn also(others: &[&Evidence], detail: CardDetail) -> Option<String> {
    const MOST_PLACES: usize = 2;
    let places: Vec<String> = others.iter().map(|one| one_line(&one.place())).collect();
    match (places.len(), detail) {
        (0, _) => None,
        (count, CardDetail::Marked) if count > MOST_PLACES => {
            let first = places[..MOST_PLACES].join("; ");
            Some(format!("{first}; and {} more", count - MOST_PLACES))
        }
        _ => Some(places.join("; ")),
    }
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

/// The name of a severity's style.
pub(crate) fn style_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "bad",
        Severity::Warning => "note",
        Severity::Limitation | Severity::Note => "plain",
    }
}

/// Writes a probe's conversation, one message on a line.
pub(crate) fn write_asked(
    out: &mut dyn Write,
    render: &Render,
    indent: usize,
    width: usize,
) -> io::Result<()> {
    let mut line = |text: String, hang: usize| {
        let text = Styled(QUIET, format!("{:indent$}{text}", "")).to_string();
        writeln!(out, "{}", wrapped(&text, width, indent + hang))
    };
    line(format!("{}: {}", render.probe, render.about), 2)?;
    let messages = render.conversation["messages"].as_array();
    let mut messages = messages.into_iter().flatten();
    messages.try_for_each(|message| line(format!("  {}", one_line(&spaced(message))), 4))
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

/// A text on one line, with every character visible.
pub(crate) fn one_line(text: &str) -> String {
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
        let cost = "computed again after each turn (";
        assert!(
            full.contains(cost) && full.contains(&format!(" bytes)\n{asked}")),
            "{full}"
        );
        assert!(full.contains(diff), "{full}");
        assert!(!brief.contains(diff));
    }
}
