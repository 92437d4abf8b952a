//! The contracts that somebody wants a card for.

use crate::contract::{self, Contract};

#[derive(Debug, Clone, Default)]
pub struct ContractChoice {
    /// The contracts to judge by; all if it is empty.
    pub select: Vec<&'static Contract>,
    /// Contracts that are not judged, also if they are selected.
    pub ignore: Vec<&'static Contract>,
}

impl ContractChoice {
    /// A choice by names. An error names the first one that is no contract's.
    pub fn named(select: &[String], ignore: &[String]) -> Result<ContractChoice, String> {
        Ok(ContractChoice {
            select: contracts(select)?,
            ignore: contracts(ignore)?,
        })
    }

    /// Whether no contract for templates is chosen.
    pub fn is_empty(&self) -> bool {
        !contract::ALL.iter().any(|one| self.has(one))
    }

    /// Whether no rule for logs is chosen.
    pub fn is_without_logs(&self) -> bool {
        !contract::LOG_RULES
            .iter()
            .any(|rule| self.has(&rule.contract))
    }

    /// Whether the user wants to know about a contract, or has to.
    pub fn has(&self, contract: &'static Contract) -> bool {
        *contract == contract::INTERNAL_ERROR
            || (self.select.is_empty() || self.select.contains(&contract))
                && !self.ignore.contains(&contract)
    }
}

fn contracts(names: &[String]) -> Result<Vec<&'static Contract>, String> {
    names
        .iter()
        .map(|name| contract::find_chosen(name))
        .collect()
}
