//! The names in a template that have no meaning, even in branches that never run.

use std::collections::BTreeSet;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{CallArg, Expr, Stmt};
use rolecall_core::{NameKind, UnknownName};

use crate::compile::bindings::{BindingKind, Bindings};
use crate::compile::nodes::{all_within, bodies, expressions, given};
use crate::compile::properties::is_self;
use crate::library::{functions, vocabulary};
use crate::python::attributes::is_method;

/// The keys that applications give a message.
const MESSAGE: &[&str] = &[
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "reasoning_content",
    "reasoning",
    "thinking",
    "function_call",
    "context",
    "type",
    "text",
    "tools",
    "tool_call",
];
/// The keys that they give a tool, or its function.
const TOOL: &[&str] = &[
    "type",
    "function",
    "name",
    "description",
    "parameters",
    "return",
    "returns",
    "strict",
];
/// The keys that they give a call, or its function.
const CALL: &[&str] = &["id", "type", "function", "name", "arguments", "parameters"];

/// Methods that change a list or a dictionary (Jinja2's sandbox.py,
/// `_mutable_spec`): no template may call them.
const CHANGING: [&str; 9] = [
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "setdefault",
    "update",
];

/// Methods of other values than texts, lists, dictionaries and numbers: of `cycler(…)`, `loop`, and
/// of Python's numbers.
const METHODS: [&str; 13] = [
    "as_integer_ratio",
    "bit_count",
    "bit_length",
    "changed",
    "conjugate",
    "cycle",
    "from_bytes",
    "fromhex",
    "hex",
    "is_integer",
    "next",
    "reset",
    "to_bytes",
];

/// The names in a template that have no meaning. `is_given` says whether the template's model
/// supplies a variable.
pub(crate) fn names(template: &Stmt<'_>, is_given: impl Fn(&str) -> bool) -> Vec<UnknownName> {
    let mut uses = Uses::default();
    uses.statement(template);
    let bindings = Bindings::of(template);
    let is_unset = |name: &str| {
        !bindings.has(name)
            && !uses.read.contains(name)
            && !functions::is_global(name)
            && !is_given(name)
    };
    let mut found = Vec::new();
    for (kind, name, line) in uses.named {
        let is_unknown = match kind {
            // `{% if 'name' is filter %}`
            NameKind::Filter => vocabulary::filter(name).is_none() && !uses.texts.contains(name),
            NameKind::Test => vocabulary::test(name).is_none() && !uses.texts.contains(name),
            NameKind::Method => CHANGING.contains(&name),
            NameKind::NoMethod => {
                !is_method(name) && !METHODS.contains(&name) && !uses.made.contains(name)
            }
            _ => is_unset(name),
        };
        if is_unknown {
            found.push(unknown(kind, name, line));
        }
    }
    for (of, name, line) in uses.keys {
        let (of, known) = match bindings.kind(of) {
            Some(BindingKind::Message) => ("a message", MESSAGE),
            Some(BindingKind::Tool) => ("a tool", TOOL),
            Some(BindingKind::Call) => ("a tool call", CALL),
            _ => continue,
        };
        if !known.contains(&name) && !is_method(name) {
            found.push(unknown(NameKind::Key { of, known }, name, line));
        }
    }
    found
}

fn unknown(kind: NameKind, name: &str, line: usize) -> UnknownName {
    let name = name.to_owned();
    UnknownName { kind, name, line }
}

#[derive(Default)]
struct Uses<'e, 's> {
    /// The filters and tests that are applied, and the variables and methods that are called.
    named: Vec<(NameKind, &'s str, usize)>,
    /// The variables that are read in another way than by a call.
    read: BTreeSet<&'s str>,
    /// The texts that the template tests with `is filter` or `is test`.
    texts: BTreeSet<&'e str>,
    /// The names that something of the template's own may have: the texts in it, the arguments of
    /// calls, and the attributes that it assigns.
    made: BTreeSet<&'e str>,
    /// The keys that are read, with what should have them.
    keys: Vec<(&'e Expr<'s>, &'e str, usize)>,
}

impl<'e, 's> Uses<'e, 's> {
    fn statement(&mut self, statement: &'e Stmt<'s>) {
        match statement {
            Stmt::CallBlock(node) => self.callee(&node.call.expr, node.call.span()),
            Stmt::Do(node) => self.callee(&node.call.expr, node.call.span()),
            Stmt::Set(node) => {
                if let Expr::GetAttr(target) = &node.target {
                    self.made.insert(target.name);
                }
            }
            _ => {}
        }
        let called = match statement {
            Stmt::CallBlock(node) => Some(&node.call.expr),
            Stmt::Do(node) => Some(&node.call.expr),
            _ => None,
        };
        for expression in expressions(statement) {
            let is_called = called.is_some_and(|called| std::ptr::eq(called, expression));
            if !(is_called && matches!(expression, Expr::Var(_))) {
                self.expression(expression);
            }
        }
        for inner in bodies(statement).into_iter().flatten() {
            self.statement(inner);
        }
    }

    fn callee(&mut self, callee: &'e Expr<'s>, span: Span) {
        let (kind, name) = match callee {
            Expr::Var(node) => (NameKind::Function, node.id),
            Expr::GetAttr(node) if is_self(&node.expr) => return,
            Expr::GetAttr(node) => (NameKind::Method, node.name),
            _ => return,
        };
        self.named.push((kind, name, line(span)));
        if kind == NameKind::Method && !CHANGING.contains(&name) {
            self.named.push((NameKind::NoMethod, name, line(span)));
        }
    }

    fn expression(&mut self, expression: &'e Expr<'s>) {
        match expression {
            Expr::Var(name) => {
                self.read.insert(name.id);
            }
            Expr::Const(node) => self.made.extend(node.value.as_str()),
            Expr::Filter(node) => {
                self.named
                    .push((NameKind::Filter, node.name, line(node.span())));
            }
            Expr::Test(node) => {
                self.named
                    .push((NameKind::Test, node.name, line(node.span())));
                if ["filter", "test"].contains(&node.name)
                    && let Some(text) = text(&node.expr)
                {
                    self.texts.insert(text);
                }
            }
            Expr::GetAttr(node) => self.keys.push((&node.expr, node.name, line(node.span()))),
            Expr::GetItem(node) => {
                if let Some(key) = text(&node.subscript_expr) {
                    self.keys.push((&node.expr, key, line(node.span())));
                }
            }
            Expr::Call(node) => {
                let names = node.args.iter().filter_map(|argument| match argument {
                    CallArg::Kwarg(name, _) => Some(*name),
                    _ => None,
                });
                self.made.extend(names);
                self.callee(&node.expr, node.span());
                if let (Expr::GetAttr(method), Some(first)) =
                    (&node.expr, node.args.first().map(given))
                    && method.name == "get"
                    && let Some(key) = text(first)
                {
                    self.keys.push((&method.expr, key, line(node.span())));
                }
                if matches!(&node.expr, Expr::Var(_)) {
                    for argument in &node.args {
                        self.expression(given(argument));
                    }
                    return;
                }
            }
            _ => {}
        }
        all_within(expression, |inner| {
            self.expression(inner);
            true
        });
    }
}

/// The text that a constant is.
fn text<'e>(expression: &'e Expr<'_>) -> Option<&'e str> {
    match expression {
        Expr::Const(node) => node.value.as_str(),
        _ => None,
    }
}

fn line(span: Span) -> usize {
    span.start_line.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::grammar;

    fn names_in(source: &str, is_given: impl Fn(&str) -> bool) -> Vec<UnknownName> {
        names(&grammar::parse(source).unwrap().template, is_given)
    }

    fn found(source: &str) -> Vec<(NameKind, String)> {
        let names = names_in(source, |name| name == "bos_token").into_iter();
        names.map(|name| (name.kind, name.name)).collect()
    }

    #[test]
    fn methods_that_no_value_has_are_found() {
        use NameKind::NoMethod;
        let found_in = "{% if a %}{{ b.stripp() }}{{ b.strip() }}{{ loop.cycle(1) }}{% endif %}";
        assert_eq!(found(found_in), [(NoMethod, "stripp".to_owned())]);
        for source in [
            "{% set ns = namespace(f=g) %}{{ ns.f() }}",
            "{% set ns.f = g %}{{ ns.f() }}",
            "{% set d = {'f': g} %}{{ d.f() }}",
            "{{ self.f() }}",
        ] {
            assert_eq!(found(source), [], "{source}");
        }
    }

    #[test]
    fn filters_tests_and_functions_are_found_where_they_never_run() {
        use NameKind::{Filter, Function, Method, Test};
        let source = "{% if a is strong %}{{ b | strip | map('c') }}{{ d(e()) }}\
            {% set g = b.append(1) %}{{ b.index(2) }}{% endif %}";
        let name = |kind, name: &str| (kind, name.to_owned());
        assert_eq!(
            found(source),
            [
                name(Test, "strong"),
                name(Filter, "strip"),
                name(Function, "d"),
                name(Function, "e"),
                name(Method, "append"),
            ]
        );
        let lines = "\n\n{% if a %}\n{{ b | strip }}{% endif %}";
        let [name] = names_in(lines, |_| false).try_into().unwrap();
        assert_eq!(name.line, 4);
    }

    #[test]
    fn what_may_be_there_is_not_unknown() {
        for source in [
            "{% if f is defined %}{{ f() }}{% endif %}",
            "{% if f %}{{ f() }}{% endif %}",
            "{% macro f() %}{% endmacro %}{{ f() }}",
            "{% macro g() %}{{ caller() }}{% endmacro %}{% call g() %}{% endcall %}",
            "{% set f = joiner() %}{{ f() }}{{ range(2) }}{{ raise_exception('x') }}",
            "{% if 'strip' is filter %}{{ a | strip }}{% endif %}",
            "{{ bos_token() }}{{ a['b']() }}{% for x in y recursive %}{{ loop(x) }}{% endfor %}",
        ] {
            assert_eq!(found(source), [], "{source}");
        }
    }

    #[test]
    fn keys_are_reported_of_what_is_certain() {
        let keys = |source: &str| -> Vec<String> {
            let found = found(source).into_iter();
            found
                .map(|(kind, name)| {
                    assert!(matches!(kind, NameKind::Key { .. }));
                    name
                })
                .collect()
        };
        for (source, unknown) in [
            (
                "{% for m in messages %}{{ m.contents }}{{ m['rol'] }}{{ m.get('x') }}{{ m.role }}{% endfor %}",
                &["contents", "rol", "x"][..],
            ),
            (
                "{% set messages = messages[1:] %}{{ messages[0].contents }}{{ (messages | last).rol }}",
                &["contents", "rol"],
            ),
            (
                "{% for t in tools %}{% set f = t.function %}{{ f.nam }}{{ f.name }}{% endfor %}",
                &["nam"],
            ),
            (
                "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.args }}{% endfor %}{% endfor %}",
                &["args"],
            ),
            (
                "{% for m in messages %}{% set c = m.content %}{{ c.anything }}{% endfor %}{{ m.what }}",
                &["what"],
            ),
            // A variable with another value elsewhere is not certain.
            (
                "{% for m in messages %}{{ m.x }}{% endfor %}{% for m in others %}{% endfor %}",
                &[],
            ),
            ("{% macro show(m) %}{{ m.x }}{% endmacro %}", &[]),
            (
                "{% for k in messages[0].items() %}{{ k.x }}{% endfor %}",
                &[],
            ),
        ] {
            assert_eq!(keys(source), unknown, "{source}");
        }
    }
}
