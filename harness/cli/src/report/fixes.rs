//! The patches of `check --fix`: what each changes in the template, and the proof.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use super::difference::write_hunks;
use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::{paragraph, wrapped_command};
use rolecall_check::fix::{Fix, Fixes, Proof};
use rolecall_core::diff::Diff;
use rolecall_core::{invocation, patch};

/// How many conversations to name.
const MOST_NAMES: usize = 3;

/// The fixes of a template, and what becomes of them.
#[derive(Debug)]
pub struct TemplateFixes {
    /// The template's name, as on its card.
    pub template: String,
    /// The file that holds it, as the user named it.
    pub file: String,
    /// The words after `rolecall check` that name the template.
    pub typed: String,
    pub fixes: Fixes,
    pub fate: Fate,
}

/// What becomes of the fixes of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// They are only shown, and a command applies them.
    Offered,
    /// They are only shown, because the user asked for that.
    Shown,
    /// They were applied to the file.
    Applied,
    /// They are left to the user.
    ByHand(ByHand),
}

/// Why a command does not apply the fixes of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ByHand {
    /// The template is a value in another file, by the name of its key.
    InOtherFile(String),
    /// The template came on standard input.
    StandardInput,
    /// Other programs keep the file. The owner is in words, and the command, if there is one,
    /// copies the file and fixes the copy.
    Kept {
        /// Whose the file is, in words: `the cache of Hugging Face`.
        owner: &'static str,
        /// The command that copies the file.
        copy: Option<String>,
    },
    /// The file could not be written.
    NotWritten,
}

impl TemplateFixes {
    /// Whether a fix is in the file now.
    pub fn is_applied(&self, fix: &Fix) -> bool {
        self.fate == Fate::Applied && fix.is_applied
    }

    /// The names of the contracts whose fixes are in the file now.
    pub fn applied(&self) -> Vec<&'static str> {
        let applied = self.fixes.found.iter().filter(|fix| self.is_applied(fix));
        applied.map(|fix| fix.contract.id).collect()
    }

    /// The fixes, in a sentence. None if nothing was.
    pub fn sentence(&self) -> Option<String> {
        let applied = self.applied();
        (!applied.is_empty()).then(|| format!("fixed {} in {}", applied.join(", "), self.file))
    }
}

/// Writes the fixes of a template. Lines are cut on a narrow screen, unless everything is wanted or
/// the patch is to be applied by hand.
pub fn write(out: &mut dyn Write, of: &TemplateFixes, is_all: bool) -> io::Result<()> {
    let fixes = &of.fixes.found;
    if fixes.is_empty() {
        return Ok(());
    }
    let width = screen::limit().filter(|_| !is_all && !matches!(of.fate, Fate::ByHand(_)));
    for fix in fixes {
        let verb = if of.is_applied(fix) {
            Styled(GOOD, "fixed")
        } else if fix.is_safe() {
            Styled(GOOD, "a safe fix for")
        } else {
            Styled(NOTE, "an unsafe fix for")
        };
        let (id, file) = (Styled(HEADING, fix.contract.id), &of.file);
        paragraph(out, &format!("{verb} {id} in {file}"), 2)?;
        write_patch(out, file, fix, width)?;
        write_proof(out, &fix.proof)?;
    }
    if width.is_some() {
        let text = "`--all` shows patches as whole diffs, for `patch` and `git apply`";
        paragraph(out, &Styled(QUIET, text).to_string(), 2)?;
    }
    write_advice(out, of)?;
    writeln!(out)
}

/// Writes how to apply the other fixes.
fn write_advice(out: &mut dyn Write, of: &TemplateFixes) -> io::Result<()> {
    let fixes = &of.fixes.found;
    let safe = fixes.iter().filter(|fix| fix.is_safe()).count();
    let left = fixes
        .iter()
        .any(|fix| !fix.is_safe() && !of.is_applied(fix));
    let typed = &of.typed;
    let them = if fixes.len() == 1 { "it" } else { "them" };
    match &of.fate {
        Fate::ByHand(ByHand::InOtherFile(key)) => {
            let text = format!(
                "the template is the text `{key}` in {}: apply {them} there by hand",
                of.file
            );
            return paragraph(out, &text, 2);
        }
        Fate::ByHand(ByHand::StandardInput) => {
            let text = format!("standard input has no file: apply {them} by hand");
            return paragraph(out, &text, 2);
        }
        Fate::ByHand(ByHand::Kept { owner, copy }) => {
            let text = format!("{} belongs to {owner}, which no command changes", of.file);
            paragraph(out, &text, 2)?;
            return match copy {
                Some(copy) => {
                    paragraph(out, "  to fix a copy:", 4)?;
                    writeln!(out, "{}", wrapped_command(copy, screen::width(), 4))
                }
                None => paragraph(out, &format!("  apply {them} to a copy, by hand"), 4),
            };
        }
        Fate::ByHand(ByHand::NotWritten) => {
            let text = format!("nothing was written: apply {them} by hand");
            return paragraph(out, &text, 2);
        }
        Fate::Offered if safe > 0 => {
            let command = invocation::command(&format!("check {typed} --fix"));
            let them = if safe == 1 { "it" } else { "them" };
            paragraph(out, &format!("`{command}` applies {them} to the file"), 2)?;
        }
        Fate::Offered | Fate::Shown | Fate::Applied => {}
    }
    if left && of.fate != Fate::Shown {
        let command = invocation::command(&format!("check {typed} --fix --unsafe-fixes"));
        let text =
            format!("`{command}` also applies what changes other prompts: look at them first");
        paragraph(out, &Styled(QUIET, text).to_string(), 2)?;
    }
    Ok(())
}

/// Writes a patch: within a width only what changes, otherwise as a unified diff.
fn write_patch(out: &mut dyn Write, file: &str, fix: &Fix, width: Option<usize>) -> io::Result<()> {
    let (before, after) = (line_feeds(&fix.before), line_feeds(&fix.after));
    if before != fix.before {
        let text = "  (each line ends with CR LF, and the CR is not shown)";
        paragraph(out, &Styled(QUIET, text).to_string(), 2)?;
    }
    if let Some(width) = width {
        return write_hunks(out, &Diff::of_sides(&before, &after), "  ", width);
    }
    let unified = patch::unified(file, &before, &after);
    for (number, line) in unified.lines().enumerate() {
        let style = match line.chars().next() {
            _ if number < 2 => QUIET,
            Some('+') => GOOD,
            Some('-') => BAD,
            _ => QUIET,
        };
        writeln!(out, "{}", Styled(style, line))?;
    }
    Ok(())
}

/// A source with the line endings of Unix if every line ends with CR LF.
fn line_feeds(source: &str) -> Cow<'_, str> {
    let count = |end: &str| source.matches(end).count();
    if source.contains('\r') && count("\r\n") == count("\n") && count("\r") == count("\n") {
        source.replace("\r\n", "\n").into()
    } else {
        source.into()
    }
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
    let mut kept = vec![format!(
        "{} byte for byte",
        counted(proof.same, "prompt stays", "prompts stay")
    )];
    if proof.refused > 0 {
        kept.push(counted(proof.refused, "refusal stays", "refusals stay"));
    }
    if proof.failing > 0 {
        let failing = counted(proof.failing, "conversation fails", "conversations fail");
        kept.push(format!("{failing} before and after"));
    }
    paragraph(out, &format!("  {}", kept.join("; ")), 4)?;
    if proof.shown.is_empty() && proof.others.is_empty() {
        let text = "  no conversation shows the defect, so nothing proves the patch";
        paragraph(out, &Styled(BAD, text).to_string(), 4)?;
    }
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

/// A fix as JSON.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Fix"))]
pub(super) struct FixDocument<'f> {
    /// The template's name, as on its card.
    template: &'f str,
    /// The file that holds the template.
    file: &'f str,
    /// The contract that holds afterwards.
    contract: &'static str,
    /// Whether only prompts change that showed the defect.
    is_safe: bool,
    /// Whether the file has the fix now.
    applied: bool,
    /// The change as a unified diff of the template's source. It starts from the source that the
    /// safe fixes before it in the list leave, or with `--unsafe-fixes` all fixes before it.
    diff: String,
    /// How many prompts stay, and how many change.
    proof: ProofDocument,
}

/// How many conversations a fix changes. Each conversation counts once for every switch.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Proof"))]
struct ProofDocument {
    /// Prompts that stay byte for byte.
    same: usize,
    /// Refusals in the template's own words that stay.
    refused: usize,
    /// Conversations for which the engine fails, before and after.
    failing: usize,
    /// Conversations that showed the defect, and have another prompt now.
    shown: usize,
    /// Other conversations that have another prompt now.
    others: usize,
}

impl TemplateFixes {
    pub(super) fn documents(&self) -> impl Iterator<Item = FixDocument<'_>> {
        self.fixes.found.iter().map(|fix| FixDocument {
            template: &self.template,
            file: &self.file,
            contract: fix.contract.id,
            is_safe: fix.is_safe(),
            applied: self.is_applied(fix),
            diff: patch::unified(&self.file, &fix.before, &fix.after),
            proof: ProofDocument {
                same: fix.proof.same,
                refused: fix.proof.refused,
                failing: fix.proof.failing,
                shown: fix.proof.shown.len(),
                others: fix.proof.others.len(),
            },
        })
    }
}
