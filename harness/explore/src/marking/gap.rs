//! Gaps: the places of a body where a tag may be, and how a tag is written there.
//!
//! A tag takes away white space next to it, as its signs say, and a newline after it. So a new tag
//! gets the signs that leave the text next to it as it was.

use rolecall_core::Cut as _;
use std::ops::Range;

use rolecall_jinja::{Body, Outline, PieceKind};

/// A place of a body where a tag may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gap {
    /// The piece after it, or within which it is. The end of the body comes after the last one.
    pub(super) piece: usize,
    pub(super) cut: Cut,
}

/// Where a gap is in its piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cut {
    Before,
    Text(usize),
    /// Between two operands of a print: the operator, with the space around it.
    Operator(Range<usize>),
    /// Within a string that is an operand of a print.
    String {
        at: usize,
        quote: char,
    },
}

/// A change of a source: what is at a place instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) span: Range<usize>,
    pub(super) text: String,
}

/// A source with some changes that do not overlap.
pub(super) fn edited(source: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut text, mut at) = (String::new(), 0);
    for edit in edits {
        text += source.cut(at..edit.span.start);
        text += &edit.text;
        at = edit.span.end;
    }
    text + source.cut(at..)
}

/// The gaps of a body, in their order. `wanted` are places within texts and strings where a gap is of
/// use.
pub(super) fn gaps(outline: &Outline, body: &Body, wanted: &[usize]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for (piece, own) in body.pieces.iter().enumerate() {
        gaps.push(Gap {
            piece,
            cut: Cut::Before,
        });
        let mut cut = |cut| gaps.push(Gap { piece, cut });
        let within = |span: &Range<usize>| {
            let (start, end) = (span.start, span.end);
            let wanted = wanted.iter().copied();
            wanted.filter(move |at| start < *at && *at < end)
        };
        match &own.kind {
            PieceKind::Text => within(&own.span).for_each(|at| cut(Cut::Text(at))),
            PieceKind::Print(operands) => {
                for (index, operand) in operands.iter().enumerate() {
                    let before = index.checked_sub(1).and_then(|before| operands.get(before));
                    if let Some(before) = before {
                        cut(Cut::Operator(before.end..operand.start));
                    }
                    let text = outline.source.cut(operand.clone());
                    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c));
                    // One string, and not several or one with a filter after it.
                    let is_string =
                        |quote: &char| text.cut(1..).find(*quote) == Some(text.len() - 2);
                    if let Some(quote) = quote.filter(is_string) {
                        within(operand).for_each(|at| cut(Cut::String { at, quote }));
                    }
                }
            }
            PieceKind::Tag | PieceKind::Block => {}
        }
    }
    gaps.push(Gap {
        piece: body.pieces.len(),
        cut: Cut::Before,
    });
    gaps
}

impl Gap {
    /// The same change where each part of a cut sum stays a sum with a text: `'a' + b` becomes `'a'`
    /// and `'' + b`. None if no sum is cut here.
    pub(super) fn guarded_edit(&self, outline: &Outline, body: &Body, words: &str) -> Option<Edit> {
        let Cut::Operator(span) = &self.cut else {
            return None;
        };
        let PieceKind::Print(operands) = &body.pieces.get(self.piece)?.kind else {
            return None;
        };
        let is_sum = outline.source.cut(span.clone()).contains('+');
        let edit = self.edit(outline, body, words);
        let is_text =
            |operand: &Range<usize>| outline.source.cut(operand.clone()).starts_with(['\'', '"']);
        let next = operands
            .iter()
            .position(|operand| operand.start >= span.end)?;
        let after = if operands.get(next).is_some_and(is_text) {
            ""
        } else {
            "'' + "
        };
        let before = if operands.iter().take(next).any(is_text) {
            ""
        } else {
            " + ''"
        };
        is_sum.then(|| Edit {
            text: format!("{before}{}{after}", edit.text),
            ..edit
        })
    }

    /// The change that puts a tag with these words here.
    pub(super) fn edit(&self, outline: &Outline, body: &Body, words: &str) -> Edit {
        match &self.cut {
            Cut::Text(at) => Edit {
                span: *at..*at,
                text: format!("{{%+ {words} +%}}"),
            },
            Cut::Operator(span) => Edit {
                span: span.clone(),
                text: format!(" }}}}{{% {words} %}}{{{{ "),
            },
            Cut::String { at, quote } => Edit {
                span: *at..*at,
                text: format!("{quote} }}}}{{% {words} %}}{{{{ {quote}"),
            },
            Cut::Before => self.edit_before(outline, body, words),
        }
    }

    fn edit_before(&self, outline: &Outline, body: &Body, words: &str) -> Edit {
        let is_text = |piece: Option<usize>| {
            let piece = piece.and_then(|piece| body.pieces.get(piece));
            piece.is_some_and(|piece| piece.kind == PieceKind::Text)
        };
        let at = self.place(body);
        let (before, after) = outline.source.split_at(at);
        let (start, end) = self.signs(outline, body);
        let mut text = format!("{{%{start} {words} {end}%}}");
        // On a line of its own, where the next tag takes away what is before it.
        let indent = before.rsplit_once('\n').map(|(_, line)| line);
        let indent = indent.filter(|line| line.chars().all(|c| c == ' ' || c == '\t'));
        if let Some(indent) = indent
            && start == "-"
            && !is_text(Some(self.piece))
            && (after.starts_with("{{-") || after.starts_with("{%-"))
        {
            text = format!("{text}\n{indent}");
        }
        Edit { span: at..at, text }
    }

    /// The signs of a tag here: at its start, and at its end.
    pub(super) fn signs(&self, outline: &Outline, body: &Body) -> (&'static str, &'static str) {
        if self.cut != Cut::Before {
            return ("+", "+");
        }
        let is_text = |piece: Option<usize>| {
            let piece = piece.and_then(|piece| body.pieces.get(piece));
            piece.is_some_and(|piece| piece.kind == PieceKind::Text)
        };
        let (before, after) = outline.source.split_at(self.place(body));
        let start = match after.get(..3) {
            _ if !is_text(self.piece.checked_sub(1)) => "",
            Some("{{-" | "{%-" | "{#-") => "-",
            Some("{%+" | "{#+") => "+",
            Some(tag) if tag.starts_with("{%") => "",
            _ => "+",
        };
        let end = if !is_text(Some(self.piece)) {
            ""
        } else if before.ends_with("-}}") || before.ends_with("-%}") {
            "-"
        } else if before.ends_with("%}") && !before.ends_with("+%}") {
            ""
        } else {
            "+"
        };
        (start, end)
    }

    /// The byte of the source before which it is.
    pub(super) fn place(&self, body: &Body) -> usize {
        match &self.cut {
            Cut::Text(at) | Cut::String { at, .. } => *at,
            Cut::Operator(span) => span.start,
            Cut::Before => match body.pieces.get(self.piece) {
                Some(piece) => piece.span.start,
                None => body.pieces.last().map_or(0, |piece| piece.span.end),
            },
        }
    }
}
