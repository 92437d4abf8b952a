//! Results that were rendered elsewhere, as an engine: parts of a run that several machines
//! share, judged together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rolecall_model::{
    CaseId, Conversation, Dialect, Engine, Outcome, Program, Refusal, Template, TemplateName,
};

use crate::problem::Problem;
use crate::saved_run::SavedRun;
use crate::suite::Suite;

/// An engine that gives what it gave elsewhere.
#[derive(Debug)]
pub struct Replay {
    name: String,
    dialect: Dialect,
    results: Arc<Results>,
}

/// What came of pairs, by their names.
#[derive(Debug, Default)]
struct Results(HashMap<(String, String), Outcome>);

/// A template of which only results are known.
#[derive(Debug)]
struct Replayed {
    template: TemplateName,
    results: Arc<Results>,
}

impl Replay {
    /// The engines whose results stand in files: one for each dialect at most. Each pair stands
    /// in one of them.
    ///
    /// # Errors
    ///
    /// A file is no saved run, a pair stands in two of them, or results of one dialect are of two
    /// engines.
    pub fn read(files: &[PathBuf], suite: &Suite) -> Result<Vec<Replay>, Problem> {
        let mut found: Vec<(String, Dialect, Results)> = Vec::new();
        let mut seen: HashMap<(String, String), &Path> = HashMap::new();
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
                // What the suite does not have is not asked for.
                let name = TemplateName::new(&pair.0);
                let Some(template) = suite.template(&name) else {
                    continue;
                };
                let dialect = template.dialect;
                let engine = line.engine;
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
                        let results = Results(HashMap::from([(pair, line.outcome)]));
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

    /// Not known: results do not tell it.
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

    /// What a front does has been done.
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
        let pair = (self.template.to_string(), case.to_string());
        let missing = || Outcome::NotAsked {
            message: "the results have nothing about it".to_owned(),
        };
        self.results.0.get(&pair).cloned().unwrap_or_else(missing)
    }
}

impl Program for Replayed {
    fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        self.result(&conversation.case().id)
    }
}
