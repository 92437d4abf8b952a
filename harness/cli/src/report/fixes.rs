//! The patches of `check --fix`: what each changes in the template, and the proof.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Write};

use minijinja::{Value, context};

use super::difference::write_hunks;
use super::json::document;
use super::numbers::thousands;
use super::screen;
use super::style::{BAD, GOOD, QUIET, Styled};
use super::text::{text, written};
use super::wrapping::paragraph;
use rolecall_check::fix::{Fix, Fixes, Proof};
use rolecall_core::diff::Diff;
use rolecall_core::patch;

const MOST_NAMES: usize = 3;

/// The most lines of patches on a screen, if nobody asked for patches: the findings before them stay
/// there.
const MOST_LINES: usize = 12;

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
    /// Whether fixes were looked for, and not only what they could be looked for.
    pub is_searched: bool,
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

/// Writes the fixes of a template, and how to apply them. Lines are cut on a narrow screen, unless
/// everything is wanted or the patch is to be applied by hand. Long patches are only counted there if
/// they are `unasked`.
pub fn write(
    out: &mut dyn Write,
    of: &TemplateFixes,
    is_all: bool,
    unasked: bool,
) -> io::Result<()> {
    let fixes = &of.fixes.found;
    let most = if unasked && !is_all && screen::limit().is_some() {
        MOST_LINES
    } else {
        usize::MAX
    };
    let left = Cell::new(most);
    let width = screen::limit().filter(|_| !is_all && !matches!(of.fate, Fate::ByHand(_)));
    let fix = |fix: &Fix| -> io::Result<Value> {
        let (verb, style) = match (of.is_applied(fix), fix.is_safe()) {
            (true, _) => ("fixed", "good"),
            (false, true) => ("a safe fix for", "good"),
            (false, false) => ("an unsafe fix for", "note"),
        };
        let patch = written(|out| write_patch(out, &of.file, fix, width))?;
        let lines = patch.lines().count();
        let rest = left.get().checked_sub(lines);
        left.set(rest.unwrap_or_else(|| left.get()));
        Ok(context! {
            verb,
            style,
            id => fix.contract.id,
            patch => if rest.is_some() { patch } else { String::new() },
            hidden => if rest.is_some() { 0 } else { lines },
            same => fix.proof.same,
            refused => fix.proof.refused,
            failing => fix.proof.failing,
            reason => (!fix.is_safe()).then(|| fix.proof.reason()),
            shown => conversations(&fix.proof.shown),
            reworded => conversations(&fix.proof.reworded),
            others => conversations(&fix.proof.others),
        })
    };
    let shown: io::Result<Vec<Value>> = fixes.iter().map(fix).collect();
    let safe = fixes.iter().filter(|fix| fix.is_safe()).count();
    let mut is_left = fixes
        .iter()
        .filter(|fix| !fix.is_safe() && !of.is_applied(fix));
    let by_hand = match &of.fate {
        Fate::ByHand(ByHand::InOtherFile(key)) => context! { by_hand => "in another file", key },
        Fate::ByHand(ByHand::StandardInput) => context! { by_hand => "standard input" },
        Fate::ByHand(ByHand::Kept { owner, copy }) => {
            context! { by_hand => "kept", owner => *owner, copy => copy.clone() }
        }
        Fate::ByHand(ByHand::NotWritten) => context! { by_hand => "not written" },
        Fate::Offered | Fate::Shown | Fate::Applied => context! { by_hand => "" },
    };
    text!(out, include_str!("fixes.txt"), {
        fixes => shown?,
        file => &of.file,
        typed => &of.typed,
        is_cut => !fixes.is_empty() && (width.is_some() || most < usize::MAX),
        untried => &of.fixes.untried,
        is_searched => of.is_searched,
        offered => if of.fate == Fate::Offered { safe } else { 0 },
        has_unsafe => is_left.next().is_some() && of.fate != Fate::Shown,
        ..by_hand
    })
}

/// The number of some conversations, and the names of the first ones.
fn conversations(names: &[String]) -> Value {
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(", and {} more", thousands(more)),
    };
    let first = &names[..names.len().min(MOST_NAMES)];
    context! { count => names.len(), names => first.join(", ") + &more }
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

document! {
    /// A fix as JSON.
    #[cfg_attr(feature = "schema", schemars(rename = "Fix"))]
    pub(crate) struct FixDocument<'f> from (of: &'f TemplateFixes, fix: &Fix) {
        /// The template's name, as on its card.
        template: &'f str = &of.template,
        /// The file that holds the template.
        file: &'f str = &of.file,
        /// The contract that holds afterwards.
        contract: &'static str = fix.contract.id,
        /// Whether nothing changes that a model was trained with: `--fix` applies safe fixes only.
        is_safe: bool = fix.is_safe(),
        /// Why the fix is safe, or why it is not.
        reason: String = fix.proof.reason(),
        /// Whether the file has the fix now.
        applied: bool = of.is_applied(fix),
        /// The change as a unified diff of the template's source. It starts from the source that the
        /// safe fixes before it in the list leave, or with `--unsafe-fixes` all fixes before it.
        diff: String = patch::unified(&of.file, &fix.before, &fix.after),
        /// How many prompts stay, and how many change.
        proof: ProofDocument = ProofDocument::of(&fix.proof),
    }

    /// How many conversations a fix changes. Each conversation counts once for every switch.
    #[cfg_attr(feature = "schema", schemars(rename = "Proof"))]
    struct ProofDocument from (proof: &Proof) {
        /// Prompts that stay byte for byte.
        same: usize = proof.same,
        /// Refusals in the template's own words that stay.
        refused: usize = proof.refused,
        /// Conversations for which the engine fails, before and after.
        failing: usize = proof.failing,
        /// Conversations that showed the defect. They failed, had lost a text, or have the prompt now
        /// that the template gives for the same conversation written in another way.
        shown: usize = proof.shown.len(),
        /// Conversations whose prompt held everything, and words it in another way now.
        reworded: usize = proof.reworded.len(),
        /// Other conversations that have another prompt now.
        others: usize = proof.others.len(),
    }
}

impl TemplateFixes {
    pub(crate) fn documents(&self) -> impl Iterator<Item = FixDocument<'_>> {
        self.fixes
            .found
            .iter()
            .map(|fix| FixDocument::of(self, fix))
    }
}
