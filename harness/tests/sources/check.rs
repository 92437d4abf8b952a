//! `check` with the files that users have.

use std::process::Output;

use serde_json::Value;

use super::Folder;
use super::build::Gguf;
use super::ollama;
use crate::folder::has;

/// It breaks no contract of severity error or warning.
const SOUND: &str = "{%- for m in messages %}\
    {%- if m.role not in ['system', 'user', 'assistant'] or m.tool_calls is defined or tools %}\
    {{- raise_exception('Only system, user and assistant, please.') }}{%- endif %}\
    {%- if m.content is none or m.content is undefined %}{{- raise_exception('No content.') }}{%- endif %}\
    {{- '<|' + m.role + '|>' }}\
    {%- if m.content is string %}{{- m.content }}{%- else %}{%- for part in m.content %}{{- part.text }}{%- endfor %}{%- endif %}\
    {{- '<|end|>' }}{%- endfor %}{{- '<|assistant|>' if add_generation_prompt }}";

/// It leaks `None`, and drops all system messages but the first.
const BROKEN: &str = "{% for m in messages %}{% if m.role != 'system' or loop.first %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

fn check(folder: &Folder, arguments: &[&str]) -> Output {
    folder.run(&[&["check"], arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn models_and_stores_are_checked_as_they_lie_there() {
    let store = ollama::store();
    store.0.write("model.gguf", Gguf::model(BROKEN).bytes());
    store.0.write(
        "hf/tokenizer_config.json",
        serde_json::json!({"chat_template": SOUND}).to_string(),
    );
    let output = check(&store.0, &["model.gguf", "hf", "models"]);
    assert_eq!(output.status.code(), Some(1), "a model leaks");
    let table = text(&output.stdout);
    has(
        &table,
        &[
            "template ",
            "\nmodel ",
            "\nhf ",
            "\ngemma3@12b ",
            "\nhf.co/org/both",
            "\nbroken on servers that pass conversations to the template unchanged: no-null-leak 1\n",
            "templates in ",
        ],
    );
}

#[test]
fn what_is_broken_is_reported_and_the_rest_is_checked() {
    let folder = Folder::new();
    folder.write("sound.jinja", SOUND);
    folder.write("torn.gguf", &Gguf::model("x").bytes()[..80]);
    folder.write("bad/tokenizer_config.json", "{\n  \"chat_template\": [}");
    folder.write("unparsed.jinja", "{% if %}");
    std::fs::create_dir(folder.path("nothing")).unwrap();
    let huge = std::fs::File::create(folder.path("huge.jinja")).unwrap();
    huge.set_len(10 << 30).unwrap();
    let output = check(
        &folder,
        &[
            "sound.jinja",
            "torn.gguf",
            "bad",
            "unparsed.jinja",
            "nothing",
            "huge.jinja",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
    has(
        &text(&output.stderr),
        &[
            "torn.gguf, byte ",
            "bad/tokenizer_config.json:2:",
            "nothing: ",
            "huge.jinja: ",
        ],
    );
    has(
        &text(&output.stdout),
        &[
            "sound (jinja), front transformers, engine rolecall-jinja\n",
            "unparsed (jinja), front transformers, engine rolecall-jinja\n",
            "error unparsed.jinja:1:",
        ],
    );
    let output = check(&folder, &["nothing"]);
    assert_eq!(output.status.code(), Some(2));
    has(&text(&output.stderr), &["there is no template to check"]);
}

/// A model with a template of its own for conversations with tools.
#[test]
fn a_model_with_a_template_for_tools_gives_the_same_each_time() {
    let tools = format!("{{{{ tools | tojson }}}}{BROKEN}");
    let templates = serde_json::json!({"chat_template": [
        {"name": "default", "template": BROKEN},
        {"name": "tool_use", "template": format!("{tools}\n\n")},
    ]});
    let folder = Folder::new();
    folder.write("m/tokenizer_config.json", templates.to_string());
    let output = check(&folder, &["--format", "json", "m"]);
    let cards: Value = serde_json::from_slice(&output.stdout).unwrap();
    for card in cards["cards"].as_array().unwrap() {
        let findings = card["findings"].as_array().unwrap();
        let about = |id: &str| findings.iter().find(|finding| finding["contract"] == id);
        for id in ["deterministic", "source-newlines"] {
            assert_eq!(about(id).unwrap()["verdict"], "holds", "{id}: {card}");
        }
    }
}
