//! What harms the users of a response template, found without any conversation.
//!
//! An inspection writes short answers that the template's own patterns match. It reads them in two
//! ways that should give the same message, and a finding has the text on which they do not. So
//! nothing is reported for how a pattern looks, but for what it does.

mod finding;

mod sample;

mod literal;

mod trial;

mod answer;

mod streaming;

mod waiting;

mod ending;

mod white_space;

mod slowness;

mod serving;

use crate::template::ResponseTemplate;
use trial::Bench;

pub use finding::{Evidence, Finding, Inspection, Level, Reading, ReadingMode, Rule};

impl ResponseTemplate {
    /// The tags of the delimiters: the literal part of each, without what may vary, in the order of
    /// the fields.
    pub fn delimiter_literals(&self) -> Vec<String> {
        let fields = self.parts.fields.iter();
        let delimiters = fields.flat_map(|field| [&field.open, &field.close]);
        let trees = delimiters
            .flatten()
            .map(|delimiter| delimiter.pattern.tree());
        trees.flat_map(literal::literals).collect()
    }

    /// What vLLM 0.33 and `SGLang` 0.5.23 refuse in this response template: a part of
    /// [`ResponseTemplate::inspect`] that reads no text.
    pub fn refused_by_servers(&self) -> Vec<Finding> {
        serving::inspect(self)
    }

    /// What harms the users of this response template.
    ///
    /// `end_tokens` are the texts at which a server stops and which it does not return, such as
    /// `</s>`. Those that close the field without an opener count, too.
    ///
    /// ```
    /// use rolecall_response::{ResponseTemplate, Rule};
    ///
    /// let template = ResponseTemplate::from_text(
    ///     r#"{"start_anchor": "<a>", "fields": {"content": {"close_pattern": "<end>\\s*|$"}}}"#,
    /// )?;
    /// let findings = template.inspect(&[]).findings;
    /// assert_eq!(findings[0].rule, Rule::CloseAtEnd);
    /// assert_eq!(findings[0].path(), "fields.content.close_pattern");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inspect(&self, end_tokens: &[String]) -> Inspection {
        let bench = Bench::new(self);
        let regions = answer::regions(&bench);
        let mut findings = streaming::inspect(&bench, &regions);
        findings.extend(waiting::inspect(&bench));
        findings.extend(ending::inspect(&bench, &regions, end_tokens));
        findings.extend(white_space::inspect(&bench, &regions));
        findings.extend(slowness::inspect(&bench));
        findings.extend(serving::inspect(self));
        findings.sort_by_key(|finding| finding.rule);
        // Without steps nothing was tried.
        let is_tried =
            |number| !bench.is_spent() && regions.iter().any(|region| region.field == number);
        let fields = self.parts.fields.iter().enumerate();
        let untried = fields.filter(|(number, _)| !is_tried(*number));
        Inspection {
            findings,
            untried: untried.map(|(_, field)| field.name.clone()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::failure::ParseError;

    fn template(fields: &Json) -> ResponseTemplate {
        let json = json!({"start_anchor": "<a>", "fields": fields});
        ResponseTemplate::from_json(&json).expect("a template")
    }

    fn broken(fields: &Json) -> Vec<(&'static str, String)> {
        let inspection = template(fields).inspect(&["</s>".to_owned()]);
        assert_eq!(inspection.untried, [""; 0], "{fields}");
        let findings = inspection.findings.iter();
        findings
            .map(|finding| (finding.rule.id(), finding.path()))
            .collect()
    }

    /// A template with calls whose delimiters are given, and a text around them.
    fn calls(open: &str, close: &str) -> Json {
        json!({
            "tool_calls": {"open_pattern": open, "close_pattern": close, "content": "json", "repeats": true},
            "content": {"close_pattern": r"</s>\s*"},
        })
    }

    fn content(close: &str) -> Json {
        json!({"content": {"close_pattern": close}})
    }

    #[test]
    fn each_rule_is_broken_by_what_harms() {
        let of_content = "fields.content.close_pattern";
        let of_calls = "fields.tool_calls.close_pattern";
        let opener = "fields.tool_calls.open_pattern";
        for (fields, rule, path) in [
            (content(r"<e>\s*|$"), "close-at-end", of_content),
            (content(r"(?:<e>)?\Z"), "close-at-end", of_content),
            (
                calls("<c>", r"\)(?:\]<e>)?\s*"),
                "close-optional-tail",
                of_calls,
            ),
            (
                calls("<c>", r"(?:</c></all>|</c>)\s*"),
                "close-optional-tail",
                of_calls,
            ),
            (
                calls(r"<c>(?:<only>)?", r"</c>\s*"),
                "close-optional-tail",
                opener,
            ),
            (
                json!({"content": {"close": ["<e>", "<e><more>"]}, "thinking": {"open": "<t>", "close": "</t>"}}),
                "close-optional-tail",
                "fields.content.close",
            ),
            (
                json!({"thinking": {"open_pattern": r"(?=[\s\S]*?</t>)", "close_pattern": r"</t>\s*"}, "content": {}}),
                "open-looks-ahead",
                "fields.thinking.open_pattern",
            ),
            (calls("<c>", r"!</s>\s*"), "close-needs-end-token", of_calls),
            (
                json!({"tool_calls": {"open": "<c>", "close_pattern": r"!(?=</s>)", "content": "json"}, "content": {"close_pattern": r"</s>\s*"}}),
                "close-needs-end-token",
                of_calls,
            ),
            (content("<e>"), "implicit-white-space", of_content),
            (calls("<c>", "</c>"), "implicit-white-space", of_calls),
            (calls("<c>", r"(?:a|aa)+b\s*"), "slow-pattern", of_calls),
            (
                json!({"tool_calls": {"open": "<c>", "close_pattern": r"</c>\s*", "content": "xml-inline",
                    "content_args": {"tag_pattern": r"<p=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</p>"}}}),
                "slow-pattern",
                "fields.tool_calls.content_args",
            ),
            (
                calls(r"<c>(?P<n>[^<]*?)\s*(?:x)?\s*(?:y)?\s*z(?=\{)", r"</c>\s*"),
                "slow-pattern",
                opener,
            ),
            (
                json!({"calls": {"open": "<c>", "close_pattern": r"</c>\s*"}, "content": {"close_pattern": r"<e>\s*"}}),
                "served-fields",
                "fields.calls",
            ),
            (
                json!({"content": {"repeats": true, "join": ""}}),
                "served-fields",
                "fields.content.join",
            ),
            (
                json!({"tool_calls": {"open": "<c>", "close_pattern": r"</c>\s*", "content": "python-call-list"}, "content": {}}),
                "served-fields",
                "fields.tool_calls.content",
            ),
        ] {
            let mut fields = fields;
            // A name of a group needs a transform.
            if path == opener && rule == "slow-pattern" {
                fields["tool_calls"]["transform"] =
                    json!({"name": "{n}", "arguments": "{content}"});
            }
            let found = broken(&fields);
            assert!(
                found.contains(&(rule, path.to_owned())),
                "{rule} of {fields}: {found:?}"
            );
        }
    }

    #[test]
    fn what_harms_nobody_is_not_reported() {
        let think = |open: &str, close: &str| json!({"thinking": {"open_pattern": open, "close_pattern": close}, "content": {"close_pattern": r"<e>\s*"}});
        for fields in [
            // Both white space and the end of the text may follow what was already certain.
            content(r"\s*<e>\s*"),
            content("<e>.*"),
            content(r"\s*$"),
            content("$"),
            calls("<c>", r"</c>\n?$"),
            calls("<c>", r"</c>\n?"),
            calls("<c>", r"!(?=</s>|\Z)\s*"),
            calls("<c>", r"</c>(?=\n|<c>|\Z)\s*"),
            calls(r"\n?<c>\s*(?=\[?\{)", r"(?<=\})</c>\s*"),
            calls(r"(?:<calls>)?\s*<c>", r"\s*</c>\s*"),
            // The region ends with the answer anyway.
            json!({"tool_calls": {"open": "<c>", "close_pattern": r"</s>\s*", "content": "json"}, "content": {"close_pattern": r"</s>\s*"}}),
            think(r"<t>", r"(?:\n</t>|</t>\n)\n*"),
            think(r"\A\s*<t>\n?", r"</t>\s*"),
            // The fixes that the documentation proposes.
            json!({
                "tool_calls": {"open_pattern": r"(?:<c>\[|,\s*)f\(", "close_pattern": r"\)\s*", "repeats": true},
                "content": {"close_pattern": r"(?:\]<e>|</s>)\s*"},
            }),
            json!({
                "tool_calls": {
                    "open": "<c>", "close_pattern": r"</c>\s*", "content": "xml-inline",
                    "content_args": {"tag_pattern": r"<p=(?P<key>[^>\n]+)>\s*(?P<value>(?:\S.*?)?)\s*</p>"},
                },
                "content": {},
            }),
            // A lookahead with an end.
            think(r"(?=[^\n]{0,9}</t>)", r"</t>\s*"),
            json!({"content": {"close": ["<e>", "<f>"], "repeats": true}}),
            json!({"content": {"open": "<t>", "close": "</t>"}}),
            json!({"content": {}}),
        ] {
            let mut found = broken(&fields);
            // Text that is in one list is not lost, but servers want a single text.
            found.retain(|(rule, _)| *rule != "served-fields");
            assert_eq!(found, [], "{fields}");
        }
    }

    #[test]
    fn evidence_is_what_the_parser_does() {
        for fields in [
            content(r"<e>\s*|$"),
            calls("<c>", r"\)(?:\]<e>)?"),
            calls("<c>", r"!</s>\s*"),
            calls("<c>", "</c>"),
        ] {
            let template = template(&fields);
            let findings = template.inspect(&[]).findings;
            assert!(!findings.is_empty(), "{fields}");
            for finding in findings {
                let Evidence::Readings(readings) = &finding.evidence else {
                    panic!("{finding:?}");
                };
                for reading in readings.iter() {
                    let again = match reading.mode {
                        ReadingMode::Whole => Bench::new(&template).whole(&reading.text),
                        ReadingMode::Streamed => Bench::new(&template).streamed(&reading.text),
                    };
                    assert_eq!(again.outcome, reading.outcome);
                }
                let [one, other] = &**readings;
                assert_ne!(one.outcome, other.outcome, "{finding:?}");
            }
        }
    }

    #[test]
    fn a_slow_text_costs_more_than_an_answer_may() {
        let template = template(&content(r"(?:a|aa)+b"));
        let findings = template.inspect(&[]).findings;
        let slow = findings
            .iter()
            .find(|found| found.rule == Rule::SlowPattern);
        let Some(Evidence::Steps { text, .. }) = slow.map(|found| &found.evidence) else {
            panic!("{findings:?}");
        };
        let outcome = template.parse(text, &crate::Options::default());
        assert!(
            matches!(outcome, Err(ParseError::LimitExceeded { .. })),
            "{outcome:?}"
        );
    }

    #[test]
    fn fields_that_no_answer_was_found_for_are_named() {
        // A text that looks like no call.
        let fields = json!({"tool_calls": {"open": "<c>", "close": "</c>", "content": "json",
            "transform": {"name": "{content.deep.name}"}}, "content": {}});
        assert_eq!(template(&fields).inspect(&[]).untried, ["tool_calls"]);
    }
}
