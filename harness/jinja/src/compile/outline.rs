//! The outline of a template: the pieces of each body, with their places. Whoever puts tags into a
//! template needs to know where a tag may be.

use std::ops::Range;

use minijinja::Error;

use crate::compile::grammar;
use crate::compile::grammar::escapes::unescaped;
use crate::compile::grammar::lexer::{Lexer, normalised};
use crate::compile::grammar::tokens::Token;

/// A template cut into the pieces of its bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The source as Jinja2 reads it: every line ends with `\n`. All places are bytes of it.
    pub source: String,
    /// The bodies. A body comes before the bodies that it is in.
    pub bodies: Vec<Body>,
}

/// Pieces that follow each other: the whole template, or what is between two tags that belong
/// together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The pieces, in their order. They cover the body wholly.
    pub pieces: Vec<Piece>,
    /// The names that the loops around it give to their items, the innermost first.
    pub items: Vec<String>,
    /// Whether the body is within a macro or a captured text, so that it writes no prompt itself.
    pub is_captured: bool,
}

/// A piece of a body: plain text, a print, or a tag with its own bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it is, with the signs of its tags.
    pub span: Range<usize>,
    /// What it is.
    pub kind: PieceKind,
}

/// What a piece of a body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PieceKind {
    /// Text outside of tags.
    Text,
    /// A print. If it joins texts with `+` or `~`, these are the places of its operands; otherwise
    /// there is one.
    Print(Vec<Range<usize>>),
    /// A tag without a body.
    Tag,
    /// A tag with all that belongs to it, up to the tag that ends it.
    Block,
}

/// A block that is not ended yet.
struct Open {
    start: usize,
    pieces: Vec<Piece>,
    item: Option<String>,
    captures: bool,
}

/// The tags that have a body, and whether they capture what it writes.
const BLOCKS: [(&str, bool); 9] = [
    ("if", false),
    ("for", false),
    ("with", false),
    ("block", false),
    ("autoescape", false),
    ("generation", false),
    ("macro", true),
    ("call", true),
    ("filter", true),
];

impl Outline {
    /// The outline of a template. None if the template cannot be read.
    pub fn of(source: &str) -> Option<Outline> {
        let source = normalised(source).into_owned();
        grammar::parse(&source).ok()?;
        let bodies = bodies(&source).ok()?;
        Some(Outline { source, bodies })
    }

    /// Where so many bytes of a string end in its literal, which is at a place with its quotation
    /// marks. None if there is no such place.
    pub fn place_in_string(&self, literal: &Range<usize>, bytes: usize) -> Option<usize> {
        let inside = self.source.get(literal.start + 1..literal.end - 1)?;
        let places = inside.char_indices().map(|(at, _)| at);
        let mut places = places.filter(|at| {
            let text = unescaped(&inside[..*at]);
            text.is_ok_and(|text| text.len() == bytes)
        });
        // A place within an escape gives an error, or the bytes of what comes before it.
        let at = places.next()?;
        let is_whole = unescaped(&inside[at..]).is_ok();
        is_whole.then_some(literal.start + 1 + at)
    }
}

/// The bodies of a template that can be read.
fn bodies(source: &str) -> Result<Vec<Body>, Error> {
    let mut lexer = Lexer::new(source);
    let mut open = vec![Open::new(0)];
    let mut bodies = Vec::new();
    // Where the last tag ends.
    let mut end = 0;
    loop {
        let (token, span) = lexer.next()?;
        let start = span.start_offset as usize;
        match token {
            Token::Text(_) => continue,
            Token::PrintBegin | Token::BlockBegin => {}
            _ => break,
        }
        let is_print = token == Token::PrintBegin;
        let mut inside = Vec::new();
        let after = loop {
            let (token, span) = lexer.next()?;
            let place = span.start_offset as usize..span.end_offset as usize;
            match token {
                Token::PrintEnd | Token::BlockEnd | Token::End => break place,
                token => inside.push((token, place)),
            }
        };
        // The token for the end of a tag has the white space that it takes away.
        let sign = &source[after.clone()];
        let length = sign.find(['}', '%']).map_or(sign.len(), |at| at + 2);
        let place = start..after.start + length;
        if let Some(last) = open.last_mut() {
            last.push(end..start, PieceKind::Text);
        }
        end = place.end;
        if is_print {
            if let Some(last) = open.last_mut() {
                last.push(place, PieceKind::Print(operands(&inside)));
            }
            continue;
        }
        tag(&inside, place, &mut open, &mut bodies);
    }
    while let Some(mut last) = open.pop() {
        last.push(end..source.len(), PieceKind::Text);
        close(&last, &open, &mut bodies);
    }
    bodies.reverse();
    Ok(bodies)
}

/// Adds a tag to the bodies that are open.
fn tag(
    inside: &[(Token<'_>, Range<usize>)],
    place: Range<usize>,
    open: &mut Vec<Open>,
    bodies: &mut Vec<Body>,
) {
    let name = match inside.first() {
        Some((Token::Name(name), _)) => *name,
        _ => "",
    };
    let known = BLOCKS.iter().find(|(block, _)| *block == name);
    let is_sign = |token: &Token<'_>, sign: &str| matches!(token, Token::Sign(own) if *own == sign);
    let captures = match known {
        Some((_, captures)) => Some(*captures),
        None if name == "set" => {
            let assigns = inside.iter().any(|(token, _)| is_sign(token, "="));
            (!assigns).then_some(true)
        }
        None => None,
    };
    if let Some(captures) = captures {
        let item = match inside {
            [_, (Token::Name(item), _), (Token::Name("in"), _), ..] if name == "for" => {
                Some((*item).to_owned())
            }
            _ => None,
        };
        open.push(Open {
            item,
            captures,
            ..Open::new(place.start)
        });
    } else if matches!(name, "elif" | "else") {
        if let Some(last) = open.pop() {
            close(&last, open, bodies);
            open.push(Open {
                pieces: Vec::new(),
                ..last
            });
        }
    } else if name.starts_with("end") && open.len() > 1 {
        if let Some(last) = open.pop() {
            close(&last, open, bodies);
            if let Some(around) = open.last_mut() {
                around.push(last.start..place.end, PieceKind::Block);
            }
        }
    } else if let Some(last) = open.last_mut() {
        last.push(place, PieceKind::Tag);
    }
}

impl Open {
    fn new(start: usize) -> Open {
        Open {
            start,
            pieces: Vec::new(),
            item: None,
            captures: false,
        }
    }

    fn push(&mut self, span: Range<usize>, kind: PieceKind) {
        if !span.is_empty() {
            self.pieces.push(Piece { span, kind });
        }
    }
}

/// Keeps a body that ends.
fn close(ended: &Open, around: &[Open], bodies: &mut Vec<Body>) {
    let all = || around.iter().chain([ended]);
    bodies.push(Body {
        pieces: ended.pieces.clone(),
        items: all().rev().filter_map(|open| open.item.clone()).collect(),
        is_captured: all().any(|open| open.captures),
    });
}

/// The operands that a print joins with `+` or `~`. One if it does something else with them.
fn operands(inside: &[(Token<'_>, Range<usize>)]) -> Vec<Range<usize>> {
    let (Some((_, first)), Some((_, last))) = (inside.first(), inside.last()) else {
        return Vec::new();
    };
    let whole = first.start..last.end;
    let mut operands = vec![whole.clone()];
    let mut depth = 0_usize;
    for (at, (token, place)) in inside.iter().enumerate() {
        match token {
            Token::Sign("(" | "[" | "{") => depth += 1,
            Token::Sign(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            Token::Name("if" | "else" | "and" | "or" | "not" | "in" | "is")
            | Token::Sign("==" | "!=" | "<" | ">" | "<=" | ">=" | "," | "-" | "*" | "/" | "%") => {
                return vec![whole];
            }
            Token::Sign("+" | "~") if at > 0 && at + 1 < inside.len() => {
                if let Some(last) = operands.last_mut() {
                    last.end = inside[at - 1].1.end;
                }
                operands.push(inside[at + 1].1.start..whole.end);
            }
            Token::Sign("+" | "~") => return vec![place.clone()],
            _ => {}
        }
    }
    operands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(source: &str) -> Vec<(Vec<String>, Vec<String>, bool)> {
        let outline = Outline::of(source).unwrap();
        let bodies = outline.bodies.iter().map(|body| {
            let pieces = body.pieces.iter().map(|piece| {
                let text = &outline.source[piece.span.clone()];
                match &piece.kind {
                    PieceKind::Text => format!("text {text}"),
                    PieceKind::Tag => format!("tag {text}"),
                    PieceKind::Block => format!("block {text}"),
                    PieceKind::Print(operands) => {
                        let operands = operands.iter().map(|it| &outline.source[it.clone()]);
                        format!("print {}", operands.collect::<Vec<_>>().join(" & "))
                    }
                }
            });
            (pieces.collect(), body.items.clone(), body.is_captured)
        });
        bodies.collect()
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn bodies_have_their_pieces_and_the_items_of_loops() {
        let source = "a{%- for m in messages -%}\n {{- m.role + '\\n' ~ m['x' + 'y'] | trim -}} \
                      {% if m %}b{% set x = 1 %}{% else %}{# no #}{% endif %}{% endfor %}";
        let found = outline(source);
        let whole = words(&["text a", &format!("block {}", &source[1..])]);
        assert_eq!(found[0], (whole, vec![], false));
        assert_eq!(found[1].1, ["m"]);
        assert_eq!(found[1].0[0], "text \n ");
        assert_eq!(found[1].0[1], "print m.role & '\\n' & m['x' + 'y'] | trim");
        let rest = (words(&["text {# no #}"]), words(&["m"]), false);
        assert_eq!(found[2], rest);
        let branch = words(&["text b", "tag {% set x = 1 %}"]);
        assert_eq!(found[3], (branch, words(&["m"]), false));
    }

    #[test]
    fn what_a_macro_or_a_capture_writes_is_no_prompt() {
        let source = "{% macro f(x) %}{{ x }}{% endmacro %}{% set y %}z{% endset %}{{ f(y) }}";
        let found = outline(source);
        let captured: Vec<bool> = found
            .iter()
            .map(|(_, _, is_captured)| *is_captured)
            .collect();
        assert_eq!(captured, [false, true, true]);
        assert_eq!(found[0].0.last().unwrap(), "print f(y)");
    }

    #[test]
    fn a_print_that_decides_or_counts_has_one_operand() {
        for source in [
            "{{ a + b if c }}",
            "{{ a + b == c }}",
            "{{ a + b - c }}",
            "{{ a, b + c }}",
        ] {
            let found = outline(source);
            let print = format!("print {}", &source[3..source.len() - 3]);
            assert_eq!(found[0].0, [print]);
        }
    }

    #[test]
    fn a_place_in_a_string_is_found_after_escapes() {
        let source = r"{{ 'a\nb\u00e9c' }}";
        let outline = Outline::of(source).unwrap();
        let literal = 3..source.len() - 3;
        let place = |bytes| {
            outline
                .place_in_string(&literal, bytes)
                .map(|at| &source[at..])
        };
        assert_eq!(place(1), Some(r"\nb\u00e9c' }}"));
        assert_eq!(place(2), Some(r"b\u00e9c' }}"));
        assert_eq!(place(4), None);
        assert_eq!(place(5), Some("c' }}"));
    }

    #[test]
    fn a_template_that_cannot_be_read_has_none() {
        assert_eq!(Outline::of("{% if %}"), None);
    }
}
