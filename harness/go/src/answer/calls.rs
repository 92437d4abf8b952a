//! Calls in the text of an answer: tools/tools.go.

use serde_json::{Map, Value as Json};

use super::answer_text::Call;
use super::call_tag::is_bare;
use super::go_json::{self, Unread};
use super::thinking::overlap;
use crate::error::Error;
use crate::meter::Meter;

/// The work to look at a byte of the text.
const BYTE: usize = 4;

/// Where in the answer the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    BeforeTag,
    /// The tag has come, and everything after it may be calls.
    InCalls,
    /// The rest is content.
    Done,
}

/// Tells calls from content.
#[derive(Debug)]
pub(super) struct CallReader {
    tag: String,
    tools: Vec<String>,
    state: State,
    /// Text that waits for more.
    waiting: String,
    /// How many calls there were.
    count: usize,
    /// Whether a random order decided.
    pub(super) varies: bool,
}

type Arguments = Map<String, Json>;

/// The arguments that an object has for a tool.
#[derive(Debug, Clone, PartialEq)]
enum Found {
    Nothing,
    /// It is one; without arguments it does not count.
    Call(Option<Arguments>),
}

impl CallReader {
    /// A reader at the beginning of an answer.
    pub(super) fn new(tag: String, tools: Vec<String>) -> CallReader {
        CallReader {
            tag,
            tools,
            state: State::BeforeTag,
            waiting: String::new(),
            count: 0,
            varies: false,
        }
    }

    /// Reads a piece, and returns the calls that are complete and the content that is certain.
    pub(super) fn add(
        &mut self,
        piece: &str,
        meter: &mut Meter,
    ) -> Result<(Vec<Call>, String), Error> {
        if self.state == State::Done {
            return Ok((Vec::new(), piece.to_owned()));
        }
        self.waiting.push_str(piece);
        let mut content = String::new();
        if self.state == State::BeforeTag {
            meter.work(self.waiting.len().saturating_mul(BYTE).saturating_add(100))?;
            let found = self.waiting.find(&self.tag);
            let at = found.unwrap_or(self.waiting.len() - overlap(&self.waiting, &self.tag));
            content = self.waiting.drain(..at).collect();
            if is_bare(&self.tag) && !content.trim().is_empty() {
                // Ollama keeps the text that it returns here, and may send it again at the end.
                self.state = State::Done;
                return Ok((Vec::new(), content + &self.waiting));
            }
            if found.is_none() {
                return Ok((Vec::new(), content));
            }
            self.state = State::InCalls;
        }
        let mut calls = Vec::new();
        while let Some(call) = self.next_call(meter)? {
            calls.push(call);
        }
        meter.work(self.waiting.len().saturating_mul(BYTE))?;
        if self.is_complete() {
            self.state = State::Done;
            content = std::mem::take(&mut self.waiting);
        }
        Ok((calls, content))
    }

    /// The text that turns out to be content when nothing more comes.
    pub(super) fn rest(&self) -> String {
        if self.count == 0 && is_bare(&self.tag) {
            self.waiting.clone()
        } else {
            String::new()
        }
    }

    /// Takes the next complete call out of the text. The text goes on with the brace that closes
    /// the arguments.
    fn next_call(&mut self, meter: &mut Meter) -> Result<Option<Call>, Error> {
        let names = self.tools.iter().map(String::len).sum::<usize>();
        let looks = self.tools.len().saturating_mul(self.waiting.len());
        meter.work(looks.saturating_add(names.saturating_mul(names)))?;
        let Some((name, name_end)) = find_tool(&self.tools, &self.waiting) else {
            return Ok(None);
        };
        let mut search = ArgumentSearch {
            tool: name,
            varies: false,
            meter,
        };
        let found = search.run(&self.waiting)?;
        self.varies |= search.varies;
        let Some((arguments, end)) = found else {
            return Ok(None);
        };
        let call = Call {
            index: self.count,
            name: name.to_owned(),
            arguments,
        };
        self.count += 1;
        self.waiting.drain(..name_end.max(end));
        Ok(Some(call))
    }

    /// Whether the brackets that a tag without words opens are closed.
    fn is_complete(&self) -> bool {
        let (open, close) = match &*self.tag {
            "{" => (b'{', b'}'),
            "[" => (b'[', b']'),
            _ => return false,
        };
        let mut depth = 0_i64;
        outside_of_strings(&self.waiting).any(|(_, byte)| {
            depth += i64::from(byte == open) - i64::from(byte == close);
            byte == close && depth == 0
        })
    }
}

/// The bytes of a text that are neither in a string nor escaped. Backslashes escape outside of
/// strings, too.
fn outside_of_strings(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let (mut is_string, mut is_escaped) = (false, false);
    text.bytes().enumerate().filter(move |(_, byte)| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match byte {
            b'\\' => is_escaped = true,
            b'"' => is_string = !is_string,
            _ => return !is_string,
        }
        false
    })
}

/// The name that comes first in a text, the longest one there, and where it ends. None while the
/// text ends with the beginning of a name.
fn find_tool<'n>(tools: &'n [String], text: &str) -> Option<(&'n str, usize)> {
    if text.is_empty() {
        return None;
    }
    let is_begun = tools.iter().any(|name| {
        let most = text.len().min(name.len().saturating_sub(1));
        (1..=most).any(|length| text.as_bytes().ends_with(&name.as_bytes()[..length]))
    });
    if is_begun {
        return None;
    }
    let mut first: Option<(usize, &str)> = None;
    for name in tools {
        let Some(at) = text.find(name.as_str()) else {
            continue;
        };
        let is_better = first
            .is_none_or(|(start, found)| at < start || at == start && name.len() > found.len());
        if is_better {
            first = Some((at, name));
        }
    }
    first.map(|(at, name)| (name, at + name.len()))
}

/// Looks for the arguments of a tool.
struct ArgumentSearch<'s> {
    tool: &'s str,
    varies: bool,
    meter: &'s mut Meter,
}

impl ArgumentSearch<'_> {
    /// The first valid object of the text decides: the arguments in it, or all of it. With the
    /// arguments comes the place of the brace that ends the object.
    fn run(&mut self, text: &str) -> Result<Option<(Arguments, usize)>, Error> {
        self.meter.work(text.len().saturating_mul(BYTE))?;
        let mut start = None;
        let mut depth = 0_i64;
        for (at, byte) in outside_of_strings(text) {
            match byte {
                b'{' => {
                    if depth == 0 {
                        start = Some(at);
                    }
                    depth += 1;
                }
                b'}' => {
                    depth -= 1;
                    if let (0, Some(from)) = (depth, start) {
                        match go_json::object(&text[from..=at], self.meter) {
                            Ok(Some(object)) => {
                                return Ok(match self.find(&object)? {
                                    Found::Call(arguments) => arguments,
                                    Found::Nothing => Some(object),
                                }
                                .map(|arguments| (arguments, at)));
                            }
                            // Go refuses it, so another one may have them.
                            Ok(None) | Err(Unread::Invalid) => {}
                            Err(Unread::Limit(limit)) => return Err(limit),
                        }
                    }
                    depth = depth.max(0);
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// The arguments in an object, or in the objects within.
    fn find(&mut self, object: &Arguments) -> Result<Found, Error> {
        self.meter.work(object.len().saturating_mul(100))?;
        if object.contains_key("name") {
            for name in ["arguments", "parameters"] {
                if let found @ Found::Call(_) = self.member(object, name)? {
                    return Ok(found);
                }
            }
            return Ok(Found::Call(None));
        }
        if let found @ Found::Call(_) = self.member(object, self.tool)? {
            return Ok(found);
        }
        // Go visits the members in a random order, so any of them that is a call may decide.
        let mut first = Found::Nothing;
        for value in object.values() {
            let items = match value {
                Json::Object(_) => std::slice::from_ref(value),
                Json::Array(items) => items,
                _ => continue,
            };
            let found = self.first_of(items)?;
            if first == Found::Nothing {
                first = found;
            } else if found != Found::Nothing && found != first {
                self.varies = true;
            }
        }
        Ok(first)
    }

    /// The arguments in the first of some values that is a call.
    fn first_of(&mut self, items: &[Json]) -> Result<Found, Error> {
        for object in items.iter().filter_map(Json::as_object) {
            if let found @ Found::Call(_) = self.find(object)? {
                return Ok(found);
            }
        }
        Ok(Found::Nothing)
    }

    /// A member that is an object, or a text of one.
    fn member(&mut self, object: &Arguments, name: &str) -> Result<Found, Error> {
        match object.get(name) {
            Some(Json::Object(arguments)) => Ok(Found::Call(Some(arguments.clone()))),
            Some(Json::String(text)) => match go_json::object(text, self.meter) {
                Ok(arguments) => Ok(Found::Call(arguments)),
                Err(Unread::Invalid) => Ok(Found::Nothing),
                Err(Unread::Limit(limit)) => Err(limit),
            },
            _ => Ok(Found::Nothing),
        }
    }
}
