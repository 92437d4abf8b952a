//! Ways to be green by accident: each of them is not.

use super::Line::{self, Delete, Edit, File, Run};
use super::{GOOD, Seen, says};

pub(super) const TEMPLATE: Line = File("mine.jinja", GOOD);
pub(super) const OTHER: Line = File("other.jinja", GOOD);

pub(super) const SUITE: Line = File(
    "rolecall.toml",
    "[templates]\nmine = \"mine.jinja\"\nother = \"other.jinja\"\n\n[cases]\nbuiltin = [\"plain/single-turn\", \"plain/multi-turn\"]\n\
     own = [\"cases\"]\n",
);

pub(super) const CASES: Line = File(
    "cases/own.json",
    r#"{"about": "Ours.", "cases": {
        "one": {"about": "One.", "messages": [{"role": "user", "content": "one"}]},
        "two": {"about": "Two.", "messages": [{"role": "user", "content": "two"}]}}}"#,
);

pub(super) const ACCEPT: Line = Run(&["accept", "-q"], says(0, &[]));
pub(super) const PASSES: Line = Run(&["run"], says(0, &["rolecall.toml: "]));

/// A run that fails, and does not pass for the suite.
pub(super) const FAILS: Line = Run(
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
            Run(
                &["run", "--builtin", "chatml"],
                says(0, &["the built-in suite: "]),
            ),
        ],
    ),
    (
        "a model without a rolecall.toml",
        &[
            File("chat_template.jinja", GOOD),
            File("tokenizer_config.json", "{}"),
            Run(
                &["run"],
                says(
                    2,
                    &["this folder has a model, but there is no rolecall.toml"],
                ),
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
            Edit(
                "rolecall.toml",
                "[\"plain/single-turn\", \"plain/multi-turn\"]",
                "[]",
            ),
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
            Delete("snapshots/own.snap"),
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
                says(1, &["0 of 8 agree (0.00 %) with the accepted snapshots"]),
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
                says(1, &["4 not asked"]),
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
            Run(&["reference", "verify"], says(2, &["--builtin"])),
            Delete("snapshots"),
            Run(
                &["run"],
                says(2, &["this folder is not empty, it has `model`"]),
            ),
        ],
    ),
    (
        "a workflow of a suite that is gone",
        &[
            File(".github/workflows/rolecall.yml", ""),
            Run(&["run"], says(2, &["rolecall.yml"])),
            Run(
                &["run", "--builtin", "chatml"],
                says(0, &["the built-in suite"]),
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
        "a folder with somebody's files",
        &[
            File("Makefile", "all:\n"),
            REFUSED,
            Run(&["run", "chatml"], says(2, &["it has `Makefile`"])),
            Run(
                &["run", "--engine", "rolecall-jinja", "chatml"],
                says(0, &["the built-in suite"]),
            ),
            Run(
                &["run", "-q", "--builtin", "chatml"],
                says(0, &["the built-in suite: ", "agree (100 %)"]),
            ),
        ],
    ),
    (
        "parts of a run, of which a template is gone",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Edit("rolecall.toml", "other = \"other.jinja\"\n", ""),
            Run(
                &[
                    "run", "--shard", "1/2", "--format", "jsonl", "-o", "1.jsonl",
                ],
                says(0, &["looked at when `run --results`"]),
            ),
            Run(
                &[
                    "run", "--shard", "2/2", "--format", "jsonl", "-o", "2.jsonl",
                ],
                says(0, &[]),
            ),
            Run(
                &["run", "--shard", "2/2", "-q"],
                says(0, &["rolecall.toml, part 2/2: "]),
            ),
            Run(
                &["run", "--results", "1.jsonl", "--results", "2.jsonl"],
                says(1, &["an orphan", "Failed: "]),
            ),
        ],
    ),
    (
        "a part without a pair",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            Run(
                &["run", "mine:own/one", "--shard", "1/2"],
                says(2, &["part 1/2 is empty: there is only 1 pair"]),
            ),
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
        "a template that is not as its base",
        &[
            TEMPLATE,
            File("own.jinja", GOOD),
            Edit("own.jinja", "im_end", "im_stop"),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nown = { source = \"own.jinja\", base = \"mine.jinja\" }\n[cases]\nbuiltin = [\"plain\"]\n",
            ),
            ACCEPT,
            Run(
                &["run"],
                says(
                    1,
                    &[
                        "own compared with its base",
                        "Failed: 1 template not as the base",
                    ],
                ),
            ),
            Run(
                &["run", "-q"],
                says(1, &["rolecall.toml: Failed: 1 template not as the base"]),
            ),
            Run(
                &["run", "--format", "junit"],
                says(
                    1,
                    &["type=\"base\"", "own differs from its base mine.jinja"],
                ),
            ),
            Run(
                &["run", "--format", "sarif"],
                says(1, &["\"ruleId\": \"base\""]),
            ),
            Run(
                &["run", "--format", "github"],
                says(1, &["title=base::own differs"]),
            ),
            Run(
                &["run", "--format", "markdown"],
                says(1, &["own differs from its base"]),
            ),
            Run(&["check", "-q"], says(1, &["difference from a base"])),
            Run(&["check", "--format", "junit"], says(1, &["type=\"base\""])),
            Run(
                &["check", "--format", "sarif"],
                says(1, &["\"ruleId\": \"base\""]),
            ),
            Run(
                &["check", "--format", "github"],
                says(1, &["::error file=own.jinja"]),
            ),
            Edit(
                "rolecall.toml",
                "base = \"mine.jinja\"",
                "base = \"mine.jinja\", differs = { \"*\" = \"Another token.\" }",
            ),
            PASSES,
            Edit("own.jinja", "im_stop", "im_end"),
            ACCEPT,
            Run(&["run"], says(1, &["`*` in `differs` is no difference"])),
        ],
    ),
    (
        "a base that is not there, or is the template itself",
        &[
            TEMPLATE,
            File(
                "rolecall.toml",
                "[templates]\nmine = { source = \"mine.jinja\", base = \"nosuch\" }\n",
            ),
            Run(
                &["run"],
                says(2, &["`base`: no such file or folder: nosuch"]),
            ),
            Run(&["lint"], says(2, &["nosuch"])),
            Run(&["check"], says(2, &["nosuch"])),
            Edit("rolecall.toml", "nosuch", "empty"),
            File("empty/nothing.txt", ""),
            Run(
                &["run"],
                says(
                    2,
                    &["the base of `mine`: empty: the folder holds no template"],
                ),
            ),
            Run(
                &["check", "--format", "junit"],
                says(2, &["rolecall.toml:2:", "failures=\"1\""]),
            ),
            Edit("rolecall.toml", "\"empty\"", "\"./mine.jinja\""),
            Run(&["run"], says(2, &["`base` is the template itself"])),
            Run(&["lint"], says(2, &["`base` is the template itself"])),
            Run(
                &["check", "mine.jinja", "--like", "mine.jinja"],
                says(2, &["is the template itself"]),
            ),
        ],
    ),
    (
        "reasons that are none, and reasons for nothing",
        &[
            TEMPLATE,
            File(
                "rolecall.toml",
                "[templates]\nmine = { source = \"mine.jinja\", broken = { no-tools-alike = \" \" } }\n[cases]\nbuiltin = [\"plain\"]\n",
            ),
            Run(
                &["run"],
                says(2, &["the reason for `no-tools-alike` is not filled in"]),
            ),
            Edit(
                "rolecall.toml",
                "no-tools-alike = \" \"",
                "one-boss = \"So.\"",
            ),
            Run(&["run"], says(2, &["did you mean `one-bos`?"])),
            Run(&["lint"], says(2, &["one-boss"])),
            Run(&["check"], says(2, &["one-boss"])),
            Edit("rolecall.toml", "one-boss", "text-verbatim"),
            ACCEPT,
            Run(
                &["run"],
                says(
                    1,
                    &[
                        "rolecall.toml:2:",
                        "reason for `text-verbatim`, which `mine` keeps",
                    ],
                ),
            ),
            Run(&["lint"], says(1, &["`text-verbatim`, which `mine` keeps"])),
            Run(
                &["check"],
                says(2, &["`text-verbatim`, which `mine` keeps"]),
            ),
        ],
    ),
    (
        "a template that cannot be read, in every format",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            Edit(
                "rolecall.toml",
                "[templates]",
                "contracts = \"off\"\n[templates]",
            ),
            File("mine.jinja", "a\n{% if"),
            ACCEPT,
            Run(
                &["run"],
                says(1, &["Failed: 1 template that cannot be read"]),
            ),
            Run(
                &["run", "--format", "junit"],
                says(1, &["failures=\"1\"", "mine.jinja:2:"]),
            ),
            Run(
                &["run", "--format", "sarif"],
                says(1, &["\"ruleId\": \"syntax\""]),
            ),
            Run(
                &["run", "--format", "github"],
                says(1, &["::error file=mine.jinja,line=2"]),
            ),
            Run(
                &["run", "--format", "markdown"],
                says(1, &["**Failed: 1 template that cannot be read.**"]),
            ),
        ],
    ),
    (
        "a template that always fails, in every format",
        &[
            File("mine.jinja", "{{ nothing.at.all }}"),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = \"mine.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
            ),
            ACCEPT,
            Run(&["run"], says(1, &["Failed: no pair gave a prompt"])),
            Run(&["run", "--format", "junit"], says(1, &["failures=\"1\""])),
            Run(
                &["run", "--format", "sarif"],
                says(1, &["\"ruleId\": \"no prompt\""]),
            ),
            Run(
                &["run", "--format", "github"],
                says(1, &["title=no prompt::none of 10"]),
            ),
        ],
    ),
    (
        "a path that is wrong, in every format",
        &[
            TEMPLATE,
            Run(
                &["check", "nosuch", "mine.jinja", "-q"],
                says(2, &["0 warnings, 1 problem with a file"]),
            ),
            Run(
                &["check", "nosuch", "mine.jinja", "--format", "junit"],
                says(2, &["failures=\"1\""]),
            ),
            Run(
                &["check", "nosuch", "mine.jinja", "--format", "github"],
                says(2, &["::error file=nosuch,title=file::no such file"]),
            ),
            Run(
                &["check", "nosuch", "mine.jinja", "--format", "sarif"],
                says(2, &["\"ruleId\": \"file\""]),
            ),
        ],
    ),
    (
        "a tokenizer that is damaged",
        &[
            File("model/chat_template.jinja", GOOD),
            File("model/tokenizer_config.json", "{}"),
            File("model/tokenizer.json", "{\"model\": "),
            File(
                "rolecall.toml",
                "[templates]\nmodel = \"model\"\n[cases]\nbuiltin = [\"plain\"]\n",
            ),
            Run(&["run"], says(2, &["model/tokenizer.json"])),
            Run(&["lint"], says(2, &["model/tokenizer.json"])),
            Run(&["check"], says(2, &["model/tokenizer.json"])),
            Run(&["accept"], says(2, &["model/tokenizer.json"])),
            Run(
                &["run", "--format", "junit"],
                says(2, &["model/tokenizer.json:1:"]),
            ),
        ],
    ),
    (
        "a baseline of another template of the same name",
        &[
            File("a/llama.jinja", "{{ messages[-1].content }}"),
            Run(
                &["check", "a/llama.jinja", "--write-baseline", "known.json"],
                says(0, &[]),
            ),
            Run(
                &["check", "a/llama.jinja", "--baseline", "known.json", "-q"],
                says(0, &["0 errors"]),
            ),
            File("b/llama.jinja", "{{ messages[-1].content }} "),
            Run(
                &["check", "b/llama.jinja", "--baseline", "known.json"],
                says(
                    1,
                    &["knows a template named llama, but another one: that of a/llama.jinja"],
                ),
            ),
            Run(
                &[
                    "check",
                    "a/llama.jinja",
                    "b/llama.jinja",
                    "--baseline",
                    "known.json",
                    "-q",
                ],
                says(1, &["2 templates", "known"]),
            ),
        ],
    ),
    (
        "contracts that leave nothing to judge",
        &[
            TEMPLATE,
            Run(
                &[
                    "check",
                    "mine.jinja",
                    "--select",
                    "one-bos",
                    "--ignore",
                    "one-bos",
                ],
                says(2, &["leave no contract to judge by"]),
            ),
            Run(
                &["check", "mine.jinja", "--select", "turn-end-stops"],
                says(0, &["`turn-end-stops` judges nothing here: "]),
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
            File("snapshots/Reference.json", "{}"),
            Run(&["lint", "-q"], says(1, &["rolecall.toml: 1 finding"])),
        ],
    ),
    (
        "quiet commands end with a verdict",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            Run(
                &["run", "-q"],
                says(
                    1,
                    &["rolecall.toml: Failed: 8 pairs new, 2 report cards not as accepted"],
                ),
            ),
            Run(
                &["accept", "-q"],
                says(
                    0,
                    &["accepted 8 snapshots and 2 report cards; 0 of 8 confirmed by transf"],
                ),
            ),
            Run(&["run", "-q"], says(0, &["rolecall.toml: unverified: "])),
            Run(
                &["check", "-q"],
                says(0, &["rolecall.toml: 2 templates in "]),
            ),
            Delete("snapshots/own.snap"),
            Edit("rolecall.toml", "other = \"other.jinja\"\n", ""),
            Run(&["run", "-q"], says(1, &["rolecall.toml: Failed: "])),
        ],
    ),
];
