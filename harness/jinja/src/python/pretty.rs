//! Values over several lines, as CPython's `pprint.pformat` writes them (3.11, `pprint.py`)
//! with its defaults: 80 columns, dictionaries sorted by their keys.

use minijinja::Error;
use minijinja::value::{Value, ValueKind};

use crate::meter::{CHARACTER, ITEM, SLOT, nested, produce, work};
use crate::python::characters::{is_space, lines};
use crate::python::groups::group_parts;
use crate::python::kinds::{is_dictionary, is_list};
use crate::python::text::{sorted_pairs, sorted_repr};

/// How many columns a line may have.
const WIDTH: usize = 80;

/// `pprint.pformat(value)`
pub(crate) fn pretty(value: &Value) -> Result<String, Error> {
    let mut printer = Printer { out: String::new() };
    printer.value(value, 0, 0, 0)?;
    Ok(printer.out)
}

struct Printer {
    out: String,
}

impl Printer {
    /// Appends a value that begins in the column `indent`, and leaves `allowance` columns free
    /// after it on its last line. If it is too long for one line, each item gets its own line.
    /// `level` counts the values around it.
    fn value(
        &mut self,
        value: &Value,
        indent: usize,
        allowance: usize,
        level: usize,
    ) -> Result<(), Error> {
        work(ITEM)?;
        let repr = sorted_repr(value)?;
        work(repr.len())?;
        if fits(&repr, indent + allowance) {
            return self.push(&repr);
        }
        if let Some(text) = value.as_str()
            && !value.is_safe()
        {
            return self.text(text, indent, allowance, level + 1);
        }
        if group_parts(value).is_some() {
            return self.push(&repr);
        }
        nested(|| match value.kind() {
            ValueKind::Map if is_dictionary(value) => {
                self.dictionary(value, indent, allowance, level + 1)
            }
            _ if value.is_tuple() => {
                let close = if value.len() == Some(1) { ",)" } else { ")" };
                self.items(value, ("(", close), indent, allowance, level + 1)
            }
            _ if is_list(value) => self.items(value, ("[", "]"), indent, allowance, level + 1),
            _ => self.push(&repr),
        })?
    }

    fn push(&mut self, text: &str) -> Result<(), Error> {
        produce(text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    fn line_break(&mut self, indent: usize) -> Result<(), Error> {
        produce(indent + 1)?;
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        Ok(())
    }

    fn dictionary(
        &mut self,
        value: &Value,
        indent: usize,
        allowance: usize,
        level: usize,
    ) -> Result<(), Error> {
        let pairs = sorted_pairs(value)?;
        let len = pairs.len();
        let indent = indent + 1;
        self.push("{")?;
        for (at, (key, item)) in pairs.into_iter().enumerate() {
            if at > 0 {
                self.push(",")?;
                self.line_break(indent)?;
            }
            let key = sorted_repr(&key)?;
            self.push(&key)?;
            self.push(": ")?;
            let after = if at + 1 == len { allowance + 1 } else { 1 };
            self.value(&item, indent + key.chars().count() + 2, after, level)?;
        }
        self.push("}")
    }

    fn items(
        &mut self,
        value: &Value,
        (open, close): (&str, &str),
        indent: usize,
        allowance: usize,
        level: usize,
    ) -> Result<(), Error> {
        let len = value.len().unwrap_or(0);
        let indent = indent + 1;
        self.push(open)?;
        for (at, item) in value.try_iter()?.enumerate() {
            if at > 0 {
                self.push(",")?;
                self.line_break(indent)?;
            }
            let is_last = at + 1 == len;
            let after = if is_last { allowance + close.len() } else { 1 };
            self.value(&item, indent, after, level)?;
        }
        self.push(close)
    }

    /// Appends a text that is too long for a line, in several strings: first one for each of its
    /// lines, and where that is too long, between words. A text that is not within another value is
    /// in brackets.
    fn text(
        &mut self,
        text: &str,
        indent: usize,
        allowance: usize,
        level: usize,
    ) -> Result<(), Error> {
        let is_outermost = level == 1;
        let (indent, allowance) = if is_outermost {
            (indent + 1, allowance + 1)
        } else {
            (indent, allowance)
        };
        work(text.len().saturating_mul(4 * CHARACTER))?;
        let mut strings: Vec<String> = Vec::new();
        let mut lines = lines(text, true).peekable();
        while let Some(line) = lines.next() {
            let is_last_line = lines.peek().is_none();
            let after = if is_last_line { allowance } else { 0 };
            let repr = sorted_repr(&Value::from(line))?;
            produce(SLOT + repr.len())?;
            if fits(&repr, indent + after) {
                strings.push(repr);
                continue;
            }
            let mut current = String::new();
            let mut words = words(line).peekable();
            while let Some(word) = words.next() {
                work(ITEM + (current.len() + word.len()) * CHARACTER)?;
                let is_last = is_last_line && words.peek().is_none();
                let candidate = format!("{current}{word}");
                let candidate_repr = sorted_repr(&Value::from(candidate.as_str()))?;
                if fits(
                    &candidate_repr,
                    indent + if is_last { allowance } else { 0 },
                ) {
                    current = candidate;
                    continue;
                }
                if !current.is_empty() {
                    produce(SLOT + current.len())?;
                    strings.push(sorted_repr(&Value::from(current.as_str()))?);
                }
                word.clone_into(&mut current);
            }
            if !current.is_empty() {
                strings.push(sorted_repr(&Value::from(current))?);
            }
        }
        let in_brackets = is_outermost && strings.len() > 1;
        if in_brackets {
            self.push("(")?;
        }
        for (at, string) in strings.iter().enumerate() {
            if at > 0 {
                self.line_break(indent)?;
            }
            self.push(string)?;
        }
        if in_brackets {
            self.push(")")?;
        }
        Ok(())
    }
}

/// Whether a text fits in a line with so many occupied columns.
fn fits(repr: &str, taken: usize) -> bool {
    WIDTH
        .checked_sub(taken)
        .is_some_and(|room| repr.len() <= room || repr.chars().count() <= room)
}

/// The words of a line, each with the white space after it; white space at the beginning is a word
/// of its own.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let word = rest.find(is_space).unwrap_or(rest.len());
        let space = rest[word..].find(|c| !is_space(c));
        let (first, after) = rest.split_at(space.map_or(rest.len(), |space| word + space));
        rest = after;
        Some(first)
    })
}
