//! Markdown for the comment on a pull request: the results of a run, and what every such comment is
//! made of.
//!
//! No text of a template can become markup. It goes into blocks whose fences are longer than every
//! run of backticks in it, or into code spans with such delimiters, or its marks are written by their
//! numbers.

use std::fmt::Write as _;
use std::io;

use super::difference::FaultGroup;
use super::numbers::{counted, thousands};
use super::other_fault::OtherFault;
use super::run_report::{RunReport, first_lines};
use rolecall_core::diff::{DiffLine, Side};
use rolecall_core::problem::shown;
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::snapshot::SnapshotStatus;

/// How many characters a comment may have. GitHub accepts 65,536, and the comment may contain other
/// texts too.
const MOST: usize = 60_000;
/// How many changed lines of a difference to show.
const MOST_LINES: usize = 24;
/// How many templates of a cause to name.
const MOST_NAMES: usize = 8;

/// Writes the results of a run: the verdict, what is not as expected by cause, and the templates.
pub fn write_run(out: &mut dyn io::Write, report: &RunReport<'_, '_>) -> io::Result<()> {
    let mut head = format!("**{}.**\n\n", escaped(&report.headline()));
    let _ = writeln!(head, "{}", escaped(&report.extent()));
    if let Some(engine) = report.engine {
        let _ = writeln!(head, "Engine: {}.", code(engine));
    }
    let mut parts: Vec<String> = report.others().iter().map(other).collect();
    parts.extend(report.groups.iter().map(|one| group(report, one)));
    parts.extend(report.conclusion.cards.iter().map(card));
    out.write_all(whole(head, parts).as_bytes())
}

/// A point of a list: what fails besides pairs and contracts.
pub(super) fn other(other: &OtherFault) -> String {
    let sentence = format!("\n- {}\n", escaped(&shown(&other.sentence())));
    if other.lines.is_empty() {
        return sentence;
    }
    let lines: Vec<String> = other.lines.iter().take(MOST_LINES).map(line).collect();
    format!("{sentence}\n{}", fenced("diff", &lines.join("\n")))
}

fn group(report: &RunReport<'_, '_>, group: &FaultGroup<'_>) -> String {
    let Some((first, others)) = group.pairs.split_first() else {
        return String::new();
    };
    let pair = &first.pair;
    let name = format!("{} {}", pair.template.name, pair.case.id);
    let count = counted(group.pairs.len(), "pair", "pairs");
    let mut text = String::new();
    if let Some(about) = &pair.case.about {
        let _ = write!(text, "{}\n\n", escaped(&shown(about)));
    }
    if let Some(word) = group.word() {
        let _ = write!(text, "{}\n\n", escaped(&shown(word)));
    }
    if let Some(first) = group.diff().and_then(|diff| diff.first.as_deref()) {
        let _ = write!(text, "{}\n\n", escaped(first));
    }
    let lines: Vec<String> = first_lines(group, MOST_LINES).iter().map(line).collect();
    if !lines.is_empty() {
        text.push_str(&fenced("diff", &lines.join("\n")));
    }
    if !others.is_empty() {
        let mut names: Vec<String> = Vec::new();
        for other in others.iter().take(MOST_NAMES) {
            names.push(code(&format!(
                "{} {}",
                other.pair.template.name, other.pair.case.id
            )));
        }
        let more = others.len().saturating_sub(MOST_NAMES);
        if more > 0 {
            names.push(format!("{} more", thousands(more)));
        }
        let _ = write!(text, "\nThe same in {}.\n", names.join(", "));
    }
    let command = report.command(group);
    format!(
        "\n<details><summary>{count} {}, as in <code>{}</code></summary>\n\n{text}\nTo look at \
         it: {}\n\n</details>\n",
        group.fault().of_many(group.pairs.len()),
        html(&name),
        code(&command),
    )
}

fn card(checked: &CheckedText) -> String {
    let mut text = String::new();
    let what = match &checked.change {
        SnapshotStatus::Same => "breaks contracts without a reason",
        SnapshotStatus::New => "was never accepted",
        SnapshotStatus::Unreadable(_) => "cannot be compared with the accepted one",
        SnapshotStatus::Changed(_) => "changed",
    };
    if let Some(diff) = checked.diff() {
        let lines = diff.hunks.iter().flatten().take(MOST_LINES).map(line);
        let lines: Vec<String> = lines.collect();
        text.push_str(&fenced("diff", &lines.join("\n")));
    }
    for found in &checked.forbidden {
        let _ = write!(
            text,
            "\n- {} {}: {}",
            found.severity().name(),
            code(found.contract.id),
            escaped(&shown(found.what()))
        );
    }
    format!(
        "\n<details><summary>The {} of <code>{}</code> {what}</summary>\n\n{text}\n\n\
         </details>\n",
        checked.kind.name(),
        html(&checked.template)
    )
}

/// A comment of a beginning and parts. The parts that would make it too long are left out, and it
/// says so.
pub(super) fn whole(head: String, parts: Vec<String>) -> String {
    let mut page = head;
    let mut left = 0;
    for part in parts {
        if left > 0 || page.len() + part.len() > MOST {
            left += 1;
        } else {
            page.push_str(&part);
        }
    }
    if left > 0 {
        let more = counted(left, "more part is", "more parts are");
        let _ = write!(
            page,
            "\n{more} left out, because the comment would be too long.\n"
        );
    }
    page
}

/// A line of a difference after its sign.
pub(super) fn line(line: &DiffLine) -> String {
    let sign = match line.side {
        Side::Both => ' ',
        Side::Expected => '-',
        Side::Found => '+',
    };
    let texts = line.pieces.iter().map(|piece| piece.text.as_str());
    format!("{sign} {}", texts.collect::<String>())
        .trim_end()
        .to_owned()
}

/// The longest run of backticks in a text.
fn backticks(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}

/// A block with a closing fence that no line of the text equals.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(backticks(text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A text as a code span.
pub(super) fn code(text: &str) -> String {
    let text = shown(text);
    let mark = "`".repeat(backticks(&text) + 1);
    // Without a space, a backtick at an end would become part of the mark.
    let gap = if mark.len() > 1 { " " } else { "" };
    format!("{mark}{gap}{text}{gap}{mark}")
}

/// A text as code in a table, where a bar would end its cell.
pub(super) fn cell(text: &str) -> String {
    if !text.contains(['|', '\\']) {
        return code(text);
    }
    format!("<code>{}</code>", html(text))
}

/// Text as HTML, also where Markdown is read in it: every mark is written by its number, so it is
/// markup in neither.
pub(super) fn html(text: &str) -> String {
    let mut out = String::new();
    for c in shown(text).chars() {
        if c.is_ascii_punctuation() && !matches!(c, '-' | '.' | ',' | '/') {
            // Writing to a string cannot fail.
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// A sentence in which no character is markup, except that text in backticks stays code. Where
/// backticks are side by side, or one is without its second, they are no marks of code.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut is_code = false;
    let has_pairs = !text.contains("``") && text.matches('`').count().is_multiple_of(2);
    for c in text.chars() {
        match c {
            '`' if has_pairs => {
                is_code = !is_code;
                out.push(c);
            }
            '`' | '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '@' | '&'
                if !is_code =>
            {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_backticks_of_a_text_end_what_it_is_in() {
        let text = "a\n```\nb ````` c";
        let block = fenced("diff", text);
        assert_eq!(block, format!("``````diff\n{text}\n``````\n"));
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code("a"), "`a`");
        assert_eq!(cell("a|b"), "<code>a&#124;b</code>");
        assert_eq!(html("<a&b>"), "&#60;a&#38;b&#62;");
        assert_eq!(escaped("``a` <b> ` c `"), "\\`\\`a\\` \\<b\\> \\` c \\`");
        assert_eq!(escaped("a <b> `c_d` e_f"), "a \\<b\\> `c_d` e\\_f");
        assert_eq!(escaped("`a` ` *b*"), "\\`a\\` \\` \\*b\\*");
    }
}
