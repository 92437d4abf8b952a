//! The suite itself: whether everything in it has a use and a reason.

use std::path::Path;

use crate::case::is_slug;
use crate::problem::Problem;
use crate::schema;
use crate::snapshot::Snapshots;
use crate::suite::{Layout, Suite};

/// Everything that is wrong with the suite as a suite, sorted by path. What is wrong with
/// single files is in [`Suite::problems`].
pub fn lint(layout: &Layout, suite: &Suite) -> Vec<Problem> {
    let mut findings = Vec::new();
    snapshots(layout, suite, &mut findings);
    templates(suite, &mut findings);
    cases(suite, &mut findings);
    tools(layout, suite, &mut findings);
    schemas(layout, &mut findings);
    findings.sort_by(|a, b| a.path.cmp(&b.path));
    findings
}

fn snapshots(layout: &Layout, suite: &Suite, findings: &mut Vec<Problem>) {
    let snapshots = Snapshots::of(layout);
    let survey = snapshots.survey(suite);
    for path in survey.orphans {
        findings.push(
            Problem::new(
                path,
                "an orphan: no template and case of the suite make this pair",
            )
            .help("delete it, or bring its template or case back"),
        );
    }
    for path in survey.pending {
        findings.push(Problem::new(path, "waits for review").help("run `cargo insta review`"));
    }
    for template in &suite.templates {
        let path = snapshots.card(template);
        if !path.is_file() {
            findings.push(
                Problem::new(
                    path,
                    "missing: the template's report card was never accepted",
                )
                .help("run `cargo test`, then `cargo insta review`"),
            );
        }
    }
    for pair in suite.pairs() {
        let path = snapshots.file(&pair);
        if !path.is_file() {
            findings.push(
                Problem::new(path, "missing: the pair was never accepted")
                    .help("run `cargo test`, then `cargo insta review`"),
            );
        }
    }
}

fn templates(suite: &Suite, findings: &mut Vec<Problem>) {
    for template in &suite.templates {
        if !template.name.is_plain() {
            findings.push(
                Problem::new(
                    &template.path,
                    "the name cannot be a folder on every system",
                )
                .help("use lower-case letters, digits, dots, dashes and underscores"),
            );
        }
        for (key, value) in [("about", &template.about), ("origin", &template.origin)] {
            if value.is_none() {
                let sidecar = template.path.with_extension("json");
                findings.push(
                    Problem::new(sidecar, format!("the template has no `{key}`"))
                        .help("say in the sidecar what it is and where it came from"),
                );
            }
        }
    }
}

fn cases(suite: &Suite, findings: &mut Vec<Problem>) {
    for case in &suite.cases {
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
            .any(|template| case.is_for(template.dialect));
        if !used {
            findings.push(
                Problem::new(&case.path, format!("case `{}` never runs", case.id.name()))
                    .help("no template has one of its dialects"),
            );
        }
    }
}

fn tools(layout: &Layout, suite: &Suite, findings: &mut Vec<Problem>) {
    let Ok(entries) = std::fs::read_dir(layout.tools()) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if !is_json(&path) || !is_slug(&stem.replace('_', "-")) {
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

fn schemas(layout: &Layout, findings: &mut Vec<Problem>) {
    for file in schema::files() {
        let path = layout.cases().join(&file.path);
        if std::fs::read_to_string(&path).ok().as_deref() != Some(&file.text) {
            findings.push(
                Problem::new(path, "not the schema that the harness reads by")
                    .help("run `cargo run --release -- lint --fix`"),
            );
        }
    }
}

/// Mends what needs no thought: writes the schema files. Returns what was written.
pub fn fix(layout: &Layout) -> Result<Vec<std::path::PathBuf>, Problem> {
    let mut written = Vec::new();
    for file in schema::files() {
        let path = layout.cases().join(&file.path);
        if std::fs::read_to_string(&path).ok().as_deref() == Some(&file.text) {
            continue;
        }
        let failed =
            |error: std::io::Error| Problem::new(&path, format!("cannot be written: {error}"));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        // Whole or not at all: another name first, then the real one.
        let draft = path.with_extension("json.draft");
        std::fs::write(&draft, &file.text).map_err(failed)?;
        std::fs::rename(&draft, &path).map_err(failed)?;
        written.push(path);
    }
    Ok(written)
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}
