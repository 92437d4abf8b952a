//! Go templates for Go 1.26's text/template with Ollama's functions.

use rolecall_core::chance::Chance;

/// How deeply expressions nest at most.
const DEEPEST: usize = 3;

/// Values that a template can read anywhere, of every type that Ollama gives.
const VALUES: &[&str] = &[
    "$.Messages",
    "$.Tools",
    "$.System",
    "$.Response",
    "$.Think",
    "$.ThinkLevel",
    "$.IsThinkSet",
    "$.Prompt",
    "$.Nope",
    "(index $.Messages 0)",
    "(index $.Messages 0).Role",
    "(index $.Messages 0).Content",
    "(index $.Messages 0).ToolCalls",
    "(index $.Messages 0).Images",
    "(index $.Messages 0).ToolName",
    "(index $.Messages 0).Thinking",
    "$.Messages",
    "$.Tools",
    "$.System",
    "(index $.Tools 0)",
    "(index $.Tools 0).Function",
    "(index $.Tools 0).Function.Parameters",
    "(index $.Tools 0).Function.Parameters.Properties",
    "(index $.Tools 0).Function.Name",
    "(index $.Tools 0).Type",
    "(index $.Tools 0).Function.Parameters.Required",
    "(len $.Messages)",
    "(slice $.Messages 0 1)",
    "(slice $.Tools 0)",
    "nil",
    "true",
    "false",
    "$",
    ".",
    "$x",
    "$x",
    "$i",
];

const TEXTS: &[&str] = &[
    "\"\"",
    "\"a\"",
    "\"Ab c\"",
    "`a\\b`",
    "\"é\"",
    "\"日本\"",
    "\"a\\nb\\t\"",
    "\"<b>&'\\\"\"",
    "\"%d\"",
    "`x`",
    "\"user\"",
    "\"\\u2028\"",
    "\"\\x00\"",
    "\"a b&c=d/é\"",
    "\"\\U0001F600\"",
    "\"role\"",
    "\"1\"",
    ".System",
    "``",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "3",
    "10",
    "100",
    "1000000",
    "1.5",
    "-2.5",
    "0x1f",
    "0b11",
    "0o17",
    "017",
    "1e3",
    "1e100",
    "1_000",
    "'a'",
    "'\\n'",
    "'é'",
    "0.1",
    "1e-7",
    "9223372036854775807",
    "9223372036854775808",
    "1.0",
    "2.0",
    "0x1p4",
    "1e21",
    "+1",
    "123456789.0",
    "1e20",
    "'\\x41'",
    ".5",
    "1.",
    "-0.0",
];

const VERBS: &[&str] = &[
    "%s",
    "%d",
    "%v",
    "%q",
    "%T",
    "%t",
    "%x",
    "%X",
    "%o",
    "%b",
    "%c",
    "%U",
    "%e",
    "%E",
    "%f",
    "%F",
    "%g",
    "%G",
    "%p",
    "%w",
    "%z",
    "%%",
    "%+v",
    "%#v",
    "%5d",
    "%-5d|",
    "%05d",
    "%+d",
    "%x",
    "%# x",
    "% x",
    "%.2f",
    "%8.3f",
    "%-8.2f|",
    "%.3s",
    "%10s",
    "%-10s|",
    "%q",
    "%+q",
    "%#q",
    "%#x",
    "%#U",
    "%*d",
    "%[1]d",
    "%[2]v",
    "%!",
    "%",
    "%.0f",
    "%+.2e",
    "%#o",
    "%O",
    "%6.2f%%",
    "%v %v",
    "%s%s",
    "% d",
    "%08.3f",
    "%#g",
    "%.3g",
    "%x",
    "%.*f",
    "%[1]v %[1]T",
    "%-05d|",
    "%+s",
    "%#b",
    "%.1q",
    "%5t",
    "%.10v",
    "%5v",
    "%-8v|",
    "%08v",
    "%+08d",
    "%#08x",
    "% 5d",
    "%.5d",
    "%.0d",
    "%8.5d",
    "%X",
    "%#q",
    "%# X",
    "%5c",
    "%05s",
    "%+U",
    "%08b",
    "%.3x",
    "%[3]d",
    "%[0]d",
];

const TEXT_BETWEEN: &[&str] = &[
    "a",
    "\n",
    " ",
    "  \n  ",
    "<|im_start|>",
    "\t",
    "é",
    "|",
    "\n\n",
    "",
    "",
    "{ ",
    "}",
    "\r\n",
    "a b",
    "\u{a0}",
];

/// Fields of a list's items.
const FIELDS: &[&str] = &[
    ".",
    ".Role",
    ".Content",
    ".Thinking",
    ".ToolCalls",
    ".ToolName",
    ".ToolCallID",
    ".Images",
    ".Function",
    ".Function.Name",
    ".Function.Arguments",
    ".Function.Description",
    ".Function.Parameters",
    ".Function.Parameters.Properties",
    ".Type",
    ".Items",
    ".Function.Parameters.Required",
    ".Function.Parameters.Type",
    ".Function.Parameters.Defs",
    ".Nope",
    ".ID",
    ".Function.Index",
    ".Role.Nope",
    "$.System",
    "$x",
    "$i",
    "$",
    ".Function.Parameters.Items",
    ".String",
    ".Function.Arguments.String",
    ".Function.String",
    ".Function.Arguments.a",
    ".Function.Arguments.city",
    ".Function.Parameters.Properties.city",
    ".Function.Parameters.Properties.city.Type",
];

pub(super) fn template(chance: &mut Chance) -> String {
    let mut out = String::new();
    // Ollama executes a template that does not mention messages turn by turn.
    if !chance.one_in(10) {
        let value = chance.word(&[
            "$.Messages",
            "1",
            "\"a\"",
            "(index $.Messages 0)",
            ".System",
            "$.Tools",
        ]);
        out.push_str("{{ $i := .Messages }}{{ $x := ");
        out.push_str(value);
        out.push_str(" }}");
    }
    let mut writer = GoWriter { chance, loops: 0 };
    for _ in 0..=writer.chance.below(3) {
        writer.statement(2, &mut out);
    }
    out
}

pub(super) fn statements(chance: &mut Chance) -> String {
    let mut out = String::new();
    GoWriter { chance, loops: 0 }.body(1, &mut out);
    out
}

pub(super) fn expression(chance: &mut Chance) -> String {
    GoWriter { chance, loops: 0 }.pipeline(2)
}

/// A function that a value is piped to, or a field.
pub(super) fn suffix(chance: &mut Chance) -> String {
    let mut writer = GoWriter { chance, loops: 0 };
    if writer.chance.one_in(3) {
        writer.pick(FIELDS)
    } else {
        format!(" | {}", writer.call(1, true))
    }
}

struct GoWriter<'c> {
    chance: &'c mut Chance,
    loops: usize,
}

impl GoWriter<'_> {
    fn pick(&mut self, words: &[&str]) -> String {
        self.chance.word(words).to_owned()
    }

    fn tag(&mut self, inside: &str, out: &mut String) {
        let open = if self.chance.one_in(6) {
            "{{- "
        } else if self.chance.one_in(8) {
            "{{"
        } else {
            "{{ "
        };
        let close = if self.chance.one_in(6) {
            " -}}"
        } else if self.chance.one_in(8) {
            "}}"
        } else {
            " }}"
        };
        out.push_str(open);
        out.push_str(inside);
        out.push_str(close);
    }

    fn between(&mut self, out: &mut String) {
        if self.chance.percent(40) {
            out.push_str(self.chance.word(TEXT_BETWEEN));
        }
    }

    fn body(&mut self, depth: usize, out: &mut String) {
        for _ in 0..=self.chance.below(2) {
            self.statement(depth, out);
        }
    }

    #[allow(clippy::too_many_lines)] // one arm for each statement of the language
    fn statement(&mut self, depth: usize, out: &mut String) {
        self.between(out);
        let choice = if depth == 0 {
            self.chance.below(60)
        } else {
            self.chance.below(100)
        };
        match choice {
            0..=44 => {
                let value = self.pipeline(DEEPEST);
                self.tag(&value, out);
            }
            45..=50 => {
                let sign = self.pick(&[":=", "="]);
                let name = self.pick(&["$x", "$x", "$i"]);
                let value = self.pipeline(2);
                self.tag(&format!("{name} {sign} {value}"), out);
                self.tag("$x", out);
            }
            51 | 52 => out.push_str(self.chance.word(&[
                "{{/* c */}}",
                "{{- /* c */ -}}",
                "{{/* */ -}}",
                "{{/*\n*/}}",
            ])),
            53..=55 => {
                if self.loops > 0 {
                    let condition = self.pick(&[
                        "eq $i 1",
                        "true",
                        "$x",
                        ".Content",
                        "eq .Role \"user\"",
                        "gt $i 0",
                    ]);
                    let word = self.pick(&["break", "continue"]);
                    self.tag(&format!("if {condition}"), out);
                    self.tag(&word, out);
                    self.tag("end", out);
                } else {
                    self.tag("$.System", out);
                }
            }
            56..=59 => {
                let value = if self.loops > 0 || self.chance.one_in(10) {
                    self.pick(FIELDS)
                } else {
                    self.pick(VALUES)
                };
                self.tag(&value, out);
            }
            60..=69 => {
                let condition = self.condition();
                self.tag(&format!("if {condition}"), out);
                self.body(depth - 1, out);
                if self.chance.one_in(4) {
                    let condition = self.condition();
                    self.tag(&format!("else if {condition}"), out);
                    self.body(depth - 1, out);
                }
                self.otherwise(depth, out);
                self.tag("end", out);
            }
            70..=86 => self.iteration(depth, out),
            87..=92 => {
                let value = self.pipeline(2);
                let name = self.pick(&["", "", "$x := ", "$y := "]);
                self.tag(&format!("with {name}{value}"), out);
                self.tag(".", out);
                self.body(depth - 1, out);
                if self.chance.one_in(5) {
                    let value = self.pipeline(2);
                    self.tag(&format!("else with {value}"), out);
                    self.body(depth - 1, out);
                }
                self.otherwise(depth, out);
                self.tag("end", out);
            }
            93..=95 if depth == 2 || self.chance.one_in(20) => {
                self.tag("define \"t\"", out);
                self.tag(".", out);
                self.body(0, out);
                self.tag("end", out);
                let value = self.value(1);
                self.tag(&format!("template \"t\" {value}"), out);
            }
            93..=97 => {
                let value = self.value(1);
                self.tag(&format!("block \"b\" {value}"), out);
                self.body(depth - 1, out);
                self.tag("end", out);
            }
            _ if !self.chance.one_in(3) => self.iteration(depth, out),
            _ => {
                let text = self.pick(&[
                    "template \"t\"",
                    "break",
                    "continue",
                    "else",
                    "end",
                    "template \"b\" .",
                    "define \"t\"",
                    "range",
                    "if",
                ]);
                self.tag(&text, out);
            }
        }
        self.between(out);
    }

    fn otherwise(&mut self, depth: usize, out: &mut String) {
        if self.chance.one_in(3) {
            self.tag("else", out);
            self.body(depth - 1, out);
        }
    }

    fn condition(&mut self) -> String {
        if self.chance.one_in(3) {
            return self.pipeline(2);
        }
        let (left, right) = (self.value(1), self.value(1));
        match self.chance.below(5) {
            0 => format!("not {left}"),
            1 => format!("and {left} {right}"),
            2 => format!("or {left} {right}"),
            3 => format!("eq {left} {right}"),
            _ => self.pick(&[
                "eq .Role \"user\"",
                ".Content",
                ".ToolCalls",
                "$.Tools",
                "$x",
                "eq (len (slice $.Messages 0)) 1",
                "(and .System .Tools)",
            ]),
        }
    }

    fn iteration(&mut self, depth: usize, out: &mut String) {
        let items = if self.chance.one_in(3) {
            self.pipeline(1)
        } else {
            self.pick(&[
                ".Messages",
                "$.Messages",
                ".Messages",
                ".Tools",
                "$.Tools",
                "3",
                "(len .Messages)",
                "(index .Tools 0).Function.Parameters.Properties",
                ".ToolCalls",
                "(index $.Messages 0).ToolCalls",
                ".Function.Arguments",
                "(slice $.Messages 1)",
                ".Images",
                "0",
                ".Function.Parameters.Required",
                ".Function.Parameters.Properties",
                ".Nope",
                "$x",
                ".System",
                "\"abc\"",
            ])
        };
        let names = self.pick(&[
            "",
            "",
            "$i, $x := ",
            "$x := ",
            "$i, $_ := ",
            "$i, $x = ",
            "$k, $v := ",
        ]);
        self.tag(&format!("range {names}{items}"), out);
        self.loops += 1;
        if self.chance.one_in(2) {
            let value = self.pick(FIELDS);
            self.tag(&value, out);
        }
        if self.chance.one_in(4) {
            let value = self.pick(&[
                "json .",
                "json .Function",
                "printf \"%v\" .",
                "$i",
                "$x",
                "print $i $x",
                "len .",
                "json $x",
                "$v",
                "$k",
                "toTypeScriptType .",
                ".ToTypeScriptType",
            ]);
            self.tag(&value, out);
        }
        self.body(depth - 1, out);
        self.loops -= 1;
        self.otherwise(depth, out);
        self.tag("end", out);
    }

    /// A pipeline, without brackets.
    fn pipeline(&mut self, depth: usize) -> String {
        let mut text = if self.chance.one_in(4) {
            self.value(depth)
        } else {
            self.call(depth, false)
        };
        while self.chance.one_in(6) {
            text = format!("{text} | {}", self.call(1, true));
        }
        text
    }

    fn value(&mut self, depth: usize) -> String {
        match self.chance.below(12) {
            0..=3 => self.pick(VALUES),
            4 | 5 => self.pick(TEXTS),
            6 | 7 => self.pick(NUMBERS),
            8 if self.loops > 0 => self.pick(FIELDS),
            _ if depth > 0 => format!("({})", self.pipeline(depth - 1)),
            _ => self.pick(VALUES),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        if self.chance.percent(60) {
            self.pick(TEXTS)
        } else {
            self.value(depth)
        }
    }

    fn number(&mut self, depth: usize) -> String {
        if self.chance.percent(60) {
            self.pick(NUMBERS)
        } else {
            self.value(depth)
        }
    }

    fn index(&mut self, depth: usize) -> String {
        match self.chance.below(10) {
            0..=5 => self.pick(&["0", "1", "2", "-1", "9", "0", "1"]),
            6 => self.pick(&["\"a\"", "\"city\"", "nil", "1.0", "'a'", "\"type\""]),
            7 => self.number(depth),
            _ => self.value(depth),
        }
    }

    /// A call of a function, without brackets; the last argument may come from a pipe.
    fn call(&mut self, depth: usize, is_piped: bool) -> String {
        let depth = depth.saturating_sub(1);
        let mut words: Vec<String> = Vec::new();
        match self.chance.below(24) {
            0..=5 => {
                let mut form = self.pick(VERBS);
                if self.chance.one_in(4) {
                    form = format!(
                        "{form}{}{}",
                        self.chance.word(&["", " ", "|", "a"]),
                        self.chance.word(VERBS)
                    );
                }
                words.extend(["printf".to_owned(), format!("\"{form}\"")]);
                for _ in 0..=self.chance.below(2) {
                    words.push(match self.chance.below(4) {
                        0 => self.text(depth),
                        1 | 2 => self.number(depth),
                        _ => self.value(depth),
                    });
                }
            }
            6 | 7 => {
                words.push(self.pick(&["print", "println", "html", "js", "urlquery"]));
                for _ in 0..self.chance.below(4) {
                    words.push(self.value(depth));
                }
            }
            8..=10 => {
                words.push(self.pick(&["eq", "ne", "lt", "le", "gt", "ge", "eq"]));
                match self.chance.below(4) {
                    0 | 1 => words.extend([self.number(depth), self.number(depth)]),
                    2 => words.extend([self.text(depth), self.text(depth)]),
                    _ => words.extend([self.value(depth), self.value(depth)]),
                }
                if self.chance.one_in(6) {
                    words.push(self.value(depth));
                }
            }
            11 | 12 => {
                words.extend([self.pick(&["and", "or", "not"]), self.value(depth)]);
                if words[0] != "not" || self.chance.one_in(20) {
                    words.push(self.value(depth));
                }
            }
            13 | 14 => {
                words.push("index".to_owned());
                words.push(self.value(depth));
                for _ in 0..=self.chance.below(2) {
                    words.push(self.index(depth));
                }
            }
            15 | 16 => {
                words.push("slice".to_owned());
                words.push(self.value(depth));
                for _ in 0..self.chance.below(4) {
                    words.push(self.index(depth));
                }
            }
            17 | 18 => words.extend(["len".to_owned(), self.value(depth)]),
            19 | 20 => words.extend(["json".to_owned(), self.value(depth)]),
            21 => {
                words.push(self.pick(&["currentDate", "yesterdayDate"]));
                for _ in 0..self.chance.below(2) {
                    words.push(self.text(depth));
                }
            }
            22 => words.extend(["toTypeScriptType".to_owned(), self.value(depth)]),
            _ if !self.chance.one_in(5) => words.extend(["json".to_owned(), self.value(depth)]),
            _ => {
                words.push(self.pick(&[
                    "call",
                    "nope",
                    "(index .Messages 0).Role",
                    "(printf \"%s\" .System)",
                    "$x",
                ]));
                words.push(self.value(depth));
            }
        }
        if is_piped && words.len() > 1 {
            words.pop();
        }
        words.join(" ")
    }
}
