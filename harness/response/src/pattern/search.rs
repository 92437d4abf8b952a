//! Searches a text for a pattern, as `regex` does it: first for a match anywhere, and only then for
//! a partial one.

use crate::failure::{ParseError, PatternError};
use crate::pattern::budget::Budget;
use crate::pattern::find::{cut_short, find, run_length};
use crate::pattern::matcher::{Attempt, Matcher, Span};
use crate::pattern::program::{Program, Required, StartTest, Step, compile};
use crate::pattern::tree::{Assertion, One, Tree};
use crate::pattern::{simplify, syntax};

#[derive(Debug)]
pub(crate) struct Pattern {
    tree: Tree,
    program: Program,
    names: Vec<(String, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) start: usize,
    pub(crate) end: usize,
    captures: Vec<Option<Span>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Match(Match),
    /// More text may make a match that starts here.
    Partial(usize),
    Nothing,
}

/// What earlier searches of a text have shown that has only grown since, and that was searched from
/// places that only went forward.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// Nothing before this place begins a match, whatever text may come.
    dead: usize,
    /// No needed text begins before this place.
    clear: usize,
    /// A greedy run at the start of the pattern: where it began, and how far it went.
    run: Option<Span>,
    /// The last search: the length of the text, whether it was for partial matches, and the result.
    last: Option<(usize, bool, Found)>,
}

impl Match {
    /// What a group captured, by its number from 1.
    pub(crate) fn group(&self, number: usize) -> Option<Span> {
        self.captures.get(number - 1).copied().flatten()
    }
}

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Result<Pattern, PatternError> {
        let parsed = syntax::read(pattern)?;
        let tree = simplify::simplify(parsed.tree);
        Ok(Pattern {
            program: compile(&tree, parsed.groups)?,
            tree,
            names: parsed.names,
        })
    }

    /// The pattern that matches texts as they are. The longest is tried first.
    pub(crate) fn literal(texts: &[&str]) -> Result<Pattern, PatternError> {
        let mut ordered = texts.to_vec();
        ordered.sort_by_key(|text| std::cmp::Reverse(text.chars().count()));
        let escaped: Vec<String> = ordered.into_iter().map(escape).collect();
        Pattern::new(&escaped.join("|"))
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Whether it begins with any character. At the end of a text, a partial search of `regex` then
    /// reads memory that it has not written, and may find anything.
    pub(crate) fn begins_with_any(&self) -> bool {
        matches!(
            self.program.steps[self.program.start],
            Step::One { one: One::Any, .. }
        )
    }

    /// Whether it refers to what a group captured.
    pub(crate) fn has_reference(&self) -> bool {
        self.program.referenced.contains(&true)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// The named groups with their part of a text, if they took part in a match.
    pub(crate) fn named<'a>(&'a self, found: &Match) -> Vec<(&'a str, Option<Span>)> {
        let spans = self.names.iter();
        spans
            .map(|(name, number)| (name.as_str(), found.captures[number - 1]))
            .collect()
    }

    /// The first match from a place on, or the first partial one. `progress` belongs to the text.
    pub(crate) fn search(
        &self,
        text: &[u32],
        from: usize,
        partial: bool,
        progress: &mut Progress,
        budget: &mut Budget,
    ) -> Result<Found, ParseError> {
        if let Some((length, was_partial, found)) = &progress.last
            && *length == text.len()
            && *was_partial == partial
            && match found {
                Found::Match(found) => from <= found.start,
                Found::Partial(start) => from <= *start,
                Found::Nothing => true,
            }
        {
            return Ok(found.clone());
        }
        let mut scan = Scan {
            pattern: self,
            text,
            required: None,
            absent: None,
            lacks_needed: false,
        };
        let could_be_in = self.could_be_in(text, from, progress);
        let mut found = if could_be_in {
            scan.run(from, false, None, progress, budget)?
        } else {
            Found::Nothing
        };
        if found == Found::Nothing && partial {
            scan.lacks_needed = !could_be_in;
            found = scan.run(from, true, None, progress, budget)?;
        }
        progress.last = Some((text.len(), partial, found.clone()));
        Ok(found)
    }

    /// The match that begins at a place.
    pub(crate) fn at(
        &self,
        text: &[u32],
        start: usize,
        budget: &mut Budget,
    ) -> Result<Option<Match>, ParseError> {
        let attempt = Matcher::new(&self.program, text, false, None).attempt(start, budget)?;
        Ok(match attempt {
            Attempt::Match { end, captures } => Some(Match {
                start,
                end,
                captures,
            }),
            Attempt::Partial | Attempt::Fail => None,
        })
    }

    /// All matches that do not overlap.
    pub(crate) fn all(&self, text: &[u32], budget: &mut Budget) -> Result<Vec<Match>, ParseError> {
        let mut matches: Vec<Match> = Vec::new();
        let mut scan = Scan {
            pattern: self,
            text,
            required: None,
            absent: None,
            lacks_needed: false,
        };
        let mut progress = Progress::default();
        let mut from = 0;
        let mut forbidden_end = None;
        while self.could_be_in(text, from, &mut progress) {
            // What is known of earlier places does not hold where a match may not end.
            let mut fresh = Progress::default();
            let Found::Match(found) = scan.run(from, false, forbidden_end, &mut fresh, budget)?
            else {
                break;
            };
            from = found.end;
            // No two matches without characters are at the same place.
            forbidden_end = (found.start == found.end).then_some(found.end);
            matches.push(found);
        }
        Ok(matches)
    }

    /// Whether a needed text is after a place.
    fn could_be_in(&self, text: &[u32], from: usize, progress: &mut Progress) -> bool {
        let needed = &self.program.needed;
        let Some(longest) = needed.iter().map(Vec::len).max() else {
            return true;
        };
        let clear = progress.clear.max(from);
        let rest = text.get(clear..).unwrap_or_default();
        let first = needed.iter().filter_map(|wanted| find(wanted, rest)).min();
        progress.clear = match first {
            Some(at) => clear + at,
            None => clear.max((text.len() + 1).saturating_sub(longest)),
        };
        first.is_some()
    }
}

/// A pattern for a text as it is.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// A search, or several searches of the same text.
struct Scan<'p, 't> {
    pattern: &'p Pattern,
    text: &'t [u32],
    /// Where the required text was found last.
    required: Option<usize>,
    /// From where on the required text is known to be absent.
    absent: Option<usize>,
    /// Whether no needed text is after the start.
    lacks_needed: bool,
}

impl Scan<'_, '_> {
    /// Tries to match at one place after the other.
    fn run(
        &mut self,
        from: usize,
        partial: bool,
        forbidden_end: Option<usize>,
        progress: &mut Progress,
        budget: &mut Budget,
    ) -> Result<Found, ParseError> {
        let program = &self.pattern.program;
        let text = self.text;
        let mut matcher = Matcher::new(program, text, partial, forbidden_end);
        matcher.lacks_needed = self.lacks_needed;
        if self.is_anchored() {
            return self.run_at_start(from, partial, &mut matcher, budget);
        }
        let nothing_more = |start| {
            if partial {
                Found::Partial(start)
            } else {
                Found::Nothing
            }
        };
        let mut is_unreachable = true;
        let dead = progress.dead;
        let mut at = if program.looks_twice {
            from
        } else {
            from.max(dead)
        };
        if !partial && from + program.narrowest > text.len() {
            return Ok(Found::Nothing);
        }
        loop {
            let Some(reachable) = self.after_required(at, text.len(), partial, budget)? else {
                return Ok(Found::Nothing);
            };
            // A later search may not jump over these places.
            is_unreachable &= reachable == at;
            at = match self.after_start_test(reachable, &mut matcher, budget)? {
                Start::At(at) => at,
                Start::CutShort(at) => return Ok(nothing_more(at)),
                Start::Nowhere => return Ok(Found::Nothing),
            };
            if is_unreachable {
                progress.dead = progress.dead.max(at.min(text.len()));
            }
            if at > text.len() {
                return Ok(nothing_more(text.len()));
            }
            if !partial && program.start_test.is_some() && at + program.narrowest > text.len() {
                return Ok(Found::Nothing);
            }
            if at < dead {
                at += 1;
                continue;
            }
            if partial && self.runs_to_end(at, progress, budget)? {
                return Ok(Found::Partial(at));
            }
            match matcher.attempt(at, budget)? {
                Attempt::Match { end, captures } => {
                    return Ok(Found::Match(Match {
                        start: at,
                        end,
                        captures,
                    }));
                }
                Attempt::Partial => return Ok(Found::Partial(at)),
                Attempt::Fail => {}
            }
            is_unreachable &= !matcher.saw_end;
            if at >= text.len() {
                return Ok(Found::Nothing);
            }
            if program.skips_run
                && let Step::Run { one, most, .. } = &program.steps[program.start]
            {
                // It would end at the same place if it started later.
                let length = run_length(one, &text[at..], *most);
                budget.spend_on_scan(length)?;
                if length < *most {
                    if at + length >= text.len() {
                        // `regex` then takes this for a partial match.
                        is_unreachable = false;
                        if partial {
                            return Ok(Found::Partial(at));
                        }
                    }
                    at += length;
                }
            }
            at += 1;
            if is_unreachable {
                progress.dead = progress.dead.max(at.min(text.len()));
            }
        }
    }

    /// Whether the pattern begins with a greedy run that takes all of the text from a place on. White
    /// space that has to wait is not counted again when there is more of it.
    fn runs_to_end(
        &self,
        at: usize,
        progress: &mut Progress,
        budget: &mut Budget,
    ) -> Result<bool, ParseError> {
        let program = &self.pattern.program;
        let Step::Run {
            lazy: false,
            one,
            most: usize::MAX,
            ..
        } = &program.steps[program.start]
        else {
            return Ok(false);
        };
        let known = match progress.run {
            Some((start, end)) if start == at => end,
            _ => at,
        };
        let length = run_length(one, &self.text[known..], usize::MAX);
        budget.spend_on_scan(length)?;
        progress.run = Some((at, known + length));
        Ok(known + length == self.text.len())
    }

    /// Whether a match can only be at the start of the text.
    fn is_anchored(&self) -> bool {
        let program = &self.pattern.program;
        program.start_test.is_some_and(|test| match test {
            StartTest::First => false,
            StartTest::Step(at) => {
                matches!(
                    program.steps[at],
                    Step::Assertion {
                        assertion: Assertion::StartOfText,
                        ..
                    }
                )
            }
        })
    }

    /// Tries to match at the start of the text only.
    fn run_at_start(
        &mut self,
        from: usize,
        partial: bool,
        matcher: &mut Matcher<'_, '_>,
        budget: &mut Budget,
    ) -> Result<Found, ParseError> {
        let program = &self.pattern.program;
        let limit = match &program.required {
            Some(Required {
                text,
                offset: Some(offset),
            }) => (offset + text.len()).min(self.text.len()),
            _ => self.text.len(),
        };
        if from > 0 || self.after_required(0, limit, partial, budget)? != Some(0) {
            return Ok(Found::Nothing);
        }
        // Here a character is looked for, and not only passed over.
        if let (false, Some(first)) = (program.skips_run, &program.first) {
            match self.text.first() {
                None if partial => return Ok(Found::Partial(0)),
                Some(code) if first.iter().any(|one| one.matches(*code)) => {}
                _ => return Ok(Found::Nothing),
            }
        }
        Ok(match matcher.attempt(0, budget)? {
            Attempt::Match { end, captures } => Found::Match(Match {
                start: 0,
                end,
                captures,
            }),
            Attempt::Partial => Found::Partial(0),
            Attempt::Fail => Found::Nothing,
        })
    }

    /// The first place from which the required text can still be reached. A partial search finds it
    /// at the end of the text, too, as far as it is there.
    fn after_required(
        &mut self,
        at: usize,
        limit: usize,
        partial: bool,
        budget: &mut Budget,
    ) -> Result<Option<usize>, ParseError> {
        let Some(required) = &self.pattern.program.required else {
            return Ok(Some(at));
        };
        if self.required.is_some_and(|found| at < found) {
            return Ok(Some(at));
        }
        let found = if self.required == Some(at) {
            at
        } else {
            let rest = self.text.get(at..limit).unwrap_or_default();
            let found = if self.absent.is_some_and(|from| from <= at) {
                None
            } else {
                let found = find(&required.text, rest);
                budget.spend_on_scan(found.unwrap_or(rest.len()))?;
                found
            };
            if found.is_none() {
                self.absent = self.absent.or(Some(at));
            }
            match found {
                Some(found) => {
                    self.required = Some(at + found);
                    at + found
                }
                None if partial => at + cut_short(&required.text, rest),
                None => return Ok(None),
            }
        };
        let start = required
            .offset
            .map_or(at, |offset| found.saturating_sub(offset));
        Ok(Some(start.max(at)))
    }

    /// The first place that has what a match must have at its start.
    fn after_start_test(
        &self,
        at: usize,
        matcher: &mut Matcher<'_, '_>,
        budget: &mut Budget,
    ) -> Result<Start, ParseError> {
        let program = &self.pattern.program;
        let rest = self.text.get(at..).unwrap_or_default();
        let test = program.start_test.map(|test| match test {
            StartTest::First => None,
            StartTest::Step(step) => Some(&program.steps[step]),
        });
        let found = match (test, &program.first) {
            (Some(Some(Step::Assertion { assertion, .. })), _) => {
                let holds = (at..=self.text.len()).find(|&at| matcher.holds(*assertion, at));
                let last = holds.unwrap_or(self.text.len());
                budget.spend_on_scan(last.saturating_sub(at))?;
                return Ok(holds.map_or(Start::Nowhere, Start::At));
            }
            (Some(Some(Step::Text { text, .. })), _) => {
                find(text, rest).ok_or_else(|| cut_short(text, rest))
            }
            (Some(Some(Step::One { one, .. })), _) => rest
                .iter()
                .position(|code| one.matches(*code))
                .ok_or(rest.len()),
            (test, Some(first)) => {
                let is_first = |code: &u32| first.iter().any(|one| one.matches(*code));
                match rest.iter().position(is_first) {
                    // Without a test of its own the end is looked at in the attempt.
                    None if test.is_none() => Ok(rest.len()),
                    found => found.ok_or(rest.len()),
                }
            }
            _ => return Ok(Start::At(at)),
        };
        let (Ok(skipped) | Err(skipped)) = found;
        budget.spend_on_scan(skipped)?;
        Ok(match found {
            Ok(skipped) => Start::At(at + skipped),
            Err(skipped) => Start::CutShort((at + skipped).min(self.text.len())),
        })
    }
}

enum Start {
    At(usize),
    /// What it must start with is not yet whole.
    CutShort(usize),
    Nowhere,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recorded rows, or those of the file that a variable names.
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever runs the tests names the file"
    )]
    fn rows() -> String {
        match std::env::var("ROLECALL_PATTERNS") {
            Ok(path) => std::fs::read_to_string(path).expect("the rows"),
            Err(_) => include_str!("../../tests/data/patterns.jsonl").to_owned(),
        }
    }

    /// What `regex` finds is found here, too: `scripts/record-patterns.py` records it.
    #[test]
    fn patterns_match_as_in_regex() {
        let rows = rows();
        let mut wrong = Vec::new();
        let (mut count, mut unsupported) = (0, 0);
        for line in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let pattern = row["pattern"].as_str().expect("a pattern");
            let text: Vec<u32> = row["text"]
                .as_str()
                .expect("a text")
                .chars()
                .map(u32::from)
                .collect();
            count += 1;
            let found = match Pattern::new(pattern) {
                Err(error) if error.unsupported => {
                    unsupported += 1;
                    continue;
                }
                Err(_) => serde_json::json!("error"),
                Ok(compiled) => results(&compiled, &text),
            };
            let mut found = found;
            let mut expected = row["found"].clone();
            // No delimiter is such a pattern, and only delimiters are searched in part.
            let is_no_delimiter =
                |pattern: Pattern| pattern.begins_with_any() || pattern.has_reference();
            if Pattern::new(pattern).is_ok_and(is_no_delimiter) {
                for at in 0..=text.len() {
                    found[at][1] = serde_json::Value::Null;
                    expected[at][1] = serde_json::Value::Null;
                }
            }
            if found != expected {
                wrong.push(format!(
                    "{pattern:?} on {}\n  regex {}\n  here  {found}",
                    row["text"], row["found"]
                ));
            }
        }
        let shown = wrong
            .iter()
            .take(20)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n");
        assert!(
            wrong.is_empty(),
            "{} of {count} ({unsupported} unsupported):\n{shown}",
            wrong.len()
        );
        assert!(
            count > 100 && unsupported * 2 < count,
            "{unsupported} of {count} are unsupported"
        );
    }

    /// For each place: the search for whole and for partial matches; then all matches.
    fn results(pattern: &Pattern, text: &[u32]) -> serde_json::Value {
        let mut budget = Budget::new(100_000_000);
        let spans = |found: &Match| {
            let captures = found.captures.iter().map(|span| {
                span.map_or(serde_json::json!([-1, -1]), |(a, b)| {
                    serde_json::json!([a, b])
                })
            });
            serde_json::json!([found.start, found.end, captures.collect::<Vec<_>>()])
        };
        let mut rows = Vec::new();
        for from in 0..=text.len() {
            let mut row = Vec::new();
            for partial in [false, true] {
                let found =
                    pattern.search(text, from, partial, &mut Progress::default(), &mut budget);
                row.push(match found.expect("few steps") {
                    Found::Match(found) => spans(&found),
                    Found::Partial(start) if start < text.len() => serde_json::json!(start),
                    _ => serde_json::Value::Null,
                });
            }
            rows.push(serde_json::json!(row));
        }
        let all = pattern.all(text, &mut budget).expect("few steps");
        rows.push(all.iter().map(spans).collect());
        serde_json::json!(rows)
    }

    /// A text that grows gives the results of a search from scratch.
    #[test]
    fn what_is_remembered_of_a_text_changes_nothing() {
        let rows = rows();
        for line in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let text: Vec<u32> = row["text"]
                .as_str()
                .expect("a text")
                .chars()
                .map(u32::from)
                .collect();
            let Ok(pattern) = Pattern::new(row["pattern"].as_str().expect("a pattern")) else {
                continue;
            };
            let mut budget = Budget::new(100_000_000);
            for step in 1..=3 {
                let mut progress = Progress::default();
                let mut from = 0;
                for end in (1..=text.len()).step_by(step) {
                    let part = &text[..end];
                    let found = pattern
                        .search(part, from, true, &mut progress, &mut budget)
                        .expect("few steps");
                    let fresh =
                        pattern.search(part, from, true, &mut Progress::default(), &mut budget);
                    assert_eq!(
                        found,
                        fresh.expect("few steps"),
                        "{line} up to {end} from {from}"
                    );
                    from = match found {
                        Found::Match(found) => found.end,
                        Found::Partial(start) => start,
                        Found::Nothing => end,
                    };
                }
            }
        }
    }
}
