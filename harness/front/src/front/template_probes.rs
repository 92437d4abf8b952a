//! What llama.cpp's server finds out about a template when it starts: it renders small conversations, and
//! looks at the prompts. It also watches what the template touches. Here the prompts have to tell.

use rolecall_core::guard::{LoadedTemplate, load};
use rolecall_core::{Case, Conversation, Cut, Dialect, Limit, Limits, Outcome, Template};
use rolecall_jinja::JinjaEngine;
use serde_json::{Value, json};

use super::families::Family;

/// What the server knows about a template.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an answer of its own"
)]
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct TemplateProbes {
    /// Whether the server starts with it.
    pub(super) starts: bool,
    /// Whether it prints a content that is a text.
    pub(super) takes_texts: bool,
    /// Whether it prints a content that is a list of parts.
    pub(super) takes_parts: bool,
    /// Whether it does anything with the system's text.
    pub(super) takes_system: bool,
    /// Whether it reads in the arguments of calls.
    pub(super) reads_arguments: bool,
    /// Whether the server switches thinking on.
    pub(super) thinks: bool,
    /// How a thought begins and ends, if the prompts show it.
    pub(super) thought: [String; 2],
    /// The family of templates that has a handler of its own.
    pub(super) family: Option<&'static Family>,
    /// Whether some words are in the source: `<|channel|>`, and those of `StepFun`'s
    /// tools.
    pub(super) has_channels: bool,
    pub(super) is_trimmed: bool,
    /// The special tokens that the server does not give to templates.
    pub(super) hidden: Vec<String>,
    /// The special tokens that the server gives to templates although the model has none.
    pub(super) missing: Vec<&'static str>,
}

const TEXT: &str = "STRING_MARKER";
const THOUGHT: &str = "REASON_PART I am thinking END_R";

/// The template, with the requests that the server makes to it.
struct Probe {
    template: LoadedTemplate,
    wraps: bool,
}

impl TemplateProbes {
    pub(super) fn render(template: &Template) -> TemplateProbes {
        let mut bare =
            Template::from_source(template.name.as_str(), Dialect::Jinja, &template.source);
        for name in ["bos_token", "eos_token"] {
            let token = template.special_tokens.get(name);
            let token = token.and_then(Value::as_str).unwrap_or_default();
            bare = bare.with_special_token(name, token);
        }
        let mut probe = Probe {
            template: load(&JinjaEngine::new(), &bare),
            wraps: false,
        };
        let source = &template.source;
        let shown = |content: Value| {
            let case = probe.case(&[json!({"role": "user", "content": content})], &[]);
            probe.template.render(&Conversation::new(&case))
        };
        let with_text = shown(TEXT.into());
        let with_parts = shown(json!([{"type": "text", "text": TEXT}]));
        let prints_parts = matches!(&with_parts, Outcome::Rendered { text } if {
            let mut places = text.match_indices(TEXT);
            places.any(|(at, _)| !text.cut(..at).ends_with(['\'', '"']))
        });
        // The server tries no other parts than an empty list, and takes a refusal of that for one of parts.
        let prints_parts = prints_parts && matches!(shown(json!([])), Outcome::Rendered { .. });
        // A loop over a text is an error there.
        let has_loop = probe.has_loop();
        let takes_parts = prints_parts || has_loop;
        let takes_texts = match with_text {
            Outcome::Rendered { text } => !has_loop && (!takes_parts || text.contains(TEXT)),
            Outcome::Raised { .. } => false,
            _ => !has_loop,
        };
        let takes_system = has_loop || probe.takes_system();
        // That probe needs the whole conversation to be rendered.
        let reads_arguments = !has_loop && probe.reads_arguments();
        probe.wraps = takes_parts && !takes_texts;
        let family = Family::of(source);
        let (is_thinking, thought) = probe.thought(source);
        let starts = [true, false].map(|asks| {
            let mut case = probe.case(&[json!({"role": "user", "content": "test"})], &[]);
            case.add_generation_prompt = asks;
            case.variables
                .insert("enable_thinking".to_owned(), true.into());
            // Where a name is missing, that engine goes on.
            let outcome = probe.template.render(&Conversation::new(&case));
            !matches!(outcome, Outcome::Raised { .. })
        });
        let tokens = &template.special_tokens;
        let is_missing = |name: &&str| !tokens.contains_key(*name);
        let missing = ["bos_token", "eos_token"].into_iter().filter(is_missing);
        let missing = missing.collect();
        let tokens = tokens.keys();
        let is_hidden = |name: &&String| !matches!(name.as_str(), "bos_token" | "eos_token");
        TemplateProbes {
            starts: probe.template.refusal().is_none() && starts == [true, true],
            takes_texts,
            takes_parts,
            takes_system,
            reads_arguments,
            thinks: family.map_or(is_thinking, |family| family.thought.is_some()),
            thought,
            family,
            has_channels: source.contains("<|channel|>"),
            is_trimmed: source
                .contains("You have access to the following functions in JSONSchema format"),
            hidden: tokens.filter(is_hidden).cloned().collect(),
            missing,
        }
    }
}

impl Probe {
    fn case(&self, messages: &[Value], tools: &[Value]) -> Case {
        let mut messages = messages.to_vec();
        for message in messages.iter_mut().filter(|_| self.wraps) {
            if let Some(content) = message
                .get_mut("content")
                .filter(|content| content.is_string())
            {
                *content = json!([{"type": "text", "text": content.take()}]);
            }
        }
        let mut case = Case::from_messages(messages);
        case.tools = (!tools.is_empty()).then(|| tools.to_vec());
        case.undefined = vec!["documents".to_owned()];
        if tools.is_empty() {
            case.undefined.push("tools".to_owned());
        }
        case
    }

    fn render(&self, case: &Case) -> Option<String> {
        match self.template.render(&Conversation::new(case)) {
            Outcome::Rendered { text } => Some(text),
            _ => None,
        }
    }

    fn ask(&self, messages: &[Value], tools: &[Value]) -> Option<String> {
        self.render(&self.case(messages, tools))
    }

    /// A prompt as it is with thinking on or off.
    fn thinking(
        &self,
        messages: &[Value],
        tools: &[Value],
        asks: bool,
        thinks: bool,
    ) -> Option<String> {
        let mut case = self.case(messages, tools);
        case.add_generation_prompt = asks;
        case.variables
            .insert("enable_thinking".to_owned(), thinks.into());
        self.render(&case)
    }

    /// `caps_get` of `common/jinja/caps.cpp`: the role of the system.
    fn takes_system(&self) -> bool {
        let [one, other] = ["System message", "Another message"].map(|text| {
            let user = json!({"role": "user", "content": "User message"});
            self.ask(&[json!({"role": "system", "content": text}), user], &[])
        });
        one.is_some() && one != other
    }

    /// Whether the template loops over the characters of a text. A long one makes that take many steps.
    fn has_loop(&self) -> bool {
        let limits = Limits {
            fuel: 100_000,
            ..Limits::default()
        };
        let text = "x".repeat(200_000);
        let case = self.case(&[json!({"role": "user", "content": text})], &[]);
        let limited = self.template.within(&limits);
        let outcome = limited.map(|template| template.render(&Conversation::new(&case)));
        matches!(outcome, Some(Outcome::Exceeded { limit: Limit::Fuel }))
    }

    /// `caps_get` of `common/jinja/caps.cpp`: calls with arguments as an object.
    fn reads_arguments(&self) -> bool {
        let argument = json!({"type": "string", "description": "Arg description"});
        let parameters =
            json!({"type": "object", "properties": {"arg": argument}, "required": ["arg"]});
        let function =
            json!({"name": "tool1", "description": "Tool description", "parameters": parameters});
        let tool = json!({"name": "tool", "type": "function", "function": function});
        let [one, other] = ["value", "other"].map(|value| {
            let function = json!({"name": "tool1", "arguments": {"arg": value}});
            let call = json!({"id": "call00001", "type": "function", "function": function});
            let messages = [
                json!({"role": "user", "content": "User message"}),
                json!({"role": "assistant", "content": "", "tool_calls": [call]}),
                json!({"role": "tool", "content": "Tool response", "tool_call_id": "call00001"}),
                json!({"role": "assistant", "content": "The tool response was 'tool response'"}),
                json!({"role": "user", "content": "User message"}),
            ];
            self.ask(&messages, std::slice::from_ref(&tool))
        });
        // Printed as a whole, as Python prints it, the object counts as not read.
        one != other && one.is_some_and(|prompt| !prompt.contains("{'arg': '"))
    }

    /// Whether there are thoughts, and how they begin and end (`analyze_reasoning` and the workarounds of
    /// `common/chat-diff-analyzer.cpp`).
    fn thought(&self, source: &str) -> (bool, [String; 2]) {
        let mut found = self.in_answers();
        self.in_openings(&mut found);
        self.beside_calls(&mut found);
        let tags = |start: &str, end: &str| Some([start.to_owned(), end.to_owned()]);
        let has = |words: &str| source.contains(words);
        let is_old = has("content.split('</think>')") && !has("reasoning_content");
        let granite = "Write your thoughts between <think></think> and write your response between \
                       <response></response>";
        if is_old && !has("<SPECIAL_12>") && found.is_none() || has(granite) {
            found = tags("<think>", "</think>");
        }
        let nemotron = [
            "<SPECIAL_10>",
            "<SPECIAL_11>",
            "<SPECIAL_12>",
            "<TOOL_RESPONSE>",
        ];
        if nemotron.into_iter().all(has) {
            found = tags("<think>\n", "</think>");
        }
        if has("laguna_glm_thinking") {
            found = found.map(|tags| tags.map(|tag| tag.trim().to_owned()));
        }
        (found.is_some(), found.unwrap_or_default())
    }

    /// The marks around the thought of an answer.
    fn in_answers(&self) -> Option<[String; 2]> {
        let user = json!({"role": "user", "content": USER});
        let with = json!({"role": "assistant", "content": ANSWER, "reasoning_content": THOUGHT});
        let without = json!({"role": "assistant", "content": ANSWER});
        self.thinking(&[user.clone(), without], &[], false, true)?;
        let prompt = self.thinking(&[user, with], &[], false, true)?;
        let start = marked_before(&prompt, THOUGHT);
        let after = after(&prompt, THOUGHT)?;
        if let Some((start, end)) = start.zip(mark_with_spaces(after, true)) {
            return Some([start, end]);
        }
        let end = mark_with_spaces(after.trim_start(), false)?;
        Some([String::new(), end])
    }

    /// The marks with which a prompt opens a thought, or closes it at once.
    fn in_openings(&self, found: &mut Option<[String; 2]>) {
        let user = [json!({"role": "user", "content": USER})];
        let [off, on] = [false, true].map(|thinks| self.thinking(&user, &[], true, thinks));
        let (Some(off), Some(on)) = (off, on) else {
            return;
        };
        let (left, right) = difference(&off, &on);
        let known = found.clone().unwrap_or_default();
        match (left.trim(), right.trim()) {
            ("", opening) => {
                if !opening.is_empty() && on.ends_with(opening) && known[0].is_empty() {
                    *found = Some([right, known[1].clone()]);
                }
            }
            (closing, "") => {
                if off.ends_with(closing) && known[1].is_empty() {
                    let pieces = pieces(&off);
                    let mut last = pieces.iter().rev().filter(|piece| !piece.trim().is_empty());
                    let is_last = last.next().is_some_and(|last| *last == closing);
                    let before = last.next().filter(|piece| is_last && is_mark(piece));
                    let start = before.map_or(known[0].clone(), |piece| (*piece).to_owned());
                    *found = Some([start, left]);
                }
            }
            _ => {
                for (base, extended) in [(&on, &off), (&off, &on)] {
                    let cut = base.floor_char_boundary(base.len().saturating_sub(64));
                    let Some((_, extra)) = extended.rsplit_once(base.cut(cut..)) else {
                        continue;
                    };
                    let pieces = pieces(extra.trim());
                    let mut marks = pieces.iter().filter(|piece| !piece.trim().is_empty());
                    if let (Some(start), Some(end), None) =
                        (marks.next(), marks.next(), marks.next())
                        && is_mark(start)
                        && is_mark(end)
                    {
                        let or = |known: &String, other: &str| {
                            if known.is_empty() {
                                other.to_owned()
                            } else {
                                known.clone()
                            }
                        };
                        *found = Some([or(&known[0], start), or(&known[1], end)]);
                        break;
                    }
                }
            }
        }
    }

    /// The marks around a thought that the template prints only beside calls.
    fn beside_calls(&self, found: &mut Option<[String; 2]>) {
        let argument = |text: &str| json!({"type": "string", "description": text});
        let properties = json!({
            "AA_ARG_FST_AA": argument("First argument"), "BB_ARG_SND_BB": argument("Second argument"),
        });
        let parameters = json!({"type": "object", "properties": properties, "required": []});
        let tools =
            [("FFF_FIRST_FUN_F", "foo"), ("SSS_SECOND_FUN_S", "bar")].map(|(name, what)| {
                let description = format!("Test function {what}");
                json!({"type": "function", "function":
                {"name": name, "description": description, "parameters": parameters}})
            });
        let user = json!({"role": "user", "content": USER});
        let arguments = json!({"AA_ARG_FST_AA": "VVVV", "BB_ARG_SND_BB": "XXXX"});
        let function = json!({"name": "FFF_FIRST_FUN_F", "arguments": arguments});
        let call = json!({"id": "call00001", "type": "function", "function": function});
        let message = json!({"role": "assistant", "content": ANSWER, "reasoning_content": THOUGHT});
        let calling = json!({"role": "assistant", "content": null, "reasoning_content": THOUGHT,
            "tool_calls": [call]});
        let [plain, calling] = [message, calling]
            .map(|message| self.thinking(&[user.clone(), message], &tools, false, true));
        let (Some(plain), Some(calling)) = (plain, calling) else {
            return;
        };
        let Some(after) = after(&calling, THOUGHT).filter(|_| !plain.contains(THOUGHT)) else {
            return;
        };
        let end = mark_with_spaces(after.trim_start(), false);
        *found = match (marked_before(&calling, THOUGHT), end) {
            (Some(start), Some(end)) => Some([start, end]),
            (_, end) => {
                let start = found.as_ref().map_or("", |tags| &*tags[0]).to_owned();
                Some([start, end.unwrap_or_default()])
            }
        };
    }
}

const USER: &str = "U_USER_MSG Hello END_U";
const ANSWER: &str = "A_ASST_MSG I can help END_A";

fn after<'t>(text: &'t str, place: &str) -> Option<&'t str> {
    text.split_once(place).map(|(_, after)| after)
}

/// The mark before a place, with the white space between them.
fn marked_before(text: &str, place: &str) -> Option<String> {
    let before = text.cut(..text.find(place)?);
    let bare = before.trim_end();
    let close = bare.chars().next_back()?;
    let open = match close {
        '>' => '<',
        ']' => '[',
        _ => return None,
    };
    let inside = bare.cut(..bare.len() - 1);
    // The mark begins as early as it can.
    let begin = inside.rfind(close).map_or(0, |at| at + 1);
    let begin = begin + inside.cut(begin..).find(open)?;
    Some(before.cut(begin..).to_owned())
}

/// The mark at the beginning of a text, with the white space behind it, and perhaps before it.
fn mark_with_spaces(text: &str, is_spaced: bool) -> Option<String> {
    let bare = if is_spaced { text.trim_start() } else { text };
    let close = match bare.chars().next()? {
        '<' => '>',
        '[' => ']',
        _ => return None,
    };
    let end = bare.find(close)? + 1;
    let spaces = bare.cut(end..).len() - bare.cut(end..).trim_start().len();
    Some(
        text.cut(..text.len() - bare.len() + end + spaces)
            .to_owned(),
    )
}

fn is_mark(piece: &str) -> bool {
    piece.starts_with('<') && piece.ends_with('>') || piece.starts_with('[') && piece.ends_with(']')
}

/// A text cut at its marks, such as `<think>` and `[INST]` (`segmentize_markers` of
/// `common/chat-auto-parser-helpers.cpp`).
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut close = None;
    for (at, c) in text.char_indices() {
        if close.is_none() && (c == '<' || c == '[') {
            if begin < at {
                pieces.push(text.cut(begin..at));
            }
            begin = at;
            close = Some(if c == '<' { '>' } else { ']' });
        } else if close == Some(c) {
            pieces.push(text.cut(begin..=at));
            begin = at + 1;
            close = None;
        }
    }
    if begin < text.len() {
        pieces.push(text.cut(begin..));
    }
    pieces
}

/// What two texts do not share at their beginning and their end (`calculate_diff_split` of
/// `common/chat-auto-parser-helpers.cpp`).
fn difference(left: &str, right: &str) -> (String, String) {
    if let Some(rest) = right.strip_prefix(left) {
        return (String::new(), rest.to_owned());
    }
    let (own, other) = (pieces(left), pieces(right));
    let same = |(one, two): &(&&str, &&str)| one == two;
    let most = own.len().min(other.len());
    let before = own.iter().zip(&other).take_while(same).count();
    let after = own.iter().rev().zip(other.iter().rev());
    let after = after.take(most - before).take_while(same).count();
    let [own, other] = [own, other].map(|pieces| {
        let inner = pieces.get(before..pieces.len() - after);
        inner.unwrap_or_default().concat()
    });
    let (Some(first), Some(last)) = (pieces(&own).first().copied(), pieces(&own).last().copied())
    else {
        return (own, other);
    };
    let others = pieces(&other);
    let are_texts =
        |one: &str, other: Option<&&str>| !is_mark(one) && other.is_some_and(|it| !is_mark(it));
    let after = if are_texts(last, others.last()) {
        shared(own.chars().rev().zip(other.chars().rev()))
    } else {
        0
    };
    let (own, other) = (
        own.cut(..own.len() - after),
        other.cut(..other.len() - after),
    );
    let before = if are_texts(first, others.first()) {
        shared(own.chars().zip(other.chars()))
    } else {
        0
    };
    (own.cut(before..).to_owned(), other.cut(before..).to_owned())
}

/// How many bytes the first characters have that are the same in two texts.
fn shared(pairs: impl Iterator<Item = (char, char)>) -> usize {
    let same = pairs.take_while(|(one, other)| one == other);
    same.map(|(c, _)| c.len_utf8()).sum()
}
