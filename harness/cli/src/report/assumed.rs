//! The special tokens that a template file without its model lacks, and the values that took their
//! place.

use std::collections::BTreeMap;

/// Which values took the place of special tokens that nothing sets, and what was done with them.
pub fn in_words(what: &str, assumed: &BTreeMap<&'static str, &'static str>) -> Option<String> {
    let assumed = assumed.iter();
    let tokens: Vec<String> = assumed
        .map(|(name, token)| format!("`{token}` for {name}"))
        .collect();
    (!tokens.is_empty()).then(|| {
        let tokens = tokens.join(" and ");
        format!("{what} with {tokens}, which nothing sets: use --special-token, or name the model's folder")
    })
}
