//! Texts that would become markup where results are read: in a comment, in a CI server, in a
//! browser, in a configuration.

use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

use super::World;
use crate::extent::sample;

/// Texts that want to be markup, and to end what they are in.
const TEXTS: [&str; 16] = [
    "<img src=x onerror=alert(1)>",
    "`` <img src=x> `",
    "`a`` <img src=x> ` b ``c",
    "```\n<script>alert(1)</script>\n```",
    "~~~\n<b>\n~~~\n````\n<i>\n",
    "a\\|<img src=x>|b\\",
    "\\`<img src=x>`\\",
    "</code></summary></details><img src=x>",
    "\n\n<div>\n\n# heading\n\n",
    "[here](http://owned) ![x](http://owned) <http://owned>",
    "&lt;img src=x&gt; &#60;b&#62;",
    "]]></system-out><x/>\u{fffe}\u{ffff}\u{0}",
    "--><script>x</script><!--",
    "\u{2028}</script>\u{2029}",
    "%0A::error file=x::owned%0D",
    "a\r\n::set-output name=x::y",
];

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Two templates with these texts in their names, their words and their prompts.
fn world(text: &str) -> World {
    let world = World::new();
    let value = quoted(text);
    for (name, word) in [("a", "one"), ("b", "two")] {
        let source = format!(
            "{{% if messages[0].role == 'system' %}}{{{{ raise_exception({value} ~ '{word}') }}}}{{% endif %}}{{{{ {value} }}}}{word}{text}{{{{ messages[0].content }}}}"
        )
        .replace("{%-", "{ %");
        world.write(&format!("work/{name}.jinja"), source);
        world.write(
            &format!("work/{name}.json"),
            format!("{{\"about\": {value}, \"origin\": {value}, \"special_tokens\": {{\"bos_token\": {value}}}, \"broken\": {{\"system-kept\": {value}}}}}"),
        );
    }
    let folder = text.replace(['/', '\0'], "_");
    world.write(&format!("work/folder/{folder}.jinja"), "{{ x.y.z }}");
    world.write(
        "work/c.json",
        format!("{{\"about\": {value}, \"cases\": {{\"y\": {{\"about\": {value}, \"messages\": [{{\"role\": \"user\", \"content\": {value}}}]}}, \"z\": {{\"about\": {value}, \"messages\": [{{\"role\": \"system\", \"content\": {value}}}]}}}}}}"),
    );
    world
}

/// The tags of HTML that our Markdown has.
const OURS: [&str; 6] = [
    "<details>",
    "</details>",
    "<summary>",
    "</summary>",
    "<code>",
    "</code>",
];

#[test]
fn nothing_becomes_markdown() {
    for text in sample(TEXTS.to_vec(), 16) {
        let world = world(text);
        for arguments in [
            &[
                "diff", "--format", "markdown", "a.jinja", "b.jinja", "--cases", "c.json",
            ][..],
            &["diff", "--format", "markdown", "a.jinja", "b.jinja"],
            &["diff", "--format", "markdown", "folder", "a.jinja"],
        ] {
            let seen = world.rolecall(arguments);
            seen.is_well(&[0, 1, 2]);
            let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
            for event in Parser::new_ext(&seen.stdout, options) {
                match event {
                    Event::Html(html) | Event::InlineHtml(html) => {
                        let mut left = html.to_string();
                        for tag in OURS {
                            left = left.replace(tag, "");
                        }
                        assert!(!left.contains('<'), "{text:?}: {html}\n{}", seen.stdout);
                    }
                    Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Heading { .. }) => {
                        panic!("{text:?}: {event:?}\n{}", seen.stdout)
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn results_for_ci_are_xml_whatever_a_template_says() {
    for text in sample(TEXTS.to_vec(), 16) {
        let world = world(text);
        for path in ["a.jinja", "folder"] {
            let seen = world.rolecall(&["check", "--format", "junit", path]);
            seen.is_well(&[0, 1, 2]);
            roxmltree::Document::parse(&seen.stdout)
                .unwrap_or_else(|error| panic!("{text:?}: {error}\n{}", seen.stdout));
        }
    }
}

/// Every character below U+10000 and some above, in the words of a template that fails.
#[test]
fn no_character_breaks_xml() {
    let characters: Vec<char> = ('\0'..='\u{ffff}')
        .chain(['\u{1f600}', '\u{10ffff}'])
        .collect();
    for part in sample(characters.chunks(8192).collect(), 9) {
        let text: String = part.iter().collect();
        let world = World::new();
        let source = format!("{{{{ raise_exception({}) }}}}", quoted(&text));
        world.write("work/t.jinja", source);
        let seen = world.rolecall(&["check", "--format", "junit", "t.jinja"]);
        assert!(
            roxmltree::Document::parse(&seen.stdout).is_ok(),
            "{:?}",
            part.first()
        );
    }
}

#[test]
fn results_for_programs_are_json() {
    for text in sample(TEXTS.to_vec(), 16) {
        let world = world(text);
        for (format, path) in [
            ("sarif", "a.jinja"),
            ("json", "a.jinja"),
            ("sarif", "folder"),
        ] {
            let seen = world.rolecall(&["check", "--format", format, path]);
            serde_json::from_str::<Value>(&seen.stdout)
                .unwrap_or_else(|error| panic!("{text:?}: {error}\n{}", seen.stdout));
        }
        // An annotation is one line, and no line of a text is a command of its own.
        let seen = world.rolecall(&["check", "--format", "github", "a.jinja"]);
        for line in seen.stdout.lines().filter(|line| line.starts_with("::")) {
            let is_ours = ["::error ", "::warning ", "::notice "];
            assert!(
                is_ours.iter().any(|ours| line.starts_with(ours)),
                "{text:?}: {line}"
            );
        }
    }
}

/// In a page, a text of others is data: no element and no attribute comes of it.
#[test]
fn nothing_becomes_a_part_of_a_page() {
    for text in sample(TEXTS.to_vec(), 16) {
        let world = world(text);
        for arguments in [
            &["check", "--html", "page.html", "a.jinja"][..],
            &["check", "--html", "page.html", "folder"],
            &[
                "run",
                "--html",
                "page.html",
                "--templates",
                "a.jinja",
                "--cases",
                "c.json",
            ],
        ] {
            world.rolecall(arguments);
            let Ok(page) = std::fs::read_to_string(world.path("work/page.html")) else {
                continue;
            };
            for tag in [
                "<img src=x",
                "<x/>",
                "<div>\n\n# heading",
                "alert(1)</script>",
            ] {
                assert!(!page.contains(tag), "{text:?}: {tag}");
            }
        }
    }
}

#[test]
fn a_suite_is_made_of_whatever_a_folder_holds() {
    let world = World::new();
    for name in [
        "对话",
        "聊天",
        "模型",
        "a b",
        "a.b",
        "a-b",
        "\"]\nx = 1 #",
        "dé",
        "dè",
    ] {
        world.write(&format!("work/{name}.jinja"), "{{ messages[0].content }}");
    }
    world.link("work/linked.jinja", "../outside/secret.jinja");
    world.link("work/folder", "../outside");
    world.rolecall(&["init"]).is_well(&[0]);
    let text = std::fs::read_to_string(world.path("work/rolecall.toml")).unwrap();
    let parsed: toml::Table = toml::from_str(&text).unwrap();
    assert_eq!(parsed["templates"].as_table().unwrap().len(), 9);
    world.rolecall(&["list", "templates"]).is_well(&[0]);

    for name in [".github", "cases", ".github/workflows"] {
        let world = World::new();
        world.write("work/t.jinja", "x");
        world.link(&format!("work/{name}"), world.path("outside"));
        world.rolecall(&["init"]).is_well(&[2]).says(&["a link"]);
        assert!(!world.path("work/rolecall.toml").exists());
    }
}
