//! The command `matrix --roundtrip`: measures who reads back which template's answers.

use std::borrow::Cow;
use std::io::Write;

use crate::commands::matrix::report;
#[cfg(feature = "fetch")]
use crate::servers::ServerProgram;
use rolecall_answers::ending::Form;
use rolecall_answers::reader::{DeclaredReader, OwnReader};
use rolecall_answers::recipient::{ParserOf, Parsers, Recipient};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::invocation;
use rolecall_core::{AnswerReader, Dialect, Engine as _, Template, TemplateReader};
use rolecall_suite::layout::Layout;
use rolecall_suite::measurement::kept::Kept;
use rolecall_suite::measurement::roundtrip::{
    self as measurement, PROBES, RoundtripMeasurement, Subject,
};
use rolecall_suite::reference::{Identity, Reference};
use rolecall_suite::suite::Suite;

use crate::args::MeasuringArguments;
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status, report_problems};
use crate::roundtrip::ask;
use crate::session::Session;
use crate::{home, inputs};

/// Rolecall's own reader.
const OWN: &str = "rolecall-response";

/// The kept measurements over a suite.
pub(crate) fn kept(layout: &Layout) -> Result<Vec<RoundtripMeasurement>, Failure> {
    let (measurements, problems) = measurement::read_all(layout);
    report_problems(&problems)?;
    if problems.is_empty() {
        return Ok(measurements);
    }
    Err(Failure::Request(
        "there is no table of measurements that cannot be read".to_owned(),
    ))
}

/// The Jinja templates of a suite, each with the cases whose messages are made to be parsed; with
/// all cases if the suite has none.
fn subjects(suite: &Suite) -> Vec<Subject<'_>> {
    let templates = suite.templates.iter();
    let templates = templates.filter(|template| template.dialect == Dialect::Jinja);
    let is_own = |case: &&rolecall_core::Case| case.front.is_none() && case.is_for(Dialect::Jinja);
    let own: Vec<_> = suite.cases.iter().filter(is_own).collect();
    let probes = own.iter().copied();
    let probes: Vec<_> = probes
        .filter(|case| PROBES.contains(&case.id.family()))
        .collect();
    let cases = if probes.is_empty() { own } else { probes };
    templates
        .map(|template| Subject {
            template,
            cases: cases.clone(),
        })
        .collect()
}

/// Who reads answers.
enum Reader<'e> {
    /// Rolecall itself.
    Own(Box<OwnReader>),
    Program(ChosenEngine<'e>),
    #[cfg(feature = "fetch")]
    Server(Box<ServerProgram>),
}

impl<'e> Reader<'e> {
    fn open(session: &'e Session, name: &str) -> Result<Reader<'e>, Failure> {
        if name == OWN {
            return Ok(Reader::Own(Box::default()));
        }
        #[cfg(feature = "fetch")]
        if let Some(program) = ServerProgram::parse(name, &session.limits.program) {
            let program = program.map(|program| Reader::Server(Box::new(program)));
            return program.map_err(Failure::Request);
        }
        let choice = session.open(name)?;
        let program = choice.program();
        let reads = program.is_some_and(|program| program.reads_answers() || program.has_parsers());
        if reads {
            return Ok(Reader::Program(choice));
        }
        Err(Failure::Request(format!(
            "`{name}` reads no answers\n  {OWN}, transformers, programs that read answers over the \
             engine protocol, and servers such as 'llama-server=llama-server' do"
        )))
    }

    /// What comes back from it.
    fn measure(
        &self,
        session: &Session,
        name: &str,
        subjects: &[Subject<'_>],
    ) -> Result<RoundtripMeasurement, Failure> {
        let measure = |recipient: &dyn Recipient| measure(session, recipient, subjects);
        match self {
            Reader::Own(reader) => measure(&Parsers {
                name: OWN.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                parser: Box::new(|template| declared(reader.as_ref(), template)),
                form: Form::Ended,
            }),
            Reader::Program(choice) => {
                let Some(program) = choice.program() else {
                    return Err(Failure::Request(format!("`{name}` reads no answers")));
                };
                let parser: Box<ParserOf<'_>> = if program.has_parsers() {
                    Box::new(|template| Some(Box::new(program.parsers(template))))
                } else {
                    Box::new(|template| declared(program, template))
                };
                measure(&Parsers {
                    name: program.name().to_owned(),
                    version: program.version().to_owned(),
                    parser,
                    // Servers cut the end token off before they read.
                    form: match Reference::by_name(name) {
                        Some(_) => Form::Ended,
                        None => Form::Bare,
                    },
                })
            }
            #[cfg(feature = "fetch")]
            Reader::Server(program) => measure(program.as_ref()),
        }
    }
}

/// A reader of a template's answers with its response template.
fn declared<'r>(
    reader: &'r dyn AnswerReader,
    template: &Template,
) -> Option<Box<dyn TemplateReader + 'r>> {
    let response_template = template.response_template.clone()?;
    Some(Box::new(DeclaredReader {
        reader,
        response_template: Cow::Owned(response_template),
        is_server: false,
    }))
}

fn measure(
    session: &Session,
    recipient: &dyn Recipient,
    subjects: &[Subject<'_>],
) -> Result<RoundtripMeasurement, Failure> {
    let what = format!("asking {}", recipient.name());
    let returned = ask(session, recipient, subjects, &what)?;
    let templates = returned.iter().zip(subjects);
    let templates = templates
        .map(|((template, messages), subject)| (template.name.clone(), subject.counted(messages)));
    Ok(RoundtripMeasurement {
        reader: Identity {
            engine: recipient.name().to_owned(),
            version: recipient.version().to_owned(),
            components: std::collections::BTreeMap::new(),
        },
        cases: Subject::cases(subjects),
        templates: templates.collect(),
        checksum: Fingerprint::of(""),
    })
}

/// Measures each of some readers.
fn each(
    arguments: &MeasuringArguments,
    layout: &Layout,
    mut take: impl FnMut(RoundtripMeasurement) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let suite = inputs::load_sound(layout, "a suite with such problems is not measured")?;
    let subjects = subjects(&suite);
    let session = Session::new(&arguments.limits, arguments.jobs);
    for name in &arguments.engines {
        let reader = Reader::open(&session, name)?;
        let measured = reader.measure(&session, name, &subjects)?;
        if measured.reader.version.is_empty() {
            return Err(Failure::Request(format!(
                "`{name}` does not say its version, and nothing can be kept of it"
            )));
        }
        take(measured)?;
    }
    Ok(())
}

pub(crate) fn update(
    arguments: &MeasuringArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let layout = home::layout()?;
    home::tell_suite(&layout);
    each(arguments, &layout, |measured| {
        let (path, is_other) = measured.write(&layout)?;
        Ok(report::write_roundtrip_updated(
            out, &measured, &path, is_other,
        )?)
    })?;
    Ok(Status::Fine)
}

pub(crate) fn verify(
    arguments: &MeasuringArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let layout = home::layout()?;
    let kept = kept(&layout)?;
    let mut is_fine = true;
    each(arguments, &layout, |now| {
        let known = kept.iter().find(|known| known.name() == now.name());
        is_fine &= report::write_roundtrip_verified(out, &now, known)?;
        Ok(())
    })?;
    if is_fine {
        return Ok(Status::Fine);
    }
    let names = invocation::words(arguments.engines.iter().map(String::as_str));
    let command = invocation::command(&format!("matrix update --roundtrip {names}"));
    writeln!(out, "to record their current results: {command}")?;
    Ok(Status::Nonconforming)
}

pub(crate) fn show(layout: &Layout, out: &mut dyn Write) -> Result<Status, Failure> {
    let kept = kept(layout)?;
    if kept.is_empty() {
        return Err(Failure::Request(format!(
            "nobody was measured over this suite\n  `{}` measures Rolecall's own reader",
            invocation::command(&format!("matrix update --roundtrip {OWN}"))
        )));
    }
    let suite = inputs::load_whole(layout)?;
    report::write_roundtrip(out, &kept, &subjects(&suite))?;
    Ok(Status::Fine)
}
