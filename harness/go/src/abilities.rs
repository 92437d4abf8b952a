//! The abilities that Ollama sees in a Go template (`server/images.go` of 0.33).
//!
//! Ollama looks for fields in the template's tree. It refuses requests for an ability that the
//! model seems to lack.

use gotmpl::parse::{BranchNode, Expr, ListNode, Node, Parser, PipeNode};

use crate::answer::ThinkingTags;
use crate::scanner;

/// The most branches of one `if`: the parser nests them.
const LONGEST_CHAIN: usize = 500;

/// The abilities that a template seems to have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Abilities {
    /// To show tools.
    pub tools: bool,
    /// To show the model's reasoning between tags.
    pub thinking: bool,
    /// To fill in the middle of a text.
    pub insert: bool,
}

impl Abilities {
    /// The abilities of a Go template; none if it does not parse.
    pub fn of(source: &str) -> Option<Abilities> {
        let seen = TemplateMentions::of(source)?;
        Some(Abilities {
            tools: seen.knows("tools"),
            thinking: seen.tags.are_found(),
            insert: seen.knows("suffix"),
        })
    }

    /// Whether a Go template shows calls and their results.
    pub fn takes_tools_back(source: &str) -> bool {
        const RESULTS: [&str; 3] = ["eq .Role \"tool\"", "tool_response", "TOOL_RESULTS"];
        let has_one_of = |parts: &[&str]| parts.iter().any(|part| source.contains(part));
        has_one_of(&RESULTS)
            && TemplateMentions::of(source)
                .is_some_and(|seen| seen.knows("tools") && seen.knows("toolcalls"))
    }

    /// How many they are.
    pub fn count(self) -> usize {
        [self.tools, self.thinking, self.insert]
            .into_iter()
            .filter(|can| *can)
            .count()
    }
}

#[derive(Default)]
struct TemplateMentions {
    /// The names of fields and variables, in lower case.
    names: Vec<String>,
    /// The tags before and after the reasoning of a message.
    tags: ThinkingTags,
}

impl TemplateMentions {
    fn of(source: &str) -> Option<TemplateMentions> {
        if source.matches("else").count() > LONGEST_CHAIN {
            return None;
        }
        let prepared = scanner::prepare(source).ok()?;
        let parser = Parser::new(&prepared.source, "{{", "}}");
        let (root, defines) = parser.and_then(Parser::parse).ok()?;
        let mut seen = TemplateMentions {
            // Only the main template counts for the tags.
            tags: ThinkingTags::of(&root, &prepared.marks),
            ..TemplateMentions::default()
        };
        for define in &defines {
            seen.list(&define.body);
        }
        seen.list(&root);
        Some(seen)
    }

    fn knows(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    fn list(&mut self, list: &ListNode) {
        for node in &list.nodes {
            match node {
                Node::List(list) => self.list(list),
                Node::Action(action) => self.pipe(&action.pipe),
                Node::If(branch) | Node::With(branch) | Node::Range(branch) => self.branch(branch),
                Node::Template(call) => {
                    if let Some(pipe) = &call.pipe {
                        self.pipe(pipe);
                    }
                }
                Node::Text(_) | Node::Define(_) | Node::Break(_) | Node::Continue(_) => {}
            }
        }
    }

    fn branch(&mut self, branch: &BranchNode) {
        self.pipe(&branch.pipe);
        self.list(&branch.body);
        if let Some(otherwise) = &branch.else_body {
            self.list(otherwise);
        }
    }

    fn pipe(&mut self, pipe: &PipeNode) {
        for argument in pipe.commands.iter().flat_map(|command| &command.args) {
            match argument {
                Expr::Field(_, fields) => {
                    self.names
                        .extend(fields.iter().map(|name| name.to_lowercase()));
                }
                Expr::Variable(_, name, fields) => {
                    let all = std::iter::once(name).chain(fields);
                    self.names.extend(all.map(|name| name.to_lowercase()));
                }
                Expr::Pipe(_, pipe) => self.pipe(pipe),
                // Ollama does not look into chains such as `(index .Messages 0).Role`.
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_templates_can_do_what_they_speak_of() {
        let can = |tools, thinking, insert| Abilities {
            tools,
            thinking,
            insert,
        };
        for (text, abilities, takes_back) in [
            ("{{ .Prompt }}", can(false, false, false), false),
            (
                "{{ range .Messages }}{{ .ToolCalls }}{{ end }}{{ .Tools }}",
                can(true, false, false),
                false,
            ),
            (
                "{{ range .Messages }}{{ if eq .Role \"tool\" }}{{ .ToolCalls }}{{ end }}{{ end }}{{ $.Tools }}",
                can(true, false, false),
                true,
            ),
            (
                "{{ range $i, $_ := .Messages }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ end }}",
                can(false, true, false),
                false,
            ),
            ("{{ .Suffix }}", can(false, false, true), false),
            // A range that is not over the messages, or not by that name.
            (
                "{{ range .X }}<a>{{ .Thinking }}</a>{{ end }}",
                can(false, false, false),
                false,
            ),
            (
                "{{ range $.Messages }}<a>{{ .Thinking }}</a>{{ end }}",
                can(false, false, false),
                false,
            ),
            (
                "{{ (index .Tools 0).Name }}",
                can(false, false, false),
                false,
            ),
            (
                "{{ define \"x\" }}{{ range .Messages }}<a>{{ .Thinking }}</a>{{ .Tools }}{{ end }}{{ end }}",
                can(true, false, false),
                false,
            ),
        ] {
            assert_eq!(Abilities::of(text), Some(abilities), "{text}");
            assert_eq!(Abilities::takes_tools_back(text), takes_back, "{text}");
        }
        assert_eq!(Abilities::of("{{ if }}"), None);
        assert_eq!(Abilities::of(&"{{ else if .X }}".repeat(100_000)), None);
        assert_eq!(Abilities::of(&"{{ ((((".repeat(100_000)), None);
    }
}
