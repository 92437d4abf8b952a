//! The loops of a template over the content of messages. Servers look for them: such a template reads
//! a content as a list of parts.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{CallArg, Expr, ForLoop, Macro, Set, Stmt};

use crate::compile::nodes::{all_within, bodies, expressions};

/// The key of a message's content.
const CONTENT: &str = "content";

/// The loops of a template over the content of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentLoops {
    /// The variables over whose content a loop goes: `message` for `{% for x in message.content %}`.
    pub variables: BTreeSet<String>,
    /// Whether a loop goes over the content of one of the messages, under whatever names the template
    /// knows them, as vLLM 0.33 finds out (`renderers/hf.py`, `_detect_content_format`).
    pub of_messages: bool,
}

pub(crate) fn content_loops(template: &Stmt<'_>) -> ContentLoops {
    let mut tree = Tree::default();
    tree.add(template, &mut Vec::new());
    let variables = tree.loops.iter().filter_map(|one| {
        let Expr::Var(name) = owner(stripped(&one.node.iter), CONTENT)? else {
            return None;
        };
        Some(name.id.to_owned())
    });
    ContentLoops {
        variables: variables.collect(),
        of_messages: tree.loops_over_messages().unwrap_or(false),
    }
}

/// The parts of a syntax tree that matter.
#[derive(Default)]
struct Tree<'e, 's> {
    loops: Vec<Loop<'e, 's>>,
    sets: Vec<&'e Set<'s>>,
    macros: Vec<&'e Macro<'s>>,
    /// The names of what is called, and with which arguments.
    calls: Vec<(&'s str, &'e [CallArg<'s>])>,
}

struct Loop<'e, 's> {
    node: &'e ForLoop<'s>,
    /// The names of the macros around it.
    macros: Vec<&'s str>,
}

impl<'e, 's> Tree<'e, 's> {
    fn add(&mut self, statement: &'e Stmt<'s>, macros: &mut Vec<&'s str>) {
        match statement {
            Stmt::ForLoop(node) => self.loops.push(Loop {
                node,
                macros: macros.clone(),
            }),
            Stmt::Set(node) => self.sets.push(node),
            Stmt::CallBlock(node) => self.call(&node.call.expr, &node.call.args),
            _ => {}
        }
        for expression in expressions(statement) {
            self.calls_of(expression);
        }
        let is_macro = if let Stmt::Macro(node) = statement {
            self.macros.push(node);
            macros.push(node.name);
            true
        } else {
            false
        };
        for inner in bodies(statement).into_iter().flatten() {
            self.add(inner, macros);
        }
        if is_macro {
            macros.pop();
        }
    }

    fn calls_of(&mut self, expression: &'e Expr<'s>) {
        if let Expr::Call(node) = expression {
            self.call(&node.expr, &node.args);
        }
        all_within(expression, |inner| {
            self.calls_of(inner);
            true
        });
    }

    fn call(&mut self, called: &Expr<'s>, arguments: &'e [CallArg<'s>]) {
        if let Expr::Var(name) = called {
            self.calls.push((name.id, arguments));
        }
    }

    /// None where vLLM gives up: a loop takes a message apart.
    fn loops_over_messages(&self) -> Option<bool> {
        let lists = self.aliases("messages");
        let mut messages = BTreeSet::new();
        for one in &self.loops {
            if lists.iter().any(|list| is(&one.node.iter, list)) {
                let Expr::Var(message) = &one.node.target else {
                    return None;
                };
                messages.insert(message.id);
            }
        }
        let is_content = |expression: &Expr<'_>| {
            let owner = owner(stripped(expression), CONTENT);
            owner.is_some_and(|owner| messages.iter().any(|message| is_variable(owner, message)))
        };
        Some(self.loops.iter().any(|one| {
            is_content(&one.node.iter)
                || match &one.node.iter {
                    Expr::Var(list) if one.macros.is_empty() => list.id == CONTENT,
                    Expr::Var(list) => self.is_handed(list.id, &one.macros, is_content),
                    _ => false,
                }
        }))
    }

    /// The names of a variable: its own, and those that it is assigned to. A field of a namespace has
    /// a dot in its name.
    fn aliases(&self, name: &str) -> Vec<String> {
        let mut names = vec![name.to_owned()];
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            for set in &self.sets {
                let found = match (&set.target, &set.expr) {
                    (target, value) if is(value, &name) => dotted(target).into_iter().collect(),
                    (Expr::Var(target), Expr::Call(call))
                        if is_variable(&call.expr, "namespace") =>
                    {
                        let fields = call.args.iter().filter_map(|argument| match argument {
                            CallArg::Kwarg(key, value) if is(value, &name) => Some(*key),
                            _ => None,
                        });
                        fields.map(|key| format!("{}.{key}", target.id)).collect()
                    }
                    _ => Vec::new(),
                };
                names.extend(
                    found
                        .into_iter()
                        .filter(|one| !names.contains(one))
                        .collect::<Vec<_>>(),
                );
            }
            at += 1;
        }
        names
    }

    /// Whether one of the macros gets a content as this parameter.
    fn is_handed(
        &self,
        parameter: &str,
        macros: &[&str],
        is_content: impl Fn(&Expr<'_>) -> bool,
    ) -> bool {
        let named = self.macros.iter().filter(|one| macros.contains(&one.name));
        named.into_iter().any(|one| {
            let place = one
                .args
                .iter()
                .position(|name| is_variable(name, parameter));
            let calls = self.calls.iter().filter(|(called, _)| *called == one.name);
            place.is_some_and(|place| {
                calls.into_iter().any(|(_, arguments)| {
                    let mut at = 0;
                    arguments.iter().any(|argument| match argument {
                        CallArg::Pos(value) => {
                            at += 1;
                            at == place + 1 && is_content(value)
                        }
                        CallArg::Kwarg(key, value) => *key == parameter && is_content(value),
                        _ => false,
                    })
                })
            })
        })
    }
}

/// An expression without filters, tests and slices around it.
fn stripped<'e, 's>(expression: &'e Expr<'s>) -> &'e Expr<'s> {
    match expression {
        Expr::Filter(node) => node.expr.as_ref().map_or(expression, stripped),
        Expr::Test(node) => stripped(&node.expr),
        Expr::Slice(node) => stripped(&node.expr),
        _ => expression,
    }
}

/// Whether an expression is a variable, perhaps with filters.
fn is(expression: &Expr<'_>, name: &str) -> bool {
    is_variable(stripped(expression), name)
}

fn is_variable(expression: &Expr<'_>, name: &str) -> bool {
    match (expression, name.rsplit_once('.')) {
        (Expr::Var(node), _) => node.id == name,
        (Expr::GetAttr(node), Some((base, field))) => {
            node.name == field && is_variable(&node.expr, base)
        }
        _ => false,
    }
}

/// The object of which an expression reads this field.
fn owner<'e, 's>(expression: &'e Expr<'s>, field: &str) -> Option<&'e Expr<'s>> {
    match expression {
        Expr::GetAttr(node) if node.name == field => Some(&node.expr),
        Expr::GetItem(node) => match &node.subscript_expr {
            Expr::Const(key) if key.value.as_str() == Some(field) => Some(&node.expr),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a variable or of a field of a namespace.
fn dotted(target: &Expr<'_>) -> Option<String> {
    match target {
        Expr::Var(name) => Some(name.id.to_owned()),
        Expr::GetAttr(node) => Some(format!("{}.{}", dotted(&node.expr)?, node.name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_found_under_all_names() {
        for (source, variables, of_messages) in [
            (
                "{% for m in messages %}{{ m.content }}{% endfor %}",
                "",
                false,
            ),
            (
                "{% for m in messages %}{% for p in m.content %}{% endfor %}{% endfor %}",
                "m",
                true,
            ),
            (
                "{% for x in messages[1:]|list %}{% for p in x['content']|list %}{% endfor %}{% endfor %}",
                "x",
                true,
            ),
            (
                "{% set a = messages %}{% for m in a %}{% for p in m.content %}{% endfor %}{% endfor %}",
                "m",
                true,
            ),
            (
                "{% set n = namespace(l=messages) %}{% set n.r = n.l[1:] %}{% for m in n.r %}{% for p in m.content %}{% endfor %}{% endfor %}",
                "m",
                true,
            ),
            (
                "{% for m in others %}{% for p in m.content %}{% endfor %}{% endfor %}",
                "m",
                false,
            ),
            (
                "{% for a, b in messages %}{% endfor %}{% for p in content %}{% endfor %}",
                "",
                false,
            ),
            ("{% for p in content %}{% endfor %}", "", true),
            ("{% for p in content|list %}{% endfor %}", "", false),
            (
                "{% macro f(content) %}{% for p in content %}{% endfor %}{% endmacro %}",
                "",
                false,
            ),
            (
                "{% macro f(a, c) %}{% for p in c %}{% endfor %}{% endmacro %}{% for m in messages %}{{ f(1, m.content) }}{% endfor %}",
                "",
                true,
            ),
            (
                "{% macro f(a, c) %}{% for p in c %}{% endfor %}{% endmacro %}{% for m in messages %}{{ f(m.content, 1) }}{% endfor %}",
                "",
                false,
            ),
            (
                "{% macro f(c) %}{% for p in c %}{% endfor %}{% endmacro %}{% for m in messages %}{{ f(c=m.content) }}{% endfor %}",
                "",
                true,
            ),
        ] {
            let parsed = crate::compile::grammar::parse(source).unwrap();
            let found = content_loops(&parsed.template);
            let names: Vec<&str> = found.variables.iter().map(String::as_str).collect();
            assert_eq!(
                (names.join(" ").as_str(), found.of_messages),
                (variables, of_messages),
                "{source}"
            );
        }
    }
}
