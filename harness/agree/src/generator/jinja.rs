//! Jinja templates: what Jinja2 3.1 with the extensions of transformers understands.

use super::arguments::{Callable, Type, callable};
use crate::chance::Chance;

use Type::{Any, Boolean, Dictionary, Float, Integer, List, Message, Text};

/// How deeply expressions nest at most.
const DEEPEST: usize = 4;

/// Filters whose result is the same every time: `random` is not among them.
const FILTERS: &[Callable] = &[
    callable("abs", Integer, "", Integer),
    callable("attr", Message, "A", Text),
    callable("batch", List, "i?a/linecount,fill_with", List),
    callable("capitalize", Text, "", Text),
    callable("center", Text, "?i/width", Text),
    callable("count", List, "", Integer),
    callable("d", Any, "?ab/default_value,boolean", Any),
    callable("default", Any, "?ab/default_value,boolean", Any),
    callable(
        "dictsort",
        Dictionary,
        "?bKb/case_sensitive,by,reverse",
        List,
    ),
    callable("e", Text, "", Text),
    callable("escape", Text, "", Text),
    callable("filesizeformat", Integer, "?b/binary", Text),
    callable("first", List, "", Any),
    callable("float", Text, "?f/default", Float),
    callable("forceescape", Text, "", Text),
    callable("format", Text, "a?+", Text),
    callable(
        "groupby",
        List,
        "A?ab/attribute,default,case_sensitive",
        List,
    ),
    callable("indent", Text, "?ibb/width,first,blank", Text),
    callable("int", Text, "?ii/default,base", Integer),
    callable("items", Dictionary, "", List),
    callable("join", List, "?tA/d,attribute", Text),
    callable("last", List, "", Any),
    callable("length", List, "", Integer),
    callable("length", Text, "", Integer),
    callable("list", Text, "", List),
    callable("lower", Text, "", Text),
    callable("map", List, "F?+", List),
    callable("map", List, "/", List),
    callable("max", List, "?bA/case_sensitive,attribute", Any),
    callable("min", List, "?bA/case_sensitive,attribute", Any),
    callable("pprint", Any, "", Text),
    callable("reject", List, "?T+", List),
    callable("rejectattr", List, "A?T+", List),
    callable("replace", Text, "tt?i/old,new,count", Text),
    callable("reverse", List, "", List),
    callable("reverse", Text, "", Text),
    callable("round", Float, "?iR/precision,method", Float),
    callable("safe", Text, "", Text),
    callable("select", List, "?T+", List),
    callable("selectattr", List, "A?T+", List),
    callable("slice", List, "i?a/slices,fill_with", List),
    callable("sort", List, "?bbA/reverse,case_sensitive,attribute", List),
    callable("string", Any, "", Text),
    callable("striptags", Text, "", Text),
    callable("sum", List, "?Ai/attribute,start", Integer),
    callable("title", Text, "", Text),
    callable(
        "tojson",
        Any,
        "?bi/ensure_ascii,indent,separators,sort_keys",
        Text,
    ),
    callable(
        "tojson",
        Any,
        "?bi/ensure_ascii,indent,separators,sort_keys",
        Text,
    ),
    callable("trim", Text, "?t/chars", Text),
    callable("truncate", Text, "?ibti/length,killwords,end,leeway", Text),
    callable("unique", List, "?bA/case_sensitive,attribute", List),
    callable("upper", Text, "", Text),
    callable("urlencode", Any, "", Text),
    callable("urlize", Text, "?ibt/trim_url_limit,nofollow,target", Text),
    callable("wordcount", Text, "", Integer),
    callable(
        "wordwrap",
        Text,
        "?ibtb/width,break_long_words,wrapstring,break_on_hyphens",
        Text,
    ),
    callable("xmlattr", Dictionary, "?b/autospace", Text),
];

/// Tests.
const TESTS: &[Callable] = &[
    callable("boolean", Any, "", Boolean),
    callable("callable", Any, "", Boolean),
    callable("defined", Any, "", Boolean),
    callable("divisibleby", Integer, "i", Boolean),
    callable("eq", Any, "a", Boolean),
    callable("equalto", Any, "a", Boolean),
    callable("escaped", Text, "", Boolean),
    callable("even", Integer, "", Boolean),
    callable("false", Boolean, "", Boolean),
    callable("filter", Text, "", Boolean),
    callable("float", Float, "", Boolean),
    callable("ge", Integer, "i", Boolean),
    callable("gt", Integer, "i", Boolean),
    callable("greaterthan", Float, "f", Boolean),
    callable("in", Any, "l", Boolean),
    callable("integer", Integer, "", Boolean),
    callable("iterable", Any, "", Boolean),
    callable("le", Text, "t", Boolean),
    callable("lessthan", Integer, "i", Boolean),
    callable("lower", Text, "", Boolean),
    callable("lt", List, "l", Boolean),
    callable("mapping", Any, "", Boolean),
    callable("ne", Any, "a", Boolean),
    callable("none", Any, "", Boolean),
    callable("number", Any, "", Boolean),
    callable("odd", Integer, "", Boolean),
    callable("sameas", Boolean, "b", Boolean),
    callable("sequence", Any, "", Boolean),
    callable("string", Any, "", Boolean),
    callable("test", Text, "", Boolean),
    callable("true", Boolean, "", Boolean),
    callable("undefined", Any, "", Boolean),
    callable("upper", Text, "", Boolean),
];

/// Methods of Python's types that need no bytes.
const METHODS: &[Callable] = &[
    callable("capitalize", Text, "", Text),
    callable("casefold", Text, "", Text),
    callable("center", Text, "i?c", Text),
    callable("count", Text, "t?ii", Integer),
    callable("endswith", Text, "t?ii", Boolean),
    callable("expandtabs", Text, "?i/tabsize", Text),
    callable("find", Text, "t?ii", Integer),
    callable("format", Text, "a?+", Text),
    callable("format_map", Text, "d", Text),
    callable("index", Text, "t?ii", Integer),
    callable("isalnum", Text, "", Boolean),
    callable("isalpha", Text, "", Boolean),
    callable("isascii", Text, "", Boolean),
    callable("isdecimal", Text, "", Boolean),
    callable("isdigit", Text, "", Boolean),
    callable("isidentifier", Text, "", Boolean),
    callable("islower", Text, "", Boolean),
    callable("isnumeric", Text, "", Boolean),
    callable("isprintable", Text, "", Boolean),
    callable("isspace", Text, "", Boolean),
    callable("istitle", Text, "", Boolean),
    callable("isupper", Text, "", Boolean),
    callable("join", Text, "l", Text),
    callable("ljust", Text, "i?c", Text),
    callable("lower", Text, "", Text),
    callable("lstrip", Text, "?t", Text),
    callable("maketrans", Text, "cc", Dictionary),
    callable("partition", Text, "t", List),
    callable("removeprefix", Text, "t", Text),
    callable("removesuffix", Text, "t", Text),
    callable("replace", Text, "tt?i", Text),
    callable("rfind", Text, "t?ii", Integer),
    callable("rindex", Text, "t?ii", Integer),
    callable("rjust", Text, "i?c", Text),
    callable("rpartition", Text, "t", List),
    callable("rsplit", Text, "?ti/sep,maxsplit", List),
    callable("rstrip", Text, "?t", Text),
    callable("split", Text, "?ti/sep,maxsplit", List),
    callable("splitlines", Text, "?b/keepends", List),
    callable("startswith", Text, "t?ii", Boolean),
    callable("strip", Text, "?t", Text),
    callable("swapcase", Text, "", Text),
    callable("title", Text, "", Text),
    callable("translate", Text, "d", Text),
    callable("upper", Text, "", Text),
    callable("zfill", Text, "i", Text),
    callable("copy", Dictionary, "", Dictionary),
    callable("fromkeys", Dictionary, "l?a", Dictionary),
    callable("get", Dictionary, "t?a", Any),
    callable("items", Dictionary, "", List),
    callable("keys", Dictionary, "", List),
    callable("values", Dictionary, "", List),
    callable("update", Dictionary, "d", Any),
    callable("get", Message, "A?a", Any),
    callable("items", Message, "", List),
    callable("copy", List, "", List),
    callable("count", List, "a", Integer),
    callable("index", List, "a?ii", Integer),
    callable("append", List, "a", Any),
    callable("as_integer_ratio", Float, "", List),
    callable("is_integer", Float, "", Boolean),
    callable("hex", Float, "", Text),
    callable("conjugate", Float, "", Float),
    callable("bit_length", Integer, "", Integer),
    callable("bit_count", Integer, "", Integer),
    callable("as_integer_ratio", Integer, "", List),
    callable("conjugate", Integer, "", Integer),
];

/// Functions.
const FUNCTIONS: &[Callable] = &[
    callable("range", Any, "s", List),
    callable("range", Any, "s?ss", List),
    callable("dict", Any, "?d", Dictionary),
    callable("namespace", Any, "?d", Dictionary),
    callable("cycler", Any, "a+", Any),
    callable("joiner", Any, "?t/sep", Any),
    callable("strftime_now", Any, "C/format", Text),
    callable("raise_exception", Any, "t/message", Any),
    callable("super", Any, "", Text),
    callable("caller", Any, "?a", Text),
];

const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "'Ab c'",
    "'hello wORLD'",
    "' x '",
    "'\\n'",
    "'a\\nb\\r\\nc\\n'",
    "'é'",
    "'日本'",
    "'ß'",
    "'ǆ'",
    "'İ'",
    "'ﬁn'",
    "'ς Σ'",
    "'<b>&\"'",
    "\"it's\"",
    "'%s-%d'",
    "'{}'",
    "'{0!r:>5}'",
    "'1.5'",
    "'12'",
    "'0x1f'",
    "'-7'",
    "' 3 '",
    "'1_000'",
    "'١٢'",
    "'²'",
    "'½'",
    "'nan'",
    "'1e3'",
    "'a,b,,c'",
    "'a b  c'",
    "'a\\tb'",
    "'x' 'y'",
    "'\\u200b'",
    "'\\x85'",
    "'\\x1c'",
    "'\\\\'",
    "'a-b_c d.e'",
    "'http://x.org/?a=1&b=2'",
    "'<p>a</p>'",
    "'&lt;'",
    "'role'",
    "'\u{1f600}'",
    "'e\u{301}'",
    "'Σ'",
    "'aAbB'",
    "'foo bar baz'",
    "'{a}'",
    "'%(a)s'",
    "'None'",
    "'true'",
];

const INTEGERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-2",
    "5",
    "7",
    "10",
    "42",
    "100",
    "255",
    "1000000",
    "1_000",
    "0x1f",
    "0b101",
    "0o17",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "true",
    "false",
    "99999999999999999999",
];

const FLOATS: &[&str] = &[
    "0.0",
    "-0.0",
    "1.0",
    "1.5",
    "2.5",
    "-2.5",
    "0.1",
    "1e16",
    "1e15",
    "1e-5",
    "1e22",
    "123456789.125",
    "1e300",
    "1e-7",
    "3.14159",
    "2.675",
    "'inf'|float",
    "'nan'|float",
    "1_0.5",
    "100.0",
    "1E3",
];

const LISTS: &[&str] = &[
    "[]",
    "[1, 2, 3]",
    "['a', 'b']",
    "['b', 'A', 'a']",
    "[3, 1, 2]",
    "(1, 2)",
    "()",
    "('a',)",
    "[[1, 2], [3]]",
    "[none, 1]",
    "[1, 1.0, true]",
    "['', 'x']",
    "messages",
    "tools",
    "[{'a': 1}, {'a': 2}]",
    "[{'a': 'x', 'b': 1}, {'a': 'X', 'b': 2}]",
    "range(4)",
    "range(5, 0, -2)",
    "[1.5, 2]",
    "'abc'",
    "[('k', 1), ('l', 2)]",
    "[{}]",
    "[undef]",
    "[0, 0]",
    "[true, false]",
    "documents",
];

const DICTIONARIES: &[&str] = &[
    "{}",
    "{'a': 1}",
    "{'a': 1, 'b': [1, 2]}",
    "{'b': 2, 'a': 'x'}",
    "{1: 2}",
    "{none: 1}",
    "{'é': '<'}",
    "{'a': {'b': {'c': none}}}",
    "{1: 'a', true: 'b'}",
    "{'a b': 1}",
    "{(1, 2): 3}",
    "{1.5: 'f'}",
    "{97: 'x'}",
    "{'type': 'function'}",
    "{'A': 1, 'a': 2, 'B': 0}",
];

const MESSAGES: &[&str] = &[
    "messages[0]",
    "messages[-1]",
    "messages|first",
    "messages[0]",
];

const ATTRIBUTES: &[&str] = &[
    "'role'",
    "'content'",
    "'a'",
    "'nope'",
    "'a.b'",
    "0",
    "'0'",
    "'tool_calls'",
    "'b'",
    "1",
    "'a,b'",
];

const OTHERS: &[&str] = &[
    "none",
    "undef",
    "true",
    "false",
    "loop",
    "loop.index",
    "x",
    "y",
    "ns",
    "ns.a",
    "m",
    "self",
    "messages[9]",
    "messages[0].nope",
    "caller",
    "add_generation_prompt",
    "bos_token",
    "undef.x",
    "range",
    "dict",
    "True",
    "None",
    "not_there|d('z')",
    "''|safe",
    "'<'|safe",
    "['a']|map('upper')",
    "{}.items()",
    "varargs",
    "kwargs",
];

const PRINTF: &[&str] = &[
    "'%s'", "'%r'", "'%d'", "'%5d|'", "'%-5s|'", "'%05.1f'", "'%+d'", "'%x'", "'%X'", "'%#x'",
    "'%o'", "'%e'", "'%g'", "'%G'", "'%c'", "'%a'", "'%%'", "'%(a)s'", "'%s %s'", "'%.2s'",
    "'% d'", "'%i'", "'%u'", "'%.0f'", "'%10.3e'", "'%*d'", "'%.3d'", "'%ld'", "'%z'", "'%'",
    "'%#o'", "'%-+5d|'", "'%F'", "'%.10g'",
];

const FORMATS: &[&str] = &[
    "'{}'",
    "'{!r}'",
    "'{:>5}'",
    "'{:<5}|'",
    "'{:^7}|'",
    "'{:*^7}'",
    "'{:05}'",
    "'{:+}'",
    "'{: }'",
    "'{:,}'",
    "'{:_}'",
    "'{:x}'",
    "'{:#x}'",
    "'{:b}'",
    "'{:o}'",
    "'{:e}'",
    "'{:.2f}'",
    "'{:g}'",
    "'{:%}'",
    "'{:.0%}'",
    "'{:c}'",
    "'{:d}'",
    "'{:n}'",
    "'{:s}'",
    "'{:.2}'",
    "'{0}{0}'",
    "'{a}'",
    "'{0.real}'",
    "'{0[0]}'",
    "'{:=+5}'",
    "'{!s:>4}'",
    "'{!a}'",
    "'{{}}'",
    "'{'",
    "'}'",
    "'{:{}}'",
    "'{0:{1}}'",
    "'{:#.3g}'",
    "'{:010,}'",
    "'{:z.1f}'",
    "'{:E}'",
    "'{:G}'",
    "'{:F}'",
    "'{:#b}'",
    "'{:X}'",
    "'{:+.1e}'",
    "'{:<}'",
    "'{!x}'",
    "'{:y}'",
    "'{} {}'",
];

const DATES: &[&str] = &[
    "'%Y-%m-%d'",
    "'%d %B %Y'",
    "'%H:%M:%S'",
    "'%a %b %e'",
    "'%j %U %W'",
    "'%y%%'",
    "'%-d'",
    "'%I %p'",
    "'%c'",
    "'%x %X'",
    "'%Z|%z'",
    "'%f'",
    "'%G-%V-%u'",
    "'%D %T %R'",
    "'%'",
    "'%Q'",
    "'%s'",
    "'%_d %5Y'",
    "'%C %h %n%t'",
];

const TEXT_BETWEEN: &[&str] = &[
    "a",
    "\n",
    " ",
    "  \n  ",
    "<|im_start|>",
    "\t",
    "x\n",
    "é",
    "|",
    "\n\n",
    "",
    "",
    "} ",
    "\r\n",
    "a b",
    "\u{a0}",
    "{ { ",
    "% ",
    "\u{b}",
    "\n    ",
];

const BINARY: &[&str] = &[
    "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in",
    "not in", "==", "in", "~", "+",
];

/// A template.
pub(super) fn template(chance: &mut Chance) -> String {
    let mut writer = Writer { chance, loops: 0 };
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
    for _ in 0..=writer.chance.below(2) {
        writer.statement(2, &mut out);
    }
    out
}

/// Statements.
pub(super) fn statements(chance: &mut Chance) -> String {
    let mut out = String::new();
    Writer { chance, loops: 0 }.body(1, &mut out);
    out
}

/// An expression.
pub(super) fn expression(chance: &mut Chance) -> String {
    let mut writer = Writer { chance, loops: 0 };
    let kind = writer.any_type();
    writer.value(kind, 2)
}

/// A filter, a method or a subscript.
pub(super) fn suffix(chance: &mut Chance) -> String {
    let mut writer = Writer { chance, loops: 0 };
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

/// Writes a template.
struct Writer<'c> {
    chance: &'c mut Chance,
    loops: usize,
}

impl Writer<'_> {
    fn any_type(&mut self) -> Type {
        let types = [
            Text, Text, Text, Integer, Float, Boolean, List, List, Dictionary, Message, Any,
        ];
        self.chance.any(&types).copied().unwrap_or(Any)
    }

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
            _ => {
                self.tag("set ns = namespace(a=0, b='')", out);
                self.iteration(depth, out);
                self.delimited("{{", "ns.a ~ ns.b", "}}", out);
            }
        }
        self.between(out);
    }

    fn pick(&mut self, words: &[&str]) -> String {
        self.chance.word(words).to_owned()
    }

    fn condition(&mut self, kind: Type, depth: usize, out: &mut String) {
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

    /// Arguments of something of which it is not known what it takes.
    fn call(&mut self, most: usize) -> String {
        let mut arguments = Vec::new();
        for _ in 0..self.chance.below(most + 1) {
            let kind = self.any_type();
            arguments.push(self.value(kind, 1));
        }
        if self.chance.one_in(4) {
            let kind = self.any_type();
            arguments.push(format!(
                "{}={}",
                self.chance.word(&["x", "y", "z"]),
                self.value(kind, 1)
            ));
        }
        if self.chance.one_in(12) {
            arguments.push(self.pick(&[
                "*[1, 2]",
                "**{'y': 1}",
                "*messages",
                "**messages[0]",
                "*'ab'",
            ]));
        }
        arguments.join(", ")
    }

    /// A row of a table, if one fits.
    fn callable(
        &mut self,
        table: &'static [Callable],
        fits: impl Fn(&Callable) -> bool,
    ) -> Option<&'static Callable> {
        let rows: Vec<&Callable> = table.iter().filter(|row| fits(row)).collect();
        self.chance.any(&rows).copied()
    }

    fn arguments(&mut self, row: &Callable, depth: usize) -> String {
        let (needed, optional, has_more, names) = row.parts();
        let mut arguments = Vec::new();
        let needed_count = needed.chars().count();
        // Now and then one too few.
        let few = usize::from(self.chance.one_in(40));
        for letter in needed.chars().skip(few) {
            arguments.push(self.argument(letter, depth));
        }
        let mut is_named = false;
        for (at, letter) in optional.chars().enumerate() {
            if self.chance.percent(45) {
                break;
            }
            let name = names.get(needed_count + at);
            let value = self.argument(letter, depth);
            is_named = is_named || name.is_some() && self.chance.one_in(3);
            match name {
                Some(name) if is_named => arguments.push(format!("{name}={value}")),
                _ => arguments.push(value),
            }
        }
        if has_more {
            for _ in 0..self.chance.below(2) {
                let kind = self.any_type();
                arguments.push(self.value(kind, depth.saturating_sub(1)));
            }
        }
        match row.name {
            "map" if needed.is_empty() => {
                arguments.push(format!("attribute={}", self.chance.word(ATTRIBUTES)));
                if self.chance.one_in(3) {
                    let kind = self.any_type();
                    arguments.push(format!("default={}", self.value(kind, 1)));
                }
            }
            "tojson" if self.chance.one_in(4) => {
                arguments.push(self.pick(&[
                    "indent=2",
                    "separators=(',', ':')",
                    "sort_keys=true",
                    "ensure_ascii=false",
                    "indent='\\t'",
                    "indent=none",
                    "indent=0",
                    "separators=(', ', ': ')",
                    "separators=[',', ':']",
                    "indent=-1",
                    "separators=none",
                    "nope=1",
                ]));
            }
            "dict" | "namespace" | "format" if self.chance.one_in(3) => {
                arguments.push(self.pick(&["a=1", "a='x'", "b=2, a=[1]", "**{'a': 3}", "*[1]"]));
            }
            _ => {}
        }
        arguments.join(", ")
    }

    fn argument(&mut self, letter: char, depth: usize) -> String {
        if self.chance.one_in(25) {
            let kind = self.any_type();
            return self.value(kind, depth.saturating_sub(1));
        }
        let depth = depth.saturating_sub(1);
        match letter {
            't' => self.value(Text, depth),
            'c' => self.pick(&["'*'", "' '", "'é'", "'ab'", "'-'", "''"]),
            'i' => {
                if self.chance.percent(70) {
                    self.pick(&["0", "1", "2", "3", "-1", "5", "8", "none", "true", "20"])
                } else {
                    self.value(Integer, depth)
                }
            }
            's' => self.pick(&["0", "1", "3", "-2", "5", "10", "2", "true", "-1"]),
            'f' => self.value(Float, depth),
            'b' => self.pick(&["true", "false", "True", "none", "1", "0"]),
            'l' => self.value(List, depth),
            'd' => self.value(Dictionary, depth),
            'A' => self.pick(ATTRIBUTES),
            'C' => self.pick(DATES),
            'K' => self.pick(&["'key'", "'value'", "'nope'"]),
            'R' => self.pick(&["'common'", "'ceil'", "'floor'", "'nope'"]),
            'F' => {
                let row = self.callable(FILTERS, |row| {
                    !row.arguments.starts_with(|c: char| c.is_lowercase())
                });
                row.map_or_else(String::new, |row| format!("'{}'", row.name))
            }
            'T' => {
                let row = self.callable(TESTS, |_| true);
                row.map_or_else(String::new, |row| {
                    let (needed, ..) = row.parts();
                    let value = needed
                        .chars()
                        .next()
                        .map(|letter| self.argument(letter, depth));
                    format!(
                        "'{}'{}",
                        row.name,
                        value.map_or_else(String::new, |value| format!(", {value}"))
                    )
                })
            }
            _ => {
                let kind = self.any_type();
                self.value(kind, depth)
            }
        }
    }

    /// A filter for a value of a type, with what it gives.
    fn filter(&mut self, kind: Type, depth: usize) -> Option<(String, Type)> {
        let fits = |row: &Callable| row.of == kind || row.of == Any || kind == Any;
        let row = self.callable(FILTERS, fits)?;
        let arguments = self.arguments(row, depth);
        let text = if arguments.is_empty() && !self.chance.one_in(10) {
            format!("|{}", row.name)
        } else {
            format!("|{}({arguments})", row.name)
        };
        Some((text, row.gives))
    }

    /// A subscript of a value of a type.
    fn subscript(&mut self, kind: Type, depth: usize) -> String {
        let is_sequence = matches!(kind, Text | List) || self.chance.one_in(20);
        match self.chance.below(8) {
            0 if is_sequence => format!(
                "[{}]",
                self.chance.word(&["0", "-1", "1", "true", "9", "-9"])
            ),
            0 => format!("[{}]", self.value(Integer, depth.min(1))),
            1 => format!("[{}]", self.value(Text, depth.min(1))),
            2.. if is_sequence => {
                let mut part = || {
                    self.pick(&[
                        "", "", "", "0", "1", "-1", "2", "-2", "5", "none", "-9", "99", "true",
                    ])
                };
                let (begin, end, step) = (part(), part(), part());
                match step.as_str() {
                    "0" | "true" => format!("[{begin}:{end}]"),
                    _ => format!("[{begin}:{end}:{step}]"),
                }
            }
            _ => self.pick(&["['role']", ".role", ".content", "['a']", ".a", ".0", "[1:]"]),
        }
    }

    fn atom(&mut self, kind: Type) -> String {
        match kind {
            Text => {
                if self.chance.one_in(8) {
                    self.pick(&[
                        "messages[0].content",
                        "messages[0]['role']",
                        "bos_token",
                        "x",
                        "messages[-1].content",
                    ])
                } else {
                    self.pick(TEXTS)
                }
            }
            Integer => self.pick(INTEGERS),
            Float => self.pick(FLOATS),
            Boolean => self.pick(&[
                "true",
                "false",
                "add_generation_prompt",
                "x",
                "tools",
                "messages",
                "not tools",
                "undef",
                "none",
            ]),
            List => self.pick(LISTS),
            Dictionary => self.pick(DICTIONARIES),
            Message => self.pick(MESSAGES),
            Any => self.pick(OTHERS),
        }
    }

    /// An expression that mostly has a type.
    fn value(&mut self, kind: Type, depth: usize) -> String {
        if depth == 0 || self.chance.one_in(3) {
            return if self.chance.one_in(30) {
                self.atom(Any)
            } else {
                self.atom(kind)
            };
        }
        if self.chance.one_in(25) {
            let kind = self.any_type();
            return self.value(kind, depth - 1);
        }
        match self.chance.below(22) {
            0..=4 => {
                let of = self.any_type();
                let from = if kind == Any { of } else { kind };
                let gives =
                    |row: &Callable| row.gives == from || row.gives == Any && row.of == from;
                let Some(row) = self.callable(FILTERS, gives) else {
                    return self.atom(kind);
                };
                let value = self.bracketed(row.of, depth - 1);
                let arguments = self.arguments(row, depth - 1);
                let call = if arguments.is_empty() {
                    String::new()
                } else {
                    format!("({arguments})")
                };
                format!("{value}|{}{call}", row.name)
            }
            5..=8 => {
                let Some(row) = self.callable(METHODS, |row| kind == Any || row.gives == kind)
                else {
                    return self.atom(kind);
                };
                let value = self.bracketed(row.of, depth - 1);
                let arguments = self.arguments(row, depth - 1);
                format!("{value}.{}({arguments})", row.name)
            }
            9 => {
                let Some(row) = self.callable(FUNCTIONS, |row| kind == Any || row.gives == kind)
                else {
                    return self.atom(kind);
                };
                let arguments = self.arguments(row, depth - 1);
                format!("{}({arguments})", row.name)
            }
            10 | 11 if kind == Text => self.formatted(depth),
            10..=12 => {
                let value = self.bracketed(kind, depth - 1);
                format!("{value}{}", self.subscript(kind, depth - 1))
            }
            13..=15 => self.operation(kind, depth),
            16 => {
                let other = self.value(kind, depth - 1);
                let condition = self.value(Boolean, depth - 1);
                let value = self.value(kind, depth - 1);
                if self.chance.one_in(4) {
                    format!("({value} if {condition})")
                } else {
                    format!("({value} if {condition} else {other})")
                }
            }
            17 | 18 if kind == Boolean => self.tested(depth),
            17 => {
                let (sign, of) = match self.chance.below(5) {
                    0 => ("-", Integer),
                    1 => ("+", Float),
                    2 => ("- -", Float),
                    3 => ("-", kind),
                    _ => ("not ", kind),
                };
                format!("({sign}{})", self.value(of, depth - 1))
            }
            18 => self.collected(kind, depth),
            19 => self.tested(depth),
            _ => self.atom(kind),
        }
    }

    fn formatted(&mut self, depth: usize) -> String {
        let kind = self.any_type();
        if self.chance.one_in(2) {
            let value = match self.chance.below(4) {
                0 => self.value(kind, depth - 1),
                1 => self.value(Integer, depth - 1),
                2 => self.value(Float, depth - 1),
                _ => format!("({}, {})", self.atom(kind), self.atom(Integer)),
            };
            let form = self.pick(PRINTF);
            if self.chance.one_in(3) {
                format!("{form}|format({value})")
            } else {
                format!("{form} % ({value})")
            }
        } else {
            let kind = if self.chance.one_in(2) { Float } else { kind };
            let kind = if self.chance.one_in(3) { Integer } else { kind };
            let value = self.value(kind, depth - 1);
            let more = self.pick(&["", ", 5", ", a=1", ", 'x'"]);
            format!("{}.format({value}{more})", self.chance.word(FORMATS))
        }
    }

    fn operation(&mut self, kind: Type, depth: usize) -> String {
        let sign = match kind {
            Text => self.pick(&["~", "+", "*", "%", "~", "or"]),
            Integer | Float => self.pick(&["+", "-", "*", "/", "//", "%", "**"]),
            Boolean => self.pick(&[
                "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in",
            ]),
            List => self.pick(&["+", "*", "or", "and"]),
            _ if self.chance.one_in(4) => self.pick(BINARY),
            _ => self.pick(&["or", "and", "~", "=="]),
        };
        let of = if matches!(kind, Boolean | Any) {
            self.any_type()
        } else {
            kind
        };
        let left = self.value(of, depth - 1);
        let other = match (sign.as_str(), kind) {
            ("*", Text | List) => Integer,
            ("~", _) => self.any_type(),
            ("in" | "not in", _) => List,
            _ => of,
        };
        let right = if sign == "**" {
            self.pick(&["2", "-1", "0", "0.5", "3"])
        } else {
            self.value(other, depth - 1)
        };
        let chain = if kind == Boolean && self.chance.one_in(6) {
            format!(" < {}", self.atom(of))
        } else {
            String::new()
        };
        format!("({left} {sign} {right}{chain})")
    }

    fn tested(&mut self, depth: usize) -> String {
        let Some(row) = self.callable(TESTS, |_| true) else {
            return "true".to_owned();
        };
        let of = if self.chance.one_in(4) {
            self.any_type()
        } else {
            row.of
        };
        let value = self.bracketed(of, depth - 1);
        let arguments = self.arguments(row, depth - 1);
        let arguments = match arguments.as_str() {
            "" => String::new(),
            // A single value needs no brackets.
            one if self.chance.one_in(3) && !one.contains([' ', '|', ',']) => format!(" {one}"),
            _ => format!("({arguments})"),
        };
        let not = if self.chance.one_in(4) { "not " } else { "" };
        format!("({value} is {not}{}{arguments})", row.name)
    }

    fn collected(&mut self, kind: Type, depth: usize) -> String {
        let mut items = Vec::new();
        for _ in 0..self.chance.below(4) {
            let of = self.any_type();
            let value = self.value(of, depth - 1);
            items.push(if kind == Dictionary {
                let key = if self.chance.one_in(5) {
                    self.any_type()
                } else {
                    Text
                };
                format!("{}: {value}", self.atom(key))
            } else {
                value
            });
        }
        match kind {
            Dictionary => format!("{{{}}}", items.join(", ")),
            _ if self.chance.one_in(3) && !items.is_empty() => format!("({},)", items.join(", ")),
            _ => format!("[{}]", items.join(", ")),
        }
    }

    /// A value before something that binds more strongly than any operator.
    fn bracketed(&mut self, kind: Type, depth: usize) -> String {
        let value = self.value(kind, depth);
        let is_plain = value.starts_with(['[', '(', '{', '\'', '"']) && !value.contains([' ', '|'])
            || value
                .chars()
                .all(|c| c.is_alphanumeric() || c == '_' || c == '.')
                && !value.starts_with(|c: char| c.is_ascii_digit());
        if is_plain || self.chance.one_in(12) {
            value
        } else {
            format!("({value})")
        }
    }
}
