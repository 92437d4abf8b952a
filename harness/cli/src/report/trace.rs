//! Traces: a prompt with the source of each of its bytes, for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use rolecall_core::lines::Lines;
use rolecall_core::provenance::{Input, InputKind, Origin, Span};
use rolecall_core::transcript::{END, encode_char};
use rolecall_core::{Case, Decisions, Site, Template, TemplatePart};
use rolecall_front::fields::{Field, fields};
use rolecall_front::trace::is_key;
use rolecall_io::template_file::{line_in_file, place};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::numbers::{percent, thousands};
use super::screen;
use super::style::{HEADING, PLAIN, QUIET, Styled};
use super::wrapping::paragraph;

/// A prompt, and where its bytes come from.
#[derive(Debug)]
pub struct Trace<'t> {
    pub template: &'t Template,
    pub lines: &'t Lines,
    /// The case as the template saw it.
    pub case: &'t Case,
    pub prompt: &'t str,
    pub spans: &'t [Span],
    /// What the decisions of the render looked at, if somebody asked for it.
    pub decisions: Option<&'t Decisions>,
    /// The sites of the template, for the decisions.
    pub sites: &'t [Site],
}

/// What a stretch of a prompt comes from, as reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Template,
    Input(InputKind),
    Made,
}

impl Source {
    /// All sources, in the order of the legend.
    pub(crate) const ALL: [Source; 8] = [
        Source::Template,
        Source::Input(InputKind::Message),
        Source::Input(InputKind::Tool),
        Source::Input(InputKind::Document),
        Source::Input(InputKind::Variable),
        Source::Input(InputKind::Token),
        Source::Input(InputKind::Clock),
        Source::Made,
    ];

    pub(crate) fn of(span: &Span) -> Source {
        match &span.origin {
            Origin::Literal { .. } => Source::Template,
            Origin::Input { input, .. } => Source::Input(input.kind),
            Origin::Made { .. } => Source::Made,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Source::Template => "template",
            Source::Input(kind) => kind.name(),
            Source::Made => "made",
        }
    }

    fn style(self) -> Style {
        let color = match self {
            Source::Template => return PLAIN,
            Source::Input(InputKind::Message) => AnsiColor::Green,
            Source::Input(InputKind::Tool) => AnsiColor::Magenta,
            Source::Input(InputKind::Document) => AnsiColor::Cyan,
            Source::Input(InputKind::Variable) => AnsiColor::Yellow,
            Source::Input(InputKind::Token) => AnsiColor::Blue,
            Source::Input(InputKind::Clock) => AnsiColor::Red,
            Source::Made => return AnsiColor::Yellow.on_default().italic().underline(),
        };
        color.on_default()
    }
}

impl Trace<'_> {
    pub(crate) fn text(&self, span: &Span) -> &str {
        self.prompt.get(span.prompt.clone()).unwrap_or_default()
    }

    /// How many bytes of the prompt each source gives. Sources that give none are left out.
    pub(crate) fn bytes(&self) -> BTreeMap<Source, usize> {
        let mut bytes = BTreeMap::new();
        for span in self.spans {
            *bytes.entry(Source::of(span)).or_default() += span.prompt.len();
        }
        bytes
    }

    /// The source of a span in words: `chat.jinja:3:1`, `messages[0].content[3..17] trim`.
    pub(crate) fn source(&self, span: &Span, known: &Known) -> String {
        let done = span.operations.iter().filter(|done| **done != "key");
        let done = done.copied().collect::<Vec<_>>().join(", ");
        match &span.origin {
            Origin::Literal { source } => {
                let place = self.place(source.start);
                with_words(&place, &done)
            }
            Origin::Input { input, .. } if is_key(span) => {
                with_words(&format!("the key of {}", input.path), &done)
            }
            Origin::Input { input, bytes } => {
                let is_whole = *bytes == (0..known.length(input));
                let piece = if is_whole {
                    input.path.clone()
                } else {
                    format!("{}[{}..{}]", input.path, bytes.start, bytes.end)
                };
                with_words(&piece, &done)
            }
            Origin::Made { from } => {
                let by = if done.is_empty() {
                    "made".to_owned()
                } else {
                    format!("made by {done}")
                };
                match from.as_ref() {
                    [] => by,
                    from => format!("{by} from {}", paths(from)),
                }
            }
        }
    }

    /// The place of a byte of the template: the file's name, the line and the column.
    pub(crate) fn place(&self, at: usize) -> String {
        let position = self.lines.position(&self.template.source, at);
        let name = self.template.path.file_name();
        let name = name.map_or_else(
            || self.template.name.to_string(),
            |name| name.to_string_lossy().into_owned(),
        );
        let line = line_in_file(self.template, Some(position.line)).unwrap_or(position.line);
        let column = position.column;
        match &self.template.part {
            TemplatePart::Key(key) => format!("{name} ({key}, {line}:{column})"),
            _ => format!("{name}:{line}:{column}"),
        }
    }
}

/// The lengths of the texts that a template was given.
#[derive(Debug)]
pub(crate) struct Known(BTreeMap<String, usize>);

impl Known {
    pub(crate) fn of(fields: &[Field]) -> Known {
        let texts = fields.iter().filter(|field| field.is_text);
        let lengths = texts.filter_map(|field| {
            let text = field.text.as_ref()?;
            Some((field.path.clone(), text.len()))
        });
        Known(lengths.collect())
    }

    /// The length of a text; 0 if it is not known.
    fn length(&self, input: &Input) -> usize {
        self.0.get(&input.path).copied().unwrap_or_default()
    }
}

fn with_words(place: &str, done: &str) -> String {
    if done.is_empty() {
        place.to_owned()
    } else {
        format!("{place} {done}")
    }
}

/// The first inputs that something was made from.
fn paths(from: &[std::sync::Arc<Input>]) -> String {
    const MOST: usize = 3;
    let named = from.iter().take(MOST).map(|input| input.path.as_str());
    let named = named.collect::<Vec<_>>().join(", ");
    match from.len().saturating_sub(MOST) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Writes a trace for a person: a legend, the prompt in colours unless nobody sees them, and each
/// stretch of the prompt with its source.
pub fn write(out: &mut dyn Write, trace: &Trace<'_>) -> io::Result<()> {
    let width = screen::width();
    let known = Known::of(&fields(trace.template, trace.case));
    let name = Styled(HEADING, trace.template.name.as_str());
    let file = Styled(QUIET, place(trace.template, None));
    let title = format!("{name} {}  {file}", trace.case.id);
    paragraph(out, &title, 2)?;
    write_legend(out, trace)?;
    if screen::has_colours() {
        writeln!(out)?;
        write_prompt(out, trace, width)?;
    }
    writeln!(out)?;
    write_list(out, trace, &known, width)
}

/// `template 54.02 %  message 30.11 %`: which sources there are, each in its style.
fn write_legend(out: &mut dyn Write, trace: &Trace<'_>) -> io::Result<()> {
    let bytes = trace.bytes();
    let shares = Source::ALL.into_iter().filter_map(|source| {
        let bytes = bytes.get(&source)?;
        let share = percent(*bytes, trace.prompt.len());
        let share = Styled(QUIET, share);
        Some(format!("{} {share}", Styled(source.style(), source.name())))
    });
    let all = format!("{} bytes:", thousands(trace.prompt.len()));
    let shares: Vec<_> = std::iter::once(Styled(QUIET, all).to_string())
        .chain(shares)
        .collect();
    paragraph(out, &shares.join("  "), 2)
}

/// A line of the prompt in colours.
#[derive(Default)]
struct Line {
    text: String,
    width: usize,
    /// The inputs of the line, in its order.
    inputs: Vec<(Source, String)>,
}

/// Writes the prompt in the colours of its sources. Next to the lines are the fields that they come
/// from, where there is room.
fn write_prompt(out: &mut dyn Write, trace: &Trace<'_>, width: usize) -> io::Result<()> {
    let mut lines = vec![Line::default()];
    for span in trace.spans {
        let source = Source::of(span);
        let text = trace.text(span);
        for piece in text.split_inclusive('\n') {
            if let Some(line) = lines.last_mut() {
                line.add(source, span, piece);
            }
            if piece.ends_with('\n') {
                lines.push(Line::default());
            }
        }
    }
    if let Some(last) = lines.last_mut() {
        last.text.push_str(&Styled(QUIET, END).to_string());
        last.width += 1;
    }
    let side = side(&lines, width);
    for line in &lines {
        write!(out, "{}", line.text)?;
        let room = width.saturating_sub(side + 2);
        if line.width < side && !line.inputs.is_empty() {
            write!(out, "{:1$}", "", side - line.width)?;
            let mut left = room;
            for (index, (source, path)) in line.inputs.iter().enumerate() {
                let more = index + 1 < line.inputs.len();
                if path.width() + usize::from(more) * 2 > left {
                    write!(out, "{}", Styled(QUIET, "…"))?;
                    break;
                }
                left = left.saturating_sub(path.width() + 1);
                write!(out, "{}", Styled(source.style().dimmed(), path))?;
                if more {
                    write!(out, " ")?;
                }
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The column in which the fields are: after the widest line, but not after the middle of the
/// screen.
fn side(lines: &[Line], width: usize) -> usize {
    let widths = lines.iter().map(|line| line.width);
    let most = width * 3 / 5;
    let widest = widths.filter(|width| *width + 3 <= most).max();
    widest.unwrap_or_default() + 3
}

impl Line {
    fn add(&mut self, source: Source, span: &Span, piece: &str) {
        let shown = visible(piece);
        self.width += shown.width();
        // White space of the template needs no attention.
        let (text, mark) = match shown.strip_suffix('␊') {
            Some(text) if source == Source::Template => (text, "␊"),
            _ => (shown.as_str(), ""),
        };
        self.text += &Styled(source.style(), text).to_string();
        if !mark.is_empty() {
            self.text += &Styled(QUIET, mark).to_string();
        }
        let paths = match &span.origin {
            Origin::Literal { .. } => return,
            Origin::Input { input, .. } => std::slice::from_ref(input),
            Origin::Made { from } => from.as_ref(),
        };
        for path in paths.iter().map(|input| &input.path) {
            if !self.inputs.iter().any(|(_, known)| known == path) {
                self.inputs.push((source, path.clone()));
            }
        }
    }
}

/// Writes each span: its bytes, its text and its source.
fn write_list(
    out: &mut dyn Write,
    trace: &Trace<'_>,
    known: &Known,
    width: usize,
) -> io::Result<()> {
    /// The least width of the column for texts.
    const LEAST_TEXT: usize = 20;
    let ranges: Vec<String> = trace.spans.iter().map(bytes).collect();
    let sources: Vec<String> = trace
        .spans
        .iter()
        .map(|span| trace.source(span, known))
        .collect();
    let wide = ranges.iter().map(String::len).max().unwrap_or(0);
    let widest = sources.iter().map(|source| source.width()).max();
    // A source that is wider than half of the screen widens no column.
    let room = width.saturating_sub(wide + 4);
    let room = room.saturating_sub(widest.unwrap_or(0).min(room / 2));
    let texts: Vec<String> = trace
        .spans
        .iter()
        .map(|span| shortened(trace.text(span), room.max(LEAST_TEXT)))
        .collect();
    let wide_text = texts.iter().map(|text| text.width()).max().unwrap_or(0);
    let rows = trace.spans.iter().zip(&ranges).zip(&texts).zip(&sources);
    for (((span, range), text), source) in rows {
        let style = Source::of(span).style();
        let range = Styled(QUIET, format!("{range:>wide$}"));
        if room < LEAST_TEXT {
            let indent = 2;
            paragraph(out, &format!("{range}  {source}"), 4)?;
            let text = shortened(trace.text(span), width - indent);
            writeln!(out, "{:indent$}{}", "", Styled(style, text))?;
            continue;
        }
        let gap = wide_text - text.width();
        let shown = Styled(style, text);
        let line = format!("{range}  {shown}{:gap$}  {source}", "");
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn bytes(span: &Span) -> String {
    format!("{}..{}", span.prompt.start, span.prompt.end)
}

/// A text on one line with every byte visible.
pub(crate) fn visible(text: &str) -> String {
    let mut visible = String::new();
    for c in text.chars() {
        match c {
            '\n' => visible.push('␊'),
            c => encode_char(c, &mut visible),
        }
    }
    visible
}

/// A text on one line, with its middle left out if it is wider than `width`.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    /// What is shown of the end.
    const END: usize = 8;
    // A text may be a megabyte. One character more than fits tells whether some are left.
    let head: String = text.chars().take(width + 1).collect();
    let shown = visible(&head);
    if head.len() == text.len() && shown.width() <= width {
        return shown;
    }
    let mut tail: Vec<char> = text.chars().rev().take(END).collect();
    tail.reverse();
    let tail = visible(&String::from_iter(tail));
    let tail = if tail.width() * 3 > width {
        String::new()
    } else {
        tail
    };
    let mut left = width.saturating_sub(1 + tail.width());
    let fits = |c: &char| {
        let wide = c.width().unwrap_or(0);
        let fits = wide <= left;
        left = left.saturating_sub(wide);
        fits
    };
    let head: String = shown.chars().take_while(fits).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shortened("a\nb", 10), "a␊b");
        assert_eq!(shortened(&"x".repeat(20), 20), "x".repeat(20));
        let long = format!("{}the end", "word ".repeat(40));
        let shown = shortened(&long, 30);
        assert_eq!(shown, "word word word word w… the end");
        assert!(shortened(&"漢".repeat(40), 21).width() <= 21);
        assert!(shortened(&"\u{200b}".repeat(40), 21).width() <= 21);
    }
}
