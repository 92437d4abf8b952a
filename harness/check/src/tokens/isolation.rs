//! Tokenizers in a process of their own.
//!
//! [`vetting`](super::vetting) refuses what is known to take too much. This module holds for
//! everything else: the crate `tokenizers` works in a second process, which has so much memory and so
//! much time, and no more. If the process ends, its model has no tokenizer, and nothing else happens.
//!
//! The two processes exchange lines of JSON. The worker is `work`; whoever starts it uses
//! [`read`].

use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::reading;
use crate::tokenizer::{Marker, Segmenter, Stops, Tokenizer, TokenizerParts};
use rolecall_core::Template;
use rolecall_core::problem::Problem;
use rolecall_io::protocol::Process;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The most address space of a worker, in bytes, on systems that can limit it (Unix). The largest
/// tokenizers of the hub take half of it.
pub const MOST_MEMORY: u64 = 640 << 20;

/// The time that a worker has to read any tokenizer.
pub const SHORTEST: Duration = Duration::from_secs(4);

/// The time that it has besides for each byte of a tokenizer's files, and of the texts that it cuts:
/// about a second for each mebibyte.
pub const FOR_EACH_BYTE: Duration = Duration::from_micros(1);

/// The time that it has besides for each text.
pub const FOR_EACH_TEXT: Duration = Duration::from_millis(50);

/// The most bytes of an answer.
const MOST_ANSWER: usize = 256 << 20;

/// The files that say at which tokens a model stops.
const SAYERS: [&str; 3] = [
    "generation_config.json",
    "config.json",
    "tokenizer_config.json",
];

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    /// Reads a tokenizer. It is the first question.
    Read {
        vocabulary: Vec<PathBuf>,
        special_tokens: Map<String, Value>,
    },
    Cut(String),
    /// Counts the tokens of texts.
    Count(Vec<String>),
    /// Cuts a text as if there were no added tokens.
    CutPlain(String),
    /// Asks for the number of a token.
    Number(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Parts(Box<PartsLine>),
    Refused(Problem),
    Segments(Vec<(u32, usize, usize)>),
    Counts(Vec<usize>),
    Numbers(Vec<u32>),
    NotCut(String),
    Number(Option<u32>),
}

#[derive(Serialize, Deserialize)]
struct PartsLine {
    markers: Vec<Marker>,
    beginning: Option<String>,
    stops: Option<(Vec<u32>, usize)>,
    count: usize,
}

/// A worker that has read a tokenizer.
struct Worker {
    process: Process,
    /// How much time is left for all of its texts.
    left: Duration,
}

/// Cuts texts in another process.
struct RemoteSegmenter(Mutex<Result<Worker, String>>);

/// Reads the tokenizer of a template's model, as [`read`](reading::read) does, in a process of the command
/// `worker`, which calls [`work`].
///
/// # Errors
///
/// A file cannot be read, holds no tokenizer, or asks for more memory or time than there is.
pub fn read(template: &Template, worker: &[String]) -> Result<Option<Tokenizer>, Problem> {
    let [first, ..] = template.vocabulary.as_slice() else {
        return Ok(None);
    };
    // The reader of GGUF files is Rolecall's own and has limits. Only the crate `tokenizers` has none.
    if !first.ends_with("tokenizer.json") {
        return reading::read(template);
    }
    let ended = |why: String| {
        Problem::new(first, format!("no tokenizer: {}", in_words(&why)))
            .help("the page on limits says how much memory and time a tokenizer may take")
    };
    let sizes = template
        .vocabulary
        .iter()
        .filter_map(|path| path.metadata().ok());
    let time = time_for(sizes.map(|metadata| metadata.len()).sum());
    let mut process = Process::spawn(worker, MOST_ANSWER).map_err(ended)?;
    let question = Question::Read {
        vocabulary: template.vocabulary.clone(),
        special_tokens: template.special_tokens.clone(),
    };
    let line = process.ask(&question, time).map_err(ended)?;
    match serde_json::from_slice(&line) {
        Ok(Answer::Parts(parts)) => {
            let worker = Worker {
                process,
                left: SHORTEST,
            };
            Ok(Some(parts.with(worker).into()))
        }
        Ok(Answer::Refused(problem)) => Err(problem),
        Ok(_) => Err(ended("it answers another question".to_owned())),
        Err(error) => Err(ended(error.to_string())),
    }
}

/// Why a worker ended, without the words of its runtime.
fn in_words(why: &str) -> String {
    if why.contains("memory allocation") || why.contains("SIGABRT") {
        return format!(
            "reading it takes more than {} MiB of memory",
            MOST_MEMORY >> 20
        );
    }
    let (how, _) = why.split_once("; it said: ").unwrap_or((why, ""));
    format!("the process that reads it failed: {how}")
}

fn time_for(bytes: u64) -> Duration {
    SHORTEST + FOR_EACH_BYTE * u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Answers questions about one tokenizer, until the input ends. Limits the memory of this process.
///
/// # Errors
///
/// A stream cannot be read or written, or a line is no question.
pub fn work(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    confine();
    let mut parts: Option<TokenizerParts> = None;
    for line in input.lines() {
        let answer = match (serde_json::from_str(&line?)?, &parts) {
            (
                Question::Read {
                    vocabulary,
                    special_tokens,
                },
                _,
            ) => match reading::parts(&vocabulary, &special_tokens) {
                Ok(read) => Answer::Parts(Box::new(PartsLine::of(parts.insert(read)))),
                Err(problem) => Answer::Refused(problem),
            },
            (Question::Cut(text), Some(parts)) => match parts.segmenter.segments(&text) {
                Ok(segments) => {
                    let segments = segments.into_iter();
                    Answer::Segments(segments.map(|(id, at)| (id, at.start, at.end)).collect())
                }
                Err(why) => Answer::NotCut(why),
            },
            (Question::Count(texts), Some(parts)) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                match parts.segmenter.counts(&texts) {
                    Ok(counts) => Answer::Counts(counts),
                    Err(why) => Answer::NotCut(why),
                }
            }
            (Question::CutPlain(text), Some(parts)) => match parts.segmenter.plain(&text) {
                Ok(numbers) => Answer::Numbers(numbers),
                Err(why) => Answer::NotCut(why),
            },
            (Question::Number(text), Some(parts)) => Answer::Number(parts.segmenter.number(&text)),
            (_, None) => return Err(io::Error::other("no tokenizer was read")),
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

fn confine() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::As).maximum;
        let most = maximum.map_or(MOST_MEMORY, |maximum| maximum.min(MOST_MEMORY));
        // If the limit cannot be set, the process runs without it.
        let _ = setrlimit(
            Resource::As,
            Rlimit {
                current: Some(most),
                maximum,
            },
        );
    }
}

impl Worker {
    fn ask(&mut self, question: &Question, time: Duration) -> Result<Answer, String> {
        let begin = Instant::now();
        let time = self.left + time;
        let line = self.process.ask(question, time)?;
        self.left = time.saturating_sub(begin.elapsed()).min(self.left);
        serde_json::from_slice(&line).map_err(|error| error.to_string())
    }
}

impl RemoteSegmenter {
    /// Asks the worker. After its first failure it is ended, and asked nothing more.
    fn ask(&self, question: &Question, texts: &[&str]) -> Result<Answer, String> {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let bytes = number(texts.iter().map(|text| text.len()).sum());
        let time = FOR_EACH_TEXT * number(texts.len()) + FOR_EACH_BYTE * bytes;
        let mut worker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match &mut *worker {
            Ok(worker) => worker.ask(question, time),
            Err(why) => return Err(why.clone()),
        };
        if let Err(why) = &answer {
            *worker = Err(format!(
                "the tokenizer is not asked any more: {}",
                in_words(why)
            ));
        }
        answer
    }
}

impl Segmenter for RemoteSegmenter {
    fn segments(&self, text: &str) -> Result<Vec<(u32, Range<usize>)>, String> {
        match self.ask(&Question::Cut(text.to_owned()), &[text])? {
            Answer::Segments(segments) => {
                let segments = segments.into_iter();
                Ok(segments.map(|(id, start, end)| (id, start..end)).collect())
            }
            Answer::NotCut(why) => Err(why),
            _ => Err("the tokenizer answers another question".to_owned()),
        }
    }

    fn counts(&self, texts: &[&str]) -> Result<Vec<usize>, String> {
        let owned = texts.iter().map(|&text| text.to_owned());
        match self.ask(&Question::Count(owned.collect()), texts)? {
            Answer::Counts(counts) if counts.len() == texts.len() => Ok(counts),
            Answer::NotCut(why) => Err(why),
            _ => Err("the tokenizer answers another question".to_owned()),
        }
    }

    fn plain(&self, text: &str) -> Result<Vec<u32>, String> {
        match self.ask(&Question::CutPlain(text.to_owned()), &[text])? {
            Answer::Numbers(numbers) => Ok(numbers),
            Answer::NotCut(why) => Err(why),
            _ => Err("the tokenizer answers another question".to_owned()),
        }
    }

    fn number(&self, text: &str) -> Option<u32> {
        match self.ask(&Question::Number(text.to_owned()), &[text]) {
            Ok(Answer::Number(number)) => number,
            _ => None,
        }
    }
}

impl PartsLine {
    fn of(parts: &TokenizerParts) -> PartsLine {
        let stops = parts.stops.as_ref().map(|stops| {
            let sayer = SAYERS.iter().position(|sayer| *sayer == stops.said_by);
            (stops.ids.clone(), sayer.unwrap_or_default())
        });
        PartsLine {
            markers: parts.markers.clone(),
            beginning: parts.beginning.clone(),
            stops,
            count: parts.count,
        }
    }

    fn with(self, worker: Worker) -> TokenizerParts {
        TokenizerParts {
            segmenter: Box::new(RemoteSegmenter(Mutex::new(Ok(worker)))),
            markers: self.markers,
            beginning: self.beginning,
            stops: self.stops.map(|(ids, sayer)| Stops {
                ids,
                said_by: SAYERS.get(sayer).unwrap_or(&SAYERS[2]),
            }),
            count: self.count,
        }
    }
}
