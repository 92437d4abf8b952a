//! Letters in upper, lower and title case, as the methods of Python's `str` change them
//! (CPython 3.11, `unicodectype.c` and `unicodeobject.c`, after Unicode's `SpecialCasing.txt`
//! and `CaseFolding.txt`).

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Whether a letter is in upper, lower or title case.
fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || c.general_category() == GeneralCategory::TitlecaseLetter
}

/// Appends a letter in title case: most are as in upper case, but of several letters only the first
/// appears.
fn push_title(c: char, out: &mut String) {
    let titled = |code: u32| char::from_u32(code).unwrap_or(c);
    let code = u32::from(c);
    match c {
        'Ǆ'..='ǆ' => out.push('ǅ'),
        'Ǉ'..='ǉ' => out.push('ǈ'),
        'Ǌ'..='ǌ' => out.push('ǋ'),
        'Ǳ'..='ǳ' => out.push('ǲ'),
        // Georgian has upper case for whole words only; the others are in title case.
        'ა'..='ჿ' | 'ᾼ' | 'ῌ' | 'ῼ' => out.push(c),
        'ŉ' => out.push_str("ʼN"),
        // Greek letters with an iota below: the iota stays where it is.
        '\u{1F80}'..='\u{1FAF}' => out.push(titled(code | 8)),
        'ᾳ' | 'ῃ' | 'ῳ' => out.push(titled(code + 9)),
        'ᾲ' | 'ᾴ' | 'ᾷ' | 'ῂ' | 'ῄ' | 'ῇ' | 'ῲ' | 'ῴ' | 'ῷ' => {
            let mut upper: Vec<char> = c.to_uppercase().collect();
            if let Some(iota) = upper.last_mut() {
                *iota = '\u{345}';
            }
            out.extend(upper);
        }
        c => {
            let mut upper = c.to_uppercase();
            out.extend(upper.next());
            out.extend(upper.flat_map(char::to_lowercase));
        }
    }
}

/// Goes through the letters of a text, each with the text in lower case that it becomes. A
/// sigma at the end of a word is another letter, so that the whole text is needed.
fn with_lower(text: &str, mut visit: impl FnMut(char, &str)) {
    let lower = text.to_lowercase();
    let mut rest = lower.as_str();
    for c in text.chars() {
        let len = match c {
            // Both sigmas of lower case have as many bytes.
            c if c.is_ascii() => 1,
            c => c.to_lowercase().map(char::len_utf8).sum(),
        };
        let (letters, after) = rest.split_at(len);
        rest = after;
        visit(c, letters);
    }
}

/// `str.capitalize()`
pub(crate) fn capitalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_first = true;
    with_lower(text, |c, lower| {
        if std::mem::take(&mut is_first) {
            push_title(c, &mut out);
        } else {
            out.push_str(lower);
        }
    });
    out
}

/// `str.title()`: the first letter of each run of letters in title case, the rest in lower
/// case; an apostrophe ends a run.
pub(super) fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_word = false;
    with_lower(text, |c, lower| {
        if in_word {
            out.push_str(lower);
        } else {
            push_title(c, &mut out);
        }
        in_word = is_cased(c);
    });
    out
}

/// `str.istitle()`
pub(super) fn is_title(text: &str) -> bool {
    let mut in_word = false;
    let mut has_case = false;
    for c in text.chars() {
        let begins = c.is_uppercase() || c.general_category() == GeneralCategory::TitlecaseLetter;
        if (begins && in_word) || (!begins && c.is_lowercase() && !in_word) {
            return false;
        }
        in_word = is_cased(c);
        has_case |= in_word;
    }
    has_case
}

/// `str.swapcase()`
pub(super) fn swapcase(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    with_lower(text, |c, lower| {
        if c.is_uppercase() {
            out.push_str(lower);
        } else if c.is_lowercase() {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
    });
    out
}

/// `str.casefold()`: letters that differ in case only, or in how they are written, become the
/// same. For most that is upper case in lower case.
pub(super) fn casefold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            'ß' | 'ẞ' => out.push_str("ss"),
            // Cherokee's letters become those in upper case.
            'ı' | '\u{13A0}'..='\u{13F5}' => out.push(c),
            '\u{13F8}'..='\u{13FD}' | '\u{AB70}'..='\u{ABBF}' => out.extend(c.to_uppercase()),
            c if is_cased(c) || c == '\u{345}' => {
                out.extend(c.to_uppercase().flat_map(char::to_lowercase));
            }
            c => out.push(c),
        }
    }
    out
}
