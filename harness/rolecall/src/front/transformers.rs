//! transformers 5.23: what `apply_chat_template(…, tokenize=False)` of a tokenizer does
//! (`tokenization_utils_base.py` and `utils/chat_template_utils.py`).

use rolecall_model::Case;
use serde_json::{Map, Value};

use super::continuation::{Aliases, Continuation};
use super::prepared::Prepared;

/// The names of what a model thought before it answered. The first of them that a message
/// has fills the others.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// Variables that no template can be given: the functions between the caller and the
/// template are given them already, and Python takes no argument twice.
const TAKEN: [&str; 11] = [
    "self",
    "conversation",
    "conversations",
    "messages",
    "tools",
    "documents",
    "chat_template",
    "add_generation_prompt",
    "continue_final_message",
    "sanitize_control_tokens",
    "tokenize",
];

/// Variables that no template sees: they are settings of a tokenizer, which does nothing
/// here.
const SWALLOWED: [&str; 6] = [
    "padding",
    "truncation",
    "max_length",
    "return_tensors",
    "return_dict",
    "tokenizer_kwargs",
];

/// What a template sees of a case.
pub(super) fn prepare(case: &Case) -> Prepared {
    if let Err(why) = check(case) {
        return Prepared::refused(why);
    }
    let mut prepared = Prepared::unchanged();
    let mut changed = is_changed(case).then(|| Box::new(reduced(case)));
    if let Some(field) = &case.continue_final_message {
        let aliases = Aliases {
            names: &REASONING,
            shared: case.messages.last().map(shared).unwrap_or_default(),
        };
        let case = changed.get_or_insert_with(|| Box::new(case.clone()));
        match Continuation::mark(case, field, &aliases) {
            Ok(continuation) => prepared.continuation = Some(continuation),
            Err(why) => return Prepared::refused(why),
        }
    }
    prepared.case = Ok(changed);
    prepared
}

/// Refuses what transformers refuses, whatever the template.
fn check(case: &Case) -> Result<(), String> {
    if case.messages.is_empty() {
        return Err("the conversation has no messages".to_owned());
    }
    for (what, items) in [
        ("message", Some(&case.messages)),
        ("tool", case.tools.as_ref()),
        ("document", case.documents.as_ref()),
    ] {
        let mut items = items.into_iter().flatten();
        if let Some(item) = items.find(|item| !item.is_object()) {
            return Err(format!("a {what} that is no object: {item}"));
        }
    }
    if case.continue_final_message.is_some() && case.add_generation_prompt {
        return Err(
            "`continue_final_message` and `add_generation_prompt` exclude each other".to_owned(),
        );
    }
    let mut names = case.variables.keys();
    if let Some(name) = names.find(|name| TAKEN.contains(&name.as_str())) {
        return Err(format!("`{name}` cannot be a variable: it is an argument"));
    }
    if case.variables.get(MASK).is_some_and(is_true) {
        return Err(format!("`{MASK}` is for prompts that are tokenised"));
    }
    Ok(())
}

/// A setting that is refused where nothing is tokenised, and swallowed where it is off.
const MASK: &str = "return_assistant_tokens_mask";

/// Whether Python takes a value for true.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_true) => *is_true,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

fn is_swallowed(name: &str) -> bool {
    SWALLOWED.contains(&name) || name == MASK
}

/// Whether a template sees another case than the written one.
fn is_changed(case: &Case) -> bool {
    let mut messages = case.messages.iter().filter_map(Value::as_object);
    messages.any(|message| message.values().any(Value::is_null) || has_reasoning(message))
        || case.variables.keys().any(|name| is_swallowed(name))
}

fn has_reasoning(message: &Map<String, Value>) -> bool {
    REASONING.iter().any(|field| message.contains_key(*field))
}

/// A case without the fields of messages that are null, with every name for reasoning.
fn reduced(case: &Case) -> Case {
    let mut case = case.clone();
    for message in case.messages.iter_mut().filter_map(Value::as_object_mut) {
        message.retain(|_, value| !value.is_null());
        if has_reasoning(message) {
            *message = with_aliases(message);
        }
    }
    case.variables.retain(|name, _| !is_swallowed(name));
    case
}

/// A message that has its reasoning under the names that templates read: `thinking` comes
/// first, `reasoning_content` stays where it is or comes last.
fn with_aliases(message: &Map<String, Value>) -> Map<String, Value> {
    let reasoning = REASONING.iter().find_map(|field| message.get(*field));
    let Some(reasoning) = reasoning.cloned() else {
        return message.clone();
    };
    let mut aliased = Map::new();
    aliased.insert("thinking".to_owned(), reasoning.clone());
    for (name, value) in message {
        aliased.insert(name.clone(), value.clone());
    }
    aliased.insert("reasoning_content".to_owned(), reasoning);
    aliased
}

/// The names under which a message, as it is written, comes to have one and the same object
/// for its reasoning: that which it was found under, and those that were filled with it.
fn shared(message: &Value) -> Vec<&'static str> {
    let has = |field: &&&str| message.get(**field).is_some_and(|value| !value.is_null());
    let Some(source) = REASONING.iter().find(has) else {
        return Vec::new();
    };
    let is_filled = |field: &&str| match *field {
        "reasoning_content" => true,
        "thinking" => !has(&field),
        _ => false,
    };
    let is_shared = |field: &&&str| field == &source || is_filled(field);
    REASONING.iter().filter(is_shared).copied().collect()
}

#[cfg(test)]
mod tests {
    use rolecall_model::{Dialect, Outcome, Template};
    use serde_json::json;

    use super::*;

    fn case(messages: &[Value]) -> Case {
        let mut case = Case::from_messages(messages.to_vec());
        case.add_generation_prompt = false;
        case
    }

    /// The last message as a template sees it.
    fn seen(message: &Value) -> String {
        let written = case(std::slice::from_ref(message));
        let prepared = prepare(&written);
        prepared.case(&written).messages[0].to_string()
    }

    #[test]
    fn a_case_that_stays_as_it_is_is_not_copied() {
        let plain = case(&[json!({"role": "user", "content": [{"text": null}]})]);
        assert!(prepare(&plain).is_unchanged());
        for changed in [json!({"content": null}), json!({"reasoning": "r"})] {
            assert!(!prepare(&case(&[changed])).is_unchanged());
        }
    }

    #[test]
    fn nulls_go_and_reasoning_has_all_of_its_names() {
        for (written, expected) in [
            (
                json!({"role": "user", "content": null, "a": [null]}),
                r#"{"role":"user","a":[null]}"#,
            ),
            (
                json!({"role": "r", "reasoning": "R", "content": "c"}),
                r#"{"thinking":"R","role":"r","reasoning":"R","content":"c","reasoning_content":"R"}"#,
            ),
            (
                json!({"a": 1, "reasoning_content": "C", "thinking": "T"}),
                r#"{"thinking":"T","a":1,"reasoning_content":"C"}"#,
            ),
            (
                json!({"reasoning_content": null, "thinking": ["T"]}),
                r#"{"thinking":["T"],"reasoning_content":["T"]}"#,
            ),
        ] {
            assert_eq!(seen(&written), expected);
        }
    }

    #[test]
    fn what_transformers_refuses_is_refused_before_the_template() {
        let template = Template::from_source("t", Dialect::Jinja, "{{ messages[0].content }}");
        let why = |case: &Case| {
            let rendered = || panic!("the template was asked");
            match prepare(case).outcome(&template, rendered) {
                Outcome::Failed { message, .. } => message,
                other => panic!("{other:?}"),
            }
        };
        let user = json!({"content": "Hi", "n": 1, "parts": [{"type": "image"}]});
        let with = |change: &dyn Fn(&mut Case)| {
            let mut case = case(std::slice::from_ref(&user));
            change(&mut case);
            why(&case)
        };
        let continued =
            |field: &str| with(&|case| case.continue_final_message = Some(field.into()));
        assert_eq!(why(&case(&[])), "the conversation has no messages");
        assert_eq!(
            with(&|case| case.tools = Some(vec![json!("t")])),
            r#"a tool that is no object: "t""#
        );
        assert_eq!(
            with(&|case| drop(case.variables.insert("tools".into(), json!(1)))),
            "`tools` cannot be a variable: it is an argument"
        );
        assert_eq!(
            continued("none"),
            "the last message has no `none` to continue"
        );
        assert_eq!(
            continued("n"),
            "the `n` of the last message is no text that could be continued"
        );
        assert_eq!(
            continued("parts"),
            "no part of the last message has a text to continue"
        );
        let both = with(&|case| {
            case.add_generation_prompt = true;
            case.continue_final_message = Some("content".into());
        });
        assert!(both.contains("exclude each other"), "{both}");
    }

    #[test]
    fn the_prompt_is_cut_where_the_text_came_out() {
        let cut = |text: &str, prompt: &str| {
            let mut written = case(&[json!({"content": text})]);
            written.continue_final_message = Some("content".into());
            let template = Template::from_source("t", Dialect::Jinja, "content");
            let text = prompt.to_owned();
            prepare(&written)
                .outcome(&template, || Outcome::Rendered { text })
                .into_prompt()
        };
        let is = |prompt: &str| Ok(prompt.to_owned());
        assert_eq!(cut("a ", "a CONTINUE_FINAL_MESSAGE_TAG </s>"), is("a "));
        assert_eq!(cut("a ", "a CONTINUE_FINAL_MESSAGE_TAG</s>"), is("a"));
        assert_eq!(cut("", "x\n\x1cCONTINUE_FINAL_MESSAGE_TAG"), is("x"));
        assert!(cut("a", "CONTINUE_FINAL_MESSAGE_TAG ").is_err());
        assert!(cut("a", "a").is_err());
    }
}
