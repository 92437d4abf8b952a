//! The page of servers: what each application that serves templates makes of ordinary conversations, and
//! how many answers it parses.

use std::io;

use minijinja::context;
use rolecall_check::served::{Served, ServedChange, ServedDifference, ServedVerdict};
use rolecall_core::{TemplateName, transcript};
use rolecall_front::front::Front;
use rolecall_suite::conclusion::Share;
use serde_json::Value;

use crate::commands::matrix::site::pages::Pages;
use crate::report::json::{VERSION, document};
use crate::report::text;
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::roundtrip::{Counted, RoundtripMeasurement};

/// What applications make of a template.
pub type ServedTemplate = (TemplateName, Served);

/// Why an application makes other prompts than the templates' own front, and in which templates.
type Cause<'s> = (&'s ServedDifference, Vec<&'s TemplateName>);

document! {
    /// What each application that serves templates makes of ordinary conversations, as JSON.
    pub struct ServersDocument<'s> from (
        matrix: &'s Matrix, served: &'s [ServedTemplate], fronts: &[Front],
    ) {
        /// The version of this format.
        rolecall: u32 = VERSION,
        /// One for each application.
        applications: Vec<ApplicationJson<'s>> =
            fronts.iter().map(|front| ApplicationJson::of(matrix, served, *front)).collect(),
        /// One for each template.
        templates: Vec<ServedTemplateJson<'s>> =
            served.iter().map(|(name, one)| ServedTemplateJson::of(matrix, name, one)).collect(),
    }

    /// An application, and what it changes.
    struct ApplicationJson<'s> from (
        matrix: &'s Matrix, served: &'s [ServedTemplate], front: Front,
    ) {
        /// The name of its front.
        name: &'static str = front.name(),
        /// What it is, in a sentence.
        about: &'static str = front.description(),
        /// The parser whose answers were measured.
        parser?: Option<String> = parser(matrix, front).map(|parser| parser.reader.to_string()),
        /// Why its prompts are others: those in which something is lost or added first, then those in
        /// the most templates.
        causes: Vec<CauseJson<'s>> = causes(served, front).iter().map(CauseJson::of).collect(),
    }

    /// What applications make of a template.
    struct ServedTemplateJson<'s> from (
        matrix: &Matrix, name: &'s TemplateName, served: &'s Served,
    ) {
        /// The template's name.
        template: &'s str = name.as_str(),
        /// One for each application, in their order.
        applications: Vec<CellJson> =
            served.fronts.iter().map(|front| CellJson::of(matrix, name, served, *front)).collect(),
    }

    /// What an application makes of a template.
    struct CellJson from (
        matrix: &Matrix, name: &TemplateName, served: &Served, front: Front,
    ) with {
        let of_front = served.differences.iter().filter(|one| one.front == front);
        let defects = of_front.filter(|one| one.verdict.is_defect());
        let answers = parser(matrix, front).and_then(|parser| parser.templates.get(name));
        let answers = answers.map(Counted::share).filter(|share| share.all > 0);
    } {
        /// How many kinds of ordinary conversations were rendered.
        kinds_of_conversations: usize = served.capabilities.len(),
        /// The kinds whose prompt is another one.
        other: Vec<OtherJson> = served.capabilities.iter().filter_map(|one| {
            let verdict = *one.verdicts.get(front.name())?;
            let is_other = verdict >= ServedVerdict::Changes;
            is_other.then(|| OtherJson::of(one.capability, verdict))
        }).collect(),
        /// How many of the kinds lose, add or refuse something.
        defects: usize = defects.map(|one| one.capabilities.len()).sum(),
        /// The answers that the application's parser was given, if that was measured.
        answers?: Option<AnswersJson> = answers.map(AnswersJson::of),
    }

    /// A kind of conversation whose prompt is another one.
    struct OtherJson from (kind: &'static str, with_verdict: ServedVerdict) {
        /// What the conversation has, in words.
        capability: &'static str = kind,
        /// What the application makes of it.
        verdict: ServedVerdict = with_verdict,
    }

    /// How many answers a parser reads correctly.
    struct AnswersJson from (share: Share) {
        /// How many it reads correctly.
        read: usize = share.agree,
        /// How many it was given.
        of: usize = share.all,
    }

    /// Why prompts are others, with the smallest conversation and both prompts.
    struct CauseJson<'s> from (cause: &Cause<'s>) with {
        let (one, in_templates) = cause;
        let evidence = &one.evidence[0];
        let prompt = |at: usize| evidence.renders.get(at).map(|it| transcript::encode(&it.outcome));
    } {
        /// What the application makes of the conversation.
        verdict: ServedVerdict = one.verdict,
        /// Whether something is lost, added or refused.
        is_defect: bool = one.verdict.is_defect(),
        /// What happens, in words.
        what: &'s str = &evidence.what,
        /// What the conversations have that it happens to.
        capabilities: &'s [&'static str] = &one.capabilities,
        /// The application's changes of the request that make the difference.
        changes: &'s [ServedChange] = &one.changes,
        /// The templates in which it happens.
        templates: Vec<&'s str> = in_templates.iter().map(|name| name.as_str()).collect(),
        /// The smallest conversation, as a case file has it.
        conversation?: Option<&'s Value> = evidence.renders.first().map(|it| &it.conversation),
        /// The prompt that should come, as a snapshot has it.
        expected?: Option<String> = prompt(0),
        /// The prompt that comes, as a snapshot has it.
        found?: Option<String> = prompt(1),
    }
}

/// The page, and the same as JSON.
pub(crate) fn page(
    pages: &Pages,
    matrix: &Matrix,
    served: &[ServedTemplate],
) -> io::Result<(String, String)> {
    let fronts = served
        .first()
        .map_or(&[] as &[Front], |(_, one)| &one.fronts);
    let document = ServersDocument::of(matrix, served, fronts);
    let mut shown = serde_json::to_value(&document)?;
    let applications = shown["applications"].as_array_mut();
    let causes = applications.into_iter().flatten();
    let causes = causes.filter_map(|one| one["causes"].as_array_mut());
    for cause in causes.flatten() {
        // As a text, its keys stay in their order.
        let text = serde_json::to_string_pretty(&cause["conversation"])?;
        cause["conversation"] = text.into();
    }
    let page =
        context! { root => "", title => "What servers make of templates", ..text::data(&shown) };
    let json = serde_json::to_string_pretty(&document)? + "\n";
    Ok((pages.page("servers.html", page)?, json))
}

/// The measured parser of an application: it has its name, or begins with it.
fn parser(matrix: &Matrix, front: Front) -> Option<&RoundtripMeasurement> {
    let is_of = |one: &&RoundtripMeasurement| {
        let rest = one.reader.engine.strip_prefix(front.name());
        rest.is_some_and(|rest| rest.is_empty() || rest == "-parsers")
    };
    matrix.roundtrip().iter().rfind(is_of)
}

/// Why an application makes other prompts than the templates' own front: those in which something is
/// lost or added first, then those in the most templates.
fn causes(served: &[ServedTemplate], front: Front) -> Vec<Cause<'_>> {
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for (name, one) in served {
        for difference in one.differences.iter().filter(|one| one.front == front) {
            let is_same = |known: &ServedDifference| {
                known.verdict == difference.verdict && known.changes == difference.changes
            };
            match causes.iter_mut().find(|(known, _)| is_same(known)) {
                Some((known, templates)) => {
                    templates.push(name);
                    if size(difference) < size(known) {
                        *known = difference;
                    }
                }
                None => causes.push((difference, vec![name])),
            }
        }
    }
    causes.sort_by_key(|(one, templates)| {
        (!one.verdict.is_defect(), std::cmp::Reverse(templates.len()))
    });
    causes
}

/// How long the conversation of a difference is.
fn size(difference: &ServedDifference) -> usize {
    let renders = &difference.evidence[0].renders;
    renders
        .first()
        .map_or(0, |render| render.conversation.to_string().len())
}
