//! Files that are as large as they may be, in the shapes that cost most.

use super::World;
use crate::extent::{is_everything, sample};

/// Most of the bytes that a text file may have.
const LARGE: usize = 15 << 20;

/// Repeats a part until it is large, between a beginning and an end.
fn filled(begin: &str, part: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = begin.to_owned();
    let mut number = 0;
    while text.len() < LARGE {
        text.push_str(&part(number));
        number += 1;
    }
    text + end
}

type Shape = (&'static str, fn() -> String);

/// Values of JSON.
const SHAPES: [Shape; 9] = [
    ("lists", || filled("[", |_| "[],".to_owned(), "1]")),
    ("objects", || filled("[", |_| "{},".to_owned(), "1]")),
    ("numbers", || filled("[", |_| "1,".to_owned(), "1]")),
    ("texts", || filled("[", |_| "\"\",".to_owned(), "1]")),
    ("keys", || {
        filled("{", |n| format!("\"{n}\":0,"), "\"x\":0}")
    }),
    ("one text", || filled("\"", |_| "x".repeat(1000), "\"")),
    ("digits", || filled("", |_| "1".repeat(1000), "")),
    ("depth", || "[".repeat(LARGE)),
    ("one key twice", || {
        filled("{", |_| "\"a\":0,".to_owned(), "\"x\":0}")
    }),
];

type Place = (
    &'static str,
    fn(&World, &str),
    &'static [&'static [&'static str]],
);

fn model(world: &World) {
    world.write(
        "work/model/tokenizer_config.json",
        "{\"chat_template\": \"{{ messages[0].content }}\"}",
    );
}

fn base(world: &World) {
    world.write("work/t.jinja", "{{ messages[0].content }}");
    world.write(
        "work/rolecall.toml",
        "[templates]\nt = \"t.jinja\"\n[cases]\nbuiltin = [\"plain/single-turn\"]\n",
    );
}

const PLACES: [Place; 14] = [
    (
        "a message",
        |world, value| {
            base(world);
            world.write("work/c.json", format!("{{\"about\": \"x\", \"cases\": {{\"y\": {{\"about\": \"z\", \"messages\": [{{\"role\": \"user\", \"content\": {value}}}]}}}}}}"));
        },
        &[&["render", "--templates", "t.jinja", "--cases", "c.json"]],
    ),
    (
        "an own case",
        |world, value| {
            base(world);
            world.write("work/cases/c.json", format!("{{\"about\": \"x\", \"cases\": {{\"y\": {{\"about\": \"z\", \"messages\": [{{\"role\": \"user\", \"content\": {value}}}]}}}}}}"));
        },
        &[&["accept", "t:c/*"]],
    ),
    (
        "a case file",
        |world, value| {
            base(world);
            world.write("work/c.json", value);
        },
        &[&["list", "cases", "--cases", "c.json"]],
    ),
    (
        "a case",
        |world, value| {
            base(world);
            world.write(
                "work/c.json",
                format!("{{\"about\": \"x\", \"cases\": {value}}}"),
            );
        },
        &[&["list", "cases", "--cases", "c.json"]],
    ),
    (
        "a sidecar",
        |world, value| {
            base(world);
            world.write("work/t.json", value);
        },
        &[&["check", "t.jinja"]],
    ),
    (
        "variables",
        |world, value| {
            base(world);
            world.write(
                "work/t.json",
                format!("{{\"variables\": {{\"x\": {value}}}}}"),
            );
        },
        &[&["check", "t.jinja"]],
    ),
    (
        "tokenizer_config.json",
        |world, value| {
            model(world);
            world.write("work/model/tokenizer_config.json", value);
        },
        &[&["check", "model"]],
    ),
    (
        "tokenizer.json",
        |world, value| {
            model(world);
            world.write("work/model/tokenizer.json", value);
        },
        &[&["check", "model"]],
    ),
    (
        "config.json",
        |world, value| {
            model(world);
            world.write("work/model/config.json", value);
            world.write("work/model/generation_config.json", value);
        },
        &[&["check", "model"]],
    ),
    (
        "divergences",
        |world, value| {
            base(world);
            world.write("work/snapshots/divergences.json", value);
        },
        &[&["run"]],
    ),
    (
        "a record",
        |world, value| {
            base(world);
            world.write("work/snapshots/reference.json", value);
        },
        &[&["run"]],
    ),
    (
        "known defects",
        |world, value| {
            base(world);
            world.write("work/known.json", value);
        },
        &[&["check", "--baseline", "known.json", "t.jinja"]],
    ),
    (
        "a saved run",
        |world, value| {
            base(world);
            world.write("work/a.jsonl", value);
        },
        &[&["diff", "a.jsonl", "a.jsonl"]],
    ),
    (
        "a manifest",
        |world, value| {
            world.write("work/store/manifests/h/n/m/t", value);
            world.write("work/store/blobs/x", "x");
        },
        &[&["check", "store"]],
    ),
];

#[test]
fn no_file_takes_more_than_its_share() {
    let shapes = SHAPES.iter();
    let all: Vec<_> = shapes
        .flat_map(|shape| PLACES.iter().map(move |place| (shape, place)))
        .collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for ((shape, make), (place, write, commands)) in sample(all, 67) {
        let world = World::new();
        write(&world, &make());
        for arguments in *commands {
            count += 1;
            let complaints = world.rolecall(arguments).complaints(&[0, 1, 2]);
            if !complaints.is_empty() {
                wrong.push(format!("{shape} as {place}: {complaints:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Other texts than JSON.
#[test]
fn no_text_takes_more_than_its_share() {
    let texts: [Shape; 8] = [
        ("line breaks", || "\n".repeat(LARGE)),
        ("letters", || "x".repeat(LARGE)),
        ("tags", || filled("", |_| "{{ x }}".to_owned(), "")),
        ("comments", || filled("", |_| "{##}".to_owned(), "")),
        ("braces", || "{".repeat(LARGE)),
        ("sections", || {
            filled("---\n---\n", |n| format!("=== {n}\n␃\n"), "")
        }),
        ("instructions", || {
            filled("FROM x\n", |n| format!("PARAMETER x{n} 1\n"), "")
        }),
        ("tables", || filled("", |n| format!("[a{n}]\n"), "")),
    ];
    let places: [Place; 6] = [
        (
            "a template",
            |world, text| {
                world.write("work/t.jinja", text);
            },
            &[&["check", "t.jinja"]],
        ),
        (
            "a Go template",
            |world, text| {
                world.write("work/t.gotmpl", text);
            },
            &[&["check", "t.gotmpl"]],
        ),
        (
            "a Modelfile",
            |world, text| {
                world.write("work/Modelfile", text);
            },
            &[&["check", "Modelfile"]],
        ),
        (
            "rolecall.toml",
            |world, text| {
                world.write("work/rolecall.toml", text);
            },
            &[&["run"]],
        ),
        (
            "a snapshot",
            |world, text| {
                base(world);
                world.write("work/snapshots/plain.snap", text);
            },
            &[&["run"]],
        ),
        (
            "a GGUF file",
            |world, text| {
                world.write("work/m.gguf", format!("GGUF{text}"));
            },
            &[&["check", "m.gguf"]],
        ),
    ];
    let mut wrong = Vec::new();
    let mut count = 0;
    let all: Vec<_> = texts
        .iter()
        .flat_map(|text| places.iter().map(move |place| (text, place)))
        .collect();
    for ((shape, make), (place, write, commands)) in sample(all, 31) {
        let world = World::new();
        write(&world, &make());
        for arguments in *commands {
            count += 1;
            let complaints = world.rolecall(arguments).complaints(&[0, 1, 2]);
            if !complaints.is_empty() {
                wrong.push(format!("{shape} as {place}: {complaints:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Many small things in one file, which are looked up or asked for one by one.
#[test]
fn many_small_things_take_no_longer_than_their_number() {
    let world = World::new();
    base(&world);
    let counts = vec![
        (5_000, "more than 1000 patterns"),
        (1_000, "980 more patterns"),
    ];
    for (count, message) in sample(counts, 2) {
        let patterns: Vec<String> = (0..count).map(|n| format!("\"x{n}/y\"")).collect();
        world.write(
            "work/rolecall.toml",
            format!(
                "[templates]\nt = \"t.jinja\"\n[cases]\nbuiltin = [{}]\n",
                patterns.join(",")
            ),
        );
        world.rolecall(&["run"]).is_well(&[2]).says(&[message]);
    }

    base(&world);
    let messages = "MESSAGE user hi\n".repeat(if is_everything() { 200_000 } else { 11_000 });
    world.write(
        "work/m/Modelfile",
        format!("FROM x\nTEMPLATE \"{{{{ .Prompt }}}}\"\n{messages}"),
    );
    world
        .rolecall(&["check", "m"])
        .is_well(&[2])
        .says(&["Modelfile:10003:1"]);

    let count = if is_everything() { 800 } else { 50 };
    let fields: Vec<String> = (0..count)
        .map(|n| format!("\"f{n}\": {{\"open\": \"<f{n}>\", \"close\": \"</f{n}>\"}}"))
        .collect();
    world.write(
        "work/t.json",
        format!(
            "{{\"response_template\": {{\"version\": 1, \"defaults\": {{\"role\": \"assistant\"}}, \"start_anchor\": \"<a>\", \"fields\": {{{}}}}}}}",
            fields.join(",")
        ),
    );
    world.rolecall(&["lint", "t.jinja"]).is_well(&[0, 1, 2]);
}

/// A flat folder has no more templates than one with folders. The tests make so many only if they try
/// everything. Otherwise they make more than a page shows.
#[test]
fn a_flat_folder_has_its_limit() {
    let world = World::new();
    let count = if is_everything() { 10_003 } else { 1_003 };
    for number in 0..count {
        world.write(&format!("work/{number}.jinja"), "x");
    }
    if is_everything() {
        let seen = world.rolecall(&["list", "templates", "--templates", "."]);
        seen.is_well(&[0, 2])
            .says(&["at most 10000 folders and 10000 templates"]);
    }
    let seen = world.rolecall(&["check", "--html", "page.html", "."]);
    seen.is_well(&[2])
        .says(&["a page shows at most 1000 templates"]);
}
