//! The command `show`: shows one pair.

pub mod tokens;

pub mod trace;

pub mod probe;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::report::{clean, difference, problems, screen, transcripts};
use rolecall_core::diff::Diff;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::invocation;
use rolecall_core::problem::Problem;
use rolecall_core::transcript;
use rolecall_core::{Outcome, OutcomeKind};
use rolecall_suite::divergence::pair_name;
use rolecall_suite::record::RecordedAnswer;
use rolecall_suite::reference::Reference;
use rolecall_suite::selection::Filter;
use rolecall_suite::snapshot::SnapshotStatus;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::own_template::named_template;
use rolecall_suite::workspace::{Subject, Workspace, is_place};

use crate::args::ShowArguments;

use crate::failure::{Failure, Status, report_problems};
use crate::session::{self, Session};
use crate::{conversations, home, inputs};

pub(super) fn execute(arguments: &ShowArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    if let Some(name) = arguments.case.strip_prefix(probe::FAMILY) {
        return probe::show(arguments, name, out);
    }
    let (case, file) = conversations::chosen(Some(arguments.case.clone()));
    let cases = arguments.sources.cases.iter().cloned();
    let cases: Vec<PathBuf> = cases.chain(file.clone()).collect();
    let (inputs, name) = load(arguments, case.as_deref(), &cases)?;
    if name.is_none() {
        report_problems(&inputs.suite.problems)?;
    }
    let Some(case) = case else {
        return show_log(arguments, &inputs, name.as_deref(), file.as_deref(), out);
    };
    let pair = asked_pair(&inputs.suite, name.as_deref(), &case, arguments)?;
    show_pair(arguments, &inputs, pair, out)
}

/// Shows every conversation of a log.
fn show_log(
    arguments: &ShowArguments,
    inputs: &Workspace,
    name: Option<&str>,
    file: Option<&Path>,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let cases = inputs.suite.cases.iter();
    let cases = cases.filter(|case| Some(case.path.as_path()) == file);
    let ids: Vec<String> = cases.map(|case| case.id.to_string()).collect();
    if arguments.raw && ids.len() > 1 {
        let log = file.unwrap_or(Path::new("")).display();
        return Err(Failure::Request(format!(
            "--raw is for one prompt, and {log} has {}\n  name one by its line, such as {log}:1",
            ids.len()
        )));
    }
    let mut is_fine = true;
    for id in &ids {
        let pair = asked_pair(&inputs.suite, name, id, arguments)?;
        if ids.len() > 1 {
            transcripts::write_heading(out, &pair)?;
        }
        is_fine &= matches!(show_pair(arguments, inputs, pair, out)?, Status::Fine);
    }
    Ok(Status::of(inputs.suite.problems.is_empty(), is_fine))
}

fn show_pair(
    arguments: &ShowArguments,
    inputs: &Workspace,
    pair: Pair<'_>,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    if arguments.reference && !arguments.diff {
        return show_outcome(arguments, &pair, &recorded(inputs, &pair, arguments)?, out);
    }
    let session = Session::of(&arguments.rendering);
    let chosen = session.chosen()?;
    let runner = session.runner(&chosen)?;
    let marked;
    let pair = if arguments.sanitize_control_tokens {
        marked = tokens::marked(pair.chosen().unwrap_or(pair.template), pair.case)?;
        Pair {
            case: &marked,
            ..pair
        }
    } else {
        pair
    };
    if arguments.trace || arguments.decisions {
        return trace::show(arguments, &runner, &pair, out);
    }
    let Some(rendered) = runner.render(&[pair]).pop() else {
        return Err(Failure::Request(format!(
            "no engine renders the dialect `{}`",
            pair.template.dialect
        )));
    };
    if arguments.diff {
        diff(arguments, inputs, &pair, &rendered.outcome, out)
    } else {
        show_outcome(arguments, &pair, &rendered.outcome, out)
    }
}

/// Loads in the same order as for the sides of `diff`: a template of the suite, then a path, then a
/// model by name. Returns also the name of the template among the inputs; without one they have only
/// that template.
fn load(
    arguments: &ShowArguments,
    case: Option<&str>,
    cases: &[PathBuf],
) -> Result<(Workspace, Option<String>), Failure> {
    let (text, sources) = (&arguments.template, &arguments.sources);
    let is_alone = sources.templates.is_empty();
    let access = home::access();
    let layout = access.layout()?;
    let own = is_alone.then(|| named_template(&access, &layout, text));
    let own = own.flatten();
    let is_place = own.is_none() && is_alone && is_place(text);
    // The name of a template from elsewhere comes from its file.
    let template = if is_place { "" } else { text };
    let filter = case.and_then(|case| Filter::of_pair(template, case));
    let one = [PathBuf::from(text)];
    let subject = Subject {
        templates: if is_place { &one } else { &sources.templates },
        cases: Some(cases),
        ..sources.subject(filter.as_slice())
    };
    let mut inputs = if let Some(own) = &own {
        Workspace::open_own(&access, &layout, own.clone(), &subject)?
    } else {
        Workspace::open_in(&access, &layout, &subject)?
    };
    problems::write_notes(&mut clean::messages(), &inputs.suite.notes)?;
    let is_compared = arguments.diff || arguments.reference;
    // Only the pairs with a template's own front have snapshots and records.
    if !is_compared || !inputs.is_own {
        session::use_front(arguments.front.name, &mut inputs.suite);
    }
    let name = (own.is_none() && !is_place).then(|| text.clone());
    Ok((inputs, name))
}

/// What differs from the recorded outcome, or from the accepted one.
fn diff(
    arguments: &ShowArguments,
    inputs: &Workspace,
    pair: &Pair<'_>,
    outcome: &Outcome,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let expected = if arguments.reference {
        let reference = recorded(inputs, pair, arguments)?;
        if RecordedAnswer::of(&reference).is_some_and(|answer| answer.agrees(outcome)) {
            let name = Reference::of(pair.template.dialect).name;
            transcripts::write_agreement(out, name)?;
            return Ok(Status::Fine);
        }
        transcript::encode(&reference)
    } else {
        let Some(expectations) = inputs.expectations(&[*pair])? else {
            return Err(Failure::Request(format!(
                "{} no snapshots to differ from",
                outside(arguments)
            )));
        };
        let accepted = expectations.snapshots.family_of(pair);
        match accepted.compare(pair, outcome) {
            SnapshotStatus::Same => {
                transcripts::write_accepted(out, accepted.path())?;
                return Ok(Status::Fine);
            }
            SnapshotStatus::New => {
                let message = "nothing was accepted yet for this pair";
                let problem = Problem::new(accepted.path(), message);
                return Err(problem.help(invocation::review()).into());
            }
            SnapshotStatus::Unreadable(problem) => return Err(problem.into()),
            SnapshotStatus::Changed(accepted) => accepted,
        }
    };
    let diff = Diff::new(&expected, &transcript::encode(outcome));
    if arguments.all {
        difference::write_whole_diff(out, &diff, "")?;
    } else {
        difference::write_diff(out, &diff, "")?;
    }
    Ok(Status::Nonconforming)
}

fn show_outcome(
    arguments: &ShowArguments,
    pair: &Pair<'_>,
    outcome: &Outcome,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    if arguments.tokens {
        let template = pair.chosen().unwrap_or(pair.template);
        return tokens::show(arguments, template, outcome, out);
    }
    let status = match outcome.kind() {
        // Any other outcome is what the user asked to see, also an error of the template.
        OutcomeKind::Crashed | OutcomeKind::NotAsked => Status::Nonconforming,
        _ => Status::Fine,
    };
    if arguments.raw {
        transcripts::write_raw(out, outcome)?;
        return Ok(status);
    }
    transcripts::write(out, outcome)?;
    if screen::is_quiet() {
        return Ok(status);
    }
    let chosen = pair.chosen().unwrap_or(pair.template);
    if !std::ptr::eq(chosen, pair.template) {
        // To standard error: standard output has the transcript alone, for a pipe or another file to
        // compare with.
        transcripts::write_choice(&mut clean::messages(), chosen)?;
    }
    transcripts::write_place(&mut clean::messages(), chosen, outcome)?;
    Ok(status)
}

/// What has neither snapshots nor records, as the beginning of a sentence.
fn outside(arguments: &ShowArguments) -> &'static str {
    if arguments.sources.set.is_empty() {
        "templates and cases from outside the suite have"
    } else {
        "a template with --variable or --special-token has"
    }
}

/// The reference's result for a pair, whole.
fn recorded(
    inputs: &Workspace,
    pair: &Pair<'_>,
    arguments: &ShowArguments,
) -> Result<Outcome, Failure> {
    let name = pair_name(pair);
    let Some(expectations) = inputs.expectations(std::slice::from_ref(pair))? else {
        return Err(Failure::Request(format!(
            "{} no records; `run --against` asks the reference",
            outside(arguments)
        )));
    };
    report_problems(&expectations.records.problems)?;
    let answer = expectations
        .records
        .answer(pair, || Fingerprint::of_case(pair.case))
        .map_err(|why| {
            Failure::Request(format!(
                "{name} is unverified: {why}\n  run `{}`",
                invocation::command(&format!("reference update {}", invocation::word(&name)))
            ))
        })?;
    expectations
        .snapshots
        .reference(pair, answer)
        .and_then(|text| transcript::decode(&text).ok())
        .ok_or_else(|| {
            Failure::Request(format!(
                "the record of {name} has only a checksum, which the snapshot does not match, so \
                 the text is not available\n  to see it: {}",
                invocation::command(&format!(
                    "show {} {} --engine {}",
                    invocation::word(pair.template.name.as_str()),
                    pair.case.id,
                    Reference::of(pair.template.dialect).name
                ))
            ))
        })
}

/// The pair that the user chose: of the template with this name, or of the only one. With another
/// front, the suite's version of the case for that front.
fn asked_pair<'s>(
    suite: &'s Suite,
    name: Option<&str>,
    case: &str,
    arguments: &ShowArguments,
) -> Result<Pair<'s>, Failure> {
    let template = probe::find(suite, name, arguments)?;
    let pair = inputs::find_pair(suite, template, case)?;
    let Some(front) = arguments.front.name else {
        return Ok(pair);
    };
    let after = pair.case.id.with_front(front.name());
    let mut of_family = suite.pairs_of(pair.template, pair.case.id.family());
    let other = of_family.find(|other| other.case.id == after);
    let pair = other.unwrap_or(pair);
    session::after(Some(front), vec![pair]).map(|_| pair)
}
