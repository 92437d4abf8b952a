//! Expressions of Jinja templates, each with a wanted type.

use super::super::arguments::{CallableSignature, ValueType};
use super::vocabulary::{
    ATTRIBUTES, BINARY, DATES, DICTIONARIES, FILTERS, FLOATS, FORMATS, FUNCTIONS, INTEGERS, LISTS,
    MESSAGES, METHODS, OTHERS, PRINTF, TESTS, TEXTS,
};
use rolecall_core::chance::Chance;

use ValueType::{Any, Boolean, Dictionary, Float, Integer, List, Message, Text};

/// How deeply expressions nest at most.
pub(super) const DEEPEST: usize = 4;

pub(super) struct JinjaWriter<'c> {
    pub(super) chance: &'c mut Chance,
    pub(super) loops: usize,
}

impl JinjaWriter<'_> {
    pub(super) fn any_type(&mut self) -> ValueType {
        let types = [
            Text, Text, Text, Integer, Float, Boolean, List, List, Dictionary, Message, Any,
        ];
        self.chance.any(&types).copied().unwrap_or(Any)
    }

    pub(super) fn pick(&mut self, words: &[&str]) -> String {
        self.chance.word(words).to_owned()
    }

    /// Arguments for a callable with an unknown signature.
    pub(super) fn call(&mut self, most: usize) -> String {
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

    /// A call that fits, from a table.
    pub(super) fn callable(
        &mut self,
        table: &'static [CallableSignature],
        fits: impl Fn(&CallableSignature) -> bool,
    ) -> Option<&'static CallableSignature> {
        let rows: Vec<&CallableSignature> = table.iter().filter(|row| fits(row)).collect();
        self.chance.any(&rows).copied()
    }

    pub(super) fn arguments(&mut self, row: &CallableSignature, depth: usize) -> String {
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

    pub(super) fn argument(&mut self, letter: char, depth: usize) -> String {
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

    /// A filter for a value of a type, with the type of its result.
    pub(super) fn filter(&mut self, kind: ValueType, depth: usize) -> Option<(String, ValueType)> {
        let fits = |row: &CallableSignature| row.of == kind || row.of == Any || kind == Any;
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
    pub(super) fn subscript(&mut self, kind: ValueType, depth: usize) -> String {
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

    pub(super) fn atom(&mut self, kind: ValueType) -> String {
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

    /// An expression that mostly has this type.
    pub(super) fn value(&mut self, kind: ValueType, depth: usize) -> String {
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
                let gives = |row: &CallableSignature| {
                    row.gives == from || row.gives == Any && row.of == from
                };
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

    pub(super) fn formatted(&mut self, depth: usize) -> String {
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

    pub(super) fn operation(&mut self, kind: ValueType, depth: usize) -> String {
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

    pub(super) fn tested(&mut self, depth: usize) -> String {
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

    pub(super) fn collected(&mut self, kind: ValueType, depth: usize) -> String {
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
    pub(super) fn bracketed(&mut self, kind: ValueType, depth: usize) -> String {
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
