//! The probes.
//!
//! Names say who speaks: `user-assistant` is a question and its answer. A conversation
//! asks for an answer unless its name ends with `closed`, or with an assistant.

#![allow(clippy::indexing_slicing)] // The messages and tools are objects that this crate makes.

use rolecall_core::Case;
use serde_json::{Value, json};

use super::definition::Probe;
use super::input_style::{
    InputStyle, closed, open, parts, spaced, tool, tool_call, with_document, with_tools,
};
use super::words;

/// The tag with which transformers finds the end of a message that shall be continued.
pub(crate) const CONTINUE_TAG: &str = "CONTINUE_FINAL_MESSAGE_TAG ";
/// The ID of a call, as OpenAI makes them.
pub(crate) const LONG_ID: &str = "call_5f0c1a7e9b3d4e2f";
/// White space around and inside of a text.
pub const SPACES: &str = "  \n\t";
/// And after it.
pub(crate) const SPACES_AFTER: &str = " \t\n\n";

/// Blank lines, white space, signs of HTML and capital letters in the middle of a text.
pub(crate) const INSIDE: &str = "\n\n\n    <b>&\"'Äb Cd</b>  ";

macro_rules! probes {
    ($(#[doc = $about:literal] $name:ident = $id:literal, |$input_style:pat_param| $case:expr;)*) => {
        $(
            #[doc = concat!("`", $id, "`:", $about)]
            pub const $name: Probe = Probe::new($id, $about.trim_ascii(), |$input_style: InputStyle| $case);
        )*
        /// Every probe.
        pub const ALL: &[Probe] = &[$($name),*];
    };
}

probes! {
    /// one question
    USER = "user", |m| open(vec![m.user()]);
    /// one question, no answer asked for
    USER_CLOSED = "user-closed", |m| closed(vec![m.user()]);
    /// a question and its answer
    USER_ASSISTANT = "user-assistant", |m| closed(vec![m.user(), m.assistant()]);
    /// a second question
    USER_ASSISTANT_USER = "user-assistant-user", |m| open(vec![m.user(), m.assistant(), m.second_user()]);
    /// a second question, no answer asked for
    USER_ASSISTANT_USER_CLOSED = "user-assistant-user-closed", |m| closed(vec![m.user(), m.assistant(), m.second_user()]);
    /// two questions and their answers
    TWO_TURNS = "two-turns", |m| closed(vec![m.user(), m.assistant(), m.second_user(), m.second_assistant()]);
    /// two questions, their answers, and a third question
    TWO_TURNS_USER_CLOSED = "two-turns-user-closed", |m| closed(vec![
        m.user(), m.assistant(), m.second_user(), m.second_assistant(), m.message("user", words::THIRD_USER),
    ]);
    /// a system message and a question
    SYSTEM_USER = "system-user", |m| open(vec![m.system(), m.user()]);
    /// a system message and a question, no answer asked for
    SYSTEM_USER_CLOSED = "system-user-closed", |m| closed(vec![m.system(), m.user()]);
    /// a system message, a question and its answer
    SYSTEM_USER_ASSISTANT = "system-user-assistant", |m| closed(vec![m.system(), m.user(), m.assistant()]);
    /// a system message and two turns
    SYSTEM_TURNS = "system-turns", |m| open(vec![m.system(), m.user(), m.assistant(), m.second_user()]);
    /// a system message alone
    SYSTEM_ONLY = "system-only", |m| open(vec![m.system()]);
    /// two system messages and a question
    TWO_SYSTEM = "two-system", |m| open(vec![m.system(), m.message("system", words::SECOND_SYSTEM), m.user()]);
    /// a system message after the first turn
    LATE_SYSTEM = "late-system", |m| open(vec![m.user(), m.assistant(), m.system(), m.second_user()]);
    /// a developer message and a question
    DEVELOPER_USER = "developer-user", |m| open(vec![m.message("developer", words::DEVELOPER), m.user()]);
    /// a question and a message in a role that nobody knows
    UNKNOWN_ROLE = "unknown-role", |m| open(vec![m.user(), m.message("narrator", words::NARRATOR)]);
    /// two questions in a row
    TWO_USERS = "two-users", |m| open(vec![m.user(), m.second_user()]);
    /// two answers in a row
    TWO_ASSISTANTS = "two-assistants", |m| open(vec![m.user(), m.assistant(), m.second_assistant(), m.second_user()]);
    /// a conversation that the assistant begins
    ASSISTANT_FIRST = "assistant-first", |m| open(vec![m.assistant(), m.user()]);

    /// a query and a document, as rankers get them
    QUERY_DOCUMENT = "query-document", |m| open(vec![m.message("query", words::USER), m.message("document", words::DOCUMENT)]);
    /// twelve questions and their answers, and another question
    LONG = "long", |m| open(long(m));
    /// a system message before twelve questions and their answers, and another question
    SYSTEM_LONG = "system-long", |m| open([vec![m.system()], long(m)].concat());

    /// a question of several thousand letters
    LONG_TEXT = "long-text", |m| open(vec![m.message("user", &long_text())]);
    /// a tool's result of several thousand letters
    LONG_RESULT = "long-result", |m| {
        let mut result = m.result();
        result["content"] = m.content(&long_text());
        with_tools(open(vec![m.user(), m.call(), result]))
    };
    /// a question and six tools
    MANY_TOOLS = "many-tools", |m| Case {
        tools: Some(words::TURNS.iter().take(6).map(|(name, _)| tool(name)).collect()),
        ..open(vec![m.user()])
    };
    /// four calls at once, and their results
    MANY_CALLS = "many-calls", |m| with_tools(open(many_calls(m)));
    /// four rounds of calls
    MANY_ROUNDS = "many-rounds", |m| with_tools(open(many_rounds(m)));

    /// a long conversation of an agent
    AGENT = "agent", |m| with_tools(open(after_system(m, agent(m))));

    /// a question as a text part
    USER_PARTS = "user-parts", |_| open(vec![json!({"role": "user", "content": parts(&[words::USER])})]);
    /// a question in two text parts
    TWO_PARTS = "two-parts", |_| open(vec![json!({"role": "user", "content": parts(&[words::BEFORE, words::AFTER])})]);
    /// an answer in two text parts
    ASSISTANT_TWO_PARTS = "assistant-two-parts", |m| open(vec![
        m.user(), json!({"role": "assistant", "content": parts(&[words::BEFORE, words::AFTER])}), m.second_user(),
    ]);
    /// a system message in two text parts
    SYSTEM_TWO_PARTS = "system-two-parts", |m| open(vec![
        json!({"role": "system", "content": parts(&[words::BEFORE, words::AFTER])}), m.user(),
    ]);
    /// an answer as a text part
    ASSISTANT_PARTS = "assistant-parts", |m| open(vec![
        m.user(), json!({"role": "assistant", "content": parts(&[words::ASSISTANT])}), m.second_user(),
    ]);
    /// a system message as a text part
    SYSTEM_PARTS = "system-parts", |m| open(vec![
        json!({"role": "system", "content": parts(&[words::SYSTEM])}), m.user(),
    ]);
    /// a tool's result as a text part
    RESULT_PARTS = "result-parts", |m| {
        let mut result = m.result();
        result["content"] = parts(&[words::RESULT]);
        with_tools(open(vec![m.user(), m.call(), result]))
    };

    /// an image and a question
    IMAGE = "image", |_| shown(IMAGE_PART, &["", words::USER]);
    /// two images and a question
    TWO_IMAGES = "two-images", |_| shown(IMAGE_PART, &["", "", words::USER]);
    /// a question and an image after it
    IMAGE_AFTER = "image-behind", |_| shown(IMAGE_PART, &[words::USER, ""]);
    /// an image without a word
    IMAGE_ALONE = "image-alone", |_| shown(IMAGE_PART, &[""]);
    /// an image in each of two questions
    IMAGES_IN_TURNS = "images-in-turns", |m| {
        let question = |text: &str| {
            let parts: Value = vec![json!({"type": "image"}), json!({"type": "text", "text": text})].into();
            json!({"role": "user", "content": parts})
        };
        open(vec![question(words::USER), m.assistant(), question(words::SECOND_USER)])
    };
    /// a recording and a question
    AUDIO = "audio", |_| shown(AUDIO_PART, &["", words::USER]);
    /// two recordings and a question
    TWO_AUDIOS = "two-audios", |_| shown(AUDIO_PART, &["", "", words::USER]);
    /// a question and a recording after it
    AUDIO_AFTER = "audio-behind", |_| shown(AUDIO_PART, &[words::USER, ""]);
    /// a recording without a word
    AUDIO_ALONE = "audio-alone", |_| shown(AUDIO_PART, &[""]);
    /// a video and a question
    VIDEO = "video", |_| shown(VIDEO_PART, &["", words::USER]);
    /// two videos and a question
    TWO_VIDEOS = "two-videos", |_| shown(VIDEO_PART, &["", "", words::USER]);
    /// a question and a video after it
    VIDEO_AFTER = "video-behind", |_| shown(VIDEO_PART, &[words::USER, ""]);
    /// a video without a word
    VIDEO_ALONE = "video-alone", |_| shown(VIDEO_PART, &[""]);

    /// an answer that is the empty text
    EMPTY_ANSWER = "empty-answer", |m| answered_with(m, Some(json!("")));
    /// an answer that is null
    NULL_ANSWER = "null-answer", |m| answered_with(m, Some(Value::Null));
    /// an answer without content
    MISSING_ANSWER = "missing-answer", |m| answered_with(m, None);
    /// a call whose content is the empty text
    EMPTY_CALL = "empty-call", |m| called_with(m, Some(json!("")));
    /// a call whose content is null
    NULL_CALL = "null-call", |m| called_with(m, Some(Value::Null));
    /// a call without content
    MISSING_CALL = "missing-call", |m| called_with(m, None);

    /// a question with white space around it
    USER_SPACES = "user-spaces", |m| open(vec![m.message("user", &spaces(words::USER))]);
    /// an answer with white space around it
    ASSISTANT_SPACES = "assistant-spaces", |m| open(vec![
        m.user(), m.message("assistant", &spaces(words::ASSISTANT)), m.second_user(),
    ]);
    /// a system message with white space around it
    SYSTEM_SPACES = "system-spaces", |m| open(vec![m.message("system", &spaces(words::SYSTEM)), m.user()]);
    /// a tool's result with white space around it
    RESULT_SPACES = "result-spaces", |m| {
        let mut result = m.result();
        result["content"] = m.content(&spaces(words::RESULT));
        with_tools(open(vec![m.user(), m.call(), result]))
    };
    /// a question with a line break as Windows writes it
    USER_CRLF = "user-crlf", |m| open(vec![m.message("user", &format!("{}\r\n{}", words::BEFORE, words::AFTER))]);
    /// a question with blank lines and signs of HTML in it
    USER_INSIDE = "user-inside", |m| open(vec![m.message("user", &inside())]);
    /// an answer with blank lines and signs of HTML in it
    ASSISTANT_INSIDE = "assistant-inside", |m| open(vec![
        m.user(), m.message("assistant", &inside()), m.second_user(),
    ]);
    /// a system message with blank lines and signs of HTML in it
    SYSTEM_INSIDE = "system-inside", |m| open(vec![m.message("system", &inside()), m.user()]);
    /// an earlier answer that mentions a tag that templates use for reasoning
    THINK_TAG = "think-tag", |m| open(vec![
        m.user(),
        m.message("assistant", &format!("{} </think> {}", words::BEFORE, words::AFTER)),
        m.second_user(),
    ]);

    /// a question with tools
    TOOLS = "tools", |m| with_tools(open(vec![m.user()]));
    /// a question with tools, no answer asked for
    TOOLS_CLOSED = "tools-closed", |m| with_tools(closed(vec![m.user()]));
    /// a question with tools and a system message
    SYSTEM_TOOLS = "system-tools", |m| with_tools(open(vec![m.system(), m.user()]));
    /// a turn with tools that are not called
    TOOLS_TURN = "tools-turn", |m| with_tools(closed(vec![m.user(), m.assistant()]));
    /// a second question with tools that are not called
    TOOLS_TURN_USER_CLOSED = "tools-turn-user-closed", |m| with_tools(closed(vec![m.user(), m.assistant(), m.second_user()]));
    /// an empty list of tools
    NO_TOOLS = "no-tools", |m| Case { tools: Some(Vec::new()), ..open(vec![m.user()]) };
    /// a tool without parameters
    TOOL_WITHOUT_PARAMETERS = "tool-without-parameters", |m| Case {
        tools: Some(vec![json!({"type": "function", "function": {"name": words::TOOL, "description": words::TOOL_ABOUT}})]),
        ..open(vec![m.user()])
    };
    /// a tool without a description
    TOOL_WITHOUT_DESCRIPTION = "tool-without-description", |m| {
        let mut tool = tool(words::TOOL);
        if let Some(function) = tool["function"].as_object_mut() {
            function.shift_remove("description");
        }
        Case { tools: Some(vec![tool]), ..open(vec![m.user()]) }
    };
    /// a parameter that may be one of two types
    UNION_TYPE = "union-type", |m| Case {
        tools: Some(vec![{
            let mut tool = tool(words::TOOL);
            tool["function"]["parameters"]["properties"][words::FIRST_KEY]["type"] = json!(["string", "null"]);
            tool
        }]),
        ..open(vec![m.user()])
    };
    /// a tool whose parameters have parameters, choices, defaults and alternatives
    RICH_TOOL = "rich-tool", |m| Case {
        tools: Some(vec![rich_tool()]),
        ..open(vec![m.user()])
    };
    /// a tool whose description has quotes and a line break
    QUOTED_TOOL = "quoted-tool", |m| {
        let mut tool = tool(words::TOOL);
        tool["function"]["description"] = json!(quoted_about());
        Case { tools: Some(vec![tool]), ..open(vec![m.user()]) }
    };
    /// a parameter without a type
    NO_TYPE = "no-type", |m| Case {
        tools: Some(vec![{
            let mut tool = tool(words::TOOL);
            tool["function"]["parameters"]["properties"][words::FIRST_KEY] = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
            tool
        }]),
        ..open(vec![m.user()])
    };

    /// a question and a call
    CALL = "call", |m| with_tools(closed(vec![m.user(), m.call()]));
    /// a question, a call and its result
    CALL_RESULT = "call-result", |m| with_tools(open(vec![m.user(), m.call(), m.result()]));
    /// a question, a call and its result, no answer asked for
    CALL_RESULT_CLOSED = "call-result-closed", |m| with_tools(closed(vec![m.user(), m.call(), m.result()]));
    /// a question, a call, its result and another question, no answer asked for
    CALL_RESULT_USER_CLOSED = "call-result-user-closed", |m| with_tools(closed(vec![
        m.user(), m.call(), m.result(), m.second_user(),
    ]));
    /// a question, a call, its result, another question and its answer
    CALL_RESULT_USER_ASSISTANT = "call-result-user-assistant", |m| with_tools(closed(vec![
        m.user(), m.call(), m.result(), m.second_user(), m.second_assistant(),
    ]));
    /// a question, a call, its result and another question
    CALL_RESULT_USER = "call-result-user", |m| with_tools(open(vec![m.user(), m.call(), m.result(), m.second_user()]));
    /// a question, a call, its result and the answer
    CALL_RESULT_ASSISTANT = "call-result-assistant", |m| with_tools(closed(vec![
        m.user(), m.call(), m.result(), m.second_assistant(),
    ]));
    /// a whole turn with a call, and a second question
    CALL_TURN_USER = "call-turn-user", |m| with_tools(open(vec![
        m.user(), m.call(), m.result(), m.second_assistant(), m.second_user(),
    ]));
    /// a whole turn with a call, and a second question, no answer asked for
    CALL_TURN_USER_CLOSED = "call-turn-user-closed", |m| with_tools(closed(vec![
        m.user(), m.call(), m.result(), m.second_assistant(), m.second_user(),
    ]));
    /// a whole turn with a call, a second question and its answer
    CALL_TURN_USER_ASSISTANT = "call-turn-user-assistant", |m| with_tools(closed(vec![
        m.user(), m.call(), m.result(), m.second_assistant(), m.second_user(),
        m.message("assistant", words::THIRD_ASSISTANT),
    ]));
    /// a second question with tools, which says what the first one said
    SAME_QUESTION = "same-question", |m| with_tools(open(vec![m.user(), m.assistant(), m.user()]));
    /// a second question with tools
    OTHER_QUESTION = "other-question", |m| with_tools(open(vec![m.user(), m.assistant(), m.second_user()]));
    /// a conversation with tools that the assistant begins
    ASSISTANT_FIRST_TOOLS = "assistant-first-tools", |m| with_tools(open(vec![m.assistant(), m.user()]));
    /// a result with quotes and a line break
    QUOTED_RESULT = "quoted-result", |m| {
        let mut result = m.result();
        result["content"] = m.content(&quoted_result());
        with_tools(open(vec![m.user(), m.call(), result]))
    };
    /// a call with text next to it
    CALL_WITH_TEXT = "call-with-text", |m| with_tools(open(vec![m.user(), call_with_text(m), m.result()]));
    /// a call with text next to it and its result, no answer asked for
    CALL_WITH_TEXT_CLOSED = "call-with-text-closed", |m| with_tools(closed(vec![m.user(), call_with_text(m), m.result()]));
    /// a call with text next to it, its result and the answer
    CALL_WITH_TEXT_ASSISTANT = "call-with-text-assistant", |m| with_tools(closed(vec![
        m.user(), call_with_text(m), m.result(), m.second_assistant(),
    ]));
    /// a call with reasoning and text next to it, and its result
    REASONED_CALL_WITH_TEXT = "reasoned-call-with-text", |m| {
        let mut call = call_with_text(m);
        with_reasoning(&mut call, words::REASONING);
        with_tools(open(vec![m.user(), call, m.result()]))
    };
    /// a call with quotes, a backslash and a line break in an argument
    QUOTED_CALL = "quoted-call", |m| {
        let arguments = json!({words::FIRST_KEY: quoted_value(), words::SECOND_KEY: words::SECOND_VALUE});
        with_tools(closed(vec![m.user(), m.call_with(&m.arguments(&arguments))]))
    };
    /// two calls at once, and their results
    PARALLEL = "parallel", |m| with_tools(open(parallel(m)));
    /// two calls at once, and their results in another order
    PARALLEL_SWAPPED = "parallel-swapped", |m| {
        let mut messages = parallel(m);
        messages.swap(2, 3);
        with_tools(open(messages))
    };
    /// two calls at once, their results, the answer, and a second question
    PARALLEL_TURN = "parallel-turn", |m| with_tools(open(answered(m, parallel(m))));
    /// a call and its result, and then another call and its result
    TWO_ROUNDS = "two-rounds", |m| with_tools(open(rounds(m)));
    /// two rounds of calls, the answer, and a second question
    TWO_ROUNDS_TURN = "two-rounds-turn", |m| with_tools(open(answered(m, rounds(m))));
    /// a system message, a second question and tools that are not called
    SYSTEM_OTHER_QUESTION = "system-other-question", |m| with_tools(open(after_system(m, vec![
        m.user(), m.assistant(), m.second_user(),
    ])));
    /// a system message, a question, a call and its result
    SYSTEM_CALL_RESULT = "system-call-result", |m| with_tools(open(after_system(m, vec![m.user(), m.call(), m.result()])));
    /// a system message, a whole turn with a call, and a second question
    SYSTEM_CALL_TURN = "system-call-turn", |m| with_tools(open(after_system(m, answered(m, vec![
        m.user(), m.call(), m.result(),
    ]))));
    /// a system message, two calls at once, their results, the answer, and a second question
    SYSTEM_PARALLEL_TURN = "system-parallel-turn", |m| with_tools(open(after_system(m, answered(m, parallel(m)))));
    /// a system message, two rounds of calls, the answer, and a second question
    SYSTEM_TWO_ROUNDS_TURN = "system-two-rounds-turn", |m| with_tools(open(after_system(m, answered(m, rounds(m)))));
    /// a call whose arguments are an object
    OBJECT_ARGUMENTS = "object-arguments", |m| arguments(m, &usual());
    /// a call whose arguments are a JSON text with spaces, as Python writes it
    STRING_ARGUMENTS = "string-arguments", |m| arguments(m, &json!(spaced(&usual())));
    /// a call whose arguments are a JSON text without spaces
    COMPACT_ARGUMENTS = "compact-arguments", |m| arguments(m, &json!(usual().to_string()));
    /// a call with arguments that are no strings
    TYPED_ARGUMENTS = "typed-arguments", |m| arguments(m, &m.arguments(&json!({
        words::FIRST_KEY: true, words::SECOND_KEY: null, "third": [words::FIRST_VALUE], "fourth": {words::SECOND_VALUE: 1},
    })));
    /// a call without arguments
    NO_ARGUMENTS = "no-arguments", |m| arguments(m, &m.arguments(&json!({})));
    /// a call and a result that have no IDs
    NO_IDS = "no-ids", |m| {
        let (mut call, mut result) = (m.call(), m.result());
        remove(&mut call["tool_calls"][0], "id");
        remove(&mut result, "tool_call_id");
        with_tools(open(vec![m.user(), call, result]))
    };
    /// a result that does not name its tool
    NO_NAME = "no-name", |m| {
        let mut result = m.result();
        remove(&mut result, "name");
        with_tools(open(vec![m.user(), m.call(), result]))
    };
    /// a result after a call with a long ID, as OpenAI makes them
    LONG_IDS = "long-ids", |m| {
        let (mut call, mut result) = (m.call(), m.result());
        call["tool_calls"][0]["id"] = json!(LONG_ID);
        result["tool_call_id"] = json!(LONG_ID);
        with_tools(open(vec![m.user(), call, result]))
    };
    /// a result whose call is not in the conversation, as where its beginning was cut away
    RESULT_ALONE = "result-alone", |m| with_tools(open(vec![m.user(), m.result()]));
    /// an answer whose tool calls are an empty list
    EMPTY_CALLS = "empty-calls", |m| calls(m, json!([]));
    /// an answer whose tool calls are null
    NULL_CALLS = "null-calls", |m| calls(m, Value::Null);

    /// an answer with reasoning under each name that templates know
    REASONED = "reasoned", |m| closed(vec![m.user(), reasoned(m, &["reasoning_content", "reasoning", "thinking"])]);
    /// an answer with reasoning, and a second question that wants an answer
    REASONED_USER = "reasoned-user", |m| open(vec![
        m.user(), reasoned(m, &["reasoning_content", "reasoning", "thinking"]), m.second_user(),
    ]);
    /// an answer with reasoning, and a second question
    REASONED_USER_CLOSED = "reasoned-user-closed", |m| closed(vec![
        m.user(), reasoned(m, &["reasoning_content", "reasoning", "thinking"]), m.second_user(),
    ]);
    /// an answer with `reasoning_content`
    REASONING_CONTENT = "reasoning-content", |m| closed(vec![m.user(), reasoned(m, &["reasoning_content"])]);
    /// an answer with `reasoning`
    REASONING = "reasoning", |m| closed(vec![m.user(), reasoned(m, &["reasoning"])]);
    /// an answer with `thinking`
    THINKING = "thinking", |m| closed(vec![m.user(), reasoned(m, &["thinking"])]);
    /// a call with reasoning, and its result
    REASONED_CALL = "reasoned-call", |m| {
        let mut call = m.call();
        for name in ["reasoning_content", "reasoning", "thinking"] {
            call[name] = json!(words::REASONING);
        }
        with_tools(open(vec![m.user(), call, m.result()]))
    };

    /// two rounds of calls, each with reasoning
    REASONED_LOOP = "reasoned-loop", |m| with_tools(open(reasoned_rounds(m)));
    /// two rounds of calls with reasoning after a system message
    SYSTEM_REASONED_LOOP = "system-reasoned-loop", |m| with_tools(open(after_system(m, reasoned_rounds(m))));
    /// a turn with a call and reasoning, and a second question
    REASONED_TURN_USER = "reasoned-turn-user", |m| with_tools(open(reasoned_turn(m)));
    /// a system message, a turn with a call and reasoning, and a second question
    SYSTEM_REASONED_TURN_USER = "system-reasoned-turn-user", |m| with_tools(open(after_system(m, reasoned_turn(m))));
    /// a system message, an answer with reasoning, and a second question
    SYSTEM_REASONED_USER = "system-reasoned-user", |m| open(after_system(m, vec![
        m.user(), reasoned(m, &["reasoning_content", "reasoning", "thinking"]), m.second_user(),
    ]));
    /// an answer with its reasoning in the content, as a model writes it
    INLINE_REASONING = "inline-thoughts", |m| closed(vec![m.user(), m.message("assistant", &inline_reasoning())]);
    /// an answer with its reasoning in the content, and a second question
    INLINE_REASONING_USER = "inline-thoughts-user", |m| open(vec![
        m.user(), m.message("assistant", &inline_reasoning()), m.second_user(),
    ]);

    /// a question with a document
    DOCUMENT = "document", |m| with_document(open(vec![m.user()]));
    /// a question with two documents
    TWO_DOCUMENTS = "two-documents", |m| {
        let mut case = with_document(open(vec![m.user()]));
        if let Some(documents) = &mut case.documents {
            documents.push(json!({
                "title": "another title",
                "text": words::SECOND_DOCUMENT,
                "content": words::SECOND_DOCUMENT,
            }));
        }
        case
    };
    /// a document with its text under the name `text` alone
    DOCUMENT_TEXT = "document-text", |m| Case {
        documents: Some(vec![json!({"title": "a title", "text": words::DOCUMENT})]),
        ..open(vec![m.user()])
    };
    /// a system message and a question with a document
    SYSTEM_DOCUMENT = "system-document", |m| with_document(open(vec![m.system(), m.user()]));
    /// a second question with a document
    DOCUMENT_TURN = "document-turn", |m| with_document(open(vec![m.user(), m.assistant(), m.second_user()]));
    /// a question with a document and tools
    DOCUMENT_TOOLS = "document-tools", |m| with_document(with_tools(open(vec![m.user()])));
    /// a system message and a question with a document and tools
    SYSTEM_DOCUMENT_TOOLS = "system-document-tools", |m| with_document(with_tools(open(vec![m.system(), m.user()])));
    /// a second question with a document and tools
    DOCUMENT_TOOLS_TURN = "document-tools-turn", |m| with_document(with_tools(open(vec![
        m.user(), m.assistant(), m.second_user(),
    ])));
    /// an answer that shall be continued
    UNFINISHED = "unfinished", |m| closed(vec![m.user(), m.message("assistant", words::ASSISTANT)]);
    /// an answer that shall be continued, with the tag by which transformers finds its end
    UNFINISHED_TAGGED = "unfinished-tagged", |m| closed(vec![
        m.user(), m.message("assistant", &format!("{}{CONTINUE_TAG}", words::ASSISTANT)),
    ]);
}

/// Who says something in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Speaker {
    Question,
    Answer,
    Call,
    Result,
}

/// A part that is no text: its type, and the key and the value that it has besides.
type MediaPart = (&'static str, Option<&'static str>);

const IMAGE_PART: MediaPart = ("image", None);
const AUDIO_PART: MediaPart = ("audio", Some("quill.wav"));
const VIDEO_PART: MediaPart = ("video", Some("quill.mp4"));

/// A question in parts: texts, and where a text is empty this part.
fn shown((kind, file): MediaPart, texts: &[&str]) -> Case {
    let part = |text: &&str| match file {
        _ if !text.is_empty() => json!({"type": "text", "text": text}),
        Some(file) => json!({"type": kind, kind: file}),
        None => json!({"type": kind}),
    };
    let parts: Value = texts.iter().map(part).collect();
    open(vec![json!({"role": "user", "content": parts})])
}

/// A text that is longer than what anybody would cut a text to by mistake.
fn long_text() -> String {
    format!(
        "{}\n{}{}",
        words::BEFORE,
        "and so on, ".repeat(2000),
        words::AFTER
    )
}

/// The words for four calls and their results.
fn many() -> impl Iterator<Item = (usize, &'static str, &'static str)> {
    let turns = words::TURNS.iter().take(4).enumerate();
    turns.map(|(at, (asked, said))| (at, *asked, *said))
}

/// The call with a number, and its result.
fn numbered(m: InputStyle, (at, asked, said): (usize, &str, &str)) -> [Value; 2] {
    let id = format!("manyquil{}", at + 1);
    let arguments = m.arguments(&json!({words::FIRST_KEY: asked, words::SECOND_KEY: "x"}));
    let result = json!({
        "role": "tool", "tool_call_id": id, "name": words::TOOL, "content": m.content(said),
    });
    [tool_call(&id, words::TOOL, &arguments), result]
}

/// Four calls at once, and their results.
fn many_calls(m: InputStyle) -> Vec<Value> {
    let (calls, results): (Vec<Value>, Vec<Value>) =
        many().map(|one| numbered(m, one).into()).unzip();
    let mut call = m.call();
    call["tool_calls"] = calls.into();
    [vec![m.user(), call], results].concat()
}

/// Four calls, each with its result before the next.
fn many_rounds(m: InputStyle) -> Vec<Value> {
    let rounds = many().flat_map(|one| {
        let [call, result] = numbered(m, one);
        let mut message = m.call();
        message["tool_calls"] = vec![call].into();
        [message, result]
    });
    [m.user()].into_iter().chain(rounds).collect()
}

/// Questions and their answers, and another question.
fn long(m: InputStyle) -> Vec<Value> {
    let turns = words::TURNS.iter();
    turns
        .flat_map(|(question, answer)| {
            [m.message("user", question), m.message("assistant", answer)]
        })
        .chain([m.user()])
        .collect()
}

/// What comes after the system message of [`AGENT`], in order: who speaks, and the word for it.
pub(crate) fn agent_turns() -> impl Iterator<Item = (Speaker, &'static str)> {
    use Speaker::{Answer, Call, Question, Result};
    let speakers = [
        Question, Answer, Question, Call, Result, Answer, Question, Call, Result, Call, Result,
        Answer, Question, Answer, Question,
    ];
    let words = words::TURNS.iter();
    speakers
        .into_iter()
        .zip(words.flat_map(|(one, other)| [*one, *other]))
}

fn agent(m: InputStyle) -> Vec<Value> {
    let mut id = String::new();
    let message = |(at, (speaker, word))| match speaker {
        Speaker::Question => m.message("user", word),
        Speaker::Answer => m.message("assistant", word),
        Speaker::Call => {
            id = format!("idquill{at:02}");
            let arguments = m.arguments(&json!({words::SECOND_KEY: "x", words::FIRST_KEY: word}));
            let mut message = m.call();
            message["tool_calls"] = json!([tool_call(&id, words::TOOL, &arguments)]);
            message
        }
        Speaker::Result => json!({
            "role": "tool", "tool_call_id": id, "name": words::TOOL, "content": m.content(word),
        }),
    };
    agent_turns().enumerate().map(message).collect()
}

/// A question, two calls at once, and their results.
fn parallel(m: InputStyle) -> Vec<Value> {
    let second = m.arguments(
        &json!({words::FIRST_KEY: words::THIRD_VALUE, words::SECOND_KEY: words::FOURTH_VALUE}),
    );
    let mut call = m.call();
    call["tool_calls"] = json!([
        tool_call("callquil1", words::TOOL, &m.usual_arguments()),
        tool_call("callquil2", words::SECOND_TOOL, &second),
    ]);
    let result = json!({
        "role": "tool",
        "tool_call_id": "callquil2",
        "name": words::SECOND_TOOL,
        "content": m.content(words::SECOND_RESULT),
    });
    vec![m.user(), call, m.result(), result]
}

/// A question, a call and its result, and another call of the same tool and its result.
fn rounds(m: InputStyle) -> Vec<Value> {
    let arguments = m.arguments(
        &json!({words::FIRST_KEY: words::THIRD_VALUE, words::SECOND_KEY: words::FOURTH_VALUE}),
    );
    let mut call = m.call_with(&arguments);
    call["tool_calls"][0]["id"] = json!("callquil2");
    let mut result = m.result();
    result["tool_call_id"] = json!("callquil2");
    result["content"] = m.content(words::SECOND_RESULT);
    vec![m.user(), m.call(), m.result(), call, result]
}

/// Two rounds of calls, each with reasoning under each name that templates know.
fn reasoned_rounds(m: InputStyle) -> Vec<Value> {
    let mut messages = rounds(m);
    with_reasoning(&mut messages[1], words::REASONING);
    with_reasoning(&mut messages[3], words::SECOND_REASONING);
    messages
}

/// A turn with reasoning at its call and at its answer, and a second question.
fn reasoned_turn(m: InputStyle) -> Vec<Value> {
    let mut messages = answered(m, vec![m.user(), m.call(), m.result()]);
    with_reasoning(&mut messages[1], words::REASONING);
    with_reasoning(&mut messages[3], words::SECOND_REASONING);
    messages
}

fn with_reasoning(message: &mut Value, word: &str) {
    for name in ["reasoning_content", "reasoning", "thinking"] {
        message[name] = json!(word);
    }
}

/// These messages, the answer to them, and a second question.
fn answered(m: InputStyle, messages: Vec<Value>) -> Vec<Value> {
    [messages, vec![m.second_assistant(), m.second_user()]].concat()
}

fn after_system(m: InputStyle, messages: Vec<Value>) -> Vec<Value> {
    [vec![m.system()], messages].concat()
}

/// An answer with its reasoning, as a model writes it.
fn inline_reasoning() -> String {
    format!(
        "<think>\n{}\n</think>\n\n{}",
        words::REASONING,
        words::ASSISTANT
    )
}

/// What a tool gave, with quotes and a line break.
pub(crate) fn quoted_result() -> String {
    format!("{} \"C\"\nnext", words::RESULT)
}

/// A description with quotes, signs of HTML and a line break.
pub(crate) fn quoted_about() -> String {
    format!("{} \"C\" <b> & é\nnext", words::TOOL_ABOUT)
}

/// An argument with both quotes, a backslash and a line break.
pub(crate) fn quoted_value() -> String {
    format!("{} \"C\" 'D' \\\nnext", words::FIRST_VALUE)
}

/// A text with blank lines and signs of HTML in it.
pub(crate) fn inside() -> String {
    format!("{}{INSIDE}{}", words::BEFORE, words::AFTER)
}

fn rich_tool() -> Value {
    let mut tool = tool(words::TOOL);
    tool["function"]["parameters"]["properties"] = json!({
        words::FIRST_KEY: {
            "type": "object",
            "description": words::OBJECT_ABOUT,
            "properties": {
                words::INNER_KEY: {
                    "type": "string", "description": words::INNER_ABOUT, "enum": [words::INNER_CHOICE, "other"],
                },
            },
        },
        words::SECOND_KEY: {
            "anyOf": [{"type": "string"}, {"type": "integer"}],
            "description": "either",
            "default": words::DEFAULT,
        },
        "flag": {"type": "boolean", "description": "a flag", "default": true},
    });
    tool
}

fn spaces(word: &str) -> String {
    format!("{SPACES}{word}{SPACES_AFTER}")
}

fn usual() -> Value {
    json!({words::FIRST_KEY: words::FIRST_VALUE, words::SECOND_KEY: words::SECOND_VALUE})
}

fn remove(object: &mut Value, key: &str) {
    if let Some(object) = object.as_object_mut() {
        object.shift_remove(key);
    }
}

fn arguments(m: InputStyle, arguments: &Value) -> Case {
    with_tools(open(vec![m.user(), m.call_with(arguments), m.result()]))
}

fn call_with_text(m: InputStyle) -> Value {
    let mut call = m.call();
    call["content"] = m.content(words::ASSISTANT);
    call
}

fn answered_with(m: InputStyle, content: Option<Value>) -> Case {
    let mut answer = json!({"role": "assistant"});
    if let Some(content) = content {
        answer["content"] = content;
    }
    open(vec![m.user(), answer, m.second_user()])
}

fn called_with(m: InputStyle, content: Option<Value>) -> Case {
    let mut call = m.call();
    match content {
        Some(content) => call["content"] = content,
        None => remove(&mut call, "content"),
    }
    with_tools(open(vec![m.user(), call, m.result()]))
}

fn calls(m: InputStyle, calls: Value) -> Case {
    let mut answer = m.assistant();
    answer["tool_calls"] = calls;
    open(vec![m.user(), answer, m.second_user()])
}

fn reasoned(m: InputStyle, names: &[&str]) -> Value {
    let mut answer = m.assistant();
    for name in names {
        answer[*name] = json!(words::REASONING);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_say_what_they_are() {
        let mut names: Vec<_> = ALL.iter().map(|probe| probe.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|probe| !probe.about.is_empty()));
    }

    #[test]
    fn an_input_style_changes_only_how_things_are_put() {
        let case = CALL_RESULT.case(InputStyle {
            given: super::super::Requirement::Nothing,
            content: super::super::Content::Parts,
            arguments: super::super::Arguments::String,
            beside_calls: "",
        });
        assert_eq!(case.messages[0]["content"][0]["text"], words::USER);
        assert_eq!(
            case.messages[1]["tool_calls"][0]["function"]["arguments"],
            r#"{"zonequill": "northquill", "areaquill": "southquill"}"#
        );
    }
}
