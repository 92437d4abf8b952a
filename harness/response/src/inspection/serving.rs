//! Fields that servers refuse.
//!
//! As of vLLM 0.33.0 and `SGLang` 0.5.23: a field is named `thinking`, `content` or `tool_calls`; the
//! first two are texts, without `transform` and `join`; and `defaults` has a `role` only. Their readers
//! are copies of the one in transformers 5.23, which has no `python-call-list`.

use crate::inspection::finding::{Evidence, Finding, Rule};
use crate::template::ResponseTemplate;

/// The names that they know.
const SERVED: [&str; 3] = ["thinking", "content", "tool_calls"];

/// One finding for each thing that these servers refuse.
pub(super) fn inspect(template: &ResponseTemplate) -> Vec<Finding> {
    let mut findings = Vec::new();
    for field in &template.parts.fields {
        let name = &field.name;
        let is_text = name == "thinking" || name == "content";
        let found = if !SERVED.contains(&name.as_str()) {
            let help = if name.contains("reason") {
                "they know this field as `thinking`, which `transformers serve` takes, too. Keep the \
                 name if programs need it, such as a chat template that gets the message back"
            } else {
                "rename or drop the field if these servers have to use the response template"
            };
            Some((None, format!("the field `{name}`"), help))
        } else if is_text && field.parser != "text" {
            let help = "read it as `text`";
            Some((Some("content"), format!("a parser for `{name}`"), help))
        } else if field.parser == "python-call-list" {
            let help = "no other parser reads such calls; these servers have parsers of their own for them";
            Some((Some("content"), "`python-call-list`".to_owned(), help))
        } else if is_text && field.transform.is_some() {
            let help = "drop the `transform`";
            Some((
                Some("transform"),
                format!("a `transform` of `{name}`"),
                help,
            ))
        } else if is_text && field.join.is_some() {
            Some((
                Some("join"),
                format!("a `join` of `{name}`"),
                "drop the `join`",
            ))
        } else {
            None
        };
        findings
            .extend(found.map(|(key, what, help)| finding(Some(name.clone()), key, &what, help)));
    }
    let defaults = template.parts.defaults.keys();
    if let Some(key) = defaults.map(ToString::to_string).find(|key| key != "role") {
        let what = format!("`{key}` in `defaults`");
        findings.push(finding(
            None,
            Some("defaults"),
            &what,
            "keep only `role` there",
        ));
    }
    findings
}

fn finding(field: Option<String>, key: Option<&'static str>, what: &str, help: &str) -> Finding {
    Finding {
        rule: Rule::ServedFields,
        field,
        key,
        message: format!(
            "{what} is refused by two servers: vLLM 0.33.0 does not start with this response template, \
             and SGLang 0.5.23 goes on without it"
        ),
        help: help.to_owned(),
        evidence: Evidence::Stated,
    }
}
