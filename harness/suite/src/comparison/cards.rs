//! How the report cards of two templates differ.

use std::cmp::{Ordering, Reverse};

use rolecall_check::capability::{Capabilities, GenerationPrompt};
use rolecall_check::card::Card;
use rolecall_check::contract::{Contract, Finding, Judgement, Severity};
use rolecall_check::probe::{Content, Requirement};
use rolecall_core::named;
use rolecall_core::transcript::encode_char;
use serde::{Serialize, Serializer};

/// How two report cards differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CardEntry"))]
pub struct CardChange {
    /// The contracts that only B breaks.
    pub broken: Vec<FindingChange>,
    /// The contracts that only A breaks.
    #[serde(rename = "mended")]
    pub fixed: Vec<FindingChange>,
    /// The contracts that both break, B worse than A or better.
    pub changed: Vec<DegreeChange>,
    pub capabilities: Vec<CapabilityChange>,
}

/// A contract that one side breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "FindingEntry"))]
pub struct FindingChange {
    #[serde(serialize_with = "id")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub contract: &'static Contract,
    pub severity: Severity,
    pub what: String,
    /// Whether it is broken only where no application comes before the template.
    #[serde(rename = "alone")]
    pub is_raw_only: bool,
    /// Whether the contract holds for the other side. It may also not apply there, because what it
    /// is about is gone.
    #[serde(skip)]
    pub holds_elsewhere: bool,
    /// How much evidence there is.
    #[serde(skip)]
    count: usize,
    #[serde(skip)]
    probes: Vec<&'static str>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes it so
fn id<S: Serializer>(contract: &&Contract, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(contract.id)
}

/// A contract that both sides break, but not alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "DegreeEntry"))]
pub struct DegreeChange {
    /// `worse`, `better`, or `otherwise` if it is as bad in another way.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub degree: Degree,
    /// How bad it is for A.
    pub was: Severity,
    #[serde(flatten)]
    pub finding: FindingChange,
}

named! {
    /// Whether B breaks a contract worse than A.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Degree {
        /// It is more severe, or there is more evidence.
        Worse = "worse",
        /// It is less severe, or there is less evidence.
        Better = "better",
        /// It is as bad in another way.
        Otherwise = "otherwise",
    }
}

impl DegreeChange {
    fn between(a: &FindingChange, b: &FindingChange) -> DegreeChange {
        // The worst severity comes first.
        // A contract that is broken behind an application, too, is worse than one that is broken
        // without it only.
        let rank = |one: &FindingChange| (one.severity, one.is_raw_only, Reverse(one.count));
        DegreeChange {
            finding: b.clone(),
            was: a.severity,
            degree: match rank(b).cmp(&rank(a)) {
                Ordering::Less => Degree::Worse,
                Ordering::Greater => Degree::Better,
                Ordering::Equal => Degree::Otherwise,
            },
        }
    }
}

impl FindingChange {
    /// Whether a probe of this name shows it: `probe/user`, or `probe/user with …` under a setting.
    pub fn is_shown_by(&self, name: &str) -> bool {
        let Some(name) = name.strip_prefix("probe/") else {
            return false;
        };
        let probe = name.split(' ').next().unwrap_or(name);
        !self.is_raw_only && self.probes.contains(&probe)
    }
}

/// An ability that the two sides have in different ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CapabilityEntry"))]
pub struct CapabilityChange {
    pub name: &'static str,
    pub a: String,
    pub b: String,
    /// `gained`, `lost` or `other`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub turn: Turn,
}

named! {
    /// Whether something was gained or lost on the way from A to B.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Turn {
        /// Only B can do it.
        Gained = "gained",
        /// Only A can do it.
        Lost = "lost",
        /// The two differ in another way.
        Other = "other",
    }
}

impl CardChange {
    /// How two cards differ.
    pub fn between(a: &Card, b: &Card) -> CardChange {
        let [old, new] = [a, b].map(broken);
        let (mut broken, mut fixed) = (without(&new, &old, a), without(&old, &new, b));
        // A contract that is in both lists is broken on both sides, with another severity.
        let mut changed = Vec::new();
        broken.retain(|one| {
            let same = fixed
                .iter()
                .position(|known| known.contract == one.contract);
            changed.extend(same.map(|at| DegreeChange::between(&fixed.remove(at), one)));
            same.is_none()
        });
        CardChange {
            broken,
            fixed,
            changed,
            capabilities: capabilities(&a.capabilities, &b.capabilities),
        }
    }

    /// Whether the cards say the same.
    pub fn is_empty(&self) -> bool {
        self == &CardChange::default()
    }
}

/// What a card says is broken.
fn broken(card: &Card) -> Vec<FindingChange> {
    let change = |finding: &Finding, is_raw_only| FindingChange {
        contract: finding.contract,
        severity: finding.severity(),
        what: finding.what().to_owned(),
        is_raw_only,
        holds_elsewhere: false,
        count: finding.evidence().len(),
        probes: finding
            .evidence()
            .iter()
            .flat_map(|evidence| evidence.renders.iter().map(|render| render.probe))
            .collect(),
    };
    let alone = card
        .without_front
        .iter()
        .map(|finding| change(finding, true));
    let broken = card.broken().map(|finding| change(finding, false));
    broken.chain(alone).collect()
}

/// The changes that are in one list and not in the other, whose card is given.
fn without(list: &[FindingChange], other: &[FindingChange], card: &Card) -> Vec<FindingChange> {
    let holds = |change: &FindingChange| {
        let mut findings = card.findings.iter();
        findings.any(|finding| {
            finding.contract == change.contract && finding.judgement == Judgement::Holds
        })
    };
    let is_there = |change: &FindingChange| {
        let mut other = other.iter();
        other.any(|known| {
            (known.contract, known.severity, known.is_raw_only)
                == (change.contract, change.severity, change.is_raw_only)
        })
    };
    let left = list.iter().filter(|change| !is_there(change));
    left.map(|change| FindingChange {
        holds_elsewhere: holds(change),
        ..change.clone()
    })
    .collect()
}

fn capabilities(a: &Capabilities, b: &Capabilities) -> Vec<CapabilityChange> {
    let supports = a.supports().into_iter().zip(b.supports());
    // The words of a refusal belong to each template.
    let supports = supports.filter(|((_, a), (_, b))| a.name() != b.name());
    let supports = supports.map(|((name, a), (_, b))| CapabilityChange {
        name,
        a: a.name().to_owned(),
        b: b.name().to_owned(),
        turn: match (a.is_kept(), b.is_kept()) {
            (false, true) => Turn::Gained,
            (true, false) => Turn::Lost,
            _ => Turn::Other,
        },
    });
    let facts = facts(a).into_iter().zip(facts(b));
    let facts = facts.filter(|(a, b)| a.1 != b.1);
    let facts = facts.map(|((name, a), (_, b))| CapabilityChange {
        name,
        a,
        b,
        turn: Turn::Other,
    });
    supports.chain(facts).collect()
}

/// Facts about a template besides its support for messages.
fn facts(capabilities: &Capabilities) -> [(&'static str, String); 7] {
    let list = |words: Vec<&str>| match words.as_slice() {
        [] => "none".to_owned(),
        words => words.join(", "),
    };
    let strings = |words: &[String]| list(words.iter().map(String::as_str).collect());
    let content = match capabilities.content {
        Content::String => "a string",
        Content::Parts => "a list of parts",
    };
    let given = match capabilities.given {
        Requirement::Nothing => "nothing",
        Requirement::Tools => "tools",
        Requirement::Documents => "documents",
    };
    let date = if capabilities.date { "yes" } else { "no" };
    [
        (
            "generation prompt",
            generation_prompt(&capabilities.generation_prompt),
        ),
        (
            "fields of reasoning",
            list(capabilities.reasoning.fields.clone()),
        ),
        ("special tokens", strings(&capabilities.special_tokens)),
        ("variables", strings(&capabilities.variables)),
        ("depends on the date", date.to_owned()),
        ("content as", content.to_owned()),
        ("always needs", given.to_owned()),
    ]
}

fn generation_prompt(prompt: &GenerationPrompt) -> String {
    match prompt {
        GenerationPrompt::Suffix { text } => {
            let mut shown = String::new();
            text.chars().for_each(|c| encode_char(c, &mut shown));
            // Drop the transcript's line breaks: this is one line.
            shown.retain(|c| c != '\n');
            format!("`{shown}`")
        }
        GenerationPrompt::Ignored => "the same with and without it".to_owned(),
        GenerationPrompt::Other => "changes the prompt elsewhere".to_owned(),
        GenerationPrompt::Unknown { .. } => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_check::card::examine;
    use rolecall_core::{Dialect, Template};
    use rolecall_jinja::JinjaEngine;

    fn change(a: &str, b: &str) -> CardChange {
        let card = |source: &str| {
            let template = Template::from_source("t", Dialect::Jinja, source);
            examine(&JinjaEngine::new(), &template)
        };
        CardChange::between(&card(a), &card(b))
    }

    #[test]
    fn what_is_gained_from_a_to_b_is_lost_from_b_to_a() {
        let plain = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
        let tools = format!("{{{{ tools | tojson if tools }}}}{plain}{{{{ bos_token }}}}");
        let there = change(plain, &tools);
        let tools_of = |change: &CardChange| {
            let mut all = change.capabilities.iter();
            let tools = all.find(|change| change.name == "tools").unwrap();
            ([tools.a.clone(), tools.b.clone()], tools.turn)
        };
        let sides = ["dropped".to_owned(), "kept".to_owned()];
        assert_eq!(tools_of(&there), (sides, Turn::Gained));
        let ids = |list: &[FindingChange]| -> Vec<&str> {
            list.iter().map(|change| change.contract.id).collect()
        };
        assert!(ids(&there.fixed).contains(&"tools-kept"), "{there:?}");
        let back = change(&tools, plain);
        assert_eq!(ids(&back.broken), ids(&there.fixed));
        assert_eq!(tools_of(&back).1, Turn::Lost);
        let tokens = there.capabilities.iter();
        let mut tokens = tokens.filter(|change| change.name == "special tokens");
        let tokens = tokens.next().unwrap();
        assert_eq!([&*tokens.a, &*tokens.b], ["none", "bos_token"]);
        assert!(change(plain, plain).is_empty());
    }

    /// What is broken on both sides is neither fixed nor broken.
    #[test]
    fn a_contract_that_both_break_is_worse_or_better() {
        let finding = |severity, count| FindingChange {
            contract: rolecall_check::contract::ALL[0],
            severity,
            what: String::new(),
            is_raw_only: false,
            holds_elsewhere: false,
            count,
            probes: Vec::new(),
        };
        let degree = |a, b| DegreeChange::between(&a, &b).degree;
        let (error, warning) = (Severity::Error, Severity::Warning);
        assert_eq!(
            degree(finding(warning, 3), finding(error, 1)),
            Degree::Worse
        );
        assert_eq!(degree(finding(error, 3), finding(error, 1)), Degree::Better);
        assert_eq!(
            degree(finding(error, 1), finding(error, 1)),
            Degree::Otherwise
        );
    }
}
