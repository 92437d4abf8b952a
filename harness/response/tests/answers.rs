//! Answers are read as transformers reads them: `scripts/record-response.py` records how.

use rolecall_response::{Event, Options, ParseError, ResponseTemplate, Value};
use serde_json::{Value as Json, json};

fn recorded() -> Json {
    serde_json::from_str(include_str!("data/answers.json")).expect("JSON")
}

fn rows(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn events(found: &[Event]) -> Json {
    found.iter().map(Event::to_json).collect()
}

fn failure(error: &ParseError) -> Json {
    match error {
        ParseError::Raised { kind, .. } => json!({"error": kind.python_name()}),
        other => json!({"limit": other.to_string()}),
    }
}

/// What comes of an answer in pieces, in the form of the record.
fn read(case: &Json, pieces: &[String]) -> Json {
    let template = match ResponseTemplate::from_json(&case["template"]) {
        Ok(template) => template,
        Err(error) => match error.kind.raised() {
            Some(kind) => return json!({"load": kind.python_name()}),
            None => return json!({"unsupported": error.to_string()}),
        },
    };
    let options = Options {
        prompt: case["prompt"].as_str(),
        tools: rows(&case["tools"]),
        ..Options::default()
    };
    let mut stream = match template.stream(&options) {
        Ok(stream) => stream,
        Err(error) => return json!({"start": failure(&error)}),
    };
    let initial = events(stream.initial_events());
    let fed = pieces.iter().map(|piece| match stream.feed(piece) {
        Ok(found) => events(&found),
        Err(error) => failure(&error),
    });
    let fed: Vec<Json> = fed.collect();
    let end = match stream.finish() {
        Ok((last, message)) => json!({"events": events(&last), "message": message.to_json()}),
        Err(error) => failure(&error),
    };
    json!({"initial": initial, "fed": fed, "end": end})
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect()
}

#[test]
fn templates_are_loaded_and_refused_as_in_transformers() {
    let recorded = recorded();
    let loads = rows(&recorded["loads"]);
    assert!(loads.len() > 100, "{}", loads.len());
    for row in loads {
        let found = match ResponseTemplate::from_json(&row[0]) {
            Ok(_) => Json::Null,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                match error.kind.raised() {
                    Some(kind) => json!(kind.python_name()),
                    None => json!(format!("{:?}", error.kind)),
                }
            }
        };
        assert_eq!(found, row[1], "{}", row[0]);
    }
}

#[test]
fn answers_are_read_as_in_transformers() {
    let recorded = recorded();
    let (mut answers, mut cuts) = (0, 0);
    for case in rows(&recorded["cases"]) {
        for answer in rows(&case["answers"]) {
            answers += 1;
            let text = answer["text"].as_str().expect("a text");
            let about = format!("{}: {text:?}", case["about"]);
            assert_eq!(
                read(case, &[text.to_owned()]),
                answer["whole"],
                "{about}, whole"
            );
            for (way, size) in [("characters", 1), ("fours", 4)] {
                if !answer[way].is_null() {
                    assert_eq!(
                        read(case, &pieces(text, size)),
                        answer[way],
                        "{about}, {way}"
                    );
                }
            }
            let characters: Vec<char> = text.chars().collect();
            for (cut, end) in rows(&answer["cuts"]).iter().enumerate() {
                cuts += 1;
                let (before, after) = characters.split_at(cut);
                let mut found = read(case, &[before.iter().collect(), after.iter().collect()]);
                let mut found = found["end"].take();
                if let Some(end) = found.as_object_mut() {
                    end.remove("events");
                }
                let end = end
                    .as_u64()
                    .and_then(|at| usize::try_from(at).ok())
                    .expect("a number");
                assert_eq!(found, answer["ends"][end], "{about}, cut at {cut}");
            }
        }
    }
    assert!(
        answers > 400 && cuts > 4000,
        "{answers} answers, {cuts} cuts"
    );
}

#[test]
fn every_recorded_value_is_read_back_from_its_json() {
    let recorded = recorded();
    let mut odd = 0;
    for case in rows(&recorded["cases"]) {
        for answer in rows(&case["answers"]) {
            let message = &answer["whole"]["end"]["message"];
            if message.is_null() {
                continue;
            }
            odd += usize::from(message.to_string().contains("\"$"));
            for (name, value) in message.as_object().expect("an object") {
                let read = Value::from_json(value).unwrap_or_else(|| panic!("{name}: {value}"));
                assert_eq!(&read.to_json(), value);
            }
        }
    }
    assert!(odd > 5, "{odd}");
}
