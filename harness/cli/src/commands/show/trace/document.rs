//! Traces as JSON: a prompt with the origin of each of its bytes, and what the decisions looked at.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use rolecall_core::Site;
use rolecall_core::decision::{Decision, Decisions, Look, Operand, OperandValue};
use rolecall_core::provenance::{Input, Origin, Span};
use rolecall_io::template_file::place;

use crate::report::json;
use crate::report::json::{BytesJson, VERSION, document};
use crate::report::trace::Trace;

document! {
    /// A prompt and where its bytes come from, as JSON.
    pub struct TraceDocument<'t> from (trace: &'t Trace<'_>) {
        /// The version of this format.
        rolecall: u32 = VERSION,
        /// The template's name.
        template: &'t str = trace.template.name.as_str(),
        /// The template's file, as it was given.
        file: String = place(trace.template, None),
        /// The case: `family/name`.
        case: String = trace.case.id.to_string(),
        /// The prompt.
        prompt: &'t str = trace.prompt,
        /// The stretches of the prompt, each with one origin. They have its order and cover it wholly.
        spans: Vec<SpanJson<'t>> =
            trace.spans.iter().map(|span| SpanJson::of(trace, span)).collect(),
        /// What each evaluation of a condition looked at, in the order of the render. Left out if nobody
        /// asked for it.
        decisions?: Option<Vec<DecisionJson<'t>>> = trace.decisions.map(|of| decisions(trace, of)),
        /// What the render compared outside of all conditions. Left out if nobody asked for it.
        comparisons?: Option<Vec<LookJson<'t>>> = trace.decisions.map(|of| comparisons(trace, of)),
    }

    /// One evaluation of a condition, or of an operand of `and` or `or`.
    struct DecisionJson<'t> from (
        trace: &Trace<'t>, site: &Site, decision: &Decision, looks: &'t [Look],
    ) {
        /// Where the condition is in the template.
        condition: LiteralJson = LiteralJson::of(trace, &site.span),
        /// Its text.
        text: &'t str = trace.template.source.get(site.span.clone()).unwrap_or_default(),
        /// What it came to.
        truth: bool = decision.truth,
        /// What it looked at, with what the operands within it looked at.
        looks: Vec<LookJson<'t>> = looks.iter().map(|look| LookJson::of(trace, look)).collect(),
    }

    /// One operation that read something that the template was given.
    struct LookJson<'t> from (trace: &Trace<'t>, look: &'t Look) with {
        let operands = look.operands.iter();
    } {
        /// The operation, by the template's own word for it, such as `==`, `in` or `startswith`; or
        /// `truth` if a value is alone.
        operation: &'static str = look.operation,
        /// What it read, in order.
        operands: Vec<OperandJson<'t>> = operands.map(|one| OperandJson::of(trace, one)).collect(),
        /// What it gave, if that is a truth or a number.
        result?: Option<&'t str> = look.result.as_deref(),
    }

    /// A value that an operation read. It has one of the keys `text`, `plain` and `items`.
    struct OperandJson<'t> from (trace: &Trace<'t>, operand: &'t Operand) with {
        let (mut text, mut plain, mut items) = (None, None, None);
        match &operand.value {
            OperandValue::Text(value) => text = Some(&**value),
            OperandValue::Plain(value) => plain = Some(&**value),
            OperandValue::Items(all) => items = Some(all),
        }
        let of = |item| OperandJson::of(trace, item);
        let origins = operand.origins.iter();
    } {
        /// A text. A long one is cut.
        text?: Option<&'t str> = text,
        /// A value that is no text, as the template would print it.
        plain?: Option<&'t str> = plain,
        /// The items of a list, or the keys of a map, that the template made itself.
        items?: Option<Vec<OperandJson<'t>>> = items.map(|items| items.iter().map(of).collect()),
        /// Where it comes from, as far as that is known.
        origins: Vec<OriginJson<'t>> = origins.map(|one| OriginJson::of(trace, one)).collect(),
    }

    /// An origin. It has one of the keys `template`, `input` and `made`.
    struct OriginJson<'t> from (trace: &Trace<'_>, origin: &'t Origin) with {
        let (mut template, mut input, mut made) = (None, None, None);
        match origin {
            Origin::Literal { source } => template = Some(LiteralJson::of(trace, source)),
            Origin::Input { input: of, bytes } => input = Some(PieceJson::of(of, bytes)),
            Origin::Made { from } => made = Some(MadeJson::of(from)),
        }
    } {
        /// A text of the template.
        template?: Option<LiteralJson> = template,
        /// A piece of an input.
        input?: Option<PieceJson<'t>> = input,
        /// What an operation made from inputs.
        made?: Option<MadeJson<'t>> = made,
    }

    /// A stretch of a prompt. It has one of the keys `template`, `input` and `made`.
    pub struct SpanJson<'t> from (trace: &Trace<'t>, span: &'t Span) {
        /// Where it is in the prompt.
        prompt: BytesJson = BytesJson::of(&span.prompt),
        /// Its text.
        text: &'t str = trace.prompt.get(span.prompt.clone()).unwrap_or_default(),
        /// Where it comes from.
        #[serde(flatten)]
        origin: OriginJson<'t> = OriginJson::of(trace, &span.origin),
        /// What was done on the way, in order, by the template's own words for it, such as `trim`.
        operations: &'t [&'static str] = &span.operations,
    }

    /// A text of the template.
    struct LiteralJson from (trace: &Trace<'_>, source: &Range<usize>) with {
        let position = trace.lines.position(&trace.template.source, source.start);
    } {
        /// Its line in the template, from 1.
        line: usize = position.line,
        /// Its column, from 1, in characters.
        column: usize = position.column,
        /// The first byte in the template's source, from 0.
        start: usize = source.start,
        /// The byte after its end. The text has its quotation marks if it contains escapes.
        end: usize = source.end,
    }

    /// Something that the template was given.
    struct InputJson<'t> from (input: &'t Input) {
        /// The kind of thing that it is a part of: `message`, `tool`, `document`, `variable`, `token` or
        /// `clock`.
        kind: &'static str = input.kind.name(),
        /// How it is reached, such as `messages[2].content`.
        path: &'t str = &input.path,
    }

    /// A piece of something that the template was given.
    struct PieceJson<'t> from (input: &'t Input, bytes: &Range<usize>) {
        /// What it is a piece of.
        #[serde(flatten)]
        input: InputJson<'t> = InputJson::of(input),
        /// The first byte of the piece, from 0.
        start: usize = bytes.start,
        /// The byte after its end. An escaped piece is shorter here than in the prompt.
        end: usize = bytes.end,
    }

    /// What an operation made a text from.
    struct MadeJson<'t> from (inputs: &'t [Arc<Input>]) {
        /// The inputs, as far as they are known, each once.
        from: Vec<InputJson<'t>> = inputs.iter().map(|input| InputJson::of(input)).collect(),
    }
}

fn decisions<'t>(trace: &Trace<'t>, decisions: &'t Decisions) -> Vec<DecisionJson<'t>> {
    let decided = decisions.decisions.iter().filter_map(|decision| {
        let site = trace.sites.get(decision.site)?;
        let looks = decisions.looks.get(decision.looks.clone())?;
        Some(DecisionJson::of(trace, site, decision, looks))
    });
    decided.collect()
}

/// What a trace compared outside of all conditions.
fn comparisons<'t>(trace: &Trace<'t>, decisions: &'t Decisions) -> Vec<LookJson<'t>> {
    let alone = decisions.outside();
    alone.map(|look| LookJson::of(trace, look)).collect()
}

pub fn write(out: &mut dyn Write, trace: &Trace<'_>) -> io::Result<()> {
    json::write(out, &TraceDocument::of(trace))
}
