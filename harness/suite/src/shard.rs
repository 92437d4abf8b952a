//! Shards: a run cut into parts for several machines.

use std::fmt;
use std::str::FromStr;

use crate::suite::Pair;

/// One part of several: `K/N`, the K-th of N, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    part: usize,
    of: usize,
}

/// A text that is not `K/N`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a part of a run: write K/N, such as 1/4, with K from 1 to N")]
pub struct InvalidShard(String);

impl Shard {
    /// Whether it is the only part.
    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// The pairs of this part. All parts have the same size, give or take one, and together
    /// they hold each pair once. The pairs of a part are consecutive, so that few templates are
    /// loaded by several machines.
    pub fn of(self, mut pairs: Vec<Pair<'_>>) -> Vec<Pair<'_>> {
        let cut = |part: usize| pairs.len() * part / self.of;
        let (start, end) = (cut(self.part - 1), cut(self.part));
        pairs.truncate(end);
        pairs.split_off(start)
    }
}

impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<Shard, InvalidShard> {
        let parsed = text
            .split_once('/')
            .and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((part, of)) if (1..=of).contains(&part) && of <= 10_000 => Ok(Shard { part, of }),
            _ => Err(InvalidShard(text.to_owned())),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Case, Dialect, Template};

    use super::*;

    #[test]
    fn the_parts_together_have_every_pair_once() {
        let template = Template::from_source("t", Dialect::Jinja, "");
        let cases: Vec<Case> = (0..23).map(|_| Case::from_messages(vec![])).collect();
        let pair = |case| Pair {
            template: &template,
            case,
        };
        let pairs: Vec<Pair<'_>> = cases.iter().map(pair).collect();
        for of in [1, 2, 4, 7, 23, 30] {
            let parts = (1..=of).map(|part| Shard { part, of }.of(pairs.clone()));
            let parts: Vec<Vec<Pair<'_>>> = parts.collect();
            let sizes = parts.iter().map(Vec::len);
            assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
            let together = parts
                .iter()
                .flatten()
                .map(|pair| std::ptr::from_ref(pair.case));
            assert!(together.eq(cases.iter().map(std::ptr::from_ref)), "{of}");
        }
    }

    #[test]
    fn what_names_no_part_is_refused() {
        for text in [
            "",
            "1",
            "0/4",
            "5/4",
            "1/0",
            "-1/4",
            "a/b",
            "1/2/3",
            "1/99999999",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("2/4".parse::<Shard>().unwrap().to_string(), "2/4");
    }
}
