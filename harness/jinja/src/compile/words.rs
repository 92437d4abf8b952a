//! The words in the code of a template: names, literals, and which of them are compared.

use minijinja::Value;
use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};
use rolecall_core::Words;

use crate::compile::nodes::{all_within, bodies, expressions};

pub(crate) fn words(template: &Stmt<'_>) -> Words {
    let mut found = Words::default();
    of_statement(template, &mut found);
    found
}

fn of_statement(statement: &Stmt<'_>, found: &mut Words) {
    for expression in expressions(statement) {
        of_expression(expression, found);
    }
    for body in bodies(statement) {
        for inner in body {
            of_statement(inner, found);
        }
    }
}

fn of_expression(expression: &Expr<'_>, found: &mut Words) {
    if is_comparison(expression) {
        let mut own = Words::default();
        collect(expression, &mut own);
        found.compare(&own.names, &own.texts);
    }
    note(expression, found);
    all_within(expression, |inner| {
        of_expression(inner, found);
        true
    });
}

/// Whether an expression holds values against each other: a comparison, the call of a method, or a
/// test.
fn is_comparison(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Compare(_) | Expr::Test(_) => true,
        Expr::BinOp(node) => matches!(
            node.op,
            BinOpKind::Eq
                | BinOpKind::Ne
                | BinOpKind::Lt
                | BinOpKind::Lte
                | BinOpKind::Gt
                | BinOpKind::Gte
                | BinOpKind::In
        ),
        Expr::Call(node) => matches!(node.expr, Expr::GetAttr(_)),
        _ => false,
    }
}

fn collect(expression: &Expr<'_>, found: &mut Words) {
    note(expression, found);
    all_within(expression, |inner| {
        collect(inner, found);
        true
    });
}

/// The words of an expression without those of the expressions in it.
fn note(expression: &Expr<'_>, found: &mut Words) {
    match expression {
        Expr::Var(node) => {
            found.names.insert(node.id.to_owned());
        }
        Expr::GetAttr(node) => {
            found.names.insert(node.name.to_owned());
        }
        Expr::GetItem(node) => {
            if let Expr::Const(key) = &node.subscript_expr
                && let Some(key) = key.value.as_str()
            {
                found.names.insert(key.to_owned());
            }
        }
        Expr::Const(node) => of_constant(&node.value, found),
        _ => {}
    }
}

fn of_constant(value: &Value, found: &mut Words) {
    if let Some(text) = value.as_str() {
        found.texts.insert(text.to_owned());
    } else if value.is_integer()
        && let Ok(number) = i64::try_from(value.clone())
    {
        found.numbers.insert(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_keep_names_and_literals_together() {
        let source = "plain{% if m.role == 'tool' and m['name'] %}{{ 'out' }}{% endif %}\
            {% if x.startswith('<a>') or n|length > 3 %}{% endif %}\
            {% for k in ['one', 'two'] %}{% if effort in ['low', 'high'] %}{% endif %}{% endfor %}";
        let parsed = crate::compile::grammar::parse(source).unwrap();
        let words = words(&parsed.template);
        assert_eq!(words.compared_with("role"), ["tool"]);
        assert_eq!(words.compared_with("x"), ["<a>"]);
        assert_eq!(words.compared_with("effort"), ["high", "low"]);
        assert_eq!(words.compared_with("name"), [] as [&str; 0]);
        assert!(words.names.contains("name"), "{:?}", words.names);
        let texts: Vec<&str> = words.texts.iter().map(String::as_str).collect();
        assert_eq!(
            texts,
            ["<a>", "high", "low", "name", "one", "out", "tool", "two"]
        );
        assert!(words.numbers.contains(&3));
    }
}
