//! Jinja templates for Jinja2 3.1 with the extensions of transformers.

mod vocabulary;

mod expressions;

use super::arguments::ValueType;
use expressions::{DEEPEST, JinjaWriter};
use rolecall_core::chance::Chance;
use vocabulary::{METHODS, TEXT_BETWEEN};

use ValueType::{Boolean, Dictionary, List, Text};

pub(super) fn template(chance: &mut Chance) -> String {
    let mut writer = JinjaWriter { chance, loops: 0 };
    let mut out = String::new();
    if writer.chance.one_in(2) {
        let kind = writer.any_type();
        let value = writer.value(kind, 1);
        let set = format!("set x, y = {value}, [1, 2]");
        writer.tag(&set, &mut out);
    }
    if writer.chance.one_in(4) {
        writer.tag("set ns = namespace(a=0, b='')", &mut out);
    }
    if writer.chance.one_in(8) {
        writer.shared_generator(&mut out);
    }
    for _ in 0..=writer.chance.below(2) {
        writer.statement(2, &mut out);
    }
    out
}

pub(super) fn statements(chance: &mut Chance) -> String {
    let mut out = String::new();
    JinjaWriter { chance, loops: 0 }.body(1, &mut out);
    out
}

pub(super) fn expression(chance: &mut Chance) -> String {
    let mut writer = JinjaWriter { chance, loops: 0 };
    let kind = writer.any_type();
    writer.value(kind, 2)
}

/// A filter, a method or a subscript.
pub(super) fn suffix(chance: &mut Chance) -> String {
    let mut writer = JinjaWriter { chance, loops: 0 };
    match writer.chance.below(4) {
        0 => {
            let kind = writer.any_type();
            match writer.callable(METHODS, |row| row.of == kind) {
                Some(method) => format!(".{}({})", method.name, writer.arguments(method, 1)),
                None => ".real".to_owned(),
            }
        }
        1 => {
            let kind = writer.any_type();
            writer.subscript(kind, 1)
        }
        _ => {
            let kind = writer.any_type();
            writer
                .filter(kind, 1)
                .map_or_else(String::new, |(text, _)| text)
        }
    }
}

impl JinjaWriter<'_> {
    /// The beginning and the end of a statement's tag.
    fn tag(&mut self, inside: &str, out: &mut String) {
        self.delimited("{%", inside, "%}", out);
    }

    fn delimited(&mut self, open: &str, inside: &str, close: &str, out: &mut String) {
        let control = |chance: &mut Chance| match chance.below(20) {
            0..=3 => "-",
            4 => "+",
            _ => "",
        };
        out.push_str(open);
        // A plus sign is no control at the beginning of an expression.
        let before = control(self.chance);
        out.push_str(before);
        out.push(' ');
        out.push_str(inside);
        out.push(' ');
        let after = control(self.chance);
        out.push_str(if close == "}}" && after == "+" {
            ""
        } else {
            after
        });
        out.push_str(close);
    }

    fn body(&mut self, depth: usize, out: &mut String) {
        for _ in 0..=self.chance.below(2) {
            self.statement(depth, out);
        }
    }

    fn between(&mut self, out: &mut String) {
        if self.chance.percent(40) {
            let text = self.chance.word(TEXT_BETWEEN);
            out.push_str(text);
        }
    }

    #[allow(clippy::too_many_lines)] // one arm for each statement of the language
    fn statement(&mut self, depth: usize, out: &mut String) {
        self.between(out);
        let kind = self.any_type();
        let choice = if depth == 0 {
            self.chance.below(55)
        } else {
            self.chance.below(100)
        };
        match choice {
            0..=44 => {
                let value = self.value(kind, DEEPEST);
                self.delimited("{{", &value, "}}", out);
            }
            45..=49 => {
                let target = self.chance.word(&[
                    "x", "y", "x, y", "ns.a", "(x, y)", "ns", "loop", "m", "messages",
                ]);
                let value = if target == "ns" {
                    "namespace(a=1)".to_owned()
                } else {
                    self.value(kind, 2)
                };
                self.tag(&format!("set {target} = {value}"), out);
                let shown = self.pick(&["x", "y", "ns.a", "x ~ y", "[x]"]);
                self.delimited("{{", &shown, "}}", out);
            }
            50 => {
                let inside = self.chance.word(&[" c ", "- c -", "", " {{ x }} ", " {# "]);
                out.extend(["{#", inside, "#}"]);
            }
            51 | 52 => {
                let condition = self
                    .chance
                    .word(&["loop.first", "loop.index > 1", "true", "x"]);
                let word = if self.loops > 0 {
                    self.pick(&["break", "continue"])
                } else {
                    "break".to_owned()
                };
                if self.loops > 0 {
                    self.tag(&format!("if {condition}"), out);
                    self.tag(&word, out);
                    self.tag("endif", out);
                }
            }
            53 | 54 => {
                self.tag("raw", out);
                let raw = self
                    .chance
                    .word(&["{{ x }}", "{% if %}", "a", " \n b", "{# #}", "{{"]);
                out.push_str(raw);
                self.tag("endraw", out);
            }
            55..=64 => self.condition(kind, depth, out),
            65..=80 => self.iteration(depth, out),
            81..=86 => self.definition(depth, out),
            87 | 88 => {
                let filter = self
                    .filter(Text, 1)
                    .map_or_else(String::new, |(text, _)| text);
                self.tag(&format!("filter {}", filter.trim_start_matches('|')), out);
                self.body(depth - 1, out);
                self.tag("endfilter", out);
            }
            89 | 90 => {
                let value = self.value(kind, 2);
                let more = self.pick(&["", ", y = x", ", y = 2"]);
                self.tag(&format!("with x = {value}{more}"), out);
                self.body(depth - 1, out);
                self.tag("endwith", out);
            }
            91..=93 => {
                let filter = if self.chance.one_in(3) {
                    self.filter(Text, 1)
                        .map_or_else(String::new, |(text, _)| text)
                } else {
                    String::new()
                };
                let target = self.pick(&["x", "y", "ns.a"]);
                self.tag(&format!("set {target}{filter}"), out);
                self.body(depth - 1, out);
                self.tag("endset", out);
                self.delimited("{{", &target, "}}", out);
            }
            94 => {
                self.tag("generation", out);
                self.body(depth - 1, out);
                self.tag("endgeneration", out);
            }
            95 => {
                let name = self.pick(&["b", "c", "b scoped", "c required"]);
                self.tag(&format!("block {name}"), out);
                self.body(depth - 1, out);
                let end = self.pick(&["endblock", "endblock b"]);
                self.tag(&end, out);
            }
            96 => {
                let switch = self.pick(&["true", "false", "x"]);
                self.tag(&format!("autoescape {switch}"), out);
                self.body(depth - 1, out);
                self.tag("endautoescape", out);
            }
            97 => {
                let text = self.pick(&[
                    "include 'x'",
                    "import 'x' as y",
                    "do 1",
                    "extends 'x'",
                    "include 'x' ignore missing",
                    "debug",
                    "trans",
                ]);
                self.tag(&text, out);
            }
            98 => self.shared_generator(out),
            _ => {
                self.tag("set ns = namespace(a=0, b='')", out);
                self.iteration(depth, out);
                self.delimited("{{", "ns.a ~ ns.b", "}}", out);
            }
        }
        self.between(out);
    }

    /// A generator, perhaps with another one after it, and several places that take from them.
    fn shared_generator(&mut self, out: &mut String) {
        const FILTERS: &[&str] = &[
            "map('string')",
            "map('upper')",
            "map(attribute='a')",
            "select",
            "select('string')",
            "select('ne', 1)",
            "reject('none')",
            "rejectattr('a')",
            "batch(2)",
            "slice(2)",
            "unique",
            "reverse",
            "items",
        ];
        const USES: &[&str] = &[
            "{{ g|first }}",
            "{{ g|list }}",
            "{{ g|join(',') }}",
            "{{ 'a' in g }}",
            "{{ 1 in g }}",
            "{{ g|length }}",
            "{{ g|tojson }}",
            "{{ g|sort|first }}",
            "{{ 'T' if g else 'F' }}",
            "{% for x in g %}{{ x }};{% endfor %}",
            "{% for x in g %}{{ x }}{% break %}{% else %}E{% endfor %}",
            "{% for x in g if x %}{{ x }}{% break %}{% endfor %}",
            "{% for x in g %}{{ x }}{{ g|first }}{{ loop.last }};{% endfor %}",
            "{% for x in g %}{{ x }}{{ loop.nextitem }}{% if loop.index == 2 %}{% break %}{% endif %}{% endfor %}",
            "{% for x in g %}{{ loop.index }}/{{ loop.length }}{% break %}{% endfor %}",
            "{% for x in g %}{{ loop.revindex }}{{ loop.previtem }}{% if g|first %}{% break %}{% endif %}{% endfor %}",
            "{% for x in g %}{% for y in g %}{{ x }}{{ y }}{{ loop.last }};{% if loop.index == 2 %}{% break %}{% endif %}{% endfor %}{% endfor %}",
            "{% for x, y in g %}{{ x }}{{ y }}{% break %}{% endfor %}",
            "{% set ns.a = g %}{{ ns.a|first }}",
            "{% with x = g %}{{ x|first }}{% endwith %}",
        ];
        let items = if self.chance.one_in(3) {
            "['a', 1, 'b', 'a', none, 2, [3]]".to_owned()
        } else {
            self.value(List, 1)
        };
        let filter = self.pick(FILTERS);
        self.tag(&format!("set g = ({items})|{filter}"), out);
        let has_second = self.chance.one_in(2);
        if has_second {
            let filter = self.pick(FILTERS);
            self.tag(&format!("set h = g|{filter}"), out);
        }
        for _ in 0..=self.chance.below(3) + 1 {
            let of_second = has_second && self.chance.one_in(2);
            let using = self.pick(USES);
            out.push_str(&if of_second {
                using.replace(" g ", " h ").replace("g|", "h|")
            } else {
                using
            });
        }
    }

    fn condition(&mut self, kind: ValueType, depth: usize, out: &mut String) {
        let kind = if self.chance.one_in(2) { Boolean } else { kind };
        let condition = self.value(kind, 3);
        self.tag(&format!("if {condition}"), out);
        self.body(depth - 1, out);
        if self.chance.one_in(4) {
            let condition = self.value(Boolean, 2);
            self.tag(&format!("elif {condition}"), out);
            self.body(depth - 1, out);
        }
        if self.chance.one_in(2) {
            self.tag("else", out);
            self.body(depth - 1, out);
        }
        self.tag("endif", out);
    }

    fn iteration(&mut self, depth: usize, out: &mut String) {
        let kind = if self.chance.one_in(6) {
            Dictionary
        } else {
            List
        };
        let mut items = self.value(kind, 2);
        let target = match self.chance.below(8) {
            0 => {
                items = self.value(Dictionary, 1)
                    + self.chance.word(&[".items()", "|items", "|dictsort"]);
                "x, y"
            }
            1 => "x, y",
            2 => "y",
            3 => "(x, y)",
            _ => "x",
        };
        let filter = if self.chance.one_in(5) {
            format!(" if {}", self.value(Boolean, 2))
        } else {
            String::new()
        };
        let is_recursive = self.chance.one_in(8);
        let recursive = if is_recursive { " recursive" } else { "" };
        self.tag(&format!("for {target} in {items}{filter}{recursive}"), out);
        self.loops += 1;
        if is_recursive && self.chance.one_in(2) {
            let inner = self.pick(&[
                "loop(x)",
                "loop(x) if x is iterable and x is not string",
                "loop([])",
                "loop.depth",
            ]);
            self.delimited("{{", &inner, "}}", out);
        }
        if self.chance.one_in(2) {
            let inner = self.pick(&[
                "loop.index",
                "loop.index0",
                "loop.revindex",
                "loop.revindex0",
                "loop.first",
                "loop.last",
                "loop.length",
                "loop.previtem",
                "loop.nextitem",
                "loop.depth",
                "loop.depth0",
                "loop.cycle('a', 'b')",
                "loop.changed(x)",
                "loop.nope",
                "loop.previtem.role",
                "loop.nextitem is defined",
                "x",
                "y",
                "x ~ loop.index",
                "loop.changed()",
                "loop.previtem is undefined",
                "loop.nextitem|tojson",
                "loop['index']",
                "loop|string|length",
                "loop.last or loop.first",
                "loop|length",
                "loop is iterable",
                "loop.cycle(*[1, 2])",
                "x.role",
                "x['role']",
                "messages[loop.index0].role",
            ]);
            self.delimited("{{", &inner, "}}", out);
        }
        if self.chance.one_in(4) {
            if self.chance.one_in(2) {
                self.tag("set ns = namespace(a=0, b='')", out);
            }
            let inner = self.pick(&[
                "set ns.a = x",
                "set y = x",
                "set ns.b = ns.b ~ x",
                "set ns.a = ns.a + 1",
                "set x = 1",
            ]);
            self.tag(&inner, out);
        }
        self.body(depth - 1, out);
        self.loops -= 1;
        if self.chance.one_in(4) {
            self.tag("else", out);
            self.body(depth - 1, out);
        }
        self.tag("endfor", out);
    }

    fn definition(&mut self, depth: usize, out: &mut String) {
        let parameters = self.pick(&[
            "",
            "x",
            "x, y=1",
            "x, y=x",
            "x=none",
            "y, x='d'",
            "x, caller=none",
            "x, y",
        ]);
        self.tag(&format!("macro m({parameters})"), out);
        if self.chance.one_in(2) {
            let inner = self.pick(&[
                "x",
                "y",
                "varargs",
                "kwargs",
                "caller()",
                "caller(x)",
                "caller is defined",
                "x is defined",
                "m.name",
                "m.arguments",
                "caller(x, y=1)",
                "kwargs|length",
                "[x, y]",
                "m.catch_varargs",
                "caller.name",
            ]);
            self.delimited("{{", &inner, "}}", out);
        }
        self.body(depth - 1, out);
        self.tag("endmacro", out);
        if self.chance.one_in(3) {
            let arguments = self.call(1);
            let parameters = self.pick(&["", "(x)", "(x, y=2)", "()", "(y)"]);
            self.tag(&format!("call{parameters} m({arguments})"), out);
            self.body(depth - 1, out);
            self.tag("endcall", out);
        } else {
            let kind = self.any_type();
            let arguments = match self.chance.below(5) {
                0 => self.call(2),
                _ if parameters.is_empty() => String::new(),
                1 if parameters.contains('y') => format!("{}, 2", self.value(kind, 2)),
                _ => self.value(kind, 2),
            };
            let value = self.pick(&["m", "m", "m", "m.name ~ m"]);
            let suffix = self.pick(&[
                "",
                "",
                "|upper",
                "|length",
                " is escaped",
                ".strip()",
                " ~ x",
                "|tojson",
                "[0]",
            ]);
            self.delimited("{{", &format!("{value}({arguments}){suffix}"), "}}", out);
        }
    }
}
