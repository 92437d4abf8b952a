//! The contract about servers that use response templates.

use rolecall_model::Dialect;
use serde_json::Value;

use super::definition::Contract;
use super::evidence::Evidence;
use super::read_answer::response_template;
use super::severity::Severity;
use super::tally::Tally;

pub(super) static SERVED_FIELDS: Contract = Contract {
    id: "served-fields",
    meaning: "vLLM and SGLang accept the fields of the response template",
    guards_against: "a server that does not start, or that leaves the response template unused",
    severity: Severity::Note,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/served-fields.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let Some((_, json)) = response_template(prober, &mut tally) else {
            return tally.judgement();
        };
        let complaints = complaints(&json);
        if complaints.is_empty() {
            tally.holds();
        }
        for complaint in complaints {
            tally.broken(Evidence::of_source(complaint));
        }
        tally.judgement()
    },
};

/// The fields that the servers accept: vLLM 0.33, and `SGLang` 0.5.23.
const SERVED: [&str; 3] = ["thinking", "content", "tool_calls"];

/// What both servers refuse in a response template.
fn complaints(response_template: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let fields = response_template["fields"].as_object();
    for (name, field) in fields.into_iter().flatten() {
        if !SERVED.contains(&name.as_str()) {
            let advice = match name.as_str() {
                "reasoning_content" | "reasoning" => "; they know thoughts as `thinking`",
                _ => "",
            };
            all.push(format!("vLLM and SGLang refuse the field `{name}`{advice}"));
            continue;
        }
        if name == "tool_calls" {
            continue;
        }
        let parser = field["content"].as_str().unwrap_or("text");
        if parser != "text" {
            all.push(format!(
                "vLLM and SGLang want the parser `text` for the field `{name}`, and it has `{parser}`"
            ));
        }
        for key in ["transform", "join"] {
            if !field[key].is_null() {
                all.push(format!(
                    "vLLM and SGLang refuse `{key}` in the field `{name}`"
                ));
            }
        }
    }
    let defaults = response_template["defaults"].as_object();
    for (name, _) in defaults.into_iter().flatten() {
        if name != "role" {
            all.push(format!(
                "vLLM and SGLang refuse a default for `{name}`; they accept `role` only"
            ));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_servers_refuse_is_named() {
        let found = complaints(&json!({
            "defaults": {"role": "assistant", "content": ""},
            "fields": {
                "reasoning_content": {"open": "<t>", "close": "</t>"},
                "content": {"content": "json", "join": ""},
                "tool_calls": {"open": "<c>", "content": "json", "transform": {}},
                "audio": {"open": "<a>"},
            },
        }));
        let words = [
            "`reasoning_content`; they know",
            "`content`, and it has `json`",
            "`join` in the field `content`",
            "the field `audio`",
            "default for `content`",
        ];
        assert_eq!(found.len(), words.len(), "{found:?}");
        for (complaint, words) in found.iter().zip(words) {
            assert!(complaint.contains(words), "{complaint}");
        }
        assert!(complaints(&json!({"fields": {"thinking": {"open": "<t>"}}})).is_empty());
    }
}
