//! The models of an organisation, which the user names together: `hf:ORG/*`.

use std::path::{Path, PathBuf};

use rolecall_check::downloads::Downloads;
use rolecall_core::problem::{Problem, shown_path};
use rolecall_io::remote::{self, MOST_MODELS, Organisation};

use crate::failure::{Failure, tell};
use crate::report::counted;

/// The paths, with the models of an organisation in its place, and the downloads that the hub counts
/// if there is an organisation among them.
pub(crate) fn expanded(paths: Vec<PathBuf>) -> Result<(Vec<PathBuf>, Option<Downloads>), Failure> {
    let mut all = Vec::new();
    let mut downloads = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        let Some(found) = remote::organisation(&path) else {
            all.push(path);
            continue;
        };
        match found.and_then(|found| held(&path, found)) {
            Ok(models) => {
                all.extend(models.iter().map(|(name, _)| PathBuf::from(name)));
                downloads.extend(models);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(Failure::Problems(problems));
    }
    let is_counted = !downloads.is_empty();
    Ok((all, is_counted.then(|| downloads.into_iter().collect())))
}

/// The models of an organisation, of which there has to be one. Says what is left out.
fn held(path: &Path, found: Organisation) -> Result<Vec<(String, usize)>, Problem> {
    let shown = shown_path(path);
    let Organisation {
        models,
        others,
        has_more,
    } = found;
    let left_out = match others {
        0 => String::new(),
        1 => "; 1 is left out, which has none, or one in a GGUF file only".to_owned(),
        count => format!("; {count} are left out, which have none, or one in a GGUF file only"),
    };
    if models.is_empty() {
        let message = format!("no model has a chat template in a file of its own{left_out}");
        return Err(
            Problem::new(path, message).help("name a model with GGUF files itself: hf:ORG/NAME")
        );
    }
    let count = counted(models.len(), "model has", "models have");
    tell(&format!("{shown}: {count} a chat template{left_out}"));
    if has_more {
        tell(&format!(
            "{shown}: there are more models, and only the {MOST_MODELS} with the most downloads are looked at; \
             name others themselves, as hf:ORG/NAME"
        ));
    }
    Ok(models)
}
