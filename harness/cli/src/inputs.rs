//! The templates, cases, snapshots and records that a command works on.

use std::path::{Path, PathBuf};

use crate::report::{clean, problems};
use rolecall_core::file::is_there;
use rolecall_core::problem::{Problem, did_you_mean};
use rolecall_core::wildcard::Wildcard;
use rolecall_core::{Dialect, Template, TemplateName};
use rolecall_io::source;
use rolecall_suite::configuration::ConfiguredTemplate;
use rolecall_suite::expectations::Expectations;
use rolecall_suite::layout::Layout;
use rolecall_suite::response_file::read_file;
use rolecall_suite::selection::{Filter, narrowed, select};
use rolecall_suite::suite::{Pair, Suite, templates_of};

use crate::args::{SetArguments, SourceArguments, SubjectArguments};
use crate::cache::cache_folder;
use crate::failure::{Failure, report_problems, tell};
use crate::sources::{self, NOT_THERE, Sources};
use crate::{conversations, home, stdin};

pub(crate) struct Inputs {
    pub(crate) suite: Suite,
    /// The suite's layout, if every input comes from the suite: templates and cases from elsewhere
    /// have neither snapshots nor records.
    pub(crate) layout: Option<Layout>,
    /// The suite around named templates and cases. Some of them may belong to it.
    pub(crate) around: Option<Layout>,
    /// Where the templates and cases come from, in words.
    pub(crate) origin: String,
}

/// A suite, with what was accepted and recorded of it.
#[derive(Clone, Copy)]
pub(crate) struct KnownSuite<'s> {
    pub(crate) layout: &'s Layout,
    pub(crate) suite: &'s Suite,
    pub(crate) expectations: &'s Expectations,
}

impl<'s> KnownSuite<'s> {
    pub(crate) fn of(
        layout: &'s Layout,
        suite: &'s Suite,
        expectations: &'s Expectations,
    ) -> KnownSuite<'s> {
        KnownSuite {
            layout,
            suite,
            expectations,
        }
    }
}

/// What was accepted and recorded of the templates of some pairs. Reports damaged records.
pub(crate) fn expectations_of(
    layout: &Layout,
    templates: Vec<&Template>,
) -> Result<Expectations, Failure> {
    let expectations = Expectations::read(layout, templates).map_err(Failure::Problems)?;
    report_problems(&expectations.records.problems)?;
    Ok(expectations)
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

/// A template of the user's suite, as an argument names it: by its name, or by the file or folder
/// that the suite names as its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnTemplate {
    /// Its name. A source with several templates has this name before theirs.
    pub(crate) name: String,
    /// The only template file of the source that the argument names.
    file: Option<PathBuf>,
}

impl OwnTemplate {
    /// The same templates, in whichever files they are.
    pub(crate) fn in_any_file(self) -> OwnTemplate {
        OwnTemplate { file: None, ..self }
    }

    /// Whether a source with this name in `rolecall.toml` has the templates.
    pub(crate) fn is_of(&self, key: &TemplateName) -> bool {
        self.name == key.as_str() || self.name.starts_with(&format!("{key}."))
    }

    /// Patterns for the names of the templates. Those of a source with several are longer.
    fn names(&self) -> Option<Vec<Wildcard>> {
        let names = [self.name.clone(), format!("{}.*", self.name)];
        names.iter().map(|name| Wildcard::new(name).ok()).collect()
    }

    /// Whether one of the templates can have this name.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        name == self.name || name.starts_with(&format!("{}.", self.name))
    }

    /// Whether this is one of the templates that the argument names.
    fn is(&self, template: &Template) -> bool {
        let is_file = |file: &PathBuf| is_same(file, &template.path);
        self.has_name(template.name.as_str()) && self.file.as_ref().is_none_or(is_file)
    }
}

/// Whether two paths lead to the same file or folder.
fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The template of the suite that an argument names, as [`own_template`] finds it. If something else
/// has the name, too, this says how to name that.
pub(crate) fn named_template(layout: &Layout, text: &str) -> Option<OwnTemplate> {
    let found = own_template(layout, text)?;
    let path = Path::new(text);
    if found.name == text
        && is_there(path)
        && of_source(layout, path).is_none_or(|of_path| of_path.name != text)
    {
        tell(&format!(
            "`{text}` is the template of {layout}; ./{text} is the file or folder of that name"
        ));
    }
    Some(found)
}

/// The template of the suite that an argument names. Its name comes before a file or folder of that
/// name, because messages name templates so; nobody has chosen the names of the built-in suite.
pub(crate) fn own_template(layout: &Layout, text: &str) -> Option<OwnTemplate> {
    let path = Path::new(text);
    let is_word = !text.contains(['/', '\\', ':']) && text != stdin::NAME;
    let named = |name: &str| OwnTemplate {
        name: name.to_owned(),
        file: None,
    };
    let Some(configuration) = layout.configuration() else {
        let can_be = is_word && !(layout.is_read_only() && is_there(path));
        let is_known = || {
            let one = Wildcard::new(text).map(|one| layout.narrowed(vec![one], Vec::new()));
            let suite = one.map(|layout| Suite::templates_around(&layout, &[]));
            suite.is_ok_and(|suite| suite.template(&TemplateName::new(text)).is_some())
        };
        return (can_be && is_known()).then(|| named(text));
    };
    let mut templates = configuration.templates.iter();
    if is_word && templates.any(|one| one.name.as_str() == text) {
        return Some(named(text));
    }
    if is_there(path) {
        return of_source(layout, path);
    }
    // One of the templates of a source with several.
    let key = configuration.templates.iter().find(|one| {
        let after = text.strip_prefix(one.name.as_str());
        is_word && after.is_some_and(|rest| rest.starts_with('.'))
    })?;
    let layout = layout.with_templates(|name| *name == key.name);
    let suite = Suite::templates_around(&fetched(&layout), &[]);
    let found = suite.template(&TemplateName::new(text));
    found.is_some().then(|| named(text))
}

/// The template with a source. None if several have it: each has its own settings.
fn of_source(layout: &Layout, path: &Path) -> Option<OwnTemplate> {
    let templates = &layout.configuration()?.templates;
    let of = |path: &Path| {
        let same = |one: &&ConfiguredTemplate| {
            let local = one.local.as_ref();
            local.is_ok_and(|local| is_same(local, path))
        };
        let mut with_source = templates.iter().filter(same);
        let one = with_source.next().filter(|_| with_source.next().is_none());
        one.map(|one| one.name.to_string())
    };
    if let Some(name) = of(path) {
        return Some(OwnTemplate { name, file: None });
    }
    // A file of a model counts as its folder.
    let folder = path.canonicalize().ok()?.parent()?.to_path_buf();
    let extension = path.extension().unwrap_or_default();
    if !source::is_model(&folder) || !["jinja", "json"].iter().any(|known| extension == *known) {
        return None;
    }
    let file = (extension == "jinja").then(|| path.to_path_buf());
    // A folder may have other templates besides those of its model.
    let has_template = |file: &PathBuf| {
        let mut own = source::read(&folder).templates.into_iter();
        own.any(|template| {
            let mut named = template.named.iter().map(|(_, named)| &named.path);
            is_same(file, &template.path) || named.any(|path| is_same(file, path))
        })
    };
    if file.as_ref().is_some_and(|file| !has_template(file)) {
        return None;
    }
    of(&folder).map(|name| OwnTemplate { name, file })
}

/// Loads the named templates, or the suite's own if none is named, and no cases. Reports notes on
/// the sources on standard error.
pub(crate) fn load_templates(named: &[PathBuf], set: &SetArguments) -> Result<Suite, Failure> {
    let suite = find_templates(named, set)?;
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// Loads as [`load_templates`] does, and reports nothing.
pub(crate) fn find_templates(named: &[PathBuf], set: &SetArguments) -> Result<Suite, Failure> {
    let layout = home::layout()?;
    let (own, places) = own_and_places(&layout, named);
    let mut suite = if own.is_empty() || !places.is_empty() {
        let sources = Sources::find(&places, set)?;
        let mut suite = if places.is_empty() || !sources.paths().is_empty() {
            Suite::templates_around(&fetched_unless(&layout, &places), sources.paths())
        } else {
            Suite::default()
        };
        sources.settle(&mut suite);
        suite
    } else {
        Suite::default()
    };
    for problem in &mut suite.problems {
        if problem.message == NOT_THERE && problem.help.is_none() {
            let name = problem.path.to_string_lossy();
            problem.help = did_you_mean(&name, template_names(&layout));
        }
    }
    let of_suite = of_suite(&only(&layout, &own), &own, set, |layout| {
        Suite::templates_around(layout, &[])
    })?;
    for one in &own {
        let is_found = of_suite.templates.iter().any(|template| one.is(template));
        if !is_found && of_suite.problems.is_empty() {
            suite.problems.push(Problem {
                help: did_you_mean(&one.name, template_names(&layout)),
                ..Problem::new(&one.name, NOT_THERE)
            });
        }
    }
    suite.add_templates(of_suite);
    Ok(suite)
}

/// The templates of the suite among some arguments, and the other arguments, which are places.
fn own_and_places(layout: &Layout, named: &[PathBuf]) -> (Vec<OwnTemplate>, Vec<PathBuf>) {
    let (mut own, mut places) = (Vec::new(), Vec::new());
    for argument in named {
        match named_template(layout, &argument.to_string_lossy()) {
            Some(template) if own.contains(&template) => {}
            Some(template) => own.push(template),
            None => places.push(argument.clone()),
        }
    }
    (own, places)
}

/// The names of a suite's templates.
pub(crate) fn template_names(layout: &Layout) -> Vec<String> {
    if let Some(configuration) = layout.configuration() {
        let templates = configuration.templates.iter();
        return templates.map(|one| one.name.to_string()).collect();
    }
    let suite = Suite::templates_around(layout, &[]);
    let templates = suite.templates.iter();
    templates.map(|one| one.name.to_string()).collect()
}

/// A layout of which only these templates are read. One with a `rolecall.toml` stays as it is, because
/// [`of_suite`] chooses among its templates.
fn only(layout: &Layout, asked: &[OwnTemplate]) -> Layout {
    let names: Option<Vec<_>> = asked.iter().map(OwnTemplate::names).collect();
    match names.filter(|_| layout.configuration().is_none()) {
        Some(names) => layout.narrowed(names.concat(), Vec::new()),
        None => layout.clone(),
    }
}

/// These templates of the suite, with the user's settings over their own. `load` loads the suite.
fn of_suite(
    layout: &Layout,
    asked: &[OwnTemplate],
    set: &SetArguments,
    load: impl Fn(&Layout) -> Suite,
) -> Result<Suite, Failure> {
    if asked.is_empty() {
        return Ok(Suite::default());
    }
    set.check(false)?;
    let layout = layout.with_templates(|name| asked.iter().any(|one| one.is_of(name)));
    let mut suite = load(&fetched(&layout));
    suite
        .templates
        .retain(|template| asked.iter().any(|one| one.is(template)));
    sources::set_all(set, &mut suite);
    Ok(suite)
}

/// Loads a template of the suite with the named cases, or the suite's own if none is named.
pub(crate) fn find_own(
    layout: &Layout,
    template: &OwnTemplate,
    cases: &[PathBuf],
    set: &SetArguments,
    filters: &[Filter],
) -> Result<Inputs, Failure> {
    let asked = std::slice::from_ref(template);
    let is_as_accepted = cases.is_empty() && set.is_empty();
    narrow_or_whole(layout, filters, |layout| {
        let load = |layout: &Layout| Suite::load_around(layout, &[], cases);
        Ok(Inputs {
            suite: of_suite(layout, asked, set, load)?,
            layout: is_as_accepted.then(|| layout.clone()),
            around: None,
            origin: origin(layout, &[], cases),
        })
    })
}

/// Loads Jinja templates, whose answers response templates read, and the suite's cases.
pub(crate) fn load_jinja_with_cases(
    named: &[PathBuf],
    set: &SetArguments,
) -> Result<Suite, Failure> {
    let suite = load_templates_and_cases(named, &[], set)?;
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

/// Loads the named templates and cases, each from the suite if none is named.
pub(crate) fn load_templates_and_cases(
    named: &[PathBuf],
    cases: &[PathBuf],
    set: &SetArguments,
) -> Result<Suite, Failure> {
    let layout = home::layout()?;
    let (own, places) = own_and_places(&layout, named);
    let load = |layout: &Layout| Suite::load_around(layout, &[], cases);
    let suite = if own.is_empty() || !places.is_empty() {
        let mut suite = find(&places, cases, set, &[])?.suite;
        suite.add_templates(of_suite(&only(&layout, &own), &own, set, load)?);
        suite
    } else {
        of_suite(&only(&layout, &own), &own, set, load)?
    };
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// The templates and cases that a command looks into: those of one dialect, if the user wants only
/// one. Fails if there is no template or no case. Reports problems, and says whether there are any.
pub(crate) fn load_subject(subject: &SubjectArguments) -> Result<(Suite, bool), Failure> {
    let (paths, logs) = conversations::among(&subject.paths);
    let cases = [subject.cases.clone(), logs].concat();
    load_to_look_into(&paths, &cases, &subject.set, subject.dialect.only)
}

/// The same, for the named templates and cases.
pub(crate) fn load_to_look_into(
    named: &[PathBuf],
    cases: &[PathBuf],
    set: &SetArguments,
    dialect: Option<Dialect>,
) -> Result<(Suite, bool), Failure> {
    let mut suite = load_templates_and_cases(named, cases, set)?;
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

/// Loads the inputs that the arguments name, and takes the others from the suite. Reports notes on
/// the sources on standard error.
pub(crate) fn load(arguments: &SourceArguments) -> Result<Inputs, Failure> {
    load_filtered(arguments, &[])
}

/// Loads as [`load`] does, and of a suite only what the filters may match. If one of them matches
/// nothing, this loads everything, so that messages can name it.
pub(crate) fn load_filtered(
    arguments: &SourceArguments,
    filters: &[Filter],
) -> Result<Inputs, Failure> {
    let inputs = find(
        &arguments.templates,
        &arguments.cases,
        &arguments.set,
        filters,
    )?;
    problems::write_notes(&mut clean::messages(), &inputs.suite.notes)?;
    Ok(inputs)
}

/// Loads a whole suite, and reports notes on its sources.
pub(crate) fn load_own(layout: &Layout) -> Result<Suite, Failure> {
    let suite = Suite::load_layout(&fetched(layout));
    problems::write_notes(&mut clean::messages(), &suite.notes)?;
    Ok(suite)
}

/// Loads a whole suite, which must have no problems. `refusal` says what is not done otherwise.
pub(crate) fn load_sound(layout: &Layout, refusal: &str) -> Result<Suite, Failure> {
    let suite = load_own(layout)?;
    report_problems(&suite.problems)?;
    if suite.problems.is_empty() {
        return Ok(suite);
    }
    Err(Failure::Request(refusal.to_owned()))
}

/// Loads as [`load_filtered`] does, and reports nothing.
pub(crate) fn find(
    templates: &[PathBuf],
    cases: &[PathBuf],
    set: &SetArguments,
    filters: &[Filter],
) -> Result<Inputs, Failure> {
    let layout = home::layout()?;
    narrow_or_whole(&layout, filters, |layout| {
        find_in(layout, templates, cases, set)
    })
}

/// What `load` finds in a part of the suite, if every filter matches something there, or nothing can
/// because there is no template; otherwise what it finds in the whole suite.
fn narrow_or_whole(
    layout: &Layout,
    filters: &[Filter],
    load: impl Fn(&Layout) -> Result<Inputs, Failure>,
) -> Result<Inputs, Failure> {
    if !filters.is_empty() {
        let part = load(&narrowed(layout, filters))?;
        // A hub that did not have a template is not asked for it again.
        let has_none = part.suite.templates.is_empty() && !part.suite.problems.is_empty();
        let own = layout.configuration().map_or(&[][..], |own| &own.templates);
        let names_own = |filter: &Filter| {
            own.iter()
                .any(|one| filter.to_string() == one.name.as_str())
        };
        let mut paths = filters.iter().filter(|one| !(has_none && names_own(one)));
        let refusal = paths.find_map(|one| one.path_refusal(&part.suite));
        refusal.map_or(Ok(()), Err)?;
        if has_none || select(&part.suite, filters).is_ok() {
            return Ok(part);
        }
    }
    load(layout)
}

fn find_in(
    layout: &Layout,
    templates: &[PathBuf],
    cases: &[PathBuf],
    set: &SetArguments,
) -> Result<Inputs, Failure> {
    if templates.is_empty() && cases.is_empty() {
        // Settings apply only to named templates, so here they would have no effect.
        Sources::find(templates, set)?;
        return Ok(Inputs {
            suite: Suite::load_layout(&fetched(layout)),
            origin: origin(layout, templates, cases),
            layout: Some(layout.clone()),
            around: None,
        });
    }
    let sources = Sources::find(templates, set)?;
    let layout = fetched_unless(layout, templates);
    let origin = origin(&layout, templates, cases);
    let mut suite = if templates.is_empty() || !sources.paths().is_empty() {
        Suite::load_around(&layout, sources.paths(), cases)
    } else {
        // No named template was found.
        Suite::default()
    };
    sources.settle(&mut suite);
    for problem in &mut suite.problems {
        if problem.message == NOT_THERE && problem.help.is_none() && cases.contains(&problem.path) {
            problem.help = sources::near(&problem.path);
        }
    }
    Ok(Inputs {
        suite,
        layout: None,
        around: Some(layout),
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
        if let Some(found) = rolecall_io::remote::find(source, cache_folder().as_deref()) {
            return Some(found.map(|found| {
                if let Some(fetched) = &found.fetched {
                    tell(fetched);
                }
                found.path
            }));
        }
        // The user may have meant the name of a model.
        let is_there = configured.local.as_ref().is_ok_and(|local| is_there(local));
        let meant = rolecall_io::remote::meant(source).filter(|_| !is_there)?;
        Some(Err(Problem::new(source, NOT_THERE).help(meant)))
    })
}
