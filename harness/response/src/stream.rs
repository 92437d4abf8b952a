//! Reads an answer piece by piece.

use std::sync::Arc;

use crate::content::Parsing;
use crate::event::{Event, Message};
use crate::failure::{Kind, Limit, ParseError, raised};
use crate::pattern::budget::Budget;
use crate::pattern::search::{Found, Match, Progress};
use crate::template::{Delimiter, Field, Parts, ResponseTemplate};
use crate::text::Text;
use crate::tools::Tools;
use crate::transform::{Scope, Shared};
use crate::value::{Object, Value};
use serde_json::Value as Json;

/// What the parser needs to know besides the answer.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The prompt. Templates often write the beginning of the answer, such as `<think>`. An empty
    /// text means that the answer is whole; without a prompt the reference raises `ValueError`.
    pub prompt: Option<&'a str>,
    /// The tools of the conversation, as a chat template gets them. They give arguments their types.
    pub tools: &'a [Json],
    /// What an answer may cost.
    pub limits: Limits,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            prompt: Some(""),
            tools: &[],
            limits: Limits::default(),
        }
    }
}

/// Limits of one message. No answer of an honest model with an honest template meets the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of all searches together.
    pub steps: u64,
    /// Characters of the prompt and of the answer, each.
    pub characters: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: 20_000_000,
            characters: 4_000_000,
        }
    }
}

impl ResponseTemplate {
    /// Reads a whole answer.
    pub fn parse(&self, answer: &str, options: &Options<'_>) -> Result<Message, ParseError> {
        let mut stream = self.stream(options)?;
        stream.feed(answer)?;
        let (_, message) = stream.finish()?;
        Ok(message)
    }

    /// Starts to read an answer that comes piece by piece.
    pub fn stream(&self, options: &Options<'_>) -> Result<Stream, ParseError> {
        let Some(prompt) = options.prompt else {
            let message = "the prompt is needed; an empty one says that the answer is whole";
            return Err(raised(Kind::Value, message));
        };
        let mut stream = Stream {
            template: Arc::clone(&self.parts),
            tools: Tools::read(options.tools),
            budget: Budget::new(options.limits.steps),
            limits: options.limits,
            text: Vec::new(),
            at: 0,
            known: vec![Known::default(); self.parts.fields.len()],
            fields: self.parts.defaults.clone(),
            region: Region {
                field: self.parts.implicit,
                ..Region::default()
            },
            is_finished: false,
            initial: Vec::new(),
            seen: None,
        };
        if !prompt.is_empty() {
            let prompt = Text::from(prompt);
            stream.check_length(prompt.codes().len())?;
            let after = self.after_anchor(prompt.codes(), &mut stream.budget)?;
            if !after.is_empty() {
                stream.text.extend(after);
                let mut events = Vec::new();
                stream.process(&mut events, false)?;
                stream.initial = events;
            }
        }
        Ok(stream)
    }
}

/// An answer that is being read.
///
/// It reports what the reference reports, and at the same moments. After an error it is where the
/// reference would be: it can go on, and usually fails again.
#[derive(Debug)]
pub struct Stream {
    template: Arc<Parts>,
    tools: Tools,
    budget: Budget,
    limits: Limits,
    text: Vec<u32>,
    /// All text before this place is dealt with.
    at: usize,
    /// What is known about delimiters, for each field.
    known: Vec<Known>,
    fields: Object,
    region: Region,
    is_finished: bool,
    initial: Vec<Event>,
    /// The delimiters that were found, if somebody wants to know.
    seen: Option<Vec<Seen>>,
}

/// A delimiter that was found in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) field: usize,
    pub(crate) opens: bool,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Clone, Debug, Default)]
struct Known {
    open: Progress,
    close: Progress,
}

/// What a region costs, in steps.
const REGION: u64 = 256;

/// The region that text goes into.
#[derive(Debug, Default)]
struct Region {
    /// The field. Text without one is thrown away.
    field: Option<usize>,
    /// What the named groups of the delimiters captured.
    captures: Vec<(Text, Text)>,
    body: Vec<u32>,
    is_open: bool,
}

struct Hit {
    field: usize,
    opens: bool,
    found: Match,
}

impl Stream {
    /// The events of the part of the answer that the prompt has.
    pub fn initial_events(&self) -> &[Event] {
        &self.initial
    }

    /// Remembers from now on which delimiters are found.
    pub(crate) fn watch(&mut self) {
        self.seen = Some(Vec::new());
    }

    pub(crate) fn steps_left(&self) -> u64 {
        self.budget.left()
    }

    pub(crate) fn seen(&self) -> &[Seen] {
        self.seen.as_deref().unwrap_or_default()
    }

    /// Reads more text, and reports what that makes certain.
    pub fn feed(&mut self, text: &str) -> Result<Vec<Event>, ParseError> {
        self.check_running()?;
        self.text.extend(text.chars().map(u32::from));
        self.check_length(self.text.len())?;
        let mut events = Vec::new();
        self.process(&mut events, false)?;
        Ok(events)
    }

    /// Ends the answer. Returns the last events and the message.
    pub fn finish(&mut self) -> Result<(Vec<Event>, Message), ParseError> {
        self.check_running()?;
        let mut events = Vec::new();
        self.process(&mut events, true)?;
        let is_missing = |field: &&Field| {
            !field.optional && !self.fields.contains_key(&Text::from(field.name.as_str()))
        };
        if let Some(field) = self.template.fields.iter().find(is_missing) {
            return Err(raised(
                Kind::Value,
                format!("the field `{}` is required, and it is missing", field.name),
            ));
        }
        let defaults = &self.template.defaults;
        self.fields
            .retain(|name, value| defaults.contains_key(name) || !is_empty(value));
        self.is_finished = true;
        Ok((
            events,
            Message {
                fields: std::mem::take(&mut self.fields),
            },
        ))
    }

    fn check_running(&self) -> Result<(), ParseError> {
        if self.is_finished {
            return Err(raised(Kind::Runtime, "the answer has ended already"));
        }
        Ok(())
    }

    fn check_length(&self, length: usize) -> Result<(), ParseError> {
        if length > self.limits.characters {
            return Err(ParseError::LimitExceeded {
                limit: Limit::Characters,
            });
        }
        Ok(())
    }

    fn process(&mut self, events: &mut Vec<Event>, at_end: bool) -> Result<(), ParseError> {
        loop {
            let (hit, held) = self.scan(at_end)?;
            let Some(hit) = hit else {
                let end = if at_end { self.text.len() } else { held };
                self.take_until(end, events);
                if at_end {
                    self.close(events)?;
                }
                return Ok(());
            };
            // Empty delimiters may open and close regions without end.
            self.budget.spend(REGION)?;
            let (start, end) = (hit.found.start, hit.found.end);
            if let Some(seen) = &mut self.seen {
                seen.push(Seen {
                    field: hit.field,
                    opens: hit.opens,
                    start,
                    end,
                });
            }
            self.take_until(start, events);
            self.at = end;
            let was_open = self.region.is_open;
            if !hit.opens {
                // They come after those of the opener, so they win.
                let captures = self.captures(&hit);
                self.region.captures.extend(captures);
            }
            self.close(events)?;
            if hit.opens {
                self.open(&hit, events);
            } else if !was_open && start == end {
                // An empty delimiter would be found here again.
                return Ok(());
            }
        }
    }

    /// The next delimiter that is certain, and the place from which text has to wait.
    fn scan(&mut self, at_end: bool) -> Result<(Option<Hit>, usize), ParseError> {
        let template = Arc::clone(&self.template);
        let mut best: Option<Hit> = None;
        let mut held = self.text.len();
        let is_explicit = self.region.field != template.implicit;
        for (number, field) in template.fields.iter().enumerate() {
            let is_current = self.region.field == Some(number);
            // Inside of a region only its own end counts.
            let open = field.open.as_ref().filter(|_| !is_explicit);
            let close = field.close.as_ref().filter(|_| is_current);
            for (opens, delimiter) in [(true, open), (false, close)] {
                let Some(delimiter) = delimiter else {
                    continue;
                };
                let known = &mut self.known[number];
                let progress = if opens {
                    &mut known.open
                } else {
                    &mut known.close
                };
                match delimiter.pattern.search(
                    &self.text,
                    self.at,
                    !at_end,
                    progress,
                    &mut self.budget,
                )? {
                    Found::Nothing => {}
                    Found::Partial(start) => held = held.min(start),
                    Found::Match(found)
                        if !at_end
                            && may_change(delimiter, &found, &mut self.text, &mut self.budget)? =>
                    {
                        held = held.min(found.start);
                    }
                    Found::Match(found) => {
                        let hit = Hit {
                            field: number,
                            opens,
                            found,
                        };
                        if best.as_ref().is_none_or(|best| self.is_before(&hit, best)) {
                            best = Some(hit);
                        }
                    }
                }
            }
        }
        // What has to wait may turn out to be a delimiter, and it starts earlier. And a delimiter
        // without text at the very end of the answer does not count.
        Ok((best.filter(|hit| hit.found.start < held), held))
    }

    /// Whether a delimiter wins over another: the earlier, then the longer, then the one that
    /// opens, then the field's name.
    fn is_before(&self, one: &Hit, other: &Hit) -> bool {
        let rank = |hit: &Hit| {
            let length = hit.found.end - hit.found.start;
            let name = &self.template.fields[hit.field].name;
            (
                hit.found.start,
                std::cmp::Reverse(length),
                !hit.opens,
                name.clone(),
            )
        };
        rank(one) < rank(other)
    }

    /// Moves text into the region.
    fn take_until(&mut self, end: usize, events: &mut Vec<Event>) {
        let start = self.at;
        self.at = end.max(start);
        let Some(number) = self.region.field.filter(|_| start < end) else {
            return;
        };
        let field = &self.template.fields[number];
        if !self.region.is_open {
            events.push(Event::Open {
                field: field.name.clone(),
            });
            self.region.is_open = true;
        }
        let codes = &self.text[start..end];
        self.region.body.extend(codes);
        events.push(Event::Chunk {
            field: field.name.clone(),
            text: codes
                .iter()
                .filter_map(|&code| char::from_u32(code))
                .collect(),
            dirty: !field.is_plain(),
        });
    }

    /// What the named groups of a delimiter captured.
    fn captures(&self, hit: &Hit) -> Vec<(Text, Text)> {
        let field = &self.template.fields[hit.field];
        let delimiter = if hit.opens { &field.open } else { &field.close };
        let groups = delimiter
            .as_ref()
            .map(|delimiter| delimiter.pattern.named(&hit.found));
        let captures = groups.into_iter().flatten().filter_map(|(name, span)| {
            let (start, end) = span?;
            Some((Text::from(name), Text::from(&self.text[start..end])))
        });
        captures.collect()
    }

    fn open(&mut self, hit: &Hit, events: &mut Vec<Event>) {
        let field = &self.template.fields[hit.field];
        self.region = Region {
            field: Some(hit.field),
            captures: self.captures(hit),
            body: Vec::new(),
            is_open: true,
        };
        events.push(Event::Open {
            field: field.name.clone(),
        });
    }

    /// Ends the region, and puts its value into the message.
    fn close(&mut self, events: &mut Vec<Event>) -> Result<(), ParseError> {
        if let Some(number) = self.region.field.filter(|_| self.region.is_open) {
            let template = Arc::clone(&self.template);
            let field = &template.fields[number];
            let value = self.value_of(field)?;
            self.put(field, &value)?;
            events.push(Event::Close {
                field: field.name.clone(),
                value,
            });
        }
        self.region = Region {
            field: self.template.implicit,
            ..Region::default()
        };
        Ok(())
    }

    fn value_of(&mut self, field: &Field) -> Result<Value, ParseError> {
        let mut parsing = Parsing {
            patterns: &field.patterns,
            budget: &mut self.budget,
        };
        let parser = Value::Text(Text::from(field.parser.as_str()));
        let value = parsing.parse(Some(&self.region.body), &parser, &field.args)?;
        if field.transform.is_none() && self.tools.is_empty() {
            return Ok(value);
        }
        let value = self.transformed(field, value)?;
        if !self.tools.is_empty() {
            self.tools.cast(&value, 1)?;
        }
        Ok(value.into_value())
    }

    fn transformed(&self, field: &Field, value: Value) -> Result<Shared, ParseError> {
        let Some(transform) = &field.transform else {
            return Ok(Shared::of(value));
        };
        let captures = self.region.captures.iter();
        let captures =
            captures.map(|(name, text)| (name.clone(), Shared::Plain(Value::Text(text.clone()))));
        let mut scope: Scope = captures.collect();
        if !field.each {
            scope.insert(Text::from("content"), Shared::of(value));
            return transform.apply(&scope);
        }
        let wrong = |what: &str, value: &Value| {
            let message = format!(
                "`transform_each` of `{}` needs {what}, not {}",
                field.name,
                value.type_name()
            );
            raised(Kind::Value, message)
        };
        let Value::List(items) = value else {
            return Err(wrong("a list", &value));
        };
        let mut out = Vec::new();
        for item in items {
            let Value::Object(entries) = item else {
                return Err(wrong("a list of objects", &item));
            };
            let mut scope = scope.clone();
            scope.extend(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, Shared::of(value))),
            );
            out.push(transform.apply(&scope)?);
        }
        Ok(Shared::list(out))
    }

    fn put(&mut self, field: &Field, value: &Value) -> Result<(), ParseError> {
        let name = Text::from(field.name.as_str());
        let before = self.fields.get_mut(&name);
        match &field.join {
            Some(join) => {
                let Value::Text(text) = value else {
                    let message = format!(
                        "`join` of `{}` needs texts, not {}",
                        field.name,
                        value.type_name()
                    );
                    return Err(raised(Kind::Value, message));
                };
                match before {
                    Some(Value::Text(before)) => {
                        before.extend(join.codes());
                        before.extend(text.codes());
                    }
                    None | Some(Value::Null) => {
                        self.fields.insert(name, value.clone());
                    }
                    Some(other) => {
                        let message = format!(
                            "the default of `{}` is {}, not a text",
                            field.name,
                            other.type_name()
                        );
                        return Err(raised(Kind::Type, message));
                    }
                }
            }
            None if field.repeats => match before {
                Some(Value::List(items)) => items.push(value.clone()),
                None => {
                    self.fields.insert(name, Value::List(vec![value.clone()]));
                }
                Some(other) => {
                    let message = format!(
                        "the default of `{}` is {}, not a list",
                        field.name,
                        other.type_name()
                    );
                    return Err(raised(Kind::Attribute, message));
                }
            },
            None => {
                self.fields.insert(name, value.clone());
            }
        }
        Ok(())
    }
}

/// Whether more text could change a match.
fn may_change(
    delimiter: &Delimiter,
    found: &Match,
    text: &mut Vec<u32>,
    budget: &mut Budget,
) -> Result<bool, ParseError> {
    if found.end == text.len() {
        return Ok(found.start == found.end || delimiter.may_grow);
    }
    if delimiter.is_literal {
        return Ok(false);
    }
    // A `$` or `\Z` in it may lean on the end of the text. The reference asks whether the same is found
    // if a null follows.
    text.push(0);
    let again = delimiter.pattern.at(text, found.start, budget);
    text.pop();
    Ok(again?.is_none_or(|again| {
        again.end != found.end || delimiter.pattern.named(&again) != delimiter.pattern.named(found)
    }))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) => false,
    }
}
