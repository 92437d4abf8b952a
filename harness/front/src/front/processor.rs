//! A processor of transformers 5.24, for vision and audio models:
//! `ProcessorMixin.apply_chat_template(…, tokenize=False)` (`processing_utils.py`).
//!
//! It differs from a tokenizer in two points: it translates images with a URL from the form of
//! OpenAI's clients, and it takes arguments for the processor. Everything else reaches a template
//! as with a tokenizer. Arguments that the template does not read also go to the processor.
//!
//! A few models, such as `SmolVLM` and `Voxtral`, have processors with their own method. Those are
//! not here.

use rolecall_core::{Case, Dialect};
use serde_json::{Map, Value, json};

use super::chat::{ChatMethod, MASK, is_true};
use super::definition::{Front, FrontDefinition, PreparationRules};
use super::named;
use super::preparation::{Condition, Preparation};

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "transformers-processor",
    description: "processor.apply_chat_template(…, tokenize=False) of transformers 5.24",
    dialect: Some(Dialect::Jinja),
    others: &[Front::Raw],
    choose: |template, _| named::default(template),
    alternative: |_| None,
    preparation: PreparationRules::Method { changes, prepare },
};

/// Settings of a processor's audio part: an object.
const AUDIO: &str = "audio_kwargs";

/// Settings of a processor: an object too.
const PROCESSOR: &str = "processor_kwargs";

/// The method. It does not take other arguments of a tokenizer, such as `padding`, so templates see
/// them.
const METHOD: ChatMethod = ChatMethod {
    swallowed: &[
        "return_tensors",
        "return_dict",
        "load_audio_from_video",
        PROCESSOR,
        MASK,
    ],
    normalises: true,
    check: refuse_arguments,
    part: image,
};

/// Prepares a case for the template.
fn prepare(case: &Case) -> Preparation {
    let mut prepared = METHOD.prepare(case);
    prepared.condition = audio_condition(case);
    prepared
}

/// Whether users may get another outcome for a case than the template alone gives.
fn changes(case: &Case) -> bool {
    METHOD.changes(case) || audio_condition(case).is_some()
}

/// An image with a URL, in the form of transformers. Other fields of the part are dropped.
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

/// Nearly all processors have a fast tokenizer. Such a processor accepts the argument for a mask of
/// the assistant's tokens although the prompt has no tokens, but not for a prompt that continues a
/// message.
fn refuse_arguments(case: &Case) -> Result<(), String> {
    let is_masked = case.variables.get(MASK).is_some_and(is_true);
    if is_masked && case.continue_final_message.is_some() {
        return Err(format!(
            "`continue_final_message` and `{MASK}` exclude each other"
        ));
    }
    // A value that is false in Python counts as absent.
    let settings = case.variables.get(PROCESSOR);
    match settings.filter(|settings| is_true(settings)) {
        None | Some(Value::Object(_)) => Ok(()),
        Some(other) => Err(format!("`{PROCESSOR}` has to be an object: {other}")),
    }
}

/// When the processor refuses the settings for audio. It checks them even without audio. A variable
/// of that name goes to the template if the template reads it, otherwise to the processor.
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
    use rolecall_core::{Outcome, Stage, Template};

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

    /// The outcome for some variables, if the template reads only the named one.
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
            || None,
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
