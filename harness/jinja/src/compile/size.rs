//! Counts the size of a template while its text is read: the cost to parse and compile it.

use minijinja::Error;
use rolecall_core::Limit;

use crate::meter::exceeded;

/// The part of a token that matters for the size of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Text outside of tags, or the beginning of a tag that writes.
    Outside,
    /// The beginning of a tag that is no `{{`.
    Tag,
    Name(&'t str),
    /// Anything else within a tag.
    Other,
}

#[derive(Default)]
pub(super) struct TemplateSize {
    /// The tokens until now.
    tokens: usize,
    /// The tokens until now of the tag that is being read.
    in_tag: usize,
    /// Counts each token once for every token before it in its tag: minijinja looks for constants
    /// at every level of an expression, each time down to its leaves.
    in_tags: usize,
    /// Counts each token once for every macro, call block and loop around it: the names in each of
    /// these are collected before it is compiled.
    in_scopes: usize,
    /// Whether the last token was the beginning of a tag.
    begins: bool,
    /// The open tags: whether the tag is a macro, call block or loop, and how many `elif` it has.
    open: Vec<(bool, usize)>,
    /// The open macros, call blocks and loops.
    scopes: usize,
    /// The `elif` of open conditions.
    branches: usize,
    blocks: usize,
}

impl TemplateSize {
    /// The most tokens of a template.
    const MOST_TOKENS: usize = 300_000;
    /// The most tokens of a tag, each of which may be a level of an expression.
    const MOST_IN_TAG: usize = 10_000;
    /// The most of `in_tags`.
    const MOST_IN_TAGS: usize = 100_000_000;
    /// The most of `in_scopes`.
    const MOST_IN_SCOPES: usize = 1_500_000;
    /// The most `elif` of open conditions: each is within the one before it.
    const MOST_BRANCHES: usize = 1_000;
    /// The most named blocks: each is a program of its own.
    const MOST_BLOCKS: usize = 2_000;
    /// The most bytes of a name. Every use looks the name up.
    const LONGEST_NAME: usize = 200;

    /// Counts the next token, or fails where the template is too large.
    pub(super) fn sees(&mut self, piece: Piece<'_>) -> Result<(), Error> {
        self.tokens += 1;
        self.in_tag += 1;
        if let Piece::Outside | Piece::Tag = piece {
            self.in_tag = 0;
            self.is_allowed()?;
        }
        self.in_tags += self.in_tag;
        self.in_scopes += self.scopes;
        if self.in_tag > Self::MOST_IN_TAG {
            return Err(exceeded(Limit::Recursion));
        }
        let begins = std::mem::replace(&mut self.begins, piece == Piece::Tag);
        if let Piece::Name(name) = piece {
            if begins {
                self.tag(name)?;
            }
            if name.len() > Self::LONGEST_NAME {
                return Err(exceeded(Limit::Fuel));
            }
        }
        Ok(())
    }

    /// Fails where what was read until the last tag is too much. A tag is never so long that it
    /// matters when it is asked.
    fn is_allowed(&self) -> Result<(), Error> {
        if self.tokens > Self::MOST_TOKENS
            || self.in_tags > Self::MOST_IN_TAGS
            || self.in_scopes > Self::MOST_IN_SCOPES
        {
            return Err(exceeded(Limit::Fuel));
        }
        Ok(())
    }

    /// Notes that a tag begins, or fails where there are too many.
    fn tag(&mut self, tag: &str) -> Result<(), Error> {
        match tag {
            "for" | "macro" | "call" | "generation" => {
                self.open.push((true, 0));
                self.scopes += 1;
            }
            "block" => self.blocks += 1,
            "if" => self.open.push((false, 0)),
            "elif" => {
                if let Some((_, branches)) = self.open.last_mut() {
                    *branches += 1;
                    self.branches += 1;
                }
            }
            "endfor" | "endmacro" | "endcall" | "endgeneration" | "endif" => {
                if let Some((is_scope, branches)) = self.open.pop() {
                    self.scopes -= usize::from(is_scope);
                    self.branches -= branches;
                }
            }
            _ => {}
        }
        if self.branches > Self::MOST_BRANCHES {
            return Err(exceeded(Limit::Recursion));
        }
        if self.blocks > Self::MOST_BLOCKS {
            return Err(exceeded(Limit::Fuel));
        }
        Ok(())
    }
}
