//! The suite: every template, every case, and the pairs they make.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rolecall_core::{Case, CaseId, Dialect, Template, TemplateName, TemplatePart};

use crate::case_file::{self, ToolFiles, read_family_in};
use crate::configuration::Configuration;
use crate::conversation::{self, Conversations};
use crate::layout::Layout;
use rolecall_core::file::is_there;
use rolecall_core::naming;
use rolecall_core::problem::{Note, Problem};
use rolecall_core::root::Root;
use rolecall_front::front::Front;
use rolecall_io::source;

/// Templates and cases that were loaded together.
#[derive(Debug, Default)]
pub struct Suite {
    pub templates: Vec<Template>,
    /// The cases: files by name, cases in the order of their file.
    pub cases: Vec<Case>,
    /// What each family has in common, by family.
    pub families: Vec<(String, String)>,
    /// Tool files that some case names.
    pub used_tools: HashSet<PathBuf>,
    /// Everything that is wrong with the files. All other files were loaded.
    pub problems: Vec<Problem>,
    /// Notes about the sources of templates.
    pub notes: Vec<Note>,
    /// The files of the cases that are conversations from outside: their names are lines.
    pub logs: HashSet<PathBuf>,
    /// For each copy of a case, the fronts that require it. Templates with one of these
    /// fronts are rendered with the case and its copy.
    pub neighbours: HashMap<CaseId, Vec<Front>>,
    /// Whether its layout has templates that were not read, because no filter asks for them.
    pub lacks_templates: bool,
    /// Likewise for cases. What is said of a whole template cannot be said then.
    pub lacks_cases: bool,
}

/// One template with one case.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'s> {
    pub template: &'s Template,
    pub case: &'s Case,
}

/// The folders with the tools that cases of a file or folder may name.
fn tools_of(layout: &Layout, cases: &Path) -> Vec<PathBuf> {
    let own = layout.configuration();
    let own = own.map(|own| [cases.join("tools"), own.root().join("tools")]);
    own.into_iter().flatten().chain([layout.tools()]).collect()
}

/// The templates of pairs, each once if its pairs are consecutive.
pub fn templates_of<'s>(pairs: &[Pair<'s>]) -> Vec<&'s Template> {
    let mut templates: Vec<_> = pairs.iter().map(|pair| pair.template).collect();
    templates.dedup_by(|a, b| std::ptr::eq(*a, *b));
    templates
}

impl<'s> Pair<'s> {
    /// The template of the model that the front chooses for the case; none if the front
    /// refuses.
    pub fn chosen(&self) -> Option<&'s Template> {
        self.front().choose(self.template, self.case).ok()
    }

    /// The names of its template and its case.
    pub fn key(&self) -> (&'s TemplateName, &'s CaseId) {
        (&self.template.name, &self.case.id)
    }

    /// The front that comes before the template.
    pub fn front(&self) -> Front {
        let named = self.case.front.map(Front::named);
        named.unwrap_or_else(|| Front::of(self.template))
    }
}

impl Suite {
    /// Loads cases from files and folders, without templates and without the copies for other fronts,
    /// which take as long as the reading. A problem with one file does not keep others from being loaded.
    pub fn load_conversations(cases: &[PathBuf], tools: &[PathBuf]) -> Suite {
        let mut suite = Suite::default();
        let logs = suite.load_named_cases(cases, |_| tools.to_vec());
        suite.add_conversations(logs);
        suite
    }

    /// Loads the suite of a layout. Its templates have folders of snapshots: one whose
    /// name cannot be a folder everywhere is a problem.
    pub fn load_layout(layout: &Layout) -> Suite {
        let mut suite = Suite::load_around(layout, &[], &[]);
        let problems = suite.templates.iter().filter_map(naming::problem);
        suite.problems.extend(problems);
        suite
            .templates
            .retain(|template| naming::is_plain(&template.name));
        suite
    }

    /// Loads templates from sources and cases from files and folders. If none are named, it
    /// loads those of a layout.
    pub fn load_around(layout: &Layout, templates: &[PathBuf], cases: &[PathBuf]) -> Suite {
        let mut suite = Suite::default();
        suite.load_templates_around(layout, templates);
        if let (Some(configuration), [_, ..]) = (layout.configuration(), templates) {
            suite.adopt(configuration);
        }
        let logs = suite.load_named_cases(cases, |path| tools_of(layout, path));
        // If filters match no template, nobody renders the cases.
        let is_needless =
            layout.is_narrowed() && suite.templates.is_empty() && suite.problems.is_empty();
        if cases.is_empty() && !is_needless {
            suite.load_cases_of(layout);
        }
        // Before the copies for other fronts: a case whose name is taken gets none.
        suite.settle_names();
        suite.add_cases_of_fronts();
        suite.add_conversations(logs);
        suite
    }

    /// Loads cases from files and folders, and returns the conversations of the files that are no case
    /// files.
    fn load_named_cases(
        &mut self,
        cases: &[PathBuf],
        tools: impl Fn(&Path) -> Vec<PathBuf>,
    ) -> Vec<Case> {
        let mut logs = Vec::new();
        for path in cases {
            match conversation::text_of(path) {
                None => self.load_cases(path, &tools(path), None, |_| true),
                Some(text) => {
                    let read = text.map_err(|problem| vec![problem]);
                    match read.and_then(|text| conversation::read(path, &text)) {
                        Ok(read) => logs.extend(self.told_of(path, read)),
                        Err(problems) => self.problems.extend(problems),
                    }
                }
            }
        }
        self.find_unread(cases);
        logs
    }

    /// The cases of a file with conversations. What is wrong in it, and what is not read, becomes the
    /// suite's.
    pub fn told_of(&mut self, path: &Path, read: Conversations) -> Vec<Case> {
        self.logs.insert(path.to_path_buf());
        self.notes.extend(read.note(path));
        self.problems.extend(read.problems);
        conversation::cases(path, read.read)
    }

    /// The file and the line of a conversation from outside.
    pub fn place_of(&self, id: &CaseId) -> Option<(&Path, usize)> {
        let case = self.cases.iter().find(|case| case.id == *id)?;
        Some((&case.path, self.line_of(case)?))
    }

    /// Whether conversations from outside cannot be read.
    pub fn has_unread(&self) -> bool {
        let mut files = self.problems.iter().map(|problem| &problem.path);
        files.any(|path| self.logs.contains(path))
    }

    /// The line of a conversation from outside.
    pub fn line_of(&self, case: &Case) -> Option<usize> {
        let line = case.id.name().split('-').next()?.parse().ok()?;
        self.logs.contains(&case.path).then_some(line)
    }

    /// Adds conversations from outside. They are rendered as an application gets them: no front needs
    /// a copy to compare them with.
    fn add_conversations(&mut self, cases: Vec<Case>) {
        self.cases.extend(cases);
        self.keep_first_cases();
    }

    /// Puts templates that are loaded already next to the cases of a layout.
    pub fn with_cases_of(layout: &Layout, templates: Vec<Template>) -> Suite {
        let mut suite = Suite {
            templates,
            ..Suite::default()
        };
        suite.load_cases_of(layout);
        suite.add_cases_of_fronts();
        suite
    }

    /// Loads templates from sources, or those of a layout if none are named, and no cases.
    pub fn templates_around(layout: &Layout, templates: &[PathBuf]) -> Suite {
        let mut suite = Suite::default();
        suite.load_templates_around(layout, templates);
        suite.settle_names();
        suite
    }

    fn load_templates_around(&mut self, layout: &Layout, templates: &[PathBuf]) {
        match (templates, layout.configuration()) {
            ([], Some(configuration)) => {
                let is_asked_for = |name: &str| layout.may_have_template(name);
                self.load_configured(configuration, is_asked_for);
                let mut all = configuration.templates.iter();
                self.lacks_templates = !all.all(|one| is_asked_for(one.name.as_str()));
            }
            ([], None) => {
                self.lacks_templates = layout.is_narrowed();
                for path in layout.template_sources() {
                    self.load_templates(&path);
                }
            }
            (paths, _) => {
                // One file or folder may be spelt in several ways.
                let mut known: Vec<&PathBuf> = Vec::new();
                for path in paths {
                    if !known.iter().any(|other| is_spelt_otherwise(other, path)) {
                        self.load_templates(path);
                        known.push(path);
                    }
                }
            }
        }
    }

    /// Loads the cases of a layout. A suite of one's own has the built-in cases that it chose,
    /// and then its own.
    fn load_cases_of(&mut self, layout: &Layout) {
        let conversations = layout.conversations();
        let configuration = layout.configuration();
        let is_asked_for = |family: &str| layout.may_have_family(family);
        // To read them all takes much longer than a small suite.
        if configuration.is_none_or(|own| !own.builtin.is_empty()) {
            self.load_cases(&conversations, &[layout.tools()], None, is_asked_for);
        }
        let Some(configuration) = configuration else {
            return;
        };
        let chosen = &configuration.builtin;
        let all: Vec<(&str, &str)> = self
            .cases
            .iter()
            .map(|case| (case.id.family(), case.id.name()))
            .collect();
        if !layout.is_narrowed() {
            let unmatched = chosen.unmatched(&configuration.path, &all);
            self.problems.extend(unmatched);
        }
        self.cases
            .retain(|case| chosen.has(case.id.family(), case.id.name()));
        let has_case = |name: &str| self.cases.iter().any(|case| case.id.family() == name);
        self.families.retain(|(name, _)| has_case(name));
        let count = self.cases.len();
        let bound = Root::of_folder_of(&configuration.path);
        let bound = bound.map_err(|problem| self.problems.push(problem)).ok();
        for path in &configuration.own {
            self.load_cases(path, &tools_of(layout, path), bound.as_ref(), is_asked_for);
        }
        self.find_unread(&configuration.own);
        let beside = case_file::unread_beside(&configuration.path, &configuration.own);
        self.problems.extend(beside);
        // A family has one file of snapshots, so its name has to be unique.
        let mut reported = HashSet::new();
        for case in self.cases.split_off(count) {
            let family = case.id.family();
            if !is_there(&conversations.join(format!("{family}.json"))) {
                self.cases.push(case);
            } else if reported.insert(family.to_owned()) {
                let message = format!("a built-in family is also named `{family}`");
                self.problems
                    .push(Problem::new(&case.path, message).help("rename the file"));
            }
        }
    }

    /// The templates of a suite of one's own.
    fn load_configured(
        &mut self,
        configuration: &Configuration,
        is_asked_for: impl Fn(&str) -> bool,
    ) {
        let templates = configuration.templates.iter();
        for configured in templates.filter(|one| is_asked_for(one.name.as_str())) {
            let here = |problem: Problem| Problem {
                help: problem.help,
                ..Problem::new(
                    &configuration.path,
                    format!("{}: {}", configured.source, problem.message),
                )
                .at(configured.position)
            };
            let local = match &configured.local {
                Ok(local) => local,
                Err(problem) => {
                    self.problems.push(here(problem.clone()));
                    continue;
                }
            };
            let mut found = source::read(local);
            let is_alone = found.templates.len() == 1;
            let mut applied = Vec::new();
            for mut template in found.templates {
                match configured.apply(&mut template, is_alone, &configuration.path) {
                    Ok(()) => applied.push(template),
                    Err(problem) => found.problems.push(problem),
                }
            }
            for template in &mut applied {
                template.has_all_tokens = true;
            }
            source::renew_notes(&mut found.notes, &applied);
            self.templates.append(&mut applied);
            for problem in &mut found.problems {
                if problem.path == *local && problem.position.is_none() {
                    *problem = here(problem.clone());
                }
            }
            self.problems.append(&mut found.problems);
            self.notes.append(&mut found.notes);
        }
        self.find_misspelt(configuration);
    }

    /// Reports special tokens and variables that a suite's file sets for these templates, where another
    /// name was probably meant.
    fn find_misspelt(&mut self, configuration: &Configuration) {
        for configured in &configuration.templates {
            let own = self
                .templates
                .iter()
                .filter(|template| template.has_all_tokens && configured.is_of(&template.name));
            let unread = configured.unread(&configuration.path, own).into_iter();
            let misspelt = unread.filter(|problem| problem.help.is_some());
            self.problems.extend(misspelt);
        }
    }

    /// Takes a suite's own template for each of these that has the same file: with its name there,
    /// and with what the suite sets for it. A file that several templates of the suite have stays as
    /// it is.
    fn adopt(&mut self, configuration: &Configuration) {
        let mut own = Suite::default();
        own.load_configured(configuration, |_| true);
        for template in &mut self.templates {
            let mut same = own
                .templates
                .iter()
                .filter(|own| own.part == template.part && is_same(&own.path, &template.path));
            if let (Some(one), None) = (same.next(), same.next()) {
                *template = one.clone();
            }
        }
        source::renew_notes(&mut self.notes, &self.templates);
        self.find_misspelt(configuration);
    }

    /// Whether a template is rendered with a case. The case has to be for the template's dialect. A
    /// copy for another front is rendered only if it is compared with the template's own front, or
    /// if that front chooses another template of the model for the raw case.
    pub fn has_pair(&self, template: &Template, case: &Case) -> bool {
        let is_compared = || {
            let front = Front::of(template);
            let fronts = self.neighbours.get(&case.id);
            fronts.is_some_and(|fronts| fronts.contains(&front))
                || case.front == Some(Front::Raw.name()) && front.chooses_other(template, case)
        };
        case.is_for(template.dialect) && (case.front.is_none() || is_compared())
    }

    /// Every template with every case that it is rendered with, template by template.
    pub fn pairs(&self) -> impl Iterator<Item = Pair<'_>> {
        let templates = self.templates.iter();
        templates.flat_map(|template| self.pairs_among(template, &self.cases))
    }

    /// The pairs of a template with some of the cases.
    pub fn pairs_among<'s>(
        &'s self,
        template: &'s Template,
        cases: &'s [Case],
    ) -> impl Iterator<Item = Pair<'s>> {
        let cases = cases.iter().filter(|case| self.has_pair(template, case));
        cases.map(move |case| Pair { template, case })
    }

    /// The names of the families with their cases, which are consecutive.
    pub(crate) fn cases_by_family(&self) -> impl Iterator<Item = (&str, &[Case])> {
        let of_family = self.cases.chunk_by(|a, b| a.id.family() == b.id.family());
        of_family.filter_map(|cases| Some((cases.first()?.id.family(), cases)))
    }

    /// The pairs of a template and a family, in the order of the case file.
    pub fn pairs_of<'s>(
        &'s self,
        template: &'s Template,
        family: &str,
    ) -> impl Iterator<Item = Pair<'s>> {
        let mut families = self.cases_by_family();
        let cases = families.find_map(|(name, cases)| (name == family).then_some(cases));
        self.pairs_among(template, cases.unwrap_or_default())
    }

    /// The pairs of a family as they are in its snapshots: in the order of the case file, and for
    /// each case by the names of the templates.
    pub fn pairs_by_case(&self, family: &str) -> Vec<Pair<'_>> {
        let mut templates: Vec<&Template> = self.templates.iter().collect();
        templates.sort_by(|a, b| a.name.cmp(&b.name));
        let mut families = self.cases_by_family();
        let cases = families.find_map(|(name, cases)| (name == family).then_some(cases));
        let cases = cases.unwrap_or_default().iter();
        cases
            .flat_map(|case| {
                let of_case = templates.iter().filter(|one| self.has_pair(one, case));
                of_case.map(move |template| Pair { template, case })
            })
            .collect()
    }

    pub fn template(&self, name: &TemplateName) -> Option<&Template> {
        self.templates
            .iter()
            .find(|template| template.name == *name)
    }

    /// Adds copies of cases for other fronts. A case gets a copy if the fronts of the
    /// templates, or the usual front of one of their dialects, require another version of it, or
    /// if a front chooses another template for it than the requested one.
    fn add_cases_of_fronts(&mut self) {
        let has = |dialect: &Dialect| self.templates.iter().any(|one| one.dialect == *dialect);
        let mut usual = Dialect::ALL.to_vec();
        // A front takes its time, and without a template nobody asks for a dialect's cases.
        usual.retain(|dialect| self.templates.is_empty() || has(dialect));
        let usual = usual.into_iter();
        let usual = usual.map(|dialect| (dialect, Front::default_of(dialect)));
        let own = self.templates.iter();
        let own = own.map(|template| (template.dialect, Front::of(template)));
        let owns: BTreeSet<(Dialect, Front)> = own.chain(usual).collect();
        for case in std::mem::take(&mut self.cases) {
            let mut copies: BTreeMap<Front, (BTreeSet<Dialect>, Vec<Front>)> = BTreeMap::new();
            for (dialect, own) in &owns {
                if !case.is_for(*dialect) {
                    continue;
                }
                for front in own.compared_fronts(&case) {
                    let (dialects, owns) = copies.entry(front).or_default();
                    dialects.insert(*dialect);
                    owns.push(*own);
                }
            }
            for template in &self.templates {
                if case.is_for(template.dialect)
                    && Front::of(template).chooses_other(template, &case)
                {
                    let (dialects, _) = copies.entry(Front::Raw).or_default();
                    dialects.insert(template.dialect);
                }
            }
            let copies = copies.into_iter().map(|(front, (dialects, owns))| {
                let after = Case {
                    dialects: dialects.into_iter().collect(),
                    ..case.with_front(front.name())
                };
                (after, owns)
            });
            let copies: Vec<_> = copies.collect();
            self.cases.push(case);
            for (after, owns) in copies {
                self.neighbours.insert(after.id.clone(), owns);
                self.cases.push(after);
            }
        }
    }

    /// Gives all templates of its dialects one front, whatever they had. Returns whether
    /// this changed any template.
    pub fn use_front(&mut self, front: Front) -> bool {
        let mut is_other = false;
        for template in &mut self.templates {
            if front.is_for(template.dialect) && Front::of(template) != front {
                template.front = Some(front.name().to_owned());
                is_other = true;
            }
        }
        is_other
    }

    /// Adds the templates of another suite, with the problems and notes about them. Those that are
    /// there already get longer names, where they share one.
    pub fn add_templates(&mut self, other: Suite) {
        for template in &mut self.templates {
            if other.template(&template.name).is_some() {
                template.name = name_with_folders(&template.name, template, 1);
            }
        }
        self.templates.extend(other.templates);
        self.templates.sort_by(|a, b| a.name.cmp(&b.name));
        self.problems.extend(other.problems);
        self.notes.extend(other.notes);
    }

    /// The cases as the case files have them, without copies for other fronts.
    pub fn written_cases(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.front.is_none())
    }

    fn load_templates(&mut self, path: &Path) {
        let found = source::read(path);
        // Paths may overlap, so duplicates are skipped. Models of a store may share a file
        // under different names.
        for template in found.templates {
            let is_known = self.templates.iter().any(|known| {
                (&known.name, &known.part) == (&template.name, &template.part)
                    && is_same(&known.path, &template.path)
            });
            if !is_known {
                self.templates.push(template);
            }
        }
        for problem in found.problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        for note in found.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Loads the cases of a file or folder, of the families that are asked for. With a suite's folder,
    /// nothing outside of it is read.
    fn load_cases(
        &mut self,
        path: &Path,
        tools: &[PathBuf],
        suite: Option<&Root>,
        is_asked_for: impl Fn(&str) -> bool,
    ) {
        let canonical = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let (files, folder) = self.files(path, &["json"], "case file (.json)");
        let bound = folder.as_ref().or(suite);
        // Tools of case files outside the suite are next to their folder, as in the suite.
        let neighbours = files
            .first()
            .and_then(|file| file.parent())
            .map(|folder| folder.join("../tools"))
            .filter(|folder| folder.is_dir())
            .filter(|folder| suite.is_none_or(|suite| suite.has(folder).is_ok()))
            .filter(|folder| {
                tools
                    .iter()
                    .all(|known| canonical(known) != canonical(folder))
            });
        let folders = neighbours.into_iter().chain(tools.iter().cloned());
        let folders = ToolFiles::from(folders.collect::<Vec<_>>());
        let mut used = BTreeSet::new();
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            if !is_asked_for(&name) {
                self.lacks_cases = true;
                continue;
            }
            let family = read_family_in(bound, &file, &folders);
            if let Some(about) = family.about {
                self.families.push((name.into_owned(), about));
            }
            self.cases.extend(family.cases);
            self.problems.extend(family.problems);
            self.notes.extend(family.notes);
            used.extend(family.tool_files);
        }
        self.used_tools.extend(used.iter().map(canonical));
    }

    /// Reports what was probably meant to be a case file in the folders of cases, and that nobody
    /// reads. `cases` are all files and folders with cases.
    fn find_unread(&mut self, cases: &[PathBuf]) {
        let folders = cases.iter().filter(|path| path.is_dir());
        let unread = folders.flat_map(|folder| case_file::unread(folder, cases));
        self.problems.extend(unread);
    }

    /// The files of a folder by extension, and the folder, which bounds what is read. Or the one
    /// file that the path names.
    fn files(
        &mut self,
        path: &Path,
        extensions: &[&str],
        what: &str,
    ) -> (Vec<PathBuf>, Option<Root>) {
        let has_extension = |path: &Path| {
            path.extension()
                .and_then(|extension| extension.to_str())
                .is_some_and(|extension| extensions.contains(&extension))
        };
        if !is_there(path) {
            self.problems.push(Problem::new(path, source::NOT_THERE));
            return (Vec::new(), None);
        }
        if !path.is_dir() {
            return (vec![path.to_path_buf()], None);
        }
        let paths = Root::new(path).and_then(|root| Ok((root.entries(path)?, root)));
        let (paths, root) = match paths {
            Ok(found) => found,
            Err(problem) => {
                self.problems.push(problem);
                return (Vec::new(), None);
            }
        };
        let mut files = Vec::new();
        for path in paths.into_iter().filter(|path| has_extension(path)) {
            match root.has(&path) {
                Ok(_) => files.push(path),
                Err(problem) => self.problems.push(problem),
            }
        }
        if files.is_empty() {
            self.problems
                .push(Problem::new(path, format!("the folder holds no {what}")));
        }
        (files, Some(root))
    }

    /// Gives templates that share a name longer ones: first with the extension or the folder of
    /// their models, then with more and more of the folders above them.
    fn lengthen_names(&mut self) {
        self.rename_sharing(longer_name);
        for folders in 1..=MOST_FOLDERS {
            self.rename_sharing(|name, template| name_with_folders(name, template, folders));
        }
    }

    /// Renames the templates that share their name with others.
    fn rename_sharing(&mut self, longer: impl Fn(&TemplateName, &Template) -> TemplateName) {
        let mut sharing: BTreeMap<TemplateName, Vec<usize>> = BTreeMap::new();
        for (index, template) in self.templates.iter().enumerate() {
            sharing
                .entry(template.name.clone())
                .or_default()
                .push(index);
        }
        for (name, indices) in sharing.into_iter().filter(|(_, all)| all.len() > 1) {
            for index in indices {
                if let Some(template) = self.templates.get_mut(index) {
                    template.name = longer(&name, template);
                }
            }
        }
    }

    fn settle_names(&mut self) {
        self.lengthen_names();
        self.templates.sort_by(|a, b| a.name.cmp(&b.name));
        let mut kept: Vec<Template> = Vec::new();
        for template in std::mem::take(&mut self.templates) {
            match kept.last() {
                Some(first) if first.name == template.name => {
                    let message = format!(
                        "a template named `{}` is already there: {}",
                        template.name,
                        first.path.display()
                    );
                    self.problems
                        .push(Problem::new(template.path, message).help("rename one of them"));
                }
                _ => kept.push(template),
            }
        }
        self.templates = kept;
        self.keep_first_cases();
    }

    /// Keeps the first of the cases with one name.
    fn keep_first_cases(&mut self) {
        let mut seen = HashSet::new();
        let cases = std::mem::take(&mut self.cases);
        for case in cases {
            if seen.insert(case.id.clone()) {
                self.cases.push(case);
            } else {
                let message = format!("a case named `{}` is already there", case.id);
                self.problems
                    .push(Problem::new(case.path, message).help("rename the case or its file"));
            }
        }
    }
}

/// Whether two paths lead to the same file or folder.
fn is_same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Whether two paths are the same, and no link has another name for it: `a/x` and `./a/x`.
fn is_spelt_otherwise(a: &Path, b: &Path) -> bool {
    is_there(a) && !a.is_symlink() && !b.is_symlink() && is_same(a, b)
}

/// Folders that every model or store has, so they do not distinguish any.
const SHARED_FOLDERS: [&str; 4] = ["additional_chat_templates", "snapshots", "blobs", "models"];

/// The most folders above a template that become part of its name.
const MOST_FOLDERS: usize = 4;

/// Names of files that say nothing about the model: every model on the hub has such a file.
const SHARED_FILES: [&str; 2] = ["chat_template.jinja", "template.gotmpl"];

/// A name with some of the folders above the template's file. A file whose name every model has
/// lends it nothing.
fn name_with_folders(name: &TemplateName, template: &Template, count: usize) -> TemplateName {
    // A path such as `.` or `../x` names no folder.
    let path = template.path.canonicalize();
    let path = path.as_deref().unwrap_or(&template.path);
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let folders = path
        .ancestors()
        .skip(1)
        .filter_map(|folder| folder.file_name())
        .map(|folder| folder.to_string_lossy());
    let mut parts: Vec<_> = folders.take(count).collect();
    parts.reverse();
    if parts.is_empty() {
        return name.clone();
    }
    let is_shared = SHARED_FILES.contains(&file.as_ref());
    let is_whole = template.part == TemplatePart::Whole;
    if !(is_whole && is_shared) {
        let own = if is_whole { file } else { name.as_str().into() };
        parts.push(own);
    }
    naming::of_model(&parts.join("/"), None)
}

/// A longer name for a template that shares its name with others. For a template and its
/// port, the extension is added; for models in different folders, the folder is.
fn longer_name(name: &TemplateName, template: &Template) -> TemplateName {
    let file = template.path.file_name().unwrap_or_default();
    let is_named_after_its_file = template.part == TemplatePart::Whole
        && template
            .path
            .file_stem()
            .is_some_and(|stem| stem == name.as_str());
    if is_named_after_its_file {
        return TemplateName::new(&file.to_string_lossy());
    }
    // The first folder above the file whose name does not begin the template's.
    let own = name.as_str().split(['@', '/']).next().unwrap_or_default();
    let above = template
        .path
        .ancestors()
        .skip(1)
        .filter_map(|folder| folder.file_name())
        .map(|folder| folder.to_string_lossy())
        .find(|folder| folder != own && !SHARED_FOLDERS.contains(&folder.as_ref()));
    match above {
        Some(folder) => naming::of_model(&format!("{folder}/{name}"), None),
        None => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_one_file_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        for sub in [layout.conversations(), layout.templates()] {
            std::fs::create_dir_all(sub).unwrap();
        }
        std::fs::write(layout.templates().join("a.jinja"), "A").unwrap();
        std::fs::write(layout.templates().join("a.gotmpl"), "A").unwrap();
        std::fs::write(layout.templates().join("b.jinja"), b"\xFF").unwrap();
        std::fs::write(layout.templates().join("c.jinja"), "C").unwrap();
        std::fs::write(layout.templates().join("c.json"), "{").unwrap();
        let messages = r#""messages": [{"role": "user", "content": "Hi"}]"#;
        let good = format!(
            r#"{{"about": "x", "cases": {{"one": {{{messages}}}, "go": {{{messages}, "dialects": ["go"]}}}}}}"#
        );
        std::fs::write(layout.conversations().join("good.json"), good).unwrap();
        std::fs::write(layout.conversations().join("bad.json"), "[").unwrap();

        let suite = Suite::load_layout(&layout);
        assert_eq!(suite.templates.len(), 2);
        assert_eq!(suite.cases.len(), 2);
        assert_eq!(suite.problems.len(), 3, "{:#?}", suite.problems);
        let pairs: Vec<_> = suite
            .pairs()
            .map(|pair| format!("{} {}", pair.template.name, pair.case.id))
            .collect();
        let expected = ["a.gotmpl good/one", "a.gotmpl good/go", "a.jinja good/one"];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn what_fronts_make_different_is_there_with_each_front() {
        let folder = tempfile::tempdir().unwrap();
        let case = |content: &str| {
            format!(r#"{{"messages": [{{"role": "user", "content": {content}}}]}}"#)
        };
        let cases = [("null", "null"), ("plain", r#""x""#)]
            .map(|(name, content)| format!("{name:?}: {}", case(content)));
        let file = folder.path().join("f.json");
        std::fs::write(
            &file,
            format!(r#"{{"about": "x", "cases": {{{}}}}}"#, cases.join(", ")),
        )
        .unwrap();
        let templates = ["a.jinja", "b.gotmpl"].map(|name| folder.path().join(name));
        for template in &templates {
            std::fs::write(template, "x").unwrap();
        }
        let suite = Suite::load_around(&Layout::new(folder.path()), &templates, &[file]);
        assert_eq!(suite.problems, []);
        let names = |suite: &Suite| -> Vec<String> {
            let name = |case: &Case| {
                let dialects: Vec<_> = case.dialects.iter().map(|dialect| dialect.name()).collect();
                format!("{} {}", case.id.name(), dialects.join("+"))
            };
            suite.cases.iter().map(name).collect()
        };
        // transformers drops null values, and of Ollama's endpoints one alone refuses it.
        let copies = [
            "null jinja+go",
            "null@raw jinja+go",
            "null@ollama-openai go",
            "plain jinja+go",
        ];
        assert_eq!(names(&suite), copies);
        assert_eq!(suite.written_cases().count(), 2);
    }

    #[test]
    fn a_case_is_raw_too_for_the_templates_whose_front_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let templates = ["plain.jinja", "sees.jinja", "go.gotmpl"].map(|name| write(name, "x"));
        write("sees.json", r#"{"front": "transformers-processor"}"#);
        let case =
            |messages: &str| format!(r#"{{"messages": [{messages}], "dialects": ["jinja"]}}"#);
        let [null, image, same] = [
            r#"{"role": null}"#,
            r#"{"content": [{"type": "image_url", "image_url": "u"}]}"#,
            "{}",
        ]
        .map(case);
        let text = format!(
            r#"{{"about": "x", "cases": {{"null": {null}, "image": {image}, "same": {same}}}}}"#
        );
        let cases = [write("f.json", &text)];
        let raw = |suite: &Suite| -> Vec<String> {
            let raw = suite.pairs().filter(|pair| pair.case.front == Some("raw"));
            raw.map(|pair| format!("{} {}", pair.template.name, pair.case.id))
                .collect()
        };
        let layout = Layout::new(folder.path());
        let mut suite = Suite::load_around(&layout, &templates, &cases);
        assert_eq!(
            raw(&suite),
            ["plain f/null@raw", "sees f/null@raw", "sees f/image@raw"]
        );
        assert_eq!(suite.cases.len(), 5);
        let front = |suite: &Suite, name: &str| {
            let template = suite.template(&TemplateName::new(name)).unwrap();
            let case = suite.written_cases().next().unwrap();
            Pair { template, case }.front()
        };
        assert_eq!(front(&suite, "sees"), Front::TransformersProcessor);
        assert_eq!(front(&suite, "go"), Front::default_of(Dialect::Go));
        // A front that is asked for overrides the templates' own.
        assert!(suite.use_front(Front::Transformers));
        assert!(!suite.use_front(Front::Transformers));
        assert_eq!(front(&suite, "sees"), Front::Transformers);
        assert_eq!(front(&suite, "go"), Front::default_of(Dialect::Go));
        // A name that no front has is never taken for the usual one.
        let template = &suite.templates[0];
        let case = &suite.cases[0].with_front("transfromers");
        assert_eq!(Pair { template, case }.front(), Front::Unknown);
        // Without such a template nobody needs the image raw.
        let suite = Suite::load_around(&layout, &templates[..1], &cases);
        assert_eq!(suite.cases.len(), 4);
    }

    #[test]
    fn paths_that_overlap_give_each_template_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jinja");
        std::fs::write(&path, "A").unwrap();
        let layout = Layout::new(folder.path());
        let paths = [path.clone(), folder.path().into(), path];
        let suite = Suite::templates_around(&layout, &paths);
        assert_eq!(suite.problems, []);
        assert_eq!(suite.templates.len(), 1);
        // Also if they are spelt in different ways: as two folders of this name they would clash.
        let model = folder.path().join("model");
        std::fs::create_dir(&model).unwrap();
        std::fs::write(model.join("chat_template.jinja"), "A").unwrap();
        std::fs::write(model.join("broken.jinja"), b"\xFF").unwrap();
        let spelt = ["chat_template.jinja", "broken.jinja"].map(|file| {
            let other = model.join("..").join("model").join(file);
            [model.join(file), other, model.join(".").join(file)]
        });
        let suite = Suite::templates_around(&layout, &spelt.concat());
        assert_eq!(suite.problems.len(), 1, "{:#?}", suite.problems);
        assert_eq!(suite.templates.len(), 1);
    }

    #[test]
    fn a_path_that_is_not_there_is_a_problem() {
        let suite = Suite::templates_around(&Layout::new("."), &["nowhere".into()]);
        assert_eq!(
            suite.problems[0].to_string(),
            "nowhere: no such file or folder"
        );
    }
}
