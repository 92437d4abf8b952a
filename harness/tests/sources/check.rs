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
fn a_card_says_what_is_accepted_refused_and_broken() {
    let folder = Folder::new();
    folder.write("sound.jinja", SOUND);
    folder.write("broken.jinja", BROKEN);
    let output = check(&folder, &["sound.jinja"]);
    let card = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{card}");
    has(
        &card,
        &[
            "sound (jinja), front transformers, engine rolecall-jinja\n",
            "  system             kept                tools              refused\n",
            "  generation prompt  adds <|assistant|>\n",
            "\n    Only system, user and assistant, please.\n",
            "1 template in ",
            "s: 0 errors, ",
        ],
    );
    let output = check(&folder, &["broken.jinja"]);
    let card = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{card}");
    has(
        &card,
        &[
            "    two              partial ",
            "\nwhat to fix first\n\nerror   messages-kept\n  should be: ",
            "  - the second system message is not in the prompt",
            "\nlimitations\n  tools, calls and results are not in the prompt (tools-kept)\n  text parts are in the prompt as a list",
            "\nbroken on servers that pass conversations to the template unchanged\n",
            "\n  no-null-leak               a call whose content is null puts `None` into the prompt\n",
        ],
    );
    // The capabilities are a table of two columns.
    let table = card.lines().skip_while(|line| *line != "what it can do");
    for line in table.take_while(|line| *line != "limitations") {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // With all evidence, also the differences.
    let all = text(&check(&folder, &["broken.jinja", "--all"]).stdout);
    has(
        &all,
        &[
            "    first difference at byte ",
            "note    control-tokens-inert\n",
            "\n  to see it in whole:\n    rolecall show broken.jinja probe/two-system\n",
        ],
    );
    assert!(!card.contains("first difference"));
    // The line of the prompt has its place marked, and the settings apply there, too.
    folder.write(
        "twice.jinja",
        "{{ messages[0].content }}{{ messages[0].content }}",
    );
    let twice = text(&check(&folder, &["twice.jinja", "--variable", "x=\"a b\""]).stdout);
    has(
        &twice,
        &[
            "      askquillaskquill␃\n              ^^^^^^^^\n",
            "rolecall show twice.jinja --variable 'x=\"a b\"' probe/user-assistant-user\n",
            "\n  … and ",
            " more: --all shows them\n",
        ],
    );
    // First what to fix, then the abilities, then the rest, then how to see more.
    let place = |text: &str| {
        card.find(text)
            .unwrap_or_else(|| panic!("{text} in\n{card}"))
    };
    let order = [
        "what to fix first",
        "what it can do",
        "\nlimitations\n",
        "\nbroken on servers",
        "\n  rolecall show broken.jinja probe/",
        "1 template in ",
    ];
    assert!(order.map(place).is_sorted(), "{card}");
}

#[test]
fn programs_read_cards_too() {
    let folder = Folder::new();
    folder.write("sound.jinja", SOUND);
    folder.write("broken.jinja", BROKEN);
    let arguments = |format| ["broken.jinja", "sound.jinja", "--format", format];
    let document: Value =
        serde_json::from_slice(&check(&folder, &arguments("json")).stdout).unwrap();
    assert_eq!(document["rolecall"], 1);
    let cards = &document["cards"];
    assert_eq!(cards.as_array().unwrap().len(), 2);
    assert_eq!(cards[0]["template"], "broken");
    assert_eq!(
        cards[0]["capabilities"]["roles"]["system"]["leading"]["is"],
        "kept"
    );
    let leak = cards[0]["alone"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["contract"] == "no-null-leak")
        .unwrap();
    assert_eq!(leak["verdict"], "broken");
    assert_eq!(leak["severity"], "error");
    assert!(
        leak["evidence"][0]["renders"][0]["text"]
            .as_str()
            .unwrap()
            .contains("None")
    );

    let junit = text(&check(&folder, &arguments("junit")).stdout);
    has(
        &junit,
        &[
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuite name=\"broken\"",
            "<testcase name=\"messages-kept\" classname=\"broken\">",
            "<failure message=\"",
            "type=\"error\"",
            "<skipped message=\"",
        ],
    );
    assert!(!junit.contains('\u{1B}'));
    let github = text(&check(&folder, &arguments("github")).stdout);
    has(
        &github,
        &["::error file=broken.jinja,title=messages-kept::broken: "],
    );
    assert!(
        github.lines().all(|line| line.starts_with("::")),
        "{github}"
    );

    let output = check(&folder, &arguments("sarif"));
    assert_eq!(output.status.code(), Some(1));
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let kept = results
        .iter()
        .find(|result| result["ruleId"] == "messages-kept")
        .unwrap();
    assert_eq!(
        kept["locations"][0]["physicalLocation"],
        serde_json::json!({"artifactLocation": {"uri": "broken.jinja"}, "region": {"startLine": 1}})
    );

    let output = check(&folder, &["broken.jinja", "--html", "card.html"]);
    assert_eq!(output.status.code(), Some(1));
    has(&text(&output.stderr), &["wrote card.html ("]);
    let page = std::fs::read_to_string(folder.path("card.html")).unwrap();
    has(&page, &["\"error\":[", "messages-kept"]);
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
