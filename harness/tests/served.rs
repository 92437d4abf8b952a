//! What applications that serve a template make of it: `check --served`.

use crate::folder::Folder;

/// A template of texts. `TOOL` stands for how it prints a tool.
const SOURCE: &str = "{% for tool in tools or [] %}TOOL\n{% endfor %}{% for m in messages %}<|{{ m.role }}|>\
                      {% if m.content is string %}{{ m.content }}{% endif %}\
                      {% for call in m.tool_calls or [] %}{{ call.function.name }}\
                      {% for name, value in call.function.arguments.items() %} {{ name }}: {{ value }}\
                      {% endfor %}{% endfor %}<|end|>{% endfor %}\
                      {% if add_generation_prompt %}<|assistant|>{% endif %}";

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("json.jinja", &SOURCE.replace("TOOL", "{{ tool | tojson }}"));
    folder.write(
        "names.jinja",
        &SOURCE.replace("TOOL", "{{ tool.function.name }}"),
    );
    folder
}

#[test]
fn a_card_says_what_each_application_adds_and_why() {
    let folder = folder();
    let ran = folder.rolecall(&["check", "json.jinja", "--served=vllm,sglang"]);
    let card = ran.stdout();
    let line = |begin: &str| {
        let mut lines = card.lines().map(str::trim);
        let found = lines.find(|line| line.starts_with(begin));
        found
            .unwrap_or_else(|| panic!("{begin}: {card}"))
            .to_owned()
    };
    assert_eq!(
        line("tools ").split_whitespace().collect::<Vec<_>>(),
        ["tools", "same", "adds"]
    );
    assert!(line("the same everywhere:").contains("a question, a system message"));
    assert!(line("sglang adds:").contains("`defer_loading`, `null` are in the prompt"));
    assert!(line("Every tool has the key `defer_loading`").ends_with("mostly null."));
    assert!(card.contains("vllm: /v1/chat/completions of vLLM 0.33"));

    let names = folder
        .rolecall(&["check", "names.jinja", "--served=vllm,sglang"])
        .stdout();
    assert!(!names.contains("defer_loading"), "{names}");
}

#[test]
fn only_a_strict_check_fails_for_what_an_application_does() {
    let folder = folder();
    let code = |arguments: &[&str]| {
        let all = [&["check", "json.jinja", "--select", "renders"], arguments].concat();
        folder.rolecall(&all).code()
    };
    let strict = code(&["--strict"]);
    assert_eq!(code(&["--served"]), code(&[]));
    assert_eq!((strict, code(&["--strict", "--served=sglang"])), (0, 1));
}

#[test]
fn an_unknown_application_is_refused() {
    let ran = folder().rolecall(&["check", "json.jinja", "--served=vlm"]);
    assert_eq!(ran.code(), 2);
    let message = "there is no application `vlm`; there are vllm, sglang, llama-server, mlx-lm";
    assert!(ran.stderr().contains(message), "{}", ran.stderr());
}

#[test]
fn the_document_has_both_prompts_of_each_difference() {
    let ran = folder().rolecall(&[
        "check",
        "json.jinja",
        "--served=sglang",
        "--format",
        "json",
        "-q",
    ]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    let served = &document["cards"][0]["served"];
    let all = served["differences"].as_array().unwrap();
    let is_key = |one: &&serde_json::Value| one["changes"][0]["name"] == "a key that nobody wrote";
    let one = all.iter().find(is_key).unwrap();
    let counts = ["capabilities", "evidence"].map(|name| one[name].as_array().unwrap().len());
    assert_eq!(counts[0], counts[1]);
    let prompts = ["0", "1"].map(|at| {
        let text = one.pointer(&format!("/evidence/0/renders/{at}/text"));
        text.unwrap().as_str().unwrap().contains("defer_loading")
    });
    assert_eq!(prompts, [false, true]);
}
