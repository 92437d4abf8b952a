//! Mutations: small changes of a template that good cases notice.

use std::collections::BTreeSet;
use std::ops::Range;

use rolecall_core::{Mutation, MutationKind};

use crate::scanner::{self, KEYWORDS, Token, is_space, token};

/// An action that writes nothing, without its delimiters.
const NOTHING: &str = "\"\"";

/// The mutations of a template, in the order of their places. None of them has the texts and tokens
/// of the template itself. None if the template cannot be read.
pub(crate) fn mutations(source: &str) -> Option<Vec<Mutation>> {
    let pieces = pieces(source)?;
    let mut changes = Changes {
        source,
        found: BTreeSet::new(),
    };
    for piece in &pieces {
        match piece {
            Piece::Text(span) => changes.text(span.clone()),
            Piece::Action(action) => changes.action(action),
        }
    }
    let original = meaning(source, &pieces);
    let mut sources = BTreeSet::new();
    let all = changes.found.into_iter();
    let kept = all.filter(|mutation| {
        let Some(mutated) = mutation.applied_to(source) else {
            return false;
        };
        let is_other =
            self::pieces(&mutated).is_some_and(|pieces| meaning(&mutated, &pieces) != original);
        is_other && sources.insert(mutated)
    });
    Some(kept.collect())
}

/// A text that is written, or an action.
#[derive(Debug)]
enum Piece<'s> {
    Text(Range<usize>),
    Action(Action<'s>),
}

/// An action with the places of its parts.
#[derive(Debug)]
struct Action<'s> {
    /// `{{`, with the mark for trimming.
    opening: Range<usize>,
    tokens: Vec<(Token<'s>, Range<usize>)>,
    /// `}}`, with the mark for trimming.
    closing: Range<usize>,
}

impl Action<'_> {
    /// The word that it begins with.
    fn word(&self) -> Option<&str> {
        match self.tokens.first() {
            Some((Token::Word(word), _)) => Some(word),
            _ => None,
        }
    }

    fn is_word(&self, at: usize, words: &[&str]) -> bool {
        matches!(self.tokens.get(at), Some((Token::Word(word), _)) if words.contains(word))
    }

    /// The places of some tokens, as one.
    fn span(&self, tokens: Range<usize>) -> Option<Range<usize>> {
        let tokens = self.tokens.get(tokens)?;
        Some(tokens.first()?.1.start..tokens.last()?.1.end)
    }
}

/// The pieces of a template, without comments. None if Go's lexer refuses it.
fn pieces(source: &str) -> Option<Vec<Piece<'_>>> {
    scanner::prepare(source).ok()?;
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut trims_start = false;
    while let Some(length) = source[at..].find("{{") {
        let opens = at + length;
        let after = &source[opens + 2..];
        let trims_end = after.starts_with('-') && after[1..].starts_with(is_space);
        pieces.push(text(source, at..opens, trims_start, trims_end));
        at = opens + if trims_end { 3 } else { 2 };
        let inside = source[at..].trim_start_matches(is_space);
        if inside.starts_with("/*") {
            at += source[at..].find("*/")? + 2;
            let closes = at + source[at..].find("}}")?;
            trims_start = source[at..closes].ends_with('-');
            at = closes + 2;
            continue;
        }
        let opening = opens..at;
        let mut tokens = Vec::new();
        let closing = loop {
            let rest = &source[at..];
            let spaces = rest.len() - rest.trim_start_matches(is_space).len();
            at += spaces;
            let rest = &source[at..];
            trims_start = spaces > 0 && rest.starts_with("-}}");
            if trims_start || rest.starts_with("}}") {
                break at..at + if trims_start { 3 } else { 2 };
            }
            let (token, length) = token(rest).ok()?;
            tokens.push((token, at..at + length));
            at += length;
        };
        at = closing.end;
        pieces.push(Piece::Action(Action {
            opening,
            tokens,
            closing,
        }));
    }
    pieces.push(text(source, at..source.len(), trims_start, false));
    Some(pieces)
}

fn text<'s>(source: &str, span: Range<usize>, trims_start: bool, trims_end: bool) -> Piece<'s> {
    let (mut start, mut end) = (span.start, span.end);
    if trims_start {
        let kept = source[start..end].trim_start_matches(is_space);
        start = end - kept.len();
    }
    if trims_end {
        end = start + source[start..end].trim_end_matches(is_space).len();
    }
    Piece::Text(start..end)
}

/// What the pieces of a template mean: the texts and the tokens of actions, without their places, and
/// without text that no render reaches, because the action before it leaves the loop.
fn meaning<'s>(source: &'s str, pieces: &[Piece<'_>]) -> Vec<Vec<&'s str>> {
    let mut meant: Vec<Vec<&str>> = vec![Vec::new()];
    let mut is_unreached = false;
    // A text is one item, however comments cut it, so its characters count and not its pieces.
    for piece in pieces {
        match piece {
            Piece::Text(span) if !is_unreached => {
                if let Some(text) = meant.last_mut() {
                    let characters = source[span.clone()].split_inclusive(|_: char| true);
                    text.extend(characters);
                }
            }
            Piece::Text(_) => {}
            Piece::Action(action) => {
                is_unreached = matches!(action.word(), Some("break" | "continue"));
                let tokens = action.tokens.iter();
                meant.push(tokens.map(|(_, span)| &source[span.clone()]).collect());
                meant.push(Vec::new());
            }
        }
    }
    meant
}

/// Collects the changes of a template.
struct Changes<'s> {
    source: &'s str,
    found: BTreeSet<Mutation>,
}

impl Changes<'_> {
    fn add(&mut self, span: Range<usize>, kind: MutationKind, replacement: impl Into<String>) {
        self.found.insert(Mutation::new(span, kind, replacement));
    }

    fn text(&mut self, span: Range<usize>) {
        let Some(text) = self
            .source
            .get(span.clone())
            .filter(|text| !text.is_empty())
        else {
            return;
        };
        self.shorten(text, span.clone());
        match text.trim_end_matches('\n').find('\n') {
            Some(inner) => {
                let at = span.start + inner;
                self.add(at..at + 1, MutationKind::Text, "");
            }
            None => self.add(span.end..span.end, MutationKind::Text, "\n"),
        }
    }

    /// A text is gone, or its last character.
    fn shorten(&mut self, text: &str, span: Range<usize>) {
        if let Some((last, _)) = text.char_indices().next_back() {
            self.add(span.start + last..span.end, MutationKind::Text, "");
            self.add(span, MutationKind::Text, "");
        }
    }

    fn action(&mut self, action: &Action<'_>) {
        self.marks(action);
        self.removed(action);
        if action.word() == Some("if") {
            self.condition(action, 1);
        } else if action.word() == Some("else") && action.is_word(1, &["if"]) {
            self.condition(action, 2);
        }
        for (at, (token, span)) in action.tokens.iter().enumerate() {
            match token {
                Token::Word(word) => self.word(action, at, word),
                Token::Literal => self.literal(span.clone(), action),
                Token::Pipe => self.filter(action, at),
                _ => {}
            }
        }
    }

    fn marks(&mut self, action: &Action<'_>) {
        let opens = action.opening.start + 2;
        if action.opening.end > opens {
            self.add(opens..action.opening.end, MutationKind::WhiteSpace, "");
        } else {
            let is_apart = self.source[opens..].starts_with(is_space);
            let mark = if is_apart { "-" } else { "- " };
            self.add(opens..opens, MutationKind::WhiteSpace, mark);
        }
        let closes = action.closing.start;
        if action.closing.len() > 2 {
            self.add(closes..closes + 1, MutationKind::WhiteSpace, "");
        } else {
            let is_apart = self.source[..closes].ends_with(is_space);
            let mark = if is_apart { "-" } else { " -" };
            self.add(closes..closes, MutationKind::WhiteSpace, mark);
        }
    }

    /// What an action does is gone. A declaration stays: without it, its variable does not exist.
    fn removed(&mut self, action: &Action<'_>) {
        let Some(span) = action.span(0..action.tokens.len()) else {
            return;
        };
        let declares = action
            .tokens
            .iter()
            .find(|(token, _)| *token == Token::Declare);
        let kind = match (action.word(), declares) {
            (Some("template" | "break" | "continue"), _) => MutationKind::Statement,
            (Some(word), _) if KEYWORDS.contains(&word) => return,
            (_, Some((_, declare))) if self.source[declare.clone()] == *":=" => return,
            (_, Some(_)) => MutationKind::Statement,
            _ if action.tokens.len() == 1 && action.tokens[0].0 == Token::Literal => return,
            _ => MutationKind::Print,
        };
        self.add(span, kind, NOTHING);
    }

    /// The contrary of a condition, unless another change makes it: `eq` becomes `ne`.
    fn condition(&mut self, action: &Action<'_>, from: usize) {
        let tokens = from..action.tokens.len();
        let declares = action
            .tokens
            .iter()
            .any(|(token, _)| *token == Token::Declare);
        if declares || has_contrary(action, tokens.clone()) {
            return;
        }
        if let Some(span) = action.span(tokens) {
            let text = format!("not ({})", &self.source[span.clone()]);
            self.add(span, MutationKind::Negation, text);
        }
    }

    fn word(&mut self, action: &Action<'_>, at: usize, word: &str) {
        let span = action.tokens[at].1.clone();
        let (kind, other) = match word {
            "and" => (MutationKind::Logic, "or"),
            "or" => (MutationKind::Logic, "and"),
            "eq" => (MutationKind::Comparison, "ne"),
            "ne" => (MutationKind::Comparison, "eq"),
            "lt" => (MutationKind::Comparison, "le"),
            "le" => (MutationKind::Comparison, "lt"),
            "gt" => (MutationKind::Comparison, "ge"),
            "ge" => (MutationKind::Comparison, "gt"),
            "true" => (MutationKind::Boolean, "false"),
            "false" => (MutationKind::Boolean, "true"),
            "not" => {
                let next = action.tokens.get(at + 1);
                let end = next.map_or(span.end, |(_, next)| next.start);
                return self.add(span.start..end, MutationKind::Negation, "");
            }
            _ => return,
        };
        if matches!(word, "and" | "or") {
            self.operands(action, at + 1);
        }
        self.add(span, kind, other);
    }

    /// The operands of `and` or `or`, each as its contrary.
    fn operands(&mut self, action: &Action<'_>, from: usize) {
        let mut at = from;
        while let Some((token, _)) = action.tokens.get(at) {
            if matches!(token, Token::Close | Token::Pipe) {
                return;
            }
            let end = end_of_operand(action, at);
            let is_literal = *token == Token::Literal || action.is_word(at, &["true", "false"]);
            let inside = if *token == Token::Open { at + 1 } else { at };
            if !is_literal
                && !has_contrary(action, inside..end)
                && let Some(span) = action.span(at..end)
            {
                let text = format!("(not {})", &self.source[span.clone()]);
                self.add(span, MutationKind::Negation, text);
            }
            at = end;
        }
    }

    fn literal(&mut self, span: Range<usize>, action: &Action<'_>) {
        let written = &self.source[span.clone()];
        if let Ok(number) = written.parse::<i64>() {
            let greater = number.saturating_add(1).to_string();
            return self.add(span, MutationKind::Number, greater);
        }
        let is_raw = written.starts_with('`');
        if !is_raw && !written.starts_with('"') || written.len() <= 2 {
            return;
        }
        let within = span.start + 1..span.end - 1;
        let text = &self.source[within.clone()];
        if !is_raw && text.ends_with("\\n") {
            self.add(within.end - 2..within.end, MutationKind::Text, "");
            self.add(within, MutationKind::Text, "");
        } else if is_raw || !text.contains('\\') {
            self.shorten(text, within.clone());
            let is_printed = action.word().is_none_or(|word| !KEYWORDS.contains(&word));
            if is_printed && !is_raw {
                self.add(within.end..within.end, MutationKind::Text, "\\n");
            }
        } else {
            self.add(within, MutationKind::Text, "");
        }
    }

    /// The command after a `|` is gone.
    fn filter(&mut self, action: &Action<'_>, at: usize) {
        let mut end = at + 1;
        while let Some((token, _)) = action.tokens.get(end) {
            if matches!(token, Token::Close | Token::Pipe) {
                break;
            }
            end = end_of_operand(action, end);
        }
        let before = at
            .checked_sub(1)
            .and_then(|before| action.tokens.get(before));
        if let (Some((_, before)), Some(span)) = (before, action.span(at..end)) {
            self.add(before.end..span.end, MutationKind::Filter, "");
        }
    }
}

/// Whether the change of a function's name makes the contrary of tokens.
fn has_contrary(action: &Action<'_>, tokens: Range<usize>) -> bool {
    let pipes = &action.tokens[tokens.clone()];
    let is_one = pipes.iter().all(|(token, _)| *token != Token::Pipe);
    is_one && action.is_word(tokens.start, &["not", "eq", "ne"])
}

/// The number of the token after an operand: a field belongs to the operand that it touches.
fn end_of_operand(action: &Action<'_>, at: usize) -> usize {
    let mut open = 0_usize;
    let mut end = at;
    while let Some((token, span)) = action.tokens.get(end) {
        let touches = end.checked_sub(1).is_some_and(|before| {
            *token == Token::Field && action.tokens[before].1.end == span.start
        });
        if end > at && open == 0 && !touches {
            break;
        }
        match token {
            Token::Open => open += 1,
            Token::Close => open = open.saturating_sub(1),
            _ => {}
        }
        end += 1;
    }
    end
}
