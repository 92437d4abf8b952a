//! Contracts: properties that a sound template has, each over several renders.
//!
//! A contract holds, is broken, or does not apply. It is broken only where renders show
//! it, and they are the evidence; where a probe is refused, or a template has no use for
//! what the contract is about, it does not apply, and says why.

mod arguments;
mod content;
mod evidence;
mod leaks;
mod mask;
mod messages;
mod prefix;
mod rendering;
mod tally;
mod tokens;
mod tools;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::capability::Capabilities;
use crate::probe::Prober;
use crate::template::Dialect;

pub use evidence::{Evidence, Relation, Render};

/// A property that a sound template has.
pub struct Contract {
    /// Its name, in files and reports: lower-case words with dashes.
    pub id: &'static str,
    /// What it demands, in a line.
    pub meaning: &'static str,
    /// What goes wrong where it is broken, in a line.
    pub guards_against: &'static str,
    /// How bad that is.
    pub severity: Severity,
    /// The dialects that it is about.
    pub dialects: &'static [Dialect],
    /// Finds out.
    judge: fn(&Prober<'_>, &Capabilities) -> Verdict,
}

/// How bad a broken contract is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The model gets something else than what was said, and nobody is told.
    Error,
    /// Something that others rely on, such as a cache, does not work.
    Warning,
    /// Worth knowing.
    Note,
}

/// What was found out about one contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The contract.
    pub contract: &'static Contract,
    /// How the template stands to it.
    pub verdict: Verdict,
    /// Why the template breaks it on purpose, as its sidecar says.
    pub deliberate: Option<String>,
}

/// How a template stands to a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No render breaks it, and at least one could have.
    Holds,
    /// Renders show that it does not hold.
    Broken(Vec<Evidence>),
    /// It says nothing about this template.
    DoesNotApply(String),
}

/// The contracts, in the order in which reports list them.
pub const ALL: &[&Contract] = &[
    &rendering::RENDERS,
    &rendering::DETERMINISTIC,
    &rendering::DATE_INDEPENDENT,
    &rendering::SOURCE_NEWLINES,
    &rendering::REFUSAL_WORDS,
    &messages::MESSAGES_KEPT,
    &messages::DEVELOPER_KEPT,
    &messages::UNKNOWN_ROLE_KEPT,
    &messages::CONTENT_ONCE,
    &messages::CONTENT_IN_ORDER,
    &messages::REASONING_KEPT,
    &content::EMPTY_CONTENT_ALIKE,
    &content::TEXT_PART_IS_TEXT,
    &content::WHITESPACE_VERBATIM,
    &content::CRLF_VERBATIM,
    &content::THINK_TAG_VERBATIM,
    &tokens::CONTROL_TOKENS_INERT,
    &tokens::ONE_BOS,
    &leaks::NO_NULL_LEAK,
    &leaks::NO_REPR_LEAK,
    &tools::TOOLS_KEPT,
    &tools::NO_TOOLS_ALIKE,
    &tools::TOOL_CALLS_KEPT,
    &tools::PARALLEL_CALLS_KEPT,
    &tools::CONTENT_BESIDE_CALLS,
    &tools::TOOL_RESULTS_KEPT,
    &arguments::ARGUMENTS_ALIKE,
    &arguments::ARGUMENTS_ENCODED_ONCE,
    &arguments::KEY_ORDER_KEPT,
    &prefix::GENERATION_PROMPT_SUFFIX,
    &prefix::FINISHED_TURN_CONTINUES,
    &prefix::HISTORY_STABLE,
    &prefix::HISTORY_STABLE_TOOLS,
    &prefix::HISTORY_STABLE_REASONING,
    &prefix::OPEN_MODEL_TURN,
    &mask::ASSISTANT_MASK,
];

/// A contract by its name.
pub fn by_id(id: &str) -> Option<&'static Contract> {
    ALL.iter().copied().find(|contract| contract.id == id)
}

/// Judges a template by every contract.
pub fn judge(prober: &Prober<'_>, capabilities: &Capabilities) -> Vec<Finding> {
    let explained = &prober.template().broken;
    ALL.iter()
        .map(|contract| Finding {
            contract,
            verdict: contract.verdict(prober, capabilities),
            deliberate: explained
                .iter()
                .find(|(id, _)| id == contract.id)
                .map(|(_, why)| why.clone()),
        })
        .collect()
}

impl Contract {
    /// Judges a template.
    pub fn verdict(&self, prober: &Prober<'_>, capabilities: &Capabilities) -> Verdict {
        if !self.dialects.contains(&prober.dialect()) {
            let why = format!("it is not about templates for {}", prober.dialect());
            return Verdict::DoesNotApply(why);
        }
        if self.id != rendering::RENDERS.id && !capabilities.question.is_kept() {
            let why = "a single question gives no prompt that holds it";
            return Verdict::DoesNotApply(why.to_owned());
        }
        (self.judge)(prober, capabilities)
    }
}

impl PartialEq for Contract {
    fn eq(&self, other: &Contract) -> bool {
        self.id == other.id
    }
}

impl Eq for Contract {}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl Severity {
    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Finding {
    /// The evidence, where the contract is broken.
    pub fn evidence(&self) -> &[Evidence] {
        match &self.verdict {
            Verdict::Broken(evidence) => evidence,
            Verdict::Holds | Verdict::DoesNotApply(_) => &[],
        }
    }

    /// Whether the contract is broken.
    pub fn is_broken(&self) -> bool {
        matches!(self.verdict, Verdict::Broken(_))
    }
}

/// `{"contract", "meaning", "guards_against", "severity", "verdict", "reason"?,
/// "evidence"?, "deliberate"?}`, the verdict being `holds`, `broken` or `does-not-apply`.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Finding", 7)?;
        object.serialize_field("contract", self.contract.id)?;
        object.serialize_field("meaning", self.contract.meaning)?;
        object.serialize_field("guards_against", self.contract.guards_against)?;
        object.serialize_field("severity", &self.contract.severity)?;
        object.serialize_field("verdict", self.verdict.name())?;
        match &self.verdict {
            Verdict::Holds => object.skip_field("evidence")?,
            Verdict::Broken(evidence) => object.serialize_field("evidence", evidence)?,
            Verdict::DoesNotApply(reason) => object.serialize_field("reason", reason)?,
        }
        if let Some(why) = &self.deliberate {
            object.serialize_field("deliberate", why)?;
        }
        object.end()
    }
}

impl Verdict {
    /// The word for it in files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Broken(_) => "broken",
            Verdict::DoesNotApply(_) => "does-not-apply",
        }
    }
}
