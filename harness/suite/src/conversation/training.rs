//! Files for training: `prompt` with `completion`, `chosen` with `rejected`, and turns with `from` and
//! `value`.
//!
//! Sources: the data formats of TRL (1.16) and of LLaMA-Factory (0.9), and of `ShareGPT`.

use serde_json::Value;

use super::clients;
use super::record::{Read, Record, Wrong, object};

/// The conversations of a prompt with its answers, which are under some keys. Each gets its name's
/// ending.
///
/// TRL puts a list of messages before every answer (`apply_chat_template` in `data_utils.py`), and does
/// not read a text as the prompt of answers that are lists (`maybe_extract_prompt`): they begin with
/// the question.
pub(super) fn answered(
    record: &mut Record,
    answers: &[(&str, &'static str)],
) -> Result<Read, Wrong> {
    record.is_request = false;
    let mut prompts = ["prompt", "conversations", "messages"].into_iter();
    let key = prompts.find(|key| record.has(key)).unwrap_or("prompt");
    let is_joined = key == "prompt" && record.is_list(key);
    let prompt = record.take(key);
    let prompt = prompt.map_or(Ok(Vec::new()), |prompt| said(prompt, key, "user", record))?;
    let mut all = Vec::new();
    for (key_of_answer, ending) in answers {
        let answer = record.take(key_of_answer).unwrap_or_default();
        if answer.is_string() && prompt.is_empty() {
            return Err(format!(
                "`{key_of_answer}` is a text, and there is no `prompt` that it answers"
            ));
        }
        let answer = said(answer, key_of_answer, "assistant", record)?;
        let mut said = answer.iter().filter(|message| message["role"] != "system");
        let is_whole = !is_joined && said.next().is_some_and(|first| first["role"] == "user");
        let repeats = |one: &Value| {
            answer
                .iter()
                .any(|other| one["content"] == other["content"])
        };
        if is_whole && !prompt.iter().all(repeats) {
            let skipped = format!("`{key}`, because `{key_of_answer}` has a question of its own");
            record.skipped.insert(skipped);
        }
        if is_joined && !prompt.is_empty() && answer.starts_with(&prompt) {
            record.became.insert(
                "the messages of `prompt` come twice, because the answer begins with them, too",
            );
        }
        let before = if is_whole { Vec::new() } else { prompt.clone() };
        all.push((*ending, [before, answer].concat()));
    }
    record.became.insert(match answers {
        [("completion", _)] => "`prompt` and `completion` became one conversation",
        [_] => "`prompt` and `response` became one conversation",
        [("chosen", _), ..] => "`chosen` and `rejected` became two conversations",
        _ => "`preferred_output` and `non_preferred_output` became two conversations",
    });
    Ok(all)
}

/// Messages, or a text that somebody with this role says.
fn said(value: Value, key: &str, role: &str, record: &mut Record) -> Result<Vec<Value>, Wrong> {
    match value {
        Value::String(text)
            if text.trim_start().starts_with("Human:") && text.contains("\n\nAssistant:") =>
        {
            Err(format!(
                "`{key}` is a text with the turns of `Human:` and `Assistant:`"
            ))
        }
        Value::String(text) => {
            let message = object([("role", role.into()), ("content", text.into())]);
            Ok(vec![message.into()])
        }
        Value::Array(list) => clients::messages(list, record),
        Value::Object(one) => clients::messages(vec![one.into()], record),
        _ => Err(format!("`{key}` is neither a text nor a list of messages")),
    }
}
