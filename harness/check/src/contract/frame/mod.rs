//! What a contract is, and how its demands become a finding.

mod severity;

mod evidence;

mod judgement;

mod tally;

mod definition;

mod of_logs;

mod causes;
mod finding;

pub(super) use causes::{cause, difference};
pub use definition::Contract;
pub use evidence::{Evidence, Relation, Render};
pub use finding::{Finding, INTERNAL_ERROR};
pub use judgement::Judgement;
pub use of_logs::{LOG_RULES, LogRule, log_rule};
pub use severity::Severity;
pub(super) use tally::Tally;
