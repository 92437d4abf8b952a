//! Names of templates and families, which become names of files and folders.

use crate::case::CaseId;
use crate::cut::Cut;
use crate::template::{Template, TemplateName};

use crate::fingerprint::Fingerprint;
use crate::problem::Problem;

/// The most characters of a name that becomes a file or a folder of snapshots. With the
/// endings that insta adds it fits into every file system, and three of them into a path
/// on Windows.
pub const MOST_CHARACTERS: usize = CaseId::MOST_CHARACTERS;

/// Whether a name of letters, digits, dots, dashes and underscores can be a file or folder
/// on every system: not too long, no dot at its end, and no device of Windows.
pub fn is_portable(name: &str) -> bool {
    const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
    let stem = name.split('.').next().unwrap_or_default();
    let is_port = |stem: &str| {
        ["com", "lpt"].iter().any(|port| {
            stem.strip_prefix(port)
                .is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
        })
    };
    name.len() <= MOST_CHARACTERS
        && !name.ends_with('.')
        && !DEVICES.contains(&stem)
        && !is_port(stem)
}

/// Whether a template's name can be a folder of snapshots on every system: lower-case
/// letters, digits, dots, dashes and underscores, the first a letter or a digit, not too
/// many of them, and no device name of Windows.
pub fn is_plain(name: &TemplateName) -> bool {
    let name = name.as_str();
    let is_allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    name.bytes().all(is_allowed)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && is_portable(name)
}

/// A name of at most so many characters: if it is longer, its beginning and some digits that other
/// names with the same beginning do not share.
pub fn shortened(name: &str, most: usize) -> String {
    const DIGITS: usize = 8;
    if name.len() <= most {
        return name.to_owned();
    }
    let digits = Fingerprint::of(name).to_string();
    let beginning: String = name.chars().take(most.saturating_sub(DIGITS + 1)).collect();
    // The digits follow after a dash, and `name.-1a2b` would look like a mistake.
    let beginning = beginning.trim_end_matches(['.', '-', '_']);
    format!("{beginning}-{}", digits.cut(..DIGITS))
}

/// What is wrong with a template's name, if templates of a suite cannot have it.
pub fn problem(template: &Template) -> Option<Problem> {
    let message = format!(
        "`{}` cannot be the name of a snapshot folder on every system",
        template.name
    );
    let help = format!(
        "name the template with at most {MOST_CHARACTERS} lower-case letters, digits, dots, dashes and underscores"
    );
    (!is_plain(&template.name)).then(|| Problem::new(&template.path, message).help(help))
}

/// A name from the name of a model and perhaps of one of its templates, `model@variant`.
/// Characters that mean something to a terminal or a filter, such as `:` and control
/// characters, are replaced.
pub fn of_model(model: &str, variant: Option<&str>) -> TemplateName {
    let tidy = |c: char, others: &str| {
        if c.is_alphanumeric() || others.contains(c) {
            c
        } else {
            '_'
        }
    };
    let mut name: String = model
        .replace(':', "@")
        .chars()
        .map(|c| tidy(c, "._-+@/"))
        .collect();
    if let Some(variant) = variant {
        name.push('@');
        name.extend(variant.chars().map(|c| tidy(c, "._-+")));
    }
    TemplateName::new(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_every_system_can_have() {
        for good in [
            "a",
            "con1",
            "com",
            "com10",
            "null",
            "a.b",
            "a..b",
            &"x".repeat(64),
        ] {
            assert!(is_portable(good), "{good}");
        }
        for bad in [
            "con",
            "nul.x",
            "com1",
            "lpt9.a",
            "a.",
            ".",
            "..",
            &"x".repeat(65),
        ] {
            assert!(!is_portable(bad), "{bad}");
        }
    }

    #[test]
    fn names_of_models_hold_nothing_that_means_something_elsewhere() {
        let name = |model, variant| of_model(model, variant).to_string();
        assert_eq!(name("org/Model-1.5", None), "org/Model-1.5");
        assert_eq!(name("gemma3:12b", Some("tool_use")), "gemma3@12b@tool_use");
        assert_eq!(name("a b\u{1b}[1m*", Some("../x:y")), "a_b__1m_@.._x_y");
    }

    #[test]
    fn long_names_become_short_and_stay_different() {
        let [one, other] = ["a", "b"].map(|end| shortened(&("x".repeat(80) + end), 20));
        assert_eq!((one.len(), other.len()), (20, 20));
        assert_ne!(one, other);
        assert!(is_plain(&TemplateName::new(&one)));
        assert_eq!(shortened("short", 20), "short");
    }

    #[test]
    fn plain_names() {
        assert!(is_plain(&TemplateName::new("qwen2.5")));
        assert!(is_plain(&TemplateName::new("gemma-3-t1")));
        for bad in [
            "",
            ".",
            "..",
            ".hidden",
            "-a",
            "a/b",
            "a\\b",
            "Qwen",
            "a b",
            "a\0",
            "a\n",
            "\u{202e}a",
            "é",
            "con",
            "nul.x",
            "a.",
            &"x".repeat(300),
        ] {
            assert!(!is_plain(&TemplateName::new(bad)), "{bad}");
        }
    }
}
