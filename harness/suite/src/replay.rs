//! An engine that returns saved results, to judge the parts of a run from several machines
//! together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rolecall_core::{
    Case, CaseId, Conversation, Dialect, Engine, Observer, Outcome, Program, Refusal, Template,
    TemplateName,
};

use crate::pair_mark::PairMarks;
use crate::saved_run::{SavedOutcome, SavedRun};
use crate::suite::{Pair, Suite};
use rolecall_core::problem::{Position, Problem};

/// An engine that returns results from saved runs.
#[derive(Debug)]
pub struct Replay {
    name: String,
    version: String,
    dialect: Dialect,
    results: Arc<OutcomesByPair>,
}

/// The outcomes of pairs, by the names of template and case.
type OutcomesByPair = HashMap<(Arc<str>, String), Outcome>;

/// A template that is known by its results alone.
#[derive(Debug)]
struct Replayed {
    template: TemplateName,
    results: Arc<OutcomesByPair>,
}

/// Checks that an outcome is of a pair as it is now.
fn hold_current(
    file: &Path,
    line: &SavedOutcome,
    pair: &Pair<'_>,
    marks: &mut PairMarks,
) -> Result<(), Problem> {
    let at = Position {
        line: line.line,
        column: 1,
    };
    let refuse = |why: &str| {
        let message = format!("`{}` with `{}`: {why}", line.template, line.case);
        let help = "save the run again: what is judged has to be of the files as they are now";
        Err(Problem::new(file, message).at(at).help(help))
    };
    let Some(mark) = &line.mark else {
        return refuse("nothing says of which version of the template and of the case it is");
    };
    if let Some(changed) = marks.of(pair).changed_since(mark) {
        return refuse(&format!("{changed} since the run was saved"));
    }
    let front = pair.front().name();
    if *line.front != *front {
        return refuse(&format!(
            "it was rendered with front `{}`, and the template has `{front}`",
            line.front
        ));
    }
    Ok(())
}

impl Replay {
    /// The engines whose results are in files, at most one for each dialect. Each pair may be
    /// in one file only.
    ///
    /// # Errors
    ///
    /// A file is not a saved run, a pair is in two files, results of one dialect come from two
    /// engines, or a result is of another template or case than the suite has now.
    pub fn read(files: &[PathBuf], suite: &Suite) -> Result<Vec<Replay>, Problem> {
        let mut found: Vec<Replay> = Vec::new();
        let mut marks = PairMarks::default();
        let cases: HashMap<String, &Case> = suite
            .cases
            .iter()
            .map(|case| (case.id.to_string(), case))
            .collect();
        let mut seen: HashMap<(Arc<str>, String), &Path> = HashMap::new();
        for file in files {
            for line in SavedRun::read(file)?.lines {
                let pair = (Arc::clone(&line.template), line.case.clone());
                if let Some(other) = seen.insert(pair.clone(), file) {
                    let (template, case) = &pair;
                    let message =
                        format!("`{template}` with `{case}` is in {}, too", other.display());
                    let help = "give each part of the run, `--shard K/N`, once";
                    return Err(Problem::new(file, message).help(help));
                }
                // Results for templates outside the suite are ignored.
                let name = TemplateName::new(&pair.0);
                let Some(template) = suite.template(&name) else {
                    continue;
                };
                if let Some(case) = cases.get(&line.case) {
                    let pair = Pair { template, case };
                    hold_current(file, &line, &pair, &mut marks)?;
                }
                let dialect = template.dialect;
                let of = format!("{} {}", line.engine, line.version);
                let known = found.iter_mut().find(|known| known.dialect == dialect);
                match known {
                    Some(known)
                        if *known.name != *line.engine || *known.version != *line.version =>
                    {
                        let other = format!("{} {}", known.name, known.version);
                        let [one, other] = [&of, &other].map(|engine| engine.trim_end());
                        let message = format!("results of `{one}`, and others are of `{other}`");
                        return Err(Problem::new(file, message)
                            .help("one run has one engine for each dialect"));
                    }
                    Some(known) => {
                        Arc::make_mut(&mut known.results).insert(pair, line.outcome);
                    }
                    None => found.push(Replay {
                        name: line.engine.to_string(),
                        version: line.version.to_string(),
                        dialect,
                        results: Arc::new(HashMap::from([(pair, line.outcome)])),
                    }),
                }
            }
        }
        Ok(found)
    }

    fn replayed(&self, template: &Template) -> Box<dyn Program> {
        Box::new(Replayed {
            template: template.name.clone(),
            results: Arc::clone(&self.results),
        })
    }
}

impl Engine for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn description(&self) -> String {
        let name = format!("results of {} {}", self.name, self.version);
        name.trim_end().to_owned()
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        Ok(self.replayed(template))
    }

    /// The saved results already include the front.
    fn compile_with_front(
        &self,
        _front: &str,
        template: &Template,
    ) -> Option<Result<Box<dyn Program>, Refusal>> {
        Some(Ok(self.replayed(template)))
    }
}

impl Replayed {
    fn result(&self, case: &CaseId) -> Outcome {
        let pair = (Arc::from(self.template.as_str()), case.to_string());
        let missing = || Outcome::NotAsked {
            message: "the saved results do not contain this pair".to_owned(),
        };
        self.results.get(&pair).cloned().unwrap_or_else(missing)
    }
}

impl Program for Replayed {
    fn render_with(&self, conversation: &Conversation<'_>, _: &mut Observer) -> Outcome {
        self.result(&conversation.case().id)
    }
}
