//! Parses the text of a field: the content parsers.

use indexmap::{IndexMap, IndexSet};

use crate::call_list;
use crate::failure::{Kind, ParseError, PatternError, raised};
use crate::pattern::budget::Budget;
use crate::pattern::search::{Pattern, escape};
use crate::python::{self, NotJson};
use crate::text::Text;
use crate::value::{Object, Value};

/// The names of the content parsers.
pub(crate) const PARSERS: [&str; 8] = [
    "text",
    "int",
    "float",
    "bool",
    "json",
    "xml-inline",
    "kv-lines",
    "python-call-list",
];

/// Patterns that the parsers of a field need, by their texts.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    compiled: IndexMap<String, Result<Pattern, PatternError>>,
}

/// Marks the place of a string that was taken out of lax JSON.
const OPEN: u32 = 1;
const CLOSE: u32 = 2;

/// What lax JSON looks for to quote keys: strings, which stay as they are, and keys after a brace
/// or a comma with the blanks around them.
const UNQUOTED_KEY: &str = r#""[^"\\]*(?:\\[^\n][^"\\]*)*"|(?<=[{,])(\s*)(\w+)(\s*):"#;

impl Patterns {
    /// Compiles what a parser with these arguments needs. The error has the keys that lead to a
    /// pattern that is not supported; a wrong one is an error when it is used.
    pub(crate) fn collect(
        &mut self,
        parser: &str,
        args: &Value,
    ) -> Result<(), (String, PatternError)> {
        let Value::Object(entries) = args else {
            return Ok(());
        };
        let get = |key: &str| entries.get(&Text::from(key));
        if parser == "xml-inline"
            && let Some(Value::Text(pattern)) = get("tag_pattern")
        {
            self.add(&pattern.to_string())
                .map_err(|error| ("tag_pattern".to_owned(), error))?;
        }
        if parser == "json" {
            if get("unquoted_keys").is_some_and(Value::is_true) {
                self.add(UNQUOTED_KEY)
                    .map_err(|error| ("unquoted_keys".to_owned(), error))?;
            }
            if let Some(delims) = get("string_delims").filter(|delims| delims.is_true()) {
                // What is no pair is an error when it is used.
                for pattern in delimited_patterns(delims).unwrap_or_default() {
                    self.add(&pattern)
                        .map_err(|error| ("string_delims".to_owned(), error))?;
                }
            }
        }
        if (parser == "xml-inline" || parser == "kv-lines")
            && let Some(Value::Object(inner)) = get("value_parser")
        {
            let name = match inner.get(&Text::from("name")) {
                Some(Value::Text(name)) => name.to_string(),
                _ => return Ok(()),
            };
            if let Some(args) = inner.get(&Text::from("args")) {
                self.collect(&name, args)
                    .map_err(|(path, error)| (format!("value_parser.args.{path}"), error))?;
            }
        }
        Ok(())
    }

    /// The patterns that can be used.
    pub(crate) fn usable(&self) -> impl Iterator<Item = &Pattern> {
        self.compiled.values().flatten()
    }

    fn add(&mut self, pattern: &str) -> Result<(), PatternError> {
        match Pattern::new(pattern) {
            Err(error) if error.unsupported => Err(error),
            other => {
                self.compiled.insert(pattern.to_owned(), other);
                Ok(())
            }
        }
    }

    fn get(&self, pattern: &str) -> Result<&Pattern, ParseError> {
        match self.compiled.get(pattern) {
            Some(Ok(pattern)) => Ok(pattern),
            Some(Err(error)) => {
                let message = format!(
                    "the pattern `{pattern}` is wrong at {}: {}",
                    error.at, error.message
                );
                Err(raised(Kind::Pattern, message))
            }
            None => Err(raised(
                Kind::Pattern,
                format!("the pattern `{pattern}` is unknown"),
            )),
        }
    }
}

pub(crate) struct Parsing<'a> {
    pub(crate) patterns: &'a Patterns,
    pub(crate) budget: &'a mut Budget,
}

/// The arguments of a parser. Python asks any value for a key, and most have none.
#[derive(Clone, Copy)]
struct Args<'a>(&'a Object);

impl<'a> Args<'a> {
    fn of(args: &'a Value) -> Result<Args<'a>, ParseError> {
        match args {
            Value::Object(entries) => Ok(Args(entries)),
            other => {
                let message = format!(
                    "the arguments of a parser are {}, not an object",
                    other.type_name()
                );
                Err(raised(Kind::Attribute, message))
            }
        }
    }

    fn get(self, key: &str) -> Option<&'a Value> {
        self.0.get(&Text::from(key))
    }

    fn is_true(self, key: &str, default: bool) -> bool {
        self.get(key).map_or(default, Value::is_true)
    }
}

/// The text that a parser gets: `None` is a group that took no part in a match.
type Raw<'t> = Option<&'t [u32]>;

fn none(what: &str) -> String {
    format!("there is no text to {what}: a group took no part in the match")
}

impl Parsing<'_> {
    pub(crate) fn parse(
        &mut self,
        raw: Raw<'_>,
        parser: &Value,
        args: &Value,
    ) -> Result<Value, ParseError> {
        let name = match parser {
            Value::List(_) | Value::Object(_) => {
                return Err(raised(
                    Kind::Type,
                    "the name of a parser is a list or an object",
                ));
            }
            Value::Text(name) => name.to_string(),
            other => format!("{other:?}"),
        };
        if !PARSERS.contains(&name.as_str()) {
            return Err(raised(Kind::Key, format!("there is no parser `{name}`")));
        }
        // It has no arguments, and looks at none.
        if name == "python-call-list" {
            let text = raw.ok_or_else(|| raised(Kind::Type, none("look for calls in")))?;
            return call_list::parse(text);
        }
        let args = Args::of(args)?;
        match name.as_str() {
            "text" => {
                Ok(stripped(raw, args)?.map_or(Value::Null, |text| Value::Text(Text::from(text))))
            }
            "int" => {
                let text = stripped(raw, args)?
                    .ok_or_else(|| raised(Kind::Type, none("read as an integer")))?;
                python::integer(text).map(Value::Integer)
            }
            "float" => {
                let text = stripped(raw, args)?
                    .ok_or_else(|| raised(Kind::Type, none("read as a number")))?;
                python::float(text).map(Value::Float)
            }
            "bool" => {
                let text = stripped(raw, args)?
                    .ok_or_else(|| raised(Kind::Attribute, none("read as a truth value")))?;
                Ok(Value::Bool(python::is_word(text, &["true", "1"])))
            }
            "json" => self.json(raw, args),
            "xml-inline" => self.tags(raw, args),
            _ => self.lines(raw, args),
        }
    }

    fn json(&mut self, raw: Raw<'_>, args: Args<'_>) -> Result<Value, ParseError> {
        let delims = args.get("string_delims");
        let Some(raw) = raw else {
            return Err(raised(Kind::Type, none("read as JSON")));
        };
        let mut text = raw.to_vec();
        let mut strings: Vec<Text> = Vec::new();
        if let Some(delims) = delims {
            let is_marked = raw.iter().any(|code| matches!(*code, OPEN | CLOSE));
            if delims.is_true() && is_marked {
                return Err(raised(
                    Kind::Value,
                    "the text has a character that marks strings of lax JSON",
                ));
            }
            for pattern in pairs(delims)? {
                text = self.without_strings(&pattern?, &text, &mut strings)?;
            }
        }
        if args.is_true("unquoted_keys", false) {
            text = self.with_quoted_keys(&text)?;
        }
        for (number, string) in strings.iter().enumerate() {
            text = replace(&text, &mark(number), python::quoted(string.codes()).codes());
        }
        match python::json(&text) {
            Ok(value) => Ok(value),
            Err(NotJson::Decode(_)) if args.is_true("allow_non_json", false) => {
                Ok(stripped(Some(raw), args)?
                    .map_or(Value::Null, |text| Value::Text(Text::from(text))))
            }
            Err(fault) => Err(fault.into()),
        }
    }

    /// Takes strings with delimiters of their own out of a text.
    fn without_strings(
        &mut self,
        pattern: &str,
        text: &[u32],
        strings: &mut Vec<Text>,
    ) -> Result<Vec<u32>, ParseError> {
        let pattern = self.patterns.get(pattern)?;
        let mut out = Vec::with_capacity(text.len());
        let mut from = 0;
        for found in pattern.all(text, self.budget)? {
            out.extend(&text[from..found.start]);
            let (start, end) = found.group(1).unwrap_or((found.start, found.start));
            out.extend(mark(strings.len()));
            strings.push(Text::from(&text[start..end]));
            from = found.end;
        }
        out.extend(&text[from..]);
        Ok(out)
    }

    fn with_quoted_keys(&mut self, text: &[u32]) -> Result<Vec<u32>, ParseError> {
        let pattern = self.patterns.get(UNQUOTED_KEY)?;
        let quote = u32::from('"');
        let mut out = Vec::with_capacity(text.len());
        let mut from = 0;
        for found in pattern.all(text, self.budget)? {
            if let Some((start, end)) = found.group(2) {
                out.extend(&text[from..start]);
                out.push(quote);
                out.extend(&text[start..end]);
                out.push(quote);
                from = end;
            }
        }
        out.extend(&text[from..]);
        Ok(out)
    }

    fn value(&mut self, raw: Raw<'_>, parser: Option<&Value>) -> Result<Value, ParseError> {
        let parser = match parser {
            None | Some(Value::Null) => {
                return Ok(raw.map_or(Value::Null, |text| Value::Text(Text::from(text))));
            }
            Some(parser) => Args::of(parser)?,
        };
        let text = Value::Text(Text::from("text"));
        let no_args = Value::Object(Object::new());
        self.parse(
            raw,
            parser.get("name").unwrap_or(&text),
            parser.get("args").unwrap_or(&no_args),
        )
    }

    fn tags(&mut self, raw: Raw<'_>, args: Args<'_>) -> Result<Value, ParseError> {
        let pattern = match args.get("tag_pattern") {
            None | Some(Value::Null) => {
                return Err(raised(
                    Kind::Value,
                    "the parser `xml-inline` needs a `tag_pattern`",
                ));
            }
            Some(Value::Text(pattern)) => self.patterns.get(&pattern.to_string())?,
            Some(_) => return Err(raised(Kind::Type, "the `tag_pattern` is no text")),
        };
        let Some(raw) = raw else {
            return Err(raised(Kind::Type, none("look for tags in")));
        };
        let merges = args.is_true("merge_duplicates", false);
        let mut out = Object::new();
        let mut lists = IndexSet::new();
        for found in pattern.all(raw, self.budget)? {
            let groups = pattern.named(&found);
            let group = |name: &str| {
                groups
                    .iter()
                    .find(|(own, _)| *own == name)
                    .map(|(_, span)| *span)
            };
            let part = |(start, end): (usize, usize)| &raw[start..end];
            let Some(key) = group("key").flatten().map(part) else {
                return Err(raised(
                    Kind::Value,
                    "the `tag_pattern` has no group `key`, or it took no part",
                ));
            };
            let no_text: &[u32] = &[];
            let text = group("value").map_or(Some(no_text), |span| span.map(part));
            let value = self.value(text, args.get("value_parser"))?;
            let key = Text::from(key);
            match out.get_mut(&key) {
                Some(before) if merges => {
                    // A first value that is a list itself is one value.
                    if lists.insert(key) {
                        let first = std::mem::replace(before, Value::Null);
                        *before = Value::List(vec![first]);
                    }
                    if let Value::List(values) = before {
                        values.push(value);
                    }
                }
                _ => {
                    out.insert(key, value);
                }
            }
        }
        Ok(Value::Object(out))
    }

    fn lines(&mut self, raw: Raw<'_>, args: Args<'_>) -> Result<Value, ParseError> {
        let Some(raw) = raw else {
            return Err(raised(Kind::Attribute, none("split into lines")));
        };
        let newline = Value::Text(Text::from("\n"));
        let colon = Value::Text(Text::from(":"));
        let separator = args.get("kv_sep").unwrap_or(&colon);
        let mut out = Object::new();
        for line in split(raw, args.get("line_sep").unwrap_or(&newline))? {
            let line = stripped(Some(line), args)?.unwrap_or_default();
            if line.is_empty() {
                continue;
            }
            let Value::Text(separator) = separator else {
                return Err(raised(Kind::Type, "the `kv_sep` is no text"));
            };
            let separator = separator.codes();
            if separator.is_empty() {
                return Err(raised(Kind::Value, "the `kv_sep` is empty"));
            }
            let Some(at) = line
                .windows(separator.len())
                .position(|part| part == separator)
            else {
                continue;
            };
            let key = stripped(Some(&line[..at]), args)?.unwrap_or_default();
            let value = stripped(Some(&line[at + separator.len()..]), args)?;
            let value = self.value(value, args.get("value_parser"))?;
            out.insert(Text::from(key), value);
        }
        Ok(Value::Object(out))
    }
}

/// The text without outer white space, unless `strip` is false.
fn stripped<'t>(raw: Raw<'t>, args: Args<'_>) -> Result<Raw<'t>, ParseError> {
    if !args.is_true("strip", true) {
        return Ok(raw);
    }
    match raw {
        Some(text) => Ok(Some(python::strip(text))),
        None => Err(raised(Kind::Attribute, none("strip"))),
    }
}

/// The parts of a text, as `str.split` gives them.
fn split<'t>(text: &'t [u32], separator: &Value) -> Result<Vec<&'t [u32]>, ParseError> {
    let separator = match separator {
        Value::Text(separator) if separator.is_empty() => {
            return Err(raised(Kind::Value, "the `line_sep` is empty"));
        }
        Value::Text(separator) => separator.codes(),
        Value::Null => return Ok(python::words(text)),
        _ => return Err(raised(Kind::Type, "the `line_sep` is no text")),
    };
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(separator) {
            parts.push(&text[start..at]);
            at += separator.len();
            start = at;
        } else {
            at += 1;
        }
    }
    parts.push(&text[start..]);
    Ok(parts)
}

fn mark(number: usize) -> Vec<u32> {
    let digits = number.to_string();
    let digits = digits.bytes().map(u32::from);
    std::iter::once(OPEN).chain(digits).chain([CLOSE]).collect()
}

fn replace(text: &[u32], wanted: &[u32], by: &[u32]) -> Vec<u32> {
    let mut out = Vec::with_capacity(text.len() + by.len());
    let mut rest = text;
    while let Some(&code) = rest.first() {
        if let Some(after) = rest.strip_prefix(wanted) {
            out.extend(by);
            rest = after;
        } else {
            out.push(code);
            rest = &rest[1..];
        }
    }
    out
}

/// The patterns of strings between delimiters, in the order in which they are used.
fn pairs(delims: &Value) -> Result<Vec<Result<String, ParseError>>, ParseError> {
    let items: Vec<Value> = match delims {
        Value::List(items) => items.clone(),
        Value::Object(entries) => entries.keys().cloned().map(Value::Text).collect(),
        Value::Text(text) => characters(text),
        other => {
            let message = format!("the `string_delims` are {}, not a list", other.type_name());
            return Err(raised(Kind::Type, message));
        }
    };
    Ok(items.iter().map(pair).collect())
}

fn characters(text: &Text) -> Vec<Value> {
    text.codes()
        .iter()
        .map(|code| Value::Text(Text::from(vec![*code])))
        .collect()
}

fn pair(item: &Value) -> Result<String, ParseError> {
    let parts = match item {
        Value::List(parts) => parts.clone(),
        Value::Object(entries) => entries.keys().cloned().map(Value::Text).collect(),
        Value::Text(text) => characters(text),
        other => {
            let message = format!("a pair of `string_delims` is {}", other.type_name());
            return Err(raised(Kind::Type, message));
        }
    };
    let [open, close] = parts.as_slice() else {
        return Err(raised(
            Kind::Value,
            "a pair of `string_delims` does not have two parts",
        ));
    };
    let escaped = |part: &Value| match part {
        Value::Text(text) => Ok(escape(&text.to_string())),
        _ => Err(raised(Kind::Type, "a part of `string_delims` is no text")),
    };
    Ok(format!("{}(.*?){}", escaped(open)?, escaped(close)?))
}

/// The patterns that can be used, as far as there are any.
fn delimited_patterns(delims: &Value) -> Option<Vec<String>> {
    let pairs = pairs(delims).ok()?;
    Some(pairs.into_iter().filter_map(Result::ok).collect())
}
