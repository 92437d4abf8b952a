//! Model folders: compares the templates of each folder in a table with those that transformers
//! uses, recorded by `scripts/record-sources.py`, and checks the notes.

use std::collections::BTreeMap;

use rolecall_core::{Case, Template};
use rolecall_front::front::Front;
use rolecall_io::source::SourceContent;
use serde_json::Value;

use super::{Folder, notes, problem_in, problems, templates};

/// Folders that transformers refuses and the harness reads, each with the reason.
const READ_ALL_THE_SAME: &[(&str, &str)] = &[
    (
        "tokens as plain objects",
        "other engines read them; there is a note",
    ),
    ("a plain object next to an added_tokens_decoder", "as above"),
    (
        "additional special tokens in the map",
        "no template sees them",
    ),
];

/// A folder of the table, on disk.
fn folder_of(row: &Value) -> Folder {
    let folder = Folder::new();
    folder.write("m/tokenizer.json", "{}");
    for (name, content) in row["files"].as_object().unwrap() {
        let text = match content {
            Value::String(text) if name.contains(".jinja") => text.clone(),
            other => other.to_string(),
        };
        folder.write(&format!("m/{name}"), text);
    }
    folder
}

/// A tokenizer's or a processor's templates by name, as in the table.
fn recorded(side: &Value) -> BTreeMap<String, String> {
    match &side["templates"] {
        Value::String(text) => BTreeMap::from([("default".to_owned(), normalised(text))]),
        Value::Object(named) => named
            .iter()
            .map(|(name, text)| (name.clone(), normalised(text.as_str().unwrap())))
            .collect(),
        _ => BTreeMap::new(),
    }
}

fn find<'f>(found: &'f SourceContent, name: &str) -> Option<&'f Template> {
    found
        .templates
        .iter()
        .find(|template| template.name.as_str() == name)
}

fn has_default(template: &Template) -> bool {
    let mut names = template.named.iter();
    template.named.is_empty() || names.any(|(name, _)| name == "default")
}

/// Python's text mode normalises line endings. Here they are kept, and the engine normalises them.
fn normalised(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[test]
fn folders_give_what_transformers_takes_from_them() {
    let table: Vec<Value> = serde_json::from_str(include_str!("../data/sources.json")).unwrap();
    assert!(table.len() > 50, "{} rows", table.len());
    for row in &table {
        let about = row["about"].as_str().unwrap();
        let folder = folder_of(row);
        let found = folder.read("m");
        let (tokenizer, processor) = (&row["tokenizer"], &row["processor"]);
        if !tokenizer["error"].is_null() {
            let is_known = READ_ALL_THE_SAME.iter().any(|(known, _)| *known == about);
            // With or without a template, the folder must not count as sound.
            let is_refused = found
                .problems
                .iter()
                .any(|problem| !problem.message.contains("has no chat template"));
            assert_eq!(is_refused, !is_known, "{about}: {found:#?}");
            continue;
        }
        let mut expected = recorded(tokenizer);
        let of_processor = recorded(processor);
        if expected.is_empty() {
            expected.clone_from(&of_processor);
        } else if let Some(other) = of_processor.get("default")
            && expected.get("default").map(|own| own.trim_end()) != Some(other.trim_end())
        {
            let other = other.clone();
            expected.insert("processor".to_owned(), other);
        }
        let given: BTreeMap<String, String> = found
            .templates
            .iter()
            // A template that represents several is none of them if none is the default.
            .filter(|template| has_default(template))
            .map(|template| {
                let name = template.name.as_str();
                let name = name.strip_prefix("m@").unwrap_or("default");
                (name.to_owned(), normalised(&template.source))
            })
            .collect();
        assert_eq!(given, expected, "{about}: {found:#?}");
        let has_problem = !found.problems.is_empty();
        assert_eq!(has_problem, expected.is_empty(), "{about}: {found:#?}");
        if tokenizer["templates"].is_null() {
            continue;
        }
        for (side, tools) in [("plain", None), ("with_tools", Some(Vec::new()))] {
            let mut case = Case::from_messages(Vec::new());
            case.tools = tools;
            let chosen = find(&found, "m")
                .and_then(|template| Front::Transformers.choose(template, &case).ok())
                .map(|template| normalised(&template.source));
            let expected = tokenizer[side].as_str().map(normalised);
            assert_eq!(chosen, expected, "{about}: {side}");
        }
    }
}

/// The same table for the tokens, with a template that uses them.
#[test]
fn templates_see_the_special_tokens_that_transformers_gives_them() {
    let table: Vec<Value> = serde_json::from_str(include_str!("../data/sources.json")).unwrap();
    let mut compared = 0;
    for row in &table {
        let about = row["about"].as_str().unwrap();
        if row["tokenizer"]["error"].is_string() {
            continue;
        }
        let folder = folder_of(row);
        folder.write("m/chat_template.jinja", "x");
        let found = folder.read("m");
        let template = find(&found, "m").unwrap_or_else(|| panic!("{about}: {found:#?}"));
        assert_eq!(
            Value::Object(template.special_tokens.clone()),
            row["tokenizer"]["special_tokens"],
            "{about}"
        );
        let keys: Vec<_> = template.special_tokens.keys().collect();
        let recorded = row["tokenizer"]["special_tokens"].as_object().unwrap();
        assert_eq!(keys, recorded.keys().collect::<Vec<_>>(), "{about}");
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

/// transformers keeps it in `tokenizer_config.json`, next to the chat template.
#[test]
fn every_template_of_a_model_knows_how_its_answers_are_read() {
    let read = |config: &str| {
        let folder = Folder::new();
        folder.write("m/tokenizer_config.json", config);
        folder.write("m/chat_template.jinja", "x");
        folder.write("m/additional_chat_templates/tool_use.jinja", "y");
        let found = folder.read("m");
        let templates = found.templates.iter();
        let responses = templates.map(|template| template.response_template.clone());
        responses.collect::<Vec<_>>()
    };
    let template = serde_json::json!({"start_anchor": "A", "fields": {"content": {}}});
    let config = format!(r#"{{"response_template": {{}}, "response_template": {template}}}"#);
    assert_eq!(read(&config), vec![Some(template); 2]);
    assert_eq!(read(r#"{"response_template": null}"#), [None, None]);
    assert_eq!(read("{}"), [None, None]);
}

/// Templates that only a processor has need the front of a processor, and only in a model that has
/// one.
#[test]
fn a_model_with_a_processor_is_used_by_it() {
    let fronts = |files: &[(&str, &str)]| {
        let folder = Folder::new();
        folder.write("m/config.json", "{}");
        for (name, text) in files {
            folder.write(&format!("m/{name}"), text);
        }
        let found = folder.read("m");
        let of = |template: &Template| format!("{}: {}", template.name, Front::of(template));
        found.templates.iter().map(of).collect::<Vec<_>>()
    };
    let file = ("chat_template.jinja", "F");
    let in_config = ("tokenizer_config.json", r#"{"chat_template": "F"}"#);
    let by_class = ("tokenizer_config.json", r#"{"processor_class": "P"}"#);
    let preprocessor = ("preprocessor_config.json", "{}");
    let processor = ("processor_config.json", "{}");
    let legacy = ("chat_template.json", r#"{"chat_template": "F"}"#);
    let other = ("chat_template.json", r#"{"chat_template": "L"}"#);
    let named = ("additional_chat_templates/tool_use.jinja", "T");
    let text_only = ["m: transformers"];
    let seeing = ["m: transformers-processor"];
    assert_eq!(fronts(&[file]), text_only);
    assert_eq!(fronts(&[file, by_class]), text_only);
    for evidence in [preprocessor, processor, legacy] {
        assert_eq!(fronts(&[file, evidence]), seeing, "{evidence:?}");
    }
    assert_eq!(fronts(&[in_config, legacy]), seeing);
    assert_eq!(fronts(&[legacy]), seeing);
    // A processor does not use the tokenizer's own templates.
    assert_eq!(fronts(&[in_config, processor]), text_only);
    let both = ["m: transformers", "m@processor: transformers-processor"];
    assert_eq!(fronts(&[file, other]), both);
    let all = [
        "m: transformers-processor",
        "m@tool_use: transformers-processor",
    ];
    assert_eq!(fronts(&[file, named, preprocessor]), all);
}

#[test]
fn sources_that_disagree_are_reported_with_the_one_that_is_used() {
    let folder = Folder::new();
    folder.write("m/chat_template.jinja", "F\n");
    folder.write(
        "m/tokenizer_config.json",
        r#"{"chat_template": [{"name": "default", "template": "C"}, {"name": "rag", "template": "R"}]}"#,
    );
    folder.write("m/chat_template.json", r#"{"chat_template": "L"}"#);
    folder.write("m/other.jinja", "O");
    let found = folder.read("m");
    assert_eq!(templates(&found), ["m: F\n", "m@processor: L"]);
    let notes = notes(&found).join("\n");
    for expected in [
        "tokenizer_config.json: the template `default` differs from ",
        "chat_template.jinja, which transformers 5.24 uses",
        "tokenizer_config.json: the template `rag` is not used",
        "chat_template.json: the processor's template, here m@processor; AutoTokenizer uses ",
        "other.jinja: transformers does not read this file",
    ] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }

    // Texts that differ only in their line endings do not disagree.
    folder.write("m/tokenizer_config.json", r#"{"chat_template": "F\r\n"}"#);
    folder.write("m/chat_template.json", r#"{"chat_template": "F"}"#);
    std::fs::remove_file(folder.path("m/other.jinja")).unwrap();
    let found = folder.read("m");
    assert_eq!(templates(&found), ["m: F\n"]);
    assert_eq!(found.notes, []);
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    for (file, text, expected) in [
        (
            "tokenizer_config.json",
            "{\n  \"chat_template\": 5\n}",
            "m/tokenizer_config.json:2:20: `chat_template` must be a string or a list",
        ),
        (
            "tokenizer_config.json",
            "{\n  \"chat_template\": [{\"name\": \"a\"}]\n}",
            "m/tokenizer_config.json:2:21: the named template \"a\" has no string `template`",
        ),
        (
            "tokenizer_config.json",
            "{\"bos_token\":\n 1}",
            "m/tokenizer_config.json:2:2: the token \"bos_token\" must be a string",
        ),
        (
            "tokenizer_config.json",
            "{\"chat_template\": \"x\",\n",
            "m/tokenizer_config.json:2:1: not JSON: EOF",
        ),
        (
            "tokenizer_config.json",
            "\u{FEFF}{}",
            "begins with a byte order mark",
        ),
        ("tokenizer_config.json", "", "the file is empty"),
        (
            "tokenizer_config.json",
            "[]",
            "m/tokenizer_config.json:1:1: not an object",
        ),
        (
            "special_tokens_map.json",
            "{\"bos_token\": [\"<s>\"]}",
            "m/special_tokens_map.json:1:15: the token \"bos_token\" must be",
        ),
        (
            "chat_template.json",
            "{\"template\": \"x\"}",
            "m/chat_template.json: no `chat_template` in it",
        ),
    ] {
        let folder = Folder::new();
        folder.write(&format!("m/{file}"), text);
        let problem = problem_in(folder.0.path(), &folder.read("m"));
        assert!(problem.contains(expected), "{problem}\n{expected}");
    }
    let folder = Folder::new();
    folder.write("m/config.json", "{}");
    folder.write("m/chat_template.jinja", b"ok\nb\xFFd");
    let problem = problem_in(folder.0.path(), &folder.read("m"));
    assert!(
        problem.contains("chat_template.jinja:2:2: not UTF-8"),
        "{problem}"
    );
    std::fs::remove_file(folder.path("m/chat_template.jinja")).unwrap();
    let problem = problem_in(folder.0.path(), &folder.read("m"));
    assert!(
        problem.contains("the model has no chat template"),
        "{problem}"
    );
}

#[test]
fn a_file_with_ten_gigabytes_is_not_read() {
    let folder = Folder::new();
    folder.write("m/config.json", "{}");
    for name in ["m/chat_template.jinja", "m/tokenizer_config.json"] {
        let path = folder.write(name, "");
        std::fs::File::create(&path)
            .unwrap()
            .set_len(10 << 30)
            .unwrap();
        let problem = problem_in(folder.0.path(), &folder.read("m"));
        assert!(
            problem.contains(&format!("{name}: too large: 10737418240 bytes")),
            "{problem}"
        );
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn special_tokens_that_disagree_are_reported_with_those_that_are_used() {
    let folder = Folder::new();
    folder.write("m/chat_template.jinja", "F");
    folder.write(
        "m/tokenizer_config.json",
        r#"{"bos_token": "a", "eos_token": "</s>", "pad_token": "p"}"#,
    );
    folder.write(
        "m/special_tokens_map.json",
        r#"{"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": null}"#,
    );
    let said = notes(&folder.read("m")).join("\n");
    for expected in [
        "special_tokens_map.json: `bos_token` is \"<s>\" here and \"a\" in tokenizer_config.json; transformers 5.24 uses the former",
        "`pad_token` is null here and \"p\" in tokenizer_config.json",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    assert!(!said.contains("eos_token"), "{said}");

    folder.write(
        "m/tokenizer_config.json",
        r#"{"bos_token": "a", "added_tokens_decoder": {}}"#,
    );
    let found = folder.read("m");
    assert_eq!(found.templates[0].special_tokens["bos_token"], "a");
    let said = notes(&found).join("\n");
    assert!(
        said.contains("uses the latter: it does not read this file next to an"),
        "{said}"
    );
}

#[test]
fn special_tokens_that_nothing_sets_are_reported() {
    let folder = Folder::new();
    folder.write("m/config.json", "{}");
    folder.write(
        "m/chat_template.jinja",
        "\u{FEFF}{{ bos_token }}{{ eos_token }}",
    );
    folder.write(
        "m/tokenizer_config.json",
        r#"{"eos_token": {"content": "</s>"}}"#,
    );
    let found = folder.read("m");
    assert_eq!(problems(&found), [""; 0]);
    let notes = notes(&found).join("\n");
    for expected in [
        "line 1: the token \"eos_token\" is an object without",
        "begins with a byte order mark, which is part of every prompt",
        "the template names `bos_token`, but nothing here sets a value",
    ] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }
}
