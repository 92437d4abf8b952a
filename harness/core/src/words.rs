//! The words of a template: the names that it reads, and the literals that it compares them with.

use std::collections::BTreeSet;

/// The names and the literals in the code of a template, or in a piece of it. Plain text does not
/// count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// The names of variables, of attributes and of keys, as conversations spell them.
    pub names: BTreeSet<String>,
    /// The texts that are in it as literals.
    pub texts: BTreeSet<String>,
    /// The whole numbers that are in it as literals.
    pub numbers: BTreeSet<i64>,
    /// Names and texts that one comparison, call or test has together.
    pub compared: BTreeSet<(String, String)>,
}

impl Words {
    /// Adds the names and texts of a comparison, and notes that they belong together.
    pub fn compare(&mut self, names: &BTreeSet<String>, texts: &BTreeSet<String>) {
        let pairs = names.iter().flat_map(|name| {
            let texts = texts.iter();
            texts.map(move |text| (name.clone(), text.clone()))
        });
        self.compared.extend(pairs);
        self.names.extend(names.iter().cloned());
        self.texts.extend(texts.iter().cloned());
    }

    /// The texts that a name is compared with.
    pub fn compared_with(&self, name: &str) -> Vec<&str> {
        let pairs = self.compared.iter();
        let of_name = pairs.filter(|(other, _)| other == name);
        of_name.map(|(_, text)| text.as_str()).collect()
    }

    /// Whether there are neither names nor literals.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.texts.is_empty() && self.numbers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_belong_to_the_names_next_to_them() {
        let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut words = Words::default();
        assert!(words.is_empty());
        words.compare(&set(&["m", "role"]), &set(&["user", "tool"]));
        words.compare(&set(&["effort"]), &set(&["high"]));
        assert_eq!(words.compared_with("role"), ["tool", "user"]);
        assert_eq!(words.compared_with("effort"), ["high"]);
        assert_eq!(words.compared_with("user"), [] as [&str; 0]);
        assert!(!words.is_empty());
    }
}
