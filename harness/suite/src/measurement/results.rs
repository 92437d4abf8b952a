//! The results of an engine that was measured, in the form that their file has.

use std::collections::BTreeMap;

use crate::conclusion::Share;
use crate::reference::Identity;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::rows::{self, Row, row};
use rolecall_core::{CaseId, Dialect, OutcomeKind, TemplateName};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::suite_version::SuiteVersion;

/// An engine's results over a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The engine, its version and its components.
    #[serde(serialize_with = "row")]
    pub engine: Identity,
    pub dialect: Dialect,
    /// The reference that gave the verdicts.
    #[serde(serialize_with = "row")]
    pub reference: Identity,
    /// Pairs in a second, on the machine of the measurement. A different figure in another run is
    /// no change.
    pub pairs_per_second: usize,
    /// In how many requests it died, and answered only when it was asked again. Another figure in
    /// another run is no change, either.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deaths: usize,
    /// Shares for people who read the file: they are counted from the rest.
    #[serde(serialize_with = "row")]
    pub(super) agreement: serde_json::Map<String, serde_json::Value>,
    #[serde(serialize_with = "rows::rows")]
    pub templates: BTreeMap<TemplateName, PartResult>,
    #[serde(serialize_with = "rows::rows")]
    pub families: BTreeMap<String, PartResult>,
    /// The pairs in which it differs from the reference, grouped by cause.
    #[serde(rename = "differences")]
    pub groups: Vec<DifferenceGroup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constructs: Option<ConstructResults>,
    /// The checksum of the text before it. It is known when the file is written.
    #[serde(skip_serializing)]
    pub(super) checksum: Fingerprint,
}

/// An engine's result with a template, or with a family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartResult {
    /// The fingerprint of a template's source with its settings, or of the cases of a family.
    pub sha256: Fingerprint,
    /// The fingerprint of the reference's results for a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Fingerprint>,
    /// Pairs in which the reference gives a prompt.
    pub prompts: usize,
    pub refusals: usize,
    /// Why the template does not load, if it does not: the engine's message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The line of the template, if the engine reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// Pairs in which an engine differs from the reference in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "GroupLines")]
pub struct DifferenceGroup {
    /// The engine's outcome.
    pub found: OutcomeKind,
    /// The difference in words: the engine's message, or the removed and added words.
    pub cause: String,
    /// The pair with the shortest conversation.
    pub example: Example,
    pub pairs: Vec<DifferingPair>,
}

/// A pair with the lines that differ.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub template: TemplateName,
    pub case: CaseId,
    /// The reference's lines around the first difference, as transcripts show them. Empty if only
    /// the fingerprint of the result is known.
    pub expected: String,
    /// The engine's lines.
    pub found: String,
}

/// A pair in which an engine differs from the reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DifferingPair {
    pub template: TemplateName,
    pub case: CaseId,
    /// The reference's outcome.
    pub expected: OutcomeKind,
    /// The first digits of the SHA-256 of the engine's prompt, or of its message if the template
    /// refused. None for failures, whose messages are not compared.
    pub gave: Option<String>,
}

/// An engine's results in the table of constructs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstructResults {
    /// The SHA-256 of the table, which tells whether the results are of the present one.
    pub sha256: Fingerprint,
    /// How many constructs the table has.
    pub all: usize,
    /// The constructs in which it differs from the reference, by name, with its outcomes and their
    /// texts: as transcripts show them, or the message of a failure without its places; cut if they
    /// are long.
    #[serde(serialize_with = "by_outcome", deserialize_with = "by_construct")]
    pub differ: BTreeMap<String, (OutcomeKind, String)>,
}

/// A group in its file: the cases with one cause by template, the reference's outcome and family.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupLines {
    found: OutcomeKind,
    cause: String,
    #[serde(rename = "pairs")]
    _pairs: usize,
    example: Example,
    cases: Vec<(TemplateName, OutcomeKind, String, String)>,
}

impl From<GroupLines> for DifferenceGroup {
    fn from(lines: GroupLines) -> DifferenceGroup {
        let mut pairs = Vec::new();
        for (template, expected, family, cases) in lines.cases {
            pairs.extend(cases.split(' ').map(|case| {
                let (name, gave) = match case.split_once(':') {
                    Some((name, gave)) => (name, Some(gave.to_owned())),
                    None => (case, None),
                };
                DifferingPair {
                    template: template.clone(),
                    case: CaseId::new(&family, name),
                    expected,
                    gave,
                }
            }));
        }
        DifferenceGroup {
            found: lines.found,
            cause: lines.cause,
            example: lines.example,
            pairs,
        }
    }
}

/// Each group has several keys on a line.
impl Serialize for DifferenceGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cases: BTreeMap<(&TemplateName, OutcomeKind, &str), Vec<String>> = BTreeMap::new();
        for pair in &self.pairs {
            let key = (&pair.template, pair.expected, pair.case.family());
            let gave = pair.gave.iter().map(|gave| format!(":{gave}"));
            let case = pair.case.name().to_owned() + &gave.collect::<String>();
            cases.entry(key).or_default().push(case);
        }
        let cases = cases
            .into_iter()
            .map(|((template, expected, family), cases)| {
                rows::line(&(template, expected, family, cases.join(" ")))
            });
        let text = format!(
            "{{\n      \"found\": {}, \"cause\": {}, \"pairs\": {},\n      \"example\": \
             {{\"template\": {}, \"case\": {},\n        \"expected\": {},\n        \"found\": \
             {}}},\n      \"cases\": [\n        {}\n      ]\n    }}",
            rows::line(&self.found),
            rows::line(&self.cause),
            self.pairs.len(),
            rows::line(&self.example.template),
            rows::line(&self.example.case),
            rows::line(&self.example.expected),
            rows::line(&self.example.found),
            cases.collect::<Vec<_>>().join(",\n        "),
        );
        let text = RawValue::from_string(text).map_err(S::Error::custom)?;
        text.serialize(serializer)
    }
}

/// Constructs by their outcome: its kind, its text, and their names without the dialect.
type OutcomeRow = (OutcomeKind, String, String);

fn by_outcome<S: Serializer>(
    differ: &BTreeMap<String, (OutcomeKind, String)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut names: BTreeMap<&(OutcomeKind, String), Vec<&str>> = BTreeMap::new();
    for (name, found) in differ {
        let name = name.split_once('-').map_or(&**name, |(_, digits)| digits);
        names.entry(found).or_default().push(name);
    }
    let rows = names.into_iter();
    serializer
        .collect_seq(rows.map(|((outcome, text), names)| Row((outcome, text, names.join(" ")))))
}

fn by_construct<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, (OutcomeKind, String)>, D::Error> {
    let mut differ = BTreeMap::new();
    for (outcome, text, names) in Vec::<OutcomeRow>::deserialize(deserializer)? {
        let names = names.split(' ').map(str::to_owned);
        differ.extend(names.map(|name| (name, (outcome, text.clone()))));
    }
    Ok(differ)
}

impl PartResult {
    /// Nothing was asked yet of a part with these fingerprints.
    pub(super) fn new(sha256: Fingerprint, answers: Option<Fingerprint>) -> PartResult {
        PartResult {
            sha256,
            answers,
            prompts: 0,
            refusals: 0,
            refused: None,
            line: None,
        }
    }

    /// Counts a pair, by the reference's outcome.
    pub(super) fn add(&mut self, expected: OutcomeKind) {
        match expected {
            OutcomeKind::Rendered => self.prompts += 1,
            _ => self.refusals += 1,
        }
    }

    pub fn all(&self) -> usize {
        self.prompts + self.refusals
    }
}

impl Measurement {
    /// Whether both say the same, apart from what changes from run to run.
    pub fn is_same(&self, other: &Measurement) -> bool {
        let timeless = |one: &Measurement| Measurement {
            pairs_per_second: 0,
            deaths: 0,
            ..one.clone()
        };
        timeless(self) == timeless(other)
    }

    /// Counts what can be counted, and puts everything into the order of files.
    pub(super) fn settle(&mut self) {
        if let Some(constructs) = &mut self.constructs {
            // Files have their names without the dialect.
            let whole = |name: String| {
                if name.contains('-') {
                    return name;
                }
                format!("{}-{name}", self.dialect)
            };
            let differ = std::mem::take(&mut constructs.differ).into_iter();
            constructs.differ = differ.map(|(name, one)| (whole(name), one)).collect();
        }
        let key = |group: &DifferenceGroup| (group.found, group.cause.clone());
        self.groups.sort_by_key(key);
        for group in &mut self.groups {
            group.pairs.sort();
        }
        let shares = [
            ("templates", self.loaded()),
            ("prompts", self.prompts()),
            ("prompts_of_loaded", self.prompts_of_loaded()),
            ("refusals", self.refusals()),
        ];
        let shares =
            shares.map(|(name, share)| (name.to_owned(), vec![share.agree, share.all].into()));
        self.agreement = shares.into_iter().collect();
        self.checksum = Fingerprint::of("");
    }

    /// How many templates load.
    pub fn loaded(&self) -> Share {
        let refused = self.templates.values();
        let refused = refused.filter(|template| template.refused.is_some());
        Share::of(self.templates.len(), refused.count())
    }

    /// Agreement in all pairs in which the reference gives a prompt.
    pub fn prompts(&self) -> Share {
        self.share(
            |_| true,
            |part| part.prompts,
            |kind| kind == OutcomeKind::Rendered,
        )
    }

    /// The same, for the templates that load.
    pub fn prompts_of_loaded(&self) -> Share {
        let is_loaded = |name: &TemplateName| {
            let template = self.templates.get(name);
            template.is_some_and(|template| template.refused.is_none())
        };
        self.share(
            is_loaded,
            |part| part.prompts,
            |kind| kind == OutcomeKind::Rendered,
        )
    }

    /// Agreement in all pairs in which the reference gives no prompt.
    pub fn refusals(&self) -> Share {
        self.share(
            |_| true,
            |part| part.refusals,
            |kind| kind != OutcomeKind::Rendered,
        )
    }

    /// Agreement in the table of constructs.
    pub fn construct_share(&self) -> Option<Share> {
        let constructs = self.constructs.as_ref()?;
        Some(Share::of(constructs.all, constructs.differ.len()))
    }

    /// Agreement in all pairs of a template.
    pub fn of_template(&self, name: &TemplateName) -> Option<Share> {
        let all = self.templates.get(name)?.all();
        let differ = self.differing().filter(|(_, pair)| pair.template == *name);
        Some(Share::of(all, differ.count()))
    }

    /// Agreement in all pairs of a family.
    pub fn of_family(&self, name: &str) -> Option<Share> {
        let all = self.families.get(name)?.all();
        let differ = self
            .differing()
            .filter(|(_, pair)| pair.case.family() == name);
        Some(Share::of(all, differ.count()))
    }

    /// The pairs in which it differs from the reference, with their groups.
    pub fn differing(&self) -> impl Iterator<Item = (&DifferenceGroup, &DifferingPair)> {
        let groups = self.groups.iter();
        groups.flat_map(|group| group.pairs.iter().map(move |pair| (group, pair)))
    }

    /// The groups, those with the most pairs first.
    pub fn by_size(&self) -> Vec<&DifferenceGroup> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.pairs.len()));
        groups
    }

    /// The version of the suite over which it was measured.
    pub fn suite(&self) -> SuiteVersion {
        let templates = self.templates.iter();
        let templates = templates.map(|(name, one)| (name.clone(), (one.sha256, one.answers)));
        let families = self.families.iter();
        SuiteVersion {
            reference: self.reference.clone(),
            templates: templates.collect(),
            families: families
                .map(|(name, one)| (name.clone(), one.sha256))
                .collect(),
            constructs: self.constructs.as_ref().map(|one| one.sha256),
        }
    }

    fn share(
        &self,
        is_counted: impl Fn(&TemplateName) -> bool,
        of: impl Fn(&PartResult) -> usize,
        is_of: impl Fn(OutcomeKind) -> bool,
    ) -> Share {
        let templates = self.templates.iter();
        let counted = templates.filter(|(name, _)| is_counted(name));
        let all = counted.map(|(_, template)| of(template)).sum();
        let differ = self
            .differing()
            .filter(|(_, pair)| is_counted(&pair.template) && is_of(pair.expected));
        Share::of(all, differ.count())
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes it so
fn is_zero(count: &usize) -> bool {
    *count == 0
}
