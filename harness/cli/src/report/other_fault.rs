//! What fails a run or a check, and belongs to no pair and to no contract: a file that cannot be read,
//! a template without a prompt, a difference from a base. Every format reports it.

use std::path::{Path, PathBuf};

use rolecall_core::{Deaths, Outcome, Template};

use super::numbers::counted;
use rolecall_core::diff::DiffLine;
use rolecall_core::invocation;
use rolecall_core::problem::{Location, Position, Problem};
use rolecall_io::syntax_error::SyntaxError;
use rolecall_suite::checked_base::CheckedBase;
use rolecall_suite::conclusion::{EngineFailure, EngineFault};
use rolecall_suite::roundtrip::RoundtripTally;

/// How many lines of a difference to keep.
const MOST_LINES: usize = 60;

/// Something that fails a run or a check.
#[derive(Debug, Clone)]
pub struct OtherFault {
    /// What it is, in a word or two.
    pub kind: FaultKind,
    /// The file, if there is one.
    pub path: PathBuf,
    /// Where in the file.
    pub place: Option<Location>,
    /// What is wrong, in a sentence.
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
    pub lines: Vec<DiffLine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A file that is needed is wrong.
    File,
    /// The engine cannot read a template.
    Syntax,
    /// No pair gave a prompt.
    NoPrompt,
    /// A template differs from its base.
    Base,
    /// A listed divergence is none any more.
    NoDivergence,
    /// An answer is not read as the reference reads it.
    Roundtrip,
    /// An engine died, or answers nothing.
    Died,
}

impl FaultKind {
    pub const ALL: [FaultKind; 7] = [
        FaultKind::File,
        FaultKind::Syntax,
        FaultKind::NoPrompt,
        FaultKind::Base,
        FaultKind::NoDivergence,
        FaultKind::Roundtrip,
        FaultKind::Died,
    ];

    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::File => "file",
            FaultKind::Syntax => "syntax",
            FaultKind::NoPrompt => "no prompt",
            FaultKind::Base => "base",
            FaultKind::NoDivergence => "no divergence",
            FaultKind::Roundtrip => "read back",
            FaultKind::Died => "died",
        }
    }

    /// What it means, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            FaultKind::File => "a file that is needed is wrong",
            FaultKind::Syntax => "the engine cannot read the template",
            FaultKind::NoPrompt => "no pair gave a prompt",
            FaultKind::Base => "the template differs from its base, and nothing gives the reason",
            FaultKind::NoDivergence => "the reference agrees, although a divergence is listed",
            FaultKind::Roundtrip => "an answer is not read as the reference reads it",
            FaultKind::Died => "an engine died in a request, or answers none",
        }
    }
}

/// How often an engine died, in a sentence.
pub fn died(engine: &str, deaths: &Deaths) -> String {
    let times = counted(deaths.count, "request", "requests");
    format!(
        "{engine} died in {times}, and answered only when it was asked again; the first time: {}",
        deaths.first
    )
}

impl OtherFault {
    fn new(kind: FaultKind, path: &Path, what: String) -> OtherFault {
        OtherFault {
            kind,
            path: path.to_path_buf(),
            place: None,
            what,
            help: None,
            lines: Vec::new(),
        }
    }

    pub fn of_problem(problem: &Problem) -> OtherFault {
        OtherFault {
            place: problem.position,
            help: problem.help.clone(),
            ..OtherFault::new(FaultKind::File, &problem.path, problem.message.clone())
        }
    }

    /// A template that the engine cannot read, and why, if the engine says so again.
    pub fn of_unread(template: &Template, error: Option<&SyntaxError>) -> OtherFault {
        let line = error.and_then(|error| error.line);
        let place = line.map(|line| Position {
            line,
            column: error.and_then(|error| error.column).unwrap_or(1),
        });
        let why = error.map_or("the engine cannot read it", |error| &error.message);
        let what = format!("{}: {why}", template.name);
        OtherFault {
            place: place.map(Location::Text),
            ..OtherFault::new(FaultKind::Syntax, &template.path, what)
        }
    }

    /// A run in which every pair failed: how many there are, and the first one with its outcome.
    pub fn of_total((pairs, first, outcome): (usize, &str, &Outcome)) -> OtherFault {
        let what = format!(
            "none of {}; the first, {first}, {}: {}",
            counted(pairs, "pair gave a prompt", "pairs gave a prompt"),
            outcome.kind(),
            outcome.text()
        );
        OtherFault::new(FaultKind::NoPrompt, Path::new(""), what)
    }

    /// A listed divergence, by its name, that is none any more.
    pub fn of_divergence(name: &str) -> OtherFault {
        let what = format!("{name}: the reference agrees now, so it is no divergence any more");
        OtherFault::new(FaultKind::NoDivergence, Path::new(""), what)
    }

    /// An engine that died, or that answers nothing.
    pub fn of_engine(fault: &EngineFault) -> OtherFault {
        let what = match &fault.what {
            EngineFailure::Died(deaths) => died(&fault.engine, deaths),
            EngineFailure::AnswersNothing(why) => format!("{}: {why}", fault.engine),
        };
        OtherFault::new(FaultKind::Died, Path::new(""), what)
    }

    /// What differs from the reference's record of the parsed answers: one fault for each template.
    pub fn of_read_back(tally: &RoundtripTally) -> Vec<OtherFault> {
        let none = Path::new("");
        let unverified = tally.unverified.iter().map(|(template, why)| {
            let what = format!("{template}: nothing confirms the parsed answers: {why}");
            let command = invocation::command("reference update");
            OtherFault {
                help: Some(format!("`{command}` asks the reference")),
                ..OtherFault::new(FaultKind::Roundtrip, none, what)
            }
        });
        let of_template = tally
            .differing
            .chunk_by(|(one, ..), (other, ..)| one == other);
        let differing = of_template.filter_map(|of_template| {
            let (template, message, fault) = of_template.first()?;
            let count = counted(of_template.len(), "message is", "messages are");
            let what = format!(
                "{template}: {count} not parsed as by the reference, such as {message}: {fault}"
            );
            Some(OtherFault::new(FaultKind::Roundtrip, none, what))
        });
        unverified.chain(differing).collect()
    }

    /// The differences of a template from its base that nothing explains.
    pub fn of_deviations(checked: &CheckedBase) -> Vec<OtherFault> {
        let [base, _] = &checked.comparison.sides;
        let of_group = checked.comparison.deviations().map(|group| {
            let first = group.members.first().map_or("", |first| &first.case);
            let edit = group.edit.as_deref();
            let by = edit.map_or_else(String::new, |edit| format!(" by {}", edit.place()));
            let mut what = format!(
                "{} differs from its base {base}{by} in {}, such as {first}",
                checked.template,
                counted(group.members.len(), "case", "cases"),
            );
            if let Some(place) = &group.diff.first {
                what = format!("{what}: {place}");
            }
            let lines = group.diff.hunks.iter().flatten().take(MOST_LINES);
            let line = edit.and_then(|edit| edit.lines.first()).copied();
            let line = line.filter(|_| checked.is_whole_file);
            OtherFault {
                lines: lines.cloned().collect(),
                place: line.map(|line| Location::Text(Position { line, column: 1 })),
                ..OtherFault::new(FaultKind::Base, &checked.path, what)
            }
        });
        of_group.collect()
    }

    /// The same, and the explanations that explain nothing.
    pub(crate) fn of_base(checked: &CheckedBase) -> Vec<OtherFault> {
        let stale = checked.stale.iter().map(OtherFault::of_problem);
        let deviations = OtherFault::of_deviations(checked).into_iter();
        deviations.chain(stale).collect()
    }

    /// The line of the file, if it is known.
    pub fn line(&self) -> Option<usize> {
        match self.place {
            Some(Location::Text(position)) => Some(position.line),
            Some(Location::Byte(_)) | None => None,
        }
    }

    /// What is wrong, after the place.
    pub fn sentence(&self) -> String {
        if self.path.as_os_str().is_empty() {
            return self.what.clone();
        }
        let problem = Problem {
            path: self.path.clone(),
            position: self.place,
            message: self.what.clone(),
            help: self.help.clone(),
        };
        problem.to_string()
    }
}
