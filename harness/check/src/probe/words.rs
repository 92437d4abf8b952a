//! Words that occur in no template. Their places in a prompt show what the template did with the
//! texts that they represent.
//!
//! They are lower-case letters, and the search ignores case, so nothing that templates do to texts
//! (trimming, upper case, JSON, escaping) hides them. No word is a part of another.

/// How all words end, and no text of a template does.
pub(crate) const END: &str = "quill";

pub const SYSTEM: &str = "lawquill";
pub(crate) const SECOND_SYSTEM: &str = "rulequill";
pub(crate) const DEVELOPER: &str = "devquill";
/// The first user message.
pub const USER: &str = "askquill";
pub(crate) const SECOND_USER: &str = "morequill";
pub(crate) const THIRD_USER: &str = "lastquill";
/// The first assistant message.
pub(crate) const ASSISTANT: &str = "saidquill";
pub(crate) const SECOND_ASSISTANT: &str = "thenquill";
pub(crate) const THIRD_ASSISTANT: &str = "stillquill";
/// A message in a role that nobody knows.
pub(crate) const NARRATOR: &str = "talequill";
pub const REASONING: &str = "mindquill";
/// The reasoning of its next message.
pub(crate) const SECOND_REASONING: &str = "thoughtquill";
pub(crate) const RESULT: &str = "gavequill";
/// What the second tool gave.
pub(crate) const SECOND_RESULT: &str = "tookquill";
pub(crate) const DOCUMENT: &str = "pagequill";
pub(crate) const SECOND_DOCUMENT: &str = "leafquill";
/// Text before a tag that is in content.
pub(crate) const BEFORE: &str = "headquill";
pub const AFTER: &str = "tailquill";

pub const TOOL: &str = "find_quill";
/// What a model says beside a call, where a template fails without a text there.
pub(crate) const BESIDE_CALLS: &str = "Yes.";
pub(crate) const TOOL_ABOUT: &str = "seekquill";
pub(crate) const SECOND_TOOL: &str = "count_quill";
/// The first parameter of the tools; the second comes before it in the alphabet.
pub(crate) const FIRST_KEY: &str = "zonequill";
pub(crate) const SECOND_KEY: &str = "areaquill";
/// What the first call passes for the first parameter.
pub(crate) const FIRST_VALUE: &str = "northquill";
pub(crate) const SECOND_VALUE: &str = "southquill";
/// What the second call passes.
pub(crate) const THIRD_VALUE: &str = "eastquill";
/// And for its second parameter.
pub(crate) const FOURTH_VALUE: &str = "westquill";

/// What describes a parameter that is an object.
pub(crate) const OBJECT_ABOUT: &str = "nestquill";
pub(crate) const INNER_KEY: &str = "deepquill";
pub(crate) const INNER_ABOUT: &str = "coreaboutquill";
/// A value that it may have.
pub(crate) const INNER_CHOICE: &str = "pickquill";
/// A parameter's default.
pub const DEFAULT: &str = "elsequill";

/// The questions of a long conversation, and the answers to them.
pub(crate) const TURNS: [(&str, &str); 12] = [
    ("alfaquill", "bravoquill"),
    ("charliequill", "deltaquill"),
    ("echoquill", "foxtrotquill"),
    ("golfquill", "hotelquill"),
    ("indiaquill", "julietquill"),
    ("kiloquill", "limaquill"),
    ("mikequill", "novemberquill"),
    ("oscarquill", "papaquill"),
    ("quebecquill", "romeoquill"),
    ("sierraquill", "tangoquill"),
    ("uniformquill", "victorquill"),
    ("whiskeyquill", "xrayquill"),
];

/// All other words, including those of the tools.
pub const ALL: [&str; 32] = [
    SYSTEM,
    SECOND_SYSTEM,
    DEVELOPER,
    USER,
    SECOND_USER,
    THIRD_USER,
    ASSISTANT,
    SECOND_ASSISTANT,
    THIRD_ASSISTANT,
    NARRATOR,
    REASONING,
    SECOND_REASONING,
    RESULT,
    SECOND_RESULT,
    DOCUMENT,
    SECOND_DOCUMENT,
    BEFORE,
    AFTER,
    TOOL,
    TOOL_ABOUT,
    SECOND_TOOL,
    FIRST_KEY,
    SECOND_KEY,
    FIRST_VALUE,
    SECOND_VALUE,
    THIRD_VALUE,
    FOURTH_VALUE,
    OBJECT_ABOUT,
    INNER_KEY,
    INNER_ABOUT,
    INNER_CHOICE,
    DEFAULT,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_a_part_of_another() {
        let turns = TURNS
            .iter()
            .flat_map(|(question, answer)| [*question, *answer]);
        let all: Vec<&str> = ALL.into_iter().chain(turns).collect();
        for word in &all {
            let holding = all.iter().filter(|other| other.contains(word));
            assert_eq!(holding.count(), 1, "{word}");
        }
    }
}
