//! The pairs for a server, which has only one template.

use crate::report::counted;
use crate::servers::Serving;
use rolecall_core::Engine as _;
use rolecall_core::invocation;
use rolecall_front::front::Front;
use rolecall_suite::suite::Pair;

use crate::engines::ChosenEngine;
use crate::failure::{Failure, tell};

/// The pairs that a server can answer, if `--engine` names a server: those of its template, with
/// that template's front unless the user chose another one.
pub(crate) fn pairs<'s>(
    all: Vec<Pair<'s>>,
    asked: Option<&ChosenEngine<'_>>,
    front: Option<Front>,
) -> Result<Vec<Pair<'s>>, Failure> {
    let Some(ChosenEngine::Server(server)) = asked else {
        return Ok(all);
    };
    let is_own = |pair: &Pair<'_>| front.is_some() || pair.case.front.is_none();
    let (mut kept, mut unknown, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for pair in all.into_iter().filter(is_own) {
        match server.serves(pair.template) {
            Serving::Yes => kept.push(pair),
            Serving::Unknown => unknown.push(pair),
            Serving::No => left.push(pair),
        }
    }
    let (unsure, others) = (names(&unknown), names(&left));
    let who = format!("the server `{}` at {}", server.name(), server.address());
    match unsure.as_slice() {
        [] => {}
        [one] => {
            tell(&format!(
                "{who} does not report its template: assuming `{one}`"
            ));
            return Ok(unknown);
        }
        many => {
            return Err(Failure::Request(format!(
                "{who} does not report its template, and you chose {}\n  choose the one that it \
                 has, as in `run {}`, or name its model with --templates",
                many.len(),
                invocation::word(&many[0])
            )));
        }
    }
    if let Some(before) = server.before_prompts() {
        tell(&format!(
            "{who} puts `{before}` before every prompt: prompts of templates that write it \
             themselves are compared with it, all others without it"
        ));
    }
    match others.as_slice() {
        [] => {}
        [one] if kept.is_empty() => {
            return Err(Failure::Request(format!(
                "{who} has another template than `{one}`\n  name the model that it has with \
                 --templates, such as its GGUF file or folder"
            )));
        }
        many if kept.is_empty() => {
            return Err(Failure::Request(format!(
                "{who} has none of these {} templates\n  name the model that it has with \
                 --templates, such as its GGUF file or folder",
                many.len()
            )));
        }
        many => tell(&format!(
            "{} left out: {who} has {}",
            counted(many.len(), "template", "templates"),
            names(&kept).join(", ")
        )),
    }
    Ok(kept)
}

/// The names of the templates of pairs.
fn names(pairs: &[Pair<'_>]) -> Vec<String> {
    let names = pairs.iter().map(|pair| pair.template.name.to_string());
    let mut names: Vec<String> = names.collect();
    names.dedup();
    names
}
