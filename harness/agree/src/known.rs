//! Differences that are known and stay, each with its reason.

use regex::Regex;
use rolecall_model::{Dialect, Outcome};

use crate::examination::Difference;
use crate::tokens::{Kind, tokens_of};

/// Differences for one reason. Each pattern that is there has to match.
struct Row {
    dialect: Dialect,
    reason: &'static str,
    /// Matches the smallest template.
    template: &'static str,
    /// Matches what the reference says.
    expected: &'static str,
    /// Matches what the engine says.
    found: &'static str,
}

/// A row that looks at the template only.
const fn template(dialect: Dialect, template: &'static str, reason: &'static str) -> Row {
    Row {
        dialect,
        reason,
        template,
        expected: "",
        found: "",
    }
}

const CONSTANTS: &str = "Jinja2 evaluates constants when it compiles a template, and some errors \
                         in them come then, or not at all";

const RANDOM: &str = "what it gives is random";

const LARGE: &str = "integers beyond 128 bits are written, and not calculated with";

const NO_DIGITS: &str = "Jinja2 writes a constant that it calculated as the name `inf` or `nan`, \
                         which Python does not know; here that is known of numbers as they are \
                         written only";

const ADDRESS: &str = "an address in memory is another one every time";

/// Matches what [`is_set_after_use`] has to say yes to.
const SET_AFTER: &str = r"(for|macro|call|with|filter) .*\{%-?\s*set |set [^=%]*%\}";

const ROWS: &[Row] = &[
    template(
        Dialect::Jinja,
        r"\.\s*(encode|to_bytes|from_bytes)\b",
        "there are no bytes",
    ),
    template(Dialect::Jinja, r"lipsum", RANDOM),
    // Where there is more than one item, any of them; of a dictionary, the value of any index.
    Row {
        dialect: Dialect::Jinja,
        reason: RANDOM,
        template: r"\brandom\b",
        expected: "^(rendered|raised|failed: KeyError)",
        found: "^(rendered|raised|failed: invalid operation: there is no key)",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: "what a filter block makes that is no text fails here at once, and in Jinja2 \
                 where it is put together with the text around it",
        template: r"\b(filter|call)\b",
        expected: "^raised",
        found: "expected a text, found",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: "the variable `self` is no table of characters, though it could be asked for \
                 items",
        template: r"translate\(\s*self",
        expected: "^rendered",
        found: "has no items",
    },
    template(
        Dialect::Jinja,
        r"\\N\{|isnumeric|&[A-Za-z]+",
        "Unicode's names of characters and its list of letters that are numbers are not known, \
         and of HTML's named characters only some",
    ),
    template(
        Dialect::Jinja,
        r"(?s)block\b.*endblock",
        "a block sees all variables around it: minijinja has no scope that it could be kept from",
    ),
    template(
        Dialect::Jinja,
        r"loop\.(cycle|changed)\s*([^\s(]|$)",
        "a method of `loop` is only known where it is called",
    ),
    template(
        Dialect::Jinja,
        r"\b(loop|self)\s*=|\b(set|macro)\b[^%]*\b(loop|self)\b[^%]*%\}.*\b(loop|self)\b",
        "Jinja2 makes no `loop` and no `self` where the first thing of this name is assigned to or \
         a parameter",
    ),
    template(
        Dialect::Jinja,
        r"\bloop\s*\||\bin\s+loop\b",
        "what is left of a loop cannot be taken from `loop`",
    ),
    template(
        Dialect::Jinja,
        r"recursive.*else",
        "minijinja runs the `else` of a loop that calls itself for the outermost call only",
    ),
    Row {
        dialect: Dialect::Jinja,
        reason: "minijinja counts the loops around a loop that calls itself, too, if they do so",
        template: r"(?s)recursive.*(recursive.*\bdepth|'depth0?')",
        expected: r"^rendered: .*[01]",
        found: r"^rendered: .*[1-9]",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: LARGE,
        template: "",
        expected: "",
        found: "128 bits|cannot convert number to i64|cannot convert this float to an integer",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: LARGE,
        template: r"int\b",
        expected: r"\d{39}",
        found: "",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: "what is nested too deeply fails here, and exceeds Python's recursion",
        template: "",
        expected: "^exceeded: recursion",
        found: "maximum recursion depth",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: CONSTANTS,
        template: "",
        expected: "^failed: TypeError: unhashable type: '(dict|list|slice)'",
        found: "",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: CONSTANTS,
        template: "",
        expected: "^failed: ValueError: Exceeds the limit",
        found: "",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: CONSTANTS,
        template: "",
        expected: "",
        found: "keyword argument repeated|cannot be sliced",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: CONSTANTS,
        template: r"(or|and|if)\b",
        expected: "",
        found: "No (filter|test) named",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: CONSTANTS,
        template: r"(or|and|if)\b",
        expected: "^rendered",
        found: "slice indices must be integers",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: "a variable that a template sets after a loop or a macro, or by a block, is \
                 undefined within it for Jinja2, even where the template is given one of this \
                 name",
        template: SET_AFTER,
        expected: "",
        found: "",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: "Jinja2 does not see the variables in the filters of a set block, and fails when \
                 it compiles, if nothing else there names them",
        template: r"set [^%]*\|",
        expected: "^failed: AssertionError: Tried to resolve a name",
        found: "",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: "the views of a dictionary cannot be calculated with, for there are no sets",
        template: r"keys|items",
        expected: r"set\(|\{",
        found: "not supported",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: "the views of a dictionary can be keys here",
        template: "",
        expected: "^failed: TypeError: unhashable type: 'dict_",
        found: "",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: NO_DIGITS,
        template: "",
        expected: "^failed: NameError: name '(inf|nan)'",
        found: "",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: NO_DIGITS,
        template: r"(or|and|if)\b|\[[^\]]*:",
        expected: "^rendered",
        found: "^failed: .*name '(inf|nan)' is not defined",
    },
    template(
        Dialect::Jinja,
        r"autoescape [a-z]",
        "whether a constant is escaped is decided by Jinja2 before it knows what switches \
         escaping on",
    ),
    template(
        Dialect::Jinja,
        r"strftime_now",
        "a width is only known of numbers, and Python's is that of the C library",
    ),
    template(
        Dialect::Jinja,
        r"\\u[dD][89a-fA-F]",
        "half of a pair of surrogates is no character, and no prompt can have it",
    ),
    template(Dialect::Jinja, r"\d{20,}", LARGE),
    Row {
        dialect: Dialect::Jinja,
        reason: ADDRESS,
        template: r"(dict|joiner|cycler|range|namespace|macro|map|select|reject|slice|batch|items|unique|reverse).*(length|reverse|urlencode|wordcount|wordwrap|center|truncate)|\bset\b[^%]*\|\s*(length|count)",
        expected: "^rendered",
        found: "^rendered",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: "a namespace is written without its attributes whose names are no texts",
        template: "namespace",
        expected: "Namespace",
        found: "Namespace",
    },
    Row {
        dialect: Dialect::Jinja,
        reason: ADDRESS,
        template: r"joiner|cycler|range|dict|namespace|self|caller|macro|\||\.",
        expected: r"^rendered: (?s).*\b(object|function|at|0x)\b",
        found: r"^rendered: (?s).*<",
    },
    // Character by character.
    Row {
        dialect: Dialect::Jinja,
        reason: ADDRESS,
        template: r"\bfor\b[^%]*~[^%]*\|\s*(map|select|reject|slice|batch|items|unique|reverse)",
        expected: "^rendered",
        found: "^rendered",
    },
    // In the words of an exception, where it may be escaped.
    Row {
        dialect: Dialect::Jinja,
        reason: ADDRESS,
        template: "raise_exception",
        expected: r"^raised: (?s).*\bat 0x[0-9a-f]{6,}",
        found: r"^raised: (?s).*(<|&lt;)",
    },
    // As a list of its characters.
    Row {
        dialect: Dialect::Jinja,
        reason: ADDRESS,
        template: r"\|\s*(list|batch|slice|reverse|sort|unique)\b",
        expected: r"^rendered: (?s).*'0', 'x', '[0-9a-f]'",
        found: r"^rendered: (?s).*('<'|'l', 't', ';')",
    },
    // `pprint` puts keys in the order of their addresses that have no other.
    Row {
        dialect: Dialect::Jinja,
        reason: ADDRESS,
        template: r"\(.*\|\s*pprint\b",
        expected: r"^rendered: (?s).*\{\(",
        found: r"^rendered: (?s).*\{\(",
    },
    template(
        Dialect::Go,
        r"\d[0-9_.]*i\b",
        "gotmpl's parser knows no complex numbers",
    ),
    template(
        Dialect::Go,
        r"-\s*(9223372036854775808|0x8000000000000000)\b",
        "gotmpl's parser does not know the smallest integer",
    ),
    template(
        Dialect::Go,
        r"\\(x[89a-fA-F]|[23][0-7][0-7])",
        "gotmpl's parser takes `\\xff` in a text for a character, Go for a byte",
    ),
    template(
        Dialect::Go,
        r"%[-+# 0]*#[^a-zA-Z]*v",
        "of what `%#v` writes only texts and numbers are written as in Go's source",
    ),
    template(Dialect::Go, r"%[^a-zA-Z%]*p", ADDRESS),
    template(
        Dialect::Go,
        r"%[^a-zA-Z%]*w",
        "`%w` is complained about for each part of a map or a list, and not once",
    ),
    template(
        Dialect::Go,
        r"slice \(slice",
        "a slice of a slice cannot reach what is behind the first, as in Go",
    ),
    // Its length, and its bytes.
    Row {
        dialect: Dialect::Go,
        reason: ADDRESS,
        template: r"\b(print|printf|println|html|js|urlquery)\b.*\b(len|slice)\b|\b(len|slice)\b.*\b(print|printf|println|html|js|urlquery)\b",
        expected: r"^rendered",
        found: r"^rendered",
    },
    Row {
        dialect: Dialect::Go,
        reason: ADDRESS,
        template: r"%[^a-zA-Z]*[xX]",
        expected: r"^rendered",
        found: r"^rendered: (?s).*3\s*0\s*7\s*8\s*6\s*3(\s*3\s*0)+",
    },
    Row {
        dialect: Dialect::Go,
        reason: "what is inside of Ollama's map of properties is only written in `json`",
        template: "",
        expected: "ToolPropertiesMap",
        found: "",
    },
    Row {
        dialect: Dialect::Go,
        reason: ADDRESS,
        template: "",
        expected: r"0x[0-9a-f]{8,}|[0-9a-fA-F]{10,}",
        found: "0xc000000000",
    },
];

/// What is known of the differences of a dialect.
pub(crate) struct Known {
    rows: Vec<(usize, [Regex; 3])>,
}

impl Known {
    /// The rows of a dialect.
    pub(crate) fn of(dialect: Dialect) -> Result<Known, regex::Error> {
        let rows = ROWS
            .iter()
            .enumerate()
            .filter(|(_, row)| row.dialect == dialect);
        let compiled = rows.map(|(number, row)| {
            Ok((
                number,
                [
                    Regex::new(row.template)?,
                    Regex::new(row.expected)?,
                    Regex::new(row.found)?,
                ],
            ))
        });
        Ok(Known {
            rows: compiled.collect::<Result<_, regex::Error>>()?,
        })
    }

    /// The reason for a difference in a small template, if it is known.
    pub(crate) fn reason(&self, source: &str, difference: &Difference) -> Option<&'static str> {
        let texts = [
            source.to_owned(),
            line(&difference.expected),
            line(&difference.found),
        ];
        let mut rows = self.rows.iter();
        let (number, _) = rows.find(|(number, patterns)| {
            patterns
                .iter()
                .zip(&texts)
                .all(|(pattern, text)| pattern.is_match(text))
                && (ROWS[*number].template != SET_AFTER || is_set_after_use(source))
        })?;
        Some(ROWS[*number].reason)
    }

    /// All reasons.
    pub(crate) fn reasons(&self) -> Vec<&'static str> {
        let mut reasons: Vec<_> = self
            .rows
            .iter()
            .map(|(number, _)| ROWS[*number].reason)
            .collect();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}

/// Whether a template uses a name within a block and sets it afterwards, or sets it by a block
/// that uses it.
fn is_set_after_use(source: &str) -> bool {
    let tokens: Vec<String> = tokens_of(source, Dialect::Jinja)
        .into_iter()
        .filter(|token| token.kind != Kind::Space)
        .map(|token| token.text)
        .collect();
    let opens = |word: &str| {
        matches!(
            word,
            "for" | "macro" | "call" | "with" | "filter" | "set" | "block"
        )
    };
    let Some(first) = tokens.iter().position(|word| opens(word)) else {
        return false;
    };
    // What is between `set` and the end of its target.
    let mut targets = tokens.iter().enumerate().filter(|(at, word)| {
        let is_set = tokens[..*at].iter().rev().take(4).any(|word| word == "set");
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        is_set && is_name && *word != "set"
    });
    targets.any(|(at, name)| {
        let is_block = tokens
            .get(at + 1)
            .is_some_and(|word| word != "=" && word != ",");
        let after = tokens[at + 1..].iter().take_while(|word| *word != "endset");
        tokens[first..at].contains(name) || is_block && after.into_iter().any(|word| word == name)
    })
}

/// An outcome's kind and words.
fn line(outcome: &Outcome) -> String {
    format!("{}: {}", outcome.kind(), outcome.text())
}
