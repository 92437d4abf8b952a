//! An engine that returns saved results, to judge the parts of a run from several machines
//! together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rolecall_model::{
    CaseId, Conversation, Dialect, Engine, Observer, Outcome, Program, Refusal, Template,
    TemplateName,
};

use crate::saved_run::SavedRun;
use crate::suite::Suite;
use rolecall_base::problem::Problem;

/// An engine that returns results from saved runs.
#[derive(Debug)]
pub struct Replay {
    name: String,
    dialect: Dialect,
    results: Arc<OutcomesByPair>,
}

/// The outcomes of pairs, by the names of template and case.
#[derive(Debug, Default)]
struct OutcomesByPair(HashMap<(Arc<str>, String), Outcome>);

/// A template of which only the results are known.
#[derive(Debug)]
struct Replayed {
    template: TemplateName,
    results: Arc<OutcomesByPair>,
}

impl Replay {
    /// The engines whose results are in files, at most one for each dialect. Each pair may be
    /// in one file only.
    ///
    /// # Errors
    ///
    /// A file is not a saved run, a pair is in two files, or results of one dialect come from two
    /// engines.
    pub fn read(files: &[PathBuf], suite: &Suite) -> Result<Vec<Replay>, Problem> {
        let mut found: Vec<(String, Dialect, OutcomesByPair)> = Vec::new();
        let mut seen: HashMap<(Arc<str>, String), &Path> = HashMap::new();
        for file in files {
            for line in SavedRun::read(file)?.lines {
                let pair = (line.template, line.case);
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
                let dialect = template.dialect;
                let engine = line.engine.to_string();
                let known = found.iter_mut().find(|(_, of, _)| *of == dialect);
                match known {
                    Some((name, ..)) if *name != engine => {
                        let message = format!("results of `{engine}`, and others are of `{name}`");
                        return Err(Problem::new(file, message)
                            .help("one run has one engine for each dialect"));
                    }
                    Some((.., results)) => {
                        results.0.insert(pair, line.outcome);
                    }
                    None => {
                        let results = OutcomesByPair(HashMap::from([(pair, line.outcome)]));
                        found.push((engine, dialect, results));
                    }
                }
            }
        }
        let engines = found.into_iter().map(|(name, dialect, results)| Replay {
            name,
            dialect,
            results: Arc::new(results),
        });
        Ok(engines.collect())
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

    /// Unknown: saved results do not contain it.
    fn version(&self) -> &'static str {
        ""
    }

    fn description(&self) -> String {
        format!("results of {}", self.name)
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        Ok(self.replayed(template))
    }

    /// The saved results already include the front.
    fn compile_behind(
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
        self.results.0.get(&pair).cloned().unwrap_or_else(missing)
    }
}

impl Program for Replayed {
    fn render_with(&self, conversation: &Conversation<'_>, _: &mut dyn Observer) -> Outcome {
        self.result(&conversation.case().id)
    }
}
