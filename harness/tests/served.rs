//! What applications that serve a template make of it: `check --served`.

use crate::folder::Folder;

/// A template of texts.
const SOURCE: &str = "{% for tool in tools or [] %}{{ tool | tojson }}\n{% endfor %}{% for m in messages %}<|{{ m.role }}|>\
                      {% if m.content is string %}{{ m.content }}{% endif %}\
                      {% for call in m.tool_calls or [] %}{{ call.function.name }}\
                      {% for name, value in call.function.arguments.items() %} {{ name }}: {{ value }}\
                      {% endfor %}{% endfor %}<|end|>{% endfor %}\
                      {% if add_generation_prompt %}<|assistant|>{% endif %}";

#[test]
fn the_document_has_both_prompts_of_each_difference() {
    let folder = Folder::empty();
    folder.write("json.jinja", SOURCE);
    let ran = folder.rolecall(&[
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
