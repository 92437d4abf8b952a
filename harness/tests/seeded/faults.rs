//! The faults.

/// A fault that is put into a good template.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    /// What it is.
    pub(super) what: &'static str,
    /// The template of the suite that it is put into.
    pub(super) template: &'static str,
    /// A part of it.
    pub(super) part: &'static str,
    /// What stands in its place, wherever it does.
    pub(super) instead: &'static str,
    /// What has to be said about it.
    pub(super) noticed: Noticed,
}

/// What has to be said about a fault.
#[derive(Debug, Clone, Copy)]
pub(super) enum Noticed {
    /// By this contract, as an error.
    Error(&'static str),
    /// By this contract, as a warning, and nobody says that it is worse.
    Warning(&'static str),
    /// By this contract, as a note or a limitation, and nobody says that it is worse.
    Fact(&'static str),
    /// Nobody notices it, for this reason.
    Not(&'static str),
}

impl Noticed {
    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Error(_) => "error",
            Warning(_) => "warning",
            Fact(_) => "note or limitation",
            Not(_) => "not at all",
        }
    }
}

use Noticed::{Error, Fact, Not, Warning};

/// At least forty kinds in at least eight templates.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "a question's closing token is lost",
        template: "hermes-tools",
        part: r"message.role ~ '\n' ~ text(message) ~ '<|im_end|>\n'",
        instead: r"message.role ~ '\n' ~ text(message) ~ '\n'",
        noticed: Warning("turns-closed"),
    },
    Fault {
        what: "a question's closing token is lost",
        template: "chatml",
        part: r"{{ (message['content'] or '') + '<|im_end|>' }}
{% endif %}",
        instead: r"{{ (message['content'] or '') }}
{% endif %}",
        noticed: Warning("turns-closed"),
    },
    Fault {
        what: "an answer's closing token is lost",
        template: "hermes-tools",
        part: r"        {{- '<|im_end|>' }}
        {%- endgeneration %}",
        instead: "        {%- endgeneration %}",
        noticed: Error("turns-closed"),
    },
    Fault {
        what: "an answer's closing token is lost",
        template: "llama3-tools",
        part: r"        {{- text(message.content) + '<|eot_id|>' }}
        {%- endgeneration %}",
        instead: r"        {{- text(message.content) }}
        {%- endgeneration %}",
        noticed: Error("turns-closed"),
    },
    Fault {
        what: "the system message's closing token is lost",
        template: "llama3-tools",
        part: "{{- system + '<|eot_id|>' }}",
        instead: "{{- system }}",
        noticed: Error("turns-closed"),
    },
    Fault {
        what: "the system message's closing token is lost",
        template: "qwen2.5",
        part: r"{{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}",
        instead: r"{{- '<|im_start|>system\n' + messages[0]['content'] + '\n' }}",
        noticed: Error("turns-closed"),
    },
    Fault {
        what: "the line break after the generation prompt is lost",
        template: "hermes-tools",
        part: r"{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}",
        instead: r"{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant' }}",
        noticed: Warning("finished-turn-continues"),
    },
    Fault {
        what: "the line break after the generation prompt is lost",
        template: "phi3",
        part: r"{{ '<|assistant|>\n' }}",
        instead: "{{ '<|assistant|>' }}",
        noticed: Warning("finished-turn-continues"),
    },
    Fault {
        what: "a blank too many after the generation prompt",
        template: "chatml",
        part: r"{% if add_generation_prompt %}
<|im_start|>assistant
",
        instead: r"{% if add_generation_prompt %}
<|im_start|>assistant 
",
        noticed: Warning("finished-turn-continues"),
    },
    Fault {
        what: "the generation prompt opens another role",
        template: "hermes-tools",
        part: r"{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}",
        instead: r"{%- if add_generation_prompt %}
    {{- '<|im_start|>user\n' }}",
        noticed: Warning("finished-turn-continues"),
    },
    Fault {
        what: "a generation prompt that is always on",
        template: "hermes-tools",
        part: "{%- if add_generation_prompt %}",
        instead: "{%- if true %}",
        noticed: Error("opening-on-request"),
    },
    Fault {
        what: "a generation prompt that is always on",
        template: "llama3-tools",
        part: "{{- header('assistant') if add_generation_prompt }}",
        instead: "{{- header('assistant') }}",
        noticed: Error("opening-on-request"),
    },
    Fault {
        what: "a generation prompt that is always on",
        template: "chatml",
        part: "{% if add_generation_prompt %}",
        instead: "{% if true %}",
        noticed: Error("opening-on-request"),
    },
    Fault {
        what: "no generation prompt after a tool's result",
        template: "hermes-tools",
        part: "{%- if add_generation_prompt %}",
        instead: "{%- if add_generation_prompt and messages[-1].role != 'tool' %}",
        noticed: Error("open-model-turn"),
    },
    Fault {
        what: "no generation prompt after a tool's result",
        template: "qwen2.5",
        part: "{%- if add_generation_prompt %}",
        instead: "{%- if add_generation_prompt and messages[-1].role != 'tool' %}",
        noticed: Error("open-model-turn"),
    },
    Fault {
        what: "a filter misspelt in the tool branch",
        template: "hermes-tools",
        part: "call.function.arguments | default({}) | tojson",
        instead: "call.function.arguments | default({}) | to_json",
        noticed: Error("capabilities-work"),
    },
    Fault {
        what: "a filter misspelt in the tool branch",
        template: "qwen2.5",
        part: "{{- tool | tojson }}",
        instead: "{{- tool | tojsn }}",
        noticed: Error("renders"),
    },
    Fault {
        what: "a filter misspelt in the tool branch",
        template: "llama3-tools",
        part: r"{{- tool | tojson(indent=4) + '\n\n' }}",
        instead: r"{{- tool | to_json(indent=4) + '\n\n' }}",
        noticed: Error("renders"),
    },
    Fault {
        what: "an attribute misspelt in the tool branch",
        template: "hermes-tools",
        part: "call.function.name | tojson(ensure_ascii=True)",
        instead: "call.fn.name | tojson(ensure_ascii=True)",
        noticed: Error("capabilities-work"),
    },
    Fault {
        what: "a macro misspelt for answers",
        template: "llama3-tools",
        part: r"        {{- text(message.content) + '<|eot_id|>' }}
        {%- endgeneration %}",
        instead: r"        {{- txt(message.content) + '<|eot_id|>' }}
        {%- endgeneration %}",
        noticed: Error("capabilities-work"),
    },
    Fault {
        what: "a filter misspelt for system messages",
        template: "granite-docs",
        part: "{%- set system = text(messages[0].content) -%}",
        instead: "{%- set system = text(messages[0].content) | stripp -%}",
        noticed: Error("capabilities-work"),
    },
    Fault {
        what: "a filter misspelt for documents",
        template: "granite-docs",
        part: r"document.title ~ '\n' if document.title",
        instead: r"document.title | upperr ~ '\n' if document.title",
        noticed: Error("capabilities-work"),
    },
    Fault {
        what: "tool results are dropped",
        template: "hermes-tools",
        part: r"'<tool_response>\n' ~ text(message) ~ '\n</tool_response>'",
        instead: r"'<tool_response>\n' ~ '\n</tool_response>'",
        noticed: Error("tool-results-kept"),
    },
    Fault {
        what: "tool results are dropped",
        template: "qwen2.5",
        part: r"{{- '\n<tool_response>\n' }}
{{- message.content }}",
        instead: r"{{- '\n<tool_response>\n' }}",
        noticed: Error("tool-results-kept"),
    },
    Fault {
        what: "the second of two results is dropped",
        template: "hermes-tools",
        part: r"    {%- if message.role == 'tool' %}
",
        instead: r"    {%- if message.role == 'tool' and loop.previtem.role == 'tool' %}
    {%- elif message.role == 'tool' %}
",
        noticed: Error("parallel-calls-kept"),
    },
    Fault {
        what: "tool calls are dropped",
        template: "hermes-tools",
        part: "{%- for call in message.tool_calls or [] %}",
        instead: "{%- for call in [] %}",
        noticed: Error("tool-calls-kept"),
    },
    Fault {
        what: "only the first of two calls is written",
        template: "hermes-tools",
        part: "{%- for call in message.tool_calls or [] %}",
        instead: "{%- for call in (message.tool_calls or [])[:1] %}",
        noticed: Error("parallel-calls-kept"),
    },
    Fault {
        what: "only the first of two calls is written",
        template: "granite-docs",
        part: "{%- for made in message.tool_calls or [] -%}",
        instead: "{%- for made in (message.tool_calls or [])[:1] -%}",
        noticed: Error("parallel-calls-kept"),
    },
    Fault {
        what: "the name of the called tool is lost",
        template: "qwen2.5",
        part: r"{{- tool_call.name }}
",
        instead: "",
        noticed: Error("tool-calls-kept"),
    },
    Fault {
        what: "arguments are encoded twice",
        template: "hermes-tools",
        part: "call.function.arguments if call.function.arguments is string else call.function.arguments | default({}) | tojson",
        instead: "call.function.arguments | default({}) | tojson",
        noticed: Error("arguments-encoded-once"),
    },
    Fault {
        what: "arguments are encoded twice",
        template: "granite-docs",
        part: "made.function.arguments if made.function.arguments is string else made.function.arguments | tojson",
        instead: "made.function.arguments | tojson",
        noticed: Error("arguments-encoded-once"),
    },
    Fault {
        what: "arguments are printed as Python does",
        template: "hermes-tools",
        part: "else call.function.arguments | default({}) | tojson",
        instead: "else call.function.arguments | string",
        noticed: Error("no-repr-leak"),
    },
    Fault {
        what: "a call is escaped as for HTML",
        template: "llama3-tools",
        part: r#"'{"name": ' ~ call.name | tojson ~"#,
        instead: r#"'{"name": ' | safe + call.name | tojson ~"#,
        noticed: Error("no-repr-leak"),
    },
    Fault {
        what: "tools are printed as Python does",
        template: "qwen2.5",
        part: "{{- tool | tojson }}",
        instead: "{{- tool }}",
        noticed: Error("no-repr-leak"),
    },
    Fault {
        what: "tools are left out",
        template: "hermes-tools",
        part: r"{{- describe(tool.function or tool) ~ '\n' }}",
        instead: "",
        noticed: Error("tools-kept"),
    },
    Fault {
        what: "what tools do is left out",
        template: "hermes-tools",
        part: " - {{ function.description | trim }}",
        instead: "",
        noticed: Warning("tools-kept"),
    },
    Fault {
        what: "an empty list of tools counts as tools",
        template: "hermes-tools",
        part: "{%- if tools %}",
        instead: "{%- if tools is not none %}",
        noticed: Error("no-tools-alike"),
    },
    Fault {
        what: "an empty list of tools counts as tools",
        template: "llama3-tools",
        part: "namespace(tools_shown=not tools or not in_user)",
        instead: "namespace(tools_shown=tools is none or not in_user)",
        noticed: Error("no-tools-alike"),
    },
    Fault {
        what: "text beside a call is lost",
        template: "hermes-tools",
        part: r"        {{- text(message) }}
        {%- for call",
        instead: r"        {{- text(message) if not message.tool_calls }}
        {%- for call",
        noticed: Error("content-beside-calls"),
    },
    Fault {
        what: "system messages are lost",
        template: "hermes-tools",
        part: "message.role in ['system', 'user']",
        instead: "message.role in ['user']",
        noticed: Not(
            "The template refuses system messages then, in words of its own, as those for models without them do.",
        ),
    },
    Fault {
        what: "system messages are dropped",
        template: "granite-docs",
        part: "{%- call turn('system') -%}{{ system }}{%- endcall -%}",
        instead: "",
        noticed: Fact("messages-kept"),
    },
    Fault {
        what: "later system messages are lost",
        template: "qwen2.5",
        part: r#"or (message.role == "system" and not loop.first) "#,
        instead: "",
        noticed: Error("messages-kept"),
    },
    Fault {
        what: "the first turn is lost when the conversation is long",
        template: "hermes-tools",
        part: "{%- set turns = messages %}",
        instead: "{%- set turns = messages[-2:] %}",
        noticed: Error("messages-kept"),
    },
    Fault {
        what: "the last answer is lost",
        template: "chatml",
        part: "{% for message in messages %}",
        instead: "{% for message in messages if not (loop_last is defined) and not (message.role == 'assistant' and message == messages[-1]) %}",
        noticed: Error("messages-kept"),
    },
    Fault {
        what: "a role's name is wrong",
        template: "gemma-turns",
        part: "'assistant': 'model'",
        instead: "'assistant': 'modle'",
        noticed: Warning("finished-turn-continues"),
    },
    Fault {
        what: "BOS twice",
        template: "hermes-tools",
        part: "{{- bos_token }}",
        instead: "{{- bos_token ~ bos_token }}",
        noticed: Warning("one-bos"),
    },
    Fault {
        what: "BOS twice",
        template: "llama3-tools",
        part: r"{{- bos_token }}
{{- header('system') }}",
        instead: r"{{- bos_token ~ bos_token }}
{{- header('system') }}",
        noticed: Warning("one-bos"),
    },
    Fault {
        what: "a control token misspelt in answers",
        template: "hermes-tools",
        part: r"    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>assistant\n' }}",
        instead: r"    {%- elif message.role == 'assistant' %}
        {{- '<|im_strat|>assistant\n' }}",
        noticed: Warning("finished-turn-continues"),
    },
    Fault {
        what: "a control token misspelt in questions",
        template: "hermes-tools",
        part: r"'<|im_start|>' ~ message.role ~ '\n' ~ text(message)",
        instead: r"'<|im_strat|>' ~ message.role ~ '\n' ~ text(message)",
        noticed: Not(
            "Without the model's vocabulary a token that is misspelt cannot be told from another.",
        ),
    },
    Fault {
        what: "reasoning leaks into the history",
        template: "qwen3-think",
        part: "loop.index0 > ns.last_query and (loop.last or thought)",
        instead: "thought or loop.index0 > ns.last_query and loop.last",
        noticed: Not(
            "Some models keep the reasoning of earlier turns: a card tells it among the capabilities.",
        ),
    },
    Fault {
        what: "reasoning of the last answer is lost",
        template: "qwen3-think",
        part: r"{{- '<think>\n' + thought.strip('\n') + '\n</think>\n\n' }}",
        instead: r"{{- '<think>\n\n</think>\n\n' }}",
        noticed: Fact("reasoning-kept"),
    },
    Fault {
        what: "everything before </think> is cut from answers",
        template: "hermes-tools",
        part: r"{%- if message.content is string -%}
        {{ message.content }}",
        instead: r"{%- if message.content is string -%}
        {{ message.content.split('</think>')[-1] }}",
        noticed: Warning("think-tag-verbatim"),
    },
    Fault {
        what: "a date in the prompt",
        template: "hermes-tools",
        part: "{{- bos_token }}",
        instead: "{{- bos_token ~ strftime_now('%d %b %Y') }}",
        noticed: Fact("date-independent"),
    },
    Fault {
        what: "`None` is printed for content that is missing",
        template: "hermes-tools",
        part: "{%- elif message.content -%}",
        instead: r"{%- elif message.content is undefined -%}
        {{ none }}
    {%- elif message.content -%}",
        noticed: Error("no-null-leak"),
    },
    Fault {
        what: "content that is missing beside a call fails",
        template: "qwen2.5",
        part: r"{%- if message.content %}
{{- '\n' + message.content }}
{%- endif %}",
        instead: r"{{- '\n' + message.content }}",
        noticed: Error("empty-content-alike"),
    },
    Fault {
        what: "text parts are dropped",
        template: "hermes-tools",
        part: "map(attribute='text') | select('string')",
        instead: "map(attribute='txt') | select('string')",
        noticed: Error("text-part-is-text"),
    },
    Fault {
        what: "only the first text part is kept",
        template: "hermes-tools",
        part: r"map(attribute='text') | select('string') | join('\n')",
        instead: "map(attribute='text') | select('string') | first",
        noticed: Error("text-part-is-text"),
    },
    Fault {
        what: "text parts are printed as a list",
        template: "granite-docs",
        part: r"{%- elif content is iterable -%}
        {{ content | selectattr('text', 'string') | map(attribute='text') | join('\n') }}",
        instead: r"{%- elif content is iterable -%}
        {{ content }}",
        noticed: Fact("text-part-is-text"),
    },
    Fault {
        what: "an image is dropped",
        template: "vision-parts",
        part: r"{{ number('Picture', seen.images, shown=add_vision_id) }}<|vision_start|><|image_pad|><|vision_end|>
",
        instead: "",
        noticed: Error("images-kept"),
    },
    Fault {
        what: "results are escaped",
        template: "qwen2.5",
        part: r"{{- '\n<tool_response>\n' }}
{{- message.content }}",
        instead: r"{{- '\n<tool_response>\n' }}
{{- message.content | tojson }}",
        noticed: Warning("result-verbatim"),
    },
    Fault {
        what: "messages are compared by what they say",
        template: "hermes-tools",
        part: r"{%- for message in turns %}
",
        instead: r"{%- for message in turns %}
    {{- '[LAST]' if message == turns[-1] and tools }}
",
        noticed: Error("same-question"),
    },
    Fault {
        what: "keys of arguments are sorted",
        template: "hermes-tools",
        part: "default({}) | tojson",
        instead: "default({}) | tojson(sort_keys=true)",
        noticed: Warning("arguments-alike"),
    },
    Fault {
        what: "white space around questions is cut",
        template: "chatml",
        part: r"{{ (message['content'] or '') + '<|im_end|>' }}
{% endif %}",
        instead: r"{{ (message['content'] or '') | trim + '<|im_end|>' }}
{% endif %}",
        noticed: Fact("whitespace-verbatim"),
    },
    Fault {
        what: "a description is written into the history anew each turn",
        template: "hermes-tools",
        part: "{{- bos_token }}",
        instead: "{{- bos_token ~ messages | length }}",
        noticed: Warning("history-stable"),
    },
    Fault {
        what: "the answer's end is not marked for training",
        template: "hermes-tools",
        part: r"        {{- '<|im_end|>' }}
        {%- endgeneration %}",
        instead: r"        {%- endgeneration %}
        {{- '<|im_end|>' }}",
        noticed: Error("assistant-mask"),
    },
    Fault {
        what: "the question is marked for training",
        template: "chatml",
        part: "{% if message['role'] == 'assistant' %}",
        instead: "{% if message['role'] in ['assistant', 'user'] %}",
        noticed: Error("assistant-mask"),
    },
    Fault {
        what: "a question is written twice",
        template: "hermes-tools",
        part: "{{- bos_token }}",
        instead: "{{- bos_token ~ text(messages[-1]) }}",
        noticed: Error("content-once"),
    },
    Fault {
        what: "the messages are in the wrong order",
        template: "chatml",
        part: "{% for message in messages %}",
        instead: "{% for message in messages | reverse %}",
        noticed: Warning("content-in-order"),
    },
    Fault {
        what: "a choice at random",
        template: "hermes-tools",
        part: "{{- bos_token }}",
        instead: "{{- bos_token ~ (range(100000) | random) }}",
        noticed: Error("deterministic"),
    },
    Fault {
        what: "line breaks of Windows are changed",
        template: "chatml",
        part: "(message['content'] or '')",
        instead: r"(message['content'] or '') | replace('\r\n', '\n')",
        noticed: Fact("crlf-verbatim"),
    },
    Fault {
        what: "choices of an enum are lost",
        template: "deepseek-think",
        part: r"'\nParameters:\n' ~ tool.get('parameters', {}) | tojson(indent=2)",
        instead: r"'\nParameters:\n' ~ tool.get('parameters', {}).get('properties', {}) | list | tojson(indent=2)",
        noticed: Warning("schema-kept"),
    },
    Fault {
        what: "a syntax error",
        template: "qwen2.5",
        part: "{%- if add_generation_prompt %}",
        instead: "{%- if add_generation_prompt }",
        noticed: Error("renders"),
    },
    Fault {
        what: "an unknown role is dropped",
        template: "hermes-tools",
        part: "{{- raise_exception('Hermes has no role named ' ~ message.role ~ '; it knows system, user, assistant and tool.') }}",
        instead: "",
        noticed: Fact("unknown-role-kept"),
    },
    Fault {
        what: "a refusal loses its words",
        template: "hermes-tools",
        part: "raise_exception('Hermes has no role named ' ~ message.role ~ '; it knows system, user, assistant and tool.')",
        instead: "message.role + 1",
        noticed: Warning("refusal-words"),
    },
    Fault {
        what: "a filter does not exist, in a branch for a variable",
        template: "hermes-tools",
        part: "{{ entry | tojson(indent=2) }}",
        instead: "{{ entry | to_json(indent=2) }}",
        noticed: Error("names-known"),
    },
    Fault {
        what: "a test does not exist",
        template: "hermes-tools",
        part: "message.content is mapping or",
        instead: "message.content is dictionary or",
        noticed: Error("names-known"),
    },
    Fault {
        what: "a function does not exist",
        template: "hermes-tools",
        part: "raise_exception('Hermes has no role",
        instead: "raise_error('Hermes has no role",
        noticed: Error("names-known"),
    },
    Fault {
        what: "a key of a message is misspelt",
        template: "vision-parts",
        part: "{% if loop.first and message.role != 'system' %}",
        instead: "{% if loop.first and message.rol != 'system' %}",
        noticed: Warning("names-known"),
    },
    Fault {
        what: "a field that applications never give",
        template: "llama3-tools-go",
        part: "{{ .System.comes_with_tools_but_without_a_user }}",
        instead: "{{ .Sytem }}",
        noticed: Warning("names-known"),
    },
    Fault {
        what: "only the last messages are kept",
        template: "hermes-tools",
        part: "{%- set turns = messages %}",
        instead: "{%- set turns = messages[-16:] %}",
        noticed: Error("long-history-kept"),
    },
    Fault {
        what: "plain texts are lost",
        template: "hermes-tools",
        part: r"{%- if message.content is string -%}
        {{ message.content }}",
        instead: r"{%- if message.content is number -%}
        {{ message.content }}",
        noticed: Error("plain-content-kept"),
    },
    Fault {
        what: "a video is dropped",
        template: "vision-parts",
        part: "<|vision_start|><|video_pad|><|vision_end|>\n{%- elif",
        instead: "\n{%- elif",
        noticed: Error("images-kept"),
    },
    Fault {
        what: "of two images one is dropped",
        template: "vision-parts",
        part: "<|vision_start|><|image_pad|><|vision_end|>\n{%- elif",
        instead: "{{ '<|vision_start|><|image_pad|><|vision_end|>' if seen.images == 1 }}\n{%- elif",
        noticed: Error("images-kept"),
    },
    Fault {
        what: "an image without a text fails",
        template: "vision-parts",
        part: "{% for part in message.content or [] %}\n",
        instead: "{% for part in message.content or [] %}\n{{- (message.content | selectattr('text') | first).text[:0] -}}\n",
        noticed: Error("images-kept"),
    },
    Fault {
        what: "an empty list of calls is taken for calls",
        template: "hermes-tools",
        part: "        {%- for call in message.tool_calls or [] %}",
        instead: "        {{- '\\n' if message.tool_calls is defined }}\n        {%- for call in message.tool_calls or [] %}",
        noticed: Error("no-calls-alike"),
    },
    Fault {
        what: "tools take the place of the system message",
        template: "hermes-tools",
        part: r"{{- text(messages[0]) ~ '\n\n' }}",
        instead: "",
        noticed: Error("messages-kept"),
    },
    Fault {
        what: "a system message takes the place of the tools",
        template: "hermes-tools",
        part: "{%- if tools %}\n    {{- '<|im_start|>system",
        instead: "{%- if tools and messages[0].role != 'system' %}\n    {{- '<|im_start|>system",
        noticed: Error("tools-kept"),
    },
    Fault {
        what: "results of earlier turns are dropped",
        template: "hermes-tools",
        part: r"{{- '<tool_response>\n' ~ text(message) ~ '\n</tool_response>' }}",
        instead: r"{{- '<tool_response>\n' ~ (text(message) if messages[-1].role == 'tool') ~ '\n</tool_response>' }}",
        noticed: Error("tool-results-kept"),
    },
    Fault {
        what: "a result without its call is dropped",
        template: "hermes-tools",
        part: r"{{- '<tool_response>\n' ~ text(message) ~ '\n</tool_response>' }}",
        instead: r"{{- '<tool_response>\n' ~ (text(message) if loop.previtem.role != 'user') ~ '\n</tool_response>' }}",
        noticed: Warning("tool-results-kept"),
    },
];
