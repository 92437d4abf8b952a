//! Templates that do not read the messages. They take one system text, one prompt and one response
//! at a time.
//!
//! Source: template/template.go, `Execute` and `deleteNode`. For the last turn the tree ends at the
//! first field named Response, so that the model continues there.

use gotmpl::parse::{
    ActionNode, BranchNode, CommandNode, Expr, ListNode, Node, PipeNode, Pos, SmolStr,
};

use crate::collate::CollatedCase;
use crate::values::Text;

/// The values of one render of such a template.
#[derive(Debug, Clone, Default)]
pub(crate) struct LegacyTurn {
    pub(crate) system: Text,
    pub(crate) prompt: Text,
    pub(crate) response: Text,
}

/// The turns of a conversation. The last one uses the cut tree.
pub(crate) fn turns(form: &CollatedCase) -> (Vec<LegacyTurn>, LegacyTurn) {
    let mut full = Vec::new();
    let mut turn = LegacyTurn::default();
    for (role, content) in &form.turns {
        let is_full = match role.as_str() {
            "system" => !turn.prompt.is_empty() || !turn.response.is_empty(),
            "user" => !turn.response.is_empty(),
            _ => false,
        };
        if is_full {
            full.push(std::mem::take(&mut turn));
        }
        match role.as_str() {
            "system" => turn.system = content.clone(),
            "user" => turn.prompt = content.clone(),
            "assistant" => turn.response = content.clone(),
            _ => {}
        }
    }
    (full, turn)
}

/// The place of an action that is nowhere in the source.
pub(crate) const NOWHERE: usize = usize::MAX;

/// The action `{{ .Response }}`. Ollama appends it to a template that mentions neither messages nor
/// a response. It has a line for errors, and no place in the source.
pub(crate) fn response(line: usize) -> Node {
    let pos = Pos::new(NOWHERE, line);
    let pipe = PipeNode {
        pos,
        decl: Vec::new(),
        commands: vec![CommandNode {
            pos,
            args: vec![Expr::Field(pos, vec![SmolStr::from("Response")])],
        }],
        is_assign: false,
    };
    Node::Action(ActionNode { pos, pipe })
}

/// The tree up to the first field named Response. None if Ollama panics, because the cut is in a
/// branch that has an else.
pub(crate) fn cut(tree: &ListNode) -> Option<ListNode> {
    let mut cutter = TreeCutter { done: false };
    let mut tree = tree.clone();
    cutter.list(&mut tree)?;
    Some(tree)
}

struct TreeCutter {
    done: bool,
}

impl TreeCutter {
    fn list(&mut self, list: &mut ListNode) -> Option<()> {
        if self.done {
            return None;
        }
        let mut kept = Vec::with_capacity(list.nodes.len());
        for mut node in std::mem::take(&mut list.nodes) {
            if self.keeps(&mut node)? {
                kept.push(node);
            }
        }
        list.nodes = kept;
        Some(())
    }

    fn keeps(&mut self, node: &mut Node) -> Option<bool> {
        if self.done {
            return Some(false);
        }
        match node {
            Node::List(list) => self.list(list)?,
            Node::If(branch) | Node::Range(branch) | Node::With(branch) => self.branch(branch)?,
            Node::Action(action) => return Some(self.pipe(&mut action.pipe)),
            _ => {}
        }
        Some(true)
    }

    /// Cuts a branch. Ollama does not look at the branch's own pipeline.
    fn branch(&mut self, branch: &mut BranchNode) -> Option<()> {
        self.list(&mut branch.body)?;
        if let Some(otherwise) = &mut branch.else_body {
            self.list(otherwise)?;
        }
        Some(())
    }

    /// Cuts a pipeline. If a command loses all of its arguments, the pipeline goes too.
    fn pipe(&mut self, pipe: &mut PipeNode) -> bool {
        for command in &mut pipe.commands {
            command
                .args
                .retain_mut(|argument| self.keeps_argument(argument));
            if command.args.is_empty() {
                return false;
            }
        }
        true
    }

    fn keeps_argument(&mut self, argument: &mut Expr) -> bool {
        match argument {
            // A second such field stays as well.
            Expr::Field(_, fields) if fields.iter().any(|field| field == "Response") => {
                self.done = true;
                true
            }
            _ if self.done => false,
            Expr::Pipe(_, pipe) => self.pipe(pipe),
            _ => true,
        }
    }
}
