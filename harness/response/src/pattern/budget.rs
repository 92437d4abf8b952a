//! How much a search may cost.

use crate::failure::{Limit, ParseError};

#[derive(Clone, Debug)]
pub(crate) struct Budget(u64);

impl Budget {
    pub(crate) fn new(steps: u64) -> Budget {
        Budget(steps)
    }

    pub(crate) fn left(&self) -> u64 {
        self.0
    }

    /// Takes steps away.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), ParseError> {
        self.0 = self.0.checked_sub(steps).ok_or(ParseError::LimitExceeded {
            limit: Limit::Steps,
        })?;
        Ok(())
    }

    /// Takes away what it costs to look at characters in a row.
    pub(crate) fn spend_on_scan(&mut self, characters: usize) -> Result<(), ParseError> {
        self.spend(1 + characters as u64 / 16)
    }
}
