//! Places in a template that do not do what they look like.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, ForLoop, Stmt, UnaryOpKind};
use rolecall_core::ROLES;

use crate::compile::nodes::{all_within, bodies, expressions};

/// A place in a template that does not do what it looks like.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pitfall {
    /// Its line, from 1.
    pub line: usize,
    /// What it is.
    pub kind: PitfallKind,
}

/// What looks like something else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PitfallKind {
    /// A loop sets a variable that is read only outside of the loop. In Jinja, a variable that a
    /// loop sets is gone when the loop's body ends; a `namespace` keeps it.
    ForgottenByLoop {
        /// The variable.
        name: String,
    },
    /// A text is an operand of `and` or `or` in a condition, where it is always true.
    TextAsCondition {
        /// The text.
        text: String,
    },
    /// The place of an item in one list is used for another list.
    OtherList {
        /// The list that is indexed.
        indexed: String,
        /// The list that the loop goes through.
        looped: String,
    },
    /// The role of a message is compared with a text that no application sends. Some models have roles of
    /// their own.
    OtherRole {
        /// The text.
        text: String,
    },
}

/// The pitfalls of a template, in the order of their lines.
pub(crate) fn pitfalls(template: &Stmt<'_>) -> Vec<Pitfall> {
    let mut found = BTreeSet::new();
    let mut outside = BTreeSet::new();
    read_by(template, &mut outside);
    // A field of a namespace that is read under this name was meant.
    fields_of_namespaces(template, &mut outside);
    let mut set = BTreeMap::new();
    roles_in_variables(template, &mut set);
    let roles: BTreeSet<&str> = set
        .iter()
        .filter_map(|(name, is)| is.then_some(*name))
        .collect();
    walk(template, None, &outside, &roles, &mut found);
    found.into_iter().collect()
}

fn walk<'e, 's>(
    statement: &'e Stmt<'s>,
    innermost: Option<&'e ForLoop<'s>>,
    read_anywhere: &BTreeSet<&'s str>,
    roles: &BTreeSet<&str>,
    found: &mut BTreeSet<Pitfall>,
) {
    if let (Stmt::Set(node), Some(innermost)) = (statement, innermost)
        && let Expr::Var(target) = &node.target
    {
        let mut inside = BTreeSet::new();
        read_in_loop(innermost, &mut inside);
        let name = target.id;
        if !inside.contains(name) && read_anywhere.contains(name) && !name.starts_with('_') {
            found.insert(Pitfall {
                line: node.span().start_line.into(),
                kind: PitfallKind::ForgottenByLoop {
                    name: name.to_owned(),
                },
            });
        }
    }
    if let Stmt::IfCond(node) = statement {
        texts_as_conditions(&node.expr, node.span().start_line.into(), found);
    }
    for expression in expressions(statement) {
        tests_within(expression, found);
        other_roles(expression, roles, found);
        if let Some(innermost) = innermost {
            other_lists(expression, innermost, found);
        }
    }
    for inner in bodies(statement).into_iter().flatten() {
        let innermost = match statement {
            Stmt::ForLoop(node) => Some(&**node),
            // What a macro sets is its own.
            Stmt::Macro(_) => None,
            _ => innermost,
        };
        walk(inner, innermost, read_anywhere, roles, found);
    }
}

/// The fields that a template sets: those of its namespaces.
fn fields_of_namespaces<'s>(statement: &Stmt<'s>, found: &mut BTreeSet<&'s str>) {
    if let Stmt::Set(node) = statement {
        if let Expr::GetAttr(field) = &node.target {
            found.insert(field.name);
        }
        if let Expr::Call(call) = &node.expr
            && matches!(&call.expr, Expr::Var(name) if name.id == "namespace")
        {
            let names = call.args.iter().filter_map(|argument| match argument {
                CallArg::Kwarg(name, _) => Some(*name),
                _ => None,
            });
            found.extend(names);
        }
    }
    for inner in bodies(statement).into_iter().flatten() {
        fields_of_namespaces(inner, found);
    }
}

/// The variables that a loop reads in its body.
fn read_in_loop<'s>(node: &ForLoop<'s>, found: &mut BTreeSet<&'s str>) {
    for inner in node.body.iter().chain(&node.else_body) {
        read_by(inner, found);
    }
}

/// The variables that a statement reads, with all that is within it.
fn read_by<'s>(statement: &Stmt<'s>, found: &mut BTreeSet<&'s str>) {
    for expression in expressions(statement) {
        read(expression, found);
    }
    // `{% set ns.x = 1 %}` reads `ns`.
    if let Stmt::Set(node) = statement
        && let Expr::GetAttr(attribute) = &node.target
    {
        read(&attribute.expr, found);
    }
    for inner in bodies(statement).into_iter().flatten() {
        read_by(inner, found);
    }
}

fn read<'s>(expression: &Expr<'s>, found: &mut BTreeSet<&'s str>) {
    if let Expr::Var(name) = expression {
        found.insert(name.id);
    }
    all_within(expression, |inner| {
        read(inner, found);
        true
    });
}

/// Looks into the conditions of inline `if`s.
fn tests_within(expression: &Expr<'_>, found: &mut BTreeSet<Pitfall>) {
    if let Expr::IfExpr(node) = expression {
        texts_as_conditions(&node.test_expr, node.span().start_line.into(), found);
    }
    all_within(expression, |inner| {
        tests_within(inner, found);
        true
    });
}

/// The variables that a template sets, and whether each is always the role of a message as it is.
fn roles_in_variables<'s>(statement: &Stmt<'s>, found: &mut BTreeMap<&'s str, bool>) {
    if let Stmt::Set(node) = statement
        && let Expr::Var(target) = &node.target
    {
        let is_one = is_role(&node.expr, &BTreeSet::new());
        *found.entry(target.id).or_insert(true) &= is_one;
    }
    for inner in bodies(statement).into_iter().flatten() {
        roles_in_variables(inner, found);
    }
}

/// Looks for texts that the role of a message is compared with as it is.
fn other_roles(expression: &Expr<'_>, roles: &BTreeSet<&str>, found: &mut BTreeSet<Pitfall>) {
    if let Expr::BinOp(node) = expression
        && matches!(node.op, BinOpKind::Eq | BinOpKind::Ne)
        && let (role, Expr::Const(text)) | (Expr::Const(text), role) = (&node.left, &node.right)
        && is_role(role, roles)
        && let Some(text) = text.value.as_str().filter(|text| !ROLES.contains(text))
    {
        let text = text.to_owned();
        found.insert(Pitfall {
            line: node.span().start_line.into(),
            kind: PitfallKind::OtherRole { text },
        });
    }
    all_within(expression, |inner| {
        other_roles(inner, roles, found);
        true
    });
}

/// Whether an expression is the role of a message, without a filter or a method, perhaps in one of these
/// variables.
fn is_role(expression: &Expr<'_>, variables: &BTreeSet<&str>) -> bool {
    match expression {
        Expr::Var(name) => variables.contains(name.id),
        Expr::GetAttr(node) => node.name == "role",
        Expr::GetItem(node) => {
            matches!(&node.subscript_expr, Expr::Const(key) if key.value.as_str() == Some("role"))
        }
        _ => false,
    }
}

/// Looks for texts that are operands of `and` and `or` in a condition.
fn texts_as_conditions(condition: &Expr<'_>, line: usize, found: &mut BTreeSet<Pitfall>) {
    match condition {
        Expr::UnaryOp(node) if matches!(node.op, UnaryOpKind::Not) => {
            texts_as_conditions(&node.expr, line, found);
        }
        Expr::BinOp(node) if matches!(node.op, BinOpKind::ScAnd | BinOpKind::ScOr) => {
            for side in [&node.left, &node.right] {
                match side {
                    Expr::Const(constant) => {
                        if let Some(text) = constant.value.as_str() {
                            let text = text.to_owned();
                            let kind = PitfallKind::TextAsCondition { text };
                            found.insert(Pitfall { line, kind });
                        }
                    }
                    other => texts_as_conditions(other, line, found),
                }
            }
        }
        _ => {}
    }
}

/// Looks for messages that are looked up by the place of an item in another list.
fn other_lists(expression: &Expr<'_>, innermost: &ForLoop<'_>, found: &mut BTreeSet<Pitfall>) {
    let looped = match &innermost.iter {
        Expr::Var(name) => Some(name.id.to_owned()),
        Expr::Slice(node) => match &node.expr {
            Expr::Var(name) => Some(format!("{}[…]", name.id)),
            _ => None,
        },
        _ => None,
    };
    if let (Expr::GetItem(node), Some(looped)) = (expression, looped)
        && let Expr::Var(indexed) = &node.expr
        && indexed.id.contains("messages")
        && indexed.id != looped
        && has_place(&node.subscript_expr)
    {
        found.insert(Pitfall {
            line: node.span().start_line.into(),
            kind: PitfallKind::OtherList {
                indexed: indexed.id.to_owned(),
                looped,
            },
        });
    }
    all_within(expression, |inner| {
        other_lists(inner, innermost, found);
        true
    });
}

/// Whether an expression has the place of the loop's item in it: `loop.index` or `loop.index0`.
fn has_place(expression: &Expr<'_>) -> bool {
    if let Expr::GetAttr(node) = expression
        && let Expr::Var(name) = &node.expr
        && name.id == "loop"
        && ["index", "index0"].contains(&node.name)
    {
        return true;
    }
    !all_within(expression, |inner| !has_place(inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::grammar;

    fn found(source: &str) -> Vec<(usize, PitfallKind)> {
        let parsed = grammar::parse(source).unwrap();
        let found = pitfalls(&parsed.template).into_iter();
        found.map(|one| (one.line, one.kind)).collect()
    }

    fn forgotten(name: &str) -> PitfallKind {
        PitfallKind::ForgottenByLoop { name: name.into() }
    }

    #[test]
    fn what_a_loop_sets_and_does_not_read_is_forgotten() {
        let source = "{% set last = 0 %}{% for m in messages %}\n{% if m.x %}{% set last = 1 %}{% endif %}\
            {% endfor %}{{ last }}";
        assert_eq!(found(source), [(2, forgotten("last"))]);
        for source in [
            // It is read in the loop, or nowhere, or kept by a namespace.
            "{% for m in messages %}{% set c = m.x %}{{ c }}{% endfor %}{{ c }}",
            "{% for m in messages %}{% set c = m.x %}{% endfor %}",
            "{% set ns = namespace(c=0) %}{% for m in messages %}{% set ns.c = 1 %}{% endfor %}{{ ns.c }}",
            "{% for m in messages %}{% set c = 1 %}{% for n in m %}{{ c }}{% endfor %}{% endfor %}",
        ] {
            assert_eq!(found(source), [], "{source}");
        }
        let source =
            "{% set ns = namespace(last=0) %}{% for m in messages %}{% set last = 1 %}{% endfor %}";
        assert_eq!(found(source), [(1, forgotten("last"))]);
        // The inner loop forgets it, although the outer one reads it.
        let source = "{% for m in messages %}{% for p in m.c %}{% set has = 1 %}{% endfor %}{{ has }}{% endfor %}";
        assert_eq!(found(source), [(1, forgotten("has"))]);
    }

    #[test]
    fn a_text_is_no_condition() {
        let text = |text: &str| PitfallKind::TextAsCondition { text: text.into() };
        assert_eq!(
            found("{% if m.role == 'user' or 'system' %}x{% endif %}"),
            [(1, text("system"))]
        );
        assert_eq!(found("{{ 1 if not ('a' and b) }}"), [(1, text("a"))]);
        assert_eq!(found("{{ m.content or '' }}{% set a = b or 'c' %}"), []);
        assert_eq!(found("{% if (m.content or '') == 'x' %}{% endif %}"), []);
    }

    #[test]
    fn roles_that_nobody_sends_are_compared() {
        let role = |text: &str| PitfallKind::OtherRole { text: text.into() };
        for (source, text) in [
            ("{% if m.role == 'ASSISTANT' %}{% endif %}", "ASSISTANT"),
            ("{{ 1 if 'sistem' != m['role'] }}", "sistem"),
            ("{% if m.role == 'café' %}{% endif %}", "café"),
            (
                "{% set r = m.role %}{% if r == 'USER' %}{% endif %}",
                "USER",
            ),
        ] {
            assert_eq!(found(source), [(1, role(text))], "{source}");
        }
        for source in [
            "{% set r = m.role | upper %}{% if r == 'USER' %}{% endif %}",
            "{% set r = m.role %}{% set r = 'USER' %}{% if r == 'USER' %}{% endif %}",
            "{% if m.role | upper == 'USER' or m.role.upper() == 'TOOL' %}{% endif %}",
            "{% if m.role == 1 or m.role == 'user' or m.name == 'User' %}{% endif %}",
        ] {
            assert_eq!(found(source), [], "{source}");
        }
    }

    #[test]
    fn a_place_belongs_to_the_list_of_its_loop() {
        let other = |looped: &str| PitfallKind::OtherList {
            indexed: "messages".into(),
            looped: looped.into(),
        };
        assert_eq!(
            found("{% for m in rest %}{{ messages[loop.index0 - 1].role }}{% endfor %}"),
            [(1, other("rest"))]
        );
        assert_eq!(
            found(
                "{% for m in messages[1:] %}{% if messages[loop.index0].role %}{% endif %}{% endfor %}"
            ),
            [(1, other("messages[…]"))]
        );
        for source in [
            "{% for m in messages %}{{ messages[loop.index0 + 1].role }}{% endfor %}",
            "{% for m in rest %}{{ names[loop.index0] }}{{ messages[0].role }}{% endfor %}",
        ] {
            assert_eq!(found(source), [], "{source}");
        }
    }
}
