//! Finds the masks of a template's prompts, by two renders for each assistant turn: the prompt that asks for
//! the turn, and the conversation with the turn in it.
//!
//! The model writes what comes after the prompt, up to the token that ends the turn. The trace of the render
//! says which bytes come from the turn's message, so that a changed history or an end token in somebody's
//! text misleads nobody.

use std::cell::OnceCell;
use std::ops::Range;

use rayon::prelude::*;
use rolecall_core::{CONTENT, Case, Cut, Observer, Outcome, Wanted};
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde_json::{Value, json};

use crate::control_tokens::{beginnings, control_token_places};
use crate::mask::{Learned, Mask, MaskedTurn, NoMask};
use crate::traced::Traced;
use crate::turn_ends::TurnEnds;
use crate::written::{Asked, THINKING, Thinking};

/// Finds the masks of a template's prompts.
pub struct Masker<'p, 't> {
    program: &'p FrontProgram<'t>,
    ends: TurnEnds,
    /// What the template adds to a plain question to ask for the answer, and then what it adds under
    /// other settings of thinking.
    plain_openings: Vec<String>,
    /// The settings of thinking that the template reads.
    settings: Vec<Thinking>,
}

/// The ways in which the template asks for a turn: the case's own first, then those under other
/// settings of thinking.
struct Openings<'a> {
    masker: &'a Masker<'a, 'a>,
    asked: &'a Asked<'a>,
    /// The messages before the turn.
    before: &'a [Value],
    /// Their prompt, which asks for nothing, rendered on first use.
    unasked: OnceCell<Option<String>>,
    /// Whether the message before the turn is an answer that no token ends.
    is_continued: bool,
    /// The prompt that asks for the turn, unless the template refuses to ask there.
    prompt: Option<String>,
    /// What opens the turn, at the end of each prompt, found out on first use.
    known: OnceCell<Vec<String>>,
}

/// For how many turns at a time all threads render prompts ahead.
const TURNS_AHEAD: usize = 32;

impl<'p, 't> Masker<'p, 't> {
    /// A masker for a loaded template. It renders a few short conversations to see how turns open and
    /// end.
    pub fn new(program: &'p FrontProgram<'t>) -> Masker<'p, 't> {
        let mut masker = Masker {
            program,
            ends: TurnEnds::default(),
            plain_openings: Vec::new(),
            settings: Vec::new(),
        };
        let variables = program.without_front().variables();
        let settings = THINKING.into_iter();
        masker.settings = settings
            .filter(|(name, _)| variables.contains(*name))
            .collect();
        let front = Front::of(program.template);
        let plain = |messages: Value, opens: bool, setting| {
            let case = Case::from_messages(messages.as_array().cloned().unwrap_or_default());
            let asked = Asked::new(&case, front);
            masker.rendered(&asked, &case.messages, opens, setting)
        };
        let ends = TurnEnds::find(program.template, |messages, opens| {
            plain(messages, opens, None)
        });
        let question = json!([{"role": "user", "content": "How many?"}]);
        let settings = masker.settings.iter().copied().map(Some);
        let openings = [None].into_iter().chain(settings).filter_map(|setting| {
            let unasked = plain(question.clone(), false, setting)?;
            let asking = plain(question.clone(), true, setting)?;
            let added = asking.strip_prefix(unasked.as_str())?;
            let added = Some(added).filter(|it| !it.is_empty());
            Some(added.unwrap_or(ends.opening()).to_owned())
        });
        let plain_openings = openings.filter(|it| !it.is_empty()).collect();
        Masker {
            ends,
            plain_openings,
            ..masker
        }
    }

    /// The mask of a case with a front.
    ///
    /// # Errors
    ///
    /// There is no prompt, or the engine cannot trace it.
    pub fn mask(&self, case: &Case, front: Front) -> Result<Mask, NoMask> {
        let whole = self.traced(case, front)?;
        let asked = Asked::new(case, front);
        let mut turns: Vec<MaskedTurn> = Vec::new();
        let messages = case.messages.iter().enumerate();
        let is_answer = |value: &Value| value.get("role").is_some_and(|role| role == "assistant");
        let answers = messages.filter_map(|(index, value)| is_answer(value).then_some(index));
        let answers: Vec<usize> = answers.collect();
        for (index, message) in answers.iter().copied().enumerate() {
            if index % TURNS_AHEAD == 0 {
                let next = answers.iter().skip(index).take(TURNS_AHEAD);
                self.render_ahead(&asked, &whole, &next.copied().collect::<Vec<_>>());
            }
            let mut turn = self.turn(&asked, &whole, message, &turns);
            #[allow(clippy::indexing_slicing)] // The answers are messages of the case.
            let value = &case.messages[message];
            turn.is_left_out = is_left_out(value);
            turn.lacks_reasoning =
                turn.learned.range().is_some() && lacks_reasoning(value, &whole, &turn);
            if let (Some(last), Some(next)) = (turns.last_mut(), turn.learned.range()) {
                last.go_on_to(message, next.start, &whole.text);
            }
            turns.push(turn);
        }
        Ok(Mask {
            prompt: whole.text.into_owned(),
            spans: whole.spans.into_owned(),
            turns,
        })
    }

    #[allow(clippy::indexing_slicing)] // All numbers are of messages and parts of the case.
    fn turn(
        &self,
        asked: &Asked<'_>,
        whole: &Traced<'_>,
        message: usize,
        earlier: &[MaskedTurn],
    ) -> MaskedTurn {
        let nothing = MaskedTurn {
            message,
            learned: Learned::Nothing,
            further: Vec::new(),
            end: None,
            is_begun: false,
            is_left_out: false,
            lacks_reasoning: false,
        };
        let case = asked.case;
        let before = &case.messages[..message];
        let openings = self.openings(asked, before);
        let mut finished = self.finished(asked, &case.messages[..=message], whole);
        // If the text of the message comes after its prompt, the prompt need not be rendered again to
        // see whether the message changes it.
        let asking = openings.prompt.as_deref().zip(finished.as_ref());
        let is_written = asking.is_some_and(|(asking, finished)| {
            finished.text.starts_with(asking) && finished.first_of(message, asking.len()).is_some()
        });
        if !is_written
            && let (Some(unasked), Some(finished)) = (openings.unasked(), &finished)
            && *unasked == *finished.text
        {
            return nothing;
        }
        let floor = earlier.iter().flat_map(MaskedTurn::ranges).last();
        let floor = floor.map_or(0, |range| range.end);
        let last = earlier.last().filter(|last| last.message + 1 == message);
        let openings = Openings {
            is_continued: last.is_some_and(|last| last.end.is_none()),
            ..openings
        };
        let Some((mut start, is_as_asked)) = openings.place(whole, message, floor) else {
            return nothing;
        };
        if !is_as_asked {
            // What opens a call may be where something else opens the turn in its prompt.
            let from = floor.max(whole.earlier_until(message, start));
            let opener = whole.text.cut(from..start).trim();
            let mut written = earlier.iter().flat_map(MaskedTurn::ranges);
            if !opener.is_empty() && written.any(|it| whole.text.cut(it).contains(opener)) {
                start = from;
            }
        }
        let is_result = |index: usize| case.messages[index]["role"] == "tool";
        let following = whole.after_others(message, start, is_result);
        // The conversation with the message up to the results that a number of its further parts
        // come after.
        let shown = |parts: usize, after: usize| {
            let mut messages = case.messages[..=after].to_vec();
            let left_out = following[parts..].iter().flat_map(|it| &it.parts);
            left_out.for_each(|part| leave_out(&mut messages[message], part));
            messages
        };
        if !following.is_empty() {
            finished = self.finished(asked, &shown(0, message), whole);
        }
        let (mut range, mut end) = self.ending(whole, start, &openings, finished.as_ref(), message);
        let mut further = Vec::new();
        // A message can have text after the results of its calls. That text is found as a turn is.
        for (index, part) in following.iter().enumerate() {
            let before = shown(index, part.after);
            let openings = self.openings(asked, &before);
            if let Some((start, _)) = openings.place(whole, message, part.floor) {
                let finished = self.finished(asked, &shown(index + 1, part.after), whole);
                let (range, token) =
                    self.ending(whole, start, &openings, finished.as_ref(), message);
                further.push(range);
                end = token;
            }
        }
        let is_begun = case.continue_final_message.is_some() && message + 1 == case.messages.len();
        let is_begun = is_begun && end.is_none();
        if is_begun {
            // The application has cut the prompt in the answer.
            range.end = whole.text.len();
        }
        if range.is_empty() {
            return nothing;
        }
        MaskedTurn {
            learned: if is_as_asked {
                Learned::AsAsked(range)
            } else {
                Learned::Otherwise(range)
            },
            further,
            end,
            is_begun,
            ..nothing
        }
    }

    /// The prompt of a case, traced.
    fn traced(&self, case: &Case, front: Front) -> Result<Traced<'static>, NoMask> {
        let input = PreparedCase::new(case, front, &self.program.model.with(case, front));
        match self.program.traced(&input) {
            (Outcome::Rendered { text }, Some(spans)) => Ok(Traced {
                text: text.into(),
                spans: spans.into(),
            }),
            (Outcome::Rendered { .. }, None) => Err(NoMask::Untraced),
            (refusal, _) => Err(NoMask::Refused(refusal)),
        }
    }

    /// The prompt of some messages, if there is one.
    fn rendered(
        &self,
        asked: &Asked<'_>,
        messages: &[Value],
        opens: bool,
        setting: Option<Thinking>,
    ) -> Option<String> {
        let outcome = self.beginning(asked, messages, opens, setting, &mut Observer::default());
        let alone = || asked.alone(self.program, messages, opens, setting);
        outcome.unwrap_or_else(alone).into_prompt().ok()
    }

    /// The outcome of the first messages of a case, if they can be rendered as its beginning.
    fn beginning(
        &self,
        asked: &Asked<'_>,
        messages: &[Value],
        opens: bool,
        setting: Option<Thinking>,
        observer: &mut Observer,
    ) -> Option<Outcome> {
        // Other messages are not the case's own.
        if !std::ptr::eq(messages.as_ptr(), asked.case.messages.as_ptr()) {
            return None;
        }
        if setting.is_none()
            && let mut ahead = asked.ahead.borrow_mut()
            && let Some((outcome, spans)) = ahead.remove(&(messages.len(), opens))
        {
            observer.spans = spans;
            return Some(outcome);
        }
        let whole = asked.whole(self.program, setting);
        (self.program).beginning(&whole, messages.len(), opens, observer)
    }

    /// Renders the prompts that will be asked for, on all threads: for each answer the prompt that
    /// asks for it, and the conversation that ends with it.
    fn render_ahead(&self, asked: &Asked<'_>, prompt: &Traced<'_>, answers: &[usize]) {
        let whole = asked.whole(self.program, None);
        let prompts = answers
            .par_iter()
            .flat_map_iter(|at| [(*at, true), (at + 1, false)]);
        let outcomes = prompts.filter_map(|(count, opens)| {
            let outcome =
                (self.program).beginning(&whole, count, opens, &mut Observer::default())?;
            let is_other =
                matches!(&outcome, Outcome::Rendered { text } if !prompt.text.starts_with(text));
            let mut provenance = Observer::of(&[Wanted::Spans]);
            if is_other && !opens {
                (self.program).beginning(&whole, count, opens, &mut provenance)?;
            }
            Some(((count, opens), (outcome, provenance.spans)))
        });
        asked.ahead.replace(outcomes.collect());
    }

    /// The beginning of a conversation, finished, traced. Most often it is the beginning of the whole
    /// prompt, whose sources are known.
    fn finished<'w>(
        &self,
        asked: &Asked<'_>,
        messages: &[Value],
        whole: &'w Traced<'_>,
    ) -> Option<Traced<'w>> {
        let mut provenance = Observer::of(&[Wanted::Spans]);
        let outcome = self.beginning(asked, messages, false, None, &mut provenance);
        if let Some(outcome) = outcome {
            let text = outcome.into_prompt().ok()?;
            return whole.beginning(&text).or_else(|| {
                Some(Traced {
                    spans: provenance.spans?.into(),
                    text: text.into(),
                })
            });
        }
        let text = self.rendered(asked, messages, false, None)?;
        if let Some(beginning) = whole.beginning(&text) {
            return Some(beginning);
        }
        let case = asked.with(messages, false, None);
        self.traced(&case, asked.front).ok()
    }

    fn openings<'a>(&'a self, asked: &'a Asked<'a>, before: &'a [Value]) -> Openings<'a> {
        let prompt = self.rendered(asked, before, true, None);
        Openings {
            masker: self,
            asked,
            before,
            unasked: OnceCell::new(),
            is_continued: false,
            prompt,
            known: OnceCell::new(),
        }
    }

    /// The learned part of a turn that begins at a place, and the token that ends it. The finished
    /// turn is the same one at the end of its conversation.
    fn ending(
        &self,
        whole: &Traced<'_>,
        start: usize,
        openings: &Openings<'_>,
        finished: Option<&Traced<'_>>,
        message: usize,
    ) -> (Range<usize>, Option<Range<usize>>) {
        let finished = finished.and_then(|finished| {
            let (start, _) = openings.place(finished, message, 0)?;
            Some((finished, start))
        });
        let next = whole.next_message(message, start);
        let mut last = whole.last_of(message, start..next).unwrap_or(start);
        let mut tail = "";
        if let Some((finished, begins)) = finished {
            let end = finished.text.len();
            let own = finished.last_of(message, begins..end).unwrap_or(begins);
            tail = self.ends.without_opening(finished.text.cut(own..));
            if whole
                .text
                .cut(start..)
                .starts_with(finished.text.cut(begins..own))
            {
                last = start + (own - begins);
            }
        }
        let following = whole.text.cut(last..);
        let token = self.ends.last_in(tail).or_else(|| {
            let ended = tail.trim_end();
            let token = control_token_places(ended).next_back();
            token.filter(|token| token.end == ended.len())
        });
        // Within a conversation another token may be in the place of the last one.
        let token = token.and_then(|token| {
            let here = following.strip_prefix(tail.cut(..token.start))?;
            let is_same = here.starts_with(tail.cut(token.clone()));
            let length = is_same.then_some(token.len());
            let length = length.or_else(|| self.ends.at_start_of(here))?;
            Some(token.start..token.start + length)
        });
        let token = token.or_else(|| {
            let next = whole.next_message(message, last);
            self.ends.first_in(whole.text.cut(last..next))
        });
        if let Some(token) = token {
            let token = last + token.start..last + token.end;
            return (start..token.end, Some(token));
        }
        let same = shared_length(following, tail);
        (start..last + following.cut(..same).trim_end().len(), None)
    }
}

impl Openings<'_> {
    /// The prompt of the messages before the turn, which asks for nothing.
    fn unasked(&self) -> Option<&str> {
        let render = || self.masker.rendered(self.asked, self.before, false, None);
        self.unasked.get_or_init(render).as_deref()
    }

    /// Whether the prompt that asks for the turn opens none.
    fn is_unopened(&self) -> bool {
        self.prompt.as_deref() == self.unasked()
    }

    /// What opens the turn, at the end of each prompt that asks for it.
    fn known(&self) -> &[String] {
        self.known.get_or_init(|| {
            let mut openings: Vec<String> = Vec::new();
            if let Some(prompt) = &self.prompt {
                openings.extend(opening(prompt, self.unasked()));
                for setting in &self.masker.settings {
                    let render = |opens| {
                        let (asked, setting) = (self.asked, Some(*setting));
                        self.masker.rendered(asked, self.before, opens, setting)
                    };
                    if let Some(prompt) = render(true) {
                        openings.extend(opening(&prompt, render(false).as_deref()));
                    }
                }
            }
            openings.extend(self.masker.plain_openings.iter().cloned());
            openings
        })
    }

    /// Where a turn begins in a prompt, from a place on, and whether the prompt that asks for it
    /// comes before it. None if the turn is not there.
    fn place(&self, whole: &Traced<'_>, message: usize, floor: usize) -> Option<(usize, bool)> {
        let (start, is_as_asked) = self.opened(whole, message, floor)?;
        Some((
            start + self.empty_reasoning(&whole.text, start),
            is_as_asked,
        ))
    }

    /// How much reasoning is at the beginning of a turn that the prompt has opened and that is
    /// empty. A prompt that asks for no reasoning has all of it, so the model does not write it.
    fn empty_reasoning(&self, text: &str, start: usize) -> usize {
        let (before, following) = text.split_at(start);
        let is_tag = control_token_places(following).next();
        let is_tag = is_tag.is_some_and(|tag| following.cut(..tag.start).trim().is_empty());
        if !is_tag || self.masker.settings.is_empty() || !before.trim_end().ends_with(['>', ']']) {
            return 0;
        }
        let known = self.known();
        let rests = known.iter().flat_map(|all| {
            let opened = known.iter().filter(|it| before.ends_with(it.as_str()));
            opened.filter_map(|opened| all.strip_prefix(opened.as_str()))
        });
        // An application may have cut white space off.
        let is_there = |rest: &&str| following.starts_with(rest) || following == rest.trim_end();
        let closed = rests
            .filter(|rest| is_there(rest) && control_token_places(rest).count() == 1)
            .map(|rest| rest.len().min(following.len()));
        closed.max().unwrap_or(0)
    }

    /// Where a turn begins by what opens it.
    fn opened(&self, whole: &Traced<'_>, message: usize, floor: usize) -> Option<(usize, bool)> {
        let asking = self.prompt.as_deref();
        if let Some(asking) = asking.filter(|asking| asking.len() >= floor)
            && whole.text.starts_with(asking)
        {
            let following = whole.text.cut(asking.len()..);
            // What opens the turn after a plain question may be missing in this prompt.
            let missing = self.masker.plain_openings.first();
            let missing = missing.filter(|opening| following.starts_with(opening.as_str()));
            return match missing.filter(|_| self.is_unopened()) {
                Some(opening) => Some((asking.len() + opening.len(), false)),
                None => Some((asking.len(), true)),
            };
        }
        let own = whole.first_of(message, floor);
        let limit = own.unwrap_or_else(|| whole.next_message(message, floor));
        // What others say comes before the turn, not in its opening.
        let floor = floor.max(whole.earlier_until(message, limit));
        let region = whole.text.cut(floor..limit);
        let following = |opening: &str| Some(floor + region.rfind(opening)? + opening.len());
        let found = self.known().iter().find_map(|opening| following(opening));
        let found = found.or_else(|| {
            let openings = self.known().iter();
            openings
                .flat_map(|opening| beginnings(opening))
                .find_map(following)
        });
        // White space next to an opening may be another one here.
        let opened = self
            .known()
            .iter()
            .filter_map(|it| following(it.trim()))
            .max();
        let is_continued = self.is_continued && found.is_none() && opened.is_none();
        let own = own.filter(|own| {
            let from = opened.unwrap_or(floor);
            is_continued || !whole.is_within_a_text(message, from..*own)
        });
        // Where nothing opens the turn, the model writes the tokens that its prompt does not have. Two
        // answers in a row may be one turn.
        let diverged = asking.filter(|_| found.is_none() && self.is_unopened());
        let diverged = diverged.map(|asking| shared_length(&whole.text, asking));
        let diverged = if is_continued { Some(floor) } else { diverged };
        let diverged = diverged.filter(|at| {
            let text = own.and_then(|own| whole.text.get((*at).max(floor)..own));
            *at >= floor && text.is_some_and(|text| control_token_places(text).next().is_some())
        });
        found.or(diverged).or(own).map(|start| (start, false))
    }
}

/// Whether a message says that it shall not be learned.
fn is_left_out(message: &Value) -> bool {
    message["weight"].as_f64() == Some(0.0)
        || ["train", "training"]
            .iter()
            .any(|key| message[*key] == false)
}

/// Whether a message has reasoning, in a field or in its content, and its turn does not have it.
fn lacks_reasoning(message: &Value, whole: &Traced<'_>, turn: &MaskedTurn) -> bool {
    const FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];
    let fields = FIELDS.iter().filter_map(|field| message[*field].as_str());
    let within = message[CONTENT].as_str().and_then(|content| {
        let (before, _) = content.split_once("</think>")?;
        Some(
            before
                .rsplit_once("<think>")
                .map_or(before, |(_, text)| text),
        )
    });
    let mut texts = fields.chain(within).map(str::trim);
    let Some(reasoning) = texts.find(|text| !text.is_empty()) else {
        return false;
    };
    let has_it = |range: Range<usize>| {
        let text = whole.text.get(range.clone());
        text.is_some_and(|text| text.contains(reasoning))
            || whole.has_field(turn.message, &FIELDS, range)
    };
    !turn.ranges().any(has_it)
}

/// Where a prompt begins to differ from another one, at the beginning of a control token or outside
/// of one.
fn shared_length(prompt: &str, other: &str) -> usize {
    let same = prompt
        .bytes()
        .zip(other.bytes())
        .take_while(|(a, b)| a == b);
    let at = prompt.floor_char_boundary(same.count());
    let within = |place: &Range<usize>| place.start < at && at < place.end;
    let token = control_token_places(prompt).find(within);
    token.map_or(at, |token| token.start)
}

/// Leaves a part of a message out: a field such as `.content`, or a call such as `.tool_calls[1]`.
fn leave_out(message: &mut Value, part: &str) {
    let (field, index) = part.cut(1..).split_once('[').unwrap_or((part.cut(1..), ""));
    let index = index.trim_end_matches(']').parse::<usize>().ok();
    match (index, message.get_mut(field)) {
        // The places of the other calls stay as they are.
        (Some(index), Some(Value::Array(calls))) => calls.truncate(index),
        (None, Some(text @ Value::String(_))) => *text = "".into(),
        (None, Some(value)) => *value = Value::Null,
        _ => {}
    }
}

/// What opens a turn at the end of a prompt. `unasked` is the prompt without an opened answer.
fn opening(prompt: &str, unasked: Option<&str>) -> Option<String> {
    let added = unasked.and_then(|unasked| prompt.strip_prefix(unasked));
    if let Some(added) = added.filter(|added| !added.is_empty()) {
        return Some(added.to_owned());
    }
    // The turn before ends where this one begins.
    let last = control_token_places(prompt).next_back()?;
    Some(prompt.cut(last.start..).to_owned())
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Dialect, Template};
    use rolecall_front::engines::Engines;

    use super::*;

    /// The texts that a model writes, each with the kind of its turn and the token that ends it. A
    /// sign is where results are left out.
    fn written(source: &str, messages: &Value) -> Vec<(&'static str, String, String)> {
        let case = Case::from_messages(messages.as_array().unwrap().clone());
        written_of(source, &case)
    }

    fn written_of(source: &str, case: &Case) -> Vec<(&'static str, String, String)> {
        let template = Template::from_source("t", Dialect::Jinja, source)
            .with_special_token("eos_token", "</s>");
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let program = FrontProgram::load(engine, &template);
        let mask = Masker::new(&program)
            .mask(case, Front::of(&template))
            .unwrap();
        let of =
            |range: Option<Range<usize>>| range.map_or("", |range| &mask.prompt[range]).to_owned();
        let turns = mask.turns.iter().map(|turn| {
            let kind = match turn.learned {
                Learned::AsAsked(_) => "as asked",
                Learned::Otherwise(_) => "otherwise",
                Learned::Nothing => "nothing",
            };
            let texts: Vec<String> = turn.ranges().map(|range| of(Some(range))).collect();
            (kind, texts.join("…"), of(turn.end.clone()))
        });
        turns.collect()
    }

    fn turn(kind: &'static str, text: &str, end: &str) -> (&'static str, String, String) {
        (kind, text.to_owned(), end.to_owned())
    }

    const CHATML: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n\
        {{ m.content }}<|im_end|>\n{% endfor %}\
        {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

    #[test]
    fn the_model_writes_each_answer_and_its_end() {
        let messages = json!([
            {"role": "system", "content": "s<|im_end|>"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a<|im_end|>b"},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": "end"},
        ]);
        let expected = [
            turn("as asked", "a<|im_end|>b<|im_end|>", "<|im_end|>"),
            turn("as asked", "<|im_end|>", "<|im_end|>"),
        ];
        assert_eq!(written(CHATML, &messages), expected);
    }

    #[test]
    fn a_first_answer_has_no_prompt_and_is_found_by_its_opening() {
        let messages = json!([
            {"role": "assistant", "content": "Welcome"},
            {"role": "user", "content": "q"},
        ]);
        let expected = [turn("otherwise", "Welcome<|im_end|>", "<|im_end|>")];
        assert_eq!(written(CHATML, &messages), expected);
    }

    #[test]
    fn reasoning_that_the_prompt_opens_is_not_the_models() {
        let source = "{% for m in messages %}<{{ m.role }}>{% if m.thinking and loop.last %}\
            <think>{{ m.thinking }}</think>{% endif %}{{ m.content }}</s>{% endfor %}\
            {% if add_generation_prompt %}<assistant><think>{% endif %}";
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "thinking": "hm", "content": "a"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "thinking": "oh", "content": "b"},
        ]);
        // The history has no reasoning, so the first answer is where none opens it.
        let expected = [
            turn("otherwise", "a</s>", "</s>"),
            turn("as asked", "oh</think>b</s>", "</s>"),
        ];
        assert_eq!(written(source, &messages), expected);
    }

    #[test]
    fn another_token_may_end_the_last_turn_or_the_whole_text() {
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "b"},
        ]);
        let last = "{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}\
            {{ '<|return|>' if loop.last and not add_generation_prompt else '<|end|>' }}{% endfor %}\
            {% if add_generation_prompt %}<|start|>assistant{% endif %}";
        let expected = [
            turn("as asked", "<|message|>a<|end|>", "<|end|>"),
            turn("as asked", "<|message|>b<|return|>", "<|return|>"),
        ];
        let mut case = Case::from_messages(messages.as_array().unwrap().clone());
        case.add_generation_prompt = false;
        assert_eq!(written_of(last, &case), expected);
        let whole = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}\
            {% if add_generation_prompt %}<|assistant|>{% else %}<|endoftext|>{% endif %}";
        let expected = [
            turn("as asked", "a<|end|>", "<|end|>"),
            turn("as asked", "b<|end|>", "<|end|>"),
        ];
        assert_eq!(written_of(whole, &case), expected);
    }

    #[test]
    fn a_token_may_end_every_turn_but_the_last() {
        let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\
            {% if not loop.last or m.role != 'assistant' %}<|end|>{% endif %}{% endfor %}\
            {% if add_generation_prompt %}<|assistant|>{% endif %}";
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "b"},
        ]);
        let expected = [
            turn("as asked", "a<|end|>", "<|end|>"),
            turn("as asked", "b", ""),
        ];
        let mut case = Case::from_messages(messages.as_array().unwrap().clone());
        case.add_generation_prompt = false;
        assert_eq!(written_of(source, &case), expected);
        // The opening of the next turn ends none.
        let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}\
            {% if add_generation_prompt %}<|assistant|>{% endif %}";
        let expected = [turn("as asked", "a", ""), turn("as asked", "b", "")];
        assert_eq!(written_of(source, &case), expected);
    }

    /// The prompt begins with an empty turn, whose end is the end of every turn. With the token as a
    /// special one and without it, with the opening on request and always.
    #[test]
    fn an_empty_first_turn_does_not_make_its_end_an_opening() {
        for (end, always) in [
            ("</s>", false),
            ("</s>", true),
            ("<|end|>", false),
            ("<|end|>", true),
        ] {
            let source = format!(
                "<bos><|start|><|system|>{end}{{% for m in messages %}}<|start|><|{{{{ m.role }}}}|>\
                 {{% if m.role == 'assistant' %}}<|text|>{{{{ m.content }}}}<|/text|>{{% else %}}\
                 {{{{ m.content }}}}{{% endif %}}{end}{{% endfor %}}\
                 {{% if add_generation_prompt or {always} %}}<|start|><|assistant|><|text|>{{% endif %}}"
            );
            let messages = json!([
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "b"},
            ]);
            let expected =
                ["a", "b"].map(|text| turn("as asked", &format!("{text}<|/text|>{end}"), end));
            assert_eq!(written(&source, &messages), expected, "{source}");
        }
    }

    #[test]
    fn answers_in_a_row_may_be_one_turn() {
        let source = "{% for m in messages %}{% if m.role != 'assistant' %}[INST]{{ m.content }}[/INST]\
            {% else %}{{ m.content }}{{ '</s>' if loop.last or loop.nextitem.role != 'assistant' \
            else '\n\n' }}{% endif %}{% endfor %}";
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "q"},
        ]);
        let expected = [
            turn("as asked", "a\n\n", ""),
            turn("otherwise", "b</s>", "</s>"),
        ];
        assert_eq!(written(source, &messages), expected);
    }

    /// Calls with their results after them, and the text of the message after the results.
    const RESULTS_WITHIN: &str = "{% for m in messages %}{% if m.role == 'assistant' %}\
        {% if not loop.previtem or loop.previtem.role == 'user' %}<|turn>model\n{% endif %}\
        {% for c in m.tool_calls or [] %}<|call>call:{{ c.function.name ~ '{' }}\
        {% for k, v in c.function.arguments.items() %}{{ k }}:{{ v }}{% endfor %}{{ '}' }}<call|>{% endfor %}\
        {% set ns = namespace(found=false) %}\
        {% for r in messages[loop.index:] %}{% if r.role != 'tool' %}{% break %}{% endif %}\
        {% set ns.found = true %}<|result>{{ r.content }}<result|>{% endfor %}{{ m.content }}\
        {% if m.tool_calls and not ns.found %}<|result>{% elif m.content and \
        (not loop.nextitem or loop.nextitem.role != 'assistant') %}<turn|>\n{% endif %}\
        {% elif m.role != 'tool' %}<|turn>{{ m.role }}\n{{ m.content }}<turn|>\n{% endif %}{% endfor %}\
        {% if add_generation_prompt and messages[-1].role == 'user' %}<|turn>model\n{% endif %}";

    fn call(days: u8) -> Value {
        json!([{"type": "function", "function": {"name": "f", "arguments": {"days": days}}}])
    }

    #[test]
    fn an_answer_may_come_before_the_results_of_its_calls_and_after_them() {
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "So I look.", "tool_calls": call(3)},
            {"role": "tool", "content": "r"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "", "tool_calls": call(4)},
            {"role": "tool", "content": "r"},
        ]);
        let parts = "<|call>call:f{days:3}<call|><|result>…So I look.<turn|>";
        let expected = [
            turn("as asked", parts, "<turn|>"),
            turn(
                "as asked",
                "<|call>call:f{days:4}<call|><|result>",
                "<|result>",
            ),
        ];
        let mut case = Case::from_messages(messages.as_array().unwrap().clone());
        case.add_generation_prompt = false;
        assert_eq!(written_of(RESULTS_WITHIN, &case), expected);
        // The call goes on with the turn of the text.
        case.messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "Wait."},
            {"role": "assistant", "content": "", "tool_calls": call(3)},
        ])
        .as_array()
        .unwrap()
        .clone();
        let expected = [
            turn("as asked", "Wait.", ""),
            turn(
                "otherwise",
                "<|call>call:f{days:3}<call|><|result>",
                "<|result>",
            ),
        ];
        assert_eq!(written_of(RESULTS_WITHIN, &case), expected);
    }

    #[test]
    fn what_opens_a_later_round_of_calls_is_the_models() {
        let source = "{% set ns = namespace(first=true, tool=false) %}{% for m in messages %}\
            {% if m.role == 'user' %}{% set ns.tool = false %}<|User|>{{ m.content }}\
            {% elif m.role == 'tool' %}{% set ns.tool = true %}<output>{{ m.content }}</output>\
            {% elif m.tool_calls %}{{ '<|Bot|><calls>' if ns.first else '\n' }}<call>\
            {{ m.tool_calls[0].function.name }}</call></s>{% set ns.first = false %}\
            {% else %}{{ '</outputs>' if ns.tool else '<|Bot|>' }}{{ m.content }}</s>{% endif %}\
            {% endfor %}{% if ns.tool %}</outputs>\
            {% elif add_generation_prompt %}<|Bot|>{% endif %}";
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "tool_calls": call(1)},
            {"role": "tool", "content": "r"},
            {"role": "assistant", "tool_calls": call(2)},
            {"role": "user", "content": "q"},
            {"role": "assistant", "tool_calls": call(3)},
        ]);
        let expected = [
            turn("as asked", "<calls><call>f</call></s>", "</s>"),
            turn("otherwise", "\n<call>f</call></s>", "</s>"),
            turn("otherwise", "\n<call>f</call></s>", "</s>"),
        ];
        assert_eq!(written(source, &messages), expected);
    }

    #[test]
    fn empty_reasoning_that_the_prompt_opens_is_not_the_models() {
        let source = "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}<think>\n\
            {{ m.thinking or '' }}\n</think>\n\n{% endif %}{{ m.content }}</s>{% endfor %}\
            {% if add_generation_prompt %}<assistant><think>\n\
            {{ '\n</think>\n\n' if enable_thinking == false }}{% endif %}";
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "thinking": "hm", "content": "a"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "b"},
        ]);
        let expected = [
            turn("as asked", "hm\n</think>\n\na</s>", "</s>"),
            turn("as asked", "b</s>", "</s>"),
        ];
        assert_eq!(written(source, &messages), expected);
    }

    #[test]
    fn an_opening_at_the_end_of_every_conversation_ends_no_turn() {
        for (user, assistant, end) in [
            (
                "<|im_start|>user\n",
                "<|im_start|>assistant\n",
                "<|im_end|>\n",
            ),
            ("<|start|><|user|>", "<|start|><|bot|>", "<|text|><|end|>"),
            ("User: ", "Assistant:", "</s>"),
            ("<|user|>", "<|assistant|>", ""),
        ] {
            let source = format!(
                "{{% for m in messages %}}{{{{ {assistant:?} if m.role == 'assistant' else {user:?} }}}}\
                 {{{{ m.content }}}}{end}{{% endfor %}}{{{{ {assistant:?} }}}}"
            );
            let messages = json!([
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "b"},
            ]);
            let end = end.trim_end();
            let token = end.strip_prefix("<|text|>").unwrap_or(end);
            let expected = ["a", "b"].map(|text| turn("as asked", &format!("{text}{end}"), token));
            assert_eq!(written(&source, &messages), expected, "{source}");
        }
    }

    #[test]
    fn what_is_within_a_text_is_no_turn() {
        // The first message is taken for instructions, whoever says it.
        let source = "<|user|>Do this: {{ messages[0].content }}<|end|>\
            {% for m in messages[1:] %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}\
            {% if add_generation_prompt %}<|assistant|>{% endif %}";
        let messages = json!([
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "b"},
        ]);
        let expected = [
            turn("nothing", "", ""),
            turn("as asked", "b<|end|>", "<|end|>"),
        ];
        assert_eq!(written(source, &messages), expected);
    }

    #[test]
    fn the_name_of_a_speaker_opens_a_turn() {
        let source = "{% for m in messages %}<|{{ m.name or m.role }}|>{{ m.content }}<|end|>\
            {% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "name": "Referee", "content": "a"},
        ]);
        let expected = [turn("otherwise", "a<|end|>", "<|end|>")];
        assert_eq!(written(source, &messages), expected);
    }

    #[test]
    fn a_repeated_name_does_not_lengthen_a_call() {
        let source = "{% for m in messages %}{% if m.role == 'tool' %}\
            <|start|>functions.{{ messages[loop.index0 - 1].name }}<|message|>{{ m.content }}<|end|>\
            {% elif m.name %}<|start|>{{ m.role }} to={{ m.name }}<|message|>{{ m.content }}<|call|>\
            {% else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}\
            {% if add_generation_prompt %}<|start|>assistant{% endif %}";
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "name": "add", "content": "{}"},
            {"role": "tool", "content": "3"},
            {"role": "assistant", "content": "a"},
        ]);
        let expected = [
            turn("as asked", " to=add<|message|>{}<|call|>", "<|call|>"),
            turn("as asked", "<|message|>a<|end|>", "<|end|>"),
        ];
        assert_eq!(written(source, &messages), expected);
    }

    #[test]
    fn what_is_not_there_and_what_nothing_ends_is_said() {
        let source = "{% for m in messages if m.content %}{{ m.role }}: {{ m.content }}\n{% endfor %}\
            {% if add_generation_prompt %}assistant: {% endif %}";
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a"},
        ]);
        let expected = [turn("nothing", "", ""), turn("as asked", "a", "")];
        assert_eq!(written(source, &messages), expected);
    }
}
