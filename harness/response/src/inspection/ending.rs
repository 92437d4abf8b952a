//! Closers that need the end token, which servers take away.

use crate::inspection::answer::{Region, end_tokens, texts};
use crate::inspection::finding::{Evidence, Finding, ReadingMode, Rule};
use crate::inspection::trial::Bench;

/// One finding for each closer that needs an end token, if the text is read otherwise without it.
pub(super) fn inspect(bench: &Bench<'_>, regions: &[Region], known: &[String]) -> Vec<Finding> {
    let tokens = end_tokens(bench, known);
    let mut findings = Vec::new();
    for region in regions {
        if bench.is_spent() {
            break;
        }
        let field = &bench.fields()[region.field];
        let Some(close) = &field.close else {
            continue;
        };
        let closing = texts(Some(close));
        let token_in = |text: &String| tokens.iter().find(|token| text.contains(token.as_str()));
        // Without the token, one of them would still close the region.
        let closes_anyway = |text: &String| {
            let answer = [&*region.open, &*region.body, text].concat();
            token_in(text).is_none()
                && bench
                    .whole(&answer)
                    .seen
                    .iter()
                    .any(|seen| seen.field == region.field && !seen.opens)
        };
        if closing.iter().any(closes_anyway) {
            continue;
        }
        let answers = closing.iter().filter_map(|text| {
            let token = token_in(text)?;
            let answer = [&*region.open, &*region.body, text].concat();
            let bare = answer[..answer.rfind(token)?].to_owned();
            let (with, without) = (bench.whole(&answer), bench.whole(&bare));
            let is_harmed = with.outcome.is_ok() && !with.agrees(&without);
            is_harmed.then_some((token, answer, bare, with, without))
        });
        let Some((token, answer, bare, with, without)) = answers
            .into_iter()
            .min_by_key(|(_, answer, ..)| answer.len())
        else {
            continue;
        };
        let (name, key) = (&field.name, close.key);
        findings.push(Finding {
            rule: Rule::CloseNeedsEndToken,
            field: Some(name.clone()),
            key: Some(key),
            message: format!(
                "`{key}` of `{name}` matches only with the end token `{token}`. Servers take the end \
                 token away before they return the text, and then the region is not closed where it \
                 should be"
            ),
            help: format!(
                "let the end of the text count as the token: write `(?={}|\\Z)` in its place",
                escaped(token)
            ),
            evidence: Evidence::Readings(Box::new([
                with.reading(&answer, ReadingMode::Whole),
                without.reading(&bare, ReadingMode::Whole),
            ])),
        });
    }
    findings
}

fn escaped(token: &str) -> String {
    let special = |character: char| r"\.^$|?*+()[]{}".contains(character);
    let characters = token.chars();
    let escaped = characters.flat_map(|one| special(one).then_some('\\').into_iter().chain([one]));
    escaped.collect()
}
