//! White space after delimiters, which becomes a region of its own and replaces an earlier one.

use crate::inspection::answer::{Region, value_in};
use crate::inspection::finding::{Evidence, Finding, ReadingMode, Rule};
use crate::inspection::trial::Bench;

/// One finding for each closer after which white space replaces the text of the implicit field.
pub(super) fn inspect(bench: &Bench<'_>, regions: &[Region]) -> Vec<Finding> {
    let Some(implicit) = bench.template.parts.implicit else {
        return Vec::new();
    };
    let field = &bench.fields()[implicit];
    // Its regions are put together, so white space adds nothing or little.
    if field.repeats {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for region in regions {
        if bench.is_spent() {
            break;
        }
        let of = &bench.fields()[region.field];
        let Some(close) = &of.close else {
            continue;
        };
        // Reasoning comes before the text. Calls come after it, and several of them on lines of
        // their own.
        if region.field != implicit && of.is_plain() && !of.repeats {
            continue;
        }
        let text = region.text();
        let answers = if region.field == implicit {
            [(text.clone(), format!("{text}\n"))].to_vec()
        } else {
            let (once, twice) = (format!("Hi{text}"), format!("Hi{text}{text}"));
            [
                (once.clone(), format!("{once}\n")),
                (twice, format!("{once}\n{text}")),
            ]
            .to_vec()
        };
        let harmed = answers.into_iter().find_map(|(plain, spaced)| {
            let (one, other) = (bench.whole(&plain), bench.whole(&spaced));
            let (Ok(expected), Ok(read)) = (&one.outcome, &other.outcome) else {
                return None;
            };
            let closed = one.seen.iter().filter(|seen| seen.field == region.field);
            if closed.count() == 0 {
                return None;
            }
            let meant = value_in(expected, field)?;
            (value_in(read, field) != Some(meant)).then_some((plain, spaced, one, other))
        });
        let Some((plain, spaced, one, other)) = harmed else {
            continue;
        };
        let (name, key, owner) = (&field.name, close.key, &of.name);
        findings.push(Finding {
            rule: Rule::ImplicitWhiteSpace,
            field: Some(owner.clone()),
            key: Some(key),
            message: format!(
                "after `{key}` of `{owner}`, a line break is text of `{name}`, which has no \
                 opener. \
                 It becomes a new region of `{name}` and replaces the text that was read before"
            ),
            help: "let the delimiter take the white space: `close_pattern` with `\\s*` at its end"
                .to_owned(),
            evidence: Evidence::Readings(Box::new([
                one.reading(&plain, ReadingMode::Whole),
                other.reading(&spaced, ReadingMode::Whole),
            ])),
        });
    }
    findings
}
