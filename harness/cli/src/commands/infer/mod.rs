//! The command `infer`: writes a first draft of a response template, from what a chat template writes.

use std::io::Write;

use crate::report::{assumed, json, proof as report};
use rolecall_answers::draft::Draft;
use rolecall_check::card;
use rolecall_core::guard::contained;
use rolecall_core::invocation;
use rolecall_suite::proof::Proof;

use crate::args::InferArguments;
use crate::failure::{Failure, Status, tell};
use crate::inputs;
use crate::session::Session;

/// Writes the draft to the output, and says what it lacks and how it does on all cases.
pub(crate) fn execute(arguments: &InferArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let paths = [arguments.template.clone()];
    let mut suite = inputs::load_jinja_with_cases(&paths, &arguments.set)?;
    let [template] = suite.templates.as_mut_slice() else {
        return Err(Failure::Request(format!(
            "a draft is for one template, and there are {}",
            suite.templates.len()
        )));
    };
    let session = Session::new(&arguments.limits, None);
    let engine = session.engines.for_dialect(template.dialect);
    if let Some(sentence) = assumed::in_words("drafted", &card::assumed(template)) {
        tell(&sentence);
    }
    *template = card::with_assumed_tokens(template).into_owned();
    let draft = Draft::infer(engine, template);
    let draft = draft.map_err(|why| Failure::Request(format!("{}: {why}", template.name)))?;
    json::write(out, &draft.response_template)?;
    for sentence in &draft.unknown {
        tell(sentence);
    }
    template.response_template = Some(draft.response_template);
    let proof = || Proof::prove(engine, template, &suite.cases);
    if let Some(proof) = contained("the proof of the draft", proof).flatten() {
        tell(&report::sentence(&proof));
    }
    let prove = invocation::command(&format!(
        "lint FILE --templates {}",
        invocation::word(&arguments.template.to_string_lossy())
    ));
    tell(&format!(
        "This is a first draft. Write it to a file, and prove it: {prove}"
    ));
    Ok(Status::Fine)
}
