//! Which templates of two sides belong together.

use std::collections::HashSet;

/// Names of templates of two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedTemplates {
    /// The pairs of names that belong together: a single name on each side, or equal names.
    pub pairs: Vec<[String; 2]>,
    /// The names that only A, and that only B has.
    pub only: [Vec<String>; 2],
}

impl MatchedTemplates {
    /// Finds out which names belong together.
    pub fn of(a: &[String], b: &[String]) -> MatchedTemplates {
        if let ([one], [other]) = (a, b) {
            return MatchedTemplates {
                pairs: vec![[one.clone(), other.clone()]],
                only: [Vec::new(), Vec::new()],
            };
        }
        let [of_a, of_b] = [a, b].map(|names| names.iter().collect::<HashSet<_>>());
        let (both, only_a): (Vec<&String>, Vec<&String>) =
            a.iter().partition(|name| of_b.contains(name));
        let only_b = b.iter().filter(|name| !of_a.contains(name));
        MatchedTemplates {
            pairs: both
                .into_iter()
                .map(|name| [name.clone(), name.clone()])
                .collect(),
            only: [
                only_a.into_iter().cloned().collect(),
                only_b.cloned().collect(),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_templates_belong_together_and_others_by_name() {
        let of = |a: &[&str], b: &[&str]| {
            let names = |list: &[&str]| -> Vec<String> {
                list.iter().map(|name| (*name).to_owned()).collect()
            };
            let twins = MatchedTemplates::of(&names(a), &names(b));
            (twins.pairs.len(), twins.only.map(|names| names.join(" ")))
        };
        let none = || [String::new(), String::new()];
        assert_eq!(of(&["old"], &["new"]), (1, none()));
        assert_eq!(
            of(&["m", "m@tool_use"], &["m", "m@rag"]),
            (1, ["m@tool_use".to_owned(), "m@rag".to_owned()])
        );
        assert_eq!(
            of(&["a"], &["b", "c"]),
            (0, ["a".to_owned(), "b c".to_owned()])
        );
    }
}
