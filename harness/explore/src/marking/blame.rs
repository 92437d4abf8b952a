//! What prevents marks: a text that the model writes, and the place of the template that writes it.

use std::fmt;
use std::ops::Range;

use rolecall_core::provenance::{Origin, Span};
use rolecall_core::transcript::encode_char;
use rolecall_core::{Cut, Template};
use rolecall_jinja::{Outline, PieceKind};

use super::trial::Left;

/// A text that the model writes and that nothing can mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blame {
    /// The first case in which it is written: `family/name`.
    pub case: String,
    pub text: String,
    /// The line of the template that writes it, if it is known.
    pub line: Option<usize>,
    pub obstacle: Obstacle,
}

/// What is in the way of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// The text is written within a macro, or into a variable, and printed elsewhere with other text.
    Captured,
    /// The print decides or changes a text that is only partly the model's.
    Print,
    /// The branch also writes what the model does not write.
    Branch,
    /// Each text can be marked, but not all of them together.
    Together,
}

impl Obstacle {
    /// What is in the way, in words.
    pub fn about(self) -> &'static str {
        match self {
            Obstacle::Captured => {
                "it is put together in a macro or a variable before it is printed"
            }
            Obstacle::Print => "its print also has other text, and cannot be cut there",
            Obstacle::Branch => "its branch also writes what the model does not write",
            Obstacle::Together => "the marks that are right alone are not right together",
        }
    }
}

impl Blame {
    /// The blame for what is left unmarked.
    pub(super) fn find(outline: &Outline, template: &Template, left: Vec<Left<'_, '_>>) -> Blame {
        let Some(first) = left.into_iter().next() else {
            return Blame {
                case: String::new(),
                text: String::new(),
                line: None,
                obstacle: Obstacle::Together,
            };
        };
        let Left { target, ranges } = first;
        let range = ranges.first().cloned().unwrap_or_default();
        let within = |span: &&Span| span.prompt.start < range.end && range.start < span.prompt.end;
        let spans = || target.spans.iter().filter(within);
        let text = target.prompt().get(range.clone()).unwrap_or_default();
        // A text of the template says the place, and what the model says has none. A literal next
        // to it is the next best.
        let literal = |span: &Span| match &span.origin {
            Origin::Literal { source } => Some((source.start, span.prompt.clone())),
            _ => None,
        };
        let place = spans().find_map(literal);
        let neighbour = || {
            let before = target
                .spans
                .iter()
                .take_while(|it| it.prompt.end <= range.start);
            before.filter_map(literal).last()
        };
        let place = place.or_else(neighbour);
        let line = place
            .as_ref()
            .map(|(at, _)| template.source.cut(..*at).matches('\n').count() + 1);
        // Whether the place writes nothing but what the model writes.
        let is_whole = |prompt: &Range<usize>| {
            let mut learned = target.learned.iter();
            learned.any(|it| it.start <= prompt.start && prompt.end <= it.end)
        };
        Blame {
            case: target.pair.case.id.to_string(),
            text: text.to_owned(),
            line,
            obstacle: place.map_or(Obstacle::Branch, |(at, prompt)| {
                match obstacle(outline, at) {
                    Obstacle::Print if is_whole(&prompt) => Obstacle::Branch,
                    other => other,
                }
            }),
        }
    }
}

/// What is in the way at a place of the source: the innermost body around it says so.
fn obstacle(outline: &Outline, at: usize) -> Obstacle {
    let bodies = outline.bodies.iter();
    let pieces = bodies.flat_map(|body| body.pieces.iter().map(move |piece| (body, piece)));
    let around = pieces.filter(|(_, piece)| piece.span.contains(&at));
    let innermost = around.min_by_key(|(_, piece)| piece.span.len());
    match innermost {
        Some((body, _)) if body.is_captured => Obstacle::Captured,
        Some((_, piece)) => match &piece.kind {
            PieceKind::Print(operands) if operands.len() < 2 => Obstacle::Print,
            PieceKind::Tag => Obstacle::Captured,
            _ => Obstacle::Branch,
        },
        None => Obstacle::Branch,
    }
}

/// How many characters of the text are shown.
const SHOWN: usize = 40;

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.obstacle == Obstacle::Together {
            return f.write_str(self.obstacle.about());
        }
        let mut text = String::new();
        for c in self.text.chars().take(SHOWN) {
            match c {
                '\n' => text.push('␊'),
                c => encode_char(c, &mut text),
            }
        }
        if self.text.chars().nth(SHOWN).is_some() {
            text.push('…');
        }
        write!(f, "`{text}` in {}", self.case)?;
        if let Some(line) = self.line {
            write!(f, ", from line {line}")?;
        }
        write!(f, ": {}", self.obstacle.about())
    }
}
