//! Where the bytes of prompts come from.

// The helpers of a test may panic as the test itself does, and the suite's own files are regular ones.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::fs;
use std::path::Path;

use rolecall_go::{
    Case, Conversation, Dialect, GoEngine, Input, InputKind, Limits, Observer, Origin, Outcome,
    Program, Span, Template, Wanted,
};
use serde_json::{Value, json};

/// A prompt with its spans. The traced render must have the outcome of a plain one.
fn traced(program: &impl Program, case: &Case) -> Option<(String, Vec<Span>)> {
    let conversation = Conversation::new(case);
    let mut provenance = Observer::of(&[Wanted::Spans]);
    let outcome = program.render_with(&conversation, &mut provenance);
    assert_eq!(outcome, program.render(&conversation));
    let Outcome::Rendered { text } = outcome else {
        assert_eq!(provenance.spans, None);
        return None;
    };
    Some((text, provenance.spans.unwrap()))
}

/// The spans of a prompt, each as `text = origin`.
fn lines(source: &str, case: &Case) -> Vec<String> {
    let template = Template::from_source("t", Dialect::Go, source);
    let program = GoEngine::new().program(&template).unwrap();
    let (prompt, spans) = traced(&program, case)
        .unwrap_or_else(|| panic!("{:?}", program.render(&Conversation::new(case))));
    check(source, case, &prompt, &spans);
    let line = |span: &Span| {
        let text = &prompt[span.prompt.clone()];
        let origin = match &span.origin {
            Origin::Literal { source: place } => format!("literal {}", &source[place.clone()]),
            Origin::Input { input, bytes } => {
                format!("{} {}..{}", input.path, bytes.start, bytes.end)
            }
            Origin::Made { from } => {
                let paths: Vec<_> = from.iter().map(|input| input.path.as_str()).collect();
                format!("made {}", paths.join(" + "))
            }
        };
        let done = span.operations.join(" ");
        let done = if done.is_empty() {
            done
        } else {
            format!(" | {done}")
        };
        format!("{text:?} = {}{done}", origin.trim_end())
    };
    spans.iter().map(line).collect()
}

/// A text of a case by the path of its input; none if the case has no such text.
fn text_at<'c>(case: &'c Value, path: &str) -> Option<&'c str> {
    let mut value = case;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("[\"") {
            let (name, after) = after.split_once("\"]")?;
            value = value.get(serde_json::from_str::<String>(&format!("\"{name}\"")).ok()?)?;
            rest = after;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (number, after) = after.split_once(']')?;
            value = value.get(number.parse::<usize>().ok()?)?;
            rest = after;
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            value = value.get(&name[..end])?;
            rest = &name[end..];
        }
    }
    value.as_str()
}

#[derive(Default)]
struct Checked {
    bytes: usize,
    exact: usize,
    /// Bytes that were compared with their source.
    compared: usize,
}

/// The operations that keep the bytes that they keep as they are.
const FAITHFUL: [&str; 5] = ["json", "print", "printf", "println", "slice"];

/// Checks that spans cover a prompt, and that pieces have the bytes of their sources.
fn check(source: &str, case: &Case, prompt: &str, spans: &[Span]) -> Checked {
    let written = json!({
        "messages": case.messages, "tools": case.tools, "think": case.variables.get("think"),
        "reasoning_effort": case.variables.get("reasoning_effort"),
    });
    let mut checked = Checked::default();
    for span in spans {
        assert_eq!(span.prompt.start, checked.bytes, "{spans:?}");
        assert!(!span.prompt.is_empty());
        checked.bytes = span.prompt.end;
        let here = &prompt.as_bytes()[span.prompt.clone()];
        checked.exact += if span.origin.is_exact() {
            here.len()
        } else {
            0
        };
        let is_faithful = span
            .operations
            .iter()
            .all(|operation| FAITHFUL.contains(operation));
        let there = match &span.origin {
            Origin::Literal { source: place } => source.as_bytes().get(place.clone()),
            Origin::Input { input, bytes } => {
                let text = text_at(&written, &input.path);
                text.and_then(|text| text.as_bytes().get(bytes.clone()))
            }
            Origin::Made { .. } => None,
        };
        if let Some(there) = there.filter(|there| is_faithful && there.len() == here.len()) {
            assert_eq!(there, here, "{span:?}");
            checked.compared += here.len();
        }
    }
    assert_eq!(checked.bytes, prompt.len());
    checked
}

fn case(messages: &[Value]) -> Case {
    Case::from_messages(messages.to_vec())
}

fn hello() -> Case {
    case(&[json!({"role": "user", "content": "Hello <b>"})])
}

#[test]
fn texts_of_the_template_have_their_places() {
    for (body, expected) in [
        (
            "a {{- /* x */ -}} b",
            vec![r#""a" = literal a"#, r#""b" = literal b"#],
        ),
        (
            "a{{/* x */}}b",
            vec![r#""a" = literal a"#, r#""b" = literal b"#],
        ),
        (
            "é \n {{- 1 -}} z",
            vec![r#""é" = literal é"#, r#""1" = made"#, r#""z" = literal z"#],
        ),
        ("a{ {{- 1 }}", vec![r#""a{" = literal a{"#, r#""1" = made"#]),
        (
            "a{ {{- /* x */}}b",
            vec![r#""a{" = literal a{"#, r#""b" = literal b"#],
        ),
        (
            r#"{{ "plain" }}{{ "a\nb" }}{{ `raw\` }}"#,
            vec![
                r#""plain" = literal plain"#,
                r#""a\nb" = literal "a\nb""#,
                r#""raw\\" = literal raw\"#,
            ],
        ),
        (
            r#"{{ define "n" }}<{{ . }}>{{ end }}{{ template "n" "x" }}"#,
            vec![
                r#""<" = literal <"#,
                r#""x" = literal x"#,
                r#"">" = literal >"#,
            ],
        ),
        (
            r#"{{ slice "plain" 1 3 }}{{ printf "%s-%d" "a" 2 }}"#,
            vec![
                r#""la" = literal la | slice"#,
                r#""a" = literal a | printf"#,
                r#""-" = literal - | printf"#,
                r#""2" = made | printf"#,
            ],
        ),
    ] {
        let source = format!("{{{{ $m := .Messages }}}}{body}");
        assert_eq!(lines(&source, &hello()), expected, "{body}");
    }
}

#[test]
fn texts_of_the_conversation_have_their_places() {
    for (source, expected) in [
        (
            "{{ range .Messages }}{{ .Role }}{{ .Content }}{{ end }}",
            vec![
                r#""user" = messages[0].role 0..4"#,
                r#""Hello <b>" = messages[0].content 0..9"#,
            ],
        ),
        (
            "{{ with $m := index .Messages 0 }}{{ slice .Content 1 3 }}{{ print (slice $m.Content 3 5) \"!\" }}{{ end }}",
            vec![
                r#""el" = messages[0].content 1..3 | slice"#,
                r#""lo" = messages[0].content 3..5 | slice print"#,
                r#""!" = literal ! | print"#,
            ],
        ),
        (
            "{{ range .Messages }}{{ .Content | json }}{{ end }}",
            vec![
                r#""\"" = made messages[0].content | json"#,
                r#""Hello " = messages[0].content 0..6 | json"#,
                r#""\\u003c" = messages[0].content 6..7 | json"#,
                r#""b" = messages[0].content 7..8 | json"#,
                r#""\\u003e" = messages[0].content 8..9 | json"#,
                r#""\"" = made messages[0].content | json"#,
            ],
        ),
        (
            "{{ range .Messages }}{{ html .Content }}{{ end }}",
            vec![
                r#""Hello " = messages[0].content 0..6 | html"#,
                r#""&lt;" = messages[0].content 6..7 | html"#,
                r#""b" = messages[0].content 7..8 | html"#,
                r#""&gt;" = messages[0].content 8..9 | html"#,
            ],
        ),
        (
            "{{ len .Messages }}{{ currentDate }}",
            vec![
                r#""1" = made messages"#,
                r#""2026-01-02" = currentDate 0..10"#,
            ],
        ),
        (
            "{{ range .Messages }}{{ printf \"%7.3s|\" .Content }}{{ end }}",
            vec![
                r#""    " = made messages[0].content | printf"#,
                r#""Hel" = messages[0].content 0..3 | printf"#,
                r#""|" = literal | | printf"#,
            ],
        ),
        (
            "{{ range $i, $m := .Messages }}{{ $i }}{{ with .Content }}{{ . }}{{ end }}{{ end }}",
            vec![r#""0" = made"#, r#""Hello <b>" = messages[0].content 0..9"#],
        ),
        // Turn by turn.
        (
            "{{ .System }}[{{ .Prompt }}]",
            vec![
                r#""[" = literal ["#,
                r#""Hello <b>" = messages[0].content 0..9"#,
                r#""]" = literal ]"#,
            ],
        ),
    ] {
        let mut case = hello();
        case.now = "2026-01-02T00:00:00Z".parse().unwrap();
        assert_eq!(lines(source, &case), expected, "{source}");
    }
}

#[test]
fn what_ollama_joins_keeps_its_sources() {
    let messages = [
        json!({"role": "system", "content": "S"}),
        json!({"role": "User", "content": "a"}),
        json!({"role": "user", "content": [{"type": "text", "text": "b"}]}),
        json!({"role": "system", "content": "T"}),
    ];
    let source = "{{ .System }};{{ range slice .Messages 1 2 }}{{ .Role }}:{{ .Content }}{{ end }}";
    assert_eq!(
        lines(source, &case(&messages)),
        [
            r#""S" = messages[0].content 0..1"#,
            r#""\n\n" = made messages[0].content + messages[3].content"#,
            r#""T" = messages[3].content 0..1"#,
            r#"";" = literal ;"#,
            r#""user" = messages[1].role 0..4 | lower"#,
            r#"":" = literal :"#,
            r#""a" = messages[1].content 0..1"#,
            r#""\n\n" = made messages[1].content + messages[2].content[0].text"#,
            r#""b" = messages[2].content[0].text 0..1"#,
        ]
    );
}

#[test]
fn a_call_has_the_places_of_its_parts() {
    let messages = [
        json!({"role": "assistant", "tool_calls": [
            {"id": "x", "function": {"name": "f", "arguments": "{\"a b\": \"c\", \"n\": 2}"}}]}),
        json!({"role": "tool", "tool_call_id": "x", "content": "r"}),
    ];
    let source = "{{ range .Messages }}{{ .ToolName }}{{ range .ToolCalls }}{{ .Function.Name }}\
                  {{ .Function.Arguments }}{{ end }}{{ end }}";
    let arguments = "messages[0].tool_calls[0].function.arguments";
    assert_eq!(
        lines(source, &case(&messages)),
        [
            r#""f" = messages[0].tool_calls[0].function.name 0..1"#.to_owned(),
            format!(r#""{{\"" = made {arguments} | json"#),
            format!(r#""a b" = {arguments}["a b"] 0..3 | key json"#),
            format!(r#""\":\"" = made {arguments} | json"#),
            format!(r#""c" = {arguments}["a b"] 0..1 | json"#),
            format!(r#""\",\"" = made {arguments} | json"#),
            format!(r#""n" = {arguments}.n 0..1 | key json"#),
            format!(r#""\":" = made {arguments} | json"#),
            format!(r#""2" = made {arguments}.n | json"#),
            format!(r#""}}" = made {arguments} | json"#),
            r#""f" = messages[0].tool_calls[0].function.name 0..1"#.to_owned(),
        ]
    );
}

#[test]
fn tools_and_settings_have_their_places() {
    let mut case = hello();
    case.tools = Some(vec![
        json!({"type": "function", "function": {"name": "add", "parameters": {
        "properties": {"x": {"type": "string"}}}}}),
    ]);
    case.variables.insert("think".to_owned(), json!("high"));
    let source = "{{ .Messages | len }}{{ range .Tools }}{{ .Function.Name }}\
                  {{ range $k, $v := .Function.Parameters.Properties }}{{ $k }}{{ $v.Type }}\
                  {{ toTypeScriptType $v }}{{ end }}{{ end }}{{ .ThinkLevel }}{{ .Think }}";
    assert_eq!(
        lines(source, &case),
        [
            r#""1" = made messages"#,
            r#""add" = tools[0].function.name 0..3"#,
            r#""x" = tools[0].function.parameters.properties.x 0..1 | key"#,
            r#""string" = tools[0].function.parameters.properties.x.type 0..6"#,
            r#""string" = made tools[0].function.parameters.properties.x | toTypeScriptType"#,
            r#""high" = think 0..4"#,
            r#""true" = made think"#,
        ]
    );
}

#[test]
fn marks_of_images_are_made() {
    let messages = [json!({"role": "user", "content": "a[img]b", "images": ["AAAA", "AAAA"]})];
    assert_eq!(
        lines(
            "{{ range .Messages }}{{ .Content }}{{ end }}",
            &case(&messages)
        ),
        [
            r#""[img-1]" = made messages[0].images[1]"#,
            r#""a" = messages[0].content 0..1"#,
            r#""[img-0]" = made messages[0].images[0]"#,
            r#""b" = messages[0].content 6..7"#,
        ]
    );
}

#[test]
fn half_a_character_is_repaired() {
    let messages = [json!({"role": "user", "content": "aé"})];
    assert_eq!(
        lines(
            "{{ range .Messages }}{{ slice .Content 0 2 }}.{{ end }}",
            &case(&messages)
        ),
        [
            r#""a" = messages[0].content 0..1 | slice"#,
            "\"\u{fffd}\" = messages[0].content 1..2 | slice utf-8",
            r#""." = literal ."#,
        ]
    );
}

#[test]
fn a_traced_render_has_the_limits_of_a_plain_one() {
    let source = "{{ range .Messages }}{{ printf \"%q\" .Content }}{{ json . }}{{ slice .Content 1 }}\
                  {{ html .Role .Content }}{{ end }}";
    let template = Template::from_source("t", Dialect::Go, source);
    let case = hello();
    let whole = Limits::default();
    let mut rendered = 0;
    for less in 0..400 {
        for limits in [
            Limits {
                fuel: less,
                ..whole.clone()
            },
            Limits {
                work: less * 20,
                ..whole.clone()
            },
            Limits {
                output: usize::try_from(less).unwrap(),
                ..whole.clone()
            },
        ] {
            let program = GoEngine::with_limits(limits).program(&template).unwrap();
            rendered += usize::from(traced(&program, &case).is_some());
        }
    }
    assert!((1..1200).contains(&rendered), "{rendered}");
}

#[test]
fn an_input_says_its_kind() {
    let template =
        Template::from_source("t", Dialect::Go, "{{ .Messages | len }}{{ currentDate }}");
    let program = GoEngine::new().program(&template).unwrap();
    let (_, spans) = traced(&program, &hello()).unwrap();
    let Origin::Made { from } = &spans[0].origin else {
        panic!("{spans:?}");
    };
    let messages = Input {
        kind: InputKind::Message,
        path: "messages".to_owned(),
    };
    assert_eq!(*from[0], messages);
    assert!(
        matches!(&spans[1].origin, Origin::Input { input, .. } if input.kind == InputKind::Clock)
    );
}

#[test]
fn every_construct_has_its_spans() {
    let table = include_str!("../../../cases/constructs/go.json");
    let table: Value = serde_json::from_str(table).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap();
    let mut case = case(&list(&table["case"]["messages"]));
    case.tools = Some(list(&table["case"]["tools"]));
    case.variables = table["case"]["variables"].as_object().cloned().unwrap();
    let mut prompts = 0;
    for row in list(&table["rows"]) {
        let source = row["template"].as_str().unwrap();
        let template = Template::from_source("t", Dialect::Go, source);
        let Ok(program) = GoEngine::new().program(&template) else {
            continue;
        };
        if let Some((prompt, spans)) = traced(&program, &case) {
            check(source, &case, &prompt, &spans);
            prompts += 1;
        }
    }
    assert!(prompts > 100, "{prompts}");
}

/// The suite's conversations, without the options that a front serves.
fn suite_cases(folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        for written in file["cases"].as_object().unwrap().values() {
            let list = |name: &str| written[name].as_array().cloned();
            let mut case = Case::from_messages(list("messages").unwrap_or_default());
            case.tools = list("tools");
            case.variables = written["variables"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            cases.push(case);
        }
    }
    cases
}

#[test]
fn every_prompt_of_the_suite_has_its_spans() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let cases = suite_cases(&root.join("conversations"));
    let mut prompts = 0;
    for entry in fs::read_dir(root.join("templates")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "gotmpl")
        {
            continue;
        }
        let name = path.file_stem().unwrap().display();
        let source = fs::read_to_string(&path).unwrap();
        let template = Template::from_source("t", Dialect::Go, source.as_str());
        let program = GoEngine::new().program(&template).unwrap();
        let mut all = Checked::default();
        for case in &cases {
            let Some((prompt, spans)) = traced(&program, case) else {
                continue;
            };
            let checked = check(&source, case, &prompt, &spans);
            all.bytes += checked.bytes;
            all.exact += checked.exact;
            all.compared += checked.compared;
            prompts += 1;
        }
        let share = |part: usize| part * 100 / all.bytes;
        assert!(all.compared > 0, "{name}");
        // This template shows what Go makes of values of all kinds.
        if path.file_stem().is_some_and(|name| name != "go-values") {
            assert!(share(all.exact) >= 95, "{name}: {} %", share(all.exact));
            assert!(
                share(all.compared) >= 60,
                "{name}: {} %",
                share(all.compared)
            );
        }
    }
    assert!(prompts > 1000, "{prompts}");
}
