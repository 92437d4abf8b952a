//! Markdown for the comment on a pull request: the results of a run, and what every such comment is
//! made of.
//!
//! No text of a template can become markup. It goes into blocks whose fences are longer than every
//! run of backticks in it, or into code spans with such delimiters, or its marks are written by their
//! numbers.

use std::fmt::Write as _;
use std::io;

use super::diagnostic::Diagnostic;
use super::numbers::{counted, thousands};
use super::run_report::RunReport;
use rolecall_core::problem::shown;

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
    let parts = report.diagnostics().iter().map(part).collect();
    out.write_all(whole(head, parts).as_bytes())
}

/// A part of a comment: pairs in a section that is closed until somebody opens it, anything else as
/// a point of a list.
pub(crate) fn part(one: &Diagnostic<'_>) -> String {
    let lines = match one.evidence(MOST_LINES) {
        lines if lines.is_empty() => String::new(),
        lines => fenced("diff", &lines.join("\n")),
    };
    let Some((first, others)) = one.pairs.split_first() else {
        let sentence = format!("\n- {}\n", escaped(&shown(&one.sentence())));
        return match lines.as_str() {
            "" => sentence,
            lines => format!("{sentence}\n{lines}"),
        };
    };
    let about = first.pair.case.about.iter();
    let sentences = about
        .map(String::as_str)
        .chain(one.what.iter().map(String::as_str));
    let sentences = sentences.map(|text| format!("{}\n\n", escaped(&shown(text))));
    let mut text = sentences.collect::<String>() + &lines;
    if !others.is_empty() {
        let names = others.iter().take(MOST_NAMES).map(|other| {
            code(&format!(
                "{} {}",
                other.pair.template.name, other.pair.case.id
            ))
        });
        let mut names: Vec<String> = names.collect();
        let more = others.len().saturating_sub(MOST_NAMES);
        if more > 0 {
            names.push(format!("{} more", thousands(more)));
        }
        let _ = write!(text, "\nThe same in {}.\n", names.join(", "));
    }
    format!(
        "\n<details><summary>{} {}, as in <code>{}</code></summary>\n\n{text}\nTo look at \
         it: {}\n\n</details>\n",
        counted(one.pairs.len(), "pair", "pairs"),
        one.of_many,
        html(&one.subject),
        code(one.help.as_deref().unwrap_or_default()),
    )
}

/// A comment of a beginning and parts. The parts that would make it too long are left out, and it
/// says so.
pub(crate) fn whole(head: String, parts: Vec<String>) -> String {
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

/// The longest run of backticks in a text.
fn backticks(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}

/// A block with a closing fence that no line of the text equals.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(backticks(text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A text as a code span.
pub(crate) fn code(text: &str) -> String {
    let text = shown(text);
    let mark = "`".repeat(backticks(&text) + 1);
    // Without a space, a backtick at an end would become part of the mark.
    let gap = if mark.len() > 1 { " " } else { "" };
    format!("{mark}{gap}{text}{gap}{mark}")
}

/// A text as code in a table, where a bar would end its cell.
pub(crate) fn cell(text: &str) -> String {
    if !text.contains(['|', '\\']) {
        return code(text);
    }
    format!("<code>{}</code>", html(text))
}

/// Text as HTML, also where Markdown is read in it: every mark is written by its number, so it is
/// markup in neither.
pub(crate) fn html(text: &str) -> String {
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
pub(crate) fn escaped(text: &str) -> String {
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
