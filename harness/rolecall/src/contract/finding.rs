//! What was found out about one contract.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;

/// What was found out about one contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The contract.
    pub contract: &'static Contract,
    /// How the template stands to it.
    pub judgement: Judgement,
    /// Why the template breaks it on purpose, as its sidecar says.
    pub deliberate: Option<String>,
}

impl Finding {
    /// The evidence, where the contract is broken.
    pub fn evidence(&self) -> &[Evidence] {
        match &self.judgement {
            Judgement::Broken(evidence) => evidence,
            Judgement::Holds | Judgement::DoesNotApply(_) => &[],
        }
    }

    /// Whether the contract is broken.
    pub fn is_broken(&self) -> bool {
        matches!(self.judgement, Judgement::Broken(_))
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
        object.serialize_field("verdict", self.judgement.name())?;
        match &self.judgement {
            Judgement::Holds => object.skip_field("evidence")?,
            Judgement::Broken(evidence) => object.serialize_field("evidence", evidence)?,
            Judgement::DoesNotApply(reason) => object.serialize_field("reason", reason)?,
        }
        if let Some(why) = &self.deliberate {
            object.serialize_field("deliberate", why)?;
        }
        object.end()
    }
}
