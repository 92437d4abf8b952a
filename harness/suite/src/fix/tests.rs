//! Fixes of small templates.

use rolecall_card::card::examine;
use rolecall_jinja::JinjaEngine;
use rolecall_model::CaseId;
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
        cases: &cases,
        tokenizer: None,
        unsafe_too,
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

/// The fix of a contract.
#[track_caller]
fn of<'f>(fixes: &'f Fixes, contract: &str) -> &'f Fix {
    let mut found = fixes.found.iter();
    let fix = found.find(|fix| fix.contract.id == contract);
    fix.unwrap_or_else(|| panic!("no {contract} in {:#?}", fixes.found))
}

const TURN: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}\
                    {% if add_generation_prompt %}<|assistant|>{% endif %}";

#[test]
fn a_guard_that_an_empty_list_passes_is_mended() {
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
    let found = fixed(&format!("{tools}{TURN}"));
    let fix = of(&found, "no-repr-leak");
    assert!(fix.proof.shown.contains(&"x/tools".to_owned()), "{fix:?}");
    assert!(found.source.contains("Tools: {{ tools | tojson }}"));
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

#[test]
fn what_removes_more_than_null_is_not_safe() {
    let engine = JinjaEngine::new();
    let template = |content: &str| {
        let source = TURN.replace("{{ m.content }}", content);
        Template::from_source("t", Dialect::Jinja, &source)
    };
    let (before, after) = (
        template("{{ m.content }}"),
        template("{{ m.content or '' }}"),
    );
    let asked = conversations(&cases(), &before, &examine(&engine, &before));
    let [old, new] = [&before, &after].map(|one| Outcomes::of(&engine, one, &asked.all));
    let program = FrontProgram::load(&engine, &before);
    let writer = Writer::new(&engine);
    let proof = Proof::of(
        &program,
        &asked.all,
        [&old, &new],
        ("no-null-leak", &writer),
    );
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

#[test]
fn what_has_no_recipe_is_left_alone() {
    let go = Template::from_source("t", Dialect::Go, "{{ .Prompt }}");
    let engine = rolecall_go::GoEngine::new();
    let card = examine(&engine, &go);
    let fixer = Fixer {
        engine: &engine,
        cases: &cases(),
        tokenizer: None,
        unsafe_too: true,
    };
    let found = fixer.fixes(&go, &card, |_| true);
    assert!(found.found.is_empty() && found.source == "{{ .Prompt }}");
}
