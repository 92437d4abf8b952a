//! The fields of the root that a template reads: `.System` if the dot is still the root, `$.System`
//! anywhere.
//!
//! Defined templates do not count, because their dot depends on the caller.

use std::collections::BTreeSet;

use gotmpl::parse::{Expr, ListNode, Node, PipeNode, SmolStr};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dot {
    Root,
    Other,
}

pub(crate) fn root_fields(root: &ListNode) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    list(root, Dot::Root, &mut found);
    found
}

fn list(nodes: &ListNode, dot: Dot, found: &mut BTreeSet<String>) {
    for node in &nodes.nodes {
        match node {
            Node::List(inner) => list(inner, dot, found),
            Node::Action(action) => pipe(&action.pipe, dot, found),
            Node::If(branch) => {
                pipe(&branch.pipe, dot, found);
                list(&branch.body, dot, found);
                if let Some(otherwise) = &branch.else_body {
                    list(otherwise, dot, found);
                }
            }
            Node::Range(branch) | Node::With(branch) => {
                pipe(&branch.pipe, dot, found);
                list(&branch.body, Dot::Other, found);
                if let Some(otherwise) = &branch.else_body {
                    list(otherwise, dot, found);
                }
            }
            Node::Template(call) => {
                if let Some(argument) = &call.pipe {
                    pipe(argument, dot, found);
                }
            }
            Node::Text(_) | Node::Define(_) | Node::Break(_) | Node::Continue(_) => {}
        }
    }
}

fn pipe(pipe: &PipeNode, dot: Dot, found: &mut BTreeSet<String>) {
    for argument in pipe.commands.iter().flat_map(|command| &command.args) {
        expression(argument, dot, found);
    }
}

fn expression(expression: &Expr, dot: Dot, found: &mut BTreeSet<String>) {
    let mut first = |fields: &[SmolStr]| {
        if let Some(field) = fields.first() {
            found.insert(field.to_string());
        }
    };
    match expression {
        Expr::Field(_, fields) if dot == Dot::Root => first(fields),
        Expr::Variable(_, name, fields) if name == "$" => first(fields),
        Expr::Pipe(_, inner) => pipe(inner, dot, found),
        Expr::Chain(_, inner, _) => self::expression(inner, dot, found),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, GoEngine, Program as _, Template};

    #[test]
    fn fields_of_the_root_and_of_nothing_else() {
        let source = "{{ if .System }}{{ .System }}{{ end }}\
            {{ range $i, $m := .Messages }}{{ .Content }}{{ $m.Role }}{{ $.Tools }}{{ end }}\
            {{ with .Think }}{{ .Level }}{{ else }}{{ .Response }}{{ end }}\
            {{ (index $.Extra 0).Name }}";
        let template = Template::from_source("t", Dialect::Go, source);
        let program = GoEngine::new().program(&template).unwrap();
        let read: Vec<String> = program.variables().into_iter().collect();
        assert_eq!(
            read,
            ["Extra", "Messages", "Response", "System", "Think", "Tools"]
        );
    }
}
