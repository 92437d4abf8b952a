//! Which of two templates Ollama uses: the Go template of a model or the Jinja template
//! in its weights (`server/images.go` and `thinking/template.go`, since version 0.30,
//! where `OLLAMA_GO_TEMPLATE` is not set).
//!
//! Ollama compares what the templates seem to support. It searches the text of the Jinja template,
//! and the syntax tree of the Go template.

use rolecall_go::Abilities;

/// Whether Ollama prefers the Jinja template to the Go template. None if the Go template cannot be
/// parsed.
pub(super) fn prefers_jinja(go: &str, jinja: &str) -> Option<bool> {
    let of_go = Abilities::of(go)?;
    let go_takes_tools_back = Abilities::takes_tools_back(go);
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
    let drops_reasoning = (has("content.split('</think>')") || has("content.split(\"</think>\")"))
        && !has("reasoning_content")
        && !has("<SPECIAL_12>");
    Abilities {
        tools: has("tools") || has("tool_call"),
        thinking: thinks || drops_reasoning,
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

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "{{ .Prompt }}";
    const TOOLS: &str = "{{ range .Messages }}{{ .ToolCalls }}{{ end }}{{ .Tools }}";
    const ROUND: &str = "{{ range .Messages }}{{ if eq .Role \"tool\" }}{{ .ToolCalls }}{{ end }}{{ end }}{{ $.Tools }}";
    const THINK: &str = "{{ range $i, $_ := .Messages }}{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ end }}";

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
