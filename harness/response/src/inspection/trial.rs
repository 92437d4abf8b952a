//! Trials: what the parser really makes of a text.

use std::cell::Cell;

use crate::event::Message;
use crate::failure::ParseError;
use crate::inspection::finding::{Reading, ReadingMode};
use crate::pattern::budget::Budget;
use crate::pattern::search::{Found, Pattern, Progress};
use crate::stream::{Limits, Options, Seen, Stream};
use crate::template::{Field, ResponseTemplate};

/// A trial that takes more steps is given up. What is slow has a rule of its own.
const STEPS: u64 = 2_000_000;

/// The steps of all trials of a response template. No template of an honest author comes near it.
const ALL_STEPS: u64 = 60_000_000;

#[derive(Debug)]
pub(super) struct Trial {
    pub(super) outcome: Result<Message, ParseError>,
    /// The delimiters that were found.
    pub(super) seen: Vec<Seen>,
    /// How many events were reported before the end of the text.
    pub(super) early_events: usize,
}

/// Where a response template is tried.
pub(super) struct Bench<'t> {
    pub(super) template: &'t ResponseTemplate,
    left: Cell<u64>,
}

impl<'t> Bench<'t> {
    pub(super) fn new(template: &'t ResponseTemplate) -> Bench<'t> {
        Bench {
            template,
            left: Cell::new(ALL_STEPS),
        }
    }

    pub(super) fn fields(&self) -> &'t [Field] {
        &self.template.parts.fields
    }

    /// Reads a text as a whole answer.
    pub(super) fn whole(&self, text: &str) -> Trial {
        self.run(|stream| stream.feed(text).map(|_| 0))
    }

    /// Reads a text character by character.
    pub(super) fn streamed(&self, text: &str) -> Trial {
        let mut buffer = [0; 4];
        self.run(|stream| {
            let mut events = 0;
            for character in text.chars() {
                events += stream.feed(character.encode_utf8(&mut buffer))?.len();
            }
            Ok(events)
        })
    }

    /// Searches a text for a pattern, partial matches too if they are asked for. None if it takes more
    /// than some steps.
    pub(super) fn search(
        &self,
        pattern: &Pattern,
        text: &[u32],
        from: usize,
        partial: bool,
        steps: u64,
    ) -> Option<Found> {
        let granted = steps.min(self.left.get());
        let mut budget = Budget::new(granted);
        let mut progress = Progress::default();
        let found = pattern.search(text, from, partial, &mut progress, &mut budget);
        let spent = match found {
            Ok(_) => granted - budget.left(),
            Err(_) => granted,
        };
        self.spend(spent);
        found.ok()
    }

    /// Whether no steps are left, so that a trial proves nothing.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    fn spend(&self, steps: u64) {
        self.left.set(self.left.get().saturating_sub(steps));
    }

    fn run(&self, feed: impl FnOnce(&mut Stream) -> Result<usize, ParseError>) -> Trial {
        let steps = STEPS.min(self.left.get());
        let options = Options {
            limits: Limits {
                steps,
                ..Limits::default()
            },
            ..Options::default()
        };
        let mut trial = Trial {
            outcome: Ok(Message::default()),
            seen: Vec::new(),
            early_events: 0,
        };
        let mut stream = match self.template.stream(&options) {
            Ok(stream) => stream,
            Err(error) => {
                trial.outcome = Err(error);
                return trial;
            }
        };
        stream.watch();
        trial.outcome = match feed(&mut stream) {
            Ok(events) => {
                trial.early_events = events;
                stream.finish().map(|(_, message)| message)
            }
            Err(error) => Err(error),
        };
        self.spend(match trial.outcome {
            Err(ParseError::LimitExceeded { .. }) => steps,
            _ => steps - stream.steps_left(),
        });
        trial.seen = stream.seen().to_vec();
        trial
    }
}

impl Trial {
    /// Whether two trials have the same message, or both have none. What took too long proves
    /// nothing.
    pub(super) fn agrees(&self, other: &Trial) -> bool {
        match (&self.outcome, &other.outcome) {
            (Ok(one), Ok(other)) => one == other,
            (Err(_), Err(_))
            | (Err(ParseError::LimitExceeded { .. }), _)
            | (_, Err(ParseError::LimitExceeded { .. })) => true,
            _ => false,
        }
    }

    pub(super) fn reading(self, text: &str, mode: ReadingMode) -> Reading {
        Reading {
            text: text.to_owned(),
            mode,
            outcome: self.outcome,
        }
    }
}
