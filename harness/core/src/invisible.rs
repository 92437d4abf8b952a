//! Characters that a reader cannot see, or takes for a plain space.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Whether a character needs a visible stand-in: control characters, spaces other than the plain
/// one, format characters, and all others without a glyph.
pub(crate) fn is_invisible(c: char) -> bool {
    if (' '..='~').contains(&c) {
        return false;
    }
    matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::SpaceSeparator
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
    ) || is_default_ignorable(c)
        // The Braille blank is a letter that looks like a space.
        || c == '\u{2800}'
}

/// Whether a terminal obeys a character, or shows other characters in another place because of it:
/// control characters besides the line break and the tab, and most format characters.
///
/// Characters that only join letters or allow a line to break are harmless.
pub fn is_obeyed(c: char) -> bool {
    if (' '..='~').contains(&c) || matches!(c, '\n' | '\t') {
        return false;
    }
    match c.general_category() {
        GeneralCategory::Control
        | GeneralCategory::LineSeparator
        | GeneralCategory::ParagraphSeparator => true,
        GeneralCategory::Format => !matches!(c, '\u{AD}' | '\u{200C}' | '\u{200D}'),
        _ => false,
    }
}

/// Letters and marks that fonts show as nothing: `Default_Ignorable_Code_Point` of
/// Unicode 16, without the format characters and the unassigned that
/// [`is_invisible`] knows by their category.
fn is_default_ignorable(c: char) -> bool {
    matches!(c,
        '\u{034F}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The picture of a C0 control or of DEL: `␉` for a tab.
pub(crate) fn control_picture(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1F}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7F}' => Some('\u{2421}'),
        _ => None,
    }
}

/// The control that a picture represents: the reverse of [`control_picture`].
pub(crate) fn pictured_control(c: char) -> Option<char> {
    match c {
        '\u{2400}'..='\u{241F}' => char::from_u32(u32::from(c) - 0x2400),
        '\u{2421}' => Some('\u{7F}'),
        _ => None,
    }
}

/// A name for a character that is invisible or easily mistaken for another.
///
/// Names are Unicode's own; characters that this table lacks get only their code point.
pub fn describe(c: char) -> String {
    let code = format!("U+{:04X}", u32::from(c));
    let name = match c {
        '\0' => "NULL",
        '\t' => "TAB",
        '\n' => "LINE FEED",
        '\u{B}' => "VERTICAL TAB",
        '\u{C}' => "FORM FEED",
        '\r' => "CARRIAGE RETURN",
        '\u{1B}' => "ESCAPE",
        '\u{1C}' => "FILE SEPARATOR",
        '\u{1D}' => "GROUP SEPARATOR",
        '\u{1E}' => "RECORD SEPARATOR",
        '\u{1F}' => "UNIT SEPARATOR",
        ' ' => "SPACE",
        '\u{7F}' => "DELETE",
        '\u{85}' => "NEXT LINE",
        '\u{A0}' => "NO-BREAK SPACE",
        '\u{AD}' => "SOFT HYPHEN",
        '\u{34F}' => "COMBINING GRAPHEME JOINER",
        '\u{61C}' => "ARABIC LETTER MARK",
        '\u{2000}'..='\u{200A}' => "SPACE OF ANOTHER WIDTH",
        '\u{200B}' => "ZERO WIDTH SPACE",
        '\u{200C}' => "ZERO WIDTH NON-JOINER",
        '\u{200D}' => "ZERO WIDTH JOINER",
        '\u{200E}' => "LEFT-TO-RIGHT MARK",
        '\u{200F}' => "RIGHT-TO-LEFT MARK",
        '\u{2028}' => "LINE SEPARATOR",
        '\u{2029}' => "PARAGRAPH SEPARATOR",
        '\u{202A}' => "LEFT-TO-RIGHT EMBEDDING",
        '\u{202B}' => "RIGHT-TO-LEFT EMBEDDING",
        '\u{202C}' => "POP DIRECTIONAL FORMATTING",
        '\u{202D}' => "LEFT-TO-RIGHT OVERRIDE",
        '\u{202E}' => "RIGHT-TO-LEFT OVERRIDE",
        '\u{202F}' => "NARROW NO-BREAK SPACE",
        '\u{205F}' => "MEDIUM MATHEMATICAL SPACE",
        '\u{2060}' => "WORD JOINER",
        '\u{2066}' => "LEFT-TO-RIGHT ISOLATE",
        '\u{2067}' => "RIGHT-TO-LEFT ISOLATE",
        '\u{2068}' => "FIRST STRONG ISOLATE",
        '\u{2069}' => "POP DIRECTIONAL ISOLATE",
        '\u{3000}' => "IDEOGRAPHIC SPACE",
        '\u{FE00}'..='\u{FE0F}' => "VARIATION SELECTOR",
        '\u{FEFF}' => "BYTE ORDER MARK",
        '\u{FFFD}' => "REPLACEMENT CHARACTER",
        _ => return code,
    };
    format!("{code} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_seen_is_left_alone() {
        for c in " aZ~éß漢字🙂\u{301}«»—“”ش".chars() {
            assert!(!is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_found() {
        for c in "\0\t\n\r\u{1C}\u{7F}\u{85}\u{A0}\u{AD}\u{200B}\u{200D}\u{202E}\u{2028}\u{2800}\u{3000}\u{FE0F}\u{FEFF}\u{E000}\u{E0041}".chars()
        {
            assert!(is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn pictures_are_reversible() {
        for c in ('\0'..='\u{1F}').chain(['\u{7F}']) {
            let picture = control_picture(c).unwrap();
            assert_eq!(pictured_control(picture), Some(c));
        }
        assert_eq!(control_picture(' '), None);
        assert_eq!(pictured_control('␠'), None);
        assert_eq!(control_picture('\n'), Some('␊'));
        assert_eq!(control_picture('\u{7F}'), Some('␡'));
    }
}
