//! The sessions of a fine-tuner, an engine's developer and a maintainer. The names are their
//! problems.

use super::Line::{self, Edit, File, Run};
use super::{GOOD, Seen, says};

const SUITE: Line = File(
    "rolecall.toml",
    "contracts = \"errors\"\n[templates]\nmine = \"mine.jinja\"\n[cases]\nbuiltin = [\"plain/single-turn\", \"plain/multi-turn\"]\n",
);

const TEMPLATE: Line = File("mine.jinja", GOOD);

/// A template that loses the calls of tools, which is an error.
const LOSES_CALLS: Line = File(
    "mine.jinja",
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n\
     {{ m.content }}<|im_end|>\n{% endfor %}\
     {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
);

pub(super) const SESSIONS: &[(&str, &[Line])] = &[
    (
        "two templates of one name are distinguished by their folders",
        &[
            File("a/chat_template.jinja", GOOD),
            File("b/chat_template.jinja", GOOD),
            Run(
                &["check", "a/chat_template.jinja", "b/chat_template.jinja"],
                says(0, &["2 templates in "]),
            ),
        ],
    ),
    (
        "a model's template is read with the model's tokens",
        &[
            File("m/chat_template.jinja", GOOD),
            File("m/tokenizer_config.json", r#"{"bos_token": "<s>"}"#),
            Run(
                &["check", "m/chat_template.jinja"],
                Seen {
                    has_not: &["without the special tokens"],
                    ..says(0, &["1 template in "])
                },
            ),
        ],
    ),
    (
        "a mistyped path, name or filter has a suggestion",
        &[
            TEMPLATE,
            SUITE,
            Run(
                &["check", "mine.jinjaa"],
                says(2, &["did you mean `mine.jinja`?"]),
            ),
            Run(&["run", "mime"], says(2, &["did you mean `mine`?"])),
            Run(
                &["hf:Qwen/Qwen3-0.6B"],
                says(2, &["rolecall check hf:Qwen/Qwen3-0.6B"]),
            ),
        ],
    ),
    (
        "a mistyped folder, case file or conversation has a suggestion",
        &[
            File("model/chat_template.jinja", GOOD),
            File("model/tokenizer_config.json", "{}"),
            File("talk.json", r#"[{"role": "user", "content": "one"}]"#),
            Run(
                &["check", "mdoel/chat_template.jinja"],
                says(2, &["did you mean `model/chat_template.jinja`?"]),
            ),
            Run(
                &["run", "--templates", "model", "--cases", "tlak.json"],
                says(2, &["did you mean `talk.json`?"]),
            ),
            Run(
                &["render", "model", "tlak.json"],
                says(
                    2,
                    &[
                        "tlak.json: no such file or folder",
                        "did you mean `talk.json`?",
                    ],
                ),
            ),
            Run(
                &["diff", "model", "modl"],
                says(2, &["did you mean `model`?"]),
            ),
            Run(
                &["check", "model", "--special-token", "bos_token"],
                says(2, &["write it as 'bos_token=<s>'"]),
            ),
        ],
    ),
    (
        "one file spelt in two ways is one template",
        &[
            File("a/chat_template.jinja", GOOD),
            Run(
                &[
                    "check",
                    "a/chat_template.jinja",
                    "./a/chat_template.jinja",
                    "a/../a",
                ],
                Seen {
                    has_not: &["is already there"],
                    ..says(0, &["1 template in "])
                },
            ),
            File("a/chat_template.jinja", "{% if %}"),
            Run(
                &["check", "a/chat_template.jinja", "./a/chat_template.jinja"],
                says(1, &["1 template in "]),
            ),
        ],
    ),
    (
        "a token that rolecall.toml sets is set",
        &[
            File("m/chat_template.jinja", "{{ bos_token }}{{ messages }}"),
            File("m/tokenizer_config.json", "{}"),
            File(
                "rolecall.toml",
                "[templates]\nm = \"m\"\n[cases]\nbuiltin = [\"plain\"]\n",
            ),
            Run(&["lint"], says(1, &["nothing here sets a value"])),
            Edit(
                "rolecall.toml",
                "\"m\"",
                "{ source = \"m\", special_tokens = { bos_token = \"<s>\" } }",
            ),
            Run(
                &["lint"],
                Seen {
                    has_not: &["nothing here sets a value"],
                    ..says(1, &[])
                },
            ),
            Run(
                &["check", "./m", "--special-token", "bos_token=<s>"],
                Seen {
                    has_not: &["nothing here sets a value"],
                    ..says(1, &[])
                },
            ),
        ],
    ),
    (
        "a failure has its line once",
        &[
            File(
                "mine.jinja",
                "{% for m in messages %}{{ m.role }}: {{ m.content }}\n\n\
                 {% if m.tool_calls %}{{ m.tool_calls[0].function.nothing.at.all }}{% endif %}{% endfor %}",
            ),
            Run(
                &["check", "mine.jinja", "--all"],
                Seen {
                    has_not: &["(line 3)"],
                    ..says(1, &["fails: line 3: "])
                },
            ),
        ],
    ),
    (
        "a run of one template has its verdict on the screen",
        &[
            TEMPLATE,
            File(
                "rolecall.toml",
                "contracts = \"off\"\n[templates]\nmine = \"mine.jinja\"\n",
            ),
            Run(&["accept", "-q"], says(0, &["accepted "])),
            Run(
                &["run", "mine"],
                Seen {
                    has_not: &["single-turn"],
                    ..says(0, &["rolecall.toml: "])
                },
            ),
            Run(&["run", "mine:plain/*"], says(0, &["single-turn"])),
            Run(&["run", "mine", "--pairs"], says(0, &["single-turn"])),
        ],
    ),
    (
        "an added conversation is searched, and the report says for what",
        &[
            TEMPLATE,
            SUITE,
            File(
                "log.json",
                r#"[{"role": "user", "content": "call +49 170 1234567 or 0170/1234567; SSN 123-45-6789"}]"#,
            ),
            Run(
                &["add", "log.json"],
                says(
                    1,
                    &[
                        "3 texts may be private",
                        "a telephone number: +49 170 1234567",
                        "a social security number",
                        "not looked for: names",
                    ],
                ),
            ),
            File("talk.json", r#"[{"role": "user", "content": "Hello."}]"#),
            Run(
                &["add", "talk.json", "--dry-run"],
                Seen {
                    has_not: &["nothing in it looks private"],
                    ..says(
                        0,
                        &[
                            "found none of these: keys and tokens",
                            "Not\n  looked for: names",
                        ],
                    )
                },
            ),
        ],
    ),
    (
        "a mistyped pattern is an error with a suggestion",
        &[
            TEMPLATE,
            File(
                "rolecall.toml",
                "[templates]\nmine = \"mine.jinja\"\n[cases]\nbuiltin = [\"plane\"]\n",
            ),
            Run(
                &["run"],
                says(
                    2,
                    &[
                        "`plane` in `builtin` matches no built-in case",
                        "did you mean `plain`?",
                    ],
                ),
            ),
            Run(&["lint"], says(2, &["`plane` in `builtin`"])),
            Edit(
                "rolecall.toml",
                "[\"plane\"]",
                "[\"plain\"]\nwithout = [\"nosuch/*\"]",
            ),
            Run(
                &["run"],
                says(2, &["`nosuch/*` in `without` matches no built-in case"]),
            ),
        ],
    ),
    (
        "`accept` works as it is named",
        &[
            TEMPLATE,
            SUITE,
            Run(
                &["run"],
                says(1, &["not as accepted: run `rolecall review`"]),
            ),
            Run(
                &["accept"],
                says(
                    0,
                    &["accepted 1 report card", "accepted 2 snapshots in 1 file"],
                ),
            ),
            Run(&["run"], says(0, &["rolecall.toml: 2 pairs in "])),
            Run(&["-q", "accept"], says(0, &["nothing to accept"])),
        ],
    ),
    (
        "a broken contract fails the suite until it has a reason",
        &[
            LOSES_CALLS,
            SUITE,
            Run(
                &["accept"],
                says(
                    0,
                    &[
                        "error tool-calls-kept",
                        "give the reason",
                        "accepted 1 report card",
                    ],
                ),
            ),
            Run(
                &["run"],
                says(1, &["1 contract is broken and not explained"]),
            ),
            Edit(
                "rolecall.toml",
                "mine = \"mine.jinja\"",
                "mine = { source = \"mine.jinja\", broken = { tool-calls-kept = \"No calls.\" } }",
            ),
            Run(&["accept"], says(0, &["known: No calls."])),
            Run(&["run"], says(0, &["2 same"])),
            // What the card says can change although no prompt of the suite does.
            Edit("mine.jinja", "{{ tools | tojson }}", "{{ tools }}"),
            Run(
                &["run"],
                says(
                    1,
                    &[
                        "changed mine report card",
                        "no-repr-leak",
                        "1 report card is not",
                    ],
                ),
            ),
        ],
    ),
    (
        "the workflow of `init` is true",
        &[
            TEMPLATE,
            Run(
                &["init"],
                says(0, &["wrote rolecall.toml", "It has 1 template."]),
            ),
            Edit(
                "rolecall.toml",
                "contracts = \"errors\"",
                "contracts = \"errors\"",
            ),
            Run(&["accept", "-q"], says(0, &[])),
            Run(&["run"], says(0, &[])),
        ],
    ),
    (
        "names of the suite and paths work alike",
        &[
            TEMPLATE,
            SUITE,
            Run(&["check", "mine"], says(0, &["1 template in "])),
            Run(&["check", "mine.jinja"], says(0, &["1 template in "])),
            Run(
                &["show", "mine", "plain/single-turn"],
                says(0, &["<|im_start|>user"]),
            ),
            Run(
                &["show", "mine.jinja", "plain/single-turn"],
                says(0, &["<|im_start|>user"]),
            ),
            Run(
                &["show", "mine.jinja", "probe/user"],
                says(0, &["<|im_start|>user"]),
            ),
            Run(&["diff", "mine", "mine.jinja"], says(0, &["None of "])),
        ],
    ),
    (
        "a value of Python's is no text",
        &[
            TEMPLATE,
            Run(
                &["check", "mine.jinja", "--variable", "enable_thinking=False"],
                says(2, &["did you mean enable_thinking=false?"]),
            ),
        ],
    ),
    (
        "a run has the formats of CI",
        &[
            TEMPLATE,
            SUITE,
            Run(&["accept", "-q"], says(0, &[])),
            Edit("mine.jinja", "<|im_end|>", "<|im_stop|>"),
            Run(
                &["run", "--format", "junit"],
                says(
                    1,
                    &[
                        "<testsuites name=\"rolecall run\"",
                        "type=\"changed\"",
                        "type=\"report card\"",
                    ],
                ),
            ),
            Run(
                &["run", "--format", "github"],
                says(
                    1,
                    &[
                        "::error file=mine.jinja,title=changed::",
                        "::error title=rolecall run::Failed: 2 pairs changed",
                    ],
                ),
            ),
            Run(
                &["run", "--format", "sarif"],
                says(
                    1,
                    &[
                        "\"version\": \"2.1.0\"",
                        "\"ruleId\": \"changed\"",
                        "\"uri\": \"mine.jinja\"",
                    ],
                ),
            ),
            Run(
                &["run", "--format", "markdown"],
                says(
                    1,
                    &[
                        "**Failed: 2 pairs changed, 1 report card not as accepted.**",
                        "```diff",
                    ],
                ),
            ),
            Run(
                &["run", "--html", "page.html"],
                says(1, &["wrote page.html"]),
            ),
        ],
    ),
    (
        "a template in the other language is reported",
        &[
            File(
                "a.jinja",
                "{{- if or .Tools .System }}{{ .System }}{{ end }}",
            ),
            Run(
                &["check", "a.jinja"],
                says(1, &["it looks like a Go template", ".gotmpl"]),
            ),
            File(
                "b.gotmpl",
                "{% for m in messages %}{{ m['role'] }}{% endfor %}",
            ),
            Run(
                &["check", "b.gotmpl"],
                says(1, &["it looks like a Jinja template", ".jinja"]),
            ),
        ],
    ),
    (
        "a broken case file ends with an error",
        &[
            TEMPLATE,
            SUITE,
            File("cases/own.json", r#"{"cases": {"a": {"messages": []}}}"#),
            Run(&["run"], says(2, &["cases/own.json", "error: "])),
        ],
    ),
    (
        "a report goes into no folder that was mistyped",
        &[
            TEMPLATE,
            Run(
                &["check", "mine.jinja", "-o", "reprots/card.txt"],
                says(2, &["there is no folder reprots for it"]),
            ),
        ],
    ),
    (
        "conversations from outside are rendered, and become cases",
        &[
            TEMPLATE,
            SUITE,
            File(
                "request.json",
                r#"{"model": "x", "messages": [{"role": "user", "content": "ask ada@uni.example"}]}"#,
            ),
            File(
                "log.jsonl",
                "[{\"role\": \"user\", \"content\": \"one\"}]\n{\"messages\": []}\n",
            ),
            Run(
                &["render", "mine.jinja", "request.json"],
                says(0, &["mine request/1", "ask ada@uni.example<|im_end|>␊"]),
            ),
            Run(
                &["render", "mine", "request.json", "--raw"],
                says(0, &["<|im_start|>user\nask ada@uni.example<|im_end|>\n"]),
            ),
            Run(
                &["render", "mine", "log.jsonl"],
                says(0, &["mine log/1", "mine log/2"]),
            ),
            Run(
                &["render", "mine", "log.jsonl", "--raw"],
                says(2, &["there are 2"]),
            ),
            Run(
                &["render", "mine", "rolecall.toml"],
                says(2, &["rolecall.toml:1:"]),
            ),
            Run(
                &["add", "request.json"],
                says(
                    1,
                    &["an e-mail address: ada@uni.example", "nothing was written"],
                ),
            ),
            Run(
                &["add", "request.json", "--redact"],
                says(0, &["added added/request to cases/added.json"]),
            ),
            Run(
                &["add", "request.json", "--redact"],
                says(2, &["already there", "--name"]),
            ),
            Run(
                &["add", "log.jsonl", "--line", "1"],
                says(0, &["added added/log-1"]),
            ),
            Run(
                &["add", "log.jsonl", "--to", "../x.json"],
                says(2, &["error: "]),
            ),
            Run(
                &["run", "mine:added/*"],
                says(1, &["someone@example.org", "2 pairs are not as accepted"]),
            ),
        ],
    ),
    (
        "a model is named by any of its files",
        &[
            File(
                "m/tokenizer_config.json",
                r#"{"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"}"#,
            ),
            Run(
                &["check", "m/tokenizer_config.json", "-q"],
                says(0, &["1 template in "]),
            ),
        ],
    ),
    (
        "a mechanical defect is fixed, with its proof",
        &[
            File(
                "mine.jinja",
                "{% if tools is not none %}Tools: {{ tools }}\n{% endif %}{% for m in messages %}\
                 <|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
                 {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
            ),
            Run(
                &["check", "mine.jinja"],
                says(
                    1,
                    &[
                        "a safe fix for no-tools-alike",
                        "+{% if tools %}Tools: {{ tools | tojson }}",
                        "prompts stay byte for byte",
                        "`rolecall check mine.jinja --fix` applies ",
                    ],
                ),
            ),
            // Nothing was written without being asked for.
            Run(&["check", "mine.jinja", "-q"], says(1, &["3 errors"])),
            Run(
                &["check", "mine.jinja", "--fix"],
                says(
                    1,
                    &[
                        "fixed no-tools-alike",
                        "an unsafe fix for no-repr-leak",
                        "2 errors, ",
                    ],
                ),
            ),
            // The tools were there before, in another form.
            Run(
                &["check", "mine.jinja", "--fix", "--unsafe-fixes"],
                says(1, &["fixed no-repr-leak", "unsafe: ", "1 error, "]),
            ),
            Edit(
                "mine.jinja",
                "{% if tools %}Tools: {{ tools | tojson }}\n",
                "{% if tools %}Tools: {{ tools | tojson }}\n",
            ),
            Run(
                &["check", "mine.jinja", "--fix"],
                Seen {
                    has_not: &["fixed "],
                    ..says(1, &["1 error, "])
                },
            ),
            Run(
                &["check", "mine.jinja", "--unsafe-fixes"],
                says(2, &["--fix"]),
            ),
        ],
    ),
];
