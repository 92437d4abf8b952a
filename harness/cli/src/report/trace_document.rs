//! Traces as JSON: a prompt with the origin of each of its bytes, and what the decisions looked at.

use std::io::{self, Write};
use std::ops::Range;

use rolecall_core::decision::{Decisions, Look, Operand, OperandValue};
use rolecall_core::provenance::{Input, Origin, Span};
use rolecall_io::template_file::place;
use serde::Serialize;

use super::json::{self, VERSION};
use super::trace::Trace;

/// A prompt and where its bytes come from, as JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceDocument<'t> {
    /// The version of this format.
    rolecall: u32,
    /// The template's name.
    template: &'t str,
    /// The template's file, as it was given.
    file: String,
    /// The case: `family/name`.
    case: String,
    /// The prompt.
    prompt: &'t str,
    /// The stretches of the prompt, each with one origin. They have its order and cover it wholly.
    spans: Vec<SpanJson<'t>>,
    /// What each evaluation of a condition looked at, in the order of the render. Left out if nobody
    /// asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Vec<DecisionJson<'t>>>,
    /// What the render compared outside of all conditions. Left out if nobody asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparisons: Option<Vec<LookJson<'t>>>,
}

/// One evaluation of a condition, or of an operand of `and` or `or`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DecisionJson<'t> {
    /// Where the condition is in the template.
    condition: LiteralJson,
    /// Its text.
    text: &'t str,
    /// What it came to.
    truth: bool,
    /// What it looked at, with what the operands within it looked at.
    looks: Vec<LookJson<'t>>,
}

/// One operation that read something that the template was given.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LookJson<'t> {
    /// The operation, by the template's own word for it, such as `==`, `in` or `startswith`; or
    /// `truth` if a value is alone.
    operation: &'static str,
    /// What it read, in order.
    operands: Vec<OperandJson<'t>>,
    /// What it gave, if that is a truth or a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'t str>,
}

/// A value that an operation read. It has one of the keys `text`, `plain` and `items`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OperandJson<'t> {
    /// A text. A long one is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'t str>,
    /// A value that is no text, as the template would print it.
    #[serde(skip_serializing_if = "Option::is_none")]
    plain: Option<&'t str>,
    /// The items of a list, or the keys of a map, that the template made itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<OperandJson<'t>>>,
    /// Where it comes from, as far as that is known.
    origins: Vec<OriginJson<'t>>,
}

/// An origin. It has one of the keys `template`, `input` and `made`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OriginJson<'t> {
    /// A text of the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<LiteralJson>,
    /// A piece of an input.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<PieceJson<'t>>,
    /// What an operation made from inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<MadeJson<'t>>,
}

/// A stretch of a prompt. It has one of the keys `template`, `input` and `made`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanJson<'t> {
    /// Where it is in the prompt.
    prompt: BytesJson,
    /// Its text.
    text: &'t str,
    /// Where it comes from.
    #[serde(flatten)]
    origin: OriginJson<'t>,
    /// What was done on the way, in order, by the template's own words for it, such as `trim`.
    operations: &'t [&'static str],
}

/// Bytes of a text.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BytesJson {
    /// The first byte, from 0.
    start: usize,
    /// The byte after the last.
    end: usize,
}

/// A text of the template.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LiteralJson {
    /// Its line in the template, from 1.
    line: usize,
    /// Its column, from 1, in characters.
    column: usize,
    /// The first byte in the template's source, from 0.
    start: usize,
    /// The byte after its end. The text has its quotation marks if it contains escapes.
    end: usize,
}

/// Something that the template was given.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct InputJson<'t> {
    /// The kind of thing that it is a part of: `message`, `tool`, `document`, `variable`, `token` or
    /// `clock`.
    kind: &'static str,
    /// How it is reached, such as `messages[2].content`.
    path: &'t str,
}

/// A piece of something that the template was given.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PieceJson<'t> {
    /// What it is a piece of.
    #[serde(flatten)]
    input: InputJson<'t>,
    /// The first byte of the piece, from 0.
    start: usize,
    /// The byte after its end. An escaped piece is shorter here than in the prompt.
    end: usize,
}

/// What an operation made a text from.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MadeJson<'t> {
    /// The inputs, as far as they are known, each once.
    from: Vec<InputJson<'t>>,
}

impl<'t> InputJson<'t> {
    fn of(input: &'t Input) -> InputJson<'t> {
        InputJson {
            kind: input.kind.name(),
            path: &input.path,
        }
    }
}

impl LiteralJson {
    fn of(trace: &Trace<'_>, source: &Range<usize>) -> LiteralJson {
        let position = trace.lines.position(&trace.template.source, source.start);
        LiteralJson {
            line: position.line,
            column: position.column,
            start: source.start,
            end: source.end,
        }
    }
}

impl<'t> OriginJson<'t> {
    fn of(trace: &Trace<'_>, origin: &'t Origin) -> OriginJson<'t> {
        let mut json = OriginJson {
            template: None,
            input: None,
            made: None,
        };
        match origin {
            Origin::Literal { source } => json.template = Some(LiteralJson::of(trace, source)),
            Origin::Input { input, bytes } => {
                json.input = Some(PieceJson {
                    input: InputJson::of(input),
                    start: bytes.start,
                    end: bytes.end,
                });
            }
            Origin::Made { from } => {
                let from = from.iter().map(|input| InputJson::of(input));
                json.made = Some(MadeJson {
                    from: from.collect(),
                });
            }
        }
        json
    }
}

impl<'t> SpanJson<'t> {
    fn of(trace: &Trace<'t>, span: &'t Span) -> SpanJson<'t> {
        SpanJson {
            prompt: BytesJson {
                start: span.prompt.start,
                end: span.prompt.end,
            },
            text: trace.prompt.get(span.prompt.clone()).unwrap_or_default(),
            origin: OriginJson::of(trace, &span.origin),
            operations: &span.operations,
        }
    }
}

impl<'t> OperandJson<'t> {
    fn of(trace: &Trace<'t>, operand: &'t Operand) -> OperandJson<'t> {
        let origins = operand.origins.iter();
        let mut json = OperandJson {
            text: None,
            plain: None,
            items: None,
            origins: origins
                .map(|origin| OriginJson::of(trace, origin))
                .collect(),
        };
        match &operand.value {
            OperandValue::Text(text) => json.text = Some(text),
            OperandValue::Plain(text) => json.plain = Some(text),
            OperandValue::Items(items) => {
                let items = items.iter().map(|item| OperandJson::of(trace, item));
                json.items = Some(items.collect());
            }
        }
        json
    }
}

impl<'t> LookJson<'t> {
    fn of(trace: &Trace<'t>, look: &'t Look) -> LookJson<'t> {
        let operands = look.operands.iter();
        LookJson {
            operation: look.operation,
            operands: operands.map(|one| OperandJson::of(trace, one)).collect(),
            result: look.result.as_deref(),
        }
    }
}

fn decisions<'t>(trace: &Trace<'t>, decisions: &'t Decisions) -> Vec<DecisionJson<'t>> {
    let decided = decisions.decisions.iter().filter_map(|decision| {
        let site = trace.sites.get(decision.site)?;
        let looks = decisions.looks.get(decision.looks.clone())?;
        Some(DecisionJson {
            condition: LiteralJson::of(trace, &site.span),
            text: trace.template.source.get(site.span.clone())?,
            truth: decision.truth,
            looks: looks.iter().map(|look| LookJson::of(trace, look)).collect(),
        })
    });
    decided.collect()
}

/// What a trace compared outside of all conditions.
fn comparisons<'t>(trace: &Trace<'t>, decisions: &'t Decisions) -> Vec<LookJson<'t>> {
    let alone = decisions.outside();
    alone.map(|look| LookJson::of(trace, look)).collect()
}

pub fn write(out: &mut dyn Write, trace: &Trace<'_>) -> io::Result<()> {
    let document = TraceDocument {
        rolecall: VERSION,
        template: trace.template.name.as_str(),
        file: place(trace.template, None),
        case: trace.case.id.to_string(),
        prompt: trace.prompt,
        spans: trace
            .spans
            .iter()
            .map(|span| SpanJson::of(trace, span))
            .collect(),
        decisions: trace.decisions.map(|of| decisions(trace, of)),
        comparisons: trace.decisions.map(|of| comparisons(trace, of)),
    };
    json::write(out, &document)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::trace::tests::World;
    use super::*;

    #[test]
    fn json_names_the_one_origin_of_each_span() {
        let world = World::new();
        let mut out = Vec::new();
        write(&mut out, &world.trace()).unwrap();
        let found: Value = serde_json::from_slice(&out).unwrap();
        let spans = found["spans"].as_array().unwrap();
        let text: String = spans
            .iter()
            .map(|span| span["text"].as_str().unwrap())
            .collect();
        assert_eq!(Value::from(text), found["prompt"]);
        let span = |at: usize, key: &str| (&spans[at][key], &spans[at]["operations"]);
        assert_eq!(
            span(2, "template"),
            (
                &json!({"line": 1, "column": 29, "start": 28, "end": 32}),
                &json!([])
            )
        );
        assert_eq!(
            span(3, "input"),
            (
                &json!({"kind": "message", "path": "messages[0].content", "start": 1, "end": 21}),
                &json!(["trim"])
            )
        );
        assert_eq!(
            span(5, "made"),
            (
                &json!({"from": [{"kind": "tool", "path": "tools"}]}),
                &json!(["tojson"])
            )
        );
        let keys = ["template", "input", "made"];
        for span in spans {
            let origins = keys.iter().filter(|key| span.get(**key).is_some());
            assert_eq!(origins.count(), 1, "{span}");
        }
    }
}
