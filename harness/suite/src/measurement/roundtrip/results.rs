//! What comes back of answers from a reader that was measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::conclusion::Share;
use crate::reference::Identity;
use rolecall_answers::cause;
use rolecall_answers::comparison::Verdict;
use rolecall_answers::reading::{MessageId, MessageReading};
use rolecall_answers::transcript::Counts;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::rows::{Row, row};
use rolecall_core::{Case, Template, TemplateName};
use serde::{Deserialize, Serialize};

use crate::measurement::kept::{Kept, ROUNDTRIP, is_zero};

/// A reader's results over a suite, in the form that their file has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundtripMeasurement {
    /// The reader, its version and its components.
    #[serde(serialize_with = "row")]
    pub reader: Identity,
    pub cases: Fingerprint,
    pub templates: BTreeMap<TemplateName, Counted>,
    /// The checksum of the text before it. It is known when the file is written.
    #[serde(skip_serializing)]
    pub checksum: Fingerprint,
}

/// What comes back of the answers of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    #[serde(rename = "sha256")]
    pub template: Fingerprint,
    /// How many of the messages that the template writes whole survive the round trip, but for white
    /// space at the ends of their texts.
    back: usize,
    /// How many messages the template writes whole.
    whole: usize,
    /// How many messages have each verdict, by its name in files.
    #[serde(serialize_with = "row")]
    counts: BTreeMap<String, usize>,
    /// How many come otherwise if they are streamed.
    #[serde(
        default,
        rename = "streamed_otherwise",
        skip_serializing_if = "is_zero"
    )]
    pub streamed: usize,
    /// How many have another prompt than the reference's.
    #[serde(default, rename = "other_prompts", skip_serializing_if = "is_zero")]
    pub prompts: usize,
    /// What is wrong, the most frequent cause first: how many messages have it, the name of the one
    /// with the shortest conversation, and the cause in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Row<(usize, String, String)>>,
}

/// A template and the cases whose answers are read.
#[derive(Debug, Clone)]
pub struct Subject<'s> {
    pub template: &'s Template,
    pub cases: Vec<&'s Case>,
}

impl Subject<'_> {
    /// The fingerprint of the template: its source, its settings and its response template.
    pub fn fingerprint(&self) -> Fingerprint {
        let template = self.template;
        let response_template = template.response_template.as_ref();
        Fingerprint::of(format!(
            "{} {} {}",
            Fingerprint::of_source(template),
            Fingerprint::of_settings(template),
            response_template
                .map(ToString::to_string)
                .unwrap_or_default()
        ))
    }

    /// The fingerprint of all cases of some subjects.
    pub fn cases(subjects: &[Subject<'_>]) -> Fingerprint {
        let cases = subjects.iter().flat_map(|subject| &subject.cases);
        let cases = cases.map(|case| (&case.id, Fingerprint::of_case(case)));
        let mut text = String::new();
        for (id, case) in cases.collect::<BTreeMap<_, _>>() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{id} {case}");
        }
        Fingerprint::of(text)
    }

    /// Counts what came back.
    pub fn counted(&self, messages: &[MessageReading]) -> Counted {
        let mut causes: BTreeMap<String, (usize, (usize, &MessageId))> = BTreeMap::new();
        for message in messages.iter().filter(|message| message.is_fault()) {
            let example = (self.size(&message.id), &message.id);
            let cause = causes.entry(cause::with_verdict(message));
            let (count, smallest) = cause.or_insert((0, example));
            *count += 1;
            *smallest = example.min(*smallest);
        }
        let causes = causes.into_iter();
        let causes = causes.map(|(words, (count, (_, id)))| Row((count, id.to_string(), words)));
        let mut causes: Vec<_> = causes.collect();
        // Those with the same count are in the order of their words.
        causes.sort_by_key(|Row((count, ..))| std::cmp::Reverse(*count));
        let counts = Counts::of(messages);
        let has_other_prompt = |message: &&MessageReading| {
            let read = message.result.as_ref();
            read.is_ok_and(|read| read.other_prompt.is_some())
        };
        let whole: Vec<_> = messages.iter().filter(|one| one.is_whole()).collect();
        Counted {
            template: self.fingerprint(),
            back: whole.iter().filter(|one| one.verdict().is_back()).count(),
            whole: whole.len(),
            counts: counts
                .verdicts()
                .map(|(verdict, count)| (verdict.key().to_owned(), count))
                .collect(),
            streamed: counts.streamed_otherwise,
            prompts: messages.iter().filter(has_other_prompt).count(),
            causes,
        }
    }

    /// The length of the conversation up to a message.
    fn size(&self, id: &MessageId) -> usize {
        let case = self.cases.iter().find(|case| case.id == id.case);
        let messages = case.into_iter().flat_map(|case| &case.messages);
        let messages = messages.take(id.index + 1);
        messages.map(|message| message.to_string().len()).sum()
    }
}

impl Counted {
    /// How many messages survive the round trip, of those that the template writes whole.
    pub fn share(&self) -> Share {
        Share {
            agree: self.back,
            all: self.whole,
        }
    }

    /// The verdicts that messages have, with their counts.
    pub fn verdicts(&self) -> impl Iterator<Item = (Verdict, usize)> {
        let count = |verdict: Verdict| Some((verdict, *self.counts.get(verdict.key())?));
        Verdict::ALL.into_iter().filter_map(count)
    }

    /// How many messages there are.
    pub fn total(&self) -> usize {
        self.counts.values().sum()
    }

    /// The words of a refusal, if the reader refuses all messages.
    pub fn refusal(&self) -> Option<&str> {
        let mut readable = self.verdicts().filter(|(verdict, _)| verdict.is_readable());
        let is_refused = readable.all(|(verdict, _)| verdict == Verdict::Refused);
        let Row((_, _, words)) = self.causes.first().filter(|_| is_refused)?;
        let rest = words.strip_prefix(Verdict::Refused.name());
        Some(rest.map_or(words, |rest| rest.trim_start_matches(": ")))
    }
}

impl Kept for RoundtripMeasurement {
    const FOLDER: &'static str = ROUNDTRIP;
    const WHAT: &'static str = "the measurement of a reader";
    const UNNAMED: &'static str = "a reader has a name and a version";

    fn identity(&self) -> &Identity {
        &self.reader
    }

    fn settle(&mut self) {
        self.checksum = Fingerprint::of("");
    }

    fn is_same(&self, other: &RoundtripMeasurement) -> bool {
        self == other
    }
}

impl RoundtripMeasurement {
    pub fn share(&self) -> Share {
        let shares = self.templates.values().map(Counted::share);
        shares.fold(Share { agree: 0, all: 0 }, |sum, one| Share {
            agree: sum.agree + one.agree,
            all: sum.all + one.all,
        })
    }

    /// What has changed since the measurement, in words. None if nothing has.
    pub fn staleness(&self, now: &[Subject<'_>]) -> Option<String> {
        let mut changed: Vec<&str> = Vec::new();
        for subject in now {
            let known = self.templates.get(&subject.template.name);
            if known.is_none_or(|known| known.template != subject.fingerprint()) {
                changed.push(subject.template.name.as_str());
            }
        }
        if self.cases != Subject::cases(now) {
            changed.push("the cases");
        }
        (!changed.is_empty()).then(|| changed.join(", "))
    }
}
