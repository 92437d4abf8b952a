//! What a command works on: a workspace, with what there is to say about its files.

use std::path::{Path, PathBuf};

use rolecall_core::{CaseId, Dialect, Template};
use rolecall_suite::layout::Layout;
use rolecall_suite::response_file::read_file;
use rolecall_suite::selection::Filter;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::known::KnownSuite;
use rolecall_suite::workspace::{Subject, Workspace};

use crate::args::{SetArguments, SourceArguments, SubjectArguments};
use crate::failure::{Failure, report_problems};
use crate::report::{clean, problems};
use crate::{conversations, home};

/// Opens the workspace of a command. Writes notes on its sources to standard error.
pub(crate) fn open(subject: &Subject<'_>) -> Result<Workspace, Failure> {
    let workspace = Workspace::open(&home::access(), subject)?;
    problems::write_notes(&mut clean::messages(), &workspace.suite.notes)?;
    Ok(workspace)
}

/// What the arguments name: templates by names and places, with these cases or the suite's own if none
/// is named.
pub(crate) fn named<'a>(
    templates: &'a [PathBuf],
    cases: &'a [PathBuf],
    set: &SetArguments,
) -> Subject<'a> {
    Subject {
        cases: Some(cases),
        ..templates_only(templates, set)
    }
}

/// The same without cases.
pub(crate) fn templates_only<'a>(templates: &'a [PathBuf], set: &SetArguments) -> Subject<'a> {
    Subject {
        templates,
        has_names: true,
        settings: set.settings(),
        ..Subject::default()
    }
}

impl SourceArguments {
    /// Templates by their places, and cases. What no filter can match is not read.
    pub(crate) fn subject<'a>(&'a self, filters: &'a [Filter]) -> Subject<'a> {
        Subject {
            has_names: false,
            filters,
            ..named(&self.templates, &self.cases, &self.set)
        }
    }
}

/// Loads a whole suite, and reports notes on its sources.
pub(crate) fn load_whole(layout: &Layout) -> Result<Suite, Failure> {
    let whole = Subject {
        cases: Some(&[]),
        ..Subject::default()
    };
    let suite = Workspace::open_in(&home::access(), layout, &whole)?.suite;
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// Loads a whole suite, which must have no problems. `refusal` says what is not done otherwise.
pub(crate) fn load_sound(layout: &Layout, refusal: &str) -> Result<Suite, Failure> {
    let suite = load_whole(layout)?;
    report_problems(&suite.problems)?;
    if suite.problems.is_empty() {
        return Ok(suite);
    }
    Err(Failure::Request(refusal.to_owned()))
}

/// What was accepted and recorded of some templates of a suite. Reports damaged records.
pub(crate) fn known<'s, 't>(
    layout: &'s Layout,
    suite: &'s Suite,
    templates: impl IntoIterator<Item = &'t Template>,
) -> Result<KnownSuite<'s>, Failure> {
    let known = KnownSuite::read(layout, suite, templates)?;
    report_problems(&known.expectations.records.problems)?;
    Ok(known)
}

/// Loads Jinja templates, whose answers response templates read, and the suite's cases.
pub(crate) fn load_jinja_with_cases(
    templates: &[PathBuf],
    set: &SetArguments,
) -> Result<Suite, Failure> {
    let suite = open(&named(templates, &[], set))?.suite;
    report_problems(&suite.problems)?;
    let others = suite.templates.iter();
    let others = others.filter(|template| template.dialect != Dialect::Jinja);
    let others: Vec<&str> = others.map(|template| template.name.as_str()).collect();
    if !others.is_empty() {
        return Err(Failure::Request(format!(
            "response templates are for Jinja templates, and this one is for Ollama: {}",
            others.join(", ")
        )));
    }
    if suite.templates.is_empty() {
        return Err(Failure::Request(
            "there is no chat template to take answers from".to_owned(),
        ));
    }
    Ok(suite)
}

/// Gives all templates of a suite the response template in a file.
pub(crate) fn use_response_template(suite: &mut Suite, path: &Path) -> Result<(), Failure> {
    let response_template = read_file(path)?;
    for template in &mut suite.templates {
        template.response_template = Some(response_template.clone());
    }
    Ok(())
}

/// The templates and cases that a command looks into: those of one dialect, if the user wants only
/// one. Fails if there is no template or no case. Reports problems, and says whether there are any.
pub(crate) fn load_subject(subject: &SubjectArguments) -> Result<(Suite, bool), Failure> {
    let (templates, logs) = conversations::among(&subject.paths);
    let cases = [subject.cases.clone(), logs].concat();
    load_to_look_into(
        &named(&templates, &cases, &subject.set),
        subject.dialect.only,
    )
}

/// The same, for what somebody names.
pub(crate) fn load_to_look_into(
    subject: &Subject<'_>,
    dialect: Option<Dialect>,
) -> Result<(Suite, bool), Failure> {
    let mut suite = open(subject)?.suite;
    report_problems(&suite.problems)?;
    if let Some(only) = dialect {
        suite.templates.retain(|template| template.dialect == only);
    }
    let missing = match (suite.templates.is_empty(), suite.cases.is_empty()) {
        (true, _) => "there is no template to look into",
        (false, true) => "there is no case to render",
        (false, false) => {
            let is_wrong = !suite.problems.is_empty();
            return Ok((suite, is_wrong));
        }
    };
    Err(Failure::Request(missing.to_owned()))
}

/// The pair of a template with the case of a name. An error says why there is none.
pub(crate) fn find_pair<'s>(
    suite: &'s Suite,
    template: &'s Template,
    case: &str,
) -> Result<Pair<'s>, Failure> {
    let ids: Vec<_> = suite
        .cases
        .iter()
        .map(|known| known.id.to_string())
        .collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let Some(found) = suite
        .cases
        .iter()
        .find(|known| known.id.to_string() == case)
    else {
        return Err(Failure::unknown("case", case, &ids, &suite.problems));
    };
    if !found.is_for(template.dialect) {
        let dialects: Vec<_> = found
            .dialects
            .iter()
            .map(|dialect: &Dialect| dialect.name())
            .collect();
        return Err(Failure::Request(format!(
            "case `{}` is for {} templates only",
            found.id,
            dialects.join(" and ")
        )));
    }
    if !suite.has_pair(template, found) {
        return Err(Failure::Request(format!(
            "the front of {} leaves this case as it is: name it `{}`",
            template.name,
            CaseId::new(found.id.family(), found.id.written_name())
        )));
    }
    Ok(Pair {
        template,
        case: found,
    })
}
