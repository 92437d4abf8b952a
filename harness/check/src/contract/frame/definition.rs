//! What a contract is.

use std::fmt;

use rolecall_core::Dialect;

use super::judgement::Judgement;
use super::severity::Severity;
use super::tally::Tally;
use crate::capability::Capabilities;
use crate::probe::Prober;

/// A property that a sound template has.
pub struct Contract {
    /// Its name, in files and reports: lower-case words with dashes.
    pub id: &'static str,
    /// What it demands, in a line.
    pub meaning: &'static str,
    /// What goes wrong where it is broken, in a line.
    pub guards_against: &'static str,
    /// How bad that is, as a rule. What a render shows may be worse or less: see
    /// [`Evidence`](super::Evidence).
    pub severity: Severity,
    /// The dialects that it is about.
    pub dialects: &'static [Dialect],
    /// All about it, as Markdown: why it matters and how bad it is to break it, a template that
    /// breaks it and one that holds it, how to fix one, and how common it is.
    pub page: &'static str,
    /// Counts what renders say about it.
    pub(in crate::contract) judge: fn(&mut Tally, &Prober<'_>, &Capabilities),
}

impl Contract {
    /// Judges a template.
    pub(in crate::contract) fn judgement(
        &self,
        prober: &Prober<'_>,
        capabilities: &Capabilities,
    ) -> Judgement {
        let mut tally = Tally::default();
        (self.judge)(&mut tally, prober, capabilities);
        tally.judgement()
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
