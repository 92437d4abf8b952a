//! The texts that are in a template itself: its plain text, and the text constants in it.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{Expr, Stmt};

use crate::compile::nodes::{all_within, bodies, expressions};

/// The texts in a template's source. Jinja2 has them as the nodes `TemplateData` and `Const`.
pub(crate) fn texts(template: &Stmt<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    of_statement(template, &mut found);
    found
}

fn of_statement(statement: &Stmt<'_>, found: &mut BTreeSet<String>) {
    if let Stmt::EmitRaw(node) = statement {
        found.insert(node.raw.to_owned());
    }
    for expression in expressions(statement) {
        of_expression(expression, found);
    }
    for body in bodies(statement) {
        for inner in body {
            of_statement(inner, found);
        }
    }
}

fn of_expression(expression: &Expr<'_>, found: &mut BTreeSet<String>) {
    if let Expr::Const(node) = expression
        && let Some(text) = node.value.as_str()
    {
        found.insert(text.to_owned());
    }
    all_within(expression, |inner| {
        of_expression(inner, found);
        true
    });
}
