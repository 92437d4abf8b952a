//! The finding about one contract.

use serde::ser::{Serialize, Serializer};

use rolecall_core::Dialect;

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::severity::Severity;

/// What cards report panics by. It is no property of templates, so it is not in [`ALL`](crate::contract::ALL): no
/// sidecar and no baseline explains it, and no option leaves it out.
pub static INTERNAL_ERROR: Contract = Contract {
    id: "internal-error",
    meaning: "Rolecall examines the template without an internal error",
    guards_against: "a report card that lacks something because of a defect of Rolecall",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: "# internal-error\n\nRolecall failed while it examined the template. The template is not to \
           blame, and the rest of the card is complete. Please report the message with the template.",
    judge: |tally, _, _| tally.holds(),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub contract: &'static Contract,
    /// How the template relates to it.
    pub judgement: Judgement,
    /// Why the template breaks it on purpose, as its sidecar says.
    pub deliberate: Option<String>,
}

impl Finding {
    /// The finding about panics, one sentence for each.
    pub(crate) fn of_internal_errors(sentences: Vec<String>) -> Finding {
        let evidence = sentences.into_iter().map(Evidence::of_source);
        Finding {
            contract: &INTERNAL_ERROR,
            judgement: Judgement::Broken(evidence.collect()),
            deliberate: None,
        }
    }

    /// The evidence, where the contract is broken.
    pub fn evidence(&self) -> &[Evidence] {
        match &self.judgement {
            Judgement::Broken(evidence) => evidence,
            Judgement::Holds | Judgement::DoesNotApply(_) => &[],
        }
    }

    /// The first evidence, in words.
    pub fn what(&self) -> &str {
        self.evidence().first().map_or("", |first| &first.what)
    }

    /// The evidence, gathered by its cause: the same words about several conversations, or under several
    /// settings, if the same line of the template explains them. The first of each stands for it.
    pub fn causes(&self) -> Vec<Vec<&Evidence>> {
        let mut causes: Vec<Vec<&Evidence>> = Vec::new();
        for one in self.evidence() {
            let is_alike = |cause: &&mut Vec<&Evidence>| {
                let first = cause.first();
                first.is_some_and(|first| first.has_cause_of(one))
            };
            match causes.iter_mut().find(is_alike) {
                Some(cause) => cause.push(one),
                None => causes.push(vec![one]),
            }
        }
        causes
    }

    /// Where reports list it: the worst first, and of what is as bad what ordinary conversations show.
    pub fn rank(&self) -> (Severity, bool) {
        let is_unusual = self.evidence().first().is_some_and(Evidence::is_unusual);
        (self.severity(), is_unusual)
    }

    /// How bad a finding is: as bad as the worst evidence. Where nothing is broken, what the
    /// contract says.
    pub fn severity(&self) -> Severity {
        let evidence = self.evidence().iter();
        let severities = evidence.map(|one| one.severity.unwrap_or(self.contract.severity));
        severities.min().unwrap_or(self.contract.severity)
    }

    /// Whether the contract is broken in a way that someone should fix, or explain.
    pub fn is_defect(&self) -> bool {
        self.is_broken() && self.severity().is_defect()
    }

    pub fn is_broken(&self) -> bool {
        matches!(self.judgement, Judgement::Broken(_))
    }
}

/// A finding as JSON.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FindingJson<'f> {
    /// The contract's name.
    contract: &'f str,
    /// What it demands.
    meaning: &'f str,
    /// What goes wrong where it is broken.
    guards_against: &'f str,
    severity: Severity,
    /// `holds`, `broken` or `does-not-apply`.
    verdict: &'f str,
    /// What shows that it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'f [Evidence]>,
    /// Why it does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'f str>,
    /// Why the template breaks it on purpose, as its sidecar says.
    #[serde(skip_serializing_if = "Option::is_none")]
    deliberate: Option<&'f str>,
}

/// `{"contract", "meaning", "guards_against", "severity", "verdict", "reason"?,
/// "evidence"?, "deliberate"?}`, the verdict being `holds`, `broken` or `does-not-apply`.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (evidence, reason) = match &self.judgement {
            Judgement::Holds => (None, None),
            Judgement::Broken(evidence) => (Some(evidence.as_slice()), None),
            Judgement::DoesNotApply(reason) => (None, Some(reason.as_str())),
        };
        let object = FindingJson {
            contract: self.contract.id,
            meaning: self.contract.meaning,
            guards_against: self.contract.guards_against,
            severity: self.severity(),
            verdict: self.judgement.name(),
            evidence,
            reason,
            deliberate: self.deliberate.as_deref(),
        };
        object.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Finding {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Finding".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        FindingJson::json_schema(generator)
    }
}
