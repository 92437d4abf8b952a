//! Checks that Go's parser makes while it builds the tree, and gotmpl's does not.
//!
//! Source: text/template/parse/parse.go of Go 1.26, and `Template.Vars` of Ollama's
//! template/template.go.

use std::collections::{HashMap, HashSet};

use gotmpl::parse::{BranchNode, DefineNode, Expr, ListNode, Node, Number, PipeNode, SmolStr};

use crate::error::Error;
use crate::functions;

/// The names that a template mentions, lower-cased, and its named templates.
pub(crate) struct CheckedTemplate {
    pub(crate) names: HashSet<String>,
    pub(crate) defines: HashMap<SmolStr, ListNode>,
}

/// Checks a template and the templates that it defines. The name of the main template is empty. If
/// the template has no content, a defined template with the empty name replaces it.
pub(crate) fn check(
    root: &mut ListNode,
    defines: Vec<DefineNode>,
) -> Result<CheckedTemplate, Error> {
    let mut names = HashSet::new();
    for define in &defines {
        let mut checker = Checker::new(&mut names);
        checker.list(&define.body)?;
    }
    Checker::new(&mut names).list(root)?;
    // Each tree is checked for emptiness only once, because its text may be long.
    let mut kept: HashMap<SmolStr, (bool, ListNode)> = HashMap::new();
    for define in defines {
        let line = define.pos.line;
        let is_empty = define.body.is_empty_tree();
        match kept.get(&define.name) {
            Some((false, _)) => {
                if !is_empty {
                    return Err(Error::new(format!(
                        "template: multiple definition of template {:?}",
                        define.name.as_str()
                    ))
                    .at(line));
                }
            }
            _ => {
                kept.insert(define.name, (is_empty, define.body));
            }
        }
    }
    if let Some((is_empty, body)) = kept.remove("") {
        if root.is_empty_tree() {
            *root = body;
        } else if !is_empty {
            return Err(Error::new("template: multiple definition of template \"\""));
        }
    }
    let defines = kept.into_iter();
    Ok(CheckedTemplate {
        names,
        defines: defines.map(|(name, (_, body))| (name, body)).collect(),
    })
}

struct Checker<'n> {
    names: &'n mut HashSet<String>,
    variables: Vec<SmolStr>,
    /// How often each of them is declared.
    declared: HashMap<SmolStr, usize>,
}

impl<'n> Checker<'n> {
    fn new(names: &'n mut HashSet<String>) -> Checker<'n> {
        Checker {
            names,
            variables: Vec::new(),
            declared: HashMap::from([(SmolStr::from("$"), 1)]),
        }
    }

    /// Forgets the variables of a scope.
    fn leave(&mut self, scope: usize) {
        for name in self.variables.drain(scope..) {
            if let Some(times) = self.declared.get_mut(&name) {
                *times -= 1;
            }
        }
    }

    fn list(&mut self, list: &ListNode) -> Result<(), Error> {
        for node in &list.nodes {
            match node {
                Node::List(list) => self.list(list)?,
                Node::Action(action) => self.pipe(&action.pipe, Mention::Yes)?,
                Node::If(branch) | Node::Range(branch) | Node::With(branch) => {
                    self.branch(branch)?;
                }
                Node::Template(call) => match &call.pipe {
                    Some(pipe) => self.pipe(pipe, Mention::Yes)?,
                    // Ollama's words. It expects a pipeline after every name.
                    None => {
                        return Err(Error::new("undefined template specified").at(call.pos.line));
                    }
                },
                Node::Text(_) | Node::Define(_) | Node::Break(_) | Node::Continue(_) => {}
            }
        }
        Ok(())
    }

    fn branch(&mut self, branch: &BranchNode) -> Result<(), Error> {
        let scope = self.variables.len();
        self.pipe(&branch.pipe, Mention::Yes)?;
        self.list(&branch.body)?;
        if let Some(otherwise) = &branch.else_body {
            self.list(otherwise)?;
        }
        self.leave(scope);
        Ok(())
    }

    fn pipe(&mut self, pipe: &PipeNode, mention: Mention) -> Result<(), Error> {
        // In Go a variable is in scope as soon as its name is read.
        for name in &pipe.decl {
            self.variables.push(name.clone());
            *self.declared.entry(name.clone()).or_default() += 1;
        }
        for (i, command) in pipe.commands.iter().enumerate() {
            if i > 0
                && matches!(
                    command.args.first(),
                    Some(
                        Expr::Bool(..)
                            | Expr::Dot(_)
                            | Expr::Nil(_)
                            | Expr::Number(..)
                            | Expr::String(..)
                    )
                )
            {
                return Err(Error::new(format!(
                    "non executable command in pipeline stage {}",
                    i + 1
                ))
                .at(command.pos.line));
            }
            for argument in &command.args {
                self.expression(argument, mention)?;
            }
        }
        Ok(())
    }

    fn expression(&mut self, expression: &Expr, mention: Mention) -> Result<(), Error> {
        match expression {
            Expr::Field(_, fields) => self.mention(fields, mention),
            Expr::Variable(pos, name, fields) => {
                if self.declared.get(name).is_none_or(|times| *times == 0) {
                    return Err(
                        Error::new(format!("undefined variable {:?}", name.as_str())).at(pos.line),
                    );
                }
                self.mention(std::slice::from_ref(name), mention);
                self.mention(fields, mention);
            }
            Expr::Identifier(pos, name) => {
                if functions::find(name).is_none() {
                    return Err(
                        Error::new(format!("function {:?} not defined", name.as_str()))
                            .at(pos.line),
                    );
                }
            }
            Expr::Pipe(_, pipe) => self.pipe(pipe, mention)?,
            // Ollama does not look into a chain: `(index .Messages 0).Role` mentions
            // neither.
            Expr::Chain(_, inner, _) => self.expression(inner, Mention::No)?,
            Expr::Number(pos, Number::Float(number)) if !number.is_finite() => {
                return Err(Error::new("illegal number syntax").at(pos.line));
            }
            Expr::Dot(_) | Expr::String(..) | Expr::Number(..) | Expr::Bool(..) | Expr::Nil(_) => {}
        }
        Ok(())
    }

    fn mention(&mut self, names: &[SmolStr], mention: Mention) {
        if mention == Mention::Yes {
            self.names
                .extend(names.iter().map(|name| name.to_lowercase()));
        }
    }
}

/// Whether the names in an expression count as mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mention {
    Yes,
    No,
}
