//! Recipients: parsers and whole servers, which get answers and give messages back.

use rolecall_core::{Case, Template, TemplateReader};

use crate::comparison::Verdict;
use crate::ending::Form;
use crate::reading::{MessageReading, Task, of_dialect, read_forms};
use crate::written::Writer;

/// Somebody who reads the answers of models back as messages.
pub trait Recipient: Send + Sync {
    fn name(&self) -> &str;

    fn version(&self) -> &str;

    /// What comes back of the answers that a template writes in some cases, each in one form.
    fn returned(&self, writer: &Writer<'_, '_>, cases: &[&Case]) -> Vec<MessageReading>;
}

/// A parser for each chat template: none for a template without a response template.
pub type ParserOf<'r> =
    dyn Fn(&Template) -> Option<Box<dyn TemplateReader + 'r>> + Send + Sync + 'r;

/// Parsers without the rest of a server.
pub struct Parsers<'r> {
    pub name: String,
    pub version: String,
    pub parser: Box<ParserOf<'r>>,
    /// The form that it gets: with the end token, as the model writes it, or without, as servers
    /// return the text.
    pub form: Form,
}

impl Recipient for Parsers<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn returned(&self, writer: &Writer<'_, '_>, cases: &[&Case]) -> Vec<MessageReading> {
        let Some(parser) = (self.parser)(writer.template()) else {
            let refused =
                |task: Task<'_>| task.failed(Verdict::Refused, "no response template".to_owned());
            let tasks = Task::all(writer, cases).into_iter();
            return tasks
                .map(|task| task.map_or_else(|unread| *unread, refused))
                .collect();
        };
        let cases = of_dialect(writer, cases.iter().copied());
        let read =
            |case| read_forms(writer, parser.as_ref(), case, Some(self.form)).collect::<Vec<_>>();
        cases.flat_map(read).collect()
    }
}
