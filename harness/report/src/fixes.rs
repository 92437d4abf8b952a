//! The patches of `check --fix`: what each changes in the template, and the proof.

use std::io::{self, Write};

use super::difference::write_hunks;
use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::paragraph;
use rolecall_base::invocation;
use rolecall_suite::fix::{Fix, Proof};

/// How many conversations to name.
const MOST_NAMES: usize = 3;

/// What becomes of the fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixUse {
    /// They are only shown.
    Shown,
    /// The safe ones were applied.
    Safe,
    /// All were applied.
    All,
}

/// Writes the fixes of a template. `name` is what the user typed for it.
pub fn write(out: &mut dyn Write, name: &str, fixes: &[Fix], what: FixUse) -> io::Result<()> {
    if fixes.is_empty() {
        return Ok(());
    }
    for fix in fixes {
        let is_applied = match what {
            FixUse::Shown => false,
            FixUse::Safe => fix.is_safe(),
            FixUse::All => true,
        };
        let verb = if is_applied {
            Styled(GOOD, "fixed")
        } else if fix.is_safe() {
            Styled(GOOD, "a safe fix for")
        } else {
            Styled(NOTE, "an unsafe fix for")
        };
        paragraph(
            out,
            &format!("{verb} {}", Styled(HEADING, fix.contract.id)),
            2,
        )?;
        write_hunks(out, &fix.diff(), "  ", screen::width())?;
        write_proof(out, &fix.proof)?;
    }
    let safe = fixes.iter().filter(|fix| fix.is_safe()).count();
    let rest = fixes.len() - safe;
    if what == FixUse::Shown && safe > 0 {
        let command = invocation::command(&format!("check {name} --fix"));
        let them = if safe == 1 { "it" } else { "them" };
        paragraph(out, &format!("`{command}` applies {them} to the file"), 2)?;
    }
    if what != FixUse::All && rest > 0 {
        let command = invocation::command(&format!("check {name} --fix --unsafe-fixes"));
        let text =
            format!("`{command}` also applies what changes other prompts: look at them first");
        paragraph(out, &Styled(QUIET, text).to_string(), 2)?;
    }
    writeln!(out)
}

fn write_proof(out: &mut dyn Write, proof: &Proof) -> io::Result<()> {
    let named = |names: &[String]| {
        let first: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
        let more = names.len().saturating_sub(MOST_NAMES);
        let more = match more {
            0 => String::new(),
            more => format!(", and {} more", thousands(more)),
        };
        format!("{}{more}", first.join(", "))
    };
    let same = counted(proof.same, "prompt stays", "prompts stay");
    paragraph(out, &format!("  {same} byte for byte"), 4)?;
    if !proof.shown.is_empty() {
        let count = counted(proof.shown.len(), "prompt changes", "prompts change");
        let text = format!("  {count} that showed the defect: {}", named(&proof.shown));
        paragraph(out, &text, 4)?;
    }
    if !proof.others.is_empty() {
        let count = counted(
            proof.others.len(),
            "other prompt changes",
            "other prompts change",
        );
        let text = format!("  {}: {}", Styled(BAD, count), named(&proof.others));
        paragraph(out, &text, 4)?;
    }
    Ok(())
}
