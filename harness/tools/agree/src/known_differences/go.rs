//! Known differences between gotmpl with Ollama's semantics and Go.

use crate::known_differences::known_difference::{ADDRESS, KnownDifference, template};

pub(super) const ROWS: &[KnownDifference] = &[
    template(r"\d[0-9_.]*i\b", "gotmpl's parser knows no complex numbers"),
    template(
        r"-\s*(9223372036854775808|0x8000000000000000)\b",
        "gotmpl's parser does not know the smallest integer",
    ),
    template(
        r"\\(x[89a-fA-F]|[23][0-7][0-7])",
        "gotmpl's parser takes `\\xff` in a text for a character, Go for a byte",
    ),
    template(
        r"%[-+# 0]*#[^a-zA-Z]*v",
        "of what `%#v` writes only texts and numbers are written as in Go's source",
    ),
    template(r"%[^a-zA-Z%]*p", ADDRESS),
    template(
        r"%[^a-zA-Z%]*w",
        "`%w` is complained about for each part of a map or a list, and not once",
    ),
    template(
        r"slice \(slice",
        "a slice of a slice cannot reach beyond the first, as in Go",
    ),
    KnownDifference {
        reason: "gotmpl's parser knows no assignment in the pipeline after a template's name",
        template: r#"template\s*("[^"]*"|`[^`]*`)\s*\$\w*\s*="#,
        expected: "",
        found: r#"^failed: unexpected ":?=" in operand"#,
    },
    // Its length, and its bytes.
    KnownDifference {
        reason: ADDRESS,
        template: r"\b(print|printf|println|html|js|urlquery)\b.*\b(len|slice)\b|\b(len|slice)\b.*\b(print|printf|println|html|js|urlquery)\b",
        expected: r"^rendered",
        found: r"^rendered",
    },
    KnownDifference {
        reason: ADDRESS,
        template: r"\bindex\b.*\bprint",
        expected: r"^rendered",
        found: r"index out of range",
    },
    KnownDifference {
        reason: ADDRESS,
        template: r"%[^a-zA-Z]*[xX]",
        expected: r"^rendered",
        found: r"^rendered: (?s).*3\s*0\s*7\s*8\s*6\s*3(\s*3\s*0)+",
    },
    template(
        r"[+-]\.[a-zA-Z]",
        "gotmpl's parser takes a point after a sign for a field",
    ),
    // As text, or in hexadecimal digits.
    KnownDifference {
        reason: "the reference is a program, whose own package Go names `main`; Ollama's is `template`",
        template: r"%",
        expected: r"main\.|6d61696e2e",
        found: r"template\.|74656d706c6174652e",
    },
    KnownDifference {
        reason: "what is inside of Ollama's map of properties is only written in `json`",
        template: "",
        expected: "ToolPropertiesMap",
        found: "",
    },
    KnownDifference {
        reason: ADDRESS,
        template: "",
        expected: r"0x[0-9a-f]{8,}|[0-9a-fA-F]{10,}",
        found: "0xc000000000",
    },
];
