//! The fields in a template that nothing has, in branches that never run too.
//!
//! What the dot and the variables are is known where they come from the root. Of a template
//! that a template defines it is not: that depends on who calls it.

use gotmpl::parse::{BranchNode, Expr, ListNode, Node, PipeNode, SmolStr};
use rolecall_model::{NameKind, UnknownName};

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

/// What a value is, as far as that is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Root,
    Struct(StructKind),
    ListOf(StructKind),
    Unknown,
}

impl Shape {
    fn element(self) -> Shape {
        match self {
            Shape::ListOf(kind) => Shape::Struct(kind),
            _ => Shape::Unknown,
        }
    }

    fn field(self, name: &str) -> Shape {
        use StructKind::{Message, Parameters, Tool, ToolCall, ToolCallFunction, ToolFunction};
        match (self, name) {
            (Shape::Root, "Messages") => Shape::ListOf(Message),
            (Shape::Root, "Tools") => Shape::ListOf(Tool),
            (Shape::Struct(Message), "ToolCalls") => Shape::ListOf(ToolCall),
            (Shape::Struct(ToolCall), "Function") => Shape::Struct(ToolCallFunction),
            (Shape::Struct(Tool), "Function") => Shape::Struct(ToolFunction),
            (Shape::Struct(ToolFunction), "Parameters") => Shape::Struct(Parameters),
            _ => Shape::Unknown,
        }
    }

    /// What a name is that it does not have.
    fn unknown(self, name: &str) -> Option<NameKind> {
        match self {
            Shape::Root if !ROOT.contains(&name) => {
                let of = "what a template is given";
                Some(NameKind::Key { of, known: ROOT })
            }
            Shape::Struct(kind) => {
                let mut fields = kind.fields().iter();
                let is_known = fields.any(|field| field.name == name) || METHODS.contains(&name);
                (!is_known).then_some(NameKind::Field(of(kind)))
            }
            _ => None,
        }
    }
}

fn of(kind: StructKind) -> &'static str {
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

/// The fields in a template that nothing has. Those of which one does not know what should
/// have them are left out.
pub(crate) fn names(root: &ListNode) -> Vec<UnknownName> {
    let mut fields = Fields::default();
    fields.variables.push(("$".into(), Shape::Root));
    fields.list(root, Shape::Root);
    fields.found
}

#[derive(Default)]
struct Fields {
    /// The variables that are in scope.
    variables: Vec<(SmolStr, Shape)>,
    found: Vec<UnknownName>,
}

impl Fields {
    fn list(&mut self, list: &ListNode, dot: Shape) {
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
                        _ => (element, vec![Shape::Unknown, element]),
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

    /// A branch; `within` says what the dot and the declared variables are in its body.
    fn branch(
        &mut self,
        branch: &BranchNode,
        dot: Shape,
        within: impl FnOnce(Shape) -> (Shape, Vec<Shape>),
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

    fn declare(&mut self, pipe: &PipeNode, shapes: &[Shape]) {
        for (name, shape) in pipe.decl.iter().zip(shapes) {
            if pipe.is_assign {
                // What it is elsewhere is not certain any more.
                let mut known = self.variables.iter_mut();
                if let Some((_, shape)) = known.rfind(|(known, _)| known == name) {
                    *shape = Shape::Unknown;
                }
            } else {
                self.variables.push((name.clone(), *shape));
            }
        }
    }

    fn pipe(&mut self, pipe: &PipeNode, dot: Shape) -> Shape {
        let mut shape = Shape::Unknown;
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
                        _ => Shape::Unknown,
                    }
                }
                _ => Shape::Unknown,
            };
        }
        match pipe.commands.len() {
            1 => shape,
            _ => Shape::Unknown,
        }
    }

    fn expression(&mut self, expression: &Expr, dot: Shape) -> Shape {
        let line = expression.pos().line;
        match expression {
            Expr::Dot(_) => dot,
            Expr::Field(_, fields) => self.fields(dot, fields, line),
            Expr::Variable(_, name, fields) => {
                let mut known = self.variables.iter();
                let known = known.rfind(|(known, _)| known == name);
                let shape = known.map_or(Shape::Unknown, |(_, shape)| *shape);
                self.fields(shape, fields, line)
            }
            Expr::Pipe(_, pipe) => self.pipe(pipe, dot),
            Expr::Chain(_, inner, fields) => {
                let shape = self.expression(inner, dot);
                self.fields(shape, fields, line)
            }
            _ => Shape::Unknown,
        }
    }

    fn fields(&mut self, of: Shape, fields: &[SmolStr], line: usize) -> Shape {
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
    use crate::{Dialect, Gotmpl, Program as _, Template};

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
            // What a variable is that gets another value is not certain.
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
            let program = Gotmpl::new().program(&template).unwrap();
            let found = program
                .unknown_names()
                .unwrap()
                .into_iter()
                .map(|name| name.name);
            assert_eq!(found.collect::<Vec<_>>(), unknown, "{source}");
        }
    }
}
