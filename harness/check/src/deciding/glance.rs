//! Compares two prompts by their texts alone.
//!
//! Most conversations of the search change nothing in the prompt but the text that they change
//! themselves. Where the prompts show that, nobody needs to know where their bytes come from.

use std::collections::{BTreeSet, HashMap};

use rolecall_core::{Case, Outcome};
use serde_json::Value;

/// The shortest text that is nowhere in a prompt by chance.
const SHORTEST: usize = 4;

/// The shortest word that counts, in letters.
const SHORTEST_WORD: usize = 3;

/// Whether two conversations that differ in one text may differ in their prompts outside of it. The
/// texts are those of the conversations, if they are known.
pub(super) fn may_differ([one, other]: [&Outcome; 2], texts: [Option<&str>; 2]) -> bool {
    match (one, other) {
        (Outcome::Rendered { text: one }, Outcome::Rendered { text: other }) => {
            if one == other {
                return false;
            }
            let [Some(text), Some(of_other)] = texts else {
                return true;
            };
            let is_replaced = |prompt: &str, text: &str, by: &str, other: &str| {
                text.len() >= SHORTEST && prompt.replace(text, by) == other
            };
            // The longer one is less likely to be there for another reason.
            if text.len() >= of_other.len() {
                !is_replaced(one, text, of_other, other)
            } else {
                !is_replaced(other, of_other, text, one)
            }
        }
        (Outcome::Exceeded { .. } | Outcome::Crashed { .. }, _)
        | (_, Outcome::Exceeded { .. } | Outcome::Crashed { .. }) => false,
        (one, other) => one.kind() != other.kind(),
    }
}

/// Whether a prompt has no words but those of its conversation and these ones of the template, so
/// that it cannot have other words of the template.
pub(super) fn brings_no_words(
    outcome: &Outcome,
    case: &Case,
    usual: &BTreeSet<(String, usize)>,
) -> bool {
    let Outcome::Rendered { text } = outcome else {
        return true;
    };
    let usual: BTreeSet<&str> = usual.iter().map(|(word, _)| word.as_str()).collect();
    let mut texts = Vec::new();
    let lists = [
        Some(&case.messages),
        case.tools.as_ref(),
        case.documents.as_ref(),
    ];
    for value in lists.into_iter().flatten().flatten() {
        collect_texts(value, &mut texts);
    }
    let of_conversation = count_words(texts);
    count_words([text.as_str()])
        .into_iter()
        .filter(|(word, _)| !usual.contains(word))
        .all(|(word, count)| of_conversation.get(word).is_some_and(|all| count <= *all))
}

/// Whether fewer words than so many are in one prompt and not in the other, apart from the texts that
/// the conversations differ in.
pub(super) fn has_similar_words(
    one: &Outcome,
    other: &Outcome,
    texts: [Option<&str>; 2],
    few: usize,
) -> bool {
    let (Outcome::Rendered { text: one }, Outcome::Rendered { text: other }) = (one, other) else {
        return one.kind() == other.kind();
    };
    let without = |prompt: &str, text: Option<&str>| match text {
        Some(text) if text.len() >= SHORTEST => prompt.replace(text, " "),
        _ => prompt.to_owned(),
    };
    let (one, other) = (without(one, texts[0]), without(other, texts[1]));
    let (one, other) = (count_words([one.as_str()]), count_words([other.as_str()]));
    let differs = |word: &&&str| one.get(**word) != other.get(**word);
    let words: BTreeSet<&str> = one.keys().chain(other.keys()).copied().collect();
    words.iter().filter(differs).count() < few
}

fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(entries) => entries
            .values()
            .for_each(|value| collect_texts(value, texts)),
        _ => {}
    }
}

/// How often each word is in some texts.
fn count_words<'t>(texts: impl IntoIterator<Item = &'t str>) -> HashMap<&'t str, usize> {
    let mut words = HashMap::new();
    for text in texts {
        let all = text.split(|c: char| !c.is_alphabetic());
        for word in all.filter(|word| word.chars().count() >= SHORTEST_WORD) {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt(text: &str) -> Outcome {
        Outcome::Rendered {
            text: text.to_owned(),
        }
    }

    #[test]
    fn prompts_that_differ_in_the_text_alone_are_alike() {
        let (one, other) = ("quilly deploy", "quilly xyzabc");
        for (first, second, expected) in [
            ("<user>quilly deploy", "<user>quilly xyzabc", false),
            ("<user>quilly deploy!", "<user>quilly xyzabc", true),
            ("<user>quilly deploy", "<user>xyzabc", true),
            ("<user>", "<user>", false),
        ] {
            let outcomes = [&prompt(first), &prompt(second)];
            assert_eq!(
                may_differ(outcomes, [Some(one), Some(other)]),
                expected,
                "{first}"
            );
        }
        let outcomes = [&prompt("k a"), &prompt("x a")];
        assert!(may_differ(outcomes, [Some("k"), Some("x")]));
        let raised = Outcome::Raised {
            message: String::new(),
        };
        assert!(may_differ([&prompt("a"), &raised], [None, None]));
        assert!(!may_differ([&raised, &raised], [None, None]));
    }

    #[test]
    fn a_word_that_the_conversation_has_once_is_not_written_twice() {
        let case = Case::from_messages(vec![json!({"role": "user", "content": "Send it now"})]);
        let usual = BTreeSet::from([("Answer".to_owned(), 3)]);
        for (text, expected) in [
            ("<user>Send it now Answer Answer", true),
            ("<user>Send it now Send", false),
            ("<user>Send it now secretly", false),
        ] {
            assert_eq!(
                brings_no_words(&prompt(text), &case, &usual),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn few_words_that_differ_are_similar() {
        let (one, other) = (prompt("Today is May one"), prompt("Today is June one"));
        let similar = |texts, few| has_similar_words(&one, &other, texts, few);
        assert!(similar([None; 2], 3));
        assert!(!similar([None; 2], 2));
        assert!(similar([Some("is May"), Some("is June")], 1));
    }
}
