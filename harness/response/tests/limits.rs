//! Nothing that a template or an answer has may take without end, and what is refused has a place.

use rolecall_response::{
    Kind, Limit, Limits, Options, ParseError, ResponseTemplate, TemplateError, TemplateErrorKind,
};
use serde_json::{Value, json};

fn template(fields: &Value) -> ResponseTemplate {
    let json = json!({"start_anchor": "<a>", "fields": fields});
    ResponseTemplate::from_json(&json).expect("a template")
}

fn steps(steps: u64) -> Options<'static> {
    Options {
        limits: Limits {
            steps,
            ..Limits::default()
        },
        ..Options::default()
    }
}

const TOO_MANY_STEPS: ParseError = ParseError::LimitExceeded {
    limit: Limit::Steps,
};

/// `nemotron_3` and `deepseek_r1_distill` have such an opener. The reference searches the whole text
/// again for each character: 8,000 take it more than a minute.
#[test]
fn an_opener_that_looks_far_ahead_costs_little_by_characters() {
    let template = template(&json!({
        "reasoning": {"open_pattern": r"(?=[\s\S]*?</think>)", "close": "</think>"},
        "calls": {"open_pattern": r"\s*<tool_call>\s*", "close_pattern": r"\s*</tool_call>\s*"},
        "content": {"close_pattern": r"\s*<\|im_end\|>\s*"},
    }));
    let text = "Some words, and more. ".repeat(364);
    let mut stream = template.stream(&steps(1_000_000)).expect("a stream");
    for character in text.chars() {
        let events = stream.feed(character.encode_utf8(&mut [0; 4]));
        assert_eq!(events, Ok(vec![]));
    }
    let (_, message) = stream.finish().expect("a message");
    assert_eq!(message.to_json()["content"], json!(text.trim_end()));
}

#[test]
fn the_cost_of_an_ordinary_answer_grows_with_its_length() {
    let template = template(&json!({
        "calls": {"open_pattern": r"\s*<t>\s*", "close_pattern": r"\s*</t>\s*", "repeats": true},
        "content": {"close": "<end>"},
    }));
    let text = "Some text.\n<t>\nf(1, 2)\n</t>\n".repeat(2000);
    // A region costs 256 steps.
    let message = template.parse(&text, &steps(3_000_000)).expect("a message");
    assert_eq!(
        message.to_json()["calls"].as_array().map(Vec::len),
        Some(2000)
    );
}

#[test]
fn a_pattern_that_tries_too_many_ways_is_stopped() {
    let template = template(&json!({"x": {"open_pattern": "(?:a|aa)+$"}, "c": {}}));
    let answer = "a".repeat(40) + "b";
    assert_eq!(
        template.parse(&answer, &Options::default()),
        Err(TOO_MANY_STEPS)
    );
}

#[test]
fn regions_without_text_are_stopped() {
    let template = template(&json!({"x": {"open_pattern": "(?=a)", "close_pattern": "(?=a)"}}));
    assert_eq!(
        template.parse("bab", &Options::default()),
        Err(TOO_MANY_STEPS)
    );
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let template = template(&json!({"c": {}}));
    let limits = Limits {
        characters: 5,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    let mut stream = template.stream(&options).expect("a stream");
    assert!(stream.feed("éééé").is_ok());
    let error = ParseError::LimitExceeded {
        limit: Limit::Characters,
    };
    assert_eq!(stream.feed("éé"), Err(error));
}

#[test]
fn deep_json_fits_the_stack_of_a_small_thread() {
    let field = json!({"content": "json", "transform": {"a": "{content}", "b": ["{content}"]}});
    let template = template(&json!({ "x": field }));
    let tools = [json!({"name": "f", "parameters": {}})];
    let options = Options {
        tools: &tools,
        ..Options::default()
    };
    let objects = r#"{"a":"#.repeat(985) + "1" + &"}".repeat(985);
    let message = template.parse(&objects, &options).expect("a message");
    drop(message.to_json());
    let lists = "[".repeat(2000);
    let error = template.parse(&lists, &options).expect_err("too deep");
    assert!(matches!(
        error,
        ParseError::Raised {
            kind: Kind::Recursion,
            ..
        }
    ));
}

fn refusal(json: &str) -> TemplateError {
    ResponseTemplate::from_text(json).expect_err("no template")
}

#[test]
fn a_refusal_names_the_place() {
    let error = refusal("{\n  \"fields\": }");
    assert_eq!(error.kind, TemplateErrorKind::Syntax);
    assert!(error.to_string().contains("line 2 column 13"), "{error}");

    let error = refusal(r#"{"start_anchor": "a", "fields": {"calls": {"close_pattern": "a**"}}}"#);
    assert_eq!(error.path, "fields.calls.close_pattern");
    assert_eq!(error.kind, TemplateErrorKind::Refused(Kind::Value));
    assert_eq!(
        error.to_string(),
        "fields.calls.close_pattern: a repeat is repeated, at character 2 of the pattern"
    );
}

#[test]
fn what_is_not_supported_is_refused_with_its_place() {
    for pattern in [
        r"(?i)a",
        r"\p{L}",
        "(?:a){e<=1}",
        "(?<=a+)b",
        r"(a)\1",
        ".a",
        "[[:alpha:]]",
        "(?(1)a)",
        "(?R)",
        "(?|a|b)",
        r"\Ka",
        r"\X",
        r"(?<é>a)",
        "(*FAIL)",
        r"\N{DIGIT ONE}",
        "(?x) a",
        "a{1000}{1000}",
    ] {
        let json = json!({"start_anchor": "a", "fields": {"x": {"open_pattern": pattern, "transform": 1}}});
        let error = ResponseTemplate::from_json(&json).expect_err(pattern);
        let is_refused = error.kind == TemplateErrorKind::Unsupported || pattern == "a{1000}{1000}";
        assert!(is_refused, "{pattern}: {error}");
        assert_eq!(error.path, "fields.x.open_pattern");
    }
    let many = "(?:(?:a{50}){50}){50}";
    let args = json!({"value_parser": {"name": "xml-inline", "args": {"tag_pattern": many}}, "tag_pattern": "a"});
    let json = json!({"start_anchor": "a", "fields": {"x": {"content": "xml-inline", "content_args": args}}});
    let error = ResponseTemplate::from_json(&json).expect_err("too large a pattern");
    assert_eq!(
        error.path,
        "fields.x.content_args.value_parser.args.tag_pattern"
    );
}

/// Each of these takes an inspection for ever, if it has no limit.
#[test]
fn an_inspection_of_a_hostile_template_ends() {
    let many: Value = (0..200)
        .map(|at| {
            (
                format!("f{at}"),
                json!({"open_pattern": r"(?:a|aa)+b", "close": "c"}),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    let long = r"(?:a?b*){60}".repeat(60);
    for fields in [
        many,
        json!({"content": {"close_pattern": long}}),
        json!({"content": {"close_pattern": r"(?:(?:(?:a{60}){60}){10}|b)"}}),
        json!({"content": {"open_pattern": format!("{}x{}", "(?:a|b".repeat(90), ")*".repeat(90)), "close": "c"}}),
    ] {
        let started = std::time::Instant::now();
        let _ = template(&fields).inspect(&[]);
        let took = started.elapsed();
        assert!(took.as_secs() < 60, "{took:?}");
    }
}

#[test]
fn a_response_template_with_very_many_fields_is_refused_at_once() {
    let with = |count: usize| {
        let fields = (0..count).map(|at| (format!("f{at}"), json!({"open": format!("<{at}>")})));
        let fields: serde_json::Map<String, Value> = fields.collect();
        ResponseTemplate::from_json(&json!({"start_anchor": "a", "fields": fields}))
    };
    assert!(with(200).is_ok());
    let error = with(201).expect_err("too many fields");
    assert_eq!(error.kind, TemplateErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "fields: 201 fields, where at most 200 are expected"
    );
}
