//! The fields in a template that no value has, even in branches that never run.
//!
//! The types of the dot and the variables are known if they come from the root. In a defined
//! template they are unknown, because they depend on the caller.

use gotmpl::parse::{BranchNode, Expr, ListNode, Node, PipeNode, SmolStr};
use rolecall_core::{NameKind, UnknownName};

use crate::values::StructKind;

/// The root's fields: Ollama's template/template.go, `Values` and `Execute`.
const ROOT: &[&str] = &[
    "System",
    "Messages",
    "Tools",
    "Prompt",
    "Suffix",
    "Response",
    "Think",
    "ThinkLevel",
    "IsThinkSet",
];

/// Methods that a template may call: see `exec.rs`.
const METHODS: [&str; 2] = ["String", "ToTypeScriptType"];

/// The type of a value, as far as it is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StaticType {
    Root,
    Struct(StructKind),
    ListOf(StructKind),
    Unknown,
}

impl StaticType {
    fn element(self) -> StaticType {
        match self {
            StaticType::ListOf(kind) => StaticType::Struct(kind),
            _ => StaticType::Unknown,
        }
    }

    fn field(self, name: &str) -> StaticType {
        use StructKind::{Message, Parameters, Tool, ToolCall, ToolCallFunction, ToolFunction};
        match (self, name) {
            (StaticType::Root, "Messages") => StaticType::ListOf(Message),
            (StaticType::Root, "Tools") => StaticType::ListOf(Tool),
            (StaticType::Struct(Message), "ToolCalls") => StaticType::ListOf(ToolCall),
            (StaticType::Struct(ToolCall), "Function") => StaticType::Struct(ToolCallFunction),
            (StaticType::Struct(Tool), "Function") => StaticType::Struct(ToolFunction),
            (StaticType::Struct(ToolFunction), "Parameters") => StaticType::Struct(Parameters),
            _ => StaticType::Unknown,
        }
    }

    /// Describes a name that the type does not have.
    fn unknown(self, name: &str) -> Option<NameKind> {
        match self {
            StaticType::Root if !ROOT.contains(&name) => {
                let of = "what a template is given";
                Some(NameKind::Key { of, known: ROOT })
            }
            StaticType::Struct(kind) => {
                let mut fields = kind.fields().iter();
                let is_known = fields.any(|field| field.name == name) || METHODS.contains(&name);
                (!is_known).then_some(NameKind::Field(holder(kind)))
            }
            _ => None,
        }
    }
}

fn holder(kind: StructKind) -> &'static str {
    match kind {
        StructKind::Message => "a message",
        StructKind::ToolCall => "a tool call",
        StructKind::ToolCallFunction => "the function of a tool call",
        StructKind::Tool => "a tool",
        StructKind::ToolFunction => "the function of a tool",
        StructKind::Parameters => "the parameters of a tool",
        StructKind::Property => "a parameter of a tool",
    }
}

/// The fields in a template that no value has. A field of a value with an unknown type does not
/// count.
pub(crate) fn names(root: &ListNode) -> Vec<UnknownName> {
    let mut fields = UnknownFields::default();
    fields.variables.push(("$".into(), StaticType::Root));
    fields.list(root, StaticType::Root);
    fields.found
}

#[derive(Default)]
struct UnknownFields {
    /// The variables that are in scope.
    variables: Vec<(SmolStr, StaticType)>,
    found: Vec<UnknownName>,
}

impl UnknownFields {
    fn list(&mut self, list: &ListNode, dot: StaticType) {
        for node in &list.nodes {
            match node {
                Node::List(inner) => self.list(inner, dot),
                Node::Action(action) => {
                    let shape = self.pipe(&action.pipe, dot);
                    self.declare(&action.pipe, &[shape]);
                }
                Node::If(branch) => self.branch(branch, dot, |shape| (dot, vec![shape])),
                Node::With(branch) => self.branch(branch, dot, |shape| (shape, vec![shape])),
                Node::Range(branch) => self.branch(branch, dot, |shape| {
                    let element = shape.element();
                    match branch.pipe.decl.len() {
                        0 | 1 => (element, vec![element]),
                        _ => (element, vec![StaticType::Unknown, element]),
                    }
                }),
                Node::Template(call) => {
                    if let Some(argument) = &call.pipe {
                        self.pipe(argument, dot);
                    }
                }
                Node::Text(_) | Node::Define(_) | Node::Break(_) | Node::Continue(_) => {}
            }
        }
    }

    /// Visits a branch. `within` gives the types of the dot and the declared variables in its body.
    fn branch(
        &mut self,
        branch: &BranchNode,
        dot: StaticType,
        within: impl FnOnce(StaticType) -> (StaticType, Vec<StaticType>),
    ) {
        let scope = self.variables.len();
        let shape = self.pipe(&branch.pipe, dot);
        let (inner, declared) = within(shape);
        self.declare(&branch.pipe, &declared);
        self.list(&branch.body, inner);
        if let Some(otherwise) = &branch.else_body {
            self.list(otherwise, dot);
        }
        self.variables.truncate(scope);
    }

    fn declare(&mut self, pipe: &PipeNode, shapes: &[StaticType]) {
        for (name, shape) in pipe.decl.iter().zip(shapes) {
            if pipe.is_assign {
                // Elsewhere its type is no longer certain.
                let mut known = self.variables.iter_mut();
                if let Some((_, shape)) = known.rfind(|(known, _)| known == name) {
                    *shape = StaticType::Unknown;
                }
            } else {
                self.variables.push((name.clone(), *shape));
            }
        }
    }

    fn pipe(&mut self, pipe: &PipeNode, dot: StaticType) -> StaticType {
        let mut shape = StaticType::Unknown;
        for command in &pipe.commands {
            let shapes: Vec<_> = command
                .args
                .iter()
                .map(|argument| self.expression(argument, dot))
                .collect();
            shape = match (command.args.as_slice(), shapes.as_slice()) {
                ([_], [shape]) => *shape,
                ([Expr::Identifier(_, name), _, rest @ ..], [_, list, ..]) => {
                    match (name.as_str(), rest.len()) {
                        ("index", 1) => list.element(),
                        ("slice", _) => *list,
                        _ => StaticType::Unknown,
                    }
                }
                _ => StaticType::Unknown,
            };
        }
        match pipe.commands.len() {
            1 => shape,
            _ => StaticType::Unknown,
        }
    }

    fn expression(&mut self, expression: &Expr, dot: StaticType) -> StaticType {
        let line = expression.pos().line;
        match expression {
            Expr::Dot(_) => dot,
            Expr::Field(_, fields) => self.fields(dot, fields, line),
            Expr::Variable(_, name, fields) => {
                let mut known = self.variables.iter();
                let known = known.rfind(|(known, _)| known == name);
                let shape = known.map_or(StaticType::Unknown, |(_, shape)| *shape);
                self.fields(shape, fields, line)
            }
            Expr::Pipe(_, pipe) => self.pipe(pipe, dot),
            Expr::Chain(_, inner, fields) => {
                let shape = self.expression(inner, dot);
                self.fields(shape, fields, line)
            }
            _ => StaticType::Unknown,
        }
    }

    fn fields(&mut self, of: StaticType, fields: &[SmolStr], line: usize) -> StaticType {
        fields.iter().fold(of, |shape, name| {
            if let Some(kind) = shape.unknown(name) {
                let name = name.to_string();
                self.found.push(UnknownName { kind, name, line });
            }
            shape.field(name)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, GoEngine, Program as _, Template};

    #[test]
    fn fields_are_found_where_they_never_run() {
        for (source, unknown) in [
            (
                "{{ .Prompt }}{{ if false }}{{ range .Messages }}{{ .Rol }}{{ .Role }}{{ end }}{{ end }}",
                &["Rol"][..],
            ),
            (
                "{{ range $i, $m := .Messages }}{{ $m.Contnt }}{{ $.Sytem }}{{ range .ToolCalls }}{{ .Functon }}{{ .Function.Nam }}{{ end }}{{ end }}",
                &["Contnt", "Sytem", "Functon", "Nam"],
            ),
            (
                "{{ range .Tools }}{{ . }}{{ .String }}{{ with .Function }}{{ .Name }}{{ .Params }}{{ .Parameters.Reqired }}{{ end }}{{ end }}{{ .Messages }}",
                &["Params", "Reqired"],
            ),
            (
                "{{ (index .Messages 0).Rol }}{{ range slice .Messages 1 }}{{ .Content }}{{ .Contnt }}{{ end }}",
                &["Rol", "Contnt"],
            ),
            (
                "{{ with .System }}{{ .What }}{{ else }}{{ .Wat }}{{ end }}{{ .Messages }}",
                &["Wat"],
            ),
            // The type of a variable that gets another value is not certain.
            (
                "{{ $m := index .Messages 0 }}{{ range .Messages }}{{ $m = . }}{{ end }}{{ $m.Rol }}",
                &[],
            ),
            // Maps have any key.
            (
                "{{ range .Messages }}{{ range .ToolCalls }}{{ .Function.Arguments.city }}{{ end }}{{ end }}",
                &[],
            ),
            ("{{ define \"x\" }}{{ .What }}{{ end }}{{ .Messages }}", &[]),
        ] {
            let template = Template::from_source("t", Dialect::Go, source);
            let program = GoEngine::new().program(&template).unwrap();
            let found = program
                .unknown_names()
                .unwrap()
                .into_iter()
                .map(|name| name.name);
            assert_eq!(found.collect::<Vec<_>>(), unknown, "{source}");
        }
    }
}
