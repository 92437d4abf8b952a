//! A processor of transformers 5.23, which models have that see and hear: what
//! `ProcessorMixin.apply_chat_template(…, tokenize=False)` does (`processing_utils.py`).
//!
//! Its own are images by their address, in the words of `OpenAI`'s clients, and arguments that
//! are for the processor. What a template is given besides is as with a tokenizer: arguments
//! that the template does not read are handed to the processor too, but not kept from it.
//!
//! A few models have processors with a method of their own, such as `SmolVLM` and `Voxtral`;
//! what those do is not here.

use rolecall_model::Case;
use serde_json::{Map, Value, json};

use super::chat::{MASK, Method, is_true};
use super::prepared::{Condition, Prepared};

/// Settings of the part of a processor that hears: an object.
const AUDIO: &str = "audio_kwargs";

/// Settings of a processor: an object too.
const PROCESSOR: &str = "processor_kwargs";

/// The method. Other arguments of a tokenizer, such as `padding`, are none of it: templates
/// see them.
const METHOD: Method = Method {
    swallowed: &[
        "return_tensors",
        "return_dict",
        "load_audio_from_video",
        PROCESSOR,
        MASK,
    ],
    check: refuse_arguments,
    part: image,
};

/// What a template sees of a case.
pub(super) fn prepare(case: &Case) -> Prepared {
    let mut prepared = METHOD.prepare(case);
    prepared.condition = audio_condition(case);
    prepared
}

/// Whether users may get something else of a case than what templates give alone.
pub(super) fn changes(case: &Case) -> bool {
    METHOD.changes(case) || audio_condition(case).is_some()
}

/// An image by its address, in the words of transformers. Other fields of the part are gone.
fn image(part: &Value) -> Option<Value> {
    let part = part.as_object()?;
    if part.get("type")? != "image_url" {
        return None;
    }
    let url = match part.get("image_url")? {
        Value::Object(image) => image.get("url").cloned().unwrap_or_else(|| "".into()),
        address => address.clone(),
    };
    Some(json!({"type": "image", "url": url}))
}

/// A processor that has a fast tokenizer, as nearly all have, takes a mask of the assistant's
/// tokens for a prompt without tokens, but not for one that goes on.
fn refuse_arguments(case: &Case) -> Result<(), String> {
    let is_masked = case.variables.get(MASK).is_some_and(is_true);
    if is_masked && case.continue_final_message.is_some() {
        return Err(format!(
            "`continue_final_message` and `{MASK}` exclude each other"
        ));
    }
    // What Python takes for false is as good as nothing.
    let settings = case.variables.get(PROCESSOR);
    match settings.filter(|settings| is_true(settings)) {
        None | Some(Value::Object(_)) => Ok(()),
        Some(other) => Err(format!("`{PROCESSOR}` has to be an object: {other}")),
    }
}

/// When the settings for audio are refused, which are looked at even where nothing is heard. A
/// variable of their name is for the template where that reads it, else for the processor.
fn audio_condition(case: &Case) -> Option<Condition> {
    let settings = case.variables.get(PROCESSOR).and_then(Value::as_object);
    let refusal = |settings: Option<&Value>| match settings {
        None | Some(Value::Object(_)) => None,
        Some(other) => Some(format!("`{AUDIO}` has to be an object: {other}")),
    };
    let of_processor = refusal(settings.and_then(|settings: &Map<_, _>| settings.get(AUDIO)));
    let without_reader = match case.variables.get(AUDIO) {
        None => of_processor.clone(),
        own => refusal(own),
    };
    (of_processor.is_some() || without_reader.is_some()).then_some(Condition {
        variable: AUDIO,
        where_read: of_processor,
        where_unread: without_reader,
    })
}

#[cfg(test)]
mod tests {
    use rolecall_model::{Dialect, Outcome, Stage, Template};

    use super::*;

    fn case(content: &Value) -> Case {
        Case::from_messages(vec![json!({"role": "user", "content": content})])
    }

    fn seen(part: &Value) -> Value {
        let written = case(&json!([{"type": "text", "text": "t"}, part]));
        let prepared = prepare(&written);
        assert_eq!(prepared.is_unchanged(), !changes(&written));
        prepared.case(&written).messages[0]["content"][1].clone()
    }

    #[test]
    fn an_address_becomes_an_image() {
        for (written, url) in [
            (json!({"type": "image_url", "image_url": "u"}), json!("u")),
            (
                json!({"text": "x", "image_url": {"detail": "low", "url": "u"}, "type": "image_url"}),
                json!("u"),
            ),
            (json!({"type": "image_url", "image_url": {}}), json!("")),
            (
                json!({"type": "image_url", "image_url": {"url": null}}),
                json!(null),
            ),
            (json!({"type": "image_url", "image_url": null}), json!(null)),
            (json!({"type": "image_url", "image_url": [1]}), json!([1])),
        ] {
            let image = json!({"type": "image", "url": url}).to_string();
            assert_eq!(seen(&written).to_string(), image);
        }
    }

    #[test]
    fn other_parts_stay_as_they_are() {
        for part in [
            json!({"type": "image_url", "url": "u"}),
            json!({"image_url": {"url": "u"}}),
            json!({"type": "image", "image_url": "u"}),
            json!({"type": ["image_url"], "image_url": "u"}),
            json!("image_url"),
            json!(null),
        ] {
            assert_eq!(seen(&part), part);
        }
        let no_list = json!({"type": "image_url", "image_url": "u"});
        assert!(prepare(&case(&no_list)).is_unchanged());
    }

    /// What is given for some variables, where the template reads only that of a name.
    fn given(variables: Value, read: &str) -> Result<String, String> {
        let mut case = case(&json!("c"));
        let Value::Object(variables) = variables else {
            unreachable!("variables are an object");
        };
        case.variables = variables;
        let prepared = prepare(&case);
        assert!(changes(&case) || prepared.is_unchanged());
        let template = Template::from_source("t", Dialect::Jinja, "");
        let seen = serde_json::to_string(&prepared.case(&case).variables).unwrap();
        let outcome = prepared.outcome(
            &template,
            |name| name == read,
            || Outcome::Rendered { text: seen },
        );
        match outcome {
            Outcome::Rendered { text } => Ok(text),
            Outcome::Failed {
                stage: Stage::Input,
                message,
                ..
            } => Err(message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_of_the_processor_do_not_reach_templates() {
        let is = |text: &str| Ok(text.to_owned());
        for (variables, expected) in [
            (
                json!({"padding": true, "return_dict": true}),
                r#"{"padding":true}"#,
            ),
            (json!({"return_assistant_tokens_mask": true}), "{}"),
            (json!({"processor_kwargs": {"fps": 1}}), "{}"),
            (json!({"processor_kwargs": 0}), "{}"),
            (
                json!({"audio_kwargs": {"a": 1}}),
                r#"{"audio_kwargs":{"a":1}}"#,
            ),
        ] {
            assert_eq!(given(variables, ""), is(expected));
        }
        assert_eq!(
            given(json!({"processor_kwargs": [1]}), ""),
            Err("`processor_kwargs` has to be an object: [1]".to_owned())
        );
        let refused = || Err("`audio_kwargs` has to be an object: 1".to_owned());
        let own = json!({"audio_kwargs": 1});
        assert_eq!(given(own.clone(), ""), refused());
        assert_eq!(given(own, AUDIO), is(r#"{"audio_kwargs":1}"#));
        let of_processor = json!({"audio_kwargs": {}, "processor_kwargs": {"audio_kwargs": 1}});
        assert_eq!(
            given(of_processor.clone(), ""),
            is(r#"{"audio_kwargs":{}}"#)
        );
        assert_eq!(given(of_processor, AUDIO), refused());
    }

    #[test]
    fn a_prompt_that_goes_on_has_no_mask() {
        let mut case = case(&json!("c"));
        case.add_generation_prompt = false;
        case.continue_final_message = Some("content".into());
        case.variables.insert(MASK.to_owned(), true.into());
        assert!(refuse_arguments(&case).is_err());
        case.variables.insert(MASK.to_owned(), 0.into());
        assert!(refuse_arguments(&case).is_ok());
    }
}
