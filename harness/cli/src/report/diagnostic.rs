//! Diagnostics: what is wrong, and where. Code scanning, annotations, JUnit and comments on pull
//! requests are written from them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rolecall_core::diff::{Diff, DiffLine, Side};
use rolecall_core::invocation;
use rolecall_core::problem::{Location, Position, Problem};
use rolecall_core::{Deaths, Outcome, Template, TemplatePart};

use super::conversations::sentence;
use super::fixes::TemplateFixes;
use super::numbers::counted;
use super::place::lines;
use rolecall_check::card::Card;
use rolecall_check::contract::{self, Severity};
use rolecall_check::fix::Fix;
use rolecall_io::syntax_error::SyntaxError;
use rolecall_io::template_file::line_in_file;
use rolecall_suite::checked_base::CheckedBase;
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::comparison::lines_in_words;
use rolecall_suite::conclusion::{EngineFailure, EngineFault, FaultGroup, GroupedPair};
use rolecall_suite::own_conversations::JudgedConversations;
use rolecall_suite::roundtrip::RoundtripTally;
use rolecall_suite::snapshot::SnapshotStatus;
use rolecall_suite::suite::Suite;

/// The rule for a file that is wrong.
pub(crate) const FILE: &str = "file";
/// The rule for a template that the engine cannot read.
pub(crate) const SYNTAX: &str = "syntax";
/// The rule for a template that differs from its base.
pub(crate) const BASE: &str = "base";

/// The names of faults that are neither a pair's nor a contract's, each with its meaning.
pub(crate) const RULES: [(&str, &str); 7] = [
    (FILE, "a file that is needed is wrong"),
    (SYNTAX, "the engine cannot read the template"),
    ("no prompt", "no pair gave a prompt"),
    (
        BASE,
        "the template differs from its base, and nothing gives the reason",
    ),
    (
        "no divergence",
        "the reference agrees, although a divergence is listed",
    ),
    (
        "read back",
        "an answer is not read as the reference reads it",
    ),
    ("died", "an engine died in a request, or answers none"),
];

/// The names of faults that are no contract's of templates, each with its meaning.
pub(crate) fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_logs = contract::LOG_RULES.iter().map(|rule| &rule.contract);
    let others = of_logs.chain([&contract::INTERNAL_ERROR]);
    RULES
        .into_iter()
        .chain(others.map(|one| (one.id, one.meaning)))
}

/// Something that is wrong.
#[derive(Debug, Clone, Default)]
pub struct Diagnostic<'c> {
    /// The contract, or another rule.
    pub rule: &'static str,
    /// `error`, `warning` or `note`.
    pub level: &'static str,
    /// The template or the pair. Empty if it is about neither.
    pub subject: String,
    /// The pairs for which the same is wrong, this one included.
    pub pairs: &'c [GroupedPair<'c>],
    /// How these pairs are not as expected, in words.
    pub of_many: &'static str,
    /// What the contract demands, for formats that do not explain rules.
    pub meaning: Option<&'static str>,
    /// What is wrong, in lines.
    pub what: Vec<String>,
    /// The file. Empty if there is none.
    pub path: PathBuf,
    /// Where in the file, if that is known to the character or byte.
    pub place: Option<Location>,
    /// The lines of the file, the worst first. Empty if none is known.
    pub lines: Vec<usize>,
    /// The line for a format that needs one.
    pub begins: Option<usize>,
    /// The difference that proves it.
    pub diff: Option<Cow<'c, Diff>>,
    /// The text that proves it, if there is nothing to compare it with.
    pub shown: Option<&'c str>,
    /// What to do about it. For pairs, the command that shows the first one.
    pub help: Option<String>,
    /// Why it is meant to be so, if it is.
    pub known: Option<String>,
    /// A fix that is not in the file yet, and the file's text.
    pub fix: Option<(&'c Fix, &'c str)>,
}

/// The level of a severity. A limitation is only worth knowing.
pub(crate) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Limitation | Severity::Note => "note",
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

impl<'c> Diagnostic<'c> {
    fn new(rule: &'static str, path: &Path, what: String) -> Diagnostic<'c> {
        Diagnostic {
            rule,
            level: "error",
            path: path.to_path_buf(),
            what: vec![what],
            ..Diagnostic::default()
        }
    }

    pub fn of_problem(problem: &Problem) -> Diagnostic<'c> {
        let line = match problem.position {
            Some(Location::Text(position)) => Some(position.line),
            _ => None,
        };
        Diagnostic {
            place: problem.position,
            lines: line.into_iter().collect(),
            help: problem.help.clone(),
            ..Diagnostic::new(FILE, &problem.path, problem.message.clone())
        }
    }

    /// A template that the engine cannot read, and why, if the engine says so again.
    pub fn of_unread(template: &Template, error: Option<&SyntaxError>) -> Diagnostic<'c> {
        let why = error.map_or("the engine cannot read it", |error| &error.message);
        let line = error.and_then(|error| error.line);
        let column = error.and_then(|error| error.column);
        let place = line.zip(column);
        Diagnostic {
            subject: template.name.to_string(),
            place: place.map(|(line, column)| Location::Text(Position { line, column })),
            lines: line.into_iter().collect(),
            begins: line_in_file(template, None),
            ..Diagnostic::new(SYNTAX, &template.path, why.to_owned())
        }
    }

    /// The broken contracts of cards, in their order, with the fixes that are not applied. If a
    /// template cannot be read, only that.
    pub fn of_cards(
        cards: &'c [Card],
        templates: &'c [Template],
        fixes: &'c [TemplateFixes],
    ) -> Vec<Diagnostic<'c>> {
        let all = cards.iter().flat_map(|card| {
            let is_its = |template: &&Template| template.name.as_str() == card.template;
            let template = templates.iter().find(is_its);
            // Lines of a template inside of another file are no lines of that file.
            let is_whole = template.is_some_and(|one| one.part == TemplatePart::Whole);
            let source = template
                .filter(|_| is_whole)
                .map(|template| template.source.as_str());
            let fixes = fixes.iter().filter(|fixes| fixes.template == card.template);
            let open = fixes.flat_map(|of| of.fixes.found.iter().filter(|fix| !of.is_applied(fix)));
            let open: Vec<&Fix> = open.collect();
            if let (Some(error), Some(template)) = (&card.syntax_error, template) {
                return vec![Diagnostic::of_unread(template, Some(error))];
            }
            let broken = card.broken().map(|finding| Diagnostic {
                level: match finding.deliberate {
                    Some(_) => "note",
                    None => level(finding.severity()),
                },
                subject: card.template.clone(),
                meaning: Some(finding.contract.meaning),
                what: finding
                    .evidence()
                    .iter()
                    .map(|one| one.what.clone())
                    .collect(),
                lines: template.map_or_else(Vec::new, |template| lines(finding, template)),
                known: finding.deliberate.clone(),
                fix: open
                    .iter()
                    .find(|fix| fix.contract.id == finding.contract.id)
                    .and_then(|fix| Some((*fix, source?))),
                rule: finding.contract.id,
                path: template.map_or_else(PathBuf::new, |template| template.path.clone()),
                ..Diagnostic::default()
            });
            broken.collect()
        });
        all.collect()
    }

    /// Pairs that are not as expected, and the command that shows the first one. None if there are
    /// none.
    pub fn of_group(group: &'c FaultGroup<'_>, command: String) -> Option<Diagnostic<'c>> {
        let pair = &group.pairs.first()?.pair;
        let template = pair.chosen().unwrap_or(pair.template);
        let place = group.place().map(|place| format!("by {place}"));
        let first = group.diff.as_ref().and_then(|diff| diff.first.clone());
        let first: Vec<String> = place.into_iter().chain(first).collect();
        let first = Some(first.join(": ")).filter(|first| !first.is_empty());
        let lines = group.lines.iter();
        Some(Diagnostic {
            subject: format!("{} {}", pair.template.name, pair.case.id),
            pairs: &group.pairs,
            of_many: group.fault.of_many(group.pairs.len()),
            what: first.into_iter().chain(group.word.clone()).collect(),
            lines: lines
                .filter_map(|line| line_in_file(template, Some(*line)))
                .collect(),
            begins: line_in_file(template, None),
            diff: group.diff.as_ref().map(Cow::Borrowed),
            shown: group.shown.as_deref(),
            help: Some(command),
            ..Diagnostic::new(group.fault.name(), &template.path, String::new())
        })
    }

    /// A text about a template that is not as the suite demands, and others that differ in the same
    /// way.
    pub fn of_text(checked: &'c CheckedText, others: &[&CheckedText]) -> Diagnostic<'c> {
        let kind = checked.kind.name();
        let mut what = vec![match &checked.change {
            SnapshotStatus::Same => {
                "the template breaks contracts, and nothing gives the reason".to_owned()
            }
            SnapshotStatus::New => format!("the {kind} was never accepted"),
            SnapshotStatus::Unreadable(why) => format!("the {kind} cannot be read: {why}"),
            SnapshotStatus::Changed(_) => format!("the {kind} is not as accepted"),
        }];
        let others: Vec<&str> = others.iter().map(|one| one.template.as_str()).collect();
        if !others.is_empty() {
            what.push(format!("the same in {}", others.join(", ")));
        }
        let forbidden = checked.forbidden.iter();
        what.extend(forbidden.map(|one| {
            let (severity, id) = (one.severity().name(), one.contract.id);
            format!("{severity} {id}: {}", one.what())
        }));
        Diagnostic {
            subject: checked.template.clone(),
            what,
            diff: checked.diff().map(Cow::Owned),
            ..Diagnostic::new(kind, &checked.path, String::new())
        }
    }

    /// A run in which every pair failed: how many there are, and the first one with its outcome.
    pub fn of_total(pairs: usize, first: &str, outcome: &Outcome) -> Diagnostic<'c> {
        let what = format!(
            "none of {}; the first, {first}, {}: {}",
            counted(pairs, "pair gave a prompt", "pairs gave a prompt"),
            outcome.kind(),
            outcome.text()
        );
        Diagnostic::new("no prompt", Path::new(""), what)
    }

    /// A listed divergence, by its name, that is none any more.
    pub fn of_divergence(name: &str) -> Diagnostic<'c> {
        let what = format!("{name}: the reference agrees now, so it is no divergence any more");
        Diagnostic::new("no divergence", Path::new(""), what)
    }

    /// An engine that died, or that answers nothing.
    pub fn of_engine(fault: &EngineFault) -> Diagnostic<'c> {
        let what = match &fault.what {
            EngineFailure::Died(deaths) => died(&fault.engine, deaths),
            EngineFailure::AnswersNothing(why) => format!("{}: {why}", fault.engine),
        };
        Diagnostic::new("died", Path::new(""), what)
    }

    /// What differs from the reference's record of the parsed answers: one for each template.
    pub fn of_read_back(tally: &RoundtripTally) -> Vec<Diagnostic<'c>> {
        let fault = |what| Diagnostic::new("read back", Path::new(""), what);
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for (template, why) in &tally.unverified {
            let why = why.clone();
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, templates)) => templates.push(template.as_str()),
                None => reasons.push((why, vec![template.as_str()])),
            }
        }
        let unverified = reasons.into_iter().map(|(why, templates)| Diagnostic {
            help: Some(format!(
                "`{}` asks the reference",
                invocation::command("reference update")
            )),
            ..fault(format!(
                "{}: nothing confirms the parsed answers: {why}",
                templates.join(", ")
            ))
        });
        let of_template = tally
            .differing
            .chunk_by(|(one, ..), (other, ..)| one == other);
        let differing = of_template.filter_map(|of_template| {
            let (template, message, why) = of_template.first()?;
            let count = counted(of_template.len(), "message is", "messages are");
            Some(fault(format!(
                "{template}: {count} not parsed as by the reference, such as {message}: {why}"
            )))
        });
        unverified.chain(differing).collect()
    }

    /// The differences of a template from its base that nothing explains.
    pub fn of_deviations(checked: &'c CheckedBase) -> impl Iterator<Item = Diagnostic<'c>> {
        let [base, _] = &checked.comparison.sides;
        checked.comparison.deviations().map(move |group| {
            let first = group.members.first().map_or("", |first| &first.case);
            let edit = group.edit.as_deref();
            let by = edit.map_or_else(String::new, |edit| {
                format!(" by {}", lines_in_words(&edit.lines))
            });
            let mut what = format!(
                "{} differs from its base {base}{by} in {}, such as {first}",
                checked.template,
                counted(group.members.len(), "case", "cases"),
            );
            if let Some(place) = &group.diff.first {
                what = format!("{what}: {place}");
            }
            let line = edit.and_then(|edit| edit.lines.first()).copied();
            Diagnostic {
                diff: Some(Cow::Borrowed(&group.diff)),
                lines: line.filter(|_| checked.is_whole_file).into_iter().collect(),
                ..Diagnostic::new(BASE, &checked.path, what)
            }
        })
    }

    /// What is wrong with conversations of the user's own, each at the smallest one.
    pub fn of_conversations(
        judged: &JudgedConversations,
        suite: &Suite,
    ) -> impl Iterator<Item = Diagnostic<'c>> {
        judged.all().map(|cause| {
            let place = suite.place_of(&cause.example);
            let (path, line) =
                place.map_or((Path::new(""), None), |(path, line)| (path, Some(line)));
            Diagnostic {
                level: level(cause.severity),
                subject: judged.template.clone(),
                meaning: Some(cause.meaning()),
                lines: line.into_iter().collect(),
                ..Diagnostic::new(
                    cause.rule,
                    path,
                    sentence(cause, judged.conversations, suite),
                )
            }
        })
    }

    /// The template or the first pair, and how many other pairs there are.
    fn heading(&self) -> String {
        match self.pairs.len().saturating_sub(1) {
            0 => self.subject.clone(),
            others => {
                let others = counted(others, "other pair", "other pairs");
                format!("{} and {others}", self.subject)
            }
        }
    }

    /// What is wrong, after the template or the pair.
    pub fn message(&self) -> String {
        let parts = [self.heading(), self.what.join("\n")];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(if self.pairs.is_empty() { ": " } else { "\n" })
    }

    /// What is wrong, after the place.
    pub fn sentence(&self) -> String {
        if self.path.as_os_str().is_empty() {
            return self.message();
        }
        let line = self.lines.first();
        let line = line.map(|line| {
            Location::Text(Position {
                line: *line,
                column: 1,
            })
        });
        let problem = Problem {
            path: self.path.clone(),
            position: self.place.or(line),
            message: self.message(),
            help: self.help.clone(),
        };
        problem.to_string()
    }

    /// The column in the first line.
    pub fn column(&self) -> Option<usize> {
        match self.place {
            Some(Location::Text(position)) => Some(position.column),
            _ => None,
        }
    }

    /// The first lines of what proves it: of the difference, each after its sign, or of the text.
    pub fn evidence(&self, most: usize) -> Vec<String> {
        let diff = self
            .diff
            .iter()
            .flat_map(|diff| diff.hunks.iter().flatten());
        let shown = self.shown.filter(|_| self.diff.is_none());
        let shown = shown.iter().flat_map(|shown| shown.lines());
        let shown = shown.map(|line| signed(&DiffLine::found(line)));
        diff.map(signed).chain(shown).take(most).collect()
    }

    /// What stays the same while the same thing is wrong.
    pub fn mark(&self) -> String {
        let what = self.what.first().filter(|_| self.subject.is_empty());
        format!("{}/{}", what.unwrap_or(&self.subject), self.rule)
    }
}

/// A line of a difference after its sign.
pub(crate) fn signed(line: &DiffLine) -> String {
    let sign = match line.side {
        Side::Both => ' ',
        Side::Expected => '-',
        Side::Found => '+',
    };
    let texts = line.pieces.iter().map(|piece| piece.text.as_str());
    let line = format!("{sign} {}", texts.collect::<String>());
    line.trim_end().to_owned()
}
