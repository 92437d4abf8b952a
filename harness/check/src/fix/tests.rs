//! Fixes of small templates.

use crate::card::examine;
use rolecall_core::{CaseId, Outcome};
use rolecall_front::program::FrontProgram;
use rolecall_jinja::JinjaEngine;
use serde_json::{Value, json};

use super::*;

fn case(name: &str, messages: Value, tools: Option<Value>) -> Case {
    let list = |value: Value| value.as_array().unwrap().clone();
    Case {
        id: CaseId::new("x", name),
        tools: tools.map(list),
        ..Case::from_messages(list(messages))
    }
}

fn cases() -> Vec<Case> {
    let hi = json!({"role": "user", "content": "Hi"});
    let parts = json!({"role": "user", "content": [{"type": "text", "text": "Hi"}]});
    let image =
        json!({"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image"}]});
    let tool = json!({"type": "function", "function": {"name": "f", "parameters": {}}});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]});
    let no_calls = json!({"role": "assistant", "content": "Yes", "tool_calls": []});
    vec![
        case("plain", json!([hi]), None),
        case("no-tools", json!([hi]), Some(json!([]))),
        case("tools", json!([hi]), Some(json!([tool]))),
        case("call", json!([hi, call]), Some(json!([tool]))),
        case("no-calls", json!([hi, no_calls, hi]), None),
        case("parts", json!([parts]), None),
        case("image", json!([image]), None),
    ]
}

/// The fixes of a template. Applied again, there is nothing more to apply.
#[track_caller]
fn fixed_with(source: &str, unsafe_too: bool, is_chosen: impl Fn(&Contract) -> bool) -> Fixes {
    let engine = JinjaEngine::new();
    let cases = cases();
    let fixer = Fixer {
        engine: &engine,
        cases: &|| &cases,
        tokenizer: None,
        unsafe_too,
        most_work: None,
        step: &|| {},
    };
    let search = |source: &str| {
        let template = Template::from_source("t", Dialect::Jinja, source);
        fixer.fixes(&template, &examine(&engine, &template), &is_chosen)
    };
    let found = search(source);
    let again = search(&found.source);
    assert_eq!(again.source, found.source);
    assert!(again.found.iter().all(|fix| !fix.is_applied), "{again:?}");
    found
}

#[track_caller]
fn fixed(source: &str) -> Fixes {
    fixed_with(source, false, |_| true)
}

#[track_caller]
fn of<'f>(fixes: &'f Fixes, contract: &str) -> &'f Fix {
    let mut found = fixes.found.iter();
    let fix = found.find(|fix| fix.contract.id == contract);
    fix.unwrap_or_else(|| panic!("no {contract} in {:#?}", fixes.found))
}

const TURN: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}\
                    {% if add_generation_prompt %}<|assistant|>{% endif %}";

#[test]
fn a_guard_that_an_empty_list_passes_is_fixed() {
    let guard = "{% if tools is not none %}Tools: {{ tools | tojson }}\n{% endif %}";
    let found = fixed(&format!("{guard}{TURN}"));
    let fix = of(&found, "no-tools-alike");
    assert!(fix.is_safe() && fix.is_applied);
    // With and without a generation prompt, in the suite's conversation and the card's.
    assert_eq!(
        fix.proof.shown,
        [
            "x/no-tools",
            "x/no-tools without a generation prompt",
            "probe/no-tools",
            "probe/no-tools without a generation prompt"
        ]
    );
    assert!(found.source.contains("{% if tools %}Tools:"), "{found:#?}");
}

#[test]
fn a_list_that_python_prints_becomes_json() {
    let tools = "{% if tools %}Tools: {{ tools }}\n{% endif %}";
    let source = format!("{tools}{TURN}");
    // A model that was trained with the template knows the tools as Python prints them.
    let found = fixed(&source);
    let fix = of(&found, "no-repr-leak");
    assert!(!fix.is_safe() && !fix.is_applied, "{fix:?}");
    let reason = fix.proof.reason();
    assert!(
        reason.contains("trained") && reason.contains("would read `{"),
        "{reason}"
    );
    let found = fixed_with(&source, true, |_| true);
    let fix = of(&found, "no-repr-leak");
    assert!(
        fix.is_applied && fix.proof.reworded.contains(&"x/tools".to_owned()),
        "{fix:?}"
    );
    assert!(found.source.contains("Tools: {{ tools | tojson }}"));
}

/// Calls are in the prompt, and everything else is, where there is none.
const EITHER: &str = "{% for m in messages %}<|{{ m.role }}|>\n{% if m.tool_calls %}\
    {% for c in m.tool_calls %}<call>{\"name\": \"{{ c.function.name }}\", \"arguments\": \
    {{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}}\
    </call>{% endfor %}{% else %}{{ m.content or '' }}{% endif %}<|end|>\n{% endfor %}\
    {% if add_generation_prompt %}<|assistant|>\n{% endif %}";

fn call(content: &str, arguments: &Value) -> Value {
    json!({"role": "assistant", "content": content, "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": arguments}}]})
}

#[track_caller]
fn text(source: &str, messages: Value) -> String {
    match prompt(source, messages) {
        Outcome::Rendered { text } => text,
        other => panic!("{other:?} by {source}"),
    }
}

#[test]
fn a_text_beside_a_call_comes_back_where_answers_begin() {
    let found = fixed(EITHER);
    let fix = of(&found, "content-beside-calls");
    assert!(fix.is_safe() && fix.is_applied, "{:?}", fix.proof);
    assert_eq!(
        text(&found.source, json!([call("I look.", &json!({}))])),
        "<|assistant|>\nI look.\n<call>{\"name\": \"f\", \"arguments\": {}}</call><|end|>\n<|assistant|>\n"
    );
    for content in ["", " "] {
        let asked = json!([call(content, &json!({}))]);
        assert_eq!(text(&found.source, asked.clone()), text(EITHER, asked));
    }
}

/// The first system message is under the header HEAD, and later ones are lost.
const LATER: &str = "{% if messages[0].role == 'system' %}<|start|>HEAD<|message|>{{ messages[0].content }}<|end|>\
    {% endif %}{% for m in messages %}{% if m.role == 'user' %}<|start|>user<|message|>{{ m.content }}<|end|>\
    {% elif m.role == 'assistant' %}<|start|>assistant<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}\
    {% if add_generation_prompt %}<|start|>assistant{% endif %}";

#[test]
fn a_later_system_message_has_the_header_of_the_first() {
    for (head, is_safe) in [("system", true), ("developer", false), ("système", false)] {
        let source = LATER.replace("HEAD", head);
        let found = fixed_with(&source, false, |one| one.id == "messages-kept");
        let is_applied = found.found.iter().any(|fix| fix.is_applied);
        assert_eq!(is_applied, is_safe, "{head}: {:#?}", found.found);
        assert!(
            is_safe || !found.source.contains("system<|message|>"),
            "{}",
            found.source
        );
    }
}

#[test]
fn what_is_added_is_the_lost_text_and_no_turn() {
    for (wrong, is_safe) in [
        (
            "{% if m.tool_calls %}{{ m.content ~ '\\n' if m.content else '' }}",
            true,
        ),
        // The call does not begin a line any more.
        ("{% if m.tool_calls %}{{ m.content or '' }}", false),
        // It begins in another way than an answer.
        (
            "{% if m.tool_calls %}{{ ' ' ~ m.content ~ '\\n' if m.content else '' }}",
            false,
        ),
        // It opens a turn of its own.
        (
            "{% if m.tool_calls %}{{ m.content or '' }}<|end|>\n<|assistant|>\n",
            false,
        ),
    ] {
        let after = EITHER.replace("{% if m.tool_calls %}", wrong);
        let proof = proof_of(EITHER, &after, "content-beside-calls");
        assert_eq!(proof.is_safe(), is_safe, "{wrong}: {proof:?}");
    }
}

#[test]
fn a_later_system_message_has_a_turn_like_a_question() {
    let source = TURN.replace(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}",
        "{% if messages[0].role == 'system' %}<|system|>{{ messages[0].content or '' }}<|end|>\n\
         {% endif %}{% for m in messages %}{% if m.role == 'user' %}<|user|>{{ m.content or '' }}\
         <|end|>\n{% elif m.role == 'assistant' %}<|assistant|>{{ m.content or '' }}<|end|>\n\
         {% endif %}{% endfor %}",
    );
    let found = fixed_with(&source, false, |contract| contract.id == "messages-kept");
    let fix = of(&found, "messages-kept");
    assert!(fix.is_safe() && fix.is_applied, "{:?}", fix.proof);
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    let asked = json!([
        message("system", "A"),
        message("user", "B"),
        message("system", "C")
    ]);
    assert_eq!(
        text(&found.source, asked),
        "<|system|>A<|end|>\n<|user|>B<|end|>\n<|system|>C<|end|>\n<|assistant|>"
    );
}

#[test]
fn a_text_is_refused_where_single_arguments_are_taken() {
    let pairs =
        "{% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }};{% endfor %}";
    let json = "{{ c.function.arguments if c.function.arguments is string else \
                c.function.arguments | tojson }}";
    let source = EITHER.replace(json, pairs);
    let found = fixed_with(&source, false, |contract| contract.id == "arguments-alike");
    let fix = of(&found, "arguments-alike");
    assert!(fix.is_safe() && fix.is_applied, "{:?}", fix.proof);
    let refused = prompt(&found.source, json!([call("", &json!("{}"))]));
    assert!(matches!(&refused, Outcome::Raised { message } if message.contains("an object, not")));
}

#[test]
fn a_tool_that_lacks_a_description_is_shown_without() {
    let tools = "{% for t in tools or [] %}{{ t.function.name + ': ' + t.function.description + ' ' \
                 + t.function.parameters | tojson + '\\n' }}{% endfor %}";
    let refusing = TURN.replace(
        "{{ m.content }}",
        "{% if m.role == 'critic' %}{{ raise_exception('no critics') }}{% endif %}{{ m.content or '' }}",
    );
    let source = format!("{tools}{refusing}");
    let found = fixed_with(&source, false, |contract| contract.id == "refusal-words");
    let fix = of(&found, "refusal-words");
    assert!(fix.is_safe() && fix.is_applied, "{:?}", fix.proof);
    assert!(found.source.contains("| default('')"), "{}", found.source);
}

#[test]
fn a_mark_in_an_argument_is_escaped_but_the_model_may_not_know_it() {
    let pairs = "{% for k, v in c.function.arguments.items() %}\"{{ k }}\": \"{{ v }}\"\
                 {% if not loop.last %}, {% endif %}{% endfor %}";
    let json = "{{ c.function.arguments if c.function.arguments is string else \
                c.function.arguments | tojson }}";
    let source = EITHER.replace(json, &format!("{{ {pairs}}}"));
    let found = fixed_with(&source, true, |contract| contract.id == "calls-whole");
    let fix = of(&found, "calls-whole");
    assert!(!fix.is_safe(), "{:?}", fix.proof);
    let asked = json!([call("", &json!({"a": "say \"no\""}))]);
    let after = text(&found.source, asked);
    assert!(after.contains(r#"{ "a": "say \"no\""}"#), "{after}");
    let plain = json!([call("", &json!({"a": "b"}))]);
    assert_eq!(text(&found.source, plain.clone()), text(&source, plain));
}

#[test]
fn a_null_leaves_no_word_and_other_contents_stay() {
    let found = fixed(TURN);
    let fix = of(&found, "no-null-leak");
    assert!(fix.is_safe(), "{fix:?}");
    assert!(
        found
            .source
            .contains("{{ m.content if m.content is not none else '' }}"),
        "{}",
        found.source
    );
    // The conversations are there, and they keep their prompts.
    let shown = &fix.proof.shown;
    assert!(
        shown
            .iter()
            .any(|name| name.starts_with("beside/user-null"))
    );
    assert!(!shown.iter().any(|name| name.contains("zero")), "{shown:?}");
}

/// The proof of a change for a contract.
fn proof_of(before: &str, after: &str, contract: &str) -> Proof {
    let engine = JinjaEngine::new();
    let template = |source: &str| Template::from_source("t", Dialect::Jinja, source);
    let (before, after) = (template(before), template(after));
    let asked = conversations(&cases(), &before, &examine(&engine, &before));
    let [old, new] = [&before, &after].map(|one| Outcomes::of(&engine, one, &asked.all));
    Proof::of(
        &FrontProgram::load(&engine, &before),
        &asked.all,
        [&old, &new],
        (contract, &Writer::new(&engine)),
    )
}

#[test]
fn what_removes_more_than_null_is_not_safe() {
    let after = TURN.replace("{{ m.content }}", "{{ m.content or '' }}");
    let proof = proof_of(TURN, &after, "no-null-leak");
    assert!(!proof.is_safe());
    let others = ["zero", "false", "empty-list"];
    for other in others {
        let name = format!("beside/assistant-{other}");
        assert!(proof.others.contains(&name), "{name} in {:?}", proof.others);
    }
}

#[test]
fn the_proof_has_the_tokens_of_the_card() {
    // Without them, every conversation fails, and all would be alike.
    let source = TURN.replace(
        "{{ m.content }}",
        "{{ m.content ~ '' }}{{ eos_token + '' }}",
    );
    let found = fixed(&source);
    let fix = of(&found, "no-null-leak");
    assert!(
        fix.is_safe() && fix.proof.failing < fix.proof.same,
        "{:?}",
        fix.proof
    );
    assert!(!fix.proof.shown.is_empty());
}

#[test]
fn what_changes_no_conversation_is_not_proven() {
    let proof = Proof {
        same: 10,
        ..Proof::default()
    };
    assert!(!proof.is_safe());
}

#[test]
fn only_what_is_chosen_is_fixed() {
    let guard = "{% if tools is not none %}Tools: {{ tools }}\n{% endif %}";
    let source = format!("{guard}{TURN}");
    let chosen = fixed_with(&source, false, |contract| contract.id == "no-tools-alike");
    let ids: Vec<&str> = chosen.found.iter().map(|fix| fix.contract.id).collect();
    assert_eq!(ids, ["no-tools-alike"]);
    assert!(chosen.source.contains("{% if tools %}Tools: {{ tools }}"));
    let none = fixed_with(&source, true, |_| false);
    assert!(none.found.is_empty() && none.source == source);
}

#[test]
fn calls_are_asked_for_in_both_ways() {
    let source = "{% for m in messages %}{% if m.role == 'assistant' and 'tool_calls' in m %}\
        <|call|>{% for c in m['tool_calls'] %}{{ c.function | tojson }}{% endfor %}<|end|>\
        {% endif %}{% if 'tool_calls' not in m %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endif %}\
        {% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    let found = fixed(source);
    let fix = of(&found, "no-calls-alike");
    assert!(fix.is_safe(), "{fix:?}");
    let after = &found.source;
    assert!(after.contains("and m['tool_calls'] %}"), "{after}");
    assert!(after.contains("{% if not m['tool_calls'] %}"), "{after}");
}

#[test]
fn a_value_that_is_none_for_a_variable_does_not_hinder() {
    // The card tries false for `custom_tools`, and the loop over it fails.
    let source = format!(
        "{{%- if custom_tools is defined %}}{{% set tools = custom_tools %}}{{% endif %}}\
         {{%- if not tools is defined %}}{{% set tools = none %}}{{% endif %}}\
         {{%- if tools is not none %}}Tools:{{% for t in tools %}} {{{{ t | tojson }}}}{{% endfor %}}\
         \n{{% endif %}}{TURN}"
    );
    let fix = fixed(&source);
    let fix = of(&fix, "no-tools-alike");
    assert!(fix.is_safe(), "{:?}", fix.proof);
}

#[test]
fn text_parts_are_joined_and_other_parts_stay() {
    let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}\
                  {% if add_generation_prompt %}<|assistant|>{% endif %}";
    // The list of a user is a limitation, the one of a result is a defect.
    let source = source.replace(
        "{{ m.content }}",
        "{% if m.content is string or m.role == 'tool' %}{{ m.content }}\
         {% else %}{% for p in m.content or [] %}{{ p.text }}{% endfor %}{% endif %}",
    );
    let found = fixed(&source);
    let fix = of(&found, "text-part-is-text");
    assert!(fix.is_safe(), "{:?}", fix.proof);
    let after = &fix.after;
    assert!(
        after.starts_with("{%- macro text_of(content) -%}\n"),
        "{after}"
    );
    assert!(after.contains("{{ text_of(m.content) }}"), "{after}");
    assert!(!fix.proof.shown.iter().any(|name| name.contains("image")));
}

/// The prompt of a template for the messages, or the words of its refusal.
fn prompt(source: &str, messages: Value) -> Outcome {
    let engine = JinjaEngine::new();
    let template = Template::from_source("t", Dialect::Jinja, source);
    let input = rolecall_front::prepared_case::PreparedCase::of(
        &std::sync::Arc::new(case("asked", messages, None)),
        rolecall_front::front::Front::Raw,
        &rolecall_front::front::ModelProfile::of(&template),
    );
    FrontProgram::load(&engine, &template).outcome(&input)
}

#[test]
fn arguments_that_are_no_json_stay_as_they_are() {
    let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}\
        {% if m.tool_calls %}{% for c in m.tool_calls %}{\"name\": \"{{ c.function.name }}\", \
        \"arguments\": {{ c.function.arguments | tojson }}}{% endfor %}{% endif %}<|end|>\n\
        {% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    let found = fixed(source);
    let fix = of(&found, "arguments-encoded-once");
    assert!(fix.is_safe() && fix.is_applied, "{:?}", fix.proof);
    let called = |arguments: &str| {
        json!([{"role": "assistant", "content": "", "tool_calls": [
            {"type": "function", "function": {"name": "ping", "arguments": arguments}}]}])
    };
    for arguments in ["", "ping", "{\"a\": "] {
        assert_eq!(
            prompt(&found.source, called(arguments)),
            prompt(source, called(arguments)),
            "{arguments:?}"
        );
    }
    let json = prompt(&found.source, called("{\"a\": 1}"));
    assert!(
        format!("{json:?}").contains("{\\\"a\\\": 1}}<|end|>"),
        "{json:?}"
    );
    // The usual test for a text would print `"arguments": }`, which no proof may call safe.
    let usual = source.replace(
        "c.function.arguments | tojson",
        "c.function.arguments if c.function.arguments is string else c.function.arguments | tojson",
    );
    let proof = proof_of(source, &usual, "arguments-encoded-once");
    assert!(!proof.is_safe());
    let empty = "beside/arguments-empty".to_owned();
    assert!(proof.others.contains(&empty), "{:?}", proof.others);
}

#[test]
fn a_part_whose_text_is_null_does_not_become_a_word() {
    let source = TURN.replace("{{ m.content }}", "{{ m.content + '' }}");
    let found = fixed_with(&source, true, |_| true);
    let joined = source.replace(
        "{{ m.content + '' }}",
        "{% if m.content is string %}{{ m.content }}{% else %}\
         {% for p in m.content or [] %}{{ p.text }}{% endfor %}{% endif %}",
    );
    let proof = proof_of(&source, &joined, "text-part-is-text");
    let null = "beside/part-text-null".to_owned();
    assert!(proof.others.contains(&null), "{:?}", proof.others);
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": null}]}]);
    let after = prompt(&found.source, messages);
    assert!(!format!("{after:?}").contains("None"), "{after:?}");
}

#[test]
fn a_refusal_is_no_fixed_prompt() {
    let refusing = TURN.replace(
        "{{ m.content }}",
        "{% if m.content is none %}{{ raise_exception('no content') }}{% endif %}{{ m.content }}",
    );
    let proof = proof_of(TURN, &refusing, "no-null-leak");
    assert!(
        !proof.is_safe() && proof.shown.is_empty(),
        "{:?}",
        proof.shown
    );
    // Not even where the template refuses the same conversation without the defect.
    let strict = TURN.replace(
        "{{ m.content }}",
        "{% if m.content == '' %}{{ raise_exception('no content') }}{% endif %}{{ m.content }}",
    );
    let stricter = strict.replace("== ''", "in ['', none]");
    let proof = proof_of(&strict, &stricter, "no-null-leak");
    assert!(
        !proof.is_safe() && proof.shown.is_empty(),
        "{:?}",
        proof.shown
    );
}

#[test]
fn a_search_with_little_work_says_what_it_was_not_done_with() {
    let source = "{% if tools is not none %}Tools: {{ tools | tojson }}{% endif %}\
        {% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}";
    let engine = JinjaEngine::new();
    let template = Template::from_source("t", Dialect::Jinja, source);
    let card = examine(&engine, &template);
    let cases = cases();
    let within = |most_work| {
        let search = Fixer {
            engine: &engine,
            cases: &|| &cases,
            tokenizer: None,
            unsafe_too: false,
            most_work,
            step: &|| {},
        };
        let fixes = search.fixes(&template, &card, |contract| contract.id == "no-tools-alike");
        let found: Vec<&str> = fixes.found.iter().map(|fix| fix.contract.id).collect();
        (found, fixes.untried)
    };
    let id = "no-tools-alike";
    assert_eq!(within(None), (vec![id], vec![]));
    assert_eq!(within(Some(Work::SECOND)), (vec![id], vec![]));
    assert_eq!(within(Some(Work(1 << 20))), (vec![], vec![id]));
    // Conversations are loaded for a change that cures the finding only.
    let fixer = Fixer {
        engine: &engine,
        cases: &|| panic!("nothing has to be proven"),
        tokenizer: None,
        unsafe_too: false,
        most_work: Some(Work(1 << 20)),
        step: &|| {},
    };
    assert_eq!(fixer.fixes(&template, &card, |_| true).found.len(), 0);
}

#[test]
fn what_has_no_recipe_is_left_alone() {
    let go = Template::from_source("t", Dialect::Go, "{{ .Prompt }}");
    let engine = rolecall_go::GoEngine::new();
    let card = examine(&engine, &go);
    let fixer = Fixer {
        engine: &engine,
        cases: &|| &[],
        tokenizer: None,
        unsafe_too: true,
        most_work: None,
        step: &|| {},
    };
    let found = fixer.fixes(&go, &card, |_| true);
    assert!(found.found.is_empty() && found.source == "{{ .Prompt }}");
}
