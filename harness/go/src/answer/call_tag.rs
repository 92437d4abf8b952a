//! The text that Ollama takes for the beginning of a call: tools/template.go.

use gotmpl::parse::{BranchNode, Expr, ListNode, Node};

use super::template_texts::{Piece, pieces};
use crate::scanner::Marks;

/// The tag that Ollama looks for when it has no other.
const OBJECT: &str = "{";

/// The text that Ollama takes for the beginning of a call.
///
/// Ollama takes the first `{{ if }}` whose condition names the field `.ToolCalls`, and the first
/// text in it, up to a brace. Without such a text each JSON object that begins an answer may be a
/// call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTag {
    /// The tag.
    pub text: String,
    /// The line of the `{{ if }}`; none if the template has none.
    pub line: Option<usize>,
}

impl CallTag {
    /// Finds the tag of a template.
    pub(crate) fn of(root: &ListNode, marks: &Marks) -> CallTag {
        let Some((block, line)) = find_block(root) else {
            return CallTag {
                text: OBJECT.to_owned(),
                line: None,
            };
        };
        let text = match first_text(block, marks) {
            Search::Found(text) => text.replace("\r\n", "\n"),
            Search::Nothing | Search::Stopped => String::new(),
        };
        let text = text.split('{').next().unwrap_or_default().trim();
        CallTag {
            text: if text.is_empty() { OBJECT } else { text }.to_owned(),
            line: Some(line),
        }
    }

    /// Whether any JSON object or list counts as a call, but only at the beginning of the answer.
    pub fn is_bare(&self) -> bool {
        is_bare(&self.text)
    }
}

/// Whether a tag is the beginning of JSON itself.
pub(super) fn is_bare(tag: &str) -> bool {
    matches!(tag, "{" | "[")
}

/// The first `{{ if }}` with the field `.ToolCalls` in its condition, and its line.
fn find_block(list: &ListNode) -> Option<(&ListNode, usize)> {
    list.nodes.iter().find_map(|node| match node {
        Node::If(branch) if names_calls(branch) => Some((&branch.body, branch.pos.line)),
        Node::If(branch) | Node::Range(branch) | Node::With(branch) => {
            let otherwise = || branch.else_body.as_ref().and_then(find_block);
            find_block(&branch.body).or_else(otherwise)
        }
        Node::List(list) => find_block(list),
        _ => None,
    })
}

/// Whether a condition names the field outside of parentheses. A variable's field does not count.
fn names_calls(branch: &BranchNode) -> bool {
    let commands = branch.pipe.commands.iter();
    commands.flat_map(|command| &command.args).any(
        |argument| matches!(argument, Expr::Field(_, names) if names.iter().any(|name| name == "ToolCalls")),
    )
}

/// How far the search for a text came.
enum Search {
    /// A text that is not blank.
    Found(String),
    /// The list has none.
    Nothing,
    /// Something is printed first.
    Stopped,
}

/// The first text of a list that is not blank, before anything else that prints.
fn first_text(list: &ListNode, marks: &Marks) -> Search {
    for piece in pieces(list, marks) {
        match piece {
            Piece::Text(text) if text.trim().is_empty() => {}
            Piece::Text(text) => return Search::Found(text.into_owned()),
            Piece::Node(Node::If(branch) | Node::Range(branch) | Node::With(branch)) => {
                let lists = [Some(&branch.body), branch.else_body.as_ref()];
                for list in lists.into_iter().flatten() {
                    if let found @ Search::Found(_) = first_text(list, marks) {
                        return found;
                    }
                }
                return Search::Stopped;
            }
            Piece::Node(Node::List(list)) => {
                if let found @ Search::Found(_) = first_text(list, marks) {
                    return found;
                }
            }
            Piece::Node(Node::Action(_)) => return Search::Stopped,
            Piece::Node(_) => {}
        }
    }
    Search::Nothing
}
