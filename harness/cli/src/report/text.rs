//! Reports as templates: what a report says is in a file beside its module, `accepting.txt` for example.
//!
//! A line of the template is a line of the report, and a line that is only a statement is none. A
//! line after `~` is a paragraph: it is wrapped to the screen's width, or to the variable `width`,
//! and goes on two columns after its indent. `~6~` lets it go on after six columns. A line after `|`
//! is a row of a table within `{% filter columns(…) %}`: each `|` begins a cell. The numbers of
//! the columns that are aligned to the right are the filter's argument. A line after `=` is an
//! expression whose text has its own line ends.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, State, UndefinedBehavior, Value};

use serde::Serialize;

use super::clean::own_mark;
use super::columns::{Cell, Columns};
use super::numbers::{counted, percent, thousands};
use super::screen;
use super::style::{self, Styled};
use super::wrapping::{advice, wrapped, wrapped_command};
use rolecall_core::invocation;
use rolecall_core::problem::shown;

/// A template that is compiled when its report is written first.
pub(crate) struct Text(Result<Environment<'static>, Error>);

/// Writes a report: the template in a file beside the module, or in a text, with its data.
macro_rules! text {
    ($out:expr, $source:expr, {$($data:tt)*}) => {{
        use std::sync::LazyLock;
        static TEXT: LazyLock<$crate::report::text::Text> =
            LazyLock::new(|| $crate::report::text::Text::new($source));
        TEXT.write($out, minijinja::context! { $($data)* })
    }};
}
pub(crate) use text;

impl Text {
    pub(crate) fn new(source: &str) -> Text {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
            environment.set_syntax(syntax);
        }
        for (name, style) in style::NAMED {
            let styled = move |value: &Value| Styled(style, value).to_string();
            environment.add_filter(name, styled);
        }
        environment.add_filter("style", |value: &Value, name: &str| {
            Styled(style::named(name), value).to_string()
        });
        environment.add_filter("thousands", thousands);
        environment.add_filter("percent", percent);
        environment.add_filter("counted", |count: usize, one: &str, many: Option<&str>| {
            let regular = format!("{one}s");
            counted(count, one, many.unwrap_or(&regular))
        });
        environment.add_filter("left", |value: &Value, width: usize| {
            format!("{:width$}", value.to_string())
        });
        environment.add_filter("right", |value: &Value, width: usize| {
            format!("{:>width$}", value.to_string())
        });
        environment.add_filter("shown", shown);
        environment.add_filter("paragraph", |state: &State, text: &str, hang: usize| {
            wrapped(text, width(state), hang) + "\n"
        });
        environment.add_filter("shell", |state: &State, command: &str, indent: usize| {
            wrapped_command(command, width(state), indent)
        });
        environment.add_filter("lines", lines);
        environment.add_filter("columns", columns);
        environment.add_function("headings", |names: Vec<String>| {
            let names = names
                .iter()
                .map(|name| Styled(style::HEADING, name).to_string());
            names.collect::<Vec<_>>().join(&own_mark('|'))
        });
        environment.add_function("command", invocation::command);
        environment.add_function("advice", advice);
        let added = environment.add_template_owned("report", prepared(source));
        Text(added.map(|()| environment))
    }

    pub(crate) fn write(&self, out: &mut dyn Write, data: Value) -> io::Result<()> {
        let template = self
            .0
            .as_ref()
            .map_err(|error| io::Error::other(format!("{error:#}")))?;
        let text = template
            .get_template("report")
            .and_then(|template| template.render(data));
        let text = text.map_err(|error| io::Error::other(format!("{error:#}")))?;
        out.write_all(text.as_bytes())
    }
}

/// A document as templates read it: they know its keys as its JSON has them.
/// minijinja's own way takes the numbers of `serde_json`, which are texts here, for objects.
pub(crate) fn data(document: &impl Serialize) -> Value {
    fn of(value: serde_json::Value) -> Value {
        use serde_json::Value as Json;
        match value {
            Json::Null => Value::from(()),
            Json::Bool(is_true) => is_true.into(),
            Json::Number(number) => number
                .as_i64()
                .map_or_else(|| number.as_f64().into(), Value::from),
            Json::String(text) => text.into(),
            Json::Array(items) => items.into_iter().map(of).collect(),
            Json::Object(entries) => {
                let entries = entries.into_iter().map(|(key, value)| (key, of(value)));
                entries.collect::<BTreeMap<_, _>>().into()
            }
        }
    }
    of(serde_json::to_value(document).unwrap_or_default())
}

/// What a report writes, as a text for a template.
pub(crate) fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<String> {
    let mut out = Vec::new();
    write(&mut out)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// The width of the report's lines.
fn width(state: &State) -> usize {
    let width = state
        .lookup("width")
        .and_then(|width| width.try_into().ok());
    width.unwrap_or_else(screen::width)
}

/// A text whose lines each have the style. `first` is before the text.
fn lines(
    state: &State,
    text: &str,
    name: &str,
    first: Option<&str>,
    hang: Option<usize>,
) -> String {
    let first = first.unwrap_or_default();
    let text = wrapped(
        &format!("{first}{text}"),
        width(state),
        hang.unwrap_or_default(),
    );
    let lines = text
        .lines()
        .map(|line| Styled(style::named(name), line.trim_end()).to_string() + "\n");
    lines.collect()
}

/// Rows of cells in columns.
fn columns(state: &State, text: &str, right: Option<Vec<usize>>) -> String {
    let mut columns = Columns::right_aligned(right.unwrap_or_default());
    for row in text.split_terminator(&own_mark('\n')) {
        columns.row(row.split(&own_mark('|')).map(Cell::parse));
    }
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = columns.write_within(&mut out, width(state));
    String::from_utf8_lossy(&out).into_owned()
}

/// A template with the lines as the engine knows them.
fn prepared(source: &str) -> String {
    let mut text = String::new();
    let mut is_table = false;
    for line in source.lines() {
        let trimmed = line.trim();
        let end = trimmed.len().saturating_sub(2);
        if trimmed.starts_with("{%") && trimmed.find("%}") == Some(end) || trimmed.starts_with("{#")
        {
            text += trimmed;
            is_table = trimmed.starts_with("{% filter columns")
                || is_table && !trimmed.starts_with("{% endfilter");
        } else if let Some(line) = line.strip_prefix('~') {
            let number = line
                .split_once('~')
                .and_then(|(hang, rest)| Some((hang.parse().ok()?, rest)));
            let indent = line.len() - line.trim_start_matches(' ').len();
            let (hang, line): (usize, _) = number.unwrap_or((indent + 2, line));
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "{{% filter paragraph({hang}) %}}{line}{{% endfilter %}}"
            );
        } else if let Some(lines) = line.strip_prefix('=') {
            let _ = write!(text, "{{{{{lines} }}}}");
        } else if let Some(row) = line.strip_prefix('|').filter(|_| is_table) {
            text += &cells(row);
            text += &own_mark('\n');
        } else {
            text += line;
            text.push('\n');
        }
    }
    text
}

/// A row in which the marks between cells are those that no text of others can contain.
fn cells(row: &str) -> String {
    let mut text = String::new();
    let mut depth = 0;
    for c in row.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c == '|' && depth == 0 {
            text += &own_mark('|');
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_paragraphs_rows_or_statements() {
        const SOURCE: &str = "{% for one in all %}\n~  {{ one | counted('thing') }} of {{ one }}{% if one > 1 %}!{% endif %}\n\
                      {% endfor %}\n{% filter columns([1]) %}\n{% for one in all %}\n|{{ 'a|b' | bad }}|{{ one }}\n\
                      {% endfor %}\n{% endfilter %}\nend";
        let mut out = Vec::new();
        text!(&mut out, SOURCE, { all => [1, 20], width => 8 }).unwrap();
        let text = crate::report::clean::plain(&out);
        assert_eq!(
            text,
            "  1\n    thing\n    of 1\n  20\n    things\n    of\n    20!\na|b   1\na|b  20\nend\n"
        );
    }

    /// Some reports are rare: a mistake in their templates would be seen late.
    #[test]
    fn every_template_can_be_read() {
        let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
            {
                let kind = path.extension().and_then(|kind| kind.to_str());
                if path.is_dir() {
                    folders.push(path);
                } else if matches!(kind, Some("txt" | "md")) {
                    let source = std::fs::read_to_string(&path).unwrap();
                    assert!(super::Text::new(&source).0.is_ok(), "{}", path.display());
                    count += 1;
                }
            }
        }
        assert!(count > 40, "{count}");
    }
}
