//! The command `mock-model`: writes a model that answers every prompt with one text.

use std::io::Write;
use std::slice;

use crate::report::counted;
use rolecall_answers::mock_model::model::{MockModel, Surroundings};
use rolecall_core::file::read_text;
use rolecall_core::{Dialect, Template};

use crate::args::MockModelArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;

pub(super) fn execute(
    arguments: &MockModelArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let text = match (&arguments.file, &arguments.text) {
        (Some(path), _) => read_text(path)?,
        (None, text) => text.clone().unwrap_or_default(),
    };
    let mock_model = MockModel::of(&text, surroundings(arguments)?);
    let mock_model =
        mock_model.map_err(|why| Failure::Request(format!("there is no mock model: {why}")))?;
    out.write_all(&mock_model.bytes())?;
    let tokens = mock_model.line(&text).map_or(0, |line| line.tokens);
    tell(&format!(
        "the model answers with {} in {}",
        counted(text.len(), "byte", "bytes"),
        counted(tokens, "token", "tokens")
    ));
    if let [byte] = text.as_bytes() {
        let byte = char::from(*byte);
        tell(&format!(
            "its answer to a prompt that ends with {byte:?} is empty: there the prompt is the answer"
        ));
    }
    Ok(Status::Fine)
}

fn surroundings(arguments: &MockModelArguments) -> Result<Surroundings, Failure> {
    let Some(path) = &arguments.template else {
        let refusal = arguments.set.settings().refusal(true);
        let none = Surroundings::default();
        return refusal.map_or(Ok(none), |why| Err(Failure::Request(why)));
    };
    let suite = inputs::open(&inputs::templates_only(
        slice::from_ref(path),
        &arguments.set,
    ))?
    .suite;
    if !suite.problems.is_empty() {
        report_problems(&suite.problems)?;
        return Err(Failure::Request(format!(
            "{}: no template of it can be used",
            path.display()
        )));
    }
    let [template] = suite.templates.as_slice() else {
        let names: Vec<&str> = suite.templates.iter().map(|it| it.name.as_str()).collect();
        return Err(Failure::Request(format!(
            "{} has several templates: {}\n  a model has one: name the file of one",
            path.display(),
            names.join(", ")
        )));
    };
    if template.dialect != Dialect::Jinja {
        return Err(Failure::Request(format!(
            "{} is a {} template, and the models of llama.cpp have Jinja templates",
            template.name, template.dialect
        )));
    }
    Ok(Surroundings {
        template: Some(template.source.clone()),
        bos: token(template, "bos_token"),
        eos: token(template, "eos_token"),
    })
}

fn token(template: &Template, name: &str) -> Option<String> {
    let token = template.special_tokens.get(name)?.as_str()?;
    (!token.is_empty()).then(|| token.to_owned())
}
