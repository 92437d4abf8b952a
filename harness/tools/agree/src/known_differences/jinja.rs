//! Known differences between minijinja with Python's semantics and Jinja2.

use crate::known_differences::known_difference::{ADDRESS, KnownDifference, template};

const CONSTANTS: &str = "Jinja2 evaluates constants when it compiles a template, and some errors \
                         in them come then, or not at all";

const RANDOM: &str = "what it gives is random";

const LARGE: &str = "integers beyond 128 bits are written, and not calculated with";

const NO_DIGITS: &str = "Jinja2 writes a constant that it calculated as the name `inf` or `nan`, \
                         which Python does not know; here that is known of numbers as they are \
                         written only";

/// Matches templates that need a further check: whether they set a name after they use it.
pub(super) const SET_AFTER: &str =
    r"(for|macro|call|with|filter|generation)\b.*\{%-?\s*set |set [^=%]*%\}";

pub(super) const ROWS: &[KnownDifference] = &[
    template(r"\.\s*(encode|to_bytes|from_bytes)\b", "there are no bytes"),
    template(r"lipsum", RANDOM),
    template(
        r"\d\s*is sameas\b",
        "whether equal numbers are one object depends on CPython",
    ),
    // If there is more than one item, Jinja2 takes any of them. From a dictionary it takes the
    // value at any index.
    KnownDifference {
        reason: RANDOM,
        template: r"\brandom\b",
        expected: "^(rendered|raised|failed: KeyError)",
        found: "^(rendered|raised|failed: invalid operation: there is no key)",
    },
    KnownDifference {
        reason: "what a filter block makes that is no text fails here at once, and in Jinja2 \
                 where it is put together with the text around it",
        template: r"\b(filter|call)\b",
        expected: "^raised",
        found: "expected a text, found",
    },
    KnownDifference {
        reason: "the variable `self` is no table of characters, though it could be asked for \
                 items",
        template: r"translate\(\s*self",
        expected: "^rendered",
        found: "has no items",
    },
    template(
        r"\\N\{|&[A-Za-z]+",
        "Unicode's names of characters are not known, and of HTML's named characters only some",
    ),
    template(
        r"[\u{FB00}-\u{FB06}\u{FF21}-\u{FF5A}]\w*",
        "names are compared as they are written; Python folds some letters of a name (NFKC)",
    ),
    template(
        r"(?s)block\b.*endblock",
        "a block sees all variables around it: minijinja has no scope that it could be kept from",
    ),
    template(
        r"loop\s*\.\s*(cycle|changed)\s*([^\s(]|$)",
        "a method of `loop` is only known where it is called",
    ),
    template(
        r"\b(loop|self)\s*=|\b(set|macro)\b[^%]*\b(loop|self)\b[^%]*%\}.*\b(loop|self)\b",
        "Jinja2 makes no `loop` and no `self` where the first thing of this name is assigned to or \
         a parameter",
    ),
    template(
        r"\bloop\s*\||\bin\s+loop\b",
        "what is left of a loop cannot be taken from `loop`",
    ),
    template(
        r"(?s)recursive.*else",
        "minijinja runs the `else` of a loop that calls itself for the outermost call only",
    ),
    KnownDifference {
        reason: "minijinja counts the loops around a loop that calls itself, too, if they do so",
        template: r"(?s)recursive.*(recursive.*\bdepth|'depth0?')",
        expected: r"^rendered: .*[01]",
        found: r"^rendered: .*[1-9]",
    },
    KnownDifference {
        reason: LARGE,
        template: "",
        expected: "",
        found: "128 bits|cannot convert number to i64|cannot convert this float to an integer|no number has no size",
    },
    KnownDifference {
        reason: "what is nested too deeply fails here, and exceeds Python's recursion",
        template: "",
        expected: "^exceeded: recursion",
        found: "maximum recursion depth",
    },
    KnownDifference {
        reason: CONSTANTS,
        template: "",
        expected: "^failed: TypeError: unhashable type: '(dict|list|slice)'",
        found: "",
    },
    KnownDifference {
        reason: CONSTANTS,
        template: "",
        expected: "^failed: ValueError: Exceeds the limit",
        found: "",
    },
    KnownDifference {
        reason: CONSTANTS,
        template: "",
        expected: "",
        found: "keyword argument repeated|cannot be sliced",
    },
    // A slice in a tuple that is a key, where the constant around it has an error of its own.
    KnownDifference {
        reason: CONSTANTS,
        template: r"\[[^\]]*(:[^\]]*,|,[^\]]*:)",
        expected: "^failed: SyntaxError: invalid syntax",
        found: "^failed",
    },
    KnownDifference {
        reason: CONSTANTS,
        template: r"(or|and|if)\b",
        expected: "",
        found: "No (filter|test) named",
    },
    KnownDifference {
        reason: CONSTANTS,
        template: r"(or|and|if)\b",
        expected: "^rendered",
        found: "slice indices must be integers",
    },
    KnownDifference {
        reason: "a variable that a template sets after a loop or a macro, or by a block, is \
                 undefined within it for Jinja2, even where the template is given one of this \
                 name",
        template: SET_AFTER,
        expected: "",
        found: "",
    },
    KnownDifference {
        reason: "Jinja2 does not see the variables in the filters of a set block, and fails when \
                 it compiles, if nothing else there names them",
        template: r"set [^%]*\|",
        expected: "^failed: AssertionError: Tried to resolve a name",
        found: "",
    },
    KnownDifference {
        reason: "the views of a dictionary cannot be calculated with, for there are no sets",
        template: r"keys|items",
        expected: r"set\(|\{",
        found: "not supported",
    },
    KnownDifference {
        reason: "the views of a dictionary can be keys here",
        template: "",
        expected: "^failed: TypeError: unhashable type: 'dict_",
        found: "",
    },
    KnownDifference {
        reason: NO_DIGITS,
        template: "",
        expected: "^failed: NameError: name '(inf|nan)'",
        found: "",
    },
    KnownDifference {
        reason: NO_DIGITS,
        template: r"(or|and|if)\b|\[[^\]]*:",
        expected: "^rendered",
        found: "^failed: .*name '(inf|nan)' is not defined",
    },
    template(
        r"autoescape [a-z]",
        "whether a constant is escaped is decided by Jinja2 before it knows what switches \
         escaping on",
    ),
    template(
        r"strftime_now",
        "a width is only known of numbers, and Python's is that of the C library",
    ),
    template(
        r"\\u[dD][89a-fA-F]",
        "half of a pair of surrogates is no character, and no prompt can have it",
    ),
    template(r"\d{20,}", LARGE),
    KnownDifference {
        reason: ADDRESS,
        template: r"(dict|joiner|cycler|range|namespace|macro|map|select|reject|slice|batch|items|unique|reverse).*(length|reverse|urlencode|wordcount|wordwrap|center|truncate)|filter\s+reverse|\[\s*-?\d*\s*:\s*-?\d*\s*:|\bset\b[^%]*\|\s*(length|count|reverse)",
        expected: "^rendered",
        found: "^rendered",
    },
    KnownDifference {
        reason: "a namespace is written without its attributes whose names are no texts",
        template: "namespace",
        expected: "Namespace",
        found: "Namespace",
    },
    KnownDifference {
        reason: ADDRESS,
        template: r"joiner|cycler|range|dict|namespace|self|caller|macro|\||\.",
        expected: r"^rendered: (?s).*\b(object|function|at|0x)\b",
        found: r"^rendered: (?s).*<",
    },
    // Character by character.
    KnownDifference {
        reason: ADDRESS,
        template: r"\bfor\b[^%]*(~|pprint)[^%]*\|\s*(map|select|reject|slice|batch|items|unique|reverse)|\bfor\b[^%]*\|\s*(map|select|reject|slice|batch|items|unique|reverse)\b[^%]*pprint",
        expected: "^rendered",
        found: "^rendered",
    },
    // In the words of an exception, perhaps escaped.
    KnownDifference {
        reason: ADDRESS,
        template: "raise_exception",
        expected: r"^raised: (?s).*\bat 0x[0-9a-f]{6,}",
        found: r"^raised: (?s).*(<|&lt;)",
    },
    // As part of a URL.
    KnownDifference {
        reason: ADDRESS,
        template: "urlencode",
        expected: r"^rendered: (?s).*%20at%200x[0-9a-f]{6,}",
        found: r"^rendered: (?s).*%3C",
    },
    // As a list of its characters.
    KnownDifference {
        reason: ADDRESS,
        template: r"\|\s*(list|batch|slice|reverse|sort|unique)\b",
        expected: r"^rendered: (?s).*'0', 'x', '[0-9a-f]'",
        found: r"^rendered: (?s).*('<'|'l', 't', ';')",
    },
    // `pprint` sorts keys without an order by their addresses.
    KnownDifference {
        reason: ADDRESS,
        template: r"\(.*\|\s*pprint\b",
        expected: r"^rendered: (?s).*\{\(",
        found: r"^rendered: (?s).*\{\(",
    },
];
