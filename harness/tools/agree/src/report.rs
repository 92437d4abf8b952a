//! Writes the results of a campaign for a terminal.

use std::io::{self, Write};

use rolecall_agree::campaign::{CampaignExample, CampaignTally, CauseGroup};
use rolecall_core::transcript;
use rolecall_core::{Case, Outcome};
use serde_json::json;

/// The two sides of a campaign.
pub(crate) struct Parties {
    pub(crate) engine: String,
    pub(crate) reference: String,
    /// The command that repeats the campaign.
    pub(crate) again: String,
}

pub(crate) fn write(
    out: &mut dyn Write,
    parties: &Parties,
    tally: &CampaignTally,
) -> io::Result<()> {
    let mut causes: Vec<&CauseGroup> = tally.causes.values().collect();
    causes.sort_by_key(|group| std::cmp::Reverse(group.count));
    for (at, group) in causes.iter().enumerate() {
        cause(out, at + 1, parties, group)?;
    }
    writeln!(out, "{} beside {}", parties.engine, parties.reference)?;
    let seconds = tally.time.as_secs_f64();
    #[allow(clippy::cast_precision_loss)] // a rate for people
    let rate = |count: u64| count as f64 / seconds.max(0.001);
    writeln!(
        out,
        "  {} templates, {} pairs in {seconds:.1} s ({:.0} templates/s, {:.0} pairs/s)",
        tally.templates,
        tally.pairs,
        rate(tally.templates),
        rate(tally.pairs)
    )?;
    writeln!(out, "  {} templates gave a prompt", tally.rendered)?;
    if tally.exceeded > 0 {
        writeln!(
            out,
            "  {} pairs ran into a limit, so that the reference was not asked",
            tally.exceeded
        )?;
    }
    if let Some(why) = &tally.why_unanswered {
        writeln!(
            out,
            "  {} pairs without an answer of the reference, one because: {}",
            tally.unanswered,
            why.lines().next().unwrap_or_default()
        )?;
    }
    writeln!(
        out,
        "  {} templates differ: {} known, {} not known, by {} causes",
        tally.differing,
        tally.known.values().sum::<u64>(),
        tally.unknown(),
        tally.causes.len()
    )?;
    let only_counted: usize = tally.uncounted.values().sum();
    if only_counted > 0 {
        writeln!(
            out,
            "  so many look like others that not all of them were made smaller"
        )?;
    }
    for (reason, count) in &tally.known {
        writeln!(out, "  known, {count} times: {reason}")?;
    }
    Ok(())
}

/// Writes the known reasons that no difference had.
pub(crate) fn write_unmet(
    out: &mut dyn Write,
    reasons: &[&str],
    tally: &CampaignTally,
) -> io::Result<()> {
    for reason in reasons
        .iter()
        .filter(|reason| !tally.known.contains_key(**reason))
    {
        writeln!(out, "  known, not met this time: {reason}")?;
    }
    Ok(())
}

fn cause(out: &mut dyn Write, at: usize, parties: &Parties, group: &CauseGroup) -> io::Result<()> {
    let times = match group.count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    writeln!(out, "{at}. {times}")?;
    for example in &group.examples {
        self::example(out, parties, example)?;
    }
    writeln!(out)
}

fn example(out: &mut dyn Write, parties: &Parties, example: &CampaignExample) -> io::Result<()> {
    let mut source = String::new();
    transcript::encode_text(&example.template.source, &mut source);
    indented(out, &source)?;
    if !example.template.special_tokens.is_empty() || !example.template.variables.is_empty() {
        writeln!(out, "  with the special tokens and variables of its model")?;
    }
    if example.is_plain {
        writeln!(out, "  with the conversation of the language table")?;
    } else {
        writeln!(out, "  with {}", conversation(&example.case))?;
    }
    outcome(out, "expected", &example.difference.expected)?;
    outcome(out, "found", &example.difference.found)?;
    writeln!(out, "  made of {}", example.origin)?;
    writeln!(out, "  again: {} --only {}", parties.again, example.number)
}

fn outcome(out: &mut dyn Write, what: &str, outcome: &Outcome) -> io::Result<()> {
    let text = transcript::encode(outcome);
    let (head, body) = text.split_once('\n').unwrap_or((&text, ""));
    writeln!(out, "  {what}: {head}")?;
    indented(out, body)
}

fn indented(out: &mut dyn Write, text: &str) -> io::Result<()> {
    for line in text.lines() {
        writeln!(out, "    {line}")?;
    }
    Ok(())
}

/// A conversation as it is written in a case file.
fn conversation(case: &Case) -> String {
    let mut value = json!({"messages": case.messages});
    if let Some(tools) = &case.tools {
        value["tools"] = json!(tools);
    }
    if let Some(documents) = &case.documents {
        value["documents"] = json!(documents);
    }
    if !case.variables.is_empty() {
        value["variables"] = json!(case.variables);
    }
    if !case.add_generation_prompt {
        value["add_generation_prompt"] = json!(false);
    }
    value.to_string()
}
