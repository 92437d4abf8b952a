//! Recipes: how the source of a Jinja template may be changed for a contract. They go by the look
//! of the source; whether a change is right, its proof says.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The most places of one recipe that are tried one by one.
const MOST_PLACES: usize = 12;

/// A name with the fields of it: `message`, `call.function`, `message['content']`.
const NAME: &str = r#"[A-Za-z_]\w*(?:\.\w+|\['\w+'\]|\["\w+"\])*"#;

/// A change for some contracts: what is looked for inside of tags, and what takes its place.
struct Recipe {
    contracts: &'static [&'static str],
    /// Which tags: `{{`, `{%`, or both.
    tags: &'static [&'static str],
    pattern: Regex,
    replacement: &'static str,
}

/// The recipes, in the order in which they are tried.
static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| {
    const BOTH: &[&str] = &["{{", "{%"];
    let field =
        |names: &str| format!(r#"{NAME}(?:\.(?:{names})|\['(?:{names})'\]|\["(?:{names})"\])"#);
    let arguments = field("arguments");
    let calls = field("tool_calls");
    let text = field("content|name|tool_call_id|id|description");
    let all: Vec<(&'static [&'static str], &'static [&'static str], String, &'static str)> = vec![
        // A guard that an empty list passes.
        (
            &["no-tools-alike"],
            &["{%"],
            r"\btools is defined and tools is not none\b".to_owned(),
            "tools",
        ),
        (
            &["no-tools-alike"],
            &["{%"],
            r"\b(?:tools is not none|tools is defined|tools != none|tools != None|tools is not None)\b"
                .to_owned(),
            "tools",
        ),
        (
            &["no-tools-alike"],
            &["{%"],
            r"\btools is none\b|\btools is undefined\b|\btools is not defined\b|\btools == none\b"
                .to_owned(),
            "not tools",
        ),
        (
            &["no-calls-alike", "no-null-leak"],
            &["{%"],
            format!(r"({calls}) is defined and {calls} is not none\b"),
            "$1",
        ),
        (
            &["no-calls-alike", "no-null-leak"],
            &["{%"],
            format!(r"({calls}) (?:is defined|is not none|is not None|!= none)\b"),
            "$1",
        ),
        (
            &["no-calls-alike", "no-null-leak"],
            &["{%"],
            r#"['"]tool_calls['"] in ([A-Za-z_]\w*)\b"#.to_owned(),
            "$1.tool_calls",
        ),
        // Arguments that are a text already.
        (
            &["arguments-encoded-once", "arguments-alike", "no-repr-leak"],
            BOTH,
            format!(r"({arguments})\s*\|\s*tojson(\([^()]*\))?"),
            "($1 if $1 is string else $1 | tojson$2)",
        ),
        (
            &["no-repr-leak", "arguments-alike"],
            &["{{"],
            format!(r"({arguments})(\s*$|\s*[-+~])"),
            "($1 if $1 is string else $1 | tojson)$2",
        ),
        // What Python prints.
        (
            &["no-repr-leak"],
            &["{{"],
            r"^(\s*)(tools|tool|function|schema)(\s*)$".to_owned(),
            "$1$2 | tojson$3",
        ),
        (
            &["no-repr-leak"],
            &["{{"],
            format!(r"^(\s*)({NAME}\.(?:parameters|function))(\s*)$"),
            "$1$2 | tojson$3",
        ),
        // A value that is null.
        (
            &["no-null-leak"],
            &["{{"],
            format!(r"^(\s*)({text})(\s*)$"),
            "$1$2 or ''$3",
        ),
        (
            &["no-null-leak"],
            &["{{"],
            format!(r"({text})(\s*(?:$|[-+~|]))"),
            "($1 or '')$2",
        ),
        (
            &["no-null-leak"],
            &["{%"],
            format!(r"(set \w+ = )({text})(\s*)$"),
            "$1$2 or ''$3",
        ),
        // Parts of a content in the place of a text.
        (
            &["text-part-is-text", "capabilities-work"],
            &["{{"],
            r#"\b([A-Za-z_]\w*)(\.content|\['content'\]|\["content"\])(\s*(?:$|[-+~|]))"#.to_owned(),
            "($1$2 | map(attribute='text') | join if $1$2 is iterable and $1$2 is not string and $1$2 and not $1$2 | rejectattr('type', 'equalto', 'text') | list else $1$2)$3",
        ),
    ];
    all.into_iter()
        .filter_map(|(contracts, tags, pattern, replacement)| {
            Some(Recipe {
                contracts,
                tags,
                pattern: Regex::new(&pattern).ok()?,
                replacement,
            })
        })
        .collect()
});

/// A tag of a template: its opening, what is in it, and its closing.
static TAG: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?s)(\{\{|\{%)([-+]?)(.*?)([-+]?)(\}\}|%\})").ok());

/// The sources that a contract's recipes make of one. First all places of a recipe together, then
/// each alone.
pub(super) fn candidates(contract: &str, source: &str) -> Vec<String> {
    let mut candidates: Vec<String> = Vec::new();
    let recipes = RECIPES
        .iter()
        .filter(|recipe| recipe.contracts.contains(&contract));
    for recipe in recipes {
        let places = replaced(recipe, source, None).1;
        if places == 0 {
            continue;
        }
        let mut add = |candidate: String| {
            if candidate != source && !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        };
        add(replaced(recipe, source, None).0);
        if places > 1 {
            for place in 0..places.min(MOST_PLACES) {
                add(replaced(recipe, source, Some(place)).0);
            }
        }
    }
    candidates
}

/// The source with the replacement at all places, or at one, and how many places there are.
fn replaced(recipe: &Recipe, source: &str, only: Option<usize>) -> (String, usize) {
    let Some(tag) = TAG.as_ref() else {
        return (source.to_owned(), 0);
    };
    let mut count = 0;
    let text = tag.replace_all(source, |tag: &Captures<'_>| {
        let (open, before, inside, after, close) = (&tag[1], &tag[2], &tag[3], &tag[4], &tag[5]);
        if !recipe.tags.contains(&open) {
            return tag[0].to_owned();
        }
        let inside = recipe.pattern.replace_all(inside, |found: &Captures<'_>| {
            let nth = count;
            count += 1;
            if only.is_some_and(|only| only != nth) {
                return found[0].to_owned();
            }
            let mut text = String::new();
            found.expand(recipe.replacement, &mut text);
            text
        });
        format!("{open}{before}{inside}{after}{close}")
    });
    (text.into_owned(), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_can_be_read() {
        assert_eq!(RECIPES.len(), 14);
    }

    #[test]
    fn only_what_is_in_tags_changes() {
        let source = "tools is not none {%- if tools is not none -%}x{% endif %}";
        let found = candidates("no-tools-alike", source);
        assert_eq!(found, ["tools is not none {%- if tools -%}x{% endif %}"]);
        assert_eq!(candidates("no-such-contract", source), Vec::<String>::new());
    }

    #[test]
    fn several_places_are_changed_together_and_one_by_one() {
        let source = "{{ m.content }}{{ n.content }}";
        let found = candidates("no-null-leak", source);
        assert_eq!(
            found[..3],
            [
                "{{ m.content or '' }}{{ n.content or '' }}",
                "{{ m.content or '' }}{{ n.content }}",
                "{{ m.content }}{{ n.content or '' }}",
            ]
        );
    }
}
