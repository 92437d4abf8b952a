//! A template on standard input, and settings of templates.

use super::world::World;

const STDIN: [&str; 7] = [
    "show",
    "stdin",
    "cases/hi",
    "--raw",
    "--templates",
    "-",
    "--cases",
];

#[test]
fn a_template_on_standard_input_is_read_in_its_dialect() {
    let world = World::new();
    let show = |template: &str| world.run_with(&[&STDIN[..], &["cases.json"]].concat(), template);
    show("{% for m in messages %}J {{ m.content }}{% endfor %}").gave("J Hi", &[]);
    show("{{ range .Messages }}G {{ .Content }}{{ end }}").gave("G Hi", &[]);
    let plain: Vec<_> = STDIN.into_iter().filter(|word| *word != "--raw").collect();
    let ran = world.run_with(&[&plain[..], &["cases.json"]].concat(), "a\n{% if %}");
    assert!(ran.err.contains("<stdin>:2"), "{}", ran.err);
    let ran = world.run_with(
        &["check", "-", "--format", "json"],
        "{{ messages[0].content }}",
    );
    assert!(ran.out.contains("\"stdin\""), "{}", ran.out);
    world
        .run_with(&["check", "-", "-"], "x")
        .refused(&["standard input, `-`, is named twice"]);
}

#[test]
fn tokens_and_variables_are_set_over_what_sources_say() {
    let world = World::new();
    let config = r#"{"chat_template": [{"name": "default", "template": "{{ bos_token }}{{ eos_token }}{{ x }}{{ y }}"}, {"name": "tool_use", "template": "t"}], "bos_token": "<a>", "eos_token": "<b>"}"#;
    world.write("m/tokenizer_config.json", config);
    world.write("t.jinja", "{{ bos_token }}{{ x }}{{ y }}");
    world.write(
        "t.json",
        r#"{"special_tokens": {"bos_token": "<a>"}, "variables": {"x": 1, "y": 2}}"#,
    );
    let set = [
        "--special-token",
        "bos_token=<s>=",
        "--variable",
        "x=\"1.50\"",
        "--cases",
        "cases.json",
    ];
    let show = |template: &str, source: &str| {
        let named = ["show", template, "cases/hi", "--raw", "--templates", source];
        world.run(&[&named[..], &set[..]].concat())
    };
    assert_eq!(show("t", "t.jinja").out, "<s>=1.502");
    assert_eq!(show("m", "m").out, "<s>=<b>1.50");
    let rendered = world.run(
        &[
            &["render", "--templates", "t.jinja", "--format", "jsonl"],
            &set[..],
        ]
        .concat(),
    );
    assert!(rendered.out.contains("\"<s>=1.502\""), "{}", rendered.out);
    for command in [
        &["check", "t.jinja"][..],
        &["run", "--templates", "t.jinja", "--cases", "cases.json"],
    ] {
        let ran = world.run(&[command, &set[..4]].concat());
        assert_ne!(ran.code, Some(2), "{ran:?}");
    }
}

#[test]
fn what_cannot_be_set_is_refused() {
    let world = World::new();
    world.write("t.jinja", "x");
    let check = |arguments: &[&str]| world.run(&[&["check", "t.jinja"], arguments].concat());
    check(&["--variable", "x=today"]).refused(&[
        "the value is not JSON",
        r#"a text needs quotes: 'x="today"'"#,
    ]);
    check(&["--variable", "x"]).refused(&["there is no `=` in it"]);
    check(&["--special-token", "a b=c"]).refused(&["\"a b\" is not a name"]);
    check(&["--variable", "x=1", "--variable", "x=2"]).refused(&["--variable x is given twice"]);
    check(&["--special-token", "b=1", "--special-token", "b=2"])
        .refused(&["--special-token b is given twice"]);
    world
        .run(&["check", "--builtin", "--variable", "x=1"])
        .refused(&["--variable is for templates that you name"]);
    world
        .run(&["run", "--builtin", "--special-token", "x=1"])
        .refused(&["--special-token is for templates"]);
}
