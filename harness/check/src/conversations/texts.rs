//! What a text shows by itself: that a program has damaged it, or that it holds what has a field of its
//! own. Each sign is one that people's own texts do not have: `NÃO`, `C:\new` and `<br>` are sound.

use std::sync::LazyLock;

use regex::{Match, Regex};
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
    /// Or two of them before words that begin with a capital letter.
    BREAK = r"(?:[.!?;,)…。！？]|\\n)(\\n)(?:$|[\p{Lu}\p{Lo}0-9*#•\\-])|:(\\n)[0-9*#•\\-]|(\\n)\\n|[\p{L}\p{N}](\\n)\p{Lu}[^\\]*\\n\p{Lu}";
    /// A letter as JSON or HTML escapes it: within a word, or several in a row.
    ESCAPED = r"\p{L}(\\u00[0-9a-fA-F]{2})|(\\u00[c-fC-F][0-9a-fA-F])\p{L}|(\\u[0-9a-fA-F]{4})\\u[0-9a-fA-F]{4}|\p{L}(&(?:#0?39|#x27|apos|rsquo|#8217);)\p{L}|(&quot;)\p{L}[^&<]*&quot;";
    /// What opens reasoning, at the beginning of a line.
    OPENED = r"(?m)^[ \t]*(<(?:think|thinking|thought|reasoning)>|\[THINK\])";
    /// What closes it, there or anywhere.
    CLOSED = r"(?m)^[ \t]*(</(?:think|thinking|thought|reasoning)>|\[/THINK\])";
    CLOSED_ANYWHERE = r"(</(?:think|thinking|thought|reasoning)>|\[/THINK\])";
    /// A template that looks for what closes reasoning in a text.
    TAKEN_OUT = r#"['"](</(?:think|thinking|thought|reasoning)>|\[/THINK\])['"]\s*(?:[),]|in\s)"#;
    /// What opens calls in the formats of models.
    CALL = r"(?m)^[ \t]*(<tool_calls?>|<\|tool_call\|>|<function_call>|<function=|<\|python_tag\|>|\[TOOL_CALLS\]|<｜tool▁calls▁begin｜>|<\|tool_calls_section_begin\|>)";
    /// A call in a block of code, by its name with arguments, and as `ReAct` writes it.
    FENCED = r"(?s)```[a-z_]*\s*([{\[].*?[}\]])\s*```";
    NAMED = r"(?s)^\[?([\w.-]+)\(.*\)\]?$";
    ACTION = r"(?m)^Action:[ \t]*([\w.-]+)\s*\nAction Input:";
    /// What opens a turn in the formats of instructions.
    TURN = r"(?m)^(### ?(?:Instruction|Human|Assistant|Response):|Human:)";
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
    outside(&BREAK, text).map(|found| found.start())
}

/// A letter that is escaped, and not in code or JSON.
pub(super) fn escaped_letter(text: &str) -> Option<&str> {
    if !text.contains("\\u") && !text.contains('&') || text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    outside(&ESCAPED, text).map(|found| found.as_str())
}

/// Where a group of a pattern is first found outside of quotations and code.
fn outside<'t>(pattern: &Pattern, text: &'t str) -> Option<Match<'t>> {
    let places = pattern.as_ref()?.captures_iter(text);
    let mut places = places.filter_map(|found| found.iter().flatten().nth(1));
    // Whether a quotation or a piece of code is open, from one place to the next.
    let (mut from, mut is_open) = (0, [false; 2]);
    places.find(|at| {
        let between = text.get(from..at.start()).unwrap_or_default();
        from = at.start();
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

/// What opens a call in the text of an answer, or what calls a tool by its name: JSON, perhaps in a block of
/// code, Python, or an action of `ReAct`.
pub(super) fn call(text: &str, is_tool: impl Fn(&str) -> bool) -> Option<&str> {
    let is_json = |text: &str| {
        let read: Value = serde_json::from_str(text).unwrap_or_default();
        let one = read.get(0).unwrap_or(&read);
        let arguments = one.get("arguments").or(one.get("parameters"));
        let name = one.get("name").and_then(Value::as_str);
        arguments.is_some_and(Value::is_object) && name.is_some_and(&is_tool)
    };
    let whole = text.trim();
    let whole_json = whole.starts_with(['{', '[']).then_some(whole);
    let mut blocks = [whole_json, found(&FENCED, text)].into_iter().flatten();
    let json = blocks.find(|one| is_json(one));
    found(&CALL, text).or(json).or_else(|| {
        let name = found(&NAMED, whole).or_else(|| found(&ACTION, text));
        name.filter(|name| is_tool(name))
    })
}

/// What opens a turn in another format.
pub(super) fn turn(text: &str) -> Option<&str> {
    found(&TURN, text)
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
            ("Eins\\nÜbel\\nDrei", 4),
        ] {
            assert_eq!(escaped(text), Some(at), "{text}");
        }
        for sound in [
            "",
            "Write \\u00e9 for it.",
            "`caf\\u00e9` and \"caf\\u00e9\"",
            "{\"a\": \"caf\\u00e9\"}",
            "Use &amp; or &#39; in HTML.",
            "a&b; R&D",
            "C:\\user\\u1",
        ] {
            assert_eq!(escaped_letter(sound), None, "{sound}");
        }
        for (text, expected) in [
            ("caf\\u00e9", "\\u00e9"),
            ("\\u00dcber", "\\u00dc"),
            ("\\u5317\\u4eac", "\\u5317"),
            ("\\ud83d\\ude00 hi", "\\ud83d"),
            ("I don&#39;t", "&#39;"),
            ("say &quot;hi there&quot;", "&quot;"),
        ] {
            assert_eq!(escaped_letter(text), Some(expected), "{text}");
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
            (
                "Sure:\n```json\n[{\"name\": \"f\", \"parameters\": {}}]\n```",
                Some("[{\"name\": \"f\", \"parameters\": {}}]"),
            ),
            ("```json\n{\"name\": \"é\", \"arguments\": {}}\n```", None),
            ("[f(a=\"é\"), f(a=2)]", Some("f")),
            ("f(1) is 2, as f(x) says", None),
            ("g(1)", None),
            ("Thought: x\nAction: f\nAction Input: {}", Some("f")),
            ("Action: é\nAction Input: {}", None),
            ("é", None),
        ] {
            assert_eq!(call(text, is_tool), expected, "{text}");
        }
        let splits = "{% if '</think>' in content %}{{ content.split(\"</think>\")[-1] }}";
        assert!(takes_out(splits) && takes_out("{{ c.split('</think>') }}"));
        assert!(!takes_out("{{ '<think>' + r + '</think>' }}") && !takes_out(""));
        assert_eq!(turn("Yes.\n\nHuman: next"), Some("Human:"));
        assert_eq!(turn("A human: ### Response"), None);
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
