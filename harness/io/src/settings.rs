//! The special tokens and variables that somebody sets for templates, and those that templates read.

use std::collections::{BTreeSet, HashSet};

use rolecall_core::guard::load;
use rolecall_core::problem::{self, did_you_mean, misspelt};
use rolecall_core::{Dialect, Template, Variable};
use rolecall_front::engines::Engines;
use serde_json::Value;

/// The special tokens that every tokenizer can have (transformers 5.24.0, `SPECIAL_TOKENS_ATTRIBUTES`).
pub(crate) const STANDARD_TOKENS: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// Special tokens and variables that somebody sets for templates, over those of their sources.
#[derive(Debug, Default, Clone)]
pub struct Settings {
    /// Special tokens by name, such as `bos_token`.
    pub special_tokens: Vec<(String, String)>,
    /// Variables by name, such as `enable_thinking`.
    pub variables: Vec<(String, Value)>,
}

impl Settings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.special_tokens.is_empty() && self.variables.is_empty()
    }

    /// Why these settings make no sense: a name is given twice, or no template is named that they could
    /// be for. The text names the options of the command.
    pub fn refusal(&self, names_no_template: bool) -> Option<String> {
        let tokens = self.special_tokens.iter().map(|(name, _)| name).collect();
        let variables = self.variables.iter().map(|(name, _)| name).collect();
        let said: [(&str, Vec<&String>); 2] =
            [("--special-token", tokens), ("--variable", variables)];
        said.iter().find_map(|(option, names)| {
            let mut known = HashSet::new();
            if let Some(twice) = names.iter().find(|name| !known.insert(**name)) {
                return Some(format!("{option} {twice} is given twice\n  give it once"));
            }
            (names_no_template && !names.is_empty()).then(|| {
                format!(
                    "{option} is for templates that you name, and the suite's own have theirs\n  \
                     name a template"
                )
            })
        })
    }

    /// Sets them on a template and on its alternatives.
    pub fn set(&self, template: &mut Template) {
        for (name, text) in &self.special_tokens {
            let text = text.as_str().into();
            template.special_tokens.insert(name.clone(), text);
        }
        for (name, value) in &self.variables {
            let value = Variable::Value(value.clone());
            match template
                .variables
                .iter_mut()
                .find(|(known, _)| known == name)
            {
                Some((_, known)) => *known = value,
                None => template.variables.push((name.clone(), value)),
            }
        }
        // An application picks one of these for each conversation, so that all need the same settings.
        for (_, named) in &mut template.named {
            self.set(named);
        }
    }

    /// Which of them no template reads: see [`ReadNames::unread`]. Empty if nobody can say.
    pub fn unread(&self, templates: &[Template]) -> Vec<Option<Unread>> {
        let tokens = self.special_tokens.iter();
        let tokens: Vec<&str> = tokens.map(|(name, _)| name.as_str()).collect();
        let variables = self.variables.iter();
        let variables: Vec<&str> = variables.map(|(name, _)| name.as_str()).collect();
        unread(templates, &tokens, &variables)
    }
}

/// A special token or a variable that is set, and that no template reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// What it is, with its name: "the variable `x`".
    pub what: String,
    /// The question whether another name was meant, if one is near.
    pub meant: Option<String>,
}

/// The names of what templates read and do not set, all templates together.
pub struct ReadNames(BTreeSet<String>);

/// The most settings of one place that are looked at, and the most names that may have been meant. No
/// template has so many, and to look for similar names takes time.
const MOST: usize = 500;

impl ReadNames {
    /// What Jinja templates read, and the other templates of their models. None without a template, or
    /// if one of them is for Go or cannot be compiled: then nobody can say what is not read.
    pub fn of<'t>(templates: impl IntoIterator<Item = &'t Template>) -> Option<ReadNames> {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let mut all: Option<BTreeSet<String>> = None;
        for template in templates {
            let named = template.named.iter().map(|(_, named)| named);
            for one in named.chain([template]) {
                let loaded = load(engine, one);
                if one.dialect != Dialect::Jinja || loaded.refusal().is_some() {
                    return None;
                }
                all.get_or_insert_default().extend(loaded.variables());
            }
        }
        all.map(ReadNames)
    }

    /// Which of the special tokens and variables of one place no template reads: first one for each
    /// token, then one for each variable. Tokens that every tokenizer can have need no reader.
    pub fn unread(&self, tokens: &[&str], variables: &[&str]) -> Vec<Option<Unread>> {
        let read = || self.0.iter().map(String::as_str).take(MOST);
        let token = |name: &str| {
            // What is set, too, was not meant.
            let open = STANDARD_TOKENS.into_iter().chain(read());
            let open = open.filter(|one| !tokens.contains(one));
            let whole = open
                .clone()
                .find(|one| one.strip_suffix("_token") == Some(name));
            let meant = whole.or_else(|| misspelt(name, open));
            (!STANDARD_TOKENS.contains(&name)).then(|| Unread {
                what: format!("the special token `{name}`"),
                meant: meant.map(problem::meant),
            })
        };
        let variable = |name: &str| Unread {
            what: format!("the variable `{name}`"),
            meant: did_you_mean(name, read()),
        };
        let is_unread = |name: &&&str| !self.0.contains(**name);
        let tokens = tokens.iter().map(|name| Some(name).filter(is_unread));
        let variables = variables.iter().map(|name| Some(name).filter(is_unread));
        let tokens = tokens.map(|name| token(name?));
        let variables = variables.map(|name| name.map(|name| variable(name)));
        tokens.chain(variables).take(MOST).collect()
    }
}

/// Which special tokens and variables of one place none of some templates reads: see
/// [`ReadNames::unread`]. Empty if nobody can say.
pub fn unread<'t>(
    templates: impl IntoIterator<Item = &'t Template>,
    tokens: &[&str],
    variables: &[&str],
) -> Vec<Option<Unread>> {
    // To compile templates takes time.
    if variables.is_empty() && tokens.iter().all(|name| STANDARD_TOKENS.contains(name)) {
        return Vec::new();
    }
    let read = ReadNames::of(templates);
    read.map_or_else(Vec::new, |read| read.unread(tokens, variables))
}

/// The special tokens that a template reads and nothing sets, of those that every tokenizer can have.
pub fn unset_tokens(template: &Template) -> Vec<&'static str> {
    let open = STANDARD_TOKENS
        .into_iter()
        .filter(|name| template.source.contains(name))
        .filter(|name| !template.special_tokens.contains_key(*name));
    let mut open: Vec<&str> = open.collect();
    // A comment is no reader, and a template may set a name itself.
    if let Some(ReadNames(read)) = ReadNames::of((!open.is_empty()).then_some(template)) {
        open.retain(|name| read.contains(*name));
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(source: &str) -> Template {
        Template::from_source("t", Dialect::Jinja, source)
    }

    /// What is meant by the first of these tokens, which may be nothing. None if it needs no reader.
    #[allow(clippy::option_option)]
    fn meant(source: &str, tokens: &[&str]) -> Option<Option<String>> {
        let template = template(source);
        let read = ReadNames::of([&template]).unwrap();
        let unread = read.unread(tokens, &[]).swap_remove(0)?;
        Some(unread.meant)
    }

    #[test]
    fn a_token_that_is_nearly_another_is_misspelt() {
        let source = "{{ bos_token }}{{ messages }}";
        let question = |name: &str| Some(Some(format!("did you mean `{name}`?")));
        for name in ["bos_tokn", "bos_token_", "BOS_token", "bos", "böstoken"] {
            assert_eq!(meant(source, &[name]), question("bos_token"), "{name}");
        }
        // What is set was not meant, and every tokenizer can have an end.
        let set = ["eos_tokn", "bos_token"];
        assert_eq!(meant(source, &set), question("eos_token"));
        for name in ["image_token", "x", "", "終わり"] {
            assert_eq!(meant(source, &[name, "bos_token"]), Some(None), "{name}");
        }
        for name in ["bos_token", "eos_token", "messages"] {
            assert_eq!(meant(source, &[name]), None, "{name}");
        }
    }

    #[test]
    fn variables_are_told_from_tokens() {
        let read = ReadNames::of([&template("{{ enable_thinking }}")]).unwrap();
        let unread = read.unread(
            &["bos_token", "y"],
            &["enable_thinkin", "enable_thinking", "x"],
        );
        let words = |unread: &Option<Unread>| {
            let unread = unread.as_ref()?;
            Some((unread.what.clone(), unread.meant.is_some()))
        };
        let word = |what: &str, is_near| Some((what.to_owned(), is_near));
        let said: Vec<_> = unread.iter().map(words).collect();
        assert_eq!(
            said,
            [
                None,
                word("the special token `y`", false),
                word("the variable `enable_thinkin`", true),
                None,
                word("the variable `x`", false),
            ]
        );
    }

    #[test]
    fn what_no_template_can_tell_is_not_told() {
        assert!(ReadNames::of([]).is_none());
        assert!(ReadNames::of([&template("{% if")]).is_none());
        let go = Template::from_source("t", Dialect::Go, "{{ .Prompt }}");
        assert!(ReadNames::of([&go]).is_none());
    }

    #[test]
    fn a_token_is_unset_only_if_the_template_reads_it() {
        let unset = |source: &str| unset_tokens(&template(source));
        assert_eq!(unset("{{ bos_token }}"), ["bos_token"]);
        assert_eq!(unset("{% if x %}{{ eos_token }}{% endif %}"), ["eos_token"]);
        for source in [
            "",
            "bos_token {# eos_token #}",
            "{% set bos_token = 'é' %}{{ bos_token }}",
            "{{ messages[0].bos_token }}",
        ] {
            assert_eq!(unset(source), [""; 0], "{source}");
        }
        let set = template("{{ bos_token }}").with_special_token("bos_token", "");
        assert_eq!(unset_tokens(&set), [""; 0]);
    }
}
