//! Two conversations as people have them, turn by turn: an agent's work with tools, and a chat. Their
//! messages are as long as real ones, because what a cache loses depends on lengths.

use rolecall_core::Case;
use serde_json::{Value, json};

use super::definition::Probe;
use super::input_style::{InputStyle, closed, tool_call};

pub(crate) struct Turn {
    /// The prompt that asks for the answer.
    pub(crate) asks: Probe,
    /// The conversation with this answer, which nothing follows.
    pub(crate) answered: Probe,
    /// What came last when the answer was asked for.
    pub(crate) after: &'static str,
    /// The end of the answer. The last turn has no answer.
    pub(crate) last: &'static str,
}

macro_rules! turns {
    ($messages:ident, $($name:literal $at:literal after $after:literal ends $last:literal;)*) => {
        [$(Turn {
            asks: Probe::new(
                $name,
                concat!($after, " of a whole conversation"),
                |m| Case { add_generation_prompt: true, ..until($messages(m), $at) },
            ),
            answered: Probe::new(
                concat!($name, "-answered"),
                concat!($after, " of a whole conversation, and its answer"),
                |m| until($messages(m), $at + 1),
            ),
            after: $after,
            last: $last,
        }),*]
    };
}

/// An agent's conversation: a system message, tools, a question, two rounds of calls, the answer, and
/// another question. The model reasons before every answer.
pub(crate) const AGENT: [Turn; 4] = turns! {
    agent,
    "agent-1" 2 after "a question" ends "src/dates.py";
    "agent-2" 4 after "a result" ends "pytest tests/test_dates.py";
    "agent-3" 6 after "a result" ends "the test passes again.";
    "agent-4" 8 after "a question" ends "";
};

/// A chat: three questions, with reasoning before every answer.
pub(crate) const CHAT: [Turn; 3] = turns! {
    chat,
    "chat-1" 1 after "a question" ends "the water drains away.";
    "chat-2" 3 after "a question" ends "a finger deep.";
    "chat-3" 5 after "a question" ends "";
};

/// The first messages of a conversation.
fn until(mut case: Case, count: usize) -> Case {
    case.messages.truncate(count);
    case
}

fn agent(m: InputStyle) -> Case {
    let read_file = tool(
        "read_file",
        "Returns the text of a file of the project.",
        "path",
        "The path of the file, from the top of the project.",
    );
    let run = tool(
        "run",
        "Runs a command in the folder of the project, and returns what it prints.",
        "command",
        "The command, as in a shell.",
    );
    Case {
        tools: Some(vec![read_file, run]),
        ..closed(vec![
            m.message("system", RULES),
            m.message("user", TASK),
            call(
                m,
                "callquil1",
                "read_file",
                "path",
                "src/dates.py",
                REASON_TO_READ,
            ),
            result(m, "callquil1", "read_file", FILE),
            call(
                m,
                "callquil2",
                "run",
                "command",
                "pytest tests/test_dates.py",
                REASON_TO_RUN,
            ),
            result(m, "callquil2", "run", OUTPUT),
            answer(m, REASON_TO_END, DONE),
            m.message(
                "user",
                "Thank you. Does the last release have the same mistake?",
            ),
        ])
    }
}

const RULES: &str = "You help the maintainers of a library for dates. Look at the files before you \
    change one, change as little as you can, and run the tests that belong to the change. If a \
    request can mean two things, ask. End with a sentence about the cause and a sentence about the \
    change. The code is in src, the tests are in tests, and releases are branches.";
const TASK: &str = "The test for the end of February fails since this morning. Please find out why, \
    and repair it.";
const REASON_TO_READ: &str = "The test is about the end of February, so the code that counts the \
    days of a month is the first place to look. I read the file before I run anything.";
const FILE: &str = "DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]\n\n\n\
    def is_leap(year):\n    return year % 4 == 0\n\n\n\
    def days(year, month):\n    if month == 2 and is_leap(year):\n        return 29\n    \
    return DAYS[month - 1]\n\n\n\
    def last_day(year, month):\n    return date(year, month, days(year, month))\n";
const REASON_TO_RUN: &str = "The rule for leap years lacks the centuries: 1900 had no day more, and \
    2000 had one. The test probably asks for the year 1900. I run it to be sure that nothing else \
    is wrong.";
const OUTPUT: &str = "tests/test_dates.py ..F.....\n\n    def test_last_day_of_1900():\n        \
    assert last_day(1900, 2) == date(1900, 2, 28)\n\
    E       assert date(1900, 2, 29) == date(1900, 2, 28)\n\n1 failed, 7 passed in 0.12 s\n";
const REASON_TO_END: &str = "The test confirms it. The rule needs both exceptions, and the list of \
    days is right. The answer names the cause, the change and the command.";
const DONE: &str = "`is_leap` took every fourth year for a leap year, also 1900. It now leaves out \
    the centuries that 400 does not divide, and the test passes again.";

fn chat(m: InputStyle) -> Case {
    closed(vec![
        m.message("user", QUESTION),
        answer(m, REASON, ANSWER),
        m.message("user", "How do I find out whether the earth is dry enough?"),
        answer(m, SECOND_REASON, SECOND_ANSWER),
        m.message("user", "And when can I plant them outside?"),
    ])
}

const QUESTION: &str = "Why do the leaves of my tomatoes turn yellow? I water them every evening, \
    with a can for each plant. They are on the balcony, which looks south, in pots of ten litres \
    with earth from last year, and they have three hours of shade. The leaves at the bottom are \
    yellow first, and then those above them. The stems are firm, there are no insects, and there is \
    no smell. A neighbour says that they lack iron, another one that they have a fungus.";
const REASON: &str = "Yellow leaves at the bottom, with much water, point to roots without air. I \
    should ask for the pot, but a first answer helps more.";
const ANSWER: &str = "Probably they get too much water: the roots need air as well. Water them only \
    if the earth is dry, and make sure that the water drains away.";
const SECOND_REASON: &str = "A finger is the simplest measure, and everybody has one.";
const SECOND_ANSWER: &str = "Put a finger into the earth next to the stem. Water the plant if the \
    earth is dry a finger deep.";

/// An answer with reasoning under each name that templates know.
#[allow(clippy::indexing_slicing)] // An answer is an object.
fn answer(m: InputStyle, reasoning: &str, text: &str) -> Value {
    let mut answer = m.message("assistant", text);
    for name in ["reasoning_content", "reasoning", "thinking"] {
        answer[name] = json!(reasoning);
    }
    answer
}

#[allow(clippy::indexing_slicing)] // An answer is an object.
fn call(m: InputStyle, id: &str, name: &str, key: &str, value: &str, reasoning: &str) -> Value {
    let mut call = answer(m, reasoning, "");
    let arguments = m.arguments(&json!({key: value}));
    call["tool_calls"] = json!([tool_call(id, name, &arguments)]);
    call
}

fn result(m: InputStyle, id: &str, name: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "name": name, "content": m.content(text)})
}

fn tool(name: &str, about: &str, key: &str, about_key: &str) -> Value {
    json!({"type": "function", "function": {
        "name": name,
        "description": about,
        "parameters": {
            "type": "object",
            "properties": {key: {"type": "string", "description": about_key}},
            "required": [key],
        },
    }})
}
