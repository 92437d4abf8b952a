//! What a text shows by itself: that a program has damaged it, or that it holds what has a field of its
//! own. Each sign is one that people's own texts do not have: `NÃO`, `C:\new` and `<br>` are sound.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// The characters for the bytes from 0x80 to 0x9F in Windows-1252.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

type Pattern = LazyLock<Option<Regex>>;

macro_rules! patterns {
    ($($(#[$about:meta])* $name:ident = $pattern:expr;)*) => {
        $($(#[$about])* static $name: Pattern = LazyLock::new(|| Regex::new($pattern).ok());)*
    };
}

patterns! {
    /// Bytes of UTF-8 as Latin-1 or Windows-1252 has them. `@` stands for a byte after the first one.
    /// Letters that also stand beside each other in words and quotations, such as `É»`, count in a row.
    MISREAD = &r"Â[\xa0-\xbf--»]|Ã[\x80-\xbf€‚ƒ„†‡ˆ‰Š‹ŒŽ•˜™šœžŸ--»]|â[\x80\x82\x84€‚„]@|ð[Ÿ\x9f]@@|ï»¿|ï¿½|(?:[\xc2-\xdf]@){2}|(?:[\xe0-\xef]@@){2}"
        .replace('@', &format!(r"[\x80-\xbf{WINDOWS}]"));
    /// A line feed of two characters after a sentence, and before another one, a list or the end; or two.
    BREAK = r"(?:[.!?;,)…。！？]|\\n)(\\n)(?:$|[\p{Lu}\p{Lo}0-9*#•\\-])|:(\\n)[0-9*#•\\-]|(\\n)\\n";
    /// What opens reasoning, at the beginning of a line.
    OPENED = r"(?m)^[ \t]*(<(?:think|thinking|thought|reasoning)>|\[THINK\])";
    /// What closes it, there or anywhere.
    CLOSED = r"(?m)^[ \t]*(</(?:think|thinking|thought|reasoning)>|\[/THINK\])";
    CLOSED_ANYWHERE = r"(</(?:think|thinking|thought|reasoning)>|\[/THINK\])";
    /// A template that looks for what closes reasoning in a text.
    TAKEN_OUT = r#"['"](</(?:think|thinking|thought|reasoning)>|\[/THINK\])['"]\s*(?:[),]|in\s)"#;
    /// What opens calls in the formats of models.
    CALL = r"(?m)^[ \t]*(<tool_calls?>|<\|tool_call\|>|<function_call>|<function=|<\|python_tag\|>|\[TOOL_CALLS\]|<｜tool▁calls▁begin｜>|<\|tool_calls_section_begin\|>)";
    /// What ends answers in the formats of models.
    END = r"(<\|(?:im_end|eot_id|endoftext|end_of_text|end)\|>|<end_of_turn>|<｜end▁of▁sentence｜>|</s>)\s*$";
}

/// What the first group of a pattern finds.
fn found<'t>(pattern: &Pattern, text: &'t str) -> Option<&'t str> {
    let found = pattern.as_ref()?.captures(text)?;
    found.get(1).map(|one| one.as_str())
}

/// The byte that a character stands for where bytes were read as Latin-1 or as Windows-1252.
fn byte(c: char) -> Option<u8> {
    let mut windows = (0x80..).zip(WINDOWS.chars());
    let windows = windows.find(|(_, known)| *known == c);
    windows
        .map(|(byte, _)| byte)
        .or_else(|| u8::try_from(c).ok())
}

/// Letters of UTF-8 that were read as Latin-1 or Windows-1252, such as `Ã©`, and what they are.
pub(super) fn misread(text: &str) -> Option<(&str, String)> {
    let pattern = MISREAD.as_ref().filter(|_| !text.is_ascii())?;
    pattern.find_iter(text).find_map(|found| {
        let bytes = found.as_str().chars().map(byte).collect::<Option<_>>();
        Some((found.as_str(), String::from_utf8(bytes?).ok()?))
    })
}

/// Where a text on one line has a `\n` of two characters in the place of a line feed, and not in code,
/// JSON, a formula or a path.
pub(super) fn escaped(text: &str) -> Option<usize> {
    if text.contains('\n')
        || !text.contains("\\n")
        || text.trim_start().starts_with(['{', '[', '"'])
    {
        return None;
    }
    let places = BREAK.as_ref()?.captures_iter(text);
    let mut places = places.filter_map(|found| Some(found.iter().flatten().nth(1)?.start()));
    // Whether a quotation or a piece of code is open, from one place to the next.
    let (mut from, mut is_open) = (0, [false; 2]);
    places.find(|at| {
        let between = text.get(from..*at).unwrap_or_default();
        from = *at;
        for (mark, is_open) in ['"', '`'].into_iter().zip(&mut is_open) {
            *is_open ^= between.matches(mark).count() % 2 == 1;
        }
        is_open == [false; 2]
    })
}

/// The tag of reasoning in the text of an answer, and whether the reasoning is opened and closed.
pub(super) fn thought(text: &str) -> Option<(&str, bool)> {
    match found(&OPENED, text) {
        Some(tag) => Some((tag, found(&CLOSED_ANYWHERE, text).is_some())),
        None => found(&CLOSED, text).map(|tag| (tag, false)),
    }
}

/// Whether a template takes reasoning out of texts: it looks for what closes it.
pub(super) fn takes_out(source: &str) -> bool {
    found(&TAKEN_OUT, source).is_some()
}

/// What opens a call in the text of an answer, or JSON with the name of a tool.
pub(super) fn call(text: &str, mut is_tool: impl FnMut(&str) -> bool) -> Option<&str> {
    let is_call = || {
        let read: Value = serde_json::from_str(text).ok()?;
        let arguments = read.get("arguments").or(read.get("parameters"))?;
        let name = read.get("name")?.as_str()?;
        (arguments.is_object() && is_tool(name)).then_some(text)
    };
    let is_object = text.trim_start().starts_with('{');
    found(&CALL, text).or_else(|| is_object.then(is_call)?)
}

/// What ends the answers of a model, at the end of a text.
pub(super) fn end(text: &str) -> Option<&str> {
    found(&END, text)
}

/// Whether what looks like a control token has a meaning of its own: see [`thought`] and [`call`].
pub(super) fn is_tag(token: &str) -> bool {
    let opening = token.replacen('/', "", 1);
    [&OPENED, &CALL]
        .into_iter()
        .any(|pattern| found(pattern, &opening).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misread_letters_are_found_and_those_of_people_are_not() {
        for sound in [
            "",
            "a",
            "NÃO, São João, Ângela, CORAÇÃO",
            "«\u{a0}CAFÉ\u{a0}» «CAFÉ» «é\u{a0}»",
            "È, à «",
            "Straße 5 €",
            "Tiếng Việt: Đà Nẵng",
            "İstanbul ışık",
            "京都，東京",
            "Москва",
            "Â und Ã",
            "😀 — “x”…",
            "À\u{a0}», Ä½",
            "ÐÑ",
            "œuvre Œ ž Ÿ",
        ] {
            assert_eq!(misread(sound), None, "{sound}");
        }
        // What the bytes of a text are in Windows-1252 finds its way back, wherever it stands.
        for (text, expected) in [
            ("é", "é"),
            ("’", "’"),
            ("“x”", "“"),
            ("5\u{a0}€", "\u{a0}"),
            ("😀", "😀"),
            ("北京", "北京"),
            ("Привет", "Пр"),
            ("\u{fffd}", "\u{fffd}"),
            ("ŁŁ", "ŁŁ"),
        ] {
            let misread_text: String = text
                .bytes()
                .map(|byte| match usize::from(byte).checked_sub(0x80) {
                    Some(at) => WINDOWS.chars().nth(at).unwrap_or(char::from(byte)),
                    None => char::from(byte),
                })
                .collect();
            for around in ["", "x ", "Ã "] {
                let text = format!("{around}{misread_text}");
                let found = misread(&text);
                assert_eq!(
                    found.map(|found| found.1),
                    Some(expected.to_owned()),
                    "{misread_text}"
                );
            }
        }
        // Twice misread.
        assert_eq!(
            misread("caf\u{c3}\u{192}\u{c2}\u{a9}"),
            Some(("Ãƒ", "Ã".to_owned()))
        );
    }

    #[test]
    fn a_line_feed_of_two_characters_is_found_and_code_is_not() {
        for sound in [
            "",
            "\\n",
            "C:\\new\\table",
            "C:\\New",
            "$\\nabla f$. \\nu",
            "Use `\\n`. \\nope",
            "print(\"Done.\\nNext\")",
            "{\"a\": \"One.\\nTwo\"}",
            "Real.\nlines.\\nHere",
            "I typed \\n in the box",
            "a.\\nb",
        ] {
            assert_eq!(escaped(sound), None, "{sound}");
        }
        for (text, at) in [
            ("One.\\nTwo", 4),
            ("a\\n\\nb", 1),
            ("Steps:\\n- one", 6),
            ("Ende.\\n", 5),
            ("结束。\\n再见", 9),
            ("é!\\nÉ", 3),
        ] {
            assert_eq!(escaped(text), Some(at), "{text}");
        }
    }

    #[test]
    fn thoughts_and_calls_in_a_text_are_those_that_open_it_or_a_line() {
        for (text, expected) in [
            ("<think>\na</think>b", Some(("<think>", true))),
            ("Well.\n<think>a\n</think>", Some(("<think>", true))),
            (" <think>a", Some(("<think>", false))),
            ("a\n</think>\nb", Some(("</think>", false))),
            ("[THINK]a[/THINK]b", Some(("[THINK]", true))),
            ("Models write <think> and </think>.", None),
            ("It ends with `</think>`.", None),
            ("", None),
        ] {
            assert_eq!(thought(text), expected, "{text}");
        }
        let is_tool = |name: &str| name == "f";
        for (text, expected) in [
            ("Look.\n  <tool_call>{}", Some("<tool_call>")),
            ("[TOOL_CALLS][", Some("[TOOL_CALLS]")),
            (
                "{\"name\": \"f\", \"arguments\": {}}",
                Some("{\"name\": \"f\", \"arguments\": {}}"),
            ),
            ("{\"name\": \"g\", \"arguments\": {}}", None),
            ("{\"name\": \"f\", \"age\": 3}", None),
            ("Hermes writes <tool_call> before it.", None),
            ("é", None),
        ] {
            assert_eq!(call(text, is_tool), expected, "{text}");
        }
        let splits = "{% if '</think>' in content %}{{ content.split(\"</think>\")[-1] }}";
        assert!(takes_out(splits) && takes_out("{{ c.split('</think>') }}"));
        assert!(!takes_out("{{ '<think>' + r + '</think>' }}") && !takes_out(""));
        assert_eq!(end("Oslo.<|eot_id|>\n"), Some("<|eot_id|>"));
        assert_eq!(end("<s>old</s> new"), None);
        assert!(
            is_tag("<think>")
                && is_tag("</think>")
                && is_tag("[/THINK]")
                && is_tag("</tool_call>")
                && !is_tag("<|im_end|>")
        );
    }
}
