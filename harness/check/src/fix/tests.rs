//! Proofs, and searches for fixes. Which template is fixed in which way is in the files
//! `*.faults` beside the contracts.

use crate::card::examine;
use rolecall_core::Conversation;
use rolecall_front::program::FrontProgram;
use rolecall_jinja::JinjaEngine;
use serde_json::json;

use super::*;

/// The fixes of a template. Applied again, there is nothing more to apply.
#[track_caller]
fn fixed_with(source: &str, unsafe_too: bool, is_chosen: impl Fn(&Contract) -> bool) -> Fixes {
    let engine = JinjaEngine::new();
    let fixer = Fixer {
        engine: &engine,
        cases: &|| &[],
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

const TURN: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}\
                    {% if add_generation_prompt %}<|assistant|>{% endif %}";

/// Calls are in the prompt, and everything else is, where there is none.
const EITHER: &str = "{% for m in messages %}<|{{ m.role }}|>\n{% if m.tool_calls %}\
    {% for c in m.tool_calls %}<call>{\"name\": \"{{ c.function.name }}\", \"arguments\": \
    {{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}}\
    </call>{% endfor %}{% else %}{{ m.content or '' }}{% endif %}<|end|>\n{% endfor %}\
    {% if add_generation_prompt %}<|assistant|>\n{% endif %}";

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

/// The proof of a change for a contract.
fn proof_of(before: &str, after: &str, contract: &str) -> Proof {
    let engine = JinjaEngine::new();
    let template = |source: &str| Template::from_source("t", Dialect::Jinja, source);
    let (before, after) = (template(before), template(after));
    let asked = conversations(&[], &before, &examine(&engine, &before));
    let [old, new] = [&before, &after].map(|one| Outcomes::render(&engine, one, &asked.all));
    Proof::compare(
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
    let found = fixed_with(&source, false, |_| true);
    let mut all = found.found.iter();
    let fix = all.find(|fix| fix.contract.id == "no-null-leak").unwrap();
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
fn arguments_that_are_no_json_have_to_stay_as_they_are() {
    let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}\
        {% if m.tool_calls %}{% for c in m.tool_calls %}{\"name\": \"{{ c.function.name }}\", \
        \"arguments\": {{ c.function.arguments | tojson }}}{% endfor %}{% endif %}<|end|>\n\
        {% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
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
    let template = Template::from_source("t", Dialect::Jinja, &found.source);
    let messages = json!([{"role": "user", "content": [{"type": "text", "text": null}]}]);
    let asked = Case::from_messages(messages.as_array().unwrap().clone());
    let engine = JinjaEngine::new();
    let after = engine
        .compile(&template)
        .unwrap()
        .render(&Conversation::new(&asked));
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
    let found = |template: &Template, most_work| {
        let search = Fixer {
            engine: &engine,
            cases: &|| &[],
            tokenizer: None,
            unsafe_too: false,
            most_work,
            step: &|| {},
        };
        let fixes = search.fixes(template, &card, |contract| contract.id == "no-tools-alike");
        let found: Vec<&str> = fixes.found.iter().map(|fix| fix.contract.id).collect();
        (found, fixes.untried)
    };
    let within = |most_work| found(&template, most_work);
    let id = "no-tools-alike";
    assert_eq!(within(None), (vec![id], vec![]));
    assert_eq!(within(Some(Work::SECOND)), (vec![id], vec![]));
    assert_eq!(within(Some(Work(1 << 20))), (vec![], vec![id]));
    // Each render would take longer than the work says.
    let idle = "{% for a in range(300) %}{% for b in range(300) %}{% endfor %}{% endfor %}";
    let slow = Template::from_source("t", Dialect::Jinja, &format!("{idle}{source}"));
    assert_eq!(found(&slow, Some(Work::SECOND)), (vec![], vec![id]));
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
