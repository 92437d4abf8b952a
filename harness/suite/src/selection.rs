//! Filters: select the pairs for a command.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::layout::Layout;
use crate::suite::{Pair, Suite};
use rolecall_core::file::is_there;
use rolecall_core::invocation;
use rolecall_core::problem::{closest, did_you_mean, meant};
use rolecall_core::wildcard::{InvalidWildcard, Wildcard};

/// `TEMPLATE_GLOB` or `TEMPLATE_GLOB:CASE_GLOB`, such as `qwen*:bad-roles/*`.
///
/// Each is a [`Wildcard`]: `*` matches anything, `/` included.
#[derive(Debug, Clone)]
pub struct Filter {
    text: String,
    template: Wildcard,
    case: Option<Wildcard>,
}

/// A filter that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter `{filter}`: {reason}")]
pub struct InvalidFilter {
    filter: String,
    reason: InvalidWildcard,
}

/// No pair to work on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    #[error("filter `{filter}` matches no {what}\n  {help}")]
    MatchesNothing {
        /// The filter as it was given.
        filter: String,
        /// What it does not match: template or case.
        what: &'static str,
        help: String,
    },
    /// There are no pairs at all.
    #[error("nothing to render: no pair among {templates} templates and {cases} cases")]
    NothingThere {
        /// How many templates could be read.
        templates: usize,
        /// How many cases could be read.
        cases: usize,
    },
}

impl FromStr for Filter {
    type Err = InvalidFilter;

    fn from_str(text: &str) -> Result<Filter, InvalidFilter> {
        let wildcard = |pattern: &str| {
            Wildcard::new(if pattern.is_empty() { "*" } else { pattern }).map_err(|reason| {
                InvalidFilter {
                    filter: text.to_owned(),
                    reason,
                }
            })
        };
        let (template, case) = match text.split_once(':') {
            Some((template, case)) => (template, Some(wildcard(case)?)),
            None => (text, None),
        };
        Ok(Filter {
            text: text.to_owned(),
            template: wildcard(template)?,
            case,
        })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Filter {
    /// A filter for one template and one case. None if a name has the signs of patterns.
    pub fn of_pair(template: &str, case: &str) -> Option<Filter> {
        let is_plain = |name: &str| !name.contains(['*', '?', '[', '{', '}', ':', ']']);
        let is_plain = is_plain(template) && is_plain(case);
        is_plain.then(|| format!("{template}:{case}").parse().ok())?
    }

    /// Whether the filter names cases, too.
    pub fn names_cases(&self) -> bool {
        self.case.is_some()
    }

    /// Why the filter matches none of a suite's templates, if it is a path: files are named with an
    /// option, whatever else the suite has.
    pub fn path_refusal(&self, suite: &Suite) -> Option<SelectionError> {
        let mut templates = suite.templates.iter();
        let is_path = !templates.any(|template| self.template.is_match(template.name.as_str()))
            && is_there(Path::new(&self.text));
        is_path.then(|| SelectionError::MatchesNothing {
            filter: self.text.clone(),
            what: "template",
            help: format!(
                "paths are named with `--templates {}`",
                invocation::word(&self.text)
            ),
        })
    }

    /// Whether the filter matches a pair. The plain name of a case also matches its copies
    /// for other fronts.
    pub fn matches(&self, pair: &Pair<'_>) -> bool {
        let id = &pair.case.id;
        let template = pair.template.name.as_str();
        self.matches_names(template, &id.to_string())
            || pair.case.front.is_some()
                && self.matches_names(template, &format!("{}/{}", id.family(), id.written_name()))
    }

    /// Whether the filter matches a template and a case by name.
    pub fn matches_names(&self, template: &str, case: &str) -> bool {
        self.template.is_match(template)
            && self.case.as_ref().is_none_or(|glob| glob.is_match(case))
    }
}

/// The layout, narrowed to what some filter may match. The caller reads the whole
/// suite if something of it does not match, because then people want to know what there is.
#[must_use]
pub fn narrowed(layout: &Layout, filters: &[Filter]) -> Layout {
    let templates = filters.iter().map(|filter| filter.template.clone());
    let templates: Vec<Wildcard> = templates.collect();
    // One filter without a pattern for cases asks for all cases.
    let cases: Option<Vec<_>> = filters.iter().map(|filter| filter.case.clone()).collect();
    let is_any = templates.iter().any(Wildcard::is_any);
    let templates = if is_any { Vec::new() } else { templates };
    layout.narrowed(templates, cases.unwrap_or_default())
}

/// The pairs of a suite that match any of the filters, in the suite's order; all pairs
/// without a filter. Every filter has to match something. A template whose name is the filter's text wins over
/// those that match it as a pattern: `model[1]` means the template of that name, and not `model1`.
pub fn select<'s>(suite: &'s Suite, filters: &[Filter]) -> Result<Vec<Pair<'s>>, SelectionError> {
    let all: Vec<Pair<'s>> = suite.pairs().collect();
    if all.is_empty() {
        return Err(SelectionError::NothingThere {
            templates: suite.templates.len(),
            cases: suite.cases.len(),
        });
    }
    if filters.is_empty() {
        return Ok(all);
    }
    let is_named = |template: &Wildcard| {
        let mut templates = suite.templates.iter();
        templates.any(|one| template.is_exactly(one.name.as_str()))
    };
    let named: Vec<bool> = filters.iter().map(|one| is_named(&one.template)).collect();
    let chooses = |(filter, is_named): (&Filter, &bool), pair: &Pair<'_>| {
        let is_exactly = filter.template.is_exactly(pair.template.name.as_str());
        (is_exactly || !is_named) && filter.matches(pair)
    };
    for one in filters.iter().zip(&named) {
        if !all.iter().any(|pair| chooses(one, pair)) {
            return Err(explain(suite, one.0));
        }
    }
    let is_chosen = |pair: &Pair<'_>| filters.iter().zip(&named).any(|one| chooses(one, pair));
    Ok(all.into_iter().filter(is_chosen).collect())
}

fn explain(suite: &Suite, filter: &Filter) -> SelectionError {
    if let Some(refusal) = filter.path_refusal(suite) {
        return refusal;
    }
    let names: Vec<&str> = suite
        .templates
        .iter()
        .map(|template| template.name.as_str())
        .collect();
    let template_matches = names.iter().any(|name| filter.template.is_match(name));
    let (template, case) = filter.text.split_once(':').unwrap_or((&filter.text, ""));
    let ids: Vec<String> = suite.cases.iter().map(|case| case.id.to_string()).collect();
    let (what, help) = if template_matches {
        let help = closest(case, ids.iter().map(String::as_str)).map_or_else(
            || format!("`{}` lists all cases", invocation::command("list cases")),
            |id| meant(format_args!("{template}:{id}")),
        );
        ("case", help)
    } else {
        let is_case = ids.iter().any(|id| filter.template.is_match(id));
        let help = match of_cases(suite, template).or_else(|| did_you_mean(template, names)) {
            Some(question) => question,
            None if is_case => {
                let filter = invocation::word(&format!("*:{template}"));
                format!("for cases, write `{filter}`")
            }
            None => format!(
                "`{}` lists all templates",
                invocation::command("list templates")
            ),
        };
        ("template", help)
    };
    SelectionError::MatchesNothing {
        filter: filter.text.clone(),
        what,
        help,
    }
}

/// How to name a family or a case, if a text is the name of one.
fn of_cases(suite: &Suite, text: &str) -> Option<String> {
    let ids = || suite.cases.iter().map(|case| &case.id);
    let (what, pattern) = if ids().any(|id| id.family() == text) {
        ("a family of cases".to_owned(), format!("*:{text}/*"))
    } else {
        let id = ids().find(|id| id.name() == text)?;
        (format!("a case of `{}`", id.family()), format!("*:{id}"))
    };
    let pattern = invocation::word(&pattern);
    Some(format!("this is {what}: write `{pattern}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::{Dialect, Template};

    fn suite() -> Suite {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.conversations()).unwrap();
        std::fs::create_dir_all(layout.templates()).unwrap();
        for name in ["chatml", "qwen2.5", "qwen3"] {
            std::fs::write(layout.templates().join(format!("{name}.jinja")), "").unwrap();
        }
        for name in ["bad-roles", "tools"] {
            std::fs::write(
                layout.conversations().join(format!("{name}.json")),
                r#"{"about": "x", "cases": {"one": {"messages": [{}]}, "two": {"messages": [{}]}}}"#,
            )
            .unwrap();
        }
        Suite::load_layout(&layout)
    }

    fn count(filters: &[&str]) -> usize {
        let suite = suite();
        let filters: Vec<Filter> = filters.iter().map(|text| text.parse().unwrap()).collect();
        select(&suite, &filters).unwrap().len()
    }

    fn error(filter: &str) -> String {
        select(&suite(), &[filter.parse().unwrap()])
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn filters_select_pairs() {
        assert_eq!(count(&[]), 12);
        assert_eq!(count(&["qwen*"]), 8);
        assert_eq!(count(&["qwen*:bad-roles/*"]), 4);
        assert_eq!(count(&["chatml", "qwen3:tools/one"]), 5);
        assert_eq!(count(&[":tools/*"]), 6);
        assert_eq!(count(&["{chatml,qwen3}:*/two"]), 4);
    }

    #[test]
    fn a_name_wins_over_a_pattern() {
        let mut suite = suite();
        let template = |name| Template::from_source(name, Dialect::Jinja, "");
        let names = ["m[1]", "m1", "模型{a,b}", "模型a"];
        suite.templates.extend(names.map(template));
        let chosen = |text: &str| {
            let pairs = select(&suite, &[text.parse().unwrap()]).unwrap();
            let mut names: Vec<_> = pairs
                .iter()
                .map(|pair| pair.template.name.as_str())
                .collect();
            names.dedup();
            names
        };
        assert_eq!(chosen("m[1]"), ["m[1]"]);
        assert_eq!(chosen("m[1]:tools/one"), ["m[1]"]);
        assert_eq!(chosen("m[12]"), ["m1"]);
        assert_eq!(chosen("模型{a,b}"), ["模型{a,b}"]);
        assert_eq!(chosen("模型{a,c}"), ["模型a"]);
    }

    #[test]
    fn only_what_filters_may_match_is_read() {
        let layout = Layout::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let whole = Suite::load_layout(&layout);
        for (texts, most) in [
            (&["qwen3-think:plain/single-turn"][..], 30),
            (&["qwen*:{plain,tool-calls}/*"], 100),
            (&["command-r:plain/*", "chatml:turns/*"], 100),
            (&["{chatml,firefunction-v2}:*role*"], 2_000),
            (&["chatml"], 2_000),
        ] {
            let filters: Vec<Filter> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let part = Suite::load_layout(&narrowed(&layout, &filters));
            let names = |suite: &Suite| {
                let pairs = select(suite, &filters).unwrap().into_iter();
                let names = pairs.map(|pair| format!("{:?} {:?}", pair.key(), pair.case));
                names.collect::<Vec<_>>()
            };
            assert_eq!(names(&part), names(&whole), "{texts:?}");
            assert!(part.cases.len() < most, "{texts:?}: {}", part.cases.len());
            assert!(part.templates.len() < 10, "{texts:?}");
        }
    }

    #[test]
    fn a_filter_that_matches_nothing_is_an_error() {
        assert_eq!(
            error("qwen4"),
            "filter `qwen4` matches no template\n  did you mean `qwen3`?"
        );
        assert_eq!(
            error("tools"),
            "filter `tools` matches no template\n  this is a family of cases: write `'*:tools/*'`"
        );
        assert_eq!(
            error("two"),
            "filter `two` matches no template\n  this is a case of `bad-roles`: write `'*:bad-roles/two'`"
        );
        assert_eq!(
            error("tools/one"),
            "filter `tools/one` matches no template\n  for cases, write `'*:tools/one'`"
        );
        assert_eq!(
            error("chatml:tools/ones"),
            "filter `chatml:tools/ones` matches no case\n  did you mean `chatml:tools/one`?"
        );
        assert!("[".parse::<Filter>().is_err());
    }
}
