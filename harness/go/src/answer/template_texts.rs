//! The nodes of a template's list as Go's parser has them.
//!
//! The scanner joins two texts with a comment between them, and writes a brace before an action as
//! an action. For Go the first are two texts, and the brace belongs to its text.

use std::borrow::Cow;

use gotmpl::parse::{ListNode, Node};

use crate::scanner::Marks;

#[derive(Debug)]
pub(super) enum Piece<'t> {
    Text(Cow<'t, str>),
    Node(&'t Node),
}

/// The nodes of a list. Definitions are no nodes of it.
pub(super) fn pieces<'t>(list: &'t ListNode, marks: &Marks) -> Vec<Piece<'t>> {
    let mut pieces = Vec::new();
    // Where the last text ends, unless something else came after it.
    let mut end = None;
    for node in &list.nodes {
        match node {
            Node::Text(text) => {
                let (from, to) = (text.pos.offset, text.pos.offset + text.text.len());
                let mut rest = &*text.text;
                let mut at = from;
                for cut in marks.comments_between(from, to) {
                    let (before, after) = rest.split_at(cut - at);
                    pieces.push(Piece::Text(before.into()));
                    (rest, at) = (after, cut);
                }
                pieces.push(Piece::Text(rest.into()));
                end = Some(to);
            }
            Node::Action(action) if marks.is_brace(action.pos.offset) => {
                // The pipeline is after the opening braces.
                let at = action.pos.offset - 2;
                match pieces.last_mut() {
                    Some(Piece::Text(text)) if end == Some(at) && !marks.is_comment(at) => {
                        text.to_mut().push('{');
                    }
                    _ => pieces.push(Piece::Text("{".into())),
                }
                end = None;
            }
            Node::Define(_) => {}
            other => {
                pieces.push(Piece::Node(other));
                end = None;
            }
        }
    }
    pieces
}
