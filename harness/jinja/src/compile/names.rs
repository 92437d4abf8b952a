//! The names that a template reads and writes. They show which arguments and outer variables its
//! macros need.

use minijinja::machinery::ast::{Expr, Macro, Stmt};

use crate::compile::nodes::{all_within, given};
use crate::operators::macros::Signature;

/// The signature of a macro whose defaults and body use these names. The macro gets the special
/// arguments `caller`, `kwargs` and `varargs` if its body uses them. In a default they are ordinary
/// variables (Jinja2's compiler.py, `macro_body`).
pub(super) fn signature(node: &Macro<'_>) -> Signature {
    let arguments: Vec<String> = argument_names(node).map(str::to_owned).collect();
    let reads = |name: &str| matches!(first_use(&node.body, name), Some(Use::Read));
    let uses = |name: &str| reads(name) && !arguments.iter().any(|a| a == name);
    Signature {
        name: node.name.to_owned(),
        required: node.args.len() - node.defaults.len(),
        reads_caller: reads("caller"),
        takes_kwargs: uses("kwargs"),
        takes_varargs: uses("varargs"),
        arguments,
    }
}

/// The names under which a macro's body finds what it is given, in the order in which the
/// signature binds them.
pub(super) fn parameters<'s>(signature: &Signature, node: &Macro<'s>) -> Vec<&'s str> {
    let special = [
        (signature.takes_caller(), "caller"),
        (signature.takes_kwargs, "kwargs"),
        (signature.takes_varargs, "varargs"),
    ];
    let special = special
        .into_iter()
        .filter_map(|(takes, name)| takes.then_some(name));
    argument_names(node).chain(special).collect()
}

fn argument_names<'s>(node: &Macro<'s>) -> impl Iterator<Item = &'s str> {
    node.args.iter().filter_map(|argument| match argument {
        Expr::Var(name) => Some(name.id),
        _ => None,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    /// An assignment, or the parameter of a macro.
    Write,
}

/// The first use of a name in statements, in the order in which Jinja2 looks for a macro's special
/// arguments. A name that is written first is not a special argument (`compiler.py`,
/// `UndeclaredNameVisitor`).
fn first_use(statements: &[Stmt<'_>], name: &str) -> Option<Use> {
    statements
        .iter()
        .find_map(|statement| first_use_in(statement, name))
}

fn first_use_in(statement: &Stmt<'_>, name: &str) -> Option<Use> {
    let read = |expression: &Expr<'_>| reads(expression, name).then_some(Use::Read);
    let write = |target: &Expr<'_>| writes(target, name).then_some(Use::Write);
    let body = |statements: &[Stmt<'_>]| first_use(statements, name);
    let of_macro = |node: &Macro<'_>| {
        let written = node.args.iter().find_map(write);
        written
            .or_else(|| node.defaults.iter().find_map(read))
            .or_else(|| body(&node.body))
    };
    match statement {
        Stmt::Template(node) => body(&node.children),
        Stmt::EmitExpr(node) => read(&node.expr),
        Stmt::ForLoop(node) => write(&node.target)
            .or_else(|| read(&node.iter))
            .or_else(|| body(&node.body))
            .or_else(|| body(&node.else_body))
            .or_else(|| node.filter_expr.as_ref().and_then(read)),
        Stmt::IfCond(node) => read(&node.expr)
            .or_else(|| body(&node.true_body))
            .or_else(|| body(&node.false_body)),
        Stmt::WithBlock(node) => {
            let mut targets = node.assignments.iter().map(|(target, _)| target);
            let mut values = node.assignments.iter().map(|(_, value)| value);
            targets
                .find_map(write)
                .or_else(|| values.find_map(read))
                .or_else(|| body(&node.body))
        }
        Stmt::Set(node) => write(&node.target).or_else(|| read(&node.expr)),
        Stmt::SetBlock(node) => write(&node.target)
            .or_else(|| node.filter.as_ref().and_then(read))
            .or_else(|| body(&node.body)),
        Stmt::AutoEscape(node) => read(&node.enabled).or_else(|| body(&node.body)),
        Stmt::FilterBlock(node) => body(&node.body).or_else(|| read(&node.filter)),
        Stmt::Macro(node) => of_macro(node),
        Stmt::CallBlock(node) => read(&node.call.expr)
            .or_else(|| node.call.args.iter().find_map(|arg| read(given(arg))))
            .or_else(|| of_macro(&node.macro_decl)),
        // What a block uses is its own.
        _ => None,
    }
}

/// Whether an expression reads a variable.
fn reads(expression: &Expr<'_>, name: &str) -> bool {
    let is_itself = matches!(expression, Expr::Var(variable) if variable.id == name);
    is_itself || !all_within(expression, |inner| !reads(inner, name))
}

/// Whether a target assigns to a variable.
fn writes(target: &Expr<'_>, name: &str) -> bool {
    match target {
        Expr::Var(variable) => variable.id == name,
        Expr::List(list) => list.items.iter().any(|item| writes(item, name)),
        _ => false,
    }
}
