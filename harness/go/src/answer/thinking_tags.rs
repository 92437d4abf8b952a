//! The texts that Ollama takes for the beginning and the end of reasoning: thinking/template.go.

use gotmpl::parse::{BranchNode, Expr, ListNode, Node, PipeNode};

use super::template_texts::{Piece, pieces};
use crate::scanner::Marks;

/// The texts around reasoning.
///
/// Ollama looks for the field `.Thinking` in a `{{ range }}` over `.Messages`. The first and the
/// last text of the nearest list around it are the tags. If there are several, the last one
/// decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThinkingTags {
    /// The text before reasoning.
    pub opening: String,
    /// The text after reasoning.
    pub closing: String,
}

impl ThinkingTags {
    /// Whether Ollama can separate reasoning from content by them: it needs both.
    pub fn are_found(&self) -> bool {
        !self.opening.is_empty() && !self.closing.is_empty()
    }

    /// Finds the tags of a template.
    pub(crate) fn of(root: &ListNode, marks: &Marks) -> ThinkingTags {
        let mut search = TagSearch {
            marks,
            tags: ThinkingTags::default(),
        };
        search.list(root, false);
        search.tags
    }
}

struct TagSearch<'m> {
    marks: &'m Marks,
    tags: ThinkingTags,
}

impl TagSearch<'_> {
    /// Looks through a list. `is_in_messages` says whether the nearest `range` around it is over
    /// the messages.
    fn list(&mut self, list: &ListNode, is_in_messages: bool) {
        for node in &list.nodes {
            match node {
                Node::List(inner) => self.list(inner, is_in_messages),
                Node::Action(action) => self.pipe(&action.pipe, list, is_in_messages),
                Node::If(branch) | Node::With(branch) => {
                    self.branch(branch, list, is_in_messages);
                }
                Node::Range(branch) => {
                    self.branch(branch, list, has_field(&branch.pipe, "Messages"));
                }
                Node::Template(call) => {
                    if let Some(pipe) = &call.pipe {
                        self.pipe(pipe, list, is_in_messages);
                    }
                }
                Node::Text(_) | Node::Define(_) | Node::Break(_) | Node::Continue(_) => {}
            }
        }
    }

    fn branch(&mut self, branch: &BranchNode, around: &ListNode, is_in_messages: bool) {
        self.pipe(&branch.pipe, around, is_in_messages);
        self.list(&branch.body, is_in_messages);
        if let Some(otherwise) = &branch.else_body {
            self.list(otherwise, is_in_messages);
        }
    }

    fn pipe(&mut self, pipe: &PipeNode, around: &ListNode, is_in_messages: bool) {
        if is_in_messages && has_field(pipe, "Thinking") {
            self.take(around);
        }
    }

    fn take(&mut self, list: &ListNode) {
        let pieces = pieces(list, self.marks);
        if let Some(Piece::Text(text)) = pieces.first() {
            text.trim().clone_into(&mut self.tags.opening);
        }
        if let Some(Piece::Text(text)) = pieces.last() {
            text.trim().clone_into(&mut self.tags.closing);
        }
    }
}

/// Whether a pipeline begins a field with a name. Ollama does not look into chains such as
/// `(index .Messages 0).Role`.
fn has_field(pipe: &PipeNode, name: &str) -> bool {
    let commands = pipe.commands.iter();
    commands
        .flat_map(|command| &command.args)
        .any(|argument| match argument {
            Expr::Field(_, fields) => fields.first().is_some_and(|first| first == name),
            Expr::Pipe(_, pipe) => has_field(pipe, name),
            _ => false,
        })
}
