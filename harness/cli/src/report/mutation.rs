//! The mutants of templates, for people and as JSON.

use std::io::{self, Write};
use std::ops::Range;

use rolecall_core::diff::{Diff, DiffLine, Side};
use rolecall_core::lines::{LineColumn, Lines};
use rolecall_core::transcript::encode_text;
use rolecall_explore::generation::fields;
use rolecall_explore::mutation::{Mutant, Notice, TemplateMutants};
use rolecall_io::template_file::{line_in_file, place};
use serde::Serialize;

use super::difference::write_lines;
use super::json::{self, VERSION};
use super::numbers::{counted, percent, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::wrapped;

/// Writes how many mutants of a template the cases notice, and those that no case notices.
/// Those that no conversation tells apart are only counted, unless all are wanted.
pub fn write(
    out: &mut dyn Write,
    mutants: &TemplateMutants<'_>,
    shows_all: bool,
) -> io::Result<()> {
    let width = screen::width();
    let template = mutants.template;
    let name = Styled(HEADING, template.name.as_str());
    let file = Styled(QUIET, place(template, None));
    writeln!(out, "{}", wrapped(&format!("{name}  {file}"), width, 2))?;
    let (noticed, alike) = (mutants.noticed(), mutants.alike());
    let all = mutants.mutants.len() - alike;
    let style = if noticed == all { GOOD } else { NOTE };
    let line = format!(
        "  {} of {} noticed by {} ({})",
        Styled(style, thousands(noticed)),
        counted(all, "mutant", "mutants"),
        counted(mutants.cases, "case", "cases"),
        percent(noticed, all)
    );
    writeln!(out, "{}", wrapped(&line, width, 4))?;
    if alike > 0 {
        let line = format!(
            "  {} more that no conversation distinguishes, of {} tried at each place",
            thousands(alike),
            thousands(mutants.tries)
        );
        writeln!(out, "{}", wrapped(&line, width, 4))?;
    }
    let lines = Lines::of(&template.source);
    for mutant in mutants.unnoticed() {
        let is_alike = mutants.tries > 0 && mutant.notice == Notice::Nothing;
        if shows_all || !is_alike {
            write_unnoticed(out, mutants, (mutant, &lines), width)?;
        }
    }
    Ok(())
}

fn write_unnoticed(
    out: &mut dyn Write,
    mutants: &TemplateMutants<'_>,
    (mutant, lines): (&Mutant, &Lines),
    width: usize,
) -> io::Result<()> {
    let template = mutants.template;
    let span = mutant.mutation.span();
    let LineColumn { line, column } = lines.position(&template.source, span.start);
    let line = line_in_file(template, Some(line)).unwrap_or(line);
    let kind = mutant.mutation.kind.name();
    let reached = match mutant.reached_by {
        Some(0) => ", no case reaches it",
        _ => "",
    };
    let missing = Styled(BAD, format!("not noticed{reached}"));
    let text = format!("  {line}:{column} {kind} {missing}");
    writeln!(out, "\n{}", wrapped(&text, width, 4))?;
    write_lines(out, &changed_lines(&template.source, mutant), "  ", width)?;
    let Notice::Conversation(index) = mutant.notice else {
        return Ok(());
    };
    // One conversation is shown once, with the first mutant that it tells apart.
    let own = Notice::Conversation(index);
    let mut telling = mutants.mutants.iter().filter(|other| other.notice == own);
    let case = mutants.conversations.get(index);
    let case = case.filter(|_| {
        telling
            .next()
            .is_some_and(|first| std::ptr::eq(first, mutant))
    });
    let number = index + 1;
    let text = match case.map(fields).map(serde_json::Value::from) {
        Some(case) => format!("  conversation {number} would notice it: {case}"),
        None => format!("  conversation {number} would notice it"),
    };
    writeln!(out, "{}", wrapped(&text, width, 4))
}

/// The lines that a mutant changes, as they were and as they are.
fn changed_lines(source: &str, mutant: &Mutant) -> Vec<DiffLine> {
    let Some(mutated) = mutant.mutation.applied_to(source) else {
        return Vec::new();
    };
    let old = mutant.mutation.span();
    let new = old.start..old.start + mutant.mutation.replacement.len();
    let [old, new] = [(source, old), (mutated.as_str(), new)].map(|(text, span)| {
        let mut lines = String::new();
        encode_text(whole_lines(text, span), &mut lines);
        lines
    });
    let lines = Diff::new(&old, &new).hunks.into_iter().flatten();
    lines.filter(|line| line.side != Side::Both).collect()
}

/// The lines in which a place is. A line break that is changed is in two.
fn whole_lines(text: &str, span: Range<usize>) -> &str {
    let before = text.get(..span.start).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find('\n').map_or(text.len(), |at| span.end + at);
    text.get(start..end).unwrap_or_default()
}

/// The mutants of templates as JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MutationDocument<'m> {
    /// The version of this format.
    rolecall: u32,
    /// One for each template.
    templates: Vec<MutantsJson<'m>>,
}

/// The mutants of a template: the template with one small change each.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MutantsJson<'m> {
    /// The template's name.
    template: &'m str,
    /// The template's file, as it was given.
    file: String,
    /// How many cases were rendered.
    cases: usize,
    /// How many mutants some case notices.
    noticed: usize,
    /// How many mutants no conversation tells apart, as far as the search tried.
    alike: usize,
    /// How many conversations the search tried at each place with mutants that no case notices.
    tries: usize,
    /// Conversations that would notice mutants which no case notices, as a case file has them.
    conversations: Vec<serde_json::Map<String, serde_json::Value>>,
    /// The mutants, in the order of their places.
    mutants: Vec<MutantJson<'m>>,
}

/// A template with one small change.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MutantJson<'m> {
    /// The kind of change: `negation`, `logic`, `comparison`, `arithmetic`, `boolean`, `number`,
    /// `text`, `white-space`, `filter`, `print`, `statement` or `loop-place`.
    kind: &'static str,
    /// The line of the template where the change begins, from 1.
    line: usize,
    /// The column where it begins, from 1, in characters.
    column: usize,
    /// The line where it ends.
    end_line: usize,
    /// The column after its end.
    end_column: usize,
    /// The text that is there in the template.
    text: &'m str,
    /// The text that is there in the mutant.
    replacement: &'m str,
    /// `noticed`, if the outcome of some case differs; `missing`, if only a conversation that the
    /// search has made notices it; `alike`, if none does; `unnoticed`, if nothing was searched.
    state: &'static str,
    /// A case whose outcome differs. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    noticed_by: Option<&'m str>,
    /// The conversation that would notice it: its index among `conversations`, from 0. Absent if
    /// there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<usize>,
    /// How many cases reach the statement or the condition around the change. Absent for plain text
    /// and the marks of tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    reached_by: Option<usize>,
}

/// Writes the mutants of templates as JSON.
pub fn write_json(out: &mut dyn Write, all: &[TemplateMutants<'_>]) -> io::Result<()> {
    let document = MutationDocument {
        rolecall: VERSION,
        templates: all.iter().map(MutantsJson::of).collect(),
    };
    json::write(out, &document)
}

impl<'m> MutantsJson<'m> {
    fn of(mutants: &'m TemplateMutants<'_>) -> MutantsJson<'m> {
        let source = &mutants.template.source;
        let lines = Lines::of(source);
        let all = mutants.mutants.iter();
        MutantsJson {
            template: mutants.template.name.as_str(),
            file: place(mutants.template, None),
            cases: mutants.cases,
            noticed: mutants.noticed(),
            alike: mutants.alike(),
            tries: mutants.tries,
            conversations: mutants.conversations.iter().map(fields).collect(),
            mutants: all
                .map(|mutant| MutantJson::of(mutant, (source, &lines), mutants.tries > 0))
                .collect(),
        }
    }
}

impl<'m> MutantJson<'m> {
    fn of(
        mutant: &'m Mutant,
        (source, lines): (&'m str, &Lines),
        is_searched: bool,
    ) -> MutantJson<'m> {
        let span = mutant.mutation.span();
        let start = lines.position(source, span.start);
        let end = lines.position(source, span.end);
        MutantJson {
            kind: mutant.mutation.kind.name(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            text: source.get(span).unwrap_or_default(),
            replacement: &mutant.mutation.replacement,
            state: match mutant.notice {
                Notice::Case(_) => "noticed",
                Notice::Conversation(_) => "missing",
                Notice::Nothing if is_searched => "alike",
                Notice::Nothing => "unnoticed",
            },
            noticed_by: match &mutant.notice {
                Notice::Case(case) => Some(case),
                _ => None,
            },
            conversation: match mutant.notice {
                Notice::Conversation(index) => Some(index),
                _ => None,
            },
            reached_by: mutant.reached_by,
        }
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Mutation, MutationKind};

    use super::*;

    fn lines(source: &str, span: Range<usize>, replacement: &str) -> Vec<String> {
        let mutant = Mutant {
            mutation: Mutation::new(span, MutationKind::Text, replacement),
            notice: Notice::Nothing,
            reached_by: None,
        };
        let lines = changed_lines(source, &mutant).into_iter().map(|line| {
            let sign = if line.side == Side::Found { '+' } else { '-' };
            let text: String = line.pieces.into_iter().map(|piece| piece.text).collect();
            format!("{sign}{text}")
        });
        lines.collect()
    }

    #[test]
    fn only_the_changed_lines_are_shown() {
        assert_eq!(lines("a\nb c\nd", 2..3, "x"), ["-b c␃", "+x c␃"]);
        assert_eq!(lines("a\nb c\nd", 5..6, ""), ["-b c␊", "-d␃", "+b cd␃"]);
        assert_eq!(lines("a\nb c\nd", 3..3, "\n"), ["-b c␃", "+b␊", "+ c␃"]);
    }
}
