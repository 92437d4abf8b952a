//! Ways to be green without a reason: nothing was compared, nothing was asked, something died.

use super::Line::{self, Delete, Edit, File, Run};
use super::greens::{ACCEPT, CASES, OTHER, PASSES, SUITE, TEMPLATE};
use super::{Seen, says};

/// A template that fails for calls without a text.
const FAILS_OFTEN: Line = File(
    "calls.jinja",
    "{% for m in messages %}{{ m.role + ': ' + m.content }}\n{% endfor %}",
);

/// An engine that answers every question with the same prompt, and dies in every fifth.
const DIES: Line = File(
    "dies.sh",
    r#"count=0
while read -r line; do
  id=${line%%,\"template*} id=${id##*\"id\":}
  case $line in
    *'"request":"start"'*) echo '{"rolecall": 1, "engine": "flaky", "version": "1", "dialect": "jinja"}'; continue ;;
    *'"request":"stop"'*) exit 0 ;;
  esac
  count=$((count + 1))
  [ $count = 5 ] && { echo 'out of memory' >&2; exit 3; }
  case $line in
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *) echo "{\"id\": $id, \"outcome\": \"rendered\", \"text\": \"x\"}" ;;
  esac
done
"#,
);

/// An engine that starts and then answers nothing.
const DEAD: Line = File(
    "dead.sh",
    r#"read -r line
echo '{"rolecall": 1, "engine": "dead", "version": "1", "dialect": "jinja"}'
read -r line
exit 4
"#,
);

/// A template that always gives the same prompt, and cases for it.
const SAME: Line = File("t/same.jinja", "x");
const MANY: Line = File(
    "many.json",
    r#"{"about": "Many.", "cases": {
        "a": {"messages": [{"role": "user", "content": "a"}]},
        "b": {"messages": [{"role": "user", "content": "b"}]},
        "c": {"messages": [{"role": "user", "content": "c"}]},
        "d": {"messages": [{"role": "user", "content": "d"}]},
        "e": {"messages": [{"role": "user", "content": "e"}]},
        "f": {"messages": [{"role": "user", "content": "f"}]},
        "g": {"messages": [{"role": "user", "content": "g"}]},
        "h": {"messages": [{"role": "user", "content": "h"}]}}}"#,
);

const ASKS_DYING: &[&str] = &[
    "run",
    "--templates",
    "t",
    "--cases",
    "many.json",
    "--engine",
    "sh dies.sh",
    "--against",
    "rolecall-jinja",
    "--jobs",
    "1",
];

const DIED: &str =
    "flaky died in 2 requests, and answered only when it was asked again; the first time";

/// Conversations of a log. The second has a call without a text, the third line is broken.
const LOG: Line = File(
    "chats.jsonl",
    r#"{"messages": [{"role": "user", "content": "a"}]}
{"messages": [{"role": "user", "content": "b"}, {"role": "assistant", "content": null, "tool_calls": []}]}
{"messages": [{"role": "us
{"messages": [{"role": "user", "content": "d"}]}
"#,
);

/// What a run says of pairs that nothing was compared with.
const NOT_COMPARED: Seen = Seen {
    code: 0,
    has: &["compared: 2 pairs (1 rendered, 1 failed); nothing says what they should be"],
    has_not: &["Passed"],
};

const NAMED: &str = r#"{"about": "Calls.", "cases": {
        "call": {"messages": [{"role": "assistant", "tool_calls": []}]},
        "text": {"messages": [{"role": "user", "content": "x"}]}}}"#;

const REPOSITORY: &str = r#"{"about": "Own.", "cases": {
        "one": {"about": "One.", "messages": [{"role": "user", "content": "one"}]}}}"#;

pub(super) const UNEARNED: &[(&str, &[Line])] = &[
    (
        "a template from outside, in every format",
        &[
            FAILS_OFTEN,
            File("named.json", NAMED),
            Run(
                &["run", "--templates", "calls.jinja", "--cases", "named.json"],
                NOT_COMPARED,
            ),
            Run(
                &[
                    "run",
                    "-q",
                    "--templates",
                    "calls.jinja",
                    "--cases",
                    "named.json",
                ],
                NOT_COMPARED,
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    "calls.jinja",
                    "--cases",
                    "named.json",
                    "--format",
                    "markdown",
                ],
                NOT_COMPARED,
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    "calls.jinja",
                    "--cases",
                    "named.json",
                    "--format",
                    "github",
                ],
                Seen {
                    has: &[
                        "::warning title=rolecall run::Not compared: 2 pairs (1 rendered, 1 failed)",
                    ],
                    ..NOT_COMPARED
                },
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    "calls.jinja",
                    "--cases",
                    "named.json",
                    "--format",
                    "sarif",
                ],
                NOT_COMPARED,
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    "calls.jinja",
                    "--cases",
                    "named.json",
                    "--format",
                    "junit",
                ],
                Seen {
                    has: &[
                        "tests=\"2\" skipped=\"2\" failures=\"0\"",
                        "<skipped message=\"compared with nothing: failed: ",
                        "<skipped message=\"compared with nothing: rendered\"",
                    ],
                    ..NOT_COMPARED
                },
            ),
        ],
    ),
    (
        "the suite's own templates and cases, named by their files",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            PASSES,
            Run(
                &["run", "--templates", "."],
                Seen {
                    code: 0,
                    has: &["8 same"],
                    has_not: &["not compared"],
                },
            ),
            File("outside/third.jinja", "x"),
            Run(
                &[
                    "run",
                    "-q",
                    "--templates",
                    ".",
                    "--templates",
                    "outside/third.jinja",
                ],
                says(0, &["not compared: 4 of 12 pairs (4 rendered)"]),
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    ".",
                    "--templates",
                    "outside",
                    "--format",
                    "junit",
                ],
                says(0, &["tests=\"12\" skipped=\"4\" failures=\"0\""]),
            ),
            Edit("mine.jinja", "im_end", "im_stop"),
            Run(
                &["run", "--templates", "mine.jinja"],
                says(
                    1,
                    &["Failed: 4 pairs changed, 1 report card not as accepted"],
                ),
            ),
            Run(
                &["run", "--cases", "cases/own.json"],
                says(1, &["Failed: 2 pairs changed"]),
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    ".",
                    "--cases",
                    "cases",
                    "--format",
                    "junit",
                ],
                says(1, &["tests=\"6\" skipped=\"2\" failures=\"2\""]),
            ),
            // With other settings it is another template.
            Run(
                &[
                    "run",
                    "-q",
                    "--templates",
                    "mine.jinja",
                    "--variable",
                    "x=1",
                ],
                says(0, &["not compared: 4 pairs"]),
            ),
        ],
    ),
    (
        "an engine that dies and is asked again",
        &[
            SAME,
            MANY,
            DIES,
            Run(
                ASKS_DYING,
                says(
                    1,
                    &["Failed: flaky died in 2 requests", DIED, "out of memory"],
                ),
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    "t",
                    "--cases",
                    "many.json",
                    "--engine",
                    "sh dies.sh",
                    "--against",
                    "rolecall-jinja",
                    "--jobs",
                    "1",
                    "--format",
                    "junit",
                ],
                says(1, &["failures=\"1\"", "type=\"died\"", DIED]),
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    "t",
                    "--cases",
                    "many.json",
                    "--engine",
                    "sh dies.sh",
                    "--against",
                    "rolecall-jinja",
                    "--jobs",
                    "1",
                    "--format",
                    "markdown",
                ],
                says(1, &["**Failed: flaky died in 2 requests.**"]),
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    "t",
                    "--cases",
                    "many.json",
                    "--engine",
                    "sh dies.sh",
                    "--against",
                    "rolecall-jinja",
                    "--jobs",
                    "1",
                    "--format",
                    "github",
                ],
                says(1, &["::error title=died::flaky died in 2 requests"]),
            ),
            Run(
                &[
                    "run",
                    "--templates",
                    "t",
                    "--cases",
                    "many.json",
                    "--against",
                    "sh dies.sh",
                    "--jobs",
                    "1",
                ],
                says(1, &["8 of 8 agree (100 %)", DIED]),
            ),
            Run(
                &[
                    "render",
                    "--templates",
                    "t",
                    "--cases",
                    "many.json",
                    "--engine",
                    "sh dies.sh",
                    "--jobs",
                    "1",
                    "-q",
                ],
                says(1, &["8 pairs: 8 rendered", DIED]),
            ),
        ],
    ),
    (
        "an engine that is dead, and cases that never reach it",
        &[
            SAME,
            DEAD,
            File(
                "empty.json",
                r#"{"about": "Refused.", "cases": {"none": {"messages": []}}}"#,
            ),
            Run(
                &[
                    "run",
                    "--front",
                    "transformers",
                    "--templates",
                    "t",
                    "--cases",
                    "empty.json",
                    "--engine",
                    "sh dead.sh",
                    "--against",
                    "rolecall-jinja",
                ],
                says(
                    1,
                    &["Failed: dead answers nothing", "dead: it answers nothing: "],
                ),
            ),
        ],
    ),
    (
        "conversations of a log",
        &[
            FAILS_OFTEN,
            LOG,
            Run(
                &["render", "calls.jinja", "chats.jsonl"],
                says(
                    2,
                    &[
                        "chats.jsonl:3:",
                        "calls chats/4\nrendered",
                        "1 failed: line 1: ",
                        "such as calls chats/2",
                        "3 pairs: 2 rendered, 1 failed; 1 problem with the input",
                    ],
                ),
            ),
            Edit("chats.jsonl", "{\"messages\": [{\"role\": \"us\n", ""),
            Run(
                &["render", "calls.jinja", "chats.jsonl", "-q"],
                Seen {
                    code: 0,
                    has: &["chats.jsonl: 3 pairs: 2 rendered, 1 failed\n"],
                    has_not: &["chats/"],
                },
            ),
            Run(
                &["render", "calls.jinja", "chats.jsonl", "-q", "--fail"],
                says(1, &["2 rendered, 1 failed"]),
            ),
            Run(
                &[
                    "render",
                    "calls.jinja",
                    "chats.jsonl",
                    "--fail",
                    "--format",
                    "jsonl",
                ],
                says(1, &["3 pairs: 2 rendered, 1 failed"]),
            ),
        ],
    ),
    (
        "a template that rolecall.toml does not name",
        &[
            TEMPLATE,
            OTHER,
            SUITE,
            CASES,
            ACCEPT,
            File("third.jinja", "{{ broken"),
            Run(
                &["run"],
                says(
                    1,
                    &["third.jinja: rolecall.toml does not name this template"],
                ),
            ),
            Run(
                &["run", "--format", "junit"],
                says(1, &["third.jinja: rolecall.toml does not"]),
            ),
            Run(
                &["lint"],
                says(1, &["third.jinja: rolecall.toml does not name"]),
            ),
            Delete("third.jinja"),
            File("elsewhere/third.jinja", "{{ broken"),
            PASSES,
            Edit(
                "rolecall.toml",
                "mine = \"mine.jinja\"",
                "mine = { source = \"mine.jinja\", base = \"./base.jinja\" }",
            ),
            File("base.jinja", super::GOOD),
            PASSES,
        ],
    ),
    (
        "a variable that no template reads",
        &[
            File(
                "mine.jinja",
                "{% if enable_thinking %}{% endif %}{{ messages[-1].content }}",
            ),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = { source = \"mine.jinja\", variables = { enable_thinkng = true } }\n\
                 [cases]\nbuiltin = []\nown = [\"cases\"]\n",
            ),
            CASES,
            Run(
                &["accept"],
                says(
                    2,
                    &[
                        "rolecall.toml:3:48: `mine` does not read the variable `enable_thinkng`",
                        "did you mean `enable_thinking`?",
                    ],
                ),
            ),
            Run(&["run"], says(2, &["did you mean `enable_thinking`?"])),
            Run(&["lint"], says(2, &["did you mean `enable_thinking`?"])),
            Edit("rolecall.toml", "enable_thinkng", "enable_thinking"),
            ACCEPT,
            PASSES,
            Edit(
                "cases/own.json",
                "\"about\": \"One.\"",
                "\"about\": \"One.\", \"variables\": {\"enable_thinkin\": false}",
            ),
            ACCEPT,
            Run(
                &["run"],
                says(
                    1,
                    &["case `one`: no template reads the variable `enable_thinkin`"],
                ),
            ),
            // The settings of somebody's server may mean nothing to this template.
            Edit("cases/own.json", "enable_thinkin\"", "seed\""),
            ACCEPT,
            PASSES,
            Run(
                &["lint"],
                says(1, &["no template reads the variable `seed`"]),
            ),
        ],
    ),
    (
        "a special token that no template reads",
        &[
            File("mine.jinja", "{{ bos_token }}{{ messages[-1].content }}"),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = { source = \"mine.jinja\", special_tokens = { bos_tokn = \"é\" } }\n\
                 [cases]\nbuiltin = []\nown = [\"cases\"]\n",
            ),
            CASES,
            Run(
                &["accept"],
                says(
                    2,
                    &[
                        "rolecall.toml:3:53: `mine` does not read the special token `bos_tokn`",
                        "did you mean `bos_token`?",
                    ],
                ),
            ),
            Run(&["run"], says(2, &["did you mean `bos_token`?"])),
            Run(&["lint"], says(2, &["did you mean `bos_token`?"])),
            Run(&["check", "mine"], says(2, &["did you mean `bos_token`?"])),
            Run(
                &["check", "mine.jinja", "--special-token", "bos=<s>"],
                says(
                    2,
                    &["--special-token: no template reads the special token `bos`"],
                ),
            ),
            // Every tokenizer has an end, which a template need not read.
            Edit("rolecall.toml", "bos_tokn =", "eos_token ="),
            Run(
                &["accept"],
                says(
                    0,
                    &["the template names `bos_token`, but nothing here sets a value"],
                ),
            ),
            Run(
                &["run"],
                says(0, &["`special_tokens` in rolecall.toml does"]),
            ),
            Run(
                &["check", "mine"],
                Seen {
                    has_not: &["examined with"],
                    ..says(0, &["nothing here sets a value"])
                },
            ),
            Edit("rolecall.toml", "eos_token = \"é\"", "bos_token = \"\""),
            Run(
                &["run"],
                Seen {
                    has_not: &["nothing here sets a value"],
                    ..says(0, &[])
                },
            ),
            Edit("rolecall.toml", "bos_token =", "bos_token = \"\", seed ="),
            Run(
                &["lint"],
                says(1, &["`mine` does not read the special token `seed`"]),
            ),
            File("mine.json", "{\"special_tokens\": {\"EOS_token\": \"\"}}"),
            Run(
                &["check", "mine.jinja"],
                says(
                    2,
                    &["mine.json:1:21: the template does not read the special token `EOS_token`"],
                ),
            ),
        ],
    ),
    (
        "a role and a key that are misspelt",
        &[
            File("mine.jinja", super::GOOD),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = \"mine.jinja\"\n[cases]\nbuiltin = [\"bad-roles\"]\nown = [\"cases\"]\n",
            ),
            File(
                "cases/own.json",
                "{\"about\": \"Ours.\", \"cases\": {\"one\": {\"about\": \"One.\", \"messages\": [\n\
                 {\"role\": \"asistant\", \"contnt\": \"é\"},\n{\"role\": \"asistant\", \"content\": \"b\"}]}}}",
            ),
            Run(
                &["accept"],
                Seen {
                    has_not: &["own.json:3", "bad-roles.json"],
                    ..says(
                        0,
                        &[
                            "own.json:2:10: the role `asistant`: did you mean `assistant`?",
                            "own.json:2:22: the key `contnt`: did you mean `content`?",
                        ],
                    )
                },
            ),
            Run(&["run"], says(0, &["did you mean `assistant`?"])),
            Run(&["lint"], says(0, &["did you mean `assistant`?"])),
            Edit(
                "cases/own.json",
                "One.",
                "With contnt, and the role asistant.",
            ),
            ACCEPT,
            Run(
                &["run"],
                Seen {
                    has_not: &["did you mean"],
                    ..says(0, &[])
                },
            ),
        ],
    ),
    (
        "files that look like cases or templates",
        &[
            File("mine.jinja", super::GOOD),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = \"mine.jinja\"\n[cases]\nbuiltin = []\nown = [\"cases\"]\n",
            ),
            CASES,
            ACCEPT,
            File(
                "cases/more.yaml",
                "cases:\n  x:\n    messages: [{role: user}]\n",
            ),
            Run(
                &["run"],
                says(2, &["cases/more.yaml: nobody reads this file"]),
            ),
            Delete("cases/more.yaml"),
            File(
                "cases/README.md",
                "A case has `messages`, each with a `role`.",
            ),
            File("more.json", "{\"cases\": {\"é\": {\"messages\": []}}}"),
            Run(
                &["run"],
                says(2, &["more.json: nobody reads this case file"]),
            ),
            Run(
                &["lint"],
                says(2, &["more.json: nobody reads this case file"]),
            ),
            Delete("more.json"),
            File("x.tmpl", "{{ range .Messages }}{{ .Content }}{{ end }}"),
            Run(
                &["run"],
                says(1, &["x.tmpl: rolecall.toml does not name this template"]),
            ),
            Delete("x.tmpl"),
            File("notes.txt", "Nothing about messages."),
            File("a/x.jinja", super::GOOD),
            File("b/rolecall.toml", "[templates]\nx = \"x.jinja\"\n"),
            File("b/x.jinja", super::GOOD),
            Run(
                &["run"],
                Seen {
                    has_not: &["b/x.jinja"],
                    ..says(
                        0,
                        &[
                            "b/rolecall.toml: a suite of its own",
                            "does not name these templates, so nothing tests them: a/x.jinja",
                        ],
                    )
                },
            ),
        ],
    ),
    (
        "a template that can no longer be read",
        &[
            File("mine.jinja", super::GOOD),
            File("other.jinja", super::GOOD),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = \"mine.jinja\"\nother = \"other.jinja\"\n\
                 [cases]\nbuiltin = []\nown = [\"cases\"]\n",
            ),
            CASES,
            ACCEPT,
            File("mine.jinja", "é{% for m in messages %}"),
            Run(
                &["accept"],
                says(
                    1,
                    &["mine.jinja:1:", "2 pairs left: the template cannot be read"],
                ),
            ),
            Run(&["run"], says(1, &[])),
            Run(&["accept", "--also", "unreadable"], says(0, &["2 changed"])),
            // Without a reference that cannot read it either, it fails all the same.
            Run(&["run"], says(1, &["1 template that cannot be read"])),
            // It was accepted that it cannot be read.
            File("mine.jinja", "é{% for m in messages"),
            ACCEPT,
        ],
    ),
    (
        "a run of what failed",
        &[
            File(
                "mine.jinja",
                "{% if messages[0].content == 'one' %}a{% endif %}",
            ),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = \"mine.jinja\"\n[cases]\nbuiltin = []\nown = [\"cases\"]\n",
            ),
            CASES,
            ACCEPT,
            Edit("mine.jinja", "}a{", "}b{"),
            Run(&["run"], says(1, &[])),
            Edit("mine.jinja", "}b{", "}a{"),
            Run(
                &["run", "--last-failed"],
                says(0, &["rolecall.toml, without 1 pair that did not fail"]),
            ),
        ],
    ),
    (
        "coverage that is not reached",
        &[
            File(
                "mine.jinja",
                "{% if tools %}a{% endif %}{{ messages[-1].content }}",
            ),
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = \"mine.jinja\"\n[cases]\nbuiltin = []\nown = [\"cases\"]\n\
                 [coverage]\nat_least = 100\n",
            ),
            CASES,
            ACCEPT,
            Run(
                &["run"],
                says(
                    1,
                    &["the cases cover 66.66 % of its branches, and rolecall.toml demands 100 %"],
                ),
            ),
            Run(
                &["run", "--format", "junit"],
                says(1, &["rolecall.toml demands 100 %"]),
            ),
            Edit("rolecall.toml", "at_least = 100", "at_least = 50"),
            PASSES,
        ],
    ),
    (
        "a suite with the folders of this repository",
        &[
            File("cases/templates/a.jinja", super::GOOD),
            File("cases/templates/b.jinja", super::GOOD),
            File("cases/conversations/own.json", REPOSITORY),
            ACCEPT,
            Run(
                &["run"],
                Seen {
                    code: 1,
                    has: &["none of 2 pairs are verified"],
                    has_not: &["a problem with a file", "problems with files"],
                },
            ),
            Delete("snapshots/cards/a.snap"),
            Run(&["run"], says(1, &["snapshots/cards/a.snap: missing"])),
            File("cases/conversations/below/more.json", REPOSITORY),
            Run(
                &["run"],
                says(1, &["cases/conversations/below: nothing reads this"]),
            ),
        ],
    ),
    (
        "a model's folder with another template",
        &[
            File("chat_template.jinja", super::GOOD),
            File("tokenizer_config.json", "{}"),
            File("other.jinja", super::GOOD),
            Run(&["init"], says(0, &["2 templates", "ROLECALL_WHEEL"])),
            Run(
                &["check", "other.jinja", "-q"],
                says(0, &["1 template in "]),
            ),
            Run(
                &["check", "chat_template.jinja", "-q"],
                says(0, &["1 template in "]),
            ),
            File("third.jinja", super::GOOD),
            Run(
                &["check", "third.jinja", "-q"],
                says(0, &["1 template in "]),
            ),
            Run(
                &["render", "third.jinja", "chat.json", "-q"],
                says(2, &["chat.json"]),
            ),
        ],
    ),
];
