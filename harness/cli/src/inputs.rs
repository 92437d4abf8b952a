//! The templates, cases, snapshots and records that a command works on.

use std::path::{Path, PathBuf};

use rolecall::expectations::Expectations;
use rolecall::file::is_there;
use rolecall::layout::Layout;
use rolecall::problem::{Problem, did_you_mean};
use rolecall::report::{clean, problems};
use rolecall::suite::{Pair, Suite, templates_of};

use crate::args::{SetArguments, SourceArguments};
use crate::cache::cache_folder;
use crate::failure::{Failure, tell};
use crate::home;
use crate::sources::{NOT_THERE, Sources};
use crate::stdin;

/// The inputs of a command.
pub(crate) struct Inputs {
    pub(crate) suite: Suite,
    /// The suite's layout, if every input comes from the suite: templates and cases from elsewhere
    /// have neither snapshots nor records.
    pub(crate) layout: Option<Layout>,
    /// Where the templates and cases come from, in words.
    pub(crate) origin: String,
}

/// Where templates and cases come from, in words. Each is named by the user or belongs to a suite.
fn origin(layout: &Layout, templates: &[PathBuf], cases: &[PathBuf]) -> String {
    match (templates, cases) {
        ([], []) => layout.to_string(),
        (_, []) => format!("the named templates with the cases of {layout}"),
        ([], _) => format!("the templates of {layout} with the named cases"),
        _ => "the named templates and cases".to_owned(),
    }
}

impl Inputs {
    /// The snapshots and records of some pairs. Empty for templates or cases from elsewhere.
    pub(crate) fn expectations(&self, pairs: &[Pair<'_>]) -> Result<Option<Expectations>, Failure> {
        let Some(layout) = &self.layout else {
            return Ok(None);
        };
        let expectations =
            Expectations::read(layout, templates_of(pairs)).map_err(Failure::Problems)?;
        Ok(Some(expectations))
    }
}

/// Whether a text names a template by its place: a path, a model by name, or standard input. Other
/// texts can be the names of templates of the suite.
pub(crate) fn is_place(text: &str) -> bool {
    is_there(Path::new(text)) || text.contains(['/', '\\', ':']) || text == stdin::NAME
}

/// Loads the named templates, or the suite's own if none is named, and no cases.
pub(crate) fn load_templates(named: &[PathBuf], set: &SetArguments) -> Result<Suite, Failure> {
    let layout = home::layout()?;
    let (suite_names, named) = names_and_places(&layout, named);
    let sources = Sources::find(&named, set)?;
    let mut suite = if suite_names.is_empty() && named.is_empty() || !sources.paths().is_empty() {
        Suite::templates_around(&fetched_unless(&layout, &named), sources.paths())
    } else {
        Suite::default()
    };
    sources.settle(&mut suite);
    for problem in &mut suite.problems {
        if problem.message == NOT_THERE && problem.help.is_none() {
            let name = problem.path.to_string_lossy();
            problem.help = did_you_mean(&name, template_names(&layout));
        }
    }
    suite.add_templates(of_suite(&layout, &suite_names));
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// The names of templates of the suite among some arguments, and the other arguments, which are
/// places.
fn names_and_places(layout: &Layout, named: &[PathBuf]) -> (Vec<String>, Vec<PathBuf>) {
    let mut known: Option<Vec<String>> = None;
    let (mut of_suite, mut places) = (Vec::new(), Vec::new());
    for argument in named {
        let text = argument.to_string_lossy();
        let is_known = !is_place(&text)
            && known
                .get_or_insert_with(|| template_names(layout))
                .iter()
                .any(|name| *name == text);
        if is_known {
            of_suite.push(text.into_owned());
        } else {
            places.push(argument.clone());
        }
    }
    (of_suite, places)
}

/// The names of a suite's templates.
fn template_names(layout: &Layout) -> Vec<String> {
    if let Some(configuration) = layout.configuration() {
        let templates = configuration.templates.iter();
        return templates.map(|one| one.name.to_string()).collect();
    }
    let suite = Suite::templates_around(layout, &[]);
    let templates = suite.templates.iter();
    templates.map(|one| one.name.to_string()).collect()
}

/// The templates of the suite with these names.
fn of_suite(layout: &Layout, names: &[String]) -> Suite {
    if names.is_empty() {
        return Suite::default();
    }
    let layout = layout.with_templates(|name| names.iter().any(|asked| *asked == name.as_str()));
    let mut suite = Suite::templates_around(&fetched(&layout), &[]);
    suite.templates.retain(|template| {
        let own = template.name.as_str();
        let is_of = |name: &String| {
            own == name || layout.configuration().is_some() && own.starts_with(&format!("{name}."))
        };
        names.iter().any(is_of)
    });
    suite
}

/// Loads the named templates, or the suite's own if none is named, and the suite's cases.
pub(crate) fn load_templates_with_cases(
    named: &[PathBuf],
    set: &SetArguments,
) -> Result<Suite, Failure> {
    let layout = home::layout()?;
    let (suite_names, named) = names_and_places(&layout, named);
    let mut suite = find(&named, &[], set)?.suite;
    if named.is_empty() && !suite_names.is_empty() {
        suite.templates.clear();
    }
    suite.add_templates(of_suite(&layout, &suite_names));
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// Loads the inputs that the arguments name, and takes the others from the suite. Reports notes on
/// the sources on standard error.
pub(crate) fn load(arguments: &SourceArguments) -> Result<Inputs, Failure> {
    let inputs = find(&arguments.templates, &arguments.cases, &arguments.set)?;
    problems::write_notes(&mut clean::messages(), &inputs.suite.notes)?;
    Ok(inputs)
}

/// Loads a whole suite, and reports notes on its sources.
pub(crate) fn load_own(layout: &Layout) -> Result<Suite, Failure> {
    let suite = Suite::load_layout(&fetched(layout));
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// Loads as [`load`] does, and reports nothing.
pub(crate) fn find(
    templates: &[PathBuf],
    cases: &[PathBuf],
    set: &SetArguments,
) -> Result<Inputs, Failure> {
    let layout = home::layout()?;
    if templates.is_empty() && cases.is_empty() {
        // Settings apply only to named templates, so here they would have no effect.
        Sources::find(templates, set)?;
        return Ok(Inputs {
            suite: Suite::load_layout(&fetched(&layout)),
            origin: origin(&layout, templates, cases),
            layout: Some(layout),
        });
    }
    let sources = Sources::find(templates, set)?;
    let layout = fetched_unless(&layout, templates);
    let origin = origin(&layout, templates, cases);
    let mut suite = if templates.is_empty() || !sources.paths().is_empty() {
        Suite::load_around(&layout, sources.paths(), cases)
    } else {
        // No named template was found.
        Suite::default()
    };
    sources.settle(&mut suite);
    Ok(Inputs {
        suite,
        layout: None,
        origin,
    })
}

/// The layout as [`fetched`] returns it. Fetches nothing if the command does not use its templates.
fn fetched_unless(layout: &Layout, named: &[PathBuf]) -> Layout {
    if named.is_empty() {
        fetched(layout)
    } else {
        layout.clone()
    }
}

/// The layout with the models that the user's own suite names. Fetches models that are not on this
/// machine.
fn fetched(layout: &Layout) -> Layout {
    layout.with_sources(|configured| {
        let source = Path::new(&configured.source);
        if let Some(found) = rolecall_remote::find(source, cache_folder().as_deref()) {
            return Some(found.map(|found| {
                if let Some(fetched) = &found.fetched {
                    tell(fetched);
                }
                found.path
            }));
        }
        // The user may have meant the name of a model.
        let is_there = configured.local.as_ref().is_ok_and(|local| is_there(local));
        let meant = rolecall_remote::meant(source).filter(|_| !is_there)?;
        Some(Err(Problem::new(source, NOT_THERE).help(meant)))
    })
}
