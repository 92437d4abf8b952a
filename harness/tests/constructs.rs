//! The suite's templates use every construct that real templates use.
//!
//! A suite can only test those parts of an engine that its templates use. The lists name the
//! constructs: the engine finds those of Jinja in a template's tokens; this module finds those of
//! Go in a template's tree or its source. A construct that no template of the suite uses fails the
//! test.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use gotmpl::parse::{BranchNode, Expr, ListNode, Node, Number, Parser, PipeNode, SmolStr};
use regex::Regex;
use rolecall_core::Dialect;
use rolecall_jinja::Constructs;

use crate::project::SUITE;

/// The constructs of Jinja templates, under the names that [`Constructs`] gives them.
const JINJA: &str = "
function namespace with several names, assignment to a namespace, {% macro %},
call of caller, {% call %}, {% filter %}, {% generation %}, {% break %}, {% continue %},
function strftime_now of a text, function raise_exception,
keyword argument,

filter tojson, filter tojson with indent, filter tojson with ensure_ascii,
filter tojson with sort_keys, filter tojson with separators, filter selectattr,
filter rejectattr, filter select, filter reject, filter map with attribute,
filter map of a text, filter list, filter join, filter length, filter first, filter last,
filter unique, filter sort, filter dictsort, filter reverse, filter items, filter default,
filter default with true, filter default with boolean, filter trim, filter indent, filter safe,
filter string, filter int, filter float, filter round, filter abs,

method strip, method lstrip, method rstrip, method split, method startswith, method endswith,
method upper, method lower, method title, method replace, method find, method join on a text,
method items, method get, method keys, method values,

subscript [1:], subscript [:-1], subscript [::-1], subscript [:0:-1], subscript [-1],
index with a point,

{% macro %} with a default, set block, set block with a filter,
loop.first, loop.last, loop.index, loop.index0, loop.length, loop.revindex, loop.cycle,
loop.previtem, loop.nextitem, recursive for, for with a condition, {% for %} with else,
unpacking in {% for %}, unpacking in {% set %}, inline if without else, inline if with else,

test string, test mapping, test iterable, test sequence, test number, test integer,
test boolean, test none, test defined, test undefined, test true, test false, test in, test odd,
test even, test divisibleby,

concatenation with ~, + after a text, arithmetic with a number, in a list, not in,

raw block, generation with whitespace control, whitespace kept before a block,
if with whitespace control, {{ }} with whitespace control, comment,
comment with whitespace control, text over several lines, CRLF, no line break at the end
";

/// Uses no construct of the list, but resembles some of them.
const JINJA_PLAIN: &str = "Hello {{ name }}, how are you?\n\
    {% for x in ([1] if name else []) %}{% if x == 1 %}{{ x }}{% else %}no{% endif %}{% endfor %}\n\
    {% for x in [1] %}{% set y = x[0] %}{{ f(x, y) }}{{ x.items }}{{ default }}{% endfor %}\n";

/// The constructs that the suite's templates use.
fn used(dialect: Dialect, constructs: fn(&str) -> BTreeSet<String>) -> BTreeSet<String> {
    let templates = SUITE.templates.iter();
    templates
        .filter(|template| template.dialect == dialect)
        .flat_map(|template| constructs(&template.source))
        .collect()
}

/// The names of a list, separated by commas and line breaks.
fn names(list: &str) -> impl Iterator<Item = &str> {
    let names = list.split([',', '\n']).map(str::trim);
    names.filter(|name| !name.is_empty())
}

/// The names of a list that no template of the suite uses.
fn missing<'l>(list: &'l str, used: &BTreeSet<String>) -> Vec<&'l str> {
    names(list).filter(|name| !used.contains(*name)).collect()
}

/// The constructs that a Jinja template uses.
fn jinja_constructs(source: &str) -> BTreeSet<String> {
    let Constructs { names, details } = Constructs::of(source);
    names.into_iter().chain(details).collect()
}

#[test]
fn every_construct_of_jinja_is_used() {
    let used = used(Dialect::Jinja, jinja_constructs);
    assert_eq!(missing(JINJA, &used), [""; 0]);
    let plain = jinja_constructs(JINJA_PLAIN);
    let found: Vec<_> = names(JINJA).filter(|name| plain.contains(*name)).collect();
    assert_eq!(found, [""; 0]);
}

/// The constructs of Go templates, under the names from [`GoConstructs`] and [`GO_SOURCE`]. They
/// include functions, and the fields that Ollama gives to a template.
const GO: &str = "
if with else, else if, if with a field, if with a variable, if with a call, range,
range with two variables, range with an ignored variable, range in a range, range with else,
range over a field, range over a variable, range over a field of a variable,
range over the dot, break, continue, with a field, with a field of a variable, with a variable,
with a call, template, define, block,

declaration, declaration in a loop, assignment, assignment in a loop,

the dot, field of the root, field of a variable, field of parentheses, variable, parentheses,
parentheses in parentheses, pipeline, string, empty string, string with an escape, number,
negative number, true or false,

action with the dot, action with a field, action with a variable,
action with a field of a variable, action with a field of the root,
action with a field of parentheses, action with a call, action with a pipeline,
action with a string, action with .Tools, action with .Function, action with .Arguments,
action with .Type, action with .Properties, action with .Enum,

if with .System, if with .Prompt, if with .Tools, if with .ToolCalls, if with .Content,
if with .Properties,

and, and of parentheses, and of a field of the root, or, or of several, or of a field,
or of parentheses, not, not of a variable, not of parentheses, eq, eq of several,
eq of a field, eq of a variable, eq of parentheses, eq of a string, eq of a constant, ne, lt,
le, gt, ge, len, len of parentheses, len of a field, index, slice, slice to the end,
slice to a bound, slice of a field of the root, print, printf, printf %s, printf %q, printf %v,
printf %-8s, json, json of the dot, json of a field, json of a variable, currentDate,
yesterdayDate, toTypeScriptType,

.System, .Prompt, .Response, .Messages, .Tools, .Think, .ThinkLevel, .IsThinkSet, .Role,
.Content, .Thinking, .ToolCalls, .ToolName, .ToolCallID, .ID, .Function, .Function.Name,
.Function.Arguments, .Function.Description, .Function.Parameters,
.Function.Parameters.Properties, .Function.Parameters.Required, .Type, .Description, .Enum,
.Items, .AnyOf, .Properties, .Required,

space trimmed in front, space trimmed after, space trimmed on both sides,
space trimmed nowhere, comment, comment over several lines, brace after an action,
source with a final newline, source without a final newline
";

/// Patterns over a Go template's source, for constructs that leave nothing in its tree.
const GO_SOURCE: &[(&str, &str)] = &[
    ("else if", r"\{\{(- )?\s*else\s+if\s"),
    ("block", r"\{\{(- )?\s*block\s"),
    ("string with an escape", r#"\{\{[^{}]*"[^"{}]*\\"#),
    ("space trimmed in front", r"\{\{- "),
    ("space trimmed after", r" -\}\}"),
    ("space trimmed on both sides", r"\{\{- [^{}]* -\}\}"),
    ("space trimmed nowhere", r"\{\{ [^{}-]* \}\}"),
    ("comment", r"\{\{(- )?/\*"),
    ("comment over several lines", r"\{\{(- )?/\*[^}]*\n"),
    ("brace after an action", r"\}\}\}"),
    ("source with a final newline", r"\n\z"),
    ("source without a final newline", r"[^\n]\z"),
];

/// The constructs that a Go template uses.
fn go_constructs(source: &str) -> BTreeSet<String> {
    static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        let rows = GO_SOURCE.iter();
        rows.map(|(name, pattern)| {
            let pattern = Regex::new(pattern).expect("the table's patterns are valid");
            (*name, pattern)
        })
        .collect()
    });
    let (root, defines) = Parser::new(source, "{{", "}}")
        .and_then(Parser::parse)
        .expect("every template of the suite can be read");
    let mut constructs = GoConstructs::default();
    constructs.list(&root);
    for define in &defines {
        constructs.find("define");
        constructs.list(&define.body);
    }
    for (name, pattern) in PATTERNS.iter() {
        if pattern.is_match(source) {
            constructs.find(name);
        }
    }
    constructs.found
}

#[test]
fn every_construct_of_go_is_used() {
    assert_eq!(missing(GO, &used(Dialect::Go, go_constructs)), [""; 0]);
}

/// A construct is found where a template uses it, and only there.
#[test]
fn a_go_template_uses_what_it_shows() {
    for (source, expected) in [
        ("Hello", "source without a final newline"),
        (
            "Hello {{ .Prompt }}\n",
            ".Prompt, action with .Prompt, action with a field, source with a final newline, \
             space trimmed nowhere",
        ),
        (
            "{{- range $i, $_ := $.Messages -}}{{- if ne .Role `a` -}}{{- break -}}\
             {{- else if $i -}}\n{{- end -}}{{- else -}}\
             {{- template \"t\" (index . 0).ToolCalls -}}{{- end -}}",
            ".Messages, .Role, .ToolCalls, break, declaration, else if, field of parentheses, \
             field of the root, if with a call, if with a variable, if with else, index, \
             index of a constant, index of the dot, ne, ne of .Role, ne of a field, \
             ne of a string, number, parentheses, range, range over .Messages, \
             range over a field of the root, range with an ignored variable, range with else, \
             range with two variables, source without a final newline, space trimmed after, \
             space trimmed in front, space trimmed on both sides, string, template, the dot, \
             variable",
        ),
    ] {
        let found: Vec<_> = go_constructs(source).into_iter().collect();
        let expected: Vec<_> = names(expected).collect();
        assert_eq!(found, expected, "{source}");
    }
}

/// The constructs in a template's tree.
#[derive(Default)]
struct GoConstructs {
    found: BTreeSet<String>,
    /// The number of open loops.
    loops: usize,
    /// The number of open parentheses.
    parentheses: usize,
}

impl GoConstructs {
    fn find(&mut self, name: &str) {
        self.found.insert(name.to_owned());
    }

    fn list(&mut self, list: &ListNode) {
        for node in &list.nodes {
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::List(list) => self.list(list),
            Node::Text(_) => {}
            Node::Action(action) => {
                if action.pipe.decl.is_empty() {
                    self.about("action with", &action.pipe);
                }
                self.pipe(&action.pipe);
            }
            Node::If(branch) => {
                self.about("if with", &branch.pipe);
                self.branch("if", branch);
            }
            Node::Range(branch) => {
                self.find("range");
                if branch.pipe.decl.len() == 2 {
                    self.find("range with two variables");
                }
                if branch.pipe.decl.iter().any(|name| name == "$_") {
                    self.find("range with an ignored variable");
                }
                if self.loops > 0 {
                    self.find("range in a range");
                }
                self.about("range over", &branch.pipe);
                self.branch("range", branch);
            }
            Node::With(branch) => {
                self.about("with", &branch.pipe);
                self.branch("with", branch);
            }
            Node::Template(call) => {
                self.find("template");
                match &call.pipe {
                    Some(pipe) => self.pipe(pipe),
                    None => self.find("template without a value"),
                }
            }
            Node::Define(define) => self.list(&define.body),
            Node::Break(_) => self.find("break"),
            Node::Continue(_) => self.find("continue"),
        }
    }

    fn branch(&mut self, keyword: &str, branch: &BranchNode) {
        let loops = usize::from(keyword == "range");
        self.pipe(&branch.pipe);
        self.loops += loops;
        self.list(&branch.body);
        self.loops -= loops;
        if let Some(otherwise) = &branch.else_body {
            self.find(&format!("{keyword} with else"));
            self.list(otherwise);
        }
    }

    /// What a node does with its pipeline: prints it, tests it, or loops over it.
    fn about(&mut self, what: &str, pipe: &PipeNode) {
        match &pipe.commands[..] {
            [command] if command.args.len() == 1 => self.operand(what, &command.args[0]),
            [_] => self.find(&format!("{what} a call")),
            _ => self.find(&format!("{what} a pipeline")),
        }
    }

    fn operand(&mut self, what: &str, operand: &Expr) {
        let kind = match operand {
            Expr::Dot(_) => "the dot",
            Expr::Field(_, _) => "a field",
            Expr::Variable(_, name, fields) => match (name.as_str(), fields.is_empty()) {
                ("$", true) => "the root",
                ("$", false) => "a field of the root",
                (_, true) => "a variable",
                (_, false) => "a field of a variable",
            },
            Expr::Identifier(_, _) => "a call",
            Expr::String(_, _) => "a string",
            Expr::Number(_, _) | Expr::Bool(_, _) | Expr::Nil(_) => "a constant",
            Expr::Pipe(_, _) => "parentheses",
            Expr::Chain(_, _, _) => "a field of parentheses",
        };
        self.find(&format!("{what} {kind}"));
        if let Expr::Field(_, fields) | Expr::Variable(_, _, fields) = operand
            && let Some(last) = fields.last()
        {
            self.find(&format!("{what} .{last}"));
        }
    }

    fn pipe(&mut self, pipe: &PipeNode) {
        if !pipe.decl.is_empty() {
            let what = if pipe.is_assign {
                "assignment"
            } else {
                "declaration"
            };
            self.find(what);
            if self.loops > 0 {
                self.find(&format!("{what} in a loop"));
            }
        }
        if pipe.commands.len() > 1 {
            self.find("pipeline");
        }
        for (position, command) in pipe.commands.iter().enumerate() {
            let piped = usize::from(position > 0);
            if let Some(Expr::Identifier(_, name)) = command.args.first() {
                self.call(name, &command.args[1..], piped);
            }
            for argument in &command.args {
                self.expression(argument);
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &[Expr], piped: usize) {
        let count = arguments.len() + piped;
        for argument in arguments {
            self.operand(&format!("{name} of"), argument);
        }
        match name {
            "eq" | "and" | "or" if count > 2 => self.find(&format!("{name} of several")),
            "slice" if count == 2 => self.find("slice to the end"),
            "slice" if count > 2 => self.find("slice to a bound"),
            "index" if count > 2 => self.find("index of several keys"),
            "printf" => {
                if let Some(Expr::String(_, format)) = arguments.first() {
                    let verb = Regex::new(r"%[-+# 0]*\d*(\.\d+)?[a-z]").unwrap();
                    for verb in verb.find_iter(format) {
                        self.find(&format!("printf {}", verb.as_str()));
                    }
                }
            }
            _ => {}
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Dot(_) => self.find("the dot"),
            Expr::Field(_, fields) => self.fields(fields),
            Expr::Variable(_, name, fields) => {
                self.find(match (name.as_str(), fields.is_empty()) {
                    ("$", true) => "the root",
                    ("$", false) => "field of the root",
                    (_, true) => "variable",
                    (_, false) => "field of a variable",
                });
                self.fields(fields);
            }
            Expr::Identifier(_, name) => self.find(name),
            Expr::String(_, text) if text.is_empty() => self.find("empty string"),
            Expr::String(_, _) => self.find("string"),
            Expr::Number(_, Number::Int(number)) if *number < 0 => self.find("negative number"),
            Expr::Number(_, Number::Int(_) | Number::Uint(_)) => self.find("number"),
            Expr::Number(_, Number::Float(_)) => self.find("number with a point"),
            Expr::Bool(_, _) => self.find("true or false"),
            Expr::Nil(_) => self.find("nil"),
            Expr::Pipe(_, pipe) => {
                self.find("parentheses");
                self.parentheses += 1;
                if self.parentheses > 1 {
                    self.find("parentheses in parentheses");
                }
                self.pipe(pipe);
                self.parentheses -= 1;
            }
            Expr::Chain(_, inner, fields) => {
                self.find("field of parentheses");
                self.expression(inner);
                self.fields(fields);
            }
        }
    }

    fn fields(&mut self, fields: &[SmolStr]) {
        for field in fields {
            self.find(&format!(".{field}"));
        }
        if fields.len() > 1 {
            self.find(&format!(".{}", fields.join(".")));
        }
    }
}
