//! Reads escapes and sets of characters.

use crate::pattern::syntax::{Read, Reader, unsupported, wrong};
use crate::pattern::tree::{Assertion, Class, One, Tree};

impl Reader {
    pub(super) fn escape(&mut self) -> Read<Tree> {
        let at = self.at - 1;
        let assertion = match self.peek() {
            Some('A') => Assertion::StartOfText,
            Some('b') => Assertion::WordBoundary,
            Some('B') => Assertion::NoWordBoundary,
            Some('Z' | 'z') => Assertion::EndOfText,
            Some('1'..='9') => return self.number_escape(at),
            Some('g' | 'G' | 'K' | 'L' | 'R' | 'X' | 'm' | 'M') => {
                return Err(unsupported(at, "this escape"));
            }
            _ => return Ok(Tree::One(self.one_escape(at)?)),
        };
        self.at += 1;
        Ok(Tree::Assertion(assertion))
    }

    /// An octal number of three digits, or a reference.
    fn number_escape(&mut self, at: usize) -> Read<Tree> {
        let is_digit = |c: char| c.is_ascii_digit();
        let mut digits = String::new();
        digits.extend(self.next());
        if let Some(second) = self.peek().filter(|c| is_digit(*c)) {
            self.at += 1;
            digits.push(second);
            let three = self.peek().map(|third| format!("{digits}{third}"));
            if let Some(value) = three.and_then(|three| u32::from_str_radix(&three, 8).ok()) {
                self.at += 1;
                return Ok(Tree::character(value & 0x1FF));
            }
        }
        self.reference(&digits, at)
    }

    /// An escape that represents a character or a class, in a set or outside.
    fn one_escape(&mut self, at: usize) -> Read<One> {
        let Some(character) = self.next() else {
            return Err(wrong(at, "the pattern ends in a backslash"));
        };
        let class = |class, positive| Ok(One::Class { class, positive });
        let code = match character {
            'd' => return class(Class::Digit, true),
            'D' => return class(Class::Digit, false),
            's' => return class(Class::Space, true),
            'S' => return class(Class::Space, false),
            'w' => return class(Class::Word, true),
            'W' => return class(Class::Word, false),
            'x' => self.hexadecimal(2, at)?,
            'u' => self.hexadecimal(4, at)?,
            'U' => self.hexadecimal(8, at)?,
            '0'..='9' => self.octal(character, at)?,
            'a' => 0x07,
            'b' => 0x08,
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'h' | 'N' | 'p' | 'P' => return Err(unsupported(at, "this escape")),
            letter if letter.is_ascii_alphabetic() => {
                return Err(wrong(at, format!("the escape `\\{letter}` is unknown")));
            }
            other => u32::from(other),
        };
        Ok(One::Character {
            code,
            positive: true,
        })
    }

    fn hexadecimal(&mut self, length: usize, at: usize) -> Read<u32> {
        let digits: String = self.text[self.at..].iter().take(length).collect();
        let is_whole = digits.len() == length && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(&digits, 16)
            .ok()
            .filter(|code| is_whole && *code < 0x11_0000);
        self.at += length;
        code.ok_or_else(|| {
            wrong(
                at,
                format!("{length} hexadecimal digits of a character are expected"),
            )
        })
    }

    fn octal(&mut self, first: char, at: usize) -> Read<u32> {
        let start = self.at;
        while self.at < start + 2 && self.peek().is_some_and(|c| matches!(c, '0'..='7')) {
            self.at += 1;
        }
        let digits: String = std::iter::once(&first)
            .chain(&self.text[start..self.at])
            .collect();
        u32::from_str_radix(&digits, 8).map_err(|_| wrong(at, "octal digits are expected"))
    }

    pub(super) fn set(&mut self, at: usize) -> Read<One> {
        let negated = self.take("^");
        // A bracket at the beginning is a member.
        let mut items = vec![self.member(at)?];
        while !self.take("]") {
            items.push(self.member(at)?);
        }
        let whole = match items.pop() {
            Some(only) if items.is_empty() => only,
            last => {
                items.extend(last);
                One::Set {
                    items,
                    positive: true,
                }
            }
        };
        Ok(if negated {
            whole.negated().simplified()
        } else {
            whole
        })
    }

    fn member(&mut self, at: usize) -> Read<One> {
        let first = self.member_item(at)?;
        let One::Character { code: start, .. } = first else {
            return Ok(first);
        };
        if !self.take("-") {
            return Ok(first);
        }
        let hyphen = One::Character {
            code: u32::from('-'),
            positive: true,
        };
        if self.peek() == Some(']') {
            return Ok(One::Set {
                items: vec![first, hyphen],
                positive: true,
            });
        }
        match self.member_item(at)? {
            One::Character { code: end, .. } if end < start => {
                Err(wrong(self.at, "a range ends before it starts"))
            }
            One::Character { code: end, .. } if end == start => Ok(first),
            One::Character { code: end, .. } => Ok(One::Range {
                first: start,
                last: end,
                positive: true,
            }),
            class => Ok(One::Set {
                items: vec![first, hyphen, class],
                positive: true,
            }),
        }
    }

    fn member_item(&mut self, at: usize) -> Read<One> {
        if self.take("[:") {
            return Err(unsupported(self.at - 2, "a class such as `[:alpha:]`"));
        }
        let place = self.at;
        match self.next() {
            Some('\\') => self.one_escape(place),
            Some(character) => Ok(One::Character {
                code: u32::from(character),
                positive: true,
            }),
            None => Err(wrong(at, "a set has no end")),
        }
    }
}
