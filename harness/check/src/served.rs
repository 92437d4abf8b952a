//! What applications that serve a template make of ordinary conversations, beside its own front.
//!
//! A model was trained with the prompts of transformers. A server changes a request before the template
//! gets it: so a part of the request may be missing from the prompt, or the prompt has text that nobody
//! wrote.

use std::collections::BTreeMap;
use std::sync::Arc;

use rolecall_core::{CONTENT, Case, Outcome, ROLES, Stage};
use rolecall_front::front::{Change, Front};
use serde::Serialize;
use serde_json::{Value, json};

use crate::contract::Evidence;
use crate::probe::catalogue::{
    ASSISTANT_TWO_PARTS, CALL_RESULT, CALL_WITH_TEXT, DEVELOPER_USER, DOCUMENT, IMAGE, LATE_SYSTEM,
    NULL_CALL, PARALLEL, QUOTED_RESULT, REASONED_CALL, REASONED_USER, RESULT_PARTS, RICH_TOOL,
    SYSTEM_TWO_PARTS, SYSTEM_USER, TOOL_WITHOUT_PARAMETERS, TOOLS, TWO_PARTS, TWO_ROUNDS,
    TWO_USERS, UNFINISHED, USER, USER_ASSISTANT_USER, USER_PARTS,
};
use crate::probe::{Probe, ProbeOutcome, Prober, common};

/// What conversations can have, each with the smallest conversation that has it. The short ones come
/// first: where one cause changes several of them, the first shows it.
const CAPABILITIES: [(&str, Probe); 24] = [
    ("a question", USER),
    ("a system message", SYSTEM_USER),
    ("a later system message", LATE_SYSTEM),
    ("a developer message", DEVELOPER_USER),
    ("a second question", USER_ASSISTANT_USER),
    ("two questions in a row", TWO_USERS),
    ("text parts of a question", TWO_PARTS),
    ("text parts of an answer", ASSISTANT_TWO_PARTS),
    ("text parts of a system message", SYSTEM_TWO_PARTS),
    ("an image", IMAGE),
    ("documents", DOCUMENT),
    ("tools", TOOLS),
    ("a tool without parameters", TOOL_WITHOUT_PARAMETERS),
    ("a tool with a rich schema", RICH_TOOL),
    ("a call without content", NULL_CALL),
    ("a call and its result", CALL_RESULT),
    ("a result as a text part", RESULT_PARTS),
    ("a result with quotes in it", QUOTED_RESULT),
    ("a call with a text", CALL_WITH_TEXT),
    ("parallel calls", PARALLEL),
    ("two rounds of calls", TWO_ROUNDS),
    ("earlier reasoning", REASONED_USER),
    ("reasoning before a call", REASONED_CALL),
    ("a continued answer", UNFINISHED),
];

/// What applications make of the conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Served {
    /// The applications, by their fronts.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub fronts: Vec<Front>,
    /// What conversations can have, and what each application makes of it.
    pub capabilities: Vec<ServedCapability>,
    /// What differs from the template's own front, by cause.
    pub differences: Vec<ServedDifference>,
}

/// What applications make of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServedCapability {
    /// What the conversation has, in words.
    pub capability: &'static str,
    /// The name of its probe.
    pub probe: &'static str,
    /// What each application makes of it, by the name of its front.
    pub verdicts: BTreeMap<&'static str, ServedVerdict>,
}

/// What an application makes of a conversation, beside the template's own front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServedVerdict {
    /// The same prompt.
    Same,
    /// Neither of the two makes a prompt.
    Neither,
    /// Only the application makes a prompt, or only its prompt has all that was sent.
    Works,
    /// Another prompt, in which everything is that was sent.
    Changes,
    /// Something that was sent is not in the prompt.
    Loses,
    /// There is more in the prompt than was sent.
    Adds,
    /// The application refuses the conversation.
    Refuses,
    /// The template fails with what the application makes of the conversation.
    Fails,
}

/// Why an application makes another prompt than the template's own front.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServedDifference {
    /// The application, by its front.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub front: Front,
    pub verdict: ServedVerdict,
    /// What the conversations have that it happens to.
    pub capabilities: Vec<&'static str>,
    /// The application's changes of the request that make the difference.
    pub changes: Vec<ServedChange>,
    /// For each of these a conversation with both prompts. The prompt of the template's own front is the
    /// first one.
    pub evidence: Vec<Evidence>,
}

/// A change that an application makes to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServedChange {
    pub name: &'static str,
    /// What happens, in a sentence.
    pub sentence: &'static str,
    /// Where the application does it: the file, and in it a line of the front's version or a function.
    pub source: String,
}

impl ServedVerdict {
    /// Its name, as a verb.
    pub fn name(self) -> &'static str {
        match self {
            ServedVerdict::Same => "same",
            ServedVerdict::Neither => "neither",
            ServedVerdict::Works => "works",
            ServedVerdict::Changes => "changes",
            ServedVerdict::Loses => "loses",
            ServedVerdict::Adds => "adds",
            ServedVerdict::Refuses => "refuses",
            ServedVerdict::Fails => "fails",
        }
    }

    /// Whether a model served in this way is given less or more than was sent.
    pub fn is_defect(self) -> bool {
        self > ServedVerdict::Changes
    }
}

impl Served {
    /// Renders the conversations as users of these fronts get them. Without any it takes all.
    pub(crate) fn examine(prober: &Prober<'_>, fronts: &[Front]) -> Served {
        let known = Front::for_dialect(prober.dialect()).filter(|front| front.is_served());
        let known = known.filter(|front| fronts.is_empty() || fronts.contains(front));
        let fronts: Vec<Front> = known.collect();
        let mut served = Served {
            fronts,
            capabilities: Vec::new(),
            differences: Vec::new(),
        };
        for (capability, probe) in CAPABILITIES {
            let own = prober.see(probe);
            // A template of texts has no prompt for an image.
            if probe == IMAGE && own.outcome == prober.see(USER_PARTS).outcome {
                continue;
            }
            let by_front = served.fronts.clone().into_iter();
            let verdicts = by_front.map(|front| {
                let verdict = served.compare(prober, capability, &own, front);
                (front.name(), verdict)
            });
            let verdicts = verdicts.collect();
            served.capabilities.push(ServedCapability {
                capability,
                probe: probe.name,
                verdicts,
            });
        }
        served
    }

    /// Compares one conversation, and keeps the difference with its cause.
    fn compare(
        &mut self,
        prober: &Prober<'_>,
        capability: &'static str,
        own: &ProbeOutcome,
        front: Front,
    ) -> ServedVerdict {
        let asked = as_sent(own);
        let seen = prober.see_served(own, &asked, front, None);
        let (verdict, what) = judged(own, &seen);
        if matches!(
            verdict,
            ServedVerdict::Same | ServedVerdict::Neither | ServedVerdict::Works
        ) {
            return verdict;
        }
        let changes: Vec<ServedChange> = causes(prober, own, &seen, front)
            .into_iter()
            .map(|change| ServedChange {
                name: change.name,
                sentence: change.sentence,
                source: change.source.to_string(),
            })
            .collect();
        let known = self.differences.iter_mut().find(|known| {
            known.front == front && known.verdict == verdict && known.changes == changes
        });
        let evidence = Evidence::differ(what, own, &seen);
        match known {
            Some(known) => {
                known.capabilities.push(capability);
                known.evidence.push(evidence);
            }
            None => self.differences.push(ServedDifference {
                front,
                verdict,
                capabilities: vec![capability],
                changes,
                evidence: vec![evidence],
            }),
        }
        verdict
    }

    /// What every application makes the same prompt of.
    pub fn everywhere(&self) -> impl Iterator<Item = &ServedCapability> {
        self.capabilities.iter().filter(|one| {
            let mut verdicts = one.verdicts.values();
            verdicts.all(|verdict| *verdict == ServedVerdict::Same)
        })
    }

    /// Whether the template's own prompts are those of every application, wherever it has one.
    pub fn works_everywhere(&self) -> bool {
        self.differences.is_empty() && self.everywhere().next().is_some()
    }
}

/// The front of an application that serves templates, by its name.
pub fn front(name: &str) -> Result<Front, String> {
    let mut all = Front::ALL.into_iter().filter(|front| front.is_served());
    let names = || {
        let names: Vec<&str> = all.clone().map(Front::name).collect();
        names.join(", ")
    };
    let why = format!("there is no application `{name}`; there are {}", names());
    all.find(|front| front.name() == name).ok_or(why)
}

/// The conversation as clients of OpenAI write its images.
fn as_sent(own: &ProbeOutcome) -> Arc<Case> {
    let mut case = (*own.asked).clone();
    for message in &mut case.messages {
        for part in message[CONTENT].as_array_mut().into_iter().flatten() {
            if *part == json!({"type": "image"}) {
                let image = json!({"url": "data:image/png;base64,AQI="});
                *part = json!({"type": "image_url", "image_url": image});
            }
        }
    }
    Arc::new(case)
}

/// What an application made of a conversation, in a word and in a sentence.
fn judged(own: &ProbeOutcome, seen: &ProbeOutcome) -> (ServedVerdict, String) {
    let (expected, found) = match (own.text(), seen.text()) {
        (Some(expected), Some(found)) => (expected, found),
        (None, None) => return (ServedVerdict::Neither, String::new()),
        (None, Some(_)) => return (ServedVerdict::Works, String::new()),
        (Some(_), None) => {
            let verdict = match &*seen.outcome {
                Outcome::Failed {
                    stage: Stage::Input,
                    ..
                } => ServedVerdict::Refuses,
                _ => ServedVerdict::Fails,
            };
            return (verdict, seen.refusal());
        }
    };
    if expected == found {
        return (ServedVerdict::Same, String::new());
    }
    let sent = sent(&own.asked);
    let (before, after) = (words(expected), words(found));
    let count = |of: &BTreeMap<String, usize>, word: &str| of.get(word).copied().unwrap_or(0);
    let kept = |word: &str| count(&sent, word).min(count(&before, word));
    // Two texts may be joined by nothing, so that their words are one.
    let lost = sent
        .keys()
        .filter(|word| count(&after, word) < kept(word))
        .filter(|word| found.matches(word.as_str()).count() < kept(word));
    let lost: Vec<&String> = lost.collect();
    // What was sent, and is only in the application's prompt, is no fault. A message may be in another
    // role.
    let more = after
        .iter()
        .filter(|(word, count_after)| count(&before, word) < **count_after);
    let is_joined = |word: &str| {
        let mut parts = sent.keys();
        !sent.contains_key(word)
            && parts.any(|part| part.len() > 3 && word.starts_with(part.as_str()))
    };
    // The name of a role is no text.
    let more = more.filter(|(word, _)| !ROLES.contains(&word.as_str()) && !is_joined(word));
    let (found, added): (Vec<_>, Vec<_>) = more
        .map(|(word, _)| word)
        .partition(|word| count(&before, word) < count(&sent, word));
    match (lost.as_slice(), added.as_slice(), found.as_slice()) {
        ([], [], []) => (
            ServedVerdict::Changes,
            "the prompt has the same words, but is another one".to_owned(),
        ),
        ([], _, [_, ..]) => (ServedVerdict::Works, String::new()),
        ([], added, []) => (
            ServedVerdict::Adds,
            format!("{} in the prompt, and nobody wrote it", listed(added)),
        ),
        (lost, _, _) => (
            ServedVerdict::Loses,
            format!("{} not in the prompt", listed(lost)),
        ),
    }
}

/// The words of schemas, which a template may say otherwise.
const OF_SCHEMAS: [&str; 8] = [
    "type",
    "function",
    "name",
    "description",
    "parameters",
    "properties",
    "required",
    "object",
];

/// The words of a conversation that a template should write: those of texts, of calls, tools and
/// documents.
fn sent(case: &Case) -> BTreeMap<String, usize> {
    let mut text = String::new();
    let mut say = |said: &str| {
        text += said;
        text.push(' ');
    };
    for message in &case.messages {
        for name in [CONTENT, "reasoning_content", "reasoning", "thinking"] {
            say(message[name].as_str().unwrap_or_default());
            let parts = message[name].as_array().into_iter().flatten();
            parts.for_each(|part| say(part["text"].as_str().unwrap_or_default()));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            say(&function["name"].to_string());
            say(&function["arguments"].to_string());
        }
    }
    for items in [&case.tools, &case.documents].into_iter().flatten() {
        say(&Value::from(items.clone()).to_string());
    }
    let mut sent = words(&text);
    sent.retain(|word, _| !OF_SCHEMAS.contains(&word.as_str()));
    sent
}

/// How often each word is in a text.
fn words(text: &str) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    let all = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    for word in all.filter(|word| !word.is_empty()) {
        *words.entry(word.to_owned()).or_default() += 1;
    }
    words
}

/// Some words, how many more there are, and the verb after them.
fn listed(words: &[&String]) -> String {
    const MOST: usize = 3;
    let first = words.iter().take(MOST).map(|word| format!("`{word}`"));
    let first = first.collect::<Vec<_>>().join(", ");
    match words.len() {
        1 => format!("{first} is"),
        count if count <= MOST => format!("{first} are"),
        count => format!("{first} and {} more are", count - MOST),
    }
}

/// The changes without which an application's prompt would not be what it is judged to be, or would be
/// nearer to the template's own. Where no single one makes the difference, all that take effect.
fn causes(
    prober: &Prober<'_>,
    own: &ProbeOutcome,
    seen: &ProbeOutcome,
    front: Front,
) -> Vec<&'static Change> {
    let all = prober.served_changes(&seen.asked, front);
    let is_refused = matches!(
        &*seen.outcome,
        Outcome::Failed {
            stage: Stage::Input,
            ..
        }
    );
    if is_refused {
        return all.last().copied().into_iter().collect();
    }
    // Beside a change that makes the difference, one that says the same in another way is no cause.
    let verdict = judged(own, seen).0;
    let expected = own.text().unwrap_or_default();
    let distance = |seen: &ProbeOutcome| match seen.text() {
        Some(found) => distance(expected, found),
        None => usize::MAX,
    };
    let usual = distance(seen);
    let (mut decisive, mut near) = (Vec::new(), Vec::new());
    for change in &all {
        let without = prober.see_served(own, &seen.asked, front, Some(change));
        let other = judged(own, &without).0;
        let fails = [ServedVerdict::Refuses, ServedVerdict::Fails].contains(&other);
        if other != verdict && !fails {
            decisive.push(*change);
        } else if distance(&without) < usual {
            near.push(*change);
        }
    }
    match (decisive.is_empty(), near.is_empty()) {
        (false, _) => decisive,
        (true, false) => near,
        (true, true) => all,
    }
}

/// How much of two texts lies between what they begin with and what they end with, in bytes.
fn distance(one: &str, other: &str) -> usize {
    let begin = common(one, other);
    let [one, other] = [one, other].map(|text| text.as_bytes().get(begin..).unwrap_or_default());
    let ends = one.iter().rev().zip(other.iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    one.len() + other.len() - 2 * end
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Dialect, Template};
    use rolecall_jinja::JinjaEngine;

    use super::*;
    use crate::card;

    /// What vLLM makes of a template: each difference with its changes.
    fn differences(source: &str) -> Vec<(ServedVerdict, Vec<&'static str>, Vec<&'static str>)> {
        let template = Template::from_source("own", Dialect::Jinja, source);
        let served = card::served(&JinjaEngine::default(), &template, &[Front::Vllm]);
        let differences = served.differences.into_iter();
        differences
            .map(|one| {
                let changes = one.changes.iter().map(|change| change.name).collect();
                (one.verdict, one.capabilities, changes)
            })
            .collect()
    }

    /// A template of texts, with the part that prints tools and calls.
    fn template(tools: &str, calls: &str) -> String {
        format!(
            "{{{{ documents or '' }}}}{{% for tool in tools or [] %}}{tools}{{% endfor %}}\
             {{% for m in messages %}}<|{{{{ m.role }}}}|>{{{{ m.reasoning_content or '' }}}}\
             {{% if m.content is string %}}{{{{ m.content }}}}{{% endif %}}\
             {{% for call in m.tool_calls or [] %}}{calls}{{% endfor %}}<|end|>{{% endfor %}}\
             {{% if add_generation_prompt %}}<|assistant|>{{% endif %}}"
        )
    }

    const NAMES: &str = "{{ tool.function.name }}";
    const CALLS: &str = "{{ call.function.name }}{{ call.function.arguments | tojson }}";

    #[test]
    fn what_an_application_makes_of_a_conversation_has_its_cause() {
        let all = |tools, calls| differences(&template(tools, calls));
        let has = |found: &[_], wanted: (ServedVerdict, &'static str, &'static str)| {
            let (verdict, capability, change) = wanted;
            found.iter().any(
                |(of, capabilities, changes): &(ServedVerdict, Vec<&str>, Vec<&str>)| {
                    *of == verdict && capabilities.contains(&capability) && changes == &[change]
                },
            )
        };
        let adds = (
            ServedVerdict::Adds,
            "a tool without parameters",
            "tools are filled in",
        );
        assert!(has(&all("{{ tool | tojson }}", CALLS), adds));
        assert!(!has(&all(NAMES, CALLS), adds));
        let fails = (
            ServedVerdict::Fails,
            "a call and its result",
            "arguments become an object",
        );
        let joined = "{{ call.function.name + (call.function.arguments if call.function.arguments is string else raise_exception('text')) }}";
        assert!(has(&all(NAMES, joined), fails), "{:?}", all(NAMES, joined));
        assert!(!has(&all(NAMES, CALLS), fails));
    }

    #[test]
    fn a_template_that_reads_only_what_every_application_sends_works_everywhere() {
        let source = template(NAMES, CALLS);
        let template = Template::from_source("own", Dialect::Jinja, &source);
        let served = card::served(&JinjaEngine::default(), &template, &[]);
        let everywhere: Vec<&str> = served.everywhere().map(|one| one.capability).collect();
        for capability in ["a question", "a system message", "tools", "parallel calls"] {
            assert!(
                everywhere.contains(&capability),
                "{capability}: {everywhere:?}"
            );
        }
    }
}
