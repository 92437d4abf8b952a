//! Every contract, on a template that keeps all of them, and with one thing in it changed
//! so that it breaks this one.

use rolecall_model::{Dialect, Limits, Template};

use super::example_tokenizer::tokenizer;
use super::{ALL, Judgement, by_id};
use crate::card::{Card, examine, examine_with};
use crate::engines::Engines;
use crate::probe::counting::Counting;

/// A template that keeps every contract.
const SOUND: &str = r"
{%- macro text(content) -%}
    {%- if content is string -%}
        {{- content | replace('<|', '< |') -}}
    {%- else -%}
        {%- for part in content or [] -%}
            {{- '<|image|>' if part.type == 'image' else part.text | replace('<|', '< |') -}}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
{{- bos_token -}}
{%- if tools -%}
    {{- '<|tools|>' ~ tools | tojson ~ '<|end|>' -}}
{%- endif -%}
{%- for message in messages -%}
    {%- if message.role not in ['system', 'developer', 'user', 'assistant', 'tool'] -%}
        {{- raise_exception('unknown role') -}}
    {%- endif -%}
    {{- '<|' ~ message.role ~ '|>' -}}
    {%- if message.role == 'assistant' -%}
        {%- generation -%}
            {%- if message.reasoning_content -%}
                {{- '<|think|>' ~ message.reasoning_content ~ '<|say|>' -}}
            {%- endif -%}
            {{- text(message.content) -}}
            {%- for call in message.tool_calls or [] -%}
                {%- set arguments = call.function.arguments -%}
                {{- '<|call|>' ~ call.function.name ~ ' ' -}}
                {{- arguments if arguments is string else arguments | tojson -}}
            {%- endfor -%}
            {{- '<|end|>' -}}
        {%- endgeneration -%}
    {%- else -%}
        {{- text(message.content) -}}
        {{- '<|end|>' -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|assistant|>' -}}
{%- endif -%}";

/// The contract, a part of the template, and what breaks the contract in its place.
const BROKEN: &[(&str, &str, &str)] = &[
    ("control-tokens-known", "'<|tools|>' ~", "'<|tulls|>' ~"),
    (
        "turn-end-stops",
        "{{- '<|end|>' -}}\n        {%- endgeneration",
        "{{- '<|pause|>' -}}\n        {%- endgeneration",
    ),
    (
        "one-bos-tokenised",
        "{{- bos_token -}}",
        "{{- bos_token ~ bos_token -}}",
    ),
    (
        "blanks-kept",
        "    {{- '<|assistant|>' -}}",
        "    {{- '<|assistant|> <|narrow|>' -}}",
    ),
    ("renders", "{{- bos_token -}}", "{{- bos_token.of.what -}}"),
    (
        "capabilities-work",
        "'<|call|>' ~ call.function.name",
        "'<|call|>' ~ call.functions.name.first",
    ),
    (
        "names-known",
        "{%- if tools -%}",
        "{%- if tools is string -%}{{- tools | shout -}}{%- elif tools -%}",
    ),
    (
        "names-known",
        "{%- if tools -%}",
        "{%- if tools is string -%}{{- shout() -}}{%- elif tools -%}",
    ),
    (
        "names-known",
        "{%- if tools -%}",
        "{%- if tools is string and tools is loud -%}?{%- elif tools -%}",
    ),
    (
        "names-known",
        "{%- if message.reasoning_content -%}",
        "{%- if message.reasoning_content or message.contents -%}",
    ),
    (
        "long-history-kept",
        "for message in messages",
        "for message in messages[-20:]",
    ),
    (
        "plain-content-kept",
        "{%- if content is string -%}",
        "{%- if content is number -%}",
    ),
    (
        "images-kept",
        "'<|image|>' if part.type == 'image'",
        "('<|image|>' if loop.first) if part.type == 'image'",
    ),
    (
        "no-calls-alike",
        "            {%- for call in message.tool_calls or [] -%}",
        "{{- '!' if message.tool_calls is defined -}}{%- for call in message.tool_calls or [] -%}",
    ),
    (
        "date-independent",
        "{{- bos_token -}}",
        "{{- bos_token ~ strftime_now('%Y') -}}",
    ),
    (
        "source-newlines",
        "    {{- '<|assistant|>' -}}\n{%- endif -%}",
        "{{- '<|assistant|>' -}}{% endif %}{{ '' }}\n\n",
    ),
    (
        "refusal-words",
        "raise_exception('unknown role')",
        "message.role + 1",
    ),
    (
        "messages-kept",
        "        {{- text(message.content) -}}\n        {{-",
        "        {{- text(message.content) if message.role != 'system' -}}\n        {{-",
    ),
    (
        "messages-kept",
        "        {{- text(message.content) -}}\n        {{-",
        "        {{- text(message.content) if not tools or message.role != 'system' -}}\n        {{-",
    ),
    (
        "tools-kept",
        "{%- if tools -%}",
        "{%- if tools and messages[0].role != 'system' -%}",
    ),
    (
        "developer-kept",
        "        {{- text(message.content) -}}\n        {{-",
        "        {{- text(message.content) if message.role != 'developer' -}}\n        {{-",
    ),
    (
        "unknown-role-kept",
        "{{- raise_exception('unknown role') -}}",
        "{%- continue -%}",
    ),
    (
        "content-once",
        "{{- bos_token -}}",
        "{{- bos_token ~ text(messages[0].content) -}}",
    ),
    (
        "content-in-order",
        "for message in messages",
        "for message in messages[::-1]",
    ),
    (
        "reasoning-kept",
        "if message.reasoning_content",
        "if message.thoughts",
    ),
    (
        "empty-content-alike",
        "{%- if content is string -%}",
        "{%- if content is none -%}...{%- elif content is string -%}",
    ),
    ("text-part-is-text", "part.text |", "part.text | upper |"),
    (
        "images-kept",
        "'<|image|>' if part.type == 'image'",
        "'' if part.type == 'image'",
    ),
    (
        "whitespace-verbatim",
        "content | replace(",
        "content | trim | replace(",
    ),
    (
        "crlf-verbatim",
        "content | replace(",
        r"content | replace('\r\n', '\n') | replace(",
    ),
    (
        "think-tag-verbatim",
        "content | replace(",
        "content.split('</think>')[-1] | replace(",
    ),
    (
        "control-tokens-inert",
        "content | replace('<|', '< |')",
        "content",
    ),
    (
        "one-bos",
        "{{- bos_token -}}",
        "{{- 'Chat: ' ~ bos_token -}}",
    ),
    (
        "no-null-leak",
        "{%- if content is string -%}",
        "{%- if content is none -%}{{- content -}}{%- elif content is string -%}",
    ),
    ("no-repr-leak", "tools | tojson", "tools | string"),
    ("tools-kept", "{%- if tools -%}", "{%- if false -%}"),
    (
        "no-tools-alike",
        "{%- if tools -%}",
        "{%- if tools is not none -%}",
    ),
    (
        "no-tools-alike",
        "{%- if tools -%}",
        "{%- if tools is not defined -%}?{%- endif -%}{%- if tools -%}",
    ),
    ("tool-calls-kept", "message.tool_calls or []", "[]"),
    (
        "parallel-calls-kept",
        "message.tool_calls or []",
        "(message.tool_calls or [])[:1]",
    ),
    (
        "content-beside-calls",
        "            {{- text(message.content) -}}\n            {%- for",
        "            {{- text(message.content) if not message.tool_calls -}}\n            {%- for",
    ),
    (
        "tool-results-kept",
        "        {{- text(message.content) -}}\n        {{-",
        "        {{- text(message.content) if message.role != 'tool' -}}\n        {{-",
    ),
    (
        "result-verbatim",
        "        {{- text(message.content) -}}\n        {{-",
        "        {{- message.content | tojson if message.role == 'tool' else text(message.content) -}}\n        {{-",
    ),
    (
        "schema-kept",
        "tools | tojson",
        "tools | tojson | replace('elsequill', '')",
    ),
    (
        "opening-on-request",
        "{%- if add_generation_prompt -%}",
        "{%- if true -%}",
    ),
    (
        "turns-closed",
        "        {{- text(message.content) -}}\n        {{- '<|end|>' -}}",
        "        {{- text(message.content) -}}\n        {{- '<|end|>' if message.role != 'system' -}}",
    ),
    (
        "same-question",
        "{{- '<|' ~ message.role ~ '|>' -}}",
        "{{- '<|' ~ message.role ~ '|>' ~ ('!' if tools and message == messages[0]) -}}",
    ),
    (
        "roles-stand",
        "{{- '<|' ~ message.role ~ '|>' -}}",
        "{{- '<|' ~ ('user' if tools and loop.first else message.role) ~ '|>' -}}",
    ),
    (
        "arguments-alike",
        "arguments if arguments is string",
        "'!' ~ arguments if arguments is string",
    ),
    (
        "arguments-encoded-once",
        "arguments if arguments is string else arguments | tojson",
        "arguments | tojson",
    ),
    (
        "key-order-kept",
        "else arguments | tojson",
        "else arguments | tojson(sort_keys=true)",
    ),
    (
        "generation-prompt-suffix",
        "    {{- '<|assistant|>' -}}",
        "    {{- '<|assistant|>' -}}{%- else -%}{{- '<|stop|>' -}}",
    ),
    (
        "finished-turn-continues",
        "    {{- '<|assistant|>' -}}",
        "    {{- '<|assistant|><|think|>' -}}",
    ),
    (
        "history-stable",
        "'<|' ~ message.role ~ '|>'",
        "'<|' ~ message.role ~ ('' if loop.last else '-') ~ '|>'",
    ),
    (
        "history-stable-tools",
        "'<|call|>'",
        "'<|call|>' ~ messages | length",
    ),
    (
        "history-stable-reasoning",
        "if message.reasoning_content",
        "if message.reasoning_content and message == messages[-1]",
    ),
    (
        "open-model-turn",
        "{%- if add_generation_prompt -%}",
        "{%- if add_generation_prompt and messages[-1].role != 'tool' -%}",
    ),
    (
        "assistant-mask",
        "            {{- '<|end|>' -}}\n        {%- endgeneration -%}",
        "        {%- endgeneration -%}{{- '<|end|>' -}}",
    ),
    (
        "assistant-mask",
        "    {{- '<|' ~ message.role ~ '|>' -}}\n    {%- if message.role == 'assistant' -%}\n        {%- generation -%}",
        "{%- if message.role == 'assistant' -%}{%- generation -%}{{- '<|' ~ message.role ~ '|>' -}}",
    ),
];

/// A template for Ollama that keeps every contract but the one that none of them keeps.
const SOUND_GO: &str = r"{{ range .Tools }}{{ . }}{{ end }}{{ range .Messages }}<|{{ .Role }}|>
{{- if .Thinking }}<|think|>{{ .Thinking }}<|say|>{{ end }}{{ .Content }}
{{- range .ToolCalls }}<|call|>{{ .Function.Name }} {{ .Function.Arguments }}{{ end }}<|end|>
{{- end }}<|assistant|>";

const BROKEN_GO: &[(&str, &str, &str)] = &[
    (
        "renders",
        "{{ range .Messages }}",
        "{{ .No.Such }}{{ range .Messages }}",
    ),
    (
        "names-known",
        "{{ .Content }}",
        r#"{{ .Content }}{{ if eq .Role "narrator" }}{{ .Contents }}{{ end }}"#,
    ),
    (
        "names-known",
        "{{ range .Messages }}",
        "{{ .Sytem }}{{ range .Messages }}",
    ),
    (
        "long-history-kept",
        "{{ range .Messages }}",
        "{{ range slice .Messages (or (and (gt (len .Messages) 9) 9) 0) }}",
    ),
    (
        "date-independent",
        "<|assistant|>",
        "{{ currentDate }}<|assistant|>",
    ),
    (
        "messages-kept",
        "{{ .Content }}",
        r#"{{ if ne .Role "system" }}{{ .Content }}{{ end }}"#,
    ),
    (
        "content-once",
        "{{ range .Messages }}",
        "{{ .System }}{{ range .Messages }}",
    ),
    ("no-repr-leak", "{{ . }}", "{{ .Function }}"),
    ("tools-kept", "{{ range .Tools }}{{ . }}{{ end }}", ""),
    (
        "tool-calls-kept",
        "{{ .Function.Name }} {{ .Function.Arguments }}",
        "",
    ),
    (
        "content-beside-calls",
        "{{ .Content }}",
        "{{ if not .ToolCalls }}{{ .Content }}{{ end }}",
    ),
    (
        "finished-turn-continues",
        "{{ range .Messages }}",
        "{{ len .Messages }}{{ range .Messages }}",
    ),
    (
        "history-stable",
        "{{ range .Messages }}",
        "{{ len .Messages }}{{ range .Messages }}",
    ),
];

/// The card of a template that no application stands before: what it is given is what a
/// contract asks.
fn card(dialect: Dialect, source: &str) -> Card {
    card_within(&Limits::default(), dialect, source)
}

fn card_within(limits: &Limits, dialect: Dialect, source: &str) -> Card {
    let mut template = Template::from_source("t", dialect, source);
    template.front = Some("raw".to_owned());
    for (name, token) in [("bos_token", "<|begin|>"), ("eos_token", "<|end|>")] {
        template.special_tokens.insert(name.into(), token.into());
    }
    let engines = Engines::with_limits(limits);
    let tokenizer = (dialect == Dialect::Jinja).then(|| tokenizer(&template, &TOKENS, &[2]));
    let engine = engines.for_dialect(dialect).unwrap();
    examine_with(engine, &template, tokenizer.as_ref())
}

/// The tokens of the sound template's model, and two that it does not write.
const TOKENS: [&str; 14] = [
    "<|begin|>",
    "<|end|>",
    "<|tools|>",
    "<|system|>",
    "<|developer|>",
    "<|user|>",
    "<|assistant|>",
    "<|tool|>",
    "<|image|>",
    "<|think|>",
    "<|say|>",
    "<|call|>",
    "<|pause|>",
    " <|narrow|>",
];

fn verdict<'c>(card: &'c Card, id: &str) -> &'c Judgement {
    let contract = by_id(id).unwrap_or_else(|| panic!("no contract is named {id}"));
    let finding = card.findings.iter().find(|f| f.contract == contract);
    &finding.unwrap().judgement
}

#[test]
fn a_sound_template_keeps_every_contract() {
    let card = card(Dialect::Jinja, SOUND);
    for finding in &card.findings {
        let expected = match finding.contract.id {
            "unknown-role-kept" => {
                Judgement::DoesNotApply("the template refuses: unknown role".to_owned())
            }
            _ => Judgement::Holds,
        };
        assert_eq!(finding.judgement, expected, "{:?}", finding.contract);
    }
}

#[test]
fn each_contract_can_be_broken() {
    for (id, part, other) in BROKEN {
        assert_eq!(SOUND.matches(part).count(), 1, "{id}: {part}");
        let card = card(Dialect::Jinja, &SOUND.replace(part, other));
        let verdict = verdict(&card, id);
        assert!(matches!(verdict, Judgement::Broken(_)), "{id}: {verdict:?}");
    }
    for contract in ALL.iter().filter(|contract| contract.id != "deterministic") {
        let is_tested = BROKEN.iter().any(|(id, ..)| *id == contract.id);
        assert!(is_tested, "nothing breaks {contract:?}");
    }
}

#[test]
fn contracts_of_templates_for_ollama() {
    let sound = card(Dialect::Go, SOUND_GO);
    for finding in sound.broken() {
        assert_eq!(finding.contract.id, "control-tokens-inert", "{finding:?}");
    }
    for (id, part, other) in BROKEN_GO {
        assert_eq!(SOUND_GO.matches(part).count(), 1, "{id}: {part}");
        assert_eq!(verdict(&sound, id), &Judgement::Holds, "{id}");
        let card = card(Dialect::Go, &SOUND_GO.replace(part, other));
        let verdict = verdict(&card, id);
        assert!(matches!(verdict, Judgement::Broken(_)), "{id}: {verdict:?}");
    }
}

#[test]
fn nothing_is_guessed_about_a_template_that_cannot_be_read() {
    let card = card(Dialect::Jinja, "{% if %}");
    let broken: Vec<_> = card.broken().map(|finding| finding.contract.id).collect();
    assert_eq!(broken, ["renders"]);
    assert!(
        !card
            .findings
            .iter()
            .any(|f| f.judgement == Judgement::Holds)
    );
}

#[test]
fn a_template_that_prints_every_message_twice_is_judged_like_any_other() {
    let turn = "<|{{ message.role }}|>{{ message.content }}<|end|>";
    let turns = format!("{{% for message in messages %}}{turn}{{% endfor %}}");
    let card = card(Dialect::Jinja, &turns.repeat(2));
    assert!(matches!(
        verdict(&card, "content-once"),
        Judgement::Broken(_)
    ));
    assert_eq!(verdict(&card, "turns-closed"), &Judgement::Holds);
}

#[test]
fn a_template_that_uses_up_its_limits_is_asked_once() {
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
    let few = Limits {
        fuel: Limits::default().fuel / 100,
        ..Limits::default()
    };
    let card = card_within(&few, Dialect::Jinja, endless);
    let broken: Vec<_> = card.broken().map(|finding| finding.contract.id).collect();
    assert_eq!(broken, ["renders"]);
    assert!(matches!(
        card.capabilities.tools,
        crate::capability::Support::Unknown { .. }
    ));
}

#[test]
fn names_are_unique() {
    let mut ids: Vec<_> = ALL.iter().map(|contract| contract.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), ALL.len());
}

#[test]
fn what_changes_from_one_render_to_the_next_is_not_deterministic() {
    let template = Template::from_source("t", Dialect::Jinja, "");
    let card = examine(&Counting::aloud(), &template);
    assert!(matches!(
        verdict(&card, "deterministic"),
        Judgement::Broken(_)
    ));
}
