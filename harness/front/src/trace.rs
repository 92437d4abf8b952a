//! Traces: checks the spans that a program gives for a prompt, and cuts them with it.

use std::collections::HashMap;

use rolecall_core::provenance::{Origin, Span};
use rolecall_core::{Case, Template};

use crate::fields::{Field, fields};

/// What is wrong with the spans of a prompt. Places are bytes of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpanFault {
    /// A span does not begin where the one before it ends, or is empty.
    #[error("the spans do not continue each other at byte {0} of the prompt")]
    Order(usize),
    /// The spans end before the prompt, or after it.
    #[error("the spans end at byte {found}, and the prompt at byte {end}")]
    End {
        /// Where the spans end.
        found: usize,
        /// Where the prompt ends.
        end: usize,
    },
    /// A span begins or ends within a character.
    #[error("the span at byte {0} of the prompt does not consist of whole characters")]
    Character(usize),
    /// The origin has as many bytes, but other ones.
    #[error("the span at byte {at} of the prompt has another text than `{origin}`")]
    Text {
        /// Where the span begins.
        at: usize,
        /// The text of its origin.
        origin: String,
    },
}

/// Operations that write a text in another way, which may have as many bytes.
const REWRITINGS: [&str; 7] = [
    "upper",
    "lower",
    "title",
    "capitalize",
    "swapcase",
    "casefold",
    "urlquery",
];

/// Checks the spans of a prompt: they have its order, cover it wholly, and consist of whole
/// characters. If the origin of a span is known and as long as the span, it has the same bytes,
/// unless an operation wrote it in another way. A Go template can take a
/// byte out of a character: then the origin is no text and has only to be there. The case is the one that the template sees.
///
/// # Errors
///
/// Some span is wrong.
pub fn check(
    prompt: &str,
    spans: &[Span],
    template: &Template,
    case: &Case,
) -> Result<(), SpanFault> {
    let fields = fields(template, case);
    let fields: HashMap<&str, &Field> = fields
        .iter()
        .map(|field| (field.path.as_str(), field))
        .collect();
    let mut end = 0;
    for span in spans {
        let at = span.prompt.start;
        if at != end || span.prompt.is_empty() {
            return Err(SpanFault::Order(at));
        }
        end = span.prompt.end;
        if end > prompt.len() {
            break;
        }
        let text = prompt.get(span.prompt.clone());
        let text = text.ok_or(SpanFault::Character(at))?;
        let origin = match &span.origin {
            Origin::Literal { source } => Some((template.source.as_str(), source)),
            Origin::Input { input, bytes } => {
                let field = fields.get(input.path.as_str());
                let text = field.and_then(|field| {
                    if is_key(span) {
                        return Some(field.name.as_str());
                    }
                    field.text.as_deref().filter(|_| field.is_text)
                });
                text.map(|text| (text, bytes))
            }
            Origin::Made { .. } => None,
        };
        if let Some((whole, range)) = origin {
            let fault = |origin: &str| SpanFault::Text {
                at,
                origin: origin.to_owned(),
            };
            let bytes = whole.as_bytes().get(range.clone());
            let bytes = bytes.ok_or_else(|| fault(whole))?;
            let is_rewritten = span.operations.iter().any(|done| REWRITINGS.contains(done));
            if let Ok(origin) = std::str::from_utf8(bytes)
                && origin.len() == text.len()
                && origin != text
                && !is_rewritten
            {
                return Err(fault(origin));
            }
        }
    }
    if end == prompt.len() {
        Ok(())
    } else {
        Err(SpanFault::End {
            found: end,
            end: prompt.len(),
        })
    }
}

/// Whether a span is the key of its input, and not its value.
pub fn is_key(span: &Span) -> bool {
    span.operations.first() == Some(&"key")
}

/// Cuts spans at the end of a shorter prompt.
pub fn cut(spans: &mut Vec<Span>, end: usize) {
    spans.retain(|span| span.prompt.start < end);
    let Some(last) = spans.last_mut().filter(|last| last.prompt.end > end) else {
        return;
    };
    let whole = last.prompt.len();
    last.prompt.end = end;
    let kept = last.prompt.len();
    match &mut last.origin {
        Origin::Literal { source: origin } | Origin::Input { bytes: origin, .. }
            if origin.len() == whole =>
        {
            origin.end = origin.start + kept;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rolecall_core::Dialect;
    use rolecall_core::provenance::{Input, InputKind};
    use serde_json::json;

    use super::*;

    /// The prompt `é: Hi!` of the template `é: {{ messages[0].content }}!`.
    fn world() -> (Template, Case, Vec<Span>) {
        let source = "é: {{ messages[0].content }}!";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let case = Case::from_messages(vec![json!({"content": " Hi"})]);
        let input = Arc::new(Input {
            kind: InputKind::Message,
            path: "messages[0].content".to_owned(),
        });
        let end = source.len();
        let spans = vec![
            span(0..4, Origin::Literal { source: 0..4 }),
            span(4..6, Origin::Input { input, bytes: 1..3 }),
            span(
                6..7,
                Origin::Literal {
                    source: end - 1..end,
                },
            ),
        ];
        (template, case, spans)
    }

    fn span(prompt: std::ops::Range<usize>, origin: Origin) -> Span {
        Span {
            prompt,
            origin,
            operations: Arc::from([]),
        }
    }

    #[test]
    fn spans_cover_the_prompt_and_have_the_bytes_of_their_origins() {
        let (template, case, spans) = world();
        let checked = |spans: &[Span]| check("é: Hi!", spans, &template, &case);
        assert_eq!(checked(&spans), Ok(()));
        assert_eq!(
            checked(&spans[..2]),
            Err(SpanFault::End { found: 6, end: 7 })
        );
        assert_eq!(checked(&spans[1..]), Err(SpanFault::Order(4)));
        let mut longer = spans.clone();
        longer[2].prompt.end = 8;
        assert_eq!(checked(&longer), Err(SpanFault::End { found: 8, end: 7 }));
        let mut capitals = spans.clone();
        capitals[1].operations = Arc::from(["trim", "upper"]);
        assert_eq!(check("é: HI!", &capitals, &template, &case), Ok(()));
        assert!(check("é: HI!", &spans, &template, &case).is_err());
        let mut split = spans.clone();
        split[0].prompt.end = 1;
        assert_eq!(checked(&split), Err(SpanFault::Character(0)));
        for (origin, text) in [
            (Origin::Literal { source: 3..5 }, " {"),
            (
                Origin::Input {
                    input: match &spans[1].origin {
                        Origin::Input { input, .. } => Arc::clone(input),
                        _ => unreachable!(),
                    },
                    bytes: 0..2,
                },
                " H",
            ),
        ] {
            let mut other = spans.clone();
            other[1].origin = origin;
            let origin = text.to_owned();
            assert_eq!(checked(&other), Err(SpanFault::Text { at: 4, origin }));
        }
    }

    #[test]
    fn a_key_is_the_name_of_its_field() {
        let (template, case, mut spans) = world();
        spans.remove(0);
        spans.remove(1);
        spans[0].prompt = 0..2;
        let checked = |spans: &[Span]| check("on", spans, &template, &case);
        assert!(matches!(checked(&spans), Err(SpanFault::Text { .. })));
        spans[0].operations = Arc::from(["key"]);
        assert_eq!(checked(&spans), Ok(()));
    }

    #[test]
    fn a_shorter_prompt_has_shorter_spans() {
        let (template, case, spans) = world();
        for (end, count) in [(0, 0), (2, 1), (5, 2), (6, 2), (7, 3), (9, 3)] {
            let mut spans = spans.clone();
            cut(&mut spans, end);
            assert_eq!(spans.len(), count, "{end}");
            let prompt = &"é: Hi!"[..end.min(7)];
            assert_eq!(check(prompt, &spans, &template, &case), Ok(()));
        }
    }
}
