//! Characters, as the methods of Python's `str` tell them apart.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// `str.isalpha()` of one character: whether Unicode has it among the letters.
#[inline]
pub(crate) fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    c.general_category_group() == GeneralCategoryGroup::Letter
}

/// Whether a regular expression of Python's takes a character for part of a word (`\w`).
#[inline]
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || c == '_'
        || !c.is_ascii()
            && matches!(
                c.general_category_group(),
                GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
            )
}

/// Whether a name may begin with a character of a word.
#[inline]
pub(crate) fn is_name_start(c: char) -> bool {
    let is_number = || !c.is_ascii() && c.general_category() == GeneralCategory::LetterNumber;
    c == '_' || is_letter(c) || is_number()
}

/// Whether a name may have a character of a word.
#[inline]
pub(crate) fn is_name(c: char) -> bool {
    is_name_start(c) || is_decimal(c)
}

/// Whether an identifier of Python's may begin with a character: Unicode's `XID_Start` and `_`.
pub(super) fn begins_identifier(c: char) -> bool {
    let is_listed = matches!(c, '\u{1885}' | '\u{1886}' | '\u{2118}' | '\u{212E}');
    let is_compatible = matches!(
        c,
        '\u{E33}' | '\u{EB3}' | '\u{2E2F}' | '\u{FF9E}' | '\u{FF9F}'
    );
    (is_name_start(c) || is_listed) && !is_compatible && !is_split(c)
}

/// Whether an identifier of Python's may go on with a character: Unicode's `XID_Continue`.
pub(super) fn continues_identifier(c: char) -> bool {
    let is_listed = matches!(
        c,
        '\u{B7}' | '\u{387}' | '\u{1369}'..='\u{1371}' | '\u{19DA}' | '\u{2118}' | '\u{212E}'
    );
    let is_mark = || {
        matches!(
            c.general_category(),
            GeneralCategory::NonspacingMark
                | GeneralCategory::SpacingMark
                | GeneralCategory::ConnectorPunctuation
        )
    };
    (is_name(c) || is_listed || is_mark()) && c != '\u{2E2F}' && !is_split(c)
}

/// Whether a letter cannot be part of an identifier, because normalisation (`NFKC`) turns it into
/// something else.
fn is_split(c: char) -> bool {
    matches!(
        c,
        '\u{37A}' | '\u{FC5E}'
            ..='\u{FC63}'
                | '\u{FDFA}'
                | '\u{FDFB}'
                | '\u{FE70}'
                | '\u{FE72}'
                | '\u{FE74}'
                | '\u{FE76}'
                | '\u{FE78}'
                | '\u{FE7A}'
                | '\u{FE7C}'
                | '\u{FE7E}'
    )
}

/// `str.isdecimal()` of one character.
#[inline]
pub(super) fn is_decimal(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    c.general_category() == GeneralCategory::DecimalNumber
}

/// The value of a decimal digit of any script. Unicode has the ten digits of a script one after
/// the other, zero first.
pub(crate) fn decimal(c: char) -> Option<u32> {
    if let Some(digit) = c.to_digit(10) {
        return Some(digit);
    }
    if !is_decimal(c) {
        return None;
    }
    let before = (0..u32::from(c)).rev().map_while(char::from_u32);
    let digits = before.take_while(|c| is_decimal(*c)).count();
    u32::try_from(digits % 10).ok()
}

/// `str.isdigit()` of one character. Raised and lowered digits are digits too, and so are
/// those in circles.
#[inline]
pub(crate) fn is_digit(c: char) -> bool {
    is_decimal(c)
        || matches!(
            c,
            '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '₀'..='₉' | '①'..='⑨' | '⑴'..='⑼' | '⒈'..='⒐'
            | '⓪' | '⓵'..='⓽' | '⓿' | '❶'..='❾' | '➀'..='➈' | '➊'..='➒'
            | '\u{1369}'..='\u{1371}' | '\u{19DA}' | '\u{10A40}'..='\u{10A43}'
            | '\u{10E60}'..='\u{10E68}' | '\u{11052}'..='\u{1105A}' | '\u{1F100}'..='\u{1F10A}'
        )
}

/// `str.isnumeric()` of one character: numbers, and the letters of Chinese that mean one (CPython 3.11).
#[inline]
pub(crate) fn is_numeric(c: char) -> bool {
    const CHINESE: &str = "㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌\
                           柒漆玖百肆萬貮貳贰阡陆陌陸零\u{F96B}\u{F973}\u{F978}\u{F9B2}\u{F9D1}\u{F9D3}\
                           \u{F9FD}𠁀𠁤𠃢𠄡𠤪𠦃𠦌𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭\u{2F890}";
    c.is_numeric() || !c.is_ascii() && CHINESE.contains(c)
}

/// `str.isprintable()` of one character.
#[inline]
pub(super) fn is_printable(c: char) -> bool {
    (' '..='~').contains(&c)
        || !matches!(
            c.general_category(),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::Surrogate
                | GeneralCategory::PrivateUse
                | GeneralCategory::Unassigned
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
                | GeneralCategory::SpaceSeparator
        )
}

/// `str.isspace()` of one character, which `strip()` without arguments takes away: Unicode's
/// white space, and the four separators U+001C to U+001F.
#[inline]
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1C}'..='\u{1F}').contains(&c)
}

/// `str.strip`, `str.lstrip` and `str.rstrip`: a text without the white space, or the given
/// characters, on its left or right.
#[inline]
pub(crate) fn trim<'t>(text: &'t str, chars: Option<&str>, left: bool, right: bool) -> &'t str {
    let taken = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if left {
        text.trim_start_matches(taken)
    } else {
        text
    };
    if right {
        text.trim_end_matches(taken)
    } else {
        text
    }
}

/// `str.splitlines(keepends)`. Python has more line ends than `\n`.
pub(crate) fn lines(text: &str, keep_ends: bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(is_line_end).unwrap_or(rest.len());
        let mark = match rest[end..].chars().next() {
            Some('\r') if rest[end..].starts_with("\r\n") => 2,
            Some(c) => c.len_utf8(),
            None => 0,
        };
        let line = &rest[..if keep_ends { end + mark } else { end }];
        rest = &rest[end + mark..];
        Some(line)
    })
}

fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values are what CPython 3.11 gives.
    #[test]
    fn white_space_of_python() {
        assert_eq!(trim("\u{1C}\u{A0} a\u{85}\u{1F}", None, true, true), "a");
        assert_eq!(
            trim("\u{FEFF}a\u{200B}", None, true, true),
            "\u{FEFF}a\u{200B}"
        );
        assert_eq!(trim("xxaxx", Some("x"), true, false), "axx");
    }

    #[test]
    fn line_ends() {
        assert_eq!(
            lines("a\r\nb\rc\u{2028}d\u{85}e\n\nf\n", false).collect::<Vec<_>>(),
            ["a", "b", "c", "d", "e", "", "f"]
        );
        assert_eq!(
            lines("a\r\nb\n", true).collect::<Vec<_>>(),
            ["a\r\n", "b\n"]
        );
        assert_eq!(lines("", true).next(), None);
    }
}
