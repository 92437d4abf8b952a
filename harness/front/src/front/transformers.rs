//! A tokenizer of transformers 5.24: its `apply_chat_template(…, tokenize=False)`
//! (`tokenization_utils_base.py`).

use rolecall_core::{Case, Dialect};

use super::chat::{ChatMethod, MASK, is_true};
use super::definition::{Front, FrontDefinition, PreparationRules};
use super::named;

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "transformers",
    description: "tokenizer.apply_chat_template(…, tokenize=False) of transformers 5.24",
    dialect: Some(Dialect::Jinja),
    others: &[Front::Raw],
    choose: named::of_tokenizer,
    alternative: named::for_tools,
    preparation: PreparationRules::Method {
        changes: |case| METHOD.changes(case),
        prepare: |case| METHOD.prepare(case),
    },
};

/// The method. Settings of a tokenizer have no effect here.
pub(super) const METHOD: ChatMethod = ChatMethod {
    swallowed: &[
        "padding",
        "truncation",
        "max_length",
        "return_tensors",
        "return_dict",
        "tokenizer_kwargs",
        MASK,
    ],
    normalises: true,
    check: refuse_mask,
    part: |_| None,
};

/// The method of transformers 5.19 and 5.20, which servers call.
pub(super) const OF_SERVERS: ChatMethod = ChatMethod {
    normalises: false,
    ..METHOD
};

/// Refuses a mask of the assistant's tokens, because the prompt has no tokens.
fn refuse_mask(case: &Case) -> Result<(), String> {
    if case.variables.get(MASK).is_some_and(is_true) {
        return Err(format!("`{MASK}` is for prompts that are tokenised"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Outcome, Template};
    use serde_json::{Value, json};

    use super::*;

    fn case(messages: &[Value]) -> Case {
        let mut case = Case::from_messages(messages.to_vec());
        case.add_generation_prompt = false;
        case
    }

    /// The last message as a template sees it.
    fn seen(message: &Value) -> String {
        let written = case(std::slice::from_ref(message));
        let prepared = METHOD.prepare(&written);
        prepared.case(&written).messages[0].to_string()
    }

    #[test]
    fn a_case_that_stays_as_it_is_is_not_copied() {
        let plain = case(&[json!({"role": "user", "content": [{"text": null}]})]);
        assert!(METHOD.prepare(&plain).is_unchanged());
        for changed in [json!({"content": null}), json!({"reasoning": "r"})] {
            assert!(!METHOD.prepare(&case(&[changed])).is_unchanged());
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
            match METHOD
                .prepare(case)
                .outcome(&template, |_| false, rendered, || None)
            {
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
            METHOD
                .prepare(&written)
                .outcome(&template, |_| false, || Outcome::Rendered { text }, || None)
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
