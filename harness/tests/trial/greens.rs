//! Ways to be green by accident: each of them is not.

use super::Line::{self, Delete, Edit, File, Run};
use super::{GOOD, Seen, says};

const TEMPLATE: Line = File("mine.jinja", GOOD);
const OTHER: Line = File("other.jinja", GOOD);

const SUITE: Line = File(
    "rolecall.toml",
    "[templates]\nmine = \"mine.jinja\"\nother = \"other.jinja\"\n\n[cases]\nbuiltin = [\"plain\"]\n\
     own = [\"cases\"]\n",
);

const CASES: Line = File(
    "cases/own.json",
    r#"{"about": "Ours.", "cases": {
        "one": {"about": "One.", "messages": [{"role": "user", "content": "one"}]},
        "two": {"about": "Two.", "messages": [{"role": "user", "content": "two"}]}}}"#,
);

const ACCEPT: Line = Run(&["accept", "-q"], says(0, &[]));
const PASSES: Line = Run(&["run"], says(0, &["rolecall.toml: "]));

/// A run that fails, and does not pass for the suite.
const FAILS: Line = Run(
    &["run"],
    Seen {
        code: 1,
        has: &["rolecall.toml: "],
        has_not: &["the built-in suite"],
    },
);

/// A run that does not even start.
const REFUSED: Line = Run(
    &["run"],
    Seen {
        code: 2,
        has: &["error: "],
        has_not: &["agree (100 %)"],
    },
);

/// An engine that answers every question with the same prompt.
const ENGINE: Line = File(
    "engine.sh",
    r#"while read -r line; do
  id=${line%%,\"template*} id=${id##*\"id\":}
  case $line in
    *'"request":"start"'*) echo '{"rolecall": 1, "engine": "parrot", "version": "1", "dialect": "jinja"}' ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"request":"stop"'*) exit 0 ;;
    *) echo "{\"id\": $id, \"outcome\": \"rendered\", \"text\": \"hello\"}" ;;
  esac
done
"#,
);

pub(super) const GREENS: &[(&str, &[Line])] = &[
    (
        "a misspelt rolecall.toml",
        &[
            TEMPLATE,
            File("rolecal.toml", "[templates]\nmine = \"mine.jinja\"\n"),
            Run(
                &["run"],
                says(2, &["should the name of rolecal.toml be rolecall.toml?"]),
            ),
            Run(&["lint"], says(2, &["rolecal.toml"])),
            Run(&["check"], says(2, &["rolecal.toml"])),
            Run(&["accept"], says(2, &["rolecal.toml"])),
            Run(&["run", "--builtin"], says(0, &["the built-in suite: "])),
        ],
    ),
    (
        "a model without a rolecall.toml",
        &[
            File("chat_template.jinja", GOOD),
            File("tokenizer_config.json", "{}"),
            Run(
                &["run"],
                says(2, &["this folder has a model, but there is no rolecall.toml"]),
            ),
            Run(&["lint"], says(2, &["rolecall init"])),
            Run(
                &["check"],
                Seen {
                    has_not: &["37 templates"],
                    ..says(0, &["this folder is checked", "1 template in "])
                },
            ),
        ],
    ),
    (
        "a project without a rolecall.toml",
        &[
            File("pyproject.toml", ""),
            File("below/x.py", ""),
            REFUSED,
            Run(&["lint"], says(2, &["pyproject.toml"])),
            Run(&["check"], says(2, &["rolecall check PATH"])),
            Run(&["reference", "verify"], says(2, &["pyproject.toml"])),
        ],
    ),
    (
        "a folder of nobody's",
        &[
            Run(&["run", "chatml"], says(0, &["the built-in suite: "])),
            Run(&["lint"], says(0, &["the built-in suite: "])),
            Run(
                &["list", "templates"],
                says(0, &["suite: the built-in suite"]),
            ),
        ],
    ),
    (
        "a rolecall.toml that is a folder",
        &[TEMPLATE, File("rolecall.toml/x", ""), REFUSED],
    ),
    (
        "an empty rolecall.toml",
        &[TEMPLATE, File("rolecall.toml", ""), REFUSED],
    ),
    (
        "a rolecall.toml without a template",
        &[TEMPLATE, File("rolecall.toml", "[templates]\n"), REFUSED],
    ),
    (
        "half a rolecall.toml",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            PASSES,
            Edit("rolecall.toml", "other = \"other.jinja\"\n", ""),
            FAILS,
        ],
    ),
    (
        "a template that is gone",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Delete("other.jinja"),
            Run(&["run"], says(2, &["other.jinja: no such file or folder"])),
        ],
    ),
    (
        "an empty template",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            File("mine.jinja", ""),
            FAILS,
        ],
    ),
    (
        "a case file that is gone",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Delete("cases"),
            Run(&["run"], says(2, &["no such file or folder: cases"])),
            File("cases/other.json", r#"{"about": "x", "cases": {}}"#),
            Run(&["run"], says(2, &["`cases` is empty"])),
            File(
                "cases/other.json",
                r#"{"about": "x", "cases": {"a": {"about": "A.", "messages": []}}}"#,
            ),
            FAILS,
        ],
    ),
    (
        "a case that is gone",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Edit(
                "cases/own.json",
                "\"two\": {\"about\": \"Two.\", \"messages\": [{\"role\": \"user\", \"content\": \"two\"}]}}",
                "}",
            ),
            Edit("cases/own.json", "]},\n", "]}"),
            FAILS,
        ],
    ),
    (
        "a family that is gone",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Edit("rolecall.toml", "[\"plain\"]", "[]"),
            FAILS,
        ],
    ),
    (
        "snapshots that are gone",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Delete("snapshots/mine"),
            FAILS,
        ],
    ),
    (
        "another folder of snapshots",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Edit(
                "rolecall.toml",
                "[templates]",
                "snapshots = \"snapshot\"\n[templates]",
            ),
            FAILS,
        ],
    ),
    (
        "a mistyped rule for contracts",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Edit(
                "rolecall.toml",
                "[templates]",
                "contracts = \"error\"\n[templates]",
            ),
            Run(&["run"], says(2, &["did you mean `errors`?"])),
        ],
    ),
    (
        "an engine that says anything, where nobody recorded anything",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            ENGINE,
            Run(
                &["run", "--engine", "sh engine.sh"],
                says(1, &["0 of 24 agree (0.00 %) with the accepted snapshots"]),
            ),
        ],
    ),
    (
        "an engine that is asked for what nobody accepted",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ENGINE,
            Run(&["run", "--engine", "sh engine.sh"], says(1, &["new"])),
        ],
    ),
    (
        "a part of a saved run",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Run(
                &["render", "mine", "--format", "jsonl", "-o", "saved.jsonl"],
                says(0, &[]),
            ),
            Run(
                &["run", "--results", "saved.jsonl"],
                says(1, &["12 not asked"]),
            ),
            File("empty.jsonl", ""),
            Run(
                &["run", "--results", "empty.jsonl"],
                says(2, &["contains no outcomes"]),
            ),
        ],
    ),
    (
        "a filter of two, of which one matches nothing",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Run(
                &["run", "mine", "othre"],
                says(2, &["did you mean `other`?"]),
            ),
        ],
    ),
    (
        "a contract that does not exist",
        &[
            TEMPLATE,
            Run(
                &["check", "mine.jinja", "--select", "rolse-stand"],
                says(2, &["roles-stand"]),
            ),
        ],
    ),
    (
        "case files that nobody reads",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            File("cases/Other.JSON", "{}"),
            Run(
                &["run"],
                says(2, &["cases/Other.JSON: nobody reads this file"]),
            ),
            Run(&["lint"], says(2, &["cases/Other.JSON"])),
            Delete("cases/Other.JSON"),
            File("cases/sub/deep.json", "{}"),
            Run(&["run"], says(2, &["cases/sub/deep.json: nobody reads"])),
            Edit("rolecall.toml", "[\"cases\"]", "[\"cases\", \"cases/sub\"]"),
            File(
                "cases/sub/deep.json",
                r#"{"about": "Deep.", "cases": {"a": {"about": "A.", "messages": []}}}"#,
            ),
            Run(&["run"], says(1, &["new"])),
            Delete("cases/sub"),
            SUITE,
            File("cases/more.jsonl", ""),
            Run(&["lint"], says(2, &["cases/more.jsonl"])),
        ],
    ),
    (
        "a folder of templates that gets more of them",
        &[
            File("t/good.jinja", GOOD),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nt = \"t\"\n[cases]\nbuiltin = [\"plain\"]\n",
            ),
            ACCEPT,
            PASSES,
            File("t/b.jinja2", "b"),
            FAILS,
            Delete("t/b.jinja2"),
            File("t/sub/c.JINJA", "c"),
            FAILS,
            Run(&["check", "t"], says(1, &["2 templates in "])),
            Run(&["check", "t/sub/c.JINJA"], says(1, &["1 template in "])),
        ],
    ),
    (
        "a workflow of a suite that is gone",
        &[
            File(".github/workflows/rolecall.yml", ""),
            Run(&["run"], says(2, &["rolecall.yml"])),
            Run(&["run", "--builtin"], says(0, &["the built-in suite"])),
        ],
    ),
    (
        "a suite that lost its rolecall.toml, and its templates are below",
        &[
            File("model/chat_template.jinja", GOOD),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmodel = \"model/chat_template.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
            ),
            ACCEPT,
            Delete("rolecall.toml"),
            REFUSED,
            Run(
                &["lint"],
                says(2, &["here is a part of a suite (snapshots)"]),
            ),
            Run(&["check"], says(2, &["--builtin"])),
            Run(&["parity"], says(2, &["--builtin"])),
            Run(&["reference", "verify"], says(2, &["--builtin"])),
            Delete("snapshots"),
            Run(
                &["run"],
                says(2, &["this folder is not empty, it has `model`"]),
            ),
        ],
    ),
    (
        "the folder above suites",
        &[
            File("one/rolecall.toml", "[templates]\n"),
            REFUSED,
            Run(&["lint"], says(2, &["it has `one`"])),
        ],
    ),
    (
        "a saved run of an older template, case, setting or program",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Run(
                &["run", "--format", "jsonl", "-o", "saved.jsonl"],
                says(0, &[]),
            ),
            Run(&["run", "--results", "saved.jsonl"], says(0, &[])),
            Edit("mine.jinja", "im_end", "im_stop"),
            Run(
                &["run", "--results", "saved.jsonl"],
                says(2, &["the template has changed since the run was saved"]),
            ),
            TEMPLATE,
            Edit(
                "cases/own.json",
                "\"content\": \"two\"",
                "\"content\": \"2\"",
            ),
            Run(
                &["run", "--results", "saved.jsonl"],
                says(2, &["with `own/two`: the case has changed since"]),
            ),
            CASES,
            Edit(
                "rolecall.toml",
                "mine = \"mine.jinja\"",
                "mine = { source = \"mine.jinja\", special_tokens = { bos_token = \"<s>\" } }",
            ),
            Run(
                &["run", "--results", "saved.jsonl"],
                says(2, &["special tokens or variables have changed"]),
            ),
            SUITE,
            Edit("saved.jsonl", "\"sha256\":", "\"sha1\":"),
            Run(
                &["run", "--results", "saved.jsonl"],
                says(2, &["nothing says of which version"]),
            ),
        ],
    ),
    (
        "what nobody uses in a suite",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Run(&["lint"], says(0, &[])),
            File(
                "cases/tools/mine.json",
                r#"{"type": "function", "function": {}}"#,
            ),
            Run(
                &["lint"],
                says(1, &["cases/tools/mine.json: no case names this tool"]),
            ),
            Delete("cases/tools"),
            File("tools/mine.json", r#"{"type": "function", "function": {}}"#),
            File("tools/other.json", r#"{"mine": true}"#),
            Run(
                &["lint"],
                says(1, &["1 finding", "tools/mine.json: no case"]),
            ),
            Delete("tools"),
            File("snapshots/divergences.jsn", "[]"),
            Run(
                &["lint"],
                says(
                    1,
                    &[
                        "divergences.jsn: nobody reads",
                        "did you mean `divergences.json`?",
                    ],
                ),
            ),
            Delete("snapshots/divergences.jsn"),
            File("snapshots/mine/Reference.json", "{}"),
            Run(&["lint", "-q"], says(1, &["rolecall.toml: 1 finding"])),
        ],
    ),
];
