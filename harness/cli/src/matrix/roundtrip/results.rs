//! What comes back of answers from a reader that was measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rolecall_answers::reading::MessageId;
use rolecall_answers::returned::{Kind, KindCounts, ReturnedMessage};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::{Case, Template, TemplateName};
use rolecall_suite::conclusion::Share;
use rolecall_suite::reference::Identity;

/// A reader's results over a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundtripMeasurement {
    /// The reader, its version and its components.
    pub reader: Identity,
    pub cases: Fingerprint,
    pub templates: BTreeMap<TemplateName, Counted>,
}

/// What comes back of the answers of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    pub template: Fingerprint,
    /// How many messages are of each kind.
    pub counts: KindCounts,
    /// How many messages the template writes whole, and how many of these survive the round trip,
    /// but for white space at the ends of their texts.
    pub share: Share,
    /// How many come otherwise if they are streamed.
    pub streamed: usize,
    /// How many have another prompt than the reference's.
    pub prompts: usize,
    /// What is wrong, the most frequent cause first.
    pub causes: Vec<Cause>,
}

/// Messages that are wrong in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub words: String,
    /// How many messages have it.
    pub count: usize,
    /// The one with the shortest conversation.
    pub example: MessageId,
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
    pub fn counted(&self, messages: &[ReturnedMessage]) -> Counted {
        let mut causes: BTreeMap<String, (usize, (usize, &MessageId))> = BTreeMap::new();
        for message in messages.iter().filter(|message| message.is_fault()) {
            let example = (self.size(&message.id), &message.id);
            let cause = causes.entry(message.cause());
            let (count, smallest) = cause.or_insert((0, example));
            *count += 1;
            *smallest = example.min(*smallest);
        }
        let causes = causes
            .into_iter()
            .map(|(words, (count, (_, example)))| Cause {
                words,
                count,
                example: example.clone(),
            });
        let mut causes: Vec<Cause> = causes.collect();
        causes.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.words.cmp(&b.words)));
        let count = |is: fn(&ReturnedMessage) -> bool| messages.iter().filter(|it| is(it)).count();
        Counted {
            template: self.fingerprint(),
            counts: KindCounts::of(messages),
            share: Share {
                agree: count(|message| message.is_whole && message.returned.kind().is_back()),
                all: count(|message| message.is_whole),
            },
            streamed: count(|message| message.streamed.is_some()),
            prompts: count(|message| message.other_prompt.is_some()),
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
    /// The words of a refusal, if the reader refuses all messages.
    pub fn refusal(&self) -> Option<&str> {
        let is_refused = self.counts.count(Kind::Refused) == self.counts.readable();
        let cause = self.causes.first().filter(|_| is_refused)?;
        let words = cause.words.strip_prefix(Kind::Refused.name());
        Some(words.map_or(&*cause.words, |words| words.trim_start_matches(": ")))
    }
}

impl RoundtripMeasurement {
    /// The reader with its version, as in the names of files: `llama-server@b11549`.
    pub fn name(&self) -> String {
        format!("{}@{}", self.reader.engine, self.reader.version)
    }

    pub fn share(&self) -> Share {
        let shares = self.templates.values().map(|counted| counted.share);
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
