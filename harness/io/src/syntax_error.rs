//! Why a template cannot be read at all, and where.

use rolecall_core::guard::{column_of_refusal, load};
use rolecall_core::{Dialect, Engine, Outcome, Stage, Template, TemplatePart};
use serde::Serialize;

use crate::template_file::{is_go, line_in_file, place};

/// Why an engine cannot read a template: every conversation fails for that reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyntaxError {
    /// The file, with line and column where they are known: `chat.jinja:3:8`.
    pub place: String,
    /// The line of the file, from 1, where the template is written out in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in that line, from 1, counted in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The engine's words.
    pub message: String,
    /// The line itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What to do, where the template looks like one of the other language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'static str>,
}

impl SyntaxError {
    /// Asks an engine to read a template. None if it can.
    pub fn find(engine: &dyn Engine, template: &Template) -> Option<SyntaxError> {
        let loaded = load(engine, template);
        let Outcome::Failed {
            stage: Stage::Parse,
            message,
            line,
        } = loaded.refusal()?
        else {
            return None;
        };
        let column = line.and_then(|_| column_of_refusal(engine, template));
        let column = match (&template.part, *line) {
            // The file's text before the template in that line is not known.
            (TemplatePart::Line(_), Some(1)) | (TemplatePart::Key(_), _) => None,
            (TemplatePart::Whole | TemplatePart::Line(_), _) => column,
        };
        let column_words = column.map_or_else(String::new, |column| format!(":{column}"));
        let nth = line.map(|line| line.saturating_sub(1));
        let source = nth.and_then(|nth| template.source.lines().nth(nth));
        Some(SyntaxError {
            place: place(template, *line) + &column_words,
            line: line_in_file(template, *line),
            column,
            message: message.clone(),
            source: source.map(str::to_owned),
            help: other_language(template),
        })
    }
}

/// What to do with a template that looks like one of the other language than its file's name says.
fn other_language(template: &Template) -> Option<&'static str> {
    match template.dialect {
        Dialect::Jinja if is_go(&template.source) => {
            Some("it looks like a Go template of Ollama: name the file with the ending .gotmpl")
        }
        Dialect::Go if template.source.contains("{%") => {
            Some("it looks like a Jinja template: name the file with the ending .jinja")
        }
        Dialect::Jinja | Dialect::Go => None,
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::Dialect;
    use rolecall_go::GoEngine;
    use rolecall_jinja::JinjaEngine;

    use super::*;

    fn found(engine: &dyn Engine, dialect: Dialect, source: &str) -> Option<SyntaxError> {
        let mut template = Template::from_source("t", dialect, source);
        template.path = "t.x".into();
        SyntaxError::find(engine, &template)
    }

    #[test]
    fn it_has_file_line_and_column() {
        let source = "a\r\n{% if x %}\n  {{ y }";
        let error = found(&JinjaEngine::new(), Dialect::Jinja, source).unwrap();
        assert_eq!(error.place, "t.x:3:8");
        assert_eq!(error.message, "syntax error: unexpected '}'");
        assert_eq!(error.source.as_deref(), Some("  {{ y }"));
        let error = found(&GoEngine::new(), Dialect::Go, "é\n{{ .System | nope( }}").unwrap();
        assert_eq!(
            (error.line, error.column.is_some()),
            (Some(2), true),
            "{error:?}"
        );
        assert_eq!(found(&JinjaEngine::new(), Dialect::Jinja, "{{ y }}"), None);
        assert_eq!(found(&GoEngine::new(), Dialect::Go, "{{ .Prompt }}"), None);
    }

    /// Every error of a truncated template has a place inside the template.
    #[test]
    fn every_place_is_in_the_template() {
        let source = "{% for m in messages %}\n{{ m['a'] | tojson(indent=2) }}\n{% endfor %}{{ nope | gone }}";
        for end in 1..=source.len() {
            let cut = &source[..end];
            let Some(error) = found(&JinjaEngine::new(), Dialect::Jinja, cut) else {
                continue;
            };
            let line = cut.split('\n').nth(error.line.unwrap() - 1).unwrap();
            let column = error.column.unwrap();
            assert!(
                (1..=line.chars().count() + 1).contains(&column),
                "{cut:?}: {error:?}"
            );
        }
    }
}
