//! Pairs that are not as expected, grouped by their cause.
//!
//! The cause of a changed prompt is an edit of its template, and the edit is known by the place that
//! writes it. Every other cause is in the outcomes themselves: see [`crate::cause`].

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use rolecall_core::diff::Diff;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::{Outcome, Stage, TemplateName, transcript};
use rolecall_front::engines::Engines;

use super::fault::Fault;
use super::place::{self, Place, PlacedEdit, Tracer};
use crate::cause::{Cause, Groups};
use crate::comparison::{OFTEN, Rank, lines_in_words, rank};
use crate::divergence::Listed;
use crate::record::Unverified;
use crate::run::Compared;
use crate::snapshot::SnapshotStatus;
use crate::suite::Pair;
use crate::verdict::Verdict;

/// Pairs that are not as expected, all for the same reason.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // reports ask for each of them
pub struct FaultGroup<'s> {
    /// The pairs, in the order of the run. The first one is the example: that with the most ordinary
    /// and the shortest conversation.
    pub pairs: Vec<GroupedPair<'s>>,
    /// How they are not as expected.
    pub fault: Fault,
    /// The edits of every pair, if the accepted and the new results are prompts.
    pub edits: BTreeSet<String>,
    /// What its pairs have in common, as a text that no other group of this run has. Groups of
    /// several runs with the same text have the same cause.
    pub cause: String,
    /// The lines of the first pair's template that make the difference, from 1, as far as the engine
    /// knows them.
    pub lines: Vec<usize>,
    /// The difference in the first pair, if the expected transcript is known.
    pub diff: Option<Diff>,
    /// The reference's result for it, in words.
    pub word: Option<String>,
    /// The first pair's transcript, if there is nothing to compare it with, or the reason why the
    /// snapshot cannot be read.
    pub shown: Option<String>,
    /// If somebody decides about results that nobody accepted yet: every transcript, once.
    pub results: Vec<NewResult<'s>>,
    /// Whether the outcomes of engine and reference are of different kinds. A prompt and an error
    /// message have no lines in common.
    pub has_other_kind: bool,
    /// Whether the pairs belong to a suite, so that snapshots and records can hold them.
    pub is_of_suite: bool,
    /// Whether recording the reference would give a verdict.
    pub can_be_recorded: bool,
    /// Whether the engine cannot read the template.
    pub is_unread: bool,
    key: Key,
    rank: Rank,
    placed: BTreeSet<PlacedEdit>,
}

#[derive(Debug)]
pub struct GroupedPair<'s> {
    pub pair: Pair<'s>,
    /// The name of its engine.
    pub engine: &'s str,
    /// The fingerprint of the engine's transcript, where it differs from the reference's.
    pub observed: Option<Fingerprint>,
    /// Its place in the run.
    at: usize,
}

/// A result that nobody accepted yet, and the pairs that have it.
#[derive(Debug)]
pub struct NewResult<'s> {
    pub transcript: String,
    pub pairs: Vec<Pair<'s>>,
}

/// Groups pairs that are not as expected by their cause, so that people read a hundred failures
/// with one cause once.
#[derive(Default)]
pub struct FaultGroups<'s> {
    groups: Groups<(Key, BTreeSet<PlacedEdit>), GroupedPair<'s>, FaultGroup<'s>, Rank>,
    count: usize,
    tracer: Tracer<'s>,
    /// The results that nobody accepted yet, by the key of their group.
    new_results: HashMap<Key, Vec<NewResult<'s>>>,
    /// If somebody decides about each group: the templates without any accepted result.
    new_templates: Option<HashSet<&'s TemplateName>>,
}

/// The key of a group: the fault, the cause if the pairs differ, and the reference's result in
/// words. For results that nobody accepted yet, what they are.
type Key = (Fault, Option<Cause>, Option<String>);

/// What the edits of all groups have in common.
#[derive(Default)]
struct Edits<'g> {
    /// Where each edit is made.
    places: HashMap<&'g [String; 3], BTreeSet<&'g Place>>,
    /// Which edits are made in each place.
    texts: HashMap<&'g Place, BTreeSet<&'g [String; 3]>>,
}

impl<'g> Edits<'g> {
    fn of(edits: impl Iterator<Item = &'g PlacedEdit>) -> Edits<'g> {
        let mut all = Edits::default();
        for edit in edits {
            if let Some(place) = &edit.place {
                all.places.entry(&edit.texts).or_default().insert(place);
                all.texts.entry(place).or_default().insert(&edit.texts);
            }
        }
        all
    }

    /// The cause of an edit. A place that makes many edits is one cause, such as a filter after
    /// `message.content`. So is a word that is replaced in several places, or an edit in many places
    /// or templates. Any other edit of a few signs is one in its place only.
    fn cause(&self, edit: &PlacedEdit) -> String {
        let PlacedEdit { place, texts } = edit;
        let Some(place) = place else {
            return format!("{texts:?}");
        };
        let is_often = |count: Option<usize>| count.is_some_and(|count| count >= OFTEN);
        if is_often(self.texts.get(place).map(BTreeSet::len)) {
            return format!("{place:?}");
        }
        let places = self.places.get(texts);
        let mut all = places.into_iter().flatten();
        if texts.concat().contains(char::is_alphanumeric)
            || is_often(places.map(BTreeSet::len))
            || all.any(|other| other.template != place.template)
        {
            return format!("{texts:?}");
        }
        // Of two bytes in a line, the same edit may be at either, as an empty text stands between them.
        format!("{} {} {texts:?}", place.template, place.line)
    }
}

impl<'s> FaultGroups<'s> {
    /// Groups for pairs that these engines have rendered. They know which place of a template writes
    /// what differs. Without them, only the texts are compared.
    pub fn of(engines: &'s Engines) -> FaultGroups<'s> {
        FaultGroups {
            tracer: Tracer::of(engines),
            ..FaultGroups::default()
        }
    }

    /// Groups about which somebody decides. Each new case is a decision about all templates, and each
    /// family of a new template is one. Every result of a decision is kept, to be shown.
    #[must_use]
    pub fn for_decisions(self, new_templates: HashSet<&'s TemplateName>) -> FaultGroups<'s> {
        FaultGroups {
            new_templates: Some(new_templates),
            ..self
        }
    }

    /// Adds a pair, if it is not as expected.
    pub fn add(&mut self, compared: &Compared<'s>) {
        let Some(fault) = Fault::of(compared) else {
            return;
        };
        let (pair, found) = (compared.rendered.pair, &compared.rendered.outcome);
        let word = word(compared, fault);
        let accepted = expected(compared, fault).filter(|_| fault == Fault::Changed);
        let accepted = accepted.and_then(|accepted| transcript::decode(accepted).ok());
        let edits = accepted
            .as_ref()
            .map(|one| self.tracer.edits(one, compared));
        let edits = edits.unwrap_or_default();
        let cause = match (&accepted, &compared.verdict) {
            (Some(accepted), _) if edits.is_empty() => Some(Cause::of([accepted, found], &[])),
            (_, Verdict::Differs(difference))
                if matches!(fault, Fault::Differs | Fault::OtherDivergence) =>
            {
                Some(Cause::of_difference(difference, found))
            }
            _ => None,
        };
        let is_unread = matches!(
            found,
            Outcome::Failed {
                stage: Stage::Parse,
                ..
            }
        );
        let common = match (fault, &compared.comparison) {
            (Fault::Differs, _) => None,
            _ if is_unread => Some(pair.template.name.to_string()),
            (Fault::Unreadable, Some(SnapshotStatus::Unreadable(why))) => Some(why.message.clone()),
            (Fault::New, _) => Some(self.kind_of_new(compared, word.as_deref())),
            _ => word.clone(),
        };
        let key = (fault, cause, common);
        let differs = matches!(compared.verdict, Verdict::Differs(_));
        let member = GroupedPair {
            pair,
            engine: compared.rendered.engine,
            observed: differs.then(|| compared.observed()),
            at: self.count,
        };
        self.count += 1;
        if fault == Fault::New && self.new_templates.is_some() {
            let found = transcript::encode(found);
            let results = self.new_results.entry(key.clone()).or_default();
            match results.iter_mut().find(|result| result.transcript == found) {
                Some(result) => result.pairs.push(pair),
                None => results.push(NewResult {
                    transcript: found,
                    pairs: vec![pair],
                }),
            }
        }
        // One that nobody sends shows a difference to nobody.
        let rank = rank(Some(pair.case).filter(|case| !case.messages.is_empty()));
        let group = || FaultGroup {
            key: key.clone(),
            rank,
            placed: edits.clone(),
            word,
            is_unread,
            ..FaultGroup::new(compared, fault)
        };
        self.groups
            .add((key.clone(), edits.clone()), rank, member, group);
    }

    /// What distinguishes a result that nobody accepted yet from others.
    fn kind_of_new(&self, compared: &Compared<'_>, word: Option<&str>) -> String {
        let outcome = &compared.rendered.outcome;
        let kind = outcome.kind();
        let word = word.unwrap_or_default();
        let Some(new_templates) = &self.new_templates else {
            return format!("{kind} {word}");
        };
        let Pair { template, case } = &compared.rendered.pair;
        match new_templates.get(&template.name) {
            Some(name) => format!("{name} {} {word}", case.id.family()),
            None => format!("{} {word}", case.id),
        }
    }

    /// The groups, those with most pairs first, and stale records last. A pair with several edits is in
    /// the group of the rarest one. If somebody decides about each group, it is in one of all its edits.
    pub fn sorted(self) -> Vec<FaultGroup<'s>> {
        let is_for_decisions = self.new_templates.is_some();
        let mut results = self.new_results;
        let mut parts: Vec<_> = self.groups.sorted().collect();
        let known = Edits::of(parts.iter().flat_map(|(part, _)| &part.placed));
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut causes: HashMap<PlacedEdit, String> = HashMap::new();
        for (part, pairs) in &parts {
            let edits = part.placed.iter();
            let of_part = edits.map(|edit| (edit.clone(), known.cause(edit)));
            let of_part: HashMap<PlacedEdit, String> = of_part.collect();
            for cause in of_part.values().collect::<BTreeSet<_>>() {
                *counts.entry(cause.clone()).or_default() += pairs.len();
            }
            causes.extend(of_part);
        }
        // One edit alone shows best what it does.
        parts.sort_by_key(|(part, _)| {
            let causes: BTreeSet<_> = part.placed.iter().map(|edit| causes.get(edit)).collect();
            (causes.len(), part.rank)
        });
        let mut groups: Vec<FaultGroup<'s>> = Vec::new();
        let mut known: HashMap<(Key, BTreeSet<String>), usize> = HashMap::new();
        for (mut part, pairs) in parts {
            let cause = |edit: &PlacedEdit| causes.get(edit).cloned();
            let mut edits: BTreeSet<String> = part.placed.iter().filter_map(cause).collect();
            if !is_for_decisions {
                let rarest = edits.into_iter().min_by_key(|cause| counts.get(cause));
                edits = rarest.into_iter().collect();
            }
            let is_its = |edit: &PlacedEdit| cause(edit).is_some_and(|one| edits.contains(&one));
            part.placed.retain(is_its);
            let key = (part.key.clone(), edits.clone());
            let cause = format!("{key:?}");
            let at = *known.entry(key).or_insert(groups.len());
            if let Some(group) = groups.get_mut(at) {
                group.pairs.extend(pairs);
                group.placed.extend(part.placed);
            } else {
                groups.push(FaultGroup {
                    pairs,
                    edits,
                    cause,
                    results: results.remove(&part.key).unwrap_or_default(),
                    ..part
                });
            }
        }
        groups.iter_mut().for_each(FaultGroup::finish);
        // Of causes of the same size, the one with the plainest example comes first.
        groups.sort_by_key(|group| (Reverse(group.pairs.len()), group.rank));
        // A record that is older than its template says nothing about it.
        groups.sort_by_key(|group| group.fault == Fault::Unverified);
        if is_for_decisions {
            // Who has decided on two edits has decided on pairs that have both.
            groups.sort_by_key(|group| group.edits.len());
        }
        groups
    }
}

impl<'s> FaultGroup<'s> {
    /// The lines of the changed template in words: `line 5 of the template`. None if they are not
    /// known, or if several templates changed in the same way.
    pub fn place(&self) -> Option<String> {
        let names = self.pairs.iter().map(|one| &one.pair.template.name);
        let is_one = names.collect::<HashSet<_>>().len() == 1;
        let is_known = is_one && self.fault == Fault::Changed && !self.lines.is_empty();
        is_known.then(|| lines_in_words(&self.lines) + " of the template")
    }

    /// Whether its first pair has one of these templates.
    pub fn is_of(&self, templates: &HashSet<&TemplateName>) -> bool {
        let first = self.pairs.first();
        first.is_some_and(|first| templates.contains(&first.pair.template.name))
    }

    /// Puts the pairs after the first one in their order, and finds the lines.
    fn finish(&mut self) {
        if let Some((first, others)) = self.pairs.split_first_mut() {
            others.sort_by_key(|pair| pair.at);
            let template = place::name(&first.pair);
            let places = self.placed.iter().filter_map(|edit| edit.place.as_ref());
            let lines = places.filter(|place| place.template == template);
            let lines: BTreeSet<usize> = lines.map(|place| place.line).collect();
            self.lines.extend(lines);
        }
    }

    /// A group without pairs, for this pair and those that have the same key.
    fn new(compared: &Compared<'s>, fault: Fault) -> FaultGroup<'s> {
        let found = transcript::encode(&compared.rendered.outcome);
        let diff = expected(compared, fault).map(|expected| Diff::new(expected, &found));
        let shown = match (fault, &compared.comparison) {
            (_, Some(SnapshotStatus::Unreadable(why))) => Some(why.to_string()),
            (Fault::New, _) => Some(found),
            (Fault::Differs | Fault::OtherDivergence, _) if diff.is_none() => Some(found),
            _ => None,
        };
        FaultGroup {
            pairs: Vec::new(),
            fault,
            edits: BTreeSet::new(),
            cause: String::new(),
            lines: match &compared.rendered.outcome {
                Outcome::Failed { line, .. } => line.iter().copied().collect(),
                _ => Vec::new(),
            },
            diff,
            word: None,
            is_unread: false,
            key: (fault, None, None),
            rank: rank(None),
            placed: BTreeSet::new(),
            shown,
            results: Vec::new(),
            has_other_kind: matches!(&compared.verdict, Verdict::Differs(difference)
                if difference.expected.kind() != compared.rendered.outcome.kind()),
            is_of_suite: compared.comparison.is_some(),
            can_be_recorded: match &compared.verdict {
                Verdict::Unverified(why) => {
                    !why.is_expected()
                        && !matches!(
                            why,
                            Unverified::Crashed(_)
                                | Unverified::ReferenceNotAsked(_)
                                | Unverified::NotAsked
                        )
                }
                Verdict::Agrees | Verdict::Differs(_) => false,
            },
        }
    }
}

/// The transcript that a pair differs from, if it is known.
fn expected<'c>(compared: &'c Compared<'_>, fault: Fault) -> Option<&'c str> {
    match (fault, &compared.comparison, &compared.verdict) {
        (Fault::Changed, Some(SnapshotStatus::Changed(accepted)), _) => Some(accepted),
        (Fault::Differs | Fault::OtherDivergence, _, Verdict::Differs(difference)) => {
            difference.transcript.as_deref()
        }
        _ => None,
    }
}

/// The reference's result for a pair that is not as expected, in words.
fn word(compared: &Compared<'_>, fault: Fault) -> Option<String> {
    let because = |listed: &Listed| match listed {
        Listed::No => None,
        Listed::Known { reason } | Listed::Changed { reason } => Some(reason.clone()),
    };
    match (fault, &compared.verdict) {
        (Fault::Unreadable, _) => None,
        (Fault::Differs, _) if expected(compared, fault).is_some() => None,
        (Fault::Crashed | Fault::NotAsked, _) => Some(compared.rendered.outcome.text().to_owned()),
        (_, Verdict::Unverified(why)) if why.is_expected() => None,
        (Fault::Differs, Verdict::Differs(difference)) => Some(format!(
            "the reference {} something else; only its SHA-256 is recorded",
            difference.expected.kind()
        )),
        (Fault::OtherDivergence, Verdict::Differs(difference)) => Some(format!(
            "listed, but the output has changed since review; the reason then: {}",
            because(&difference.listed).unwrap_or_default()
        )),
        (_, Verdict::Agrees) => Some("the reference agrees with the new result".to_owned()),
        (_, Verdict::Unverified(why)) => Some(why.to_string()),
        (_, Verdict::Differs(difference)) => Some(match &compared.comparison {
            Some(SnapshotStatus::Changed(accepted))
                if difference.transcript.as_ref() == Some(accepted) =>
            {
                "the reference agrees with the snapshot".to_owned()
            }
            _ => "the reference does not agree with the new result".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Case, CaseId, Dialect, Template};
    use rolecall_front::front::Front;
    use rolecall_front::prepared_case::PreparedCase;
    use rolecall_front::program::FrontProgram;
    use serde_json::json;

    use super::*;
    use crate::verdict::Rendered;

    const JINJA: &str = "{% for m in messages %}\n<|{{ m.role }}|>\n\n{{ m.content }}<|end|>\n\n\
                         {% endfor %}\n{% if add_generation_prompt %}\n<|assistant|>\n\n{% endif %}";

    fn case(family: &str, name: usize, contents: &[&str]) -> Case {
        let roles = ["user", "assistant"].into_iter().cycle();
        let messages = contents.iter().zip(roles);
        let messages = messages.map(|(content, role)| json!({"role": role, "content": content}));
        Case {
            id: CaseId::new(family, &name.to_string()),
            add_generation_prompt: contents.len() % 2 == 1,
            ..Case::from_messages(messages.collect())
        }
    }

    fn cases() -> Vec<Case> {
        vec![
            case("other", 0, &["The assistant said: é漢\u{301}\n"]),
            case("other", 1, &["assistant", "So", "on"]),
            case("plain", 1, &["Hi there"]),
            case("plain", 0, &["Hi", "Ho", "Again"]),
            case("plain", 2, &["Hi", "Ho"]),
        ]
    }

    /// The lines of each group, how many pairs it has, and the first one.
    fn groups(sides: &[[&Template; 2]], cases: &[Case]) -> Vec<(Vec<usize>, usize, String)> {
        let engines = Engines::default();
        let mut groups = FaultGroups::of(&engines);
        for [old, new] in sides {
            for case in cases {
                let outcome = |template: &Template| {
                    let engine = engines.for_dialect(template.dialect);
                    let program = FrontProgram::load(engine, template);
                    let input = PreparedCase::new(case, Front::of(template), &program.model);
                    (engine.name(), program.outcome(&input))
                };
                let (engine, found) = outcome(new);
                let accepted = outcome(old).1;
                if accepted == found {
                    continue;
                }
                let pair = Pair {
                    template: new,
                    case,
                };
                let rendered = Rendered {
                    pair,
                    engine,
                    outcome: found,
                };
                let changed = SnapshotStatus::Changed(transcript::encode(&accepted));
                let verdict = Verdict::Unverified(Unverified::NeverAsked);
                groups.add(&Compared::new(rendered, Some(changed), verdict));
            }
        }
        let groups = groups.sorted().into_iter();
        let shown = groups.map(|group| {
            let first = group.pairs[0].pair.case.id.to_string();
            (group.lines, group.pairs.len(), first)
        });
        shown.collect()
    }

    fn changed(dialect: Dialect, old: &str, new: &str) -> Vec<(Vec<usize>, usize, String)> {
        let [old, new] = [old, new].map(|source| Template::from_source("t", dialect, source));
        groups(&[[&old, &new]], &cases())
    }

    fn jinja(from: &str, to: &str) -> Vec<(Vec<usize>, usize, String)> {
        assert!(JINJA.contains(from), "{from}");
        changed(Dialect::Jinja, JINJA, &JINJA.replace(from, to))
    }

    #[test]
    fn one_edit_of_a_template_is_one_group_with_its_line_and_the_plainest_pair() {
        let one =
            |line: usize, pairs: usize, first: &str| vec![(vec![line], pairs, first.to_owned())];
        // Also if a conversation has the word before the edit.
        assert_eq!(
            jinja("<|assistant|>\n", "<|assistant|>"),
            one(8, 4, "plain/1")
        );
        assert_eq!(jinja("<|end|>\n", "<|end|>"), one(4, 5, "plain/1"));
        assert_eq!(jinja("<|end|>", "<|fin|>"), one(4, 5, "plain/1"));
        assert_eq!(jinja("|>\n\n{{ m", "|>\n{{ m"), one(2, 5, "plain/1"));
        // A filter changes other words in each conversation.
        assert_eq!(
            jinja("m.content }}", "m.content | upper }}"),
            one(3, 5, "plain/1")
        );
        // What fails has the line of the error.
        assert_eq!(
            jinja("m.content }}", "m.content + 1 }}"),
            one(4, 5, "plain/1")
        );
        // A prompt that becomes empty has no place.
        let empty = changed(Dialect::Jinja, JINJA, "{{ '' }}");
        assert!(
            empty.iter().all(|(lines, ..)| lines.is_empty()),
            "{empty:?}"
        );
    }

    #[test]
    fn a_pair_with_two_edits_is_in_the_group_of_the_rarer_one() {
        let both = JINJA.replace("<|end|>", "<|fin|>");
        let both = both.replace("<|assistant|>", "<|model|>");
        let found = changed(Dialect::Jinja, JINJA, &both);
        let wanted = [
            (vec![8], 4, "plain/1".to_owned()),
            (vec![4], 1, "plain/2".to_owned()),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_go_template_has_lines_and_an_edit_of_several_templates_is_one_group() {
        let go = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}\n{{ end }}\n<assistant>\n";
        let found = changed(Dialect::Go, go, &go.replace("<assistant>\n", "<assistant>"));
        assert_eq!(found, [(vec![3], 5, "plain/1".to_owned())]);
        let names = ["a", "b"].map(|name| {
            let template = |source: &str| Template::from_source(name, Dialect::Jinja, source);
            let new = JINJA.replace("|>\n", "|>");
            let new = if name == "a" { new } else { format!("\n{new}") };
            let old = if name == "a" {
                JINJA.to_owned()
            } else {
                format!("\n{JINJA}")
            };
            [template(&old), template(&new)]
        });
        let sides = names.each_ref().map(|[old, new]| [old, new]);
        assert_eq!(groups(&sides, &cases()).len(), 1);
    }

    /// Each is a cause of its own, as long as no place has too many of them.
    #[test]
    fn a_thousand_differences_of_one_place_are_one_group() {
        let texts: Vec<String> = (0..1000).map(|at| format!("{at:x}é")).collect();
        let all = texts.iter().enumerate();
        let cases: Vec<Case> = all.map(|(at, text)| case("many", at, &[text])).collect();
        let old = Template::from_source("t", Dialect::Jinja, JINJA);
        let new = JINJA.replace("m.content", "m.content | reverse");
        let new = Template::from_source("t", Dialect::Jinja, &new);
        assert_eq!(groups(&[[&old, &new]], &cases).len(), 1);
    }
}
