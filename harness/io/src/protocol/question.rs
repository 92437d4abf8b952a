//! The questions of a trial: small templates, each with the right answer.

use rolecall_core::{Dialect, Stage};

/// A template with a conversation, and the right answer.
pub(super) struct TrialQuestion {
    pub(super) name: &'static str,
    /// What is right, in a few words.
    pub(super) about: &'static str,
    pub(super) source: &'static str,
    pub(super) messages: &'static str,
    pub(super) variables: &'static str,
    pub(super) expected: RightAnswer,
    /// What to do if the answer is another.
    pub(super) help: &'static str,
}

/// The right answer to a question.
pub(super) enum RightAnswer {
    Text(&'static str),
    /// A refusal by the template, with this message.
    Raised(&'static str),
    /// A failure while rendering.
    Failed,
}

/// What the clock shows.
pub(super) const NOW: &str = "2031-02-03T23:59:07Z";

/// A time zone in which [`NOW`] is on another day.
pub(super) const ELSEWHERE: &str = "Pacific/Kiritimati";

const HI: &str = r#"[{"role": "user", "content": "Hi"}]"#;
const NONE: &str = "{}";

/// The questions for programs of a dialect. The first is the simplest.
pub(super) fn questions(dialect: Dialect) -> &'static [TrialQuestion] {
    match dialect {
        Dialect::Jinja => JINJA,
        Dialect::Go => GO,
    }
}

/// A template that cannot be parsed, and the stage at which it has to fail.
pub(super) fn broken(dialect: Dialect) -> (&'static str, Stage) {
    let source = match dialect {
        Dialect::Jinja => "a {% if %} b",
        Dialect::Go => "a {{ if }} b",
    };
    (source, Stage::Parse)
}

/// Three templates that differ only in the letter before the content.
pub(super) fn namesakes(dialect: Dialect) -> [&'static str; 3] {
    match dialect {
        Dialect::Jinja => [
            "a{{ messages[0].content }}",
            "b{{ messages[0].content }}",
            "c{{ messages[0].content }}",
        ],
        Dialect::Go => [
            "{{ range .Messages }}a{{ .Content }}{{ end }}",
            "{{ range .Messages }}b{{ .Content }}{{ end }}",
            "{{ range .Messages }}c{{ .Content }}{{ end }}",
        ],
    }
}

const KEEP_NUMBERS: &str = "read JSON with a parser that keeps numbers as they are written; \
                            JavaScript's JSON.parse does not";

const JINJA: &[TrialQuestion] = &[
    TrialQuestion {
        name: "prompt",
        about: "a template gives a prompt",
        source: "{{ messages[0].role }}: {{ messages[0].content }}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("user: Hi"),
        help: "hand messages on as they are",
    },
    TrialQuestion {
        name: "raise",
        about: "raise_exception gives `raised`, with only its message",
        source: "{{ raise_exception('No, ' ~ messages[0].role ~ '.') }}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Raised("No, user."),
        help: "define raise_exception(message), and answer {\"outcome\": \"raised\", \"message\"} with \
               the message as it is",
    },
    TrialQuestion {
        name: "undefined",
        about: "reading a field of an undefined value fails",
        source: "{{ nothing.field }}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Failed,
        help: "answer {\"outcome\": \"failed\", \"stage\": \"render\", \"message\"}",
    },
    TrialQuestion {
        name: "text",
        about: "every character arrives and comes back",
        source: "[{{ messages[0].content }}]",
        messages: r#"[{"role": "user", "content": " \t\u00e9 \u6f22 \ud83d\ude00\u2028\u00a0\r\nend \n"}]"#,
        variables: NONE,
        expected: RightAnswer::Text("[ \t\u{e9} \u{6f22} \u{1f600}\u{2028}\u{a0}\r\nend \n]"),
        help: "read and write UTF-8, trim nothing and translate no newlines",
    },
    TrialQuestion {
        name: "source",
        about: "the template's final newline is dropped, and CR LF becomes LF",
        source: "a\r\n b \r\n",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("a\n b "),
        help: "drop one newline at the end and turn CR LF into LF before parsing, as Jinja2 does; if \
               the engine does so itself, hand the source over as it is",
    },
    // No other question prints a boolean: an engine that prints them in its own form is reported
    // once.
    TrialQuestion {
        name: "booleans",
        about: "booleans are printed as Python prints them",
        source: "{{ messages[0].a }} {{ messages[0].b }} {{ 1 == 1 }}",
        messages: r#"[{"role": "user", "a": true, "b": false}]"#,
        variables: NONE,
        expected: RightAnswer::Text("True False True"),
        help: "print True and False as Python does, not true and false",
    },
    TrialQuestion {
        name: "numbers",
        about: "1.0 is not 1",
        source: "{{ messages[0].a }} {{ messages[0].b }}",
        messages: r#"[{"role": "user", "a": 1.0, "b": 1}]"#,
        variables: NONE,
        expected: RightAnswer::Text("1.0 1"),
        help: KEEP_NUMBERS,
    },
    TrialQuestion {
        name: "integers",
        about: "large integers have all of their digits",
        source: "{{ messages[0].a }} {{ messages[0].b }}",
        messages: r#"[{"role": "user", "a": 9007199254740993, "b": 123456789012345678901}]"#,
        variables: NONE,
        expected: RightAnswer::Text("9007199254740993 123456789012345678901"),
        help: KEEP_NUMBERS,
    },
    TrialQuestion {
        name: "key-order",
        about: "keys stay in order, integer keys too",
        source: "{% for key in messages[0].x %}{{ key }} {% endfor %}",
        messages: r#"[{"role": "user", "x": {"b": 1, "10": 2, "a": 3, "2": 4}}]"#,
        variables: NONE,
        expected: RightAnswer::Text("b 10 a 2 "),
        help: "read objects into something that keeps the order of their keys; JavaScript's objects \
               and sorted maps do not",
    },
    TrialQuestion {
        name: "null",
        about: "a null field exists, an absent field does not",
        source: "{{ 'null' if messages[0].a is none else 'other' }} \
                 {{ 'there' if messages[0].b is defined else 'absent' }}",
        messages: r#"[{"role": "user", "a": null}]"#,
        variables: NONE,
        expected: RightAnswer::Text("null absent"),
        help: "hand null over as None, and add no fields",
    },
    TrialQuestion {
        name: "no-tools",
        about: "tools and documents are None if the case has none",
        source: "{{ 'null' if tools is none else 'other' }} \
                 {{ 'null' if documents is none else 'other' }} \
                 {{ 'on' if add_generation_prompt else 'off' }}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("null null on"),
        help: "define tools and documents in any case: null is None",
    },
    TrialQuestion {
        name: "variables",
        about: "the entries of `variables` are variables of the template",
        source: "{{ bos_token }}{{ x.y[1] }}{{ ' and z' if z is defined }}",
        messages: HI,
        variables: r#"{"bos_token": "<s>", "x": {"y": [1, 2]}}"#,
        expected: RightAnswer::Text("<s>2"),
        help: "put every entry of `variables` next to messages and tools",
    },
    TrialQuestion {
        name: "clock",
        about: "strftime_now shows `now`, in UTC",
        source: "{{ strftime_now('%Y-%m-%d %H:%M') }}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("2031-02-03 23:59"),
        help: "define strftime_now(format) by `now` of the request, which is UTC, and neither by the \
               machine's clock nor in its time zone",
    },
    TrialQuestion {
        name: "whitespace",
        about: "trim_blocks and lstrip_blocks are on",
        source: "{% if true %}\n  {% if true %}\nx{% endif %}{% endif %}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("x"),
        help: "set trim_blocks and lstrip_blocks, as transformers does",
    },
    TrialQuestion {
        name: "generation",
        about: "{% generation %} exists",
        source: "{% generation %}{{ messages[0].content }}{% endgeneration %}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("Hi"),
        help: "render what is between {% generation %} and {% endgeneration %}; an engine without \
               extensions can take the tags out of the source before",
    },
    TrialQuestion {
        name: "loop-controls",
        about: "{% break %} and {% continue %} exist",
        source: "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}\
                 {% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("02"),
        help: "switch loop controls on, in Jinja2 the extension jinja2.ext.loopcontrols",
    },
    TrialQuestion {
        name: "tojson",
        about: "tojson escapes no more than JSON needs",
        source: "{{ messages[0].x | tojson }}",
        messages: r#"[{"role": "user", "x": {"b": "\u00e9<'", "a": [1.0, null]}}]"#,
        variables: NONE,
        expected: RightAnswer::Text("{\"b\": \"\u{e9}<'\", \"a\": [1.0, null]}"),
        help: "replace the filter tojson by what transformers has: json.dumps with \
               ensure_ascii=False, without escapes for HTML",
    },
];

const ONE_AFTER_THE_OTHER: &str = "{{ range .Messages }}{{ .Role }}: {{ .Content }};{{ end }}";

const GO: &[TrialQuestion] = &[
    TrialQuestion {
        name: "prompt",
        about: "a template gives a prompt",
        source: ONE_AFTER_THE_OTHER,
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("user: Hi;"),
        help: "execute the template with `data` of `go`",
    },
    TrialQuestion {
        name: "undefined",
        about: "reading a missing field fails",
        source: "{{ .Messages.Nothing }}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Failed,
        help: "answer {\"outcome\": \"failed\", \"stage\": \"render\", \"message\"}",
    },
    TrialQuestion {
        name: "text",
        about: "every character arrives and comes back",
        source: "{{ range .Messages }}[{{ .Content }}]{{ end }}",
        messages: r#"[{"role": "user", "content": " \t\u00e9 \u6f22 \ud83d\ude00\u2028\u00a0\r\nend \n"}]"#,
        variables: NONE,
        expected: RightAnswer::Text("[ \t\u{e9} \u{6f22} \u{1f600}\u{2028}\u{a0}\r\nend \n]"),
        help: "read and write UTF-8, trim nothing and translate no newlines",
    },
    TrialQuestion {
        name: "source",
        about: "newlines of the template stay as they are",
        source: "{{ if .Messages }}a{{ end }}\r\n b \n",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("a\r\n b \n"),
        help: "hand the source over as it is",
    },
    TrialQuestion {
        name: "joined",
        about: "messages of one role in a row are one",
        source: ONE_AFTER_THE_OTHER,
        messages: r#"[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]"#,
        variables: NONE,
        expected: RightAnswer::Text("user: a\n\nb;"),
        help: "execute the template with `data` of `go`, where they are joined",
    },
    TrialQuestion {
        name: "turns",
        about: "a template without messages is executed turn by turn",
        source: "{{ .System }}|{{ .Prompt }}|{{ .Response }}; ",
        messages: r#"[{"role": "system", "content": "S"}, {"role": "user", "content": "1?"},
                      {"role": "assistant", "content": "1."}, {"role": "user", "content": "2?"}]"#,
        variables: NONE,
        expected: RightAnswer::Text("S|1?|1.; |2?|"),
        help: "execute the template with each of `turns` of `go`, the last time up to its first field \
               .Response",
    },
    TrialQuestion {
        name: "no-tools",
        about: "without tools .Tools is empty",
        source: "{{ if .Messages }}{{ range .Tools }}{{ .Function.Name }}{{ else }}none{{ end }}{{ end }}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("none"),
        help: "null is a nil slice",
    },
    TrialQuestion {
        name: "arguments",
        about: "the arguments of a call print as JSON",
        source: "{{ range .Messages }}{{ range .ToolCalls }}{{ .Function.Arguments }}{{ end }}{{ end }}",
        messages: r#"[{"role": "assistant", "tool_calls": [
                      {"id": "c", "function": {"name": "f", "arguments": {"b": 1.5, "a": "x"}}}]}]"#,
        variables: NONE,
        expected: RightAnswer::Text("{\"a\":\"x\",\"b\":1.5}"),
        help: "read arguments, tools and a tool's properties into types with a String method that \
               writes JSON",
    },
    TrialQuestion {
        name: "json",
        about: "the function json is Go's json.Marshal",
        source: "{{ range .Messages }}{{ json .Content }}{{ end }}",
        messages: r#"[{"role": "user", "content": "a<\u00e9"}]"#,
        variables: NONE,
        expected: RightAnswer::Text("\"a\\u003c\u{e9}\""),
        help: "define json by json.Marshal, which escapes HTML",
    },
    TrialQuestion {
        name: "clock",
        about: "currentDate shows `now`, in UTC",
        source: "{{ if .Messages }}{{ currentDate }} {{ yesterdayDate }}{{ end }}",
        messages: HI,
        variables: NONE,
        expected: RightAnswer::Text("2031-02-03 2031-02-02"),
        help: "define currentDate and yesterdayDate by `now` of the request, which is UTC",
    },
    TrialQuestion {
        name: "thinking",
        about: "three fields say whether and how to think",
        source: "{{ if .Messages }}{{ .IsThinkSet }} {{ .Think }} {{ .ThinkLevel }}{{ end }}",
        messages: HI,
        variables: r#"{"think": "low"}"#,
        expected: RightAnswer::Text("true true low"),
        help: "execute the template with `data` of `go`, which has them",
    },
    TrialQuestion {
        name: "loop-controls",
        about: "{{ break }} and {{ continue }} exist",
        source: "{{ range .Messages }}{{ if eq .Content \"b\" }}{{ continue }}{{ end }}\
                 {{ if eq .Content \"d\" }}{{ break }}{{ end }}{{ .Content }}{{ end }}",
        messages: r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                      {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}]"#,
        variables: NONE,
        expected: RightAnswer::Text("ac"),
        help: "Go has them since 1.18",
    },
];
