//! The suite's templates use every construct that real templates use.
//!
//! An engine can only be tested on what the templates ask of it. The table lists the
//! constructs by name, each with a pattern over a template's tokens or its source; a
//! construct that no template of the suite uses fails.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use regex::Regex;
use rolecall::suite::{Layout, Suite};
use rolecall_model::Dialect;

/// Patterns over the tokens of a template, written one after the other with a space
/// between: strings in single quotes, whatever quotes the template uses.
const TOKENS: &[(&str, &str)] = &[
    (
        "namespace with several attributes",
        r"namespace \( \w+ = [^)]*, \w+ =",
    ),
    ("assignment to a namespace", r"<% set \w+ \. \w+ ="),
    ("macro", r"<% macro \w+ \("),
    ("macro with a default", r"<% macro \w+ \( [^%]*\w+ = "),
    (
        "call with a keyword argument",
        r"<[{%] [^%}]*\b[a-z_]+ \( [^)]*\b\w+ = ",
    ),
    ("generation block", r"<% generation %>"),
    ("break", r"<% break %>"),
    ("continue", r"<% continue %>"),
    ("strftime_now", r"strftime_now \( '[^']*%"),
    ("tojson", r"\| tojson"),
    ("tojson with indent", r"\| tojson \( [^)]*indent = "),
    (
        "tojson with ensure_ascii",
        r"\| tojson \( [^)]*ensure_ascii = ",
    ),
    ("tojson with sort_keys", r"\| tojson \( [^)]*sort_keys = "),
    ("tojson with separators", r"\| tojson \( [^)]*separators = "),
    ("str.strip", r"\. strip \("),
    ("str.lstrip", r"\. lstrip \("),
    ("str.rstrip", r"\. rstrip \("),
    ("str.split", r"\. split \("),
    ("str.startswith", r"\. startswith \("),
    ("str.endswith", r"\. endswith \("),
    ("str.upper", r"\. upper \("),
    ("str.lower", r"\. lower \("),
    ("str.title", r"\. title \("),
    ("str.replace", r"\. replace \("),
    ("str.find", r"\. find \("),
    ("str.join", r"' \. join \("),
    ("dict.items", r"\. items \("),
    ("dict.get", r"\. get \("),
    ("dict.keys", r"\. keys \("),
    ("dict.values", r"\. values \("),
    ("slice from", r"\[ \d+ : \]"),
    ("slice to the last", r"\[ : - 1 \]"),
    ("reversed slice", r"\[ : : - 1 \]"),
    (
        "slice with a negative step and a bound",
        r"\[ (: \d+|\S+ : \S*) : - 1 \]",
    ),
    ("last item", r"\[ - 1 \]"),
    ("index with a dot", r"\. \d+ \."),
    ("selectattr", r"\| selectattr \("),
    ("rejectattr", r"\| rejectattr \("),
    ("select", r"\| select \("),
    ("reject", r"\| reject \("),
    ("map with an attribute", r"\| map \( attribute ="),
    ("map with a filter", r"\| map \( '"),
    ("list", r"\| list"),
    ("join", r"\| join"),
    ("length", r"\| length"),
    ("first", r"\| first"),
    ("last", r"\| last"),
    ("unique", r"\| unique"),
    ("sort", r"\| sort"),
    ("dictsort", r"\| dictsort"),
    ("reverse", r"\| reverse"),
    ("items", r"\| items"),
    ("default", r"\| default \("),
    (
        "default with a boolean",
        r"\| default \( [^)]*(, true|boolean = true)",
    ),
    ("trim", r"\| trim"),
    ("indent", r"\| indent"),
    ("safe", r"\| safe"),
    ("string", r"\| string"),
    ("int", r"\| int"),
    ("float", r"\| float"),
    ("round", r"\| round"),
    ("abs", r"\| abs"),
    ("set block", r"<% set \w+ (\| [^%]*)?%>"),
    ("set block with a filter", r"<% set \w+ \| \w+"),
    ("filter block", r"<% filter \w+"),
    ("call block", r"<% call [^%]*%>"),
    ("caller", r"\bcaller \("),
    ("loop.first", r"loop \. first"),
    ("loop.last", r"loop \. last"),
    ("loop.index", r"loop \. index "),
    ("loop.index0", r"loop \. index0"),
    ("loop.length", r"loop \. length"),
    ("loop.revindex", r"loop \. revindex"),
    ("loop.cycle", r"loop \. cycle \("),
    ("loop.previtem", r"loop \. previtem"),
    ("loop.nextitem", r"loop \. nextitem"),
    ("recursive loop", r"<% for [^%]* recursive %>"),
    ("loop with a filter", r"<% for [^%]* in [^%]* if [^%]*%>"),
    ("loop with else", r"<% for .*<% else %>.*<% endfor %>"),
    ("unpacking in a loop", r"<% for \w+ , \w+ in"),
    ("unpacking in set", r"<% set \w+ , \w+ ="),
    (
        "inline if without else",
        r"<\{ [^{}]* if (?:[^{}e]|e[^l]|el[^s]|els[^e])*\}>",
    ),
    (
        "inline if with else",
        r"<\{ [^{}]* if [^{}]* else [^{}]*\}>",
    ),
    ("is string", r"\bis string"),
    ("is mapping", r"\bis mapping"),
    ("is iterable", r"\bis (not )?iterable"),
    ("is sequence", r"\bis (not )?sequence"),
    ("is number", r"\bis (not )?number"),
    ("is integer", r"\bis (not )?integer"),
    ("is boolean", r"\bis (not )?boolean"),
    ("is none", r"\bis (not )?none"),
    ("is defined", r"\bis (not )?defined"),
    ("is undefined", r"\bis (not )?undefined"),
    ("is true", r"\bis (not )?true"),
    ("is false", r"\bis (not )?false"),
    ("is in", r"\bis (not )?in\b"),
    ("is odd or even", r"\bis (not )?(odd|even)"),
    ("is divisibleby", r"\bis (not )?divisibleby"),
    ("concatenation with a tilde", r" ~ "),
    ("concatenation with a plus", r"' \+ "),
    ("arithmetic", r"\w+ [-*/%] \d+"),
    ("in", r"\w+ in \["),
    ("not in", r"\bnot in\b"),
    ("raise_exception", r"raise_exception \("),
];

/// Patterns over the source itself, for what leaves no token.
const SOURCE: &[(&str, &str)] = &[
    ("raw block", r"\{%-?\s*raw\s*-?%\}"),
    (
        "generation block with whitespace control",
        r"\{%-\s*generation\s*-%\}",
    ),
    ("lstrip_blocks switched off", r"\{%\+"),
    ("statement with whitespace control", r"\{%-[^%]*-%\}"),
    ("expression with whitespace control", r"\{\{-[^}]*-\}\}"),
    ("comment", r"\{#[^-]"),
    ("comment with whitespace control", r"\{#-(?s:.)*?-#\}"),
    (
        "string over several lines",
        r#"\{\{-?\s*['"][^'"{}]*\n[^'"{}]*['"]"#,
    ),
    ("source with CRLF line endings", r"\r\n"),
    ("source without a final newline", r"[^\n]\z"),
];

fn tokens(source: &str) -> String {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("these settings are valid");
    let mut words = Vec::new();
    for token in tokenize(source, false, syntax) {
        let (token, _) = token.expect("every template of the suite can be read");
        words.push(match token {
            Token::TemplateData(_) => continue,
            Token::VariableStart => "<{".to_owned(),
            Token::VariableEnd => "}>".to_owned(),
            Token::BlockStart => "<%".to_owned(),
            Token::BlockEnd => "%>".to_owned(),
            Token::Ident(name) => name.to_owned(),
            Token::Str(text) => format!("'{text}'"),
            Token::String(text) => format!("'{text}'"),
            Token::Int(number) => number.to_string(),
            // `.0.` after a name is read as a number.
            Token::Float(number) => number.to_string(),
            other => other.to_string().trim_matches('`').to_owned(),
        });
    }
    words.join(" ")
}

#[test]
fn every_construct_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let suite = Suite::load_layout(&Layout::new(root));
    let sources: Vec<&str> = suite
        .templates
        .iter()
        .filter(|template| template.dialect == Dialect::Jinja)
        .map(|template| template.source.as_str())
        .collect();
    let token_texts: Vec<String> = sources.iter().map(|source| tokens(source)).collect();
    let mut missing = Vec::new();
    let all = TOKENS.iter().map(|row| (row, true));
    for ((name, pattern), over_tokens) in all.chain(SOURCE.iter().map(|row| (row, false))) {
        let pattern = Regex::new(pattern).expect("the table's patterns are valid");
        let used = if over_tokens {
            token_texts.iter().any(|text| pattern.is_match(text))
        } else {
            sources.iter().any(|source| pattern.is_match(source))
        };
        if !used {
            missing.push(*name);
        }
        // A pattern that matches plain text would find its construct anywhere.
        let plain = "Hello <{ name }>, how are you?";
        assert!(
            !pattern.is_match(plain) || *name == "source without a final newline",
            "{name}"
        );
    }
    assert!(
        missing.is_empty(),
        "no template of the suite uses: {}",
        missing.join(", ")
    );
}
