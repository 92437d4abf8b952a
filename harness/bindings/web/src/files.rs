//! Files that somebody drops on the page.

use std::path::Path;

use rolecall_core::problem::Problem;
use rolecall_io::source;
use rolecall_suite::conversation;
use serde_json::{Value, json};

/// The conversations in a file, each with the keys of a case.
pub(crate) fn conversations(name: &str, file: &[u8]) -> Result<Value, String> {
    let path = Path::new(name);
    let text = std::str::from_utf8(file).map_err(|_| format!("{name} is not UTF-8"))?;
    let found = conversation::read(path, text).map_err(|problems| in_words(&problems))?;
    let note = found.note(path).map(|note| note.to_string());
    Ok(json!({
        "conversations": found.read.iter()
            .map(|one| json!({ "name": one.name, "conversation": one.fields }))
            .collect::<Vec<_>>(),
        "note": note,
        "problems": found.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
    }))
}

/// The templates in the beginning of a GGUF file. `more` says that more of the file is needed.
pub(crate) fn gguf(name: &str, start: &[u8]) -> Result<Value, String> {
    let found = source::templates_in_start(Path::new(name), start);
    let Some(found) = found.map_err(|problem| problem.to_string())? else {
        return Ok(json!({ "more": true }));
    };
    if found.templates.is_empty() {
        return Err(in_words(&found.problems));
    }
    let templates = found.templates.iter().map(|one| {
        json!({ "name": one.name.as_str(), "source": one.source, "special_tokens": one.special_tokens })
    });
    Ok(json!({ "templates": templates.collect::<Vec<_>>() }))
}

fn in_words(problems: &[Problem]) -> String {
    let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
    words.join("\n")
}
