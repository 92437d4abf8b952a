//! The checks of the suite itself: everything in it has a use and a reason.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rolecall_core::{Case, CaseId, Dialect, Template, TemplateName};
use serde_json::Value;

use crate::accepting::families_of;
use crate::card_rule::CardRule;
use crate::configuration::Configuration;
use crate::divergence::{self, Divergences};
use crate::front_records;
use crate::layout::Layout;
use crate::measurement;
use crate::record::{RecordedAnswer, Unverified};
use crate::records::{AskedTemplates, Records};
use crate::reference::Reference;
use crate::response_file::unusable;
use crate::response_file::{Inspected, inspect_template};
use crate::schema::FILES;
use crate::snapshot::{FamilyFile, Snapshots, Survey, contents};
use crate::suite::{Pair, Suite};
use crate::untested::used_files;
use rolecall_check::known_defects;
use rolecall_core::file::{MOST_CASES, is_draft, is_there, read_text, read_text_of, write_below};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::invocation::{self, Site};
use rolecall_core::problem::{Problem, did_you_mean};
use rolecall_core::transcript;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_io::settings::{ReadNames, Unread};
use rolecall_io::template_file::{dialect_of, sidecar};

/// All problems of the suite as a whole, sorted by path. [`Suite::problems`] has the problems of
/// single files.
pub fn lint(layout: &Layout, suite: &Suite) -> Vec<Problem> {
    let mut findings = Vec::new();
    let divergences = match divergence::read(&layout.divergences()) {
        Ok(divergences) => divergences,
        Err(problems) => {
            findings.extend(problems);
            Divergences::default()
        }
    };
    let accepted = Snapshots::of(layout);
    let records = Records::read(layout, &accepted, &suite.templates);
    snapshots(layout, suite, &accepted, &mut findings);
    self::records(layout, suite, &accepted, &records, &mut findings);
    self::divergences(suite, &accepted, &records, &divergences, &mut findings);
    findings.extend(known_defects::unknown_contracts(&suite.templates));
    findings.extend(measurement::problems(layout));
    cases(layout, suite, &mut findings);
    drafts(layout, &mut findings);
    // Only the published suite has to have these.
    if holds_cards(layout) {
        cards(&accepted, suite, &mut findings);
    }
    response_templates(suite, &mut findings);
    if let Some(own) = layout.configuration() {
        own_tools(own, suite, &mut findings);
        unnamed(own, suite, &mut findings);
        unread_settings(own, suite, &mut findings);
    } else {
        sidecars(suite, &mut findings);
        tools(&layout.tools(), suite, &mut findings);
        strays(layout, suite, &mut findings);
        fronts(layout, &mut findings);
        schemas(layout, suite, &mut findings);
    }
    findings.sort_by(|a, b| a.path.cmp(&b.path));
    // Several templates or checks may report one file with the same words.
    findings.dedup();
    findings
}

fn snapshots(layout: &Layout, suite: &Suite, snapshots: &Snapshots, findings: &mut Vec<Problem>) {
    let pairs: Vec<Pair<'_>> = suite.pairs().collect();
    let survey = survey(layout, suite, snapshots, &pairs);
    findings.extend(survey.orphans.iter().map(orphan));
    let strange: HashSet<PathBuf> = survey.strange.iter().map(|p| p.path.clone()).collect();
    findings.extend(survey.strange);
    // A suite may keep its snapshots besides everything else.
    let is_apart =
        layout.root() != snapshots.root() && !layout.root().starts_with(snapshots.root());
    if is_apart {
        findings.extend(survey.strays.iter().map(stray));
    }
    for path in survey.pending {
        findings.push(Problem::new(path, "waits for review").help(invocation::review()));
    }
    for family in families_of(&pairs) {
        let accepted = snapshots.family(family);
        if !strange.contains(accepted.path()) {
            findings.extend(snapshots.problems(suite, family).all());
            findings.extend(accepted.undecodable());
            // What is missing may be in a part that cannot be read.
            if accepted.unreadable_part().is_none() {
                findings.extend(missing(&accepted, &suite.pairs_by_case(family)));
            }
        }
    }
}

/// What a killed program has left in the suite's own folder. If it was writing a folder there, its
/// next start puts the old one back.
fn drafts(layout: &Layout, findings: &mut Vec<Problem>) {
    let entries = std::fs::read_dir(layout.root()).into_iter().flatten();
    for entry in entries.flatten() {
        if is_draft(&entry.file_name().to_string_lossy()) {
            let message = "left over from a command that was interrupted";
            let help = "do that again, such as `export`, which puts back what was there; or look \
                        into it, and delete it";
            findings.push(Problem::new(entry.path(), message).help(help));
        }
    }
}

/// The files of a suite's snapshots besides those that its pairs need.
fn survey(layout: &Layout, suite: &Suite, snapshots: &Snapshots, pairs: &[Pair<'_>]) -> Survey {
    if !is_there(snapshots.root()) {
        return Survey::default();
    }
    let families = families_of(pairs).into_iter();
    let mut expected: BTreeSet<PathBuf> = families.map(|family| snapshots.file(family)).collect();
    if holds_cards(layout) {
        let cards = suite.templates.iter();
        expected.extend(cards.map(|template| snapshots.card(&template.name)));
    }
    let served = Reference::SERVED
        .iter()
        .map(|one| front_records::file(layout, Front::named(one.name)));
    expected.extend(served);
    Survey::walk(snapshots.root(), &expected)
}

/// Snapshots of families and templates that the suite does not have.
pub fn orphans(layout: &Layout, suite: &Suite) -> Vec<PathBuf> {
    let pairs: Vec<Pair<'_>> = suite.pairs().collect();
    survey(layout, suite, &Snapshots::of(layout), &pairs).orphans
}

fn orphan(path: &PathBuf) -> Problem {
    Problem::new(path, "an orphan: nothing in the suite has it")
        .help("`accept` deletes it; or bring back the template or the family it was for")
}

fn stray(path: &PathBuf) -> Problem {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let known = ["divergences.json", "reference.json"];
    let help = did_you_mean(&name.to_lowercase(), known);
    Problem::new(path, "nobody reads this file")
        .help(help.unwrap_or_else(|| "delete it, or move it elsewhere".to_owned()))
}

/// What a run over all pairs of a suite does not notice, because no pair of the suite has it:
/// accepted snapshots and records of templates and families that are gone, templates and case files
/// that nothing reads, and misspelt variables. In the repository's suite also report cards that are
/// gone: `run` does not compare them.
pub fn unnoticed(layout: &Layout, suite: &Suite, snapshots: &Snapshots) -> Vec<Problem> {
    let pairs: Vec<Pair<'_>> = suite.pairs().collect();
    let survey = survey(layout, suite, snapshots, &pairs);
    let mut found: Vec<Problem> = survey.orphans.iter().map(orphan).collect();
    for family in families_of(&pairs) {
        found.extend(snapshots.problems(suite, family).gone);
    }
    if let Some(own) = layout.configuration() {
        unnamed(own, suite, &mut found);
        let mut unread = Vec::new();
        unread_settings(own, suite, &mut unread);
        // A conversation of somebody's log may set what this template does not know.
        unread.retain(|problem| problem.help.is_some());
        found.extend(unread);
    } else {
        let mut templates = suite.templates.iter();
        if is_repository(layout) || templates.any(|one| is_there(&snapshots.card(&one.name))) {
            cards(snapshots, suite, &mut found);
        }
        strays(layout, suite, &mut found);
        fronts(layout, &mut found);
    }
    found
}

/// Records of served fronts that are gone. The repository has them all, and another suite that has some.
fn fronts(layout: &Layout, findings: &mut Vec<Problem>) {
    let files = Reference::SERVED.iter();
    let files = files.map(|one| front_records::file(layout, Front::named(one.name)));
    let (there, gone): (Vec<_>, Vec<_>) = files.partition(|path| is_there(path));
    if is_repository(layout) || !there.is_empty() {
        let message = "missing: what the application makes of the suite";
        findings.extend(
            gone.iter()
                .map(|path| Problem::new(path, message).help(update())),
        );
    }
}

/// Template files besides those of a suite of one's own that the suite does not name, so that
/// nothing tests them.
fn unnamed(own: &Configuration, suite: &Suite, findings: &mut Vec<Problem>) {
    let root = own.root();
    let local = own
        .templates
        .iter()
        .filter_map(|one| one.local.as_ref().ok());
    let read = used_files(own, suite);
    let folders_of_files = local.filter_map(|path| path.parent());
    let folders: BTreeSet<PathBuf> = folders_of_files
        .chain([root])
        .filter_map(|folder| Path::new(".").join(folder).canonicalize().ok())
        .collect();
    let Ok(root) = Path::new(".").join(root).canonicalize() else {
        return;
    };
    for folder in folders.iter().filter(|folder| folder.starts_with(&root)) {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        for path in paths {
            let is_hidden = path
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            let has_dialect = dialect_of(&path).is_some();
            let is_template = has_dialect || looks_like_template(&path);
            let is_template = is_template && path.is_file() && !is_hidden;
            let is_read = path.canonicalize().is_ok_and(|path| read.contains(&path));
            if !is_template || is_read {
                continue;
            }
            let shown = path.strip_prefix(&root).map(|below| own.root().join(below));
            let message = "rolecall.toml does not name this template, so nothing tests it";
            let help = if has_dialect {
                "name it under [templates], or move it into a folder of its own"
            } else {
                "name it <name>.jinja or <name>.gotmpl, or move it into a folder of its own"
            };
            findings.push(Problem::new(shown.unwrap_or(path), message).help(help));
        }
    }
}

/// Whether a file is probably a template whose name is not that of one.
fn looks_like_template(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_possible = ["", "template", "tmpl", "tpl", "txt"]
        .iter()
        .any(|one| ending == *one);
    let text = || read_text_of(path, MOST_CASES).unwrap_or_default();
    is_possible && path.is_file() && {
        let text = text();
        text.contains("{{") && text.to_lowercase().contains("messages")
    }
}

/// Special tokens and variables that a suite of one's own sets, and that no template reads. The help is
/// the name that was probably meant. What is probably misspelt in `rolecall.toml` is the suite's own
/// problem already.
fn unread_settings(own: &Configuration, suite: &Suite, findings: &mut Vec<Problem>) {
    for configured in &own.templates {
        let templates = suite.templates.iter();
        let templates = templates.filter(|template| configured.is_of(&template.name));
        let unread = configured.unread(&own.path, templates).into_iter();
        findings.extend(unread.filter(|problem| problem.help.is_none()));
    }
    let is_own = |case: &&Case| own.own.iter().any(|path| case.path.starts_with(path));
    let cases = suite.written_cases().filter(is_own);
    // Most cases have the same templates.
    let mut known: HashMap<Vec<&TemplateName>, Option<ReadNames>> = HashMap::new();
    for case in cases.filter(|case| !case.variables.is_empty()) {
        let templates = suite.templates.iter().filter(|template| {
            template.dialect == Dialect::Jinja && suite.has_pair(template, case)
        });
        let names = templates.clone().map(|template| &template.name).collect();
        let read = known.entry(names);
        let Some(read) = read.or_insert_with(|| ReadNames::of(templates)) else {
            continue;
        };
        let variables: Vec<&str> = case.variables.keys().map(String::as_str).collect();
        for Unread { what, meant } in read.unread(&[], &variables).into_iter().flatten() {
            let message = format!("case `{}`: no template reads {what}", case.id.name());
            findings.push(Problem {
                help: meant,
                ..Problem::new(&case.path, message)
            });
        }
    }
}

/// Whether the report cards of a suite are accepted as prompts are.
fn holds_cards(layout: &Layout) -> bool {
    let own = layout.configuration();
    own.is_none_or(|own| own.contracts != CardRule::Off)
}

/// Reports transcripts that were never accepted.
fn missing(accepted: &FamilyFile, pairs: &[Pair<'_>]) -> Option<Problem> {
    let help = invocation::review();
    if accepted.is_missing() {
        let message = "missing: no transcript of this family was accepted yet";
        return Some(Problem::new(accepted.path(), message).help(help));
    }
    let lacking = pairs.iter().filter(|pair| accepted.lacks(pair));
    let names: Vec<String> = lacking.map(named).collect();
    (!names.is_empty()).then(|| {
        let message = format!("missing: never accepted: {}", few(&names));
        Problem::new(accepted.path(), message).help(help)
    })
}

/// A pair as its section is headed.
fn named(pair: &Pair<'_>) -> String {
    format!("`{}, {}`", pair.case.id.name(), pair.template.name)
}

/// Problems with the accepted report cards: a file that is not a plain file, or is missing.
fn cards(snapshots: &Snapshots, suite: &Suite, findings: &mut Vec<Problem>) {
    for template in &suite.templates {
        let path = snapshots.card(&template.name);
        findings.extend(card(snapshots, path, template));
    }
}

/// What harms the users of the templates' response templates, and those that transformers refuses.
fn response_templates(suite: &Suite, findings: &mut Vec<Problem>) {
    findings.extend(suite.templates.iter().filter_map(unusable));
    let inspected = suite.templates.iter().filter_map(inspect_template);
    findings.extend(inspected.flatten().flat_map(Inspected::warnings));
}

/// The problem with an accepted report card: it is missing, or insta would write it differently. This
/// check does not ask whether it is the right card.
fn card(snapshots: &Snapshots, path: PathBuf, template: &Template) -> Option<Problem> {
    if !is_there(&path) {
        let message = "missing: the report card was never accepted";
        return Some(Problem::new(path, message).help(invocation::review()));
    }
    // What is no plain file is reported as such.
    if !path.is_file() || path.is_symlink() {
        return None;
    }
    let file = match read_text(&path) {
        Ok(file) => file,
        Err(problem) => return Some(problem),
    };
    let is_as_written =
        contents(&file).is_some_and(|card| snapshots.written_text(template, card) == file);
    (!is_as_written).then(|| {
        Problem::new(path, "not as insta writes it: someone has edited it")
            .help(invocation::review())
    })
}

fn update() -> String {
    format!("run `{}`", invocation::command("reference update"))
}

fn records(
    layout: &Layout,
    suite: &Suite,
    snapshots: &Snapshots,
    records: &Records,
    findings: &mut Vec<Problem>,
) {
    findings.extend(records.problems.iter().cloned());
    let path = AskedTemplates::file(snapshots);
    // What cannot be read is among the problems.
    let Ok(asked) = AskedTemplates::read(snapshots) else {
        return;
    };
    let mut complain = |message: String| {
        findings.push(Problem::new(&path, message).help(update()));
    };
    if is_there(&path) && read_text(&path).ok() != Some(asked.text()) {
        complain("edited after it was written".to_owned());
    }
    let gone = asked
        .templates()
        .filter(|name| suite.template(name).is_none());
    let gone: Vec<String> = gone.map(|name| name.to_string()).collect();
    if !gone.is_empty() {
        complain(format!("of templates that are gone: {}", few(&gone)));
    }
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for template in &suite.templates {
        let why = match records.standing_of_answers(template) {
            Ok(_) | Err(Unverified::NeverAsked) => continue,
            Err(Unverified::NoRecords) => match layout.configuration() {
                Some(_) if asked.is_empty() => {
                    "missing: the snapshots were recorded, and nothing says with which reference: "
                        .to_owned()
                }
                Some(_) => "missing: no reference records, and other templates have: ".to_owned(),
                None => "missing: no reference records: ".to_owned(),
            },
            Err(why) => format!("stale: {why}: "),
        };
        wrong
            .entry(why)
            .or_default()
            .push(template.name.to_string());
    }
    for (why, templates) in wrong {
        complain(format!("{why}{}", few(&templates)));
    }
    let pairs: Vec<Pair<'_>> = suite.pairs().collect();
    for family in families_of(&pairs) {
        let file = snapshots.family(family);
        if file.unreadable_part().is_some() {
            continue;
        }
        let mut stale = Vec::new();
        for pair in suite.pairs_by_case(family) {
            let Ok(record) = records.standing(&pair.template.name) else {
                continue;
            };
            let entry = record.cases.get(&pair.case.id);
            let input = Fingerprint::of_case(pair.case).into();
            if entry.is_none_or(|entry| entry.input != input) {
                stale.push(named(&pair));
            }
        }
        if !stale.is_empty() {
            let message = format!("without a record, or changed since: {}", few(&stale));
            findings.push(Problem::new(file.path(), message).help(update()));
        }
    }
}

/// The first few of many names.
fn few(names: &[String]) -> String {
    const MOST: usize = 5;
    let shown = names.get(..MOST).unwrap_or(names).join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}, … and {more} more"),
    }
}

fn divergences(
    suite: &Suite,
    snapshots: &Snapshots,
    records: &Records,
    divergences: &Divergences,
    findings: &mut Vec<Problem>,
) {
    let engines = Engines::default();
    let names: Vec<_> = engines.all().iter().map(|engine| engine.name()).collect();
    findings.extend(divergences.unreachable(suite, &names));
    for pair in suite.pairs() {
        let is_listed = divergences.has_seen_any(&pair);
        let file = snapshots.family_of(&pair);
        let kept = file.reference(&pair);
        if kept.is_none() && !is_listed {
            continue;
        }
        let answer = records.answer(&pair, || Fingerprint::of_case(pair.case));
        let is_right =
            is_listed && matches!((kept, answer), (Some(kept), Ok(answer)) if is_of(kept, answer));
        if !is_right {
            let message = format!(
                "not what the reference did with a listed divergence: {}",
                named(&pair)
            );
            findings.push(Problem::new(file.path(), message).help(update()));
        }
    }
}

/// Whether a kept transcript of a reference is the recorded answer.
fn is_of(kept: &str, answer: &RecordedAnswer) -> bool {
    transcript::decode(kept).is_ok_and(|outcome| {
        answer.agrees(&outcome) && answer.outcome().is_none_or(|known| *known == outcome)
    })
}

/// Templates whose sidecars do not describe them.
fn sidecars(suite: &Suite, findings: &mut Vec<Problem>) {
    for template in &suite.templates {
        for (key, value) in [("about", &template.about), ("origin", &template.origin)] {
            if value.is_none() {
                let sidecar = sidecar(&template.path);
                findings.push(
                    Problem::new(sidecar, format!("the template has no `{key}`"))
                        .help("say in the sidecar what it is and where it came from"),
                );
            }
        }
    }
}

fn cases(layout: &Layout, suite: &Suite, findings: &mut Vec<Problem>) {
    // The user's own suite need not have templates for every built-in case, nor for the versions of
    // its cases with every front.
    let builtin = layout.configuration().map(|_| layout.conversations());
    let need_not_run = |case: &Case| {
        let is_builtin = |folder| case.path.starts_with(folder);
        builtin.as_ref().is_some_and(is_builtin) || builtin.is_some() && case.front.is_some()
    };
    for case in suite.cases.iter().filter(|case| !need_not_run(case)) {
        if case.about.is_none() {
            findings.push(
                Problem::new(
                    &case.path,
                    format!("case `{}` has no `about`", case.id.name()),
                )
                .help("say in a sentence which failure it guards against"),
            );
        }
        let used = suite
            .templates
            .iter()
            .any(|template| suite.has_pair(template, case));
        if !used {
            findings.push(
                Problem::new(&case.path, format!("case `{}` never runs", case.id.name()))
                    .help("no template has one of its dialects"),
            );
        }
    }
}

/// The tools of a suite of one's own, where its cases look for them: in `tools/` in a folder of
/// cases, which is for nothing else, and next to it, where a project may have other things.
fn own_tools(own: &Configuration, suite: &Suite, findings: &mut Vec<Problem>) {
    let mut folders_of_files = BTreeSet::from([own.root().join("tools")]);
    for path in &own.own {
        if path.is_dir() {
            tools(&path.join("tools"), suite, findings);
        }
        folders_of_files.extend(path.parent().map(|folder| folder.join("tools")));
    }
    let mut found = Vec::new();
    for folder in folders_of_files {
        tools(&folder, suite, &mut found);
    }
    let is_tool = |path: &Path| {
        let tool = read_text(path).ok();
        let tool = tool.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        tool.is_some_and(|tool| tool.get("function").is_some() || tool.get("parameters").is_some())
    };
    found.retain(|problem| is_tool(&problem.path));
    findings.extend(found);
}

/// Tool files of a folder that no case uses, and other files in it.
fn tools(folder: &Path, suite: &Suite, findings: &mut Vec<Problem>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if !is_json(&path) || !CaseId::allows(&stem.replace('_', "-")) {
            findings.push(
                Problem::new(&path, "not a tool file")
                    .help("a tool file is named <tool>.json, in lower-case letters and digits"),
            );
            continue;
        }
        let used = path
            .canonicalize()
            .is_ok_and(|path| suite.used_tools.contains(&path));
        if !used {
            findings.push(
                Problem::new(&path, "no case names this tool")
                    .help("use it in a case, or delete it"),
            );
        }
    }
}

/// Files next to case files or templates that no command reads.
fn strays(layout: &Layout, suite: &Suite, findings: &mut Vec<Problem>) {
    let entries = |folder| {
        let paths = std::fs::read_dir(folder).into_iter().flatten().flatten();
        paths.map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !name.starts_with('.')
        })
    };
    let is_read = |path: &Path| {
        let is_of_template = |template: &Template| {
            template.path == path || (is_json(path) && sidecar(&template.path) == path)
        };
        // The file's own problem is already reported.
        suite.templates.iter().any(is_of_template)
            || suite.problems.iter().any(|problem| {
                problem.path == path || (is_json(path) && sidecar(&problem.path) == path)
            })
    };
    let of_cases = entries(layout.conversations()).filter(|path| path.is_dir() || !is_json(path));
    let of_templates = entries(layout.templates()).filter(|path| !is_read(path));
    for path in of_cases.chain(of_templates) {
        findings.push(Problem::new(path, "nothing reads this").help(
            "cases are in <family>.json, templates in <name>.jinja or <name>.gotmpl with <name>.json, and in no folders below",
        ));
    }
}

/// Schema files with wrong contents, and files that name another schema than their own, which would
/// make an editor check nothing.
fn schemas(layout: &Layout, suite: &Suite, findings: &mut Vec<Problem>) {
    let cases: BTreeSet<PathBuf> = suite.cases.iter().map(|case| case.path.clone()).collect();
    let sidecars = suite
        .templates
        .iter()
        .map(|template| sidecar(&template.path));
    let named = cases
        .into_iter()
        .map(|path| (path, "../schema/cases.schema.json"))
        .chain(sidecars.map(|path| (path, "../schema/template.schema.json")));
    for (path, schema) in named {
        let text = read_text(&path).unwrap_or_default();
        let named = serde_json::from_str::<Value>(&text)
            .ok()
            .and_then(|value| value.get("$schema").cloned());
        if named.is_some_and(|named| named != schema) {
            findings.push(
                Problem::new(path, "`$schema` names another schema than this file's")
                    .help(format!("it is {schema}")),
            );
        }
    }
    for (path, text) in FILES {
        let path = layout.cases().join(path);
        if !holds(&path, text) {
            let help = format!("run `{}`", invocation::command("lint --fix"));
            let message = "not the schema that the harness reads or writes by";
            findings.push(Problem::new(path, message).help(help));
        }
    }
}

fn holds(path: &Path, text: &str) -> bool {
    read_text(path).is_ok_and(|found| found == text)
}

/// Fixes what needs no decision: writes the schema files. Returns the written files.
///
/// # Errors
///
/// A file cannot be written.
pub fn fix(layout: &Layout) -> Result<Vec<PathBuf>, Problem> {
    let mut written = Vec::new();
    for (path, text) in FILES {
        let path = layout.cases().join(path);
        if !holds(&path, text) {
            write_below(&layout.cases(), &path, text)?;
            written.push(path);
        }
    }
    Ok(written)
}

/// Whether the suite is that of Rolecall's own repository, and not one with the same folders.
fn is_repository(layout: &Layout) -> bool {
    let root = std::path::absolute(Path::new(".").join(layout.root()));
    root.is_ok_and(|root| layout.is_checkout() && Site::of(&root) == Site::Checkout)
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}
