//! Templates that know no messages: one system text, one prompt and one response at a
//! time.
//!
//! Source: template/template.go, `Execute` and `deleteNode`. The last turn is rendered
//! with a tree that ends at the first field named Response, so that the model goes on
//! from there.

use gotmpl::parse::{
    ActionNode, BranchNode, CommandNode, Expr, ListNode, Node, PipeNode, Pos, SmolStr,
};

use crate::collate::Form;
use crate::values::Text;

/// The values of one render of such a template.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turn {
    pub(crate) system: Text,
    pub(crate) prompt: Text,
    pub(crate) response: Text,
}

/// The turns of a conversation; the last one is rendered with the cut tree.
pub(crate) fn turns(form: &Form) -> (Vec<Turn>, Turn) {
    let mut full = Vec::new();
    let mut turn = Turn::default();
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

/// `{{ .Response }}`, which Ollama appends to a template that mentions neither messages
/// nor a response.
pub(crate) fn response(pos: Pos) -> Node {
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

/// The tree up to the first field named Response. None where Ollama panics: when the
/// cut is in a branch that has an else.
pub(crate) fn cut(tree: &ListNode) -> Option<ListNode> {
    let mut cutter = Cutter { done: false };
    let mut tree = tree.clone();
    cutter.list(&mut tree)?;
    Some(tree)
}

struct Cutter {
    done: bool,
}

impl Cutter {
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

    /// The pipeline of the branch itself is not looked at.
    fn branch(&mut self, branch: &mut BranchNode) -> Option<()> {
        self.list(&mut branch.body)?;
        if let Some(otherwise) = &mut branch.else_body {
            self.list(otherwise)?;
        }
        Some(())
    }

    /// A command that loses all of its arguments takes its pipeline with it.
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
            // A second one stays as well.
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
