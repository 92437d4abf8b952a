//! Which of two templates Ollama uses: the Go template of a model or the Jinja template
//! in its weights (`server/images.go` and `thinking/template.go`, since version 0.30,
//! where `OLLAMA_GO_TEMPLATE` is not set).
//!
//! It goes by what the templates seem to be able to do. Of the Jinja template only the
//! text is looked at, of the Go template the tree.

use gotmpl::parse::{BranchNode, Expr, ListNode, Node, Parser, PipeNode};

/// Branches of one `if`: the parser reads them one inside the other.
const LONGEST_CHAIN: usize = 500;

/// What a template seems to be able to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Abilities {
    tools: bool,
    thinking: bool,
    /// To fill in the middle.
    insert: bool,
}

impl Abilities {
    fn count(self) -> usize {
        [self.tools, self.thinking, self.insert]
            .into_iter()
            .filter(|can| *can)
            .count()
    }
}

/// Whether Ollama prefers the Jinja template to the Go template. Nothing if the latter
/// cannot be parsed.
pub(super) fn prefers_jinja(go: &str, jinja: &str) -> Option<bool> {
    let (of_go, go_takes_tools_back) = abilities_of_go(go)?;
    let of_jinja = abilities_of_jinja(jinja);
    let jinja_takes_tools_back = of_jinja.tools && takes_tools_back(jinja);
    Some(if of_jinja.count() > of_go.count() {
        !go_takes_tools_back || jinja_takes_tools_back
    } else {
        of_jinja == of_go && of_go.tools && jinja_takes_tools_back && !go_takes_tools_back
    })
}

fn abilities_of_jinja(text: &str) -> Abilities {
    let has = |part: &str| text.contains(part);
    let thinks = has("<think>") && has("</think>");
    let drops_thoughts = (has("content.split('</think>')") || has("content.split(\"</think>\")"))
        && !has("reasoning_content")
        && !has("<SPECIAL_12>");
    Abilities {
        tools: has("tools") || has("tool_call"),
        thinking: thinks || drops_thoughts,
        insert: false,
    }
}

/// Whether a Jinja template shows calls, and their results too.
fn takes_tools_back(text: &str) -> bool {
    const CALLS: [&str; 2] = ["tool_calls", "assistant_tool_call"];
    const RESULTS: [&str; 9] = [
        "tool_response",
        "tool_results",
        "role'] == 'tool'",
        "role'] == \"tool\"",
        "role\"] == 'tool'",
        "role\"] == \"tool\"",
        "message.role == 'tool'",
        "message.role == \"tool\"",
        "ipython",
    ];
    let has_one_of = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    has_one_of(&CALLS) && has_one_of(&RESULTS)
}

/// What a Go template can do, and whether it shows calls and their results.
fn abilities_of_go(text: &str) -> Option<(Abilities, bool)> {
    if text.matches("else").count() > LONGEST_CHAIN {
        return None;
    }
    let (root, defines) = Parser::new(text, "{{", "}}").and_then(Parser::parse).ok()?;
    let mut seen = Seen::default();
    for define in &defines {
        seen.list(&define.body, None);
    }
    // Tags are looked for in the main template only.
    seen.tags = (String::new(), String::new());
    seen.list(&root, None);
    let knows = |name: &str| seen.names.iter().any(|known| known == name);
    let takes_back = knows("tools")
        && knows("toolcalls")
        && ["eq .Role \"tool\"", "tool_response", "TOOL_RESULTS"]
            .iter()
            .any(|part| text.contains(part));
    let abilities = Abilities {
        tools: knows("tools"),
        thinking: !seen.tags.0.is_empty() && !seen.tags.1.is_empty(),
        insert: knows("suffix"),
    };
    Some((abilities, takes_back))
}

/// Where in the tree an expression stands.
#[derive(Clone, Copy)]
struct Place<'t> {
    /// The nearest list around it.
    list: &'t ListNode,
    /// Whether the nearest `range` around it is over the messages.
    is_in_messages: bool,
}

#[derive(Default)]
struct Seen {
    /// The names of fields and variables, in lower case.
    names: Vec<String>,
    /// What stands before and after the thoughts of a message.
    tags: (String, String),
}

impl Seen {
    fn list(&mut self, list: &ListNode, around: Option<Place<'_>>) {
        let place = Place {
            list,
            is_in_messages: around.is_some_and(|place| place.is_in_messages),
        };
        for node in &list.nodes {
            match node {
                Node::List(list) => self.list(list, Some(place)),
                Node::Action(action) => self.pipe(&action.pipe, place),
                Node::If(branch) | Node::With(branch) => self.branch(branch, place),
                Node::Range(branch) => {
                    let is_in_messages = has_field(&branch.pipe, "Messages");
                    self.branch(
                        branch,
                        Place {
                            is_in_messages,
                            ..place
                        },
                    );
                }
                Node::Template(call) => {
                    if let Some(pipe) = &call.pipe {
                        self.pipe(pipe, place);
                    }
                }
                Node::Text(_) | Node::Define(_) | Node::Break(_) | Node::Continue(_) => {}
            }
        }
    }

    fn branch(&mut self, branch: &BranchNode, place: Place<'_>) {
        self.pipe(&branch.pipe, place);
        self.list(&branch.body, Some(place));
        if let Some(otherwise) = &branch.else_body {
            self.list(otherwise, Some(place));
        }
    }

    fn pipe(&mut self, pipe: &PipeNode, place: Place<'_>) {
        for argument in pipe.commands.iter().flat_map(|command| &command.args) {
            match argument {
                Expr::Field(_, fields) => {
                    self.names
                        .extend(fields.iter().map(|name| name.to_lowercase()));
                    let is_thinking = fields.first().is_some_and(|name| name == "Thinking");
                    if is_thinking && place.is_in_messages {
                        self.take_tags(place.list);
                    }
                }
                Expr::Variable(_, name, fields) => {
                    let all = std::iter::once(name).chain(fields);
                    self.names.extend(all.map(|name| name.to_lowercase()));
                }
                Expr::Pipe(_, pipe) => self.pipe(pipe, place),
                // Ollama does not look into chains such as `(index .Messages 0).Role`.
                _ => {}
            }
        }
    }

    fn take_tags(&mut self, list: &ListNode) {
        if let Some(Node::Text(text)) = list.nodes.first() {
            text.text.trim().clone_into(&mut self.tags.0);
        }
        if let Some(Node::Text(text)) = list.nodes.last() {
            text.text.trim().clone_into(&mut self.tags.1);
        }
    }
}

/// Whether a pipeline begins a field with a name.
fn has_field(pipe: &PipeNode, name: &str) -> bool {
    pipe.commands
        .iter()
        .flat_map(|command| &command.args)
        .any(|argument| match argument {
            Expr::Field(_, fields) => fields.first().is_some_and(|first| first == name),
            Expr::Pipe(_, pipe) => has_field(pipe, name),
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "{{ .Prompt }}";
    const TOOLS: &str = "{{ range .Messages }}{{ .ToolCalls }}{{ end }}{{ .Tools }}";
    const ROUND: &str = "{{ range .Messages }}{{ if eq .Role \"tool\" }}{{ .ToolCalls }}{{ end }}{{ end }}{{ $.Tools }}";
    const THINK: &str = "{{ range $i, $_ := .Messages }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ end }}";

    #[test]
    fn go_templates_can_do_what_they_speak_of() {
        let can = |tools, thinking, insert| Abilities {
            tools,
            thinking,
            insert,
        };
        for (text, abilities, takes_back) in [
            (PLAIN, can(false, false, false), false),
            (TOOLS, can(true, false, false), false),
            (ROUND, can(true, false, false), true),
            (THINK, can(false, true, false), false),
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
            assert_eq!(
                abilities_of_go(text),
                Some((abilities, takes_back)),
                "{text}"
            );
        }
        assert_eq!(abilities_of_go("{{ if }}"), None);
        assert_eq!(abilities_of_go(&"{{ else if .X }}".repeat(100_000)), None);
        assert_eq!(abilities_of_go(&"{{ ((((".repeat(100_000)), None);
    }

    #[test]
    fn the_one_that_can_do_more_is_preferred() {
        for (go, jinja, expected) in [
            (PLAIN, "{{ messages }}", false),
            (PLAIN, "{{ tools }}", true),
            (TOOLS, "{{ tools }}", false),
            (
                TOOLS,
                "{{ tools }}{{ m.tool_calls }}{{ m.role == 'tool' }} ipython",
                true,
            ),
            (ROUND, "{{ tools }}{{ m.tool_calls }} ipython", false),
            (ROUND, "{{ tools }}<think></think>", false),
            (
                ROUND,
                "{{ tools }}<think></think>{{ m.tool_calls }} tool_response",
                true,
            ),
            (THINK, "{{ tools }}", false),
            (THINK, "{{ tools }}{{ content.split('</think>') }}", true),
        ] {
            assert_eq!(prefers_jinja(go, jinja), Some(expected), "{go}\n{jinja}");
        }
    }
}
