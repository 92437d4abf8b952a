//! Reads a pattern in the language of Python's `regex`, version 0, with the flag DOTALL.
//!
//! What `regex` has and this crate has not is unsupported, never read in another way.

use crate::failure::PatternError;
use crate::pattern::tree::{Assertion, One, Reference, RepeatKind, Tree};

/// Groups may be nested this deeply. Python's own limit is near it.
const DEEPEST: usize = 100;

/// A repeat's largest count is below this.
const UNLIMITED: u64 = u32::MAX as u64;

/// A pattern that has been read.
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    pub(crate) groups: usize,
    /// The names of groups, with their numbers from 1.
    pub(crate) names: Vec<(String, usize)>,
}

pub(crate) fn read(pattern: &str) -> Result<Parsed, PatternError> {
    let mut reader = Reader {
        text: pattern.chars().collect(),
        at: 0,
        depth: 0,
        flags: Flags {
            dot_all: true,
            multiline: false,
        },
        groups: 0,
        names: Vec::new(),
        open: Vec::new(),
    };
    let mut tree = reader.branches()?;
    if reader.at < reader.text.len() {
        return Err(wrong(reader.at, "a parenthesis is closed that is not open"));
    }
    reader.resolve(&mut tree)?;
    Ok(Parsed {
        tree,
        groups: reader.groups,
        names: reader.names,
    })
}

#[derive(Clone, Copy)]
struct Flags {
    dot_all: bool,
    multiline: bool,
}

pub(super) struct Reader {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    flags: Flags,
    groups: usize,
    names: Vec<(String, usize)>,
    /// The groups around the current place.
    open: Vec<usize>,
}

pub(super) type Read<T> = Result<T, PatternError>;

/// A pattern that `regex` refuses, too.
pub(super) fn wrong(at: usize, message: impl Into<String>) -> PatternError {
    PatternError {
        at,
        unsupported: false,
        message: message.into(),
    }
}

/// Something that `regex` knows.
pub(super) fn unsupported(at: usize, what: &str) -> PatternError {
    PatternError {
        at,
        unsupported: true,
        message: format!("{what} is not supported"),
    }
}

impl Reader {
    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let found = self.peek();
        self.at += usize::from(found.is_some());
        found
    }

    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let found = self.text[self.at..]
            .iter()
            .copied()
            .take(wanted.len())
            .eq(wanted.chars());
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn expect(&mut self, wanted: &str) -> Read<()> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(wrong(self.at, format!("`{wanted}` is expected")))
        }
    }

    fn while_true(&mut self, is_of: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&is_of) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    /// Replaces names in references by numbers.
    fn resolve(&self, tree: &mut Tree) -> Read<()> {
        tree.visit(&mut |part| {
            let Tree::Reference(reference) = part else {
                return Ok(());
            };
            let (number, at) = match reference {
                Reference::Number(number) => (*number, 0),
                Reference::Name(name, at) => match self.names.iter().find(|(own, _)| own == name) {
                    Some((_, number)) => (*number, *at),
                    None => return Err(wrong(*at, format!("there is no group `{name}`"))),
                },
            };
            if !(1..=self.groups).contains(&number) {
                return Err(wrong(at, format!("there is no group {number}")));
            }
            *reference = Reference::Number(number);
            Ok(())
        })
    }

    fn branches(&mut self) -> Read<Tree> {
        let mut branches = vec![self.items()?];
        while self.take("|") {
            branches.push(self.items()?);
        }
        match branches.pop() {
            Some(only) if branches.is_empty() => Ok(only),
            last => {
                branches.extend(last);
                Ok(Tree::Branch(branches))
            }
        }
    }

    fn items(&mut self) -> Read<Tree> {
        // `None` is where nothing can be repeated.
        let mut items: Vec<Option<Tree>> = vec![None];
        while let Some(character) = self.peek() {
            let at = self.at;
            if matches!(character, ')' | '|') {
                break;
            }
            self.at += 1;
            let item = match character {
                '\\' => self.escape()?,
                '(' => match self.parenthesis(at)? {
                    Some(item) => item,
                    None => continue,
                },
                '[' => Tree::One(self.set(at)?),
                '?' | '*' | '+' | '{' => match self.counts(character)? {
                    Some(counts) => {
                        let repeated = self.repeat(&mut items, counts, at)?;
                        items.extend([Some(repeated), None]);
                        continue;
                    }
                    None => Tree::character(u32::from(character)),
                },
                '.' if self.flags.dot_all => Tree::One(One::Any),
                '.' => Tree::One(One::InLine),
                '^' if self.flags.multiline => Tree::Assertion(Assertion::StartOfLine),
                '^' => Tree::Assertion(Assertion::StartOfText),
                '$' if self.flags.multiline => Tree::Assertion(Assertion::EndOfLine),
                '$' => Tree::Assertion(Assertion::EndOfLastLine),
                _ => Tree::character(u32::from(character)),
            };
            items.push(Some(item));
        }
        Ok(Tree::Sequence(items.into_iter().flatten().collect()))
    }

    /// The counts of a quantifier, unless a brace is a brace.
    fn counts(&mut self, first: char) -> Read<Option<(u32, Option<u32>)>> {
        match first {
            '?' => return Ok(Some((0, Some(1)))),
            '*' => return Ok(Some((0, None))),
            '+' => return Ok(Some((1, None))),
            _ => {}
        }
        let start = self.at;
        let least = self.while_true(|c| c.is_ascii_digit());
        let most = if self.take(",") {
            Some(self.while_true(|c| c.is_ascii_digit()))
        } else {
            None
        };
        if least.is_empty() && most.is_none() || !self.take("}") {
            self.at = start;
            return match self.peek() {
                // `regex` may take these for the limits of a fuzzy match.
                None | Some('d' | 'e' | 'i' | 's' | '0'..='9') => Err(unsupported(
                    start - 1,
                    "`{`, which may begin a fuzzy match, unless it is escaped,",
                )),
                _ => Ok(None),
            };
        }
        let count = |digits: &str| match digits.parse::<u64>() {
            Ok(count) if count < UNLIMITED => u32::try_from(count).ok(),
            _ => None,
        };
        let too_big = || wrong(start, "a count is too big");
        let least_count = if least.is_empty() {
            0
        } else {
            count(&least).ok_or_else(too_big)?
        };
        let most_count = match most.as_deref() {
            None => Some(least_count),
            Some("") => None,
            Some(digits) => Some(count(digits).ok_or_else(too_big)?),
        };
        if most_count.is_some_and(|most| most < least_count) {
            return Err(wrong(start, "the least count is greater than the greatest"));
        }
        Ok(Some((least_count, most_count)))
    }

    fn repeat(
        &mut self,
        items: &mut Vec<Option<Tree>>,
        counts: (u32, Option<u32>),
        at: usize,
    ) -> Read<Tree> {
        let body = match items.pop().flatten() {
            Some(Tree::Repeat { .. }) => None,
            None if items.is_empty() => {
                return Err(wrong(at, "there is nothing that could be repeated"));
            }
            body => body,
        };
        let body = body.ok_or_else(|| wrong(at, "a repeat is repeated"))?;
        let kind = if self.take("?") {
            RepeatKind::Lazy
        } else if self.take("+") {
            RepeatKind::Possessive
        } else {
            RepeatKind::Greedy
        };
        let (least, most) = counts;
        if body.is_empty() || counts == (1, Some(1)) {
            return Ok(body);
        }
        Ok(Tree::Repeat {
            kind,
            least,
            most,
            body: Box::new(body),
        })
    }

    /// What a parenthesis holds, up to the closing one. Flags change only at its end.
    fn inside(&mut self, flags: Flags) -> Read<Tree> {
        let outer = std::mem::replace(&mut self.flags, flags);
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(unsupported(self.at, "a group that is nested so deeply"));
        }
        let body = self.branches()?;
        self.expect(")")?;
        self.depth -= 1;
        self.flags = outer;
        Ok(body)
    }

    fn parenthesis(&mut self, at: usize) -> Read<Option<Tree>> {
        let flags = self.flags;
        if self.take("*") {
            if self.peek().is_some_and(char::is_alphabetic) {
                return Err(unsupported(at, "a verb such as `(*FAIL)`"));
            }
            self.at -= 1;
        }
        if !self.take("?") {
            return self.group(None, at).map(Some);
        }
        let look = |behind, positive, body| {
            Some(Tree::Look {
                behind,
                positive,
                body: Box::new(body),
            })
        };
        for (mark, behind, positive) in [
            ("<=", true, true),
            ("<!", true, false),
            ("=", false, true),
            ("!", false, false),
        ] {
            if self.take(mark) {
                let body = self.inside(flags)?;
                if behind {
                    check_behind(&body, at)?;
                }
                return Ok(look(behind, positive, body));
            }
        }
        if self.take("<") || self.take("P<") {
            let name = self.name()?;
            self.expect(">")?;
            return self.group(Some(name), at).map(Some);
        }
        if self.take("P=") {
            let name_at = self.at;
            let name = self.while_true(|c| !matches!(c, ')' | '>'));
            self.expect(")")?;
            return self.reference(&name, name_at).map(Some);
        }
        if self.take(">") {
            return Ok(Some(Tree::Atomic(Box::new(self.inside(flags)?))));
        }
        if self.take("#") {
            return self.comment();
        }
        let next = self.text.get(self.at..).unwrap_or_default();
        match next {
            ['P', '>' | '&', ..] | ['R' | '&' | '0'..='9', ..] | ['+' | '-', '0'..='9', ..] => {
                Err(unsupported(at, "a call of a group"))
            }
            ['(', ..] => Err(unsupported(at, "a conditional group")),
            ['|', ..] => Err(unsupported(at, "a group whose branches share numbers")),
            ['P', ..] => Err(wrong(at, "an extension is unknown")),
            _ => self.flagged(at),
        }
    }

    fn comment(&mut self) -> Read<Option<Tree>> {
        while let Some(character) = self.peek() {
            if character == ')' {
                break;
            }
            self.at += 1;
            if character == '\\' {
                let _escaped = self.next();
            }
        }
        self.expect(")")?;
        Ok(None)
    }

    /// Flags for the rest of the group, or a group with flags.
    fn flagged(&mut self, at: usize) -> Read<Option<Tree>> {
        let on = self.flag_set(at)?;
        let off = if self.take("-") {
            let off = self.flag_set(at)?;
            if off.is_empty() {
                return Err(wrong(self.at, "a flag is expected after `-`"));
            }
            off
        } else {
            String::new()
        };
        if on.contains(|flag| off.contains(flag)) {
            return Err(wrong(at, "a flag is turned on and off"));
        }
        let is_on = |flag: char, before: bool| (before || on.contains(flag)) && !off.contains(flag);
        let flags = Flags {
            dot_all: is_on('s', self.flags.dot_all),
            multiline: is_on('m', self.flags.multiline),
        };
        if self.take(":") {
            return self.inside(flags).map(Some);
        }
        if self.take(")") {
            self.flags = flags;
            return Ok(None);
        }
        Err(wrong(at, "an extension is unknown"))
    }

    fn flag_set(&mut self, at: usize) -> Read<String> {
        let found = self.while_true(|c| matches!(c, 's' | 'm'));
        match self.peek() {
            Some('a' | 'b' | 'e' | 'f' | 'i' | 'L' | 'p' | 'r' | 'u' | 'V' | 'w' | 'x') => {
                Err(unsupported(at, "a flag other than `s` and `m`"))
            }
            _ => Ok(found),
        }
    }

    fn name(&mut self) -> Read<String> {
        let at = self.at;
        let name = self.while_true(|c| !matches!(c, ')' | '>'));
        if !name.is_ascii() {
            return Err(unsupported(at, "a group's name that is not in ASCII"));
        }
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name {
            Ok(name)
        } else {
            Err(wrong(at, "the name of a group is expected"))
        }
    }

    fn group(&mut self, name: Option<String>, at: usize) -> Read<Tree> {
        let known = name
            .as_ref()
            .and_then(|name| self.names.iter().find(|(own, _)| own == name));
        let number = match (known, name) {
            (Some((_, number)), _) => *number,
            (None, name) => {
                self.groups += 1;
                self.names.extend(name.map(|name| (name, self.groups)));
                self.groups
            }
        };
        if self.open.contains(&number) {
            return Err(unsupported(
                at,
                "a group inside of a group of the same name",
            ));
        }
        self.open.push(number);
        let body = self.inside(self.flags)?;
        self.open.pop();
        Ok(Tree::Group(number, Box::new(body)))
    }

    pub(super) fn reference(&mut self, name: &str, at: usize) -> Read<Tree> {
        if name.is_empty() {
            return Err(wrong(at, "the name of a group is expected"));
        }
        let number = if name.bytes().all(|b| b.is_ascii_digit()) {
            // A number that is too large for a group is too large for any.
            Some(name.parse().unwrap_or(usize::MAX))
        } else {
            self.names
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, number)| *number)
        };
        if number.is_some_and(|number| self.open.contains(&number)) {
            return Err(wrong(at, "a group refers to itself"));
        }
        Ok(Tree::Reference(match number {
            Some(number) => Reference::Number(number),
            None if !name.is_ascii() => {
                return Err(unsupported(at, "a group's name that is not in ASCII"));
            }
            None => Reference::Name(name.to_owned(), at),
        }))
    }
}

/// Backwards, the order in which branches are tried can be seen in what groups capture.
fn check_behind(body: &Tree, at: usize) -> Read<()> {
    body.clone().visit(&mut |part| match part {
        Tree::Group(..) | Tree::Reference(_) | Tree::Look { .. } | Tree::Atomic(_) => Err(
            unsupported(at, "a group, a reference or a lookaround in a lookbehind"),
        ),
        Tree::Repeat { .. } => Err(unsupported(at, "a repeat in a lookbehind")),
        _ => Ok(()),
    })
}
