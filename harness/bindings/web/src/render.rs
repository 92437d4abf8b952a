//! Prompts, with the origin of each byte, the mask and the coverage.

use std::cell::RefCell;

use rolecall_cli::commands::mask::report::MaskDocument;
use rolecall_cli::commands::show::trace::document::TraceDocument;
use rolecall_cli::report::coverage::CoverageDocument;
use rolecall_cli::report::trace::Trace;
use rolecall_core::lines::Lines;
use rolecall_core::{Case, Dialect, Limits, Moment, Outcome, Template};
use rolecall_explore::coverage::TemplateCoverage;
use rolecall_explore::masks::TemplateMasks;
use rolecall_front::embed::{self, Answer, AnswerKind, CompiledTemplate};
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_suite::suite::Pair;
use serde::Serialize;
use serde_json::{Value, json};

use crate::request::{Details, TemplateText, written};

/// A template that was compiled, with the texts that it was made of.
type Compiled = ([String; 2], CompiledTemplate);

thread_local! {
    /// The last template: most renders in a row have the same one.
    static LAST: RefCell<Option<Compiled>> = const { RefCell::new(None) };
}

/// A prompt, or why there is none.
#[derive(Serialize)]
struct Rendered<'r> {
    kind: &'static str,
    text: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// As `rolecall trace --format json` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<TraceDocument<'r>>,
    /// As `rolecall mask --format json` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mask: Option<MaskDocument<'r>>,
    /// As `rolecall cover --format json` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<CoverageDocument<'r>>,
}

pub(crate) fn answer(
    text: &TemplateText,
    conversation: &str,
    now: &str,
    details: Option<&Details>,
) -> Result<Vec<u8>, String> {
    let now: Moment = now.parse().map_err(|error| format!("`now`: {error}"))?;
    let read = |dialect| embed::read_conversation(conversation, dialect, || now);
    if let Some(details) = details {
        let (template, limits) = text.read()?;
        let (case, front) = read(template.dialect)?;
        return detailed(template, &limits, &case, front, details);
    }
    with_compiled(text, |compiled| {
        let template = compiled.template();
        let (case, front) = read(template.dialect)?;
        let front = front.unwrap_or_else(|| Front::of(template));
        let outcome = compiled.outcome(&case, front);
        let answer = placed(outcome, || compiled.column_of_refusal());
        written(&plain(&answer))
    })
}

/// Renders a conversation as each application does. Says of each whether it gives a prompt, a refusal or an
/// error, and whether the template's own application gives the same.
pub(crate) fn served(text: &TemplateText, conversation: &str, now: &str) -> Result<Value, String> {
    let now: Moment = now.parse().map_err(|error| format!("`now`: {error}"))?;
    with_compiled(text, |compiled| {
        let template = compiled.template();
        let (case, _) = embed::read_conversation(conversation, template.dialect, || now)?;
        let own = compiled.outcome(&case, Front::of(template));
        let known = Front::for_dialect(template.dialect).filter(|front| *front != Front::Unknown);
        let fronts = known.map(|front| {
            let outcome = compiled.outcome(&case, front);
            json!({ "front": front.name(), "is_same": outcome == own, "kind": Answer::from(outcome).kind.name() })
        });
        Ok(fronts.collect())
    })
}

/// Does something with a template that is compiled, perhaps since the last time.
fn with_compiled<T>(
    text: &TemplateText,
    run: impl FnOnce(&CompiledTemplate) -> Result<T, String>,
) -> Result<T, String> {
    LAST.with_borrow_mut(|last| {
        let key = [&text.source, &text.options];
        if last
            .as_ref()
            .is_none_or(|(known, _)| known.each_ref() != key)
        {
            let (template, limits) = text.read()?;
            let compiled = CompiledTemplate::new(template, &limits);
            *last = Some((key.map(Clone::clone), compiled));
        }
        let Some((_, compiled)) = last else {
            return Err("no template was compiled".to_owned());
        };
        run(compiled)
    })
}

/// The answer of an outcome, with the column of a mistake in the template.
fn placed(outcome: Outcome, column: impl FnOnce() -> Option<usize>) -> Answer {
    let mut answer = Answer::from(outcome);
    if answer.kind == AnswerKind::Syntax {
        answer.column = column();
    }
    answer
}

fn plain(answer: &Answer) -> Rendered<'_> {
    Rendered {
        kind: answer.kind.name(),
        text: &answer.text,
        line: answer.line,
        column: answer.column,
        trace: None,
        mask: None,
        coverage: None,
    }
}

fn detailed(
    mut template: Template,
    limits: &Limits,
    case: &Case,
    front: Option<Front>,
    wanted: &Details,
) -> Result<Vec<u8>, String> {
    let front = front.unwrap_or_else(|| Front::of(&template));
    template.front = Some(front.name().to_owned());
    let template = &template;
    let engines = Engines::with_limits(limits);
    let engine = engines.for_dialect(template.dialect);
    let program = FrontProgram::load(engine, template);
    let model = program.model.with(case, front);
    let input = PreparedCase::new(case, front, &model);
    let (outcome, spans) = program.traced(&input);
    let column = || rolecall_core::guard::column_of_refusal(engine, template);
    let answer = placed(outcome, column);
    let chosen = front.choose(template, case).unwrap_or(template);
    let lines = Lines::of(&chosen.source);
    let trace = spans.as_deref().map(|spans| Trace {
        template: chosen,
        lines: &lines,
        case: input.seen(),
        prompt: &answer.text,
        spans,
        decisions: None,
        sites: &[],
    });
    let pair = [Pair { template, case }];
    // Models are trained with Jinja templates, and only these have masks.
    let is_masked = wanted.mask && template.dialect == Dialect::Jinja && trace.is_some();
    let masks = is_masked.then(|| TemplateMasks::find(engine, None, template, pair).ok());
    let masks = masks.flatten();
    let coverage = || TemplateCoverage::measure(engine, template, pair, |_, _| {}).ok();
    let coverage = wanted.coverage.then(coverage).flatten();
    let coverage = coverage.as_slice();
    let trace = trace.filter(|_| wanted.trace);
    written(&Rendered {
        trace: trace.as_ref().map(TraceDocument::of),
        mask: masks.as_ref().map(|masks| MaskDocument::of(masks, None)),
        coverage: (!coverage.is_empty()).then(|| CoverageDocument::of(coverage)),
        ..plain(&answer)
    })
}
