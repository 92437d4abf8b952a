//! The suite's templates use every construct that real templates use.
//!
//! An engine can only be tested on what the templates ask of it. The tables list the
//! constructs by name: those of Jinja with a pattern over a template's tokens or its source,
//! those of Go as they are found in a template's tree or its source. A construct that no
//! template of the suite uses fails.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use gotmpl::parse::{BranchNode, Expr, ListNode, Node, Number, Parser, PipeNode, SmolStr};
use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use regex::Regex;
use rolecall_model::Dialect;

use crate::project::SUITE;

/// Patterns over the tokens of a Jinja template, written one after the other with a space
/// between: strings in single quotes, whatever quotes the template uses, and an `else` with
/// the block that it belongs to.
const TOKENS: &[(&str, &str)] = &[
    (
        "namespace with several attributes",
        r"namespace \( \w+ = [^)]*, \w+ =",
    ),
    ("assignment to a namespace", r"<% set \w+ \. \w+ ="),
    ("macro", r"<% macro \w+ \("),
    ("macro with a default", r"<% macro \w+ \( [^%]*\w+ = "),
    (
        "call with a keyword argument",
        r"<(\{|% (if|elif|for|set)) [^%}]*\b[a-z_]+ \( [^)]*\b\w+ = ",
    ),
    ("generation block", r"<% generation %>"),
    ("break", r"<% break %>"),
    ("continue", r"<% continue %>"),
    ("strftime_now", r"strftime_now \( '[^']*%"),
    ("tojson", r"\| tojson"),
    ("tojson with indent", r"\| tojson \( [^)]*indent = "),
    (
        "tojson with ensure_ascii",
        r"\| tojson \( [^)]*ensure_ascii = ",
    ),
    ("tojson with sort_keys", r"\| tojson \( [^)]*sort_keys = "),
    ("tojson with separators", r"\| tojson \( [^)]*separators = "),
    ("str.strip", r"\. strip \("),
    ("str.lstrip", r"\. lstrip \("),
    ("str.rstrip", r"\. rstrip \("),
    ("str.split", r"\. split \("),
    ("str.startswith", r"\. startswith \("),
    ("str.endswith", r"\. endswith \("),
    ("str.upper", r"\. upper \("),
    ("str.lower", r"\. lower \("),
    ("str.title", r"\. title \("),
    ("str.replace", r"\. replace \("),
    ("str.find", r"\. find \("),
    ("str.join", r"' \. join \("),
    ("dict.items", r"\. items \("),
    ("dict.get", r"\. get \("),
    ("dict.keys", r"\. keys \("),
    ("dict.values", r"\. values \("),
    ("slice from", r"\[ \d+ : \]"),
    ("slice to the last", r"\[ : - 1 \]"),
    ("reversed slice", r"\[ : : - 1 \]"),
    (
        "slice with a negative step and a bound",
        r"\[ (: \d+|\S+ : \S*) : - 1 \]",
    ),
    ("last item", r"\[ - 1 \]"),
    ("index with a dot", r"\. \d+ \."),
    ("selectattr", r"\| selectattr \("),
    ("rejectattr", r"\| rejectattr \("),
    ("select", r"\| select \("),
    ("reject", r"\| reject \("),
    ("map with an attribute", r"\| map \( attribute ="),
    ("map with a filter", r"\| map \( '"),
    ("list", r"\| list"),
    ("join", r"\| join"),
    ("length", r"\| length"),
    ("first", r"\| first"),
    ("last", r"\| last"),
    ("unique", r"\| unique"),
    ("sort", r"\| sort"),
    ("dictsort", r"\| dictsort"),
    ("reverse", r"\| reverse"),
    ("items", r"\| items"),
    ("default", r"\| default \("),
    (
        "default with a boolean",
        r"\| default \( [^)]*(, true|boolean = true)",
    ),
    ("trim", r"\| trim"),
    ("indent", r"\| indent"),
    ("safe", r"\| safe"),
    ("string", r"\| string"),
    ("int", r"\| int"),
    ("float", r"\| float"),
    ("round", r"\| round"),
    ("abs", r"\| abs"),
    ("set block", r"<% set \w+ (\| [^%]*)?%>"),
    ("set block with a filter", r"<% set \w+ \| \w+"),
    ("filter block", r"<% filter \w+"),
    ("call block", r"<% call [^%]*%>"),
    ("caller", r"\bcaller \("),
    ("loop.first", r"loop \. first"),
    ("loop.last", r"loop \. last"),
    ("loop.index", r"loop \. index "),
    ("loop.index0", r"loop \. index0"),
    ("loop.length", r"loop \. length"),
    ("loop.revindex", r"loop \. revindex"),
    ("loop.cycle", r"loop \. cycle \("),
    ("loop.previtem", r"loop \. previtem"),
    ("loop.nextitem", r"loop \. nextitem"),
    ("recursive loop", r"<% for [^%]* recursive %>"),
    ("loop with a filter", r"<% for [^%]* in [^%()]* if [^%]*%>"),
    ("loop with else", r"<% else of for %>"),
    ("unpacking in a loop", r"<% for \w+ , \w+ in"),
    ("unpacking in set", r"<% set \w+ , \w+ ="),
    (
        "inline if without else",
        r"<\{ [^{}]* if (?:[^{}e]|e[^l]|el[^s]|els[^e])*\}>",
    ),
    (
        "inline if with else",
        r"<\{ [^{}]* if [^{}]* else [^{}]*\}>",
    ),
    ("is string", r"\bis string"),
    ("is mapping", r"\bis mapping"),
    ("is iterable", r"\bis (not )?iterable"),
    ("is sequence", r"\bis (not )?sequence"),
    ("is number", r"\bis (not )?number"),
    ("is integer", r"\bis (not )?integer"),
    ("is boolean", r"\bis (not )?boolean"),
    ("is none", r"\bis (not )?none"),
    ("is defined", r"\bis (not )?defined"),
    ("is undefined", r"\bis (not )?undefined"),
    ("is true", r"\bis (not )?true"),
    ("is false", r"\bis (not )?false"),
    ("is in", r"\bis (not )?in\b"),
    ("is odd or even", r"\bis (not )?(odd|even)"),
    ("is divisibleby", r"\bis (not )?divisibleby"),
    ("concatenation with a tilde", r" ~ "),
    ("concatenation with a plus", r"' \+ "),
    ("arithmetic", r"\w+ [-*/%] \d+"),
    ("in", r"<(\{|% (if|elif)) [^%}]*\w+ in \["),
    ("not in", r"\bnot in\b"),
    ("raise_exception", r"raise_exception \("),
];

/// Patterns over the source of a Jinja template, for what leaves no token.
const SOURCE: &[(&str, &str)] = &[
    ("raw block", r"\{%-?\s*raw\s*-?%\}"),
    (
        "generation block with whitespace control",
        r"\{%-\s*generation\s*-%\}",
    ),
    ("lstrip_blocks switched off", r"\{%\+"),
    ("statement with whitespace control", r"\{%-[^%]*-%\}"),
    ("expression with whitespace control", r"\{\{-[^}]*-\}\}"),
    ("comment", r"\{#[^-]"),
    ("comment with whitespace control", r"\{#-(?s:.)*?-#\}"),
    (
        "string over several lines",
        r#"\{\{-?\s*['"][^'"{}]*\n[^'"{}]*['"]"#,
    ),
    ("source with CRLF line endings", r"\r\n"),
    ("source without a final newline", r"[^\n]\z"),
];

/// Uses no construct of the table, though what it uses looks like some of them. A pattern
/// that matches it would find its construct anywhere.
const JINJA_PLAIN: &str = "Hello {{ name }}, how are you?\n\
    {% for x in ([1] if name else []) %}{% if x == 1 %}{{ x }}{% else %}no{% endif %}{% endfor %}\n\
    {% for x in [1] %}{% set y = x[0] %}{{ f(x, y) }}{{ x.items }}{{ default }}{% endfor %}\n";

fn tokens(source: &str) -> String {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("these settings are valid");
    let mut words = Vec::new();
    // Loops and conditions that are open, innermost last.
    let mut open = Vec::new();
    for token in tokenize(source, false, syntax) {
        let (token, _) = token.expect("every template of the suite can be read");
        let is_keyword = words.last().is_some_and(|word| word == "<%");
        words.push(match token {
            Token::TemplateData(_) => continue,
            Token::VariableStart => "<{".to_owned(),
            Token::VariableEnd => "}>".to_owned(),
            Token::BlockStart => "<%".to_owned(),
            Token::BlockEnd => "%>".to_owned(),
            Token::Ident("else") if is_keyword => {
                format!("else of {}", open.last().expect("a block is open"))
            }
            Token::Ident(name) => {
                match name {
                    "for" | "if" if is_keyword => open.push(name),
                    "endfor" | "endif" if is_keyword => {
                        open.pop();
                    }
                    _ => {}
                }
                name.to_owned()
            }
            Token::Str(text) => format!("'{text}'"),
            Token::String(text) => format!("'{text}'"),
            Token::Int(number) => number.to_string(),
            // `.0.` after a name is read as a number.
            Token::Float(number) => number.to_string(),
            other => other.to_string().trim_matches('`').to_owned(),
        });
    }
    words.join(" ")
}

/// The sources of the suite's templates.
fn sources(dialect: Dialect) -> Vec<String> {
    let templates = SUITE.templates.iter();
    templates
        .filter(|template| template.dialect == dialect)
        .map(|template| template.source.clone())
        .collect()
}

/// The constructs of the table that a Jinja template uses.
fn jinja_constructs(source: &str) -> BTreeSet<&'static str> {
    static PATTERNS: LazyLock<Vec<(&str, Regex, bool)>> = LazyLock::new(|| {
        let rows = TOKENS.iter().map(|row| (row, true));
        rows.chain(SOURCE.iter().map(|row| (row, false)))
            .map(|((name, pattern), over_tokens)| {
                let pattern = Regex::new(pattern).expect("the table's patterns are valid");
                (*name, pattern, over_tokens)
            })
            .collect()
    });
    let tokens = tokens(source);
    PATTERNS
        .iter()
        .filter(|(_, pattern, over_tokens)| {
            pattern.is_match(if *over_tokens { &tokens } else { source })
        })
        .map(|(name, ..)| *name)
        .collect()
}

#[test]
fn every_construct_of_jinja_is_used() {
    let sources = sources(Dialect::Jinja);
    let used: BTreeSet<_> = sources
        .iter()
        .flat_map(|source| jinja_constructs(source))
        .collect();
    let table = TOKENS.iter().chain(SOURCE).map(|(name, _)| *name);
    let missing: Vec<_> = table.filter(|name| !used.contains(name)).collect();
    assert!(
        missing.is_empty(),
        "no template of the suite uses: {}",
        missing.join(", ")
    );
    assert_eq!(jinja_constructs(JINJA_PLAIN), BTreeSet::new());
}

/// The constructs of Go templates, under the names that [`GoConstructs`] and [`GO_SOURCE`]
/// give them. Functions are among them, and fields of what Ollama hands to a template.
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

space trimmed in front, space trimmed behind, space trimmed on both sides,
space trimmed nowhere, comment, comment over several lines, brace behind an action,
source with a final newline, source without a final newline
";

/// Patterns over the source of a Go template, for what leaves nothing in its tree.
const GO_SOURCE: &[(&str, &str)] = &[
    ("else if", r"\{\{(- )?\s*else\s+if\s"),
    ("block", r"\{\{(- )?\s*block\s"),
    ("string with an escape", r#"\{\{[^{}]*"[^"{}]*\\"#),
    ("space trimmed in front", r"\{\{- "),
    ("space trimmed behind", r" -\}\}"),
    ("space trimmed on both sides", r"\{\{- [^{}]* -\}\}"),
    ("space trimmed nowhere", r"\{\{ [^{}-]* \}\}"),
    ("comment", r"\{\{(- )?/\*"),
    ("comment over several lines", r"\{\{(- )?/\*[^}]*\n"),
    ("brace behind an action", r"\}\}\}"),
    ("source with a final newline", r"\n\z"),
    ("source without a final newline", r"[^\n]\z"),
];

/// The names of a list, in which commas and line breaks part them.
fn names(list: &str) -> impl Iterator<Item = &str> {
    let names = list.split([',', '\n']).map(str::trim);
    names.filter(|name| !name.is_empty())
}

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
    let sources = sources(Dialect::Go);
    let used: BTreeSet<_> = sources
        .iter()
        .flat_map(|source| go_constructs(source))
        .collect();
    let mut missing: Vec<_> = names(GO).collect();
    missing.retain(|name| !used.contains(*name));
    assert!(
        missing.is_empty(),
        "no template of the suite uses: {}",
        missing.join(", ")
    );
}

/// A construct is found where it is used, and only there.
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
             range with two variables, source without a final newline, space trimmed behind, \
             space trimmed in front, space trimmed on both sides, string, template, the dot, \
             variable",
        ),
    ] {
        let found: Vec<_> = go_constructs(source).into_iter().collect();
        let expected: Vec<_> = names(expected).collect();
        assert_eq!(found, expected, "{source}");
    }
}

/// What is found in the tree of a template.
#[derive(Default)]
struct GoConstructs {
    found: BTreeSet<String>,
    /// Loops that are open.
    loops: usize,
    /// Parentheses that are open.
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

    /// What a node does with its pipeline: prints it, tests it, goes over it.
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
