use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::reasoning::mark_at;
use crate::capability::GenerationPrompt;
use crate::probe::catalogue::{
    CALL, CALL_RESULT, CALL_RESULT_ASSISTANT, DOCUMENT, IMAGE, PARALLEL, QUOTED_CALL, RICH_TOOL,
    SYSTEM_DOCUMENT, SYSTEM_TOOLS, SYSTEM_USER, TOOLS, TWO_ROUNDS, TWO_TURNS, USER, USER_ASSISTANT,
    USER_ASSISTANT_USER, USER_PARTS, VIDEO,
};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "tags-paired",
    meaning: "each tag that opens something is closed by its partner, and each partner has its tag",
    guards_against: "a call that never ends, because its closing tag was lost",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("tags_paired.md"),
    judge: |tally, prober, capabilities| {
        let turns = prober.see(TWO_TURNS);
        let opening = match &capabilities.generation_prompt {
            GenerationPrompt::Suffix { text } => text.as_str(),
            _ => "",
        };
        // The tags of turns are judged elsewhere.
        let of_turns: BTreeSet<&str> = control_tokens_in(turns.text().unwrap_or_default())
            .chain(control_tokens_in(opening))
            .collect();
        for probe in [
            CALL,
            CALL_RESULT,
            CALL_RESULT_ASSISTANT,
            PARALLEL,
            TWO_ROUNDS,
        ] {
            let seen = prober.see(probe);
            let (Some(text), Some(question)) = (tally.text(&seen), seen.find(words::USER)) else {
                continue;
            };
            tokens_are_paired(tally, prober, &seen, &of_turns, question.end);
            if seen.has(words::FIRST_VALUE) {
                plain_tags_are_paired(tally, prober, &seen, text.cut(question.end..), opening);
            }
        }
        tags_around_tools(tally, prober);
        marks_of_answers(tally, prober);
        marks_of_media(tally, prober);
        media_alike(tally, prober);
        both_sides(tally, prober);
        balance_is_alike(tally, prober, opening);
        double_brackets_are_closed(tally, prober);
        results_are_within(tally, prober);
        fences_are_closed(tally, prober);
    },
};

/// Demands that each token after the question that opens something is there as often as its
/// partner.
fn tokens_are_paired(
    tally: &mut Tally,
    prober: &Prober<'_>,
    seen: &ProbeOutcome,
    of_turns: &BTreeSet<&str>,
    from: usize,
) {
    let text = seen.text().unwrap_or_default();
    let source = prober.source_without_comments();
    let said = text.cut(from..);
    let tags: BTreeSet<&str> = control_tokens_in(said)
        .filter(|tag| !of_turns.contains(tag))
        .collect();
    for tag in tags {
        let Some(partner) = partner(tag) else {
            continue;
        };
        if of_turns.contains(partner.as_str()) {
            continue;
        }
        let at = || {
            let at = said.rfind(tag).map(|at| at + from);
            at.map(|at| at..at + tag.len())
        };
        if !source.contains(&partner) && !text.contains(&partner) {
            // A token of this form may be between two texts, and need no end.
            let is_written_apart = partner.contains("end") || partner.contains("END");
            // Nor need one that is among others of its form without an end, such as `<|begin_user|>`.
            let head = tag.split('_').next().unwrap_or(tag);
            let mut others = of_turns.iter().filter(|other| !other.contains("_of_"));
            let is_header = others.any(|other| {
                let end = other
                    .replacen("begin", "end", 1)
                    .replacen("start", "end", 1);
                other.starts_with(head) && !source.contains(&end)
            });
            let is_written_apart = is_written_apart && !is_header;
            if is_written_apart && !tag.contains("argument") && is_around_words(seen, tag) {
                let what =
                    format!("`{tag}` opens something, and the template never writes `{partner}`");
                tally.broken(Evidence::one(what, seen).at(at()).with(Severity::Warning));
            }
            continue;
        }
        let (opened, closed) = (said.matches(tag).count(), said.matches(&partner).count());
        // Other contracts report what opens only the first of two rounds, and calls that are lost.
        let is_reported = seen.probe == TWO_ROUNDS.name || !seen.has(words::FIRST_VALUE);
        tally.demand(opened == closed || is_reported && opened < closed, || {
            let what = if opened > closed {
                format!("`{tag}` is not closed by `{partner}`")
            } else {
                format!("`{partner}` closes what no `{tag}` opens")
            };
            Evidence::one(what, seen).at(at())
        });
    }
}

/// Demands that the tags next to the list of tools, each alone on its line, come in pairs: `<tools>`
/// before it, and `</tools>` after it.
fn tags_around_tools(tally: &mut Tally, prober: &Prober<'_>) {
    let seen = prober.see(TOOLS);
    let Some(text) = seen.before(words::USER) else {
        return;
    };
    let lower = text.to_ascii_lowercase();
    let (Some(first), Some(last)) = (lower.find(words::TOOL), lower.rfind(words::SECOND_TOOL))
    else {
        return;
    };
    let names_of = |lines: &'_ str| -> Vec<(bool, String)> {
        let tags = lines.lines().map(str::trim).filter_map(|line| {
            let tag = line.strip_prefix('<')?.strip_suffix('>')?;
            let name = tag.strip_prefix('/').unwrap_or(tag);
            let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let is_name = is_name && !["", "s", "bos"].contains(&name);
            is_name.then(|| (name != tag, name.to_owned()))
        });
        tags.collect()
    };
    let opening = names_of(text.cut(..first))
        .pop()
        .filter(|(closes, _)| !closes);
    let closing = names_of(text.cut(last..))
        .into_iter()
        .next()
        .filter(|(closes, _)| *closes);
    for (closes, name) in opening.into_iter().chain(closing) {
        let count = |tag: String| text.matches(&tag).count();
        let (opened, closed) = (count(format!("<{name}")), count(format!("</{name}")));
        let is_paired = if closes { opened > 0 } else { closed > 0 };
        tally.demand(is_paired, || {
            let what = if closes {
                format!("`</{name}>` after the tools closes what no `<{name}>` opens")
            } else {
                format!("`<{name}>` before the tools is not closed by `</{name}>`")
            };
            Evidence::one(what, &seen).at(seen.find(&format!("{name}>")))
        });
    }
}

/// Whether a token is right before a word of a call or of a result.
fn is_around_words(seen: &ProbeOutcome, tag: &str) -> bool {
    let all = [words::RESULT, words::TOOL, words::FIRST_VALUE];
    all.iter().any(|word| {
        seen.before(word)
            .is_some_and(|before| before.trim_end().ends_with(tag))
    })
}

/// Demands that tags such as `<invoke name="…">` are closed as often as they are opened.
fn plain_tags_are_paired(
    tally: &mut Tally,
    prober: &Prober<'_>,
    seen: &ProbeOutcome,
    said: &str,
    opening: &str,
) {
    static TAG: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"<(/?)([A-Za-z_｜][\w.：:｜-]*)(?:[=\s][^<>]*)?>").ok());
    let Some(tag) = TAG.as_ref() else { return };
    let source = prober.source_without_comments();
    let turns = prober.see(TWO_TURNS);
    let of_turns = turns.text().unwrap_or_default();
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut open: Vec<&str> = Vec::new();
    for found in tag.captures_iter(said) {
        let (Some(slash), Some(name)) = (found.get(1), found.get(2)) else {
            continue;
        };
        // `<s>` and `</s>` begin and end a sequence, and a separator has no partner.
        let tag = format!("<{}", name.as_str());
        let is_of_turns = of_turns.contains(&tag) || opening.contains(&tag);
        let is_of_turns = is_of_turns || name.as_str() == "s" || tag.contains("sep");
        let tag = format!("<{}>", name.as_str());
        // Tags with the words `start` and `end` are judged as tokens.
        let is_other = has_word_for_an_end(&tag) || is_quote(seen, &tag);
        if mark_at(&tag).is_none() && !is_of_turns && !is_other {
            let [opened, closed] = counts.entry(name.as_str()).or_default();
            *(if slash.is_empty() { opened } else { closed }) += 1;
            if slash.is_empty() {
                open.push(name.as_str());
            } else if let Some(at) = open.iter().rposition(|one| *one == name.as_str()) {
                // What is not closed at all is reported below.
                let later = said
                    .cut(found.get(0).map_or(0, |tag| tag.end())..)
                    .to_owned();
                let crossed = open
                    .iter()
                    .skip(at + 1)
                    .find(|one| later.contains(&format!("</{one}>")));
                if let Some(other) = crossed.filter(|_| open.len() == at + 2) {
                    let what = format!(
                        "`</{}>` comes before `</{other}>`, which was opened after it",
                        name.as_str()
                    );
                    tally.broken(Evidence::one(what, seen));
                }
                open.truncate(at);
            }
        }
    }
    for (name, [opened, closed]) in counts {
        let is_known = source.contains(&format!("</{name}")) || closed > 0;
        let what = match (opened, closed) {
            (opened, closed) if opened == closed => None,
            (_, 0) if !is_known => Some(format!("`<{name}>` is closed nowhere in the template")),
            (opened, closed) if opened > closed => {
                Some(format!("`<{name}>` is not closed by `</{name}>`"))
            }
            _ => Some(format!("`</{name}>` closes what no `<{name}>` opens")),
        };
        // A token that opens a turn in one conversation only, such as that of a result, has no end.
        let is_token = prober
            .tokenizer()
            .is_some_and(|one| one.is_token(&format!("<{name}>")));
        if what.is_some() && !is_known && is_token {
            continue;
        }
        tally.demand(what.is_none(), || {
            let at = seen.text().and_then(|text| text.rfind(&format!("<{name}")));
            Evidence::one(what.unwrap_or_default(), seen).at(at.map(|at| at..at + name.len() + 1))
        });
    }
}

/// Whether a tag says in a word that it opens or closes something.
fn has_word_for_an_end(tag: &str) -> bool {
    ["start", "begin", "end"]
        .iter()
        .any(|word| tag.split(['<', '_', '>']).any(|part| part == *word))
}

/// Whether a tag comes before and after the value of an argument, as quotation marks do.
fn is_quote(seen: &ProbeOutcome, tag: &str) -> bool {
    let (before, after) = (
        seen.before(words::FIRST_VALUE),
        seen.after(words::FIRST_VALUE),
    );
    before.is_some_and(|before| before.ends_with(tag))
        && after.is_some_and(|after| after.starts_with(tag))
}

/// Demands that a mark that ends answers has its partner before them, if the template writes it.
fn marks_of_answers(tally: &mut Tally, prober: &Prober<'_>) {
    let seen = prober.see(USER_ASSISTANT);
    let (Some(after), Some(question)) = (seen.after(words::ASSISTANT), seen.after(words::USER))
    else {
        return;
    };
    let source = prober.source_without_comments();
    for token in control_tokens_in(after) {
        let opens = [
            ("END", "START"),
            ("END", "BEGIN"),
            ("end", "start"),
            ("end", "begin"),
        ];
        let opens = opens.iter().filter(|(end, _)| token.contains(end));
        let opens = opens.map(|(end, begin)| token.replacen(end, begin, 1));
        let is_of_turns = ["turn", "TURN", "im_", "text", "sentence", "header", "role"];
        if is_of_turns.iter().any(|word| token.contains(word)) || mark_at(token).is_some() {
            continue;
        }
        for opening in opens.filter(|opening| source.contains(opening)) {
            tally.demand(question.contains(&opening), || {
                let what = format!("`{token}` closes an answer that no `{opening}` opens");
                let at = seen.text().and_then(|text| text.rfind(token));
                Evidence::one(what, &seen).at(at.map(|at| at..at + token.len()))
            });
        }
    }
}

/// Demands that a mark that begins an image or a video has its end.
fn marks_of_media(tally: &mut Tally, prober: &Prober<'_>) {
    let source = prober.source_without_comments();
    let plain = prober.see(USER_PARTS);
    for probe in [IMAGE, VIDEO] {
        let seen = prober.see(probe);
        let (Some(text), Some(plain)) = (seen.text(), plain.text()) else {
            continue;
        };
        let tokens: BTreeSet<&str> = control_tokens_in(text).collect();
        for token in tokens.into_iter().filter(|token| !plain.contains(token)) {
            let Some(partner) = partner(token).filter(|partner| source.contains(partner)) else {
                continue;
            };
            let counts = [token, &partner].map(|token| text.matches(token).count());
            tally.demand(counts[0] == counts[1], || {
                let what = format!("`{token}` is not closed by `{partner}`: {}", probe.about);
                let at = text.rfind(token);
                Evidence::one(what, &seen).at(at.map(|at| at..at + token.len()))
            });
        }
    }
}

/// Demands that a video and an image both stand between marks, or neither does.
fn media_alike(tally: &mut Tally, prober: &Prober<'_>) {
    let plain = prober.see(USER_PARTS);
    let added = |probe| -> Vec<String> {
        let seen = prober.see(probe);
        let [text, plain] = [&seen, &plain].map(|seen| seen.text().unwrap_or_default());
        let tokens = control_tokens_in(text).filter(|token| !plain.contains(token));
        tokens.map(str::to_owned).collect()
    };
    let (image, video) = ((IMAGE, "an image"), (VIDEO, "a video"));
    for [(alone, who), (wrapped, other)] in [[image, video], [video, image]] {
        if let ([mark], [first, _, last]) = (added(alone).as_slice(), added(wrapped).as_slice())
            && partner(first).as_ref() == Some(last)
        {
            let seen = prober.see(alone);
            let what = format!(
                "{other} stands between `{first}` and `{last}`, and {who} is `{mark}` alone"
            );
            tally.broken(Evidence::one(what, &seen).at(seen.find(mark)));
        }
    }
}

/// The tags that a template both opens and closes, in the form that each has in its source. `<s>` and
/// `</s>` begin and end a sequence.
fn pairs_of_source(source: &str) -> BTreeSet<(String, String)> {
    static CLOSING: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(<<|<\||<|\[)/([A-Za-z_][\w:-]*)(>>|\|>|>|\])").ok());
    let all = CLOSING
        .iter()
        .flat_map(|closing| closing.captures_iter(source));
    all.map(|found| {
        (
            format!("{}{}{}", &found[1], &found[2], &found[3]),
            found[0].to_owned(),
        )
    })
    .filter(|(opening, _)| {
        source.contains(opening.as_str()) && mark_at(opening).is_none() && opening != "<s>"
    })
    .collect()
}

/// Demands that a tag such as `<<SYS>>` has its partner in the source.
fn double_brackets_are_closed(tally: &mut Tally, prober: &Prober<'_>) {
    let source = prober.source_without_comments();
    let names = source
        .split("<<")
        .skip(1)
        .filter_map(|rest| rest.split_once(">>"));
    let mut names = names
        .map(|(name, _)| name)
        .filter(|name| name.chars().all(char::is_alphanumeric));
    // Such a mark may be between two texts, and need no end.
    let are_pairs = source.contains("<</") || source.contains("<<SYS>>");
    let is_open =
        |name: &&str| are_pairs && !name.is_empty() && !source.contains(&format!("<</{name}>>"));
    if let Some(name) = names.find(is_open) {
        let what =
            format!("`<<{name}>>` opens something, and the template never writes `<</{name}>>`");
        tally.broken(Evidence::of_source(what));
    }
}

/// Demands that a tag is closed as often as it is opened in one conversation if it is so in another.
fn balance_is_alike(tally: &mut Tally, prober: &Prober<'_>, asks: &str) {
    // Ollama renders no finished conversation but to continue its answer.
    let conversations = [
        USER,
        SYSTEM_USER,
        USER_ASSISTANT_USER,
        TOOLS,
        SYSTEM_TOOLS,
        CALL_RESULT,
        DOCUMENT,
        SYSTEM_DOCUMENT,
    ];
    let seen: Vec<_> = conversations
        .iter()
        .map(|probe| prober.see(*probe))
        .collect();
    for (opening, closing) in pairs_of_source(prober.source_without_comments()) {
        // What asks for an answer leaves its tag open.
        if asks.contains(&opening) {
            continue;
        }
        let odd = |seen: &ProbeOutcome| {
            let text = seen.text()?;
            let [opened, closed] =
                [&opening, &closing].map(|tag| text.matches(tag.as_str()).count());
            Some(opened.abs_diff(closed)).filter(|_| opened + closed > 0)
        };
        let whole = seen.iter().any(|one| odd(one) == Some(0));
        let Some(one) = seen
            .iter()
            .find(|one| whole && odd(one).is_some_and(|odd| odd > 0))
        else {
            continue;
        };
        let what = format!(
            "`{opening}` and `{closing}` are not there equally often: {}",
            one.about
        );
        tally.broken(Evidence::one(what, one).at(one.find(&opening.to_lowercase())));
    }
}

/// Demands that the second of two results, and of two calls, is within the same tags as the first.
fn results_are_within(tally: &mut Tally, prober: &Prober<'_>) {
    let seen = prober.see(PARALLEL);
    let (Some(text), Some(question)) = (seen.text(), seen.find(words::USER)) else {
        return;
    };
    for (opening, closing) in pairs_of_source(prober.source_without_comments()) {
        let depth = |word: &str| {
            let before = text.get(question.end..seen.find(word)?.start)?;
            let is_there = text.cut(question.end..).contains(&opening);
            is_there.then(|| {
                before
                    .matches(&opening)
                    .count()
                    .abs_diff(before.matches(&closing).count())
            })
        };
        for (first, second, who) in [
            (words::RESULT, words::SECOND_RESULT, "results"),
            (words::FIRST_VALUE, words::THIRD_VALUE, "calls"),
        ] {
            let (Some(one), Some(other)) = (depth(first), depth(second)) else {
                continue;
            };
            tally.demand(one == other, || {
                let what = format!(
                    "of two {who} one is between `{opening}` and `{closing}`, and the other is not"
                );
                Evidence::one(what, &seen).at(seen.find(second))
            });
        }
    }
}

/// Demands that code fences, docstrings, CDATA and comments are closed, as far as they are in a plain
/// prompt.
fn fences_are_closed(tally: &mut Tally, prober: &Prober<'_>) {
    let plain = prober.see(USER);
    for probe in [
        RICH_TOOL,
        TOOLS,
        CALL_RESULT,
        QUOTED_CALL,
        PARALLEL,
        DOCUMENT,
    ] {
        let seen = prober.see(probe);
        for (opening, closing) in [
            ("```", "```"),
            ("\"\"\"", "\"\"\""),
            ("<![CDATA[", "]]>"),
            ("<!--", "-->"),
        ] {
            let is_closed = |text: &str| {
                let closed = text.matches(closing).count();
                if opening == closing {
                    closed % 2 == 0
                } else {
                    closed == text.matches(opening).count()
                }
            };
            let (Some(text), Some(plain)) = (seen.text(), plain.text()) else {
                continue;
            };
            if !text.contains(opening) && !text.contains(closing) {
                continue;
            }
            tally.demand(is_closed(text) || !is_closed(plain), || {
                let what = format!("`{opening}` is not closed by `{closing}`: {}", probe.about);
                let at = text.rfind(opening).or(text.rfind(closing));
                Evidence::one(what, &seen).at(at.map(|at| at..at + closing.len()))
            });
        }
    }
}

/// The name of a role, and a line break, may be between an opening and its text.
const LONGEST: usize = 24;

/// Demands that not the same tag comes before a text and after it. A token that closes turns does,
/// where turns begin with plain words.
fn both_sides(tally: &mut Tally, prober: &Prober<'_>) {
    let turns = prober.see(TWO_TURNS);
    let closing = |word| control_tokens_in(turns.after(word)?).next();
    let closes = [words::USER, words::ASSISTANT].map(closing);
    for (probe, word, who) in [
        (CALL_RESULT, words::RESULT, "a result"),
        (SYSTEM_USER, words::SYSTEM, "a system message"),
        (SYSTEM_USER, words::USER, "a question"),
        (USER_ASSISTANT, words::ASSISTANT, "an answer"),
    ] {
        let seen = prober.see(probe);
        let (Some(before), Some(after)) = (seen.before(word), seen.after(word)) else {
            continue;
        };
        let after = after.trim_start();
        let Some(token) = control_tokens_in(before).next_back() else {
            continue;
        };
        let gap = before
            .rfind(token)
            .map_or(0, |at| before.len() - at - token.len());
        if gap > LONGEST || token.contains('/') || closes.contains(&Some(token)) {
            continue;
        }
        // After a turn without an end is what opens the next turn.
        let opens = control_tokens_in(turns.before(words::USER).unwrap_or_default()).next_back();
        let opens_next = opens == Some(token) && after.matches(token).count() == 1;
        if opens_next || is_quote(&prober.see(CALL), token) {
            continue;
        }
        // `<<SYS>>` has one more sign on each side.
        let is_same = after.find(token).is_some_and(|at| at < 2);
        tally.demand(!is_same, || {
            let what = format!("`{token}` comes before {who}, and after it, too");
            Evidence::one(what, &seen).at(seen.find(word))
        });
    }
}

/// The tag that closes what a tag opens, by its form: `</x>` for `<x>`, `end` for `begin` and
/// `start`.
fn partner(tag: &str) -> Option<String> {
    for (opens, closes) in [
        ("start", "end"),
        ("begin", "end"),
        ("START", "END"),
        ("BEGIN", "END"),
    ] {
        if tag.contains(opens) {
            return Some(tag.replacen(opens, closes, 1));
        }
    }
    let open = tag.chars().next()?;
    let inside = tag.cut(1..);
    let name = inside.trim_start_matches(['|', '｜']);
    if name.starts_with('/') || name.contains("end") || name.contains("END") {
        return None;
    }
    let bar = inside.cut(..inside.len() - name.len());
    Some(format!("{open}{bar}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_known_by_their_form() {
        for (tag, expected) in [
            ("<tool_call>", Some("</tool_call>")),
            ("[TOOL_RESULTS]", Some("[/TOOL_RESULTS]")),
            ("<｜tool▁call▁begin｜>", Some("<｜tool▁call▁end｜>")),
            ("<start_function_call>", Some("<end_function_call>")),
            ("</tool_call>", None),
            ("<|tool|>", Some("<|/tool|>")),
            ("<|/tool|>", None),
            ("<end_function_call>", None),
        ] {
            assert_eq!(partner(tag).as_deref(), expected, "{tag}");
        }
    }
}
