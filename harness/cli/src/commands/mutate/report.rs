//! The mutants of templates, for people and as JSON.

use std::io::{self, Write};
use std::ops::Range;

use minijinja::{Value, context};
use rolecall_core::diff::{Diff, DiffLine, Side};
use rolecall_core::lines::{Lines, Position};
use rolecall_core::transcript::encode_text;
use rolecall_explore::generation::fields;
use rolecall_explore::mutation::{Mutant, Notice, TemplateMutants};
use rolecall_io::template_file::{line_in_file, place};

use crate::report::difference::write_lines;
use crate::report::format::Format;
use crate::report::json::{VERSION, document};
use crate::report::text::{text, written};
use crate::report::wrapping::each;
use crate::report::{json, screen};

/// Writes how many mutants of each template the cases notice, and those that no case notices. In a
/// text, those that no conversation tells apart are only counted, unless all are wanted.
pub fn write(
    out: &mut dyn Write,
    all: &[TemplateMutants<'_>],
    format: Format,
    shows_all: bool,
) -> io::Result<()> {
    match format {
        Format::Json => json::write(out, &MutationDocument::of(all)),
        _ => each(out, all, |out, one| write_one(out, one, shows_all)),
    }
}

fn write_one(
    out: &mut dyn Write,
    mutants: &TemplateMutants<'_>,
    shows_all: bool,
) -> io::Result<()> {
    let lines = Lines::of(&mutants.template.source);
    let is_alike = |mutant: &Mutant| mutants.tries > 0 && mutant.notice == Notice::Nothing;
    let shown = mutants
        .unnoticed()
        .filter(|mutant| shows_all || !is_alike(mutant));
    let shown: io::Result<Vec<_>> = shown
        .map(|mutant| unnoticed(mutants, mutant, &lines))
        .collect();
    text!(out, include_str!("report.txt"), {
        name => mutants.template.name.as_str(),
        file => place(mutants.template, None),
        noticed => mutants.noticed(),
        all => mutants.mutants.len() - mutants.alike(),
        alike => mutants.alike(),
        left_out => mutants.left_out,
        cases => mutants.cases,
        tries => mutants.tries,
        mutants => shown?,
    })
}

fn unnoticed(mutants: &TemplateMutants<'_>, mutant: &Mutant, lines: &Lines) -> io::Result<Value> {
    let source = &mutants.template.source;
    let Position { line, column } = lines.position(source, mutant.mutation.span().start);
    let index = match mutant.notice {
        Notice::Conversation(index) => Some(index),
        _ => None,
    };
    // One conversation is shown once, with the first mutant that it tells apart.
    let mut telling = mutants
        .mutants
        .iter()
        .filter(|other| other.notice == mutant.notice);
    let is_first = telling
        .next()
        .is_some_and(|first| std::ptr::eq(first, mutant));
    let case = index
        .filter(|_| is_first)
        .and_then(|index| mutants.conversations.get(index));
    let changed = changed_lines(source, mutant);
    Ok(context! {
        line => line_in_file(mutants.template, Some(line)).unwrap_or(line),
        column,
        kind => mutant.mutation.kind.name(),
        is_unreached => mutant.reached_by == Some(0),
        changed => written(|out| write_lines(out, &changed, "  ", screen::width()))?,
        number => index.map(|index| index + 1),
        case => case.map(|case| serde_json::Value::from(fields(case)).to_string()),
    })
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

document! {
    /// The mutants of templates as JSON.
    pub struct MutationDocument<'m> from (all: &'m [TemplateMutants<'_>]) {
        /// The version of this format.
        rolecall: u32 = VERSION,
        /// One for each template.
        templates: Vec<MutantsJson<'m>> = all.iter().map(MutantsJson::of).collect(),
    }

    /// The mutants of a template: the template with one small change each.
    struct MutantsJson<'m> from (mutants: &'m TemplateMutants<'_>) with {
        let source = &mutants.template.source;
        let lines = Lines::of(source);
        let all = mutants.mutants.iter();
    } {
        /// The template's name.
        template: &'m str = mutants.template.name.as_str(),
        /// The template's file, as it was given.
        file: String = place(mutants.template, None),
        /// How many cases were rendered.
        cases: usize = mutants.cases,
        /// How many mutants some case notices.
        noticed: usize = mutants.noticed(),
        /// How many mutants no conversation tells apart, as far as the search tried.
        alike: usize = mutants.alike(),
        /// How many mutants were not made, because those of a large template take too long. Absent if
        /// all were made.
        left_out?: Option<usize> = (mutants.left_out > 0).then_some(mutants.left_out),
        /// How many conversations the search tried at each place with mutants that no case notices.
        tries: usize = mutants.tries,
        /// Conversations that would notice mutants which no case notices, as a case file has them.
        conversations: Vec<serde_json::Map<String, serde_json::Value>> =
            mutants.conversations.iter().map(fields).collect(),
        /// The mutants, in the order of their places.
        mutants: Vec<MutantJson<'m>> =
            all.map(|mutant| MutantJson::of(mutant, source, &lines, mutants.tries > 0)).collect(),
    }

    /// A template with one small change.
    struct MutantJson<'m> from (
        mutant: &'m Mutant, source: &'m str, lines: &Lines, is_searched: bool,
    ) with {
        let span = mutant.mutation.span();
        let (start, end) = (lines.position(source, span.start), lines.position(source, span.end));
    } {
        /// The kind of change: `negation`, `logic`, `comparison`, `arithmetic`, `boolean`, `number`,
        /// `text`, `white-space`, `filter`, `print`, `statement` or `loop-place`.
        kind: &'static str = mutant.mutation.kind.name(),
        /// The line of the template where the change begins, from 1.
        line: usize = start.line,
        /// The column where it begins, from 1, in characters.
        column: usize = start.column,
        /// The line where it ends.
        end_line: usize = end.line,
        /// The column after its end.
        end_column: usize = end.column,
        /// The text that is there in the template.
        text: &'m str = source.get(span).unwrap_or_default(),
        /// The text that is there in the mutant.
        replacement: &'m str = &mutant.mutation.replacement,
        /// `noticed`, if the outcome of some case differs; `missing`, if only a conversation that the
        /// search has made notices it; `alike`, if none does; `unnoticed`, if nothing was searched.
        state: &'static str = match mutant.notice {
            Notice::Case(_) => "noticed",
            Notice::Conversation(_) => "missing",
            Notice::Nothing if is_searched => "alike",
            Notice::Nothing => "unnoticed",
        },
        /// A case whose outcome differs. Absent if there is none.
        noticed_by?: Option<&'m str> = match &mutant.notice {
            Notice::Case(case) => Some(case),
            _ => None,
        },
        /// The conversation that would notice it: its index among `conversations`, from 0. Absent if
        /// there is none.
        conversation?: Option<usize> = match mutant.notice {
            Notice::Conversation(index) => Some(index),
            _ => None,
        },
        /// How many cases reach the statement or the condition around the change. Absent for plain text
        /// and the marks of tags.
        reached_by?: Option<usize> = mutant.reached_by,
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
