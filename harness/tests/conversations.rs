//! Conversations from outside: the forms that are read, what each command makes of a log, and what
//! is wrong in one.

use std::fmt::Write as _;
use std::path::Path;

use rolecall_suite::conversation::read;
use serde_json::{Value, json};

use crate::extent::sample;
use crate::folder::{Folder, has};

/// A template of texts, images and calls, which prints what it is given.
const TEMPLATE: &str = "{% for tool in tools or [] %}<|tool|>{{ tool.function.name }}\n{% endfor %}\
    {% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}{% else %}\
    {% for part in m.content or [] %}{{ '<|image|>' if 'image' in part.type else part.text }}\
    {% endfor %}{% endif %}{% for call in m.tool_calls or [] %}<|call|>{{ call.function.name }}\
    {{ call.function.arguments if call.function.arguments is string else call.function.arguments \
    | tojson }}{% endfor %}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

/// Forms of records, each with what is read of it: a line in [`summary`]'s words.
const FORMS: &[(&str, &str)] = &[
    // OpenAI's chat.
    (r#"[{"role":"user","content":"Hi"}]"#, "user Hi"),
    (
        r#"{"model":"m","temperature":0,"messages":[{"role":"user","content":"Hi"}]}"#,
        "user Hi; not read: `temperature`",
    ),
    (
        r#"{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"Hi"}]}}"#,
        "user Hi; not read: `custom_id` beside `body`, `method` beside `body`, `url` beside `body`",
    ),
    (
        r#"{"request":{"body":{"model":"m","messages":[{"role":"user","content":"Hi"}]}},"response":{}}"#,
        "user Hi",
    ),
    (
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"See"},{"type":"image_url","image_url":{"url":"u"}}]}]}"#,
        "user [text, image_url]",
    ),
    (
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"chat_template_kwargs":{"enable_thinking":false},"reasoning_effort":"low"}"#,
        r#"user Hi; variables {"enable_thinking":false,"reasoning_effort":"low"}; `chat_template_kwargs` became variables"#,
    ),
    (
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"1"}],"functions":[{"name":"f"}]}"#,
        r#"user Hi, assistant null f("{}"), tool 1; tools f; `function_call` became a call of a tool; flat tools became functions; the role `function` became `tool`"#,
    ),
    (
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"f"}}],"documents":[{"text":"d"}],"add_generation_prompt":false}"#,
        "user Hi; tools f; closed",
    ),
    // OpenAI's Responses.
    (
        r#"{"model":"m","input":"Hi"}"#,
        "user Hi; `input` became messages",
    ),
    (
        r#"{"model":"m","instructions":"Be brief.","input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]}],"store":true}"#,
        "system Be brief., user Hi; `input` became messages; instructions beside the messages became a system message; not read: `store`",
    ),
    (
        r#"{"model":"m","input":[{"type":"message","role":"user","content":"Hi"},{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call","call_id":"d","name":"g","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"1"}],"tools":[{"type":"function","name":"f"},{"type":"web_search"}]}"#,
        r#"user Hi, assistant (Hm.)  f("{}") g("{}"), tool 1; tools f; `input` became messages; flat tools became functions; not read: tools `web_search`"#,
    ),
    (
        r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"See"},{"type":"input_image","image_url":"u"},{"type":"input_file","file_id":"f"}]}],"reasoning":{"effort":"high"}}"#,
        r#"user [text, image_url]; variables {"reasoning_effort":"high"}; `input` became messages; `reasoning.effort` became a variable; not read: parts `input_file`"#,
    ),
    (
        r#"{"model":"m","input":[{"role":"user","content":"Hi"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Look."}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"item_reference","id":"x"}]}"#,
        r#"user Hi, assistant Look. f("{}"); `input` became messages; not read: items `item_reference` of `input`"#,
    ),
    // Anthropic's messages.
    (
        r#"{"model":"c","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"Hi"}]}"#,
        "system Be brief., user Hi; instructions beside the messages became a system message; not read: `max_tokens`",
    ),
    (
        r#"{"model":"c","system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"See"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQI="}}]}]}"#,
        "system Be brief., user [text, image_url]; instructions beside the messages became a system message; parts of Anthropic's became calls, results, reasoning and images",
    ),
    (
        r#"{"model":"c","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Look."},{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"1"}]},{"type":"text","text":"And?"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#,
        r#"user Hi, assistant (Hm.) Look. f({"a":1}), tool 1, user And?; tools f; flat tools became functions; parts of Anthropic's became calls, results, reasoning and images"#,
    ),
    (
        r#"{"custom_id":"1","params":{"model":"c","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"bash_20250124","name":"bash"}]}}"#,
        "user Hi; tools ; not read: `custom_id` beside `params`, tools `bash_20250124`",
    ),
    // Ollama's requests.
    (
        r#"{"model":"o","messages":[{"role":"user","content":"See","images":["AQI="]}],"options":{"num_ctx":9},"think":false}"#,
        r#"user [image_url, text]; variables {"enable_thinking":false}; `images` became parts; `think` became a variable; not read: `options`"#,
    ),
    (
        r#"{"model":"o","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},{"role":"tool","tool_name":"f","content":"1"}]}"#,
        r#"user Hi, assistant (Hm.)  f({"a":1}), tool 1; `thinking` became `reasoning_content`; `tool_name` became `name`"#,
    ),
    (
        r#"{"model":"o","system":"Be brief.","prompt":"Hi","think":"low"}"#,
        r#"system Be brief., user Hi; variables {"reasoning_effort":"low"}; `think` became a variable; instructions beside the messages became a system message"#,
    ),
    // Files for training.
    (
        r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}]}"#,
        "user Hi, assistant Ho; closed",
    ),
    (
        r#"{"messages":"[{\"role\":\"user\",\"content\":\"Hi\"}]","tools":"[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"}"#,
        "user Hi; tools f; a list that is JSON in a text was read",
    ),
    (
        r#"{"conversations":[{"from":"system","value":"S"},{"from":"human","value":"Hi"},{"from":"gpt","value":"Ho"}]}"#,
        "system S, user Hi, assistant Ho; closed; `from` and `value` became roles and contents",
    ),
    (
        r#"{"conversations":[{"from":"human","value":"Hi"},{"from":"function_call","value":"{\"name\": \"f\", \"arguments\": {\"a\": 1}}"},{"from":"observation","value":"1"},{"from":"gpt","value":"Ho"}],"system":"S","tools":"[{\"name\":\"f\"}]"}"#,
        r#"system S, user Hi, assistant  f({"a":1}), tool 1, assistant Ho; tools f; closed; `from` and `value` became roles and contents; a list that is JSON in a text was read; flat tools became functions; instructions beside the messages became a system message"#,
    ),
    (
        r#"{"conversations":[{"role":"user","content":"Hi"}],"id":"7"}"#,
        "user Hi; not read: `id`",
    ),
    (
        r#"{"prompt":"Hi","completion":"Ho"}"#,
        "user Hi, assistant Ho; closed; `prompt` and `completion` became one conversation",
    ),
    (
        r#"{"prompt":[{"role":"user","content":"Hi"}],"completion":[{"role":"assistant","content":"Ho"}]}"#,
        "user Hi, assistant Ho; closed; `prompt` and `completion` became one conversation",
    ),
    (
        r#"{"prompt":[{"role":"user","content":"Hi"}],"answer":"4"}"#,
        "user Hi; not read: `answer`",
    ),
    (
        r#"{"prompt":"Hi","chosen":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}],"rejected":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hu"}],"score":1}"#,
        "user Hi, assistant Ho | user Hi, assistant Hu; closed; `chosen` and `rejected` became two conversations; not read: `score`",
    ),
    (
        r#"{"conversations":[{"from":"human","value":"Hi"}],"chosen":{"from":"gpt","value":"Ho"},"rejected":{"from":"gpt","value":"Hu"}}"#,
        "user Hi, assistant Ho | user Hi, assistant Hu; closed; `chosen` and `rejected` became two conversations; `from` and `value` became roles and contents",
    ),
];

/// Forms of records that were once misread, each with what is read of it and what is not.
const OTHER_FORMS: &[(&str, &str)] = &[
    // Messages of a chat under `input`: exports of Langfuse and of Inspect.
    (
        r#"{"input":[{"role":"user","content":"W?"},{"role":"assistant","content":"","reasoning":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","name":"f","content":"4"}],"output":{"role":"assistant","content":"4"}}"#,
        r#"user W?, assistant  f("{}"), tool 4; `input` became messages; not read: `output`"#,
    ),
    (
        r#"{"input":[{"role":"user","content":"W?"},{"role":"assistant","content":[{"type":"reasoning","reasoning":"Hm."},{"type":"text","text":"Look."}],"tool_calls":[{"id":"c","function":"f","arguments":{"a":1},"view":"x"}]}],"id":"7"}"#,
        r#"user W?, assistant (Hm.) Look. f({"a":1}); closed; `input` became messages; calls got a `function` with a name; not read: `id`, `view` of calls"#,
    ),
    (
        r#"{"model":"m","input":[{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"1"}]}],"reasoning":{"effort":"low","summary":"auto"}}"#,
        r#"assistant  f("{}"), tool 1; variables {"reasoning_effort":"low"}; `input` became messages; `reasoning.effort` became a variable; not read: `id` of items `function_call`, `summary` of `reasoning`"#,
    ),
    // What stands beside a request.
    (
        r#"{"tools":[{"name":"f"}],"request":{"messages":[{"role":"user","content":"Hi"}]},"response":{"choices":[1]}}"#,
        "user Hi; not read: `response` beside `request`, `tools` beside `request`",
    ),
    (
        r#"{"prompt":"greet","request":"{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"}"#,
        "user Hi; not read: `prompt` beside `request`",
    ),
    (
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"optional_params":{"tools":[{"type":"function","function":{"name":"f"}}],"seed":1}}"#,
        "user Hi; tools f; not read: `seed`",
    ),
    // Prompts and answers, as TRL joins them.
    (
        r#"{"prompt":[{"role":"user","content":"Hi"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]}],"completion":[{"role":"tool","content":"1"},{"role":"assistant","content":"Ho"}]}"#,
        "user Hi, assistant  f({}), tool 1, assistant Ho; closed; `prompt` and `completion` became one conversation",
    ),
    (
        r#"{"prompt":[{"role":"system","content":"S"}],"chosen":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}],"rejected":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hu"}]}"#,
        "system S, user Hi, assistant Ho | system S, user Hi, assistant Hu; closed; `chosen` and `rejected` became two conversations",
    ),
    (
        r#"{"prompt":[{"role":"user","content":"Hi"}],"chosen":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}],"rejected":"Hu"}"#,
        "user Hi, user Hi, assistant Ho | user Hi, assistant Hu; closed; `chosen` and `rejected` became two conversations; the messages of `prompt` come twice, because the answer begins with them, too",
    ),
    (
        r#"{"prompt":"Other","chosen":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}],"rejected":[{"role":"assistant","content":"Hu"}]}"#,
        "user Hi, assistant Ho | user Other, assistant Hu; closed; `chosen` and `rejected` became two conversations; not read: `prompt`, because `chosen` has a question of its own",
    ),
    (
        r#"{"input":{"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f"}]},"preferred_output":[{"role":"assistant","content":"Ho"}],"non_preferred_output":[{"role":"assistant","content":"Hu"}]}"#,
        "user Hi, assistant Ho | user Hi, assistant Hu; tools f; closed; `preferred_output` and `non_preferred_output` became two conversations; flat tools became functions",
    ),
    (
        r#"{"system":"S","prompt":"Hi","response":"Ho"}"#,
        "system S, user Hi, assistant Ho; closed; `prompt` and `response` became one conversation; instructions beside the messages became a system message",
    ),
    // Turns.
    (
        r#"{"messages":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Ho","weight":0}]}"#,
        "user Hi, assistant Ho; closed; `from` and `value` became roles and contents",
    ),
    (
        r#"{"conversations":[{"role":"human","value":"Hi"},{"role":"gpt","value":"Ho","train":false}]}"#,
        "user Hi, assistant Ho; closed; `from` and `value` became roles and contents",
    ),
    (
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"refusal":"No."}]}"#,
        "user Hi, assistant No.; `refusal` became the content",
    ),
    // Tools.
    (
        r#"{"messages":[{"role":"user","content":"Hi"}],"tools":[{"function_declarations":[{"name":"f","parameters":{"type":"OBJECT"}}]},{"name":"g","inputSchema":{"type":"object"},"annotations":{"x":1}},{"type":"custom","name":"h","input_schema":{}}]}"#,
        "user Hi; tools f, g, h; `function_declarations` became functions; flat tools became functions; not read: `annotations` of tools",
    ),
    // Anthropic's.
    (
        r#"{"model":"c","system":[{"type":"text","text":"Be ","cache_control":{"type":"e"}},{"type":"text","text":"brief."}],"messages":[{"role":"user","content":[{"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"D"}},{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"1"}]}]}"#,
        "system Be brief., tool 1, user D; instructions beside the messages became a system message; parts of Anthropic's became calls, results, reasoning and images; the texts of several blocks of instructions were joined; not read: `cache_control` of blocks of `system`, `is_error` of parts `tool_result`, `title` of parts `document`",
    ),
];

/// What looks like a conversation and is refused: what is said, and which shape it looks like.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        r#"{"instruction":"Sum","input":"1 2","output":"3"}"#,
        "it has no `messages`",
        "Alpaca",
    ),
    (
        r#"{"input":"1 2","output":"3"}"#,
        "it has no `messages`",
        "pairs of `input`",
    ),
    (
        r#"{"context":"C","input":"1 2"}"#,
        "it has no `messages`",
        "a column `input`",
    ),
    (
        r#"{"messages":[{"role":"user","parts":[{"text":"Hi"}]}]}"#,
        "message 1 has no `content`: what it says is under `parts`",
        "messages with `parts`",
    ),
    (
        r#"{"messages":[{"role":"user","text":"Hi"}]}"#,
        "is under `text`",
        "",
    ),
    (
        r#"{"messages":[{"role":"user","content":42}]}"#,
        "the content of message 1 is no text",
        "",
    ),
    (
        r#"{"messages":[{"role":"user","content":{}}]}"#,
        "the content of message 1 is an object",
        "",
    ),
    (
        r#"{"messages":[{"role":"user"}]}"#,
        "message 1 has no `content`",
        "",
    ),
    (
        r#"{"messages":[{"role":"user","content":[{"text":"Hi"}]}],"inferenceConfig":{}}"#,
        "part 1 of message 1 has no `type`",
        "Bedrock",
    ),
    (
        r#"{"messages":[{"role":"assistant","content":"","tool_calls":[{"type":"custom","custom":{"name":"f"}}]}]}"#,
        "call 1 of message 1 has no `function` with a `name`",
        "",
    ),
    (
        r#"{"messages":[],"tools":[{"type":"custom","name":"f"}]}"#,
        "tool 1 is a custom one",
        "",
    ),
    (
        r#"{"model":"m","input":[{"type":"custom_tool_call","name":"f","input":"x"}]}"#,
        "item 1 of `input` is a `custom_tool_call`",
        "",
    ),
    (
        r#"{"question":"Q","chosen":"A","rejected":"B"}"#,
        "`chosen` is a text, and there is no `prompt`",
        "name the question `prompt`",
    ),
    (
        r#"{"chosen":"\n\nHuman: Q\n\nAssistant: A","rejected":"\n\nHuman: Q\n\nAssistant: B"}"#,
        "`chosen` is a text",
        "HH-RLHF",
    ),
    (
        r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#,
        "",
        "a request of Gemini",
    ),
    (
        r#"{"segments":[{"label":true,"text":"x"}]}"#,
        "",
        "segments of axolotl",
    ),
    (r#"{"query":"Q","answers":"[]","tools":"[]"}"#, "", "xLAM"),
    (
        r#"{"message_tree_id":"1","role":"prompter","text":"x"}"#,
        "",
        "OASST",
    ),
    (
        r#"{"conversation":[{"role":"user","content":"Hi"}]}"#,
        "",
        "WildChat",
    ),
    (
        r#"{"inputs":{"messages":[[{"lc":1,"type":"constructor","kwargs":{"content":"Hi"}}]]},"run_type":"llm"}"#,
        "message 1 is not an object",
        "LangChain",
    ),
    (
        r#"{"url":"/v1/embeddings","body":{"model":"m","input":"Hi"}}"#,
        "a request for embeddings",
        "",
    ),
    (
        r#"{"custom_id":"1","response":{"body":{"choices":[]}}}"#,
        "",
        "answers of a batch",
    ),
    (r#"{"run_type":"llm","inputs":{"x":1}}"#, "", "LangSmith"),
    (
        r#"{"messages":[{"type":"human","data":{"content":"Hi"}}]}"#,
        "message 1 has no `role`",
        "LangChain",
    ),
];

/// What is no conversation, and what is said of it.
const BROKEN: &[(&str, &str)] = &[
    (
        r#"{"messages":[{"role":"user""#,
        "this line is not JSON: EOF",
    ),
    ("17", "neither a list nor an object"),
    (r#"{"text":"raw"}"#, "it has no `messages`"),
    (
        r#"{"prompt":"raw"}"#,
        "it looks like a prompt that is a text without a `completion`",
    ),
    (r#"{"messages":{"role":"user"}}"#, "it has no `messages`"),
    (
        r#"{"messages":[{"content":"Hi"}]}"#,
        "message 1 has no `role`",
    ),
    (r#"{"messages":["Hi"]}"#, "message 1 is not an object"),
    (r#"{"messages":[],"tools":"f"}"#, "`tools` is not a list"),
    (
        r#"{"conversations":[{"from":"alien","value":"Hi"}]}"#,
        "turn 1 is from `alien`",
    ),
    (
        r#"{"conversations":[{"from":"function_call","value":"f()"}]}"#,
        "turn 1: the call is not JSON",
    ),
    (
        r#"{"input":[{"type":"message","content":"Hi"}]}"#,
        "item 1 of `input` has no `role`",
    ),
];

/// What is read of a record, in a line.
fn summary(text: &str) -> String {
    let path = Path::new("x.jsonl");
    let found = read(path, text).unwrap();
    assert_eq!(found.problems, [], "{text}");
    let note = found.note(path).map(|note| note.message);
    let of = |fields: &Value| {
        let messages = fields["messages"].as_array().unwrap().iter().map(message);
        messages.collect::<Vec<_>>().join(", ")
    };
    let all: Vec<Value> = found
        .read
        .into_iter()
        .map(|one| Value::Object(one.fields))
        .collect();
    let mut parts = vec![all.iter().map(of).collect::<Vec<_>>().join(" | ")];
    if let Some(tools) = all[0]["tools"].as_array() {
        let names = tools
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap());
        parts.push(format!("tools {}", names.collect::<Vec<_>>().join(", ")));
    }
    if let Some(variables) = all[0].get("variables") {
        parts.push(format!("variables {variables}"));
    }
    if all[0]["add_generation_prompt"] == false {
        parts.push("closed".to_owned());
    }
    parts.extend(note);
    parts.join("; ")
}

fn message(message: &Value) -> String {
    let mut text = message["role"].as_str().unwrap().to_owned();
    if let Some(reasoning) = message["reasoning_content"].as_str() {
        let _ = write!(text, " ({reasoning})");
    }
    match &message["content"] {
        Value::String(said) => text.extend([" ", said]),
        Value::Array(parts) => {
            let kinds = parts.iter().map(|part| part["type"].as_str().unwrap());
            let _ = write!(text, " [{}]", kinds.collect::<Vec<_>>().join(", "));
        }
        other => text.extend([" ", &other.to_string()]),
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap();
        let _ = write!(text, " {name}({})", function["arguments"]);
    }
    text
}

#[test]
fn thirty_forms_of_conversations_are_read() {
    assert!(FORMS.len() >= 30);
    for (text, expected) in FORMS.iter().chain(OTHER_FORMS) {
        assert_eq!(summary(text), *expected, "{text}");
    }
}

#[test]
fn what_is_refused_says_which_shape_it_looks_like() {
    for (text, message, hint) in REFUSED {
        let problems = read(Path::new("x.jsonl"), text).unwrap_err();
        let problem = problems[0].to_string();
        assert!(
            problem.starts_with("x.jsonl:1:1: ") && problem.contains(message),
            "{text}: {problem}"
        );
        let looks = problem.contains("it looks like ");
        assert!(
            problem.contains(hint) && looks != hint.is_empty(),
            "{text}: {problem}"
        );
    }
}

#[test]
fn what_is_no_conversation_is_one_problem_with_its_line() {
    for (text, expected) in BROKEN {
        let log = format!("[]\n\n{text}\n[]\n[]\n");
        let found = read(Path::new("x.jsonl"), &log).unwrap();
        let names: Vec<&str> = found.read.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["1", "4", "5"], "{text}");
        let [problem] = found.problems.as_slice() else {
            panic!("{text}: {:?}", found.problems);
        };
        let problem = problem.to_string();
        assert!(
            problem.starts_with("x.jsonl:3:") && problem.contains(expected),
            "{problem}"
        );
    }
}

/// A folder with a template, and a log with every form and every mistake.
fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    let lines = FORMS.iter().chain(BROKEN).map(|(text, _)| *text);
    folder.write("log.jsonl", &(lines.collect::<Vec<_>>().join("\n") + "\n"));
    folder
}

#[test]
#[allow(clippy::too_many_lines)] // a command after the other
fn every_command_takes_a_log() {
    let folder = folder();
    let last = format!("log.jsonl:{}:", FORMS.len() + BROKEN.len());
    let wrong = format!("{} problems with the input", BROKEN.len());
    let t = "--templates=t.jinja";
    for (arguments, expected) in [
        (
            &["render", "t.jinja", "log.jsonl"][..],
            &["t log/29-chosen", "32 rendered"][..],
        ),
        (
            &["render", t, "--conversations", "log.jsonl"],
            &["t log/29-chosen", "32 rendered"],
        ),
        (
            &["render", "t.jinja", "--conversations", "log.jsonl"],
            &["t log/29-chosen", "32 rendered"],
        ),
        (
            &["run", t, "--conversations", "log.jsonl"],
            &["32 pairs not compared"],
        ),
        (
            &["check", "t.jinja", "log.jsonl"],
            &["32 conversations with t: "],
        ),
        (
            &["check", "t.jinja", "--conversations", "log.jsonl"],
            &["32 conversations with t: "],
        ),
        (
            &["diff", "t.jinja", "t.jinja", "--conversations", "log.jsonl"],
            &["32 cases"],
        ),
        (&["mask", "t.jinja", "log.jsonl"], &["cases with answers"]),
        (&["cover", "t.jinja", "log.jsonl"], &["32 cases"]),
        (
            &["show", "t.jinja", "log.jsonl:16"],
            &["<|tool|>f␊", "<|call|>f{\"a\": 1}"],
        ),
        (
            &["show", "t.jinja", "log/16", "--cases", "log.jsonl"],
            &["<|tool|>f␊"],
        ),
        (&["mask", "t.jinja", "log.jsonl:21"], &["Ho"]),
    ] {
        let ran = folder.rolecall(arguments);
        has(&ran.stdout(), expected);
        has(
            &ran.stderr(),
            &[
                &last,
                "`from` and `value` became roles and contents (4 of 32)",
            ],
        );
        if arguments[0] != "show" {
            assert_eq!(ran.code(), 2, "{arguments:?}: {}", ran.stdout());
            has(&ran.stderr(), &[&wrong]);
        }
    }
    let ran = folder.rolecall(&["run", "t.jinja", "--conversations", "log.jsonl"]);
    has(
        &ran.stderr(),
        &["paths are named with `--templates t.jinja`"],
    );
    folder.write(
        "t.response.json",
        r#"{"start_anchor": "<|assistant|>", "fields": {"content": {"close_pattern": "<\\|end\\|>\\s*"}}}"#,
    );
    let ran = folder.rolecall(&[
        "roundtrip",
        "t.jinja",
        "log.jsonl",
        "--with",
        "t.response.json",
    ]);
    has(&ran.stdout(), &["read back"]);
    let ran = folder.rolecall(&["show", "t.jinja", "log.jsonl"]);
    assert_eq!(ran.code(), 2, "{}", ran.stderr());
    has(&ran.stdout(), &["t log/29-chosen\n", "<|tool|>f␊"]);
    folder.write("one.jsonl", FORMS[0].0);
    let ran = folder.rolecall(&["show", "t.jinja", "one.jsonl"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    assert!(
        ran.stdout().starts_with("rendered\n<|user|>Hi"),
        "{}",
        ran.stdout()
    );
    for (file, name, command) in [
        ("log.jsonl.gz", "gzip", "gunzip --keep log.jsonl.gz"),
        (
            "log.csv",
            "CSV",
            "pandas.read_csv('log.csv').to_json('log.jsonl'",
        ),
        ("log.yaml", "YAML", "yaml.safe_load(open('log.yaml'))"),
    ] {
        folder.write(file, "x");
        let ran = folder.rolecall(&["check", "t.jinja", file]);
        assert_eq!(ran.code(), 2);
        has(
            &ran.stderr(),
            &[&format!("{file}: {name} is not read"), command],
        );
    }
    let ran = folder.rolecall(&["check", "t.jinja", "log.parquet"]);
    assert_eq!(ran.code(), 2);
    folder.write("log.parquet", "PAR1");
    let ran = folder.rolecall(&["render", "t.jinja", "log.parquet"]);
    assert_eq!(ran.code(), 2);
    has(
        &ran.stderr(),
        &[
            "log.parquet: Parquet is not read",
            "pandas.read_parquet('log.parquet')",
        ],
    );
}

/// A rule, a template that breaks it, and a conversation that shows it.
type Spoilt = (&'static str, String, Value);

fn said(messages: &Value) -> Value {
    json!({"model": "m", "messages": messages})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn call(arguments: &str) -> Value {
    let function = json!({"name": "weather", "arguments": arguments});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "function": function}]})
}

/// A template that writes this for each message.
fn plain(body: &str) -> String {
    format!("{{% for m in messages %}}<|{{{{ m.role }}}}|>{body}<|end|>{{% endfor %}}<|assistant|>")
}

/// Templates that spoil what users say.
fn spoilt_texts() -> Vec<Spoilt> {
    let parts = json!([{"type": "text", "text": "What is on it?"}, {"type": "image"}]);
    let image = said(&json!([user(parts)]));
    let chat = said(&json!([
        user("First question here"),
        {"role": "assistant", "content": "First answer here"},
        user("Second question here"),
    ]));
    let whole = TEMPLATE.to_owned();
    vec![
        (
            "images-kept",
            whole.replace("'<|image|>'", "''"),
            image.clone(),
        ),
        (
            "text-part-is-text",
            whole.replace("part.text", "''"),
            image.clone(),
        ),
        ("text-part-is-text", plain("{{ m.content }}"), image),
        (
            "control-tokens-inert",
            whole.clone(),
            said(&json!([user("close <|end|> it")])),
        ),
        (
            "messages-kept",
            whole.replace("in messages %}<", "in messages if m.role != 'system' %}<"),
            said(&json!([{"role": "system", "content": "Be very brief"}, user("Hi")])),
        ),
        (
            "long-history-kept",
            whole.replace("in messages %}<", "in messages[-1:] %}<"),
            chat.clone(),
        ),
        (
            "history-stable",
            whole.replace("<|end|>", "<|end {{ messages | length }}|>"),
            chat,
        ),
        (
            "renders",
            whole.replace(
                "<|end|>",
                "{{ raise_exception('No.') if m.role == 'user' }}",
            ),
            said(&json!([user("Hi")])),
        ),
        (
            "no-repr-leak",
            whole.replace("tool.function.name", "tool"),
            json!({"model": "m", "messages": [user("Hi")], "tools": [{"type": "function", "function": {"name": "weather"}}]}),
        ),
    ]
}

/// Templates that spoil calls and results, and logs that lack some.
fn spoilt_calls() -> Vec<Spoilt> {
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "Rain in the north"});
    let called = said(&json!([
        user("Weather?"),
        call("{\"city\": \"Oslo\"}"),
        result
    ]));
    let whole = TEMPLATE.to_owned();
    vec![
        (
            "tool-results-kept",
            whole.replace(
                "{% if m.content is",
                "{% if m.role != 'tool' and m.content is",
            ),
            called.clone(),
        ),
        (
            "tool-calls-kept",
            whole.replace("<|call|>{{ call.function.name }}", ""),
            called.clone(),
        ),
        (
            "no-null-leak",
            plain("{{ m.get('content') }} {{ m.tool_calls[0].function.name if m.tool_calls }}"),
            called.clone(),
        ),
        (
            "arguments-encoded-once",
            whole.replace(
                "arguments if call.function.arguments is string else call.function.arguments",
                "arguments",
            ),
            called,
        ),
        (
            "arguments-are-json",
            whole.clone(),
            said(
                &json!([user("Weather?"), call("city: Oslo"), {"role": "tool", "tool_call_id": "c", "content": "1"}]),
            ),
        ),
        (
            "calls-answered",
            whole.clone(),
            said(&json!([user("Weather?"), call("{}"), user("So?")])),
        ),
        (
            "calls-answered",
            whole.clone(),
            said(&json!([user("Weather?"), {"role": "tool", "content": "1"}])),
        ),
    ]
}

#[test]
fn each_fault_of_a_log_has_its_cause_and_its_smallest_example() {
    for (rule, template, conversation) in sample([spoilt_texts(), spoilt_calls()].concat(), 4) {
        let folder = Folder::empty();
        folder.write("t.jinja", &template);
        let sound = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
        let mut larger = conversation.clone();
        larger["messages"][0]["content"] = match larger["messages"][0]["content"].take() {
            Value::String(text) => format!("{text} and more").into(),
            mut parts => {
                parts[0]["text"] = "What is on it, and beside it?".into();
                parts
            }
        };
        let log = format!("{sound}\n{larger}\n{conversation}\n");
        folder.write("log.jsonl", &log);
        let ran = folder.rolecall(&["check", "t.jinja", "log.jsonl", "--format", "json", "-q"]);
        let found: Value = serde_json::from_str(&ran.stdout()).unwrap();
        let causes = found["conversations"][0]["causes"].as_array().unwrap();
        let cause = causes.iter().find(|cause| cause["rule"] == rule);
        let cause = cause.unwrap_or_else(|| panic!("{rule}: {causes:#?}"));
        if rule == "renders" {
            assert_eq!(cause["count"], 3);
        } else {
            assert_eq!(cause["count"], 2, "{rule}: {causes:#?}");
            assert_eq!(cause["example"], "log/3", "{rule}");
        }
        assert_eq!(cause.get("anew").is_some(), rule == "history-stable");
        // A template that does none of this.
        folder.write("t.jinja", TEMPLATE);
        let ran = folder.rolecall(&["check", "t.jinja", "log.jsonl", "--format", "json", "-q"]);
        let found: Value = serde_json::from_str(&ran.stdout()).unwrap();
        let causes = found["conversations"][0]["causes"].as_array().unwrap();
        let is_own = template == TEMPLATE;
        assert_eq!(causes.is_empty(), !is_own, "{rule}: {causes:#?}");
    }
}

#[test]
fn faults_of_a_log_are_in_every_format_and_become_cases() {
    let folder = Folder::empty();
    folder.write("t.jinja", &TEMPLATE.replace("'<|image|>'", "''"));
    let image = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Ask ada@uni.example"},{"type":"image"}]}]}"#;
    let lost = r#"{"messages":[{"role":"user","content":"Hi"},{"role":"tool","content":"1"}]}"#;
    folder.write("log.jsonl", &format!("{image}\n{lost}\n{lost}\n"));
    let check = |more: &[&str]| {
        folder.rolecall(
            &[
                &["check", "t.jinja", "log.jsonl", "--select", "images-kept"],
                more,
            ]
            .concat(),
        )
    };
    let ran = check(&[]);
    assert_eq!(ran.code(), 1);
    has(
        &ran.stdout(),
        &[
            "3 conversations with t: 1 cause",
            "images-kept: an image is not in the prompt: 1 of 3 conversations",
            "show t.jinja log.jsonl:1",
            "1 cause in conversations",
        ],
    );
    let sarif: Value = serde_json::from_str(&check(&["--format", "sarif"]).stdout()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let place = json!({"artifactLocation": {"uri": "log.jsonl"}, "region": {"startLine": 1}});
    let is_at = |one: &&Value| one["locations"][0]["physicalLocation"] == place;
    assert_eq!(results.iter().find(is_at).unwrap()["ruleId"], "images-kept");
    for (format, words) in [
        (
            "github",
            "::error file=log.jsonl,line=1,title=images-kept::",
        ),
        ("junit", "an image is not in the prompt"),
        ("markdown", "an image is not in the prompt"),
    ] {
        has(&check(&["--format", format]).stdout(), &[words]);
    }
    check(&["--html", "page.html"]);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    has(
        &page,
        &["an image is not in the prompt: 1 of 3 conversations"],
    );

    folder.write("rolecall.toml", "[templates]\nt = \"t.jinja\"\n");
    let add = |more: &[&str]| {
        folder.rolecall(&[&["add", "log.jsonl", "--each-cause", "t"], more].concat())
    };
    let ran = add(&[]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    has(&ran.stdout(), &["ada@uni.example", "nothing was written"]);
    assert!(!folder.path("cases/added.json").exists());
    let ran = add(&["--redact"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let added = std::fs::read_to_string(folder.path("cases/added.json")).unwrap();
    let added: Value = serde_json::from_str(&added).unwrap();
    let names: Vec<&String> = added["cases"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["log-2", "log-1"]);
    has(
        &added.to_string(),
        &["someone@example.org", "(images-kept)", "(calls-answered)"],
    );
}
