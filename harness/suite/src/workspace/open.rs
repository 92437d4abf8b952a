//! Opens a workspace: finds the suite, reads what is asked for.

use std::path::PathBuf;

use rolecall_core::file::is_there;
use rolecall_core::problem::{Problem, did_you_mean};
use rolecall_io::settings::Settings;
use rolecall_io::source::NOT_THERE;

use super::own_template::{self, OwnTemplate, named_template, template_names};
use super::places::{self, Places};
use super::stdin;
use super::suite_around::Access;
use crate::expectations::Expectations;
use crate::failure::Failure;
use crate::layout::Layout;
use crate::selection::{Filter, narrowed, select};
use crate::suite::{Pair, Suite, templates_of};

/// What somebody asks for. What they do not name comes from the suite.
#[derive(Default)]
pub struct Subject<'a> {
    /// Templates: files, folders, models by name, `-` for standard input.
    pub templates: &'a [PathBuf],
    /// Whether the names of the suite's templates are among them, too. They come before files.
    pub has_names: bool,
    /// Files and folders with cases, and logs. None if nobody needs cases.
    pub cases: Option<&'a [PathBuf]>,
    /// Settings of the named templates.
    pub settings: Settings,
    /// What is asked of the whole. What no filter can match is not read.
    pub filters: &'a [Filter],
}

/// Templates and conversations, and the suite that they are from or that is around them.
pub struct Workspace {
    /// The templates and cases, with the problems of their files and notes on them.
    pub suite: Suite,
    /// The suite, or the one around.
    pub layout: Layout,
    /// Whether everything is as the suite has it. Then it has snapshots and records.
    pub is_own: bool,
    /// Where the templates and cases come from, in words.
    pub origin: String,
}

impl Workspace {
    /// Finds the suite around the user's folder, and reads what is asked for. What is wrong with single
    /// files is in [`Suite::problems`].
    ///
    /// # Errors
    ///
    /// The request makes no sense, or the suite cannot be found or read.
    pub fn open(access: &Access<'_>, subject: &Subject<'_>) -> Result<Workspace, Failure> {
        Workspace::open_in(access, &access.layout()?, subject)
    }

    /// Reads what is asked for, with this suite around it.
    ///
    /// # Errors
    ///
    /// As of [`Workspace::open`].
    pub fn open_in(
        access: &Access<'_>,
        layout: &Layout,
        subject: &Subject<'_>,
    ) -> Result<Workspace, Failure> {
        let (mut own, mut named) = (Vec::new(), Vec::new());
        for path in subject.templates {
            let text = path.to_string_lossy();
            match subject
                .has_names
                .then(|| named_template(access, layout, &text))
            {
                Some(Some(template)) if own.contains(&template) => {}
                Some(Some(template)) => own.push(template),
                _ => named.push(path.clone()),
            }
        }
        Asked::of(access, subject, own, &named)?.narrow_or_whole(layout)
    }

    /// Reads a template of a suite, whatever else is asked for.
    ///
    /// # Errors
    ///
    /// As of [`Workspace::open`].
    pub fn open_own(
        access: &Access<'_>,
        layout: &Layout,
        own: OwnTemplate,
        subject: &Subject<'_>,
    ) -> Result<Workspace, Failure> {
        Asked::of(access, subject, vec![own], &[])?.narrow_or_whole(layout)
    }

    /// What was accepted and recorded of some pairs. None if they are not the suite's.
    pub fn expectations(&self, pairs: &[Pair<'_>]) -> Result<Option<Expectations>, Failure> {
        let read = || Expectations::read(&self.layout, templates_of(pairs));
        let read = self.is_own.then(read).transpose();
        read.map_err(Failure::Problems)
    }
}

/// What is asked for, with what its words mean here.
struct Asked<'a> {
    access: &'a Access<'a>,
    subject: &'a Subject<'a>,
    own: Vec<OwnTemplate>,
    places: Places,
}

impl<'a> Asked<'a> {
    fn of(
        access: &'a Access<'a>,
        subject: &'a Subject<'a>,
        own: Vec<OwnTemplate>,
        named: &[PathBuf],
    ) -> Result<Asked<'a>, Failure> {
        let refusal = subject.settings.refusal(own.is_empty() && named.is_empty());
        refusal.map_or(Ok(()), |why| Err(Failure::Request(why)))?;
        let places = Places::find(access, named)?;
        Ok(Asked {
            access,
            subject,
            own,
            places,
        })
    }

    /// What is found in the part of the suite that the filters name, if every filter matches something
    /// there, or nothing can because there is no template. Otherwise what is found in the whole suite, so
    /// that messages can name what is near.
    fn narrow_or_whole(&self, layout: &Layout) -> Result<Workspace, Failure> {
        let filters = self.subject.filters;
        if filters.is_empty() {
            return Ok(self.load(layout));
        }
        let part = self.load(&narrowed(layout, filters));
        // A hub that did not have a template is not asked for it again.
        let has_none = part.suite.templates.is_empty() && !part.suite.problems.is_empty();
        let own = layout.configuration().map_or(&[][..], |own| &own.templates);
        let names_own = |filter: &Filter| {
            let mut own = own.iter();
            own.any(|one| filter.to_string() == one.name.as_str())
        };
        let mut paths = filters.iter().filter(|one| !(has_none && names_own(one)));
        let refusal = paths.find_map(|one| one.path_refusal(&part.suite));
        refusal.map_or(Ok(()), Err)?;
        if has_none || select(&part.suite, filters).is_ok() {
            Ok(part)
        } else {
            Ok(self.load(layout))
        }
    }

    fn load(&self, layout: &Layout) -> Workspace {
        let Subject {
            cases, settings, ..
        } = self.subject;
        let has_places = !self.places.named.is_empty();
        let mut suite = if self.own.is_empty() || has_places {
            self.load_places(layout)
        } else {
            self.load_own(layout)
        };
        if has_places && !self.own.is_empty() {
            suite.add_templates(self.load_own(layout));
        }
        let named_cases = cases.unwrap_or_default();
        Workspace {
            suite,
            layout: layout.clone(),
            is_own: !has_places && named_cases.is_empty() && settings.is_empty(),
            origin: match (has_places, named_cases) {
                (false, []) => layout.to_string(),
                (true, []) => format!("the named templates with the cases of {layout}"),
                (false, _) => format!("the templates of {layout} with the named cases"),
                (true, _) => "the named templates and cases".to_owned(),
            },
        }
    }

    /// The templates of the named places, or all templates of the suite, with the cases.
    fn load_places(&self, layout: &Layout) -> Suite {
        let paths = self.places.paths.as_slice();
        // Models of the suite are fetched only if they are asked for.
        let layout = match self.places.named.as_slice() {
            [] => &self.access.fetched(layout),
            _ => layout,
        };
        let mut suite = match (self.places.named.as_slice(), paths) {
            // None of the named templates was found.
            ([_, ..], []) => Suite::default(),
            _ => self.read(layout, paths),
        };
        self.places.settle(&mut suite, &self.subject.settings);
        for problem in &mut suite.problems {
            if problem.message != NOT_THERE || problem.help.is_some() {
                continue;
            }
            let is_case = self
                .subject
                .cases
                .is_some_and(|all| all.contains(&problem.path));
            problem.help = if is_case {
                places::near(&problem.path)
            } else if self.subject.has_names {
                did_you_mean(&problem.path.to_string_lossy(), template_names(layout))
            } else {
                None
            };
        }
        suite
    }

    /// The named templates of the suite, with the user's settings over their own.
    fn load_own(&self, layout: &Layout) -> Suite {
        let layout = match self.subject.filters {
            [] => &own_template::only(layout, &self.own),
            _ => layout,
        };
        let is_asked = |name: &_| self.own.iter().any(|one| one.is_of(name));
        let part = self.access.fetched(&layout.with_templates(is_asked));
        let mut suite = self.read(&part, &[]);
        let is_asked = |template: &_| self.own.iter().any(|one| one.is(template));
        suite.templates.retain(is_asked);
        places::set_all(&self.subject.settings, &mut suite);
        let is_told = !suite.problems.is_empty() || !self.subject.filters.is_empty();
        for one in &self.own {
            if !is_told && !suite.templates.iter().any(|template| one.is(template)) {
                suite.problems.push(Problem {
                    help: did_you_mean(&one.name, template_names(layout)),
                    ..Problem::new(&one.name, NOT_THERE)
                });
            }
        }
        suite
    }

    /// Reads templates from some paths, or those of the suite without one, with the cases if there are to
    /// be some.
    fn read(&self, layout: &Layout, paths: &[PathBuf]) -> Suite {
        match self.subject.cases {
            None => Suite::templates_around(layout, paths),
            Some([]) if paths.is_empty() && self.own.is_empty() => Suite::load_layout(layout),
            Some(cases) => Suite::load_around(layout, paths, cases),
        }
    }
}

/// Whether a text names a template by its place: a path, a model by name, or standard input. Other
/// texts can be the names of templates of the suite.
pub fn is_place(text: &str) -> bool {
    is_there(text.as_ref()) || text.contains(['/', '\\', ':']) || text == stdin::NAME
}
