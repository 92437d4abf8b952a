//! What a server's counts of tokens say, for people and as JSON.

use std::io::{self, Write};

use rolecall_check::fingerprint::{Answer, Conclusion, Explanation, Fingerprint, Way};
use rolecall_core::Template;
use rolecall_explore::generation::fields;
use serde_json::{Map, Value};

use super::format::Format;
use super::json::{self, VERSION, document};
use super::text::{data, text};

/// The answers of a server, and what they say.
pub struct Found<'f> {
    /// The address, without a password.
    pub server: String,
    /// The name of the model in the requests.
    pub model: String,
    /// The templates that the server may have; the first one is expected.
    pub templates: &'f [Template],
    pub fingerprint: &'f Fingerprint<'f>,
    pub conclusion: Conclusion,
    /// How many requests were sent.
    pub requests: usize,
    /// Why no more were sent.
    pub stopped: Option<String>,
}

impl Found<'_> {
    /// Whether the server makes exactly the expected prompts.
    pub fn is_expected(&self) -> bool {
        self.verdict() == "expected"
    }

    /// Whether too little was asked for a verdict.
    pub fn is_undecided(&self) -> bool {
        self.verdict() == "undecided"
    }

    fn verdict(&self) -> &'static str {
        let conclusion = &self.conclusion;
        let is_explained = conclusion.best.contradicted.is_empty();
        if self.fingerprint.unsteady().is_some() {
            "unsteady"
        } else if conclusion.is_constant {
            "constant"
        } else if is_explained && self.fingerprint.is_open(self.stopped.is_some()) {
            "undecided"
        } else if conclusion.is_expected && self.fails() {
            "failing"
        } else if conclusion.is_expected {
            "expected"
        } else if is_explained {
            "another"
        } else {
            "unexplained"
        }
    }

    /// Whether the server has failed on a conversation that the template renders.
    fn fails(&self) -> bool {
        let mut answers = self.fingerprint.answers().iter();
        answers.any(|(_, answer)| matches!(answer, Answer::Failed(_)))
    }

    fn name(&self, answer: usize) -> &str {
        let (question, _) = self.fingerprint.answers()[answer];
        &self.fingerprint.questions()[question].name
    }
}

/// Writes what a server's counts say.
pub fn write(out: &mut dyn Write, found: &Found<'_>, format: Format) -> io::Result<()> {
    let document = FingerprintDocument::of(found);
    if format == Format::Json {
        return json::write(out, &document);
    }
    let conversation = document.unexplained.as_ref();
    let conversation = conversation.map(|one| Value::from(one.conversation.clone()).to_string());
    text!(out, include_str!("fingerprint.txt"), { found => data(&document), conversation })
}

document! {
    /// What a server makes of conversations, as its counts of tokens say.
    pub struct FingerprintDocument<'f> from (found: &'f Found<'f>) with {
        let conclusion = &found.conclusion;
        let answers = found.fingerprint.answers();
        let counts = answers.iter().filter_map(|(_, answer)| match answer {
            Answer::Counted(count) => Some(*count),
            _ => None,
        });
        let counts: Vec<u64> = counts.collect();
    } {
        /// The version of this format.
        rolecall: u32 = VERSION,
        /// The server's address.
        server: &'f str = &found.server,
        /// The name of the model in the requests.
        model: &'f str = &found.model,
        /// `expected` if the server makes the expected prompts, `failing` if it fails on some conversations
        /// besides, `another` if something else explains all of its counts, `undecided` if too little was asked to
        /// tell that from other explanations, `unexplained` if nothing known explains its counts; `constant` or
        /// `unsteady` if they say nothing, because all are the same, or because one conversation has two.
        verdict: &'static str = found.verdict(),
        /// How many requests were sent.
        requests: usize = found.requests,
        /// How many ways to make prompts were distinguished from the beginning.
        ways: usize = found.fingerprint.ways(),
        /// How many conversations the server has counted.
        counted: usize = counts.len(),
        /// The tokens that it has counted in them.
        tokens: u64 = counts.iter().sum(),
        /// Why no more requests were sent. Absent if there was no reason.
        stopped?: Option<&'f str> = found.stopped.as_deref(),
        /// The expected way to make prompts.
        expected: ExplanationJson<'f> = ExplanationJson::of(found, &conclusion.expected),
        /// The way that explains the most counts.
        found: ExplanationJson<'f> = ExplanationJson::of(found, &conclusion.best),
        /// Other ways with the same counts for these conversations.
        same: Vec<WayJson<'f>> = conclusion.best.ways[1..].iter()
            .map(|way| WayJson::of(found, way))
            .collect(),
        /// The way that explains the most counts among those with other counts.
        next?: Option<ExplanationJson<'f>> =
            conclusion.next.as_ref().map(|next| ExplanationJson::of(found, next)),
        /// Whether the search for combinations of changes took as much work as it may, and ended before it had
        /// tried all. Absent if it did not, or if something explains all counts.
        unfinished?: Option<bool> =
            (found.verdict() == "unexplained" && found.fingerprint.is_cut()).then_some(true),
        /// The smallest conversation with a count that nothing explains.
        unexplained?: Option<UnexplainedJson<'f>> = UnexplainedJson::smallest(found),
        /// The conversation that was asked twice, if its counts differ.
        unsteady?: Option<UnsteadyJson<'f>> = found.fingerprint.unsteady().map(|(question, first, again)|
            UnsteadyJson { name: &found.fingerprint.questions()[question].name, first, again }),
        /// The answers, in order.
        answers: Vec<AnswerJson<'f>> = (0..answers.len())
            .map(|answer| AnswerJson::of(found, answer))
            .collect(),
    }

    /// A way to make prompts.
    struct WayJson<'f> from (found: &'f Found<'f>, way: &Way) {
        /// The template's name.
        template: &'f str = found.templates[way.template].name.as_str(),
        /// The application.
        front: &'static str = way.front.name(),
        /// What changes the conversation or the prompt besides.
        changes: Vec<ChangeJson> = way.steps.iter()
            .map(|step| ChangeJson { name: step.name(), sentence: step.sentence() })
            .collect(),
    }

    /// A way to make prompts, and how well it explains the server's counts.
    struct ExplanationJson<'f> from (found: &'f Found<'f>, explanation: &Explanation) {
        /// The way.
        way: WayJson<'f> = WayJson::of(found, &explanation.ways[0]),
        /// The conversations whose counts contradict it.
        contradicted_by: Vec<&'f str> =
            explanation.contradicted.iter().map(|answer| found.name(*answer)).collect(),
    }

    /// An answer of the server.
    struct AnswerJson<'f> from (found: &'f Found<'f>, answer: usize) with {
        let (question, answered) = &found.fingerprint.answers()[answer];
    } {
        /// The name of the conversation.
        name: &'f str = found.name(answer),
        /// How many tokens the server has counted. Absent if it has refused the conversation.
        counted?: Option<u64> = match answered {
            Answer::Counted(count) => Some(*count),
            _ => None,
        },
        /// The server's words, if it has refused the conversation.
        refused?: Option<&'f str> = match answered {
            Answer::Counted(_) => None,
            Answer::Refused(words) | Answer::Failed(words) => Some(words),
        },
        /// How many tokens the expected way makes. Absent if it makes no prompt.
        expected?: Option<u64> = found.conclusion.expected.counts[*question],
        /// How many tokens the way makes that was found.
        found?: Option<u64> = found.conclusion.best.counts[*question],
    }
}

#[derive(Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ChangeJson {
    /// What it is, in a few words.
    name: String,
    /// What happens, in a sentence.
    sentence: String,
}

#[derive(Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct UnsteadyJson<'f> {
    /// The name of the conversation.
    name: &'f str,
    /// The first count.
    first: u64,
    /// The second count.
    again: u64,
}

#[derive(Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct UnexplainedJson<'f> {
    /// The name of the conversation.
    name: &'f str,
    /// How many tokens the server has counted.
    counted: u64,
    /// How many tokens the way makes that was found. Absent if it makes no prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<u64>,
    /// The conversation.
    conversation: Map<String, Value>,
}

impl<'f> UnexplainedJson<'f> {
    fn smallest(found: &'f Found<'f>) -> Option<UnexplainedJson<'f>> {
        let best = &found.conclusion.best;
        let wrong = best.contradicted.iter().filter_map(|index| {
            let (question, answer) = &found.fingerprint.answers()[*index];
            let mut conversation = fields(&found.fingerprint.questions()[*question].case);
            conversation.shift_remove("now");
            match answer {
                Answer::Counted(count) => Some((*count, *question, conversation)),
                _ => None,
            }
        });
        let (counted, question, conversation) = wrong
            .min_by_key(|(.., conversation)| Value::from(conversation.clone()).to_string().len())?;
        Some(UnexplainedJson {
            name: &found.fingerprint.questions()[question].name,
            counted,
            found: best.counts[question],
            conversation,
        })
    }
}
