//! The tokenizers of several templates, each read once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;
use rolecall_core::Template;

use rolecall_core::problem::Problem;

use super::single::Tokenizer;

/// Reads the tokenizer of a template's model, from the files in [`Template::vocabulary`]. None if
/// they contain no tokenizer, or if the program cannot read this kind of file.
pub type TokenizerReader = fn(&Template) -> Result<Option<Tokenizer>, Problem>;

#[derive(Debug, Default)]
pub struct Tokenizers(BTreeMap<Vec<PathBuf>, Tokenizer>);

impl Tokenizers {
    /// Reads the tokenizers of templates. Returns a problem for each that cannot be read.
    pub fn read(templates: &[Template], reader: TokenizerReader) -> (Tokenizers, Vec<Problem>) {
        let mut wanted: BTreeMap<&[PathBuf], &Template> = BTreeMap::new();
        for template in templates.iter().filter(|one| !one.vocabulary.is_empty()) {
            wanted.entry(&template.vocabulary).or_insert(template);
        }
        let read: Vec<_> = wanted
            .into_par_iter()
            .map(|(files, template)| {
                let tokenizer = reader(template)?;
                Ok(tokenizer.map(|tokenizer| (files.to_vec(), tokenizer)))
            })
            .collect();
        let mut tokenizers = Tokenizers::default();
        let mut problems = Vec::new();
        for one in read {
            match one {
                Ok(tokenizer) => tokenizers.0.extend(tokenizer),
                Err(problem) => problems.push(problem),
            }
        }
        (tokenizers, problems)
    }

    /// The tokenizer of a template's model, where it is known.
    pub fn of(&self, template: &Template) -> Option<&Tokenizer> {
        self.0.get(&template.vocabulary)
    }
}
