//! The command `matrix`: measures engines over a suite, writes their measurements, and makes the
//! site.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;
use rolecall_suite::layout::Layout;
use rolecall_suite::measurement;
use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use crate::output::holds;
use crate::protocol::command;

/// The engine for Jinja templates, with its version.
macro_rules! own {
    () => {
        concat!("rolecall-jinja ", env!("CARGO_PKG_VERSION"))
    };
}

/// An engine that gives back the content of the first message with any template, except for one
/// template that it does not load.
const ECHO: &str = r#"
start
while ask; do
  case $line in
    *'"request":"load"'*strict*) echo "{\"id\": $id, \"outcome\": \"failed\", \"stage\": \"parse\", \"message\": \"no <b>parser</b> at 0x7f12\", \"line\": 1}" ;;
    *'"request":"load"'*) echo "{\"id\": $id, \"ok\": true}" ;;
    *'"request":"render"'*) text "$(content)" ;;
    *) exit 0 ;;
  esac
done
"#;

/// A suite with two templates, two cases, their records, and three constructs.
fn suite() -> Folder {
    let folder = Folder::new();
    folder.accept_all();
    let rows = json!([
        {"template": "{{ messages[0].content }}", "outcome": "rendered", "text": "hey"},
        {"template": "{{ 'a'|upper }}", "outcome": "rendered", "text": "A"},
        {"template": "{{ x.y.z }}", "outcome": "failed", "stage": "render", "message": "no"},
    ]);
    let case =
        json!({"now": "2026-01-02T03:04:05Z", "messages": [{"role": "user", "content": "hey"}]});
    let table = json!({"case": case, "rows": rows});
    folder.write("cases/constructs/jinja.json", &table.to_string());
    folder
}

/// The same suite with two measurements: a right engine, and one that echoes.
fn measured() -> Folder {
    let folder = suite();
    let echo = command(&folder, ECHO);
    let ran = folder.rolecall(&["matrix", "update", "rolecall-jinja", &echo]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    folder
}

const KEPT: &str = "snapshots/engines/fake@1.2.json";

#[track_caller]
fn assert_says(ran: &Ran, code: i32, words: &[&str]) {
    let said = format!("{}{}", ran.stdout(), ran.stderr());
    assert_eq!(ran.code(), code, "{said}");
    for words in words {
        assert!(said.contains(words), "no `{words}` in\n{said}");
    }
}

#[test]
fn an_engine_is_found_by_the_name_that_it_was_set_up_under() {
    let folder = suite();
    let script = command(&folder, ECHO);
    let launcher = folder.write(".engines/echo", &format!("#!/bin/sh\nexec {script}\n"));
    let mut permissions = launcher.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&launcher, permissions).unwrap();
    for (command, code, words) in [
        (&["run", "--engine", "echo"][..], 1, "prompts: 0 of 3 agree"),
        (&["matrix", "update", "echo"], 0, "fake@1.2"),
        (&["probe-engine", "echo"], 1, "fake 1.2"),
        (&["run", "--engine", "ecko"], 2, "did you mean `echo`?"),
    ] {
        assert_says(&folder.rolecall(command), code, &[words]);
    }
}

/// `lint` notices a change of any byte in a measurement's file.
#[test]
#[ignore = "tries every byte; .ci/run runs it"]
fn no_byte_of_a_measurement_is_changed_unnoticed() {
    let folder = measured();
    let layout = Layout::new(folder.path(""));
    assert_eq!(measurement::problems(&layout), []);
    let path = folder.path(KEPT);
    let bytes = std::fs::read(&path).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
        std::fs::write(&path, &changed).unwrap();
        let line = bytes[..at].split(|byte| *byte == b'\n').count();
        assert!(!measurement::problems(&layout).is_empty(), "line {line}");
    }
    std::fs::write(&path, &bytes).unwrap();
    std::fs::rename(&path, folder.path("snapshots/engines/other@1.json")).unwrap();
    let ran = folder.rolecall(&["lint"]);
    assert_says(
        &ran,
        1,
        &[
            "the measurement of fake 1.2 (sh 0), in a file with another name",
            "matrix update",
        ],
    );
}

fn site() -> (Folder, PathBuf) {
    let folder = measured();
    let ran = folder.rolecall(&["matrix", "--html", "site"]);
    assert_says(&ran, 0, &["wrote site ("]);
    let path = folder.path("site");
    (folder, path)
}

/// A folder's files, by name.
fn files(root: &Path) -> Vec<(PathBuf, String)> {
    let entries = walkdir::WalkDir::new(root).sort_by_file_name();
    let entries = entries.into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            (entry.path().strip_prefix(root).unwrap().to_path_buf(), text)
        })
        .collect()
}

#[test]
fn the_site_is_the_same_every_time() {
    let (folder, site) = site();
    let before = files(&site);
    assert_says(
        &folder.rolecall(&["matrix", "--html", "site"]),
        0,
        &["wrote site"],
    );
    assert!(before == files(&site), "other bytes");
    let servers = std::fs::read_to_string(site.join("servers.json")).unwrap();
    let servers: Value = serde_json::from_str(&servers).unwrap();
    holds("servers.schema.json", &servers);
    let vllm = &servers["applications"][0];
    assert_eq!(vllm["name"], "vllm");
    let change = &vllm["causes"][0]["changes"][0];
    let source = change["source"].as_str().unwrap();
    let (_, line) = source.split_once(".py:").unwrap();
    assert!(line.parse::<usize>().is_ok(), "{source}");
}

#[test]
fn the_site_needs_nothing_from_outside_and_its_links_lead_somewhere() {
    let (_folder, site) = site();
    let pages: Vec<_> = files(&site)
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|end| end == "html"))
        .collect();
    let names: BTreeSet<String> = pages
        .iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    for name in [
        "index.html",
        "engines/fake@1.2.html",
        "templates/strict.html",
        "constructs/jinja-filters.html",
        "servers.html",
    ] {
        assert!(names.contains(name), "{names:?}");
    }
    let link = Regex::new(r##" href="([^"#]*)(?:#([^"]+))?""##).unwrap();
    let mut count = 0;
    for (path, text) in &pages {
        assert!(text.contains("default-src 'none'"));
        for outside in [
            "http://",
            "https://",
            "src=\"",
            "<link",
            "@import",
            "url(",
            "<b>parser",
        ] {
            assert!(!text.contains(outside), "{outside} in {}", path.display());
        }
        for found in link.captures_iter(text) {
            let target = if found[1].is_empty() {
                site.join(path)
            } else {
                site.join(path).parent().unwrap().join(&found[1])
            };
            let there = std::fs::read_to_string(&target)
                .unwrap_or_else(|_| panic!("{} in {}", &found[0], path.display()));
            if let Some(id) = found.get(2) {
                assert!(
                    there.contains(&format!("id=\"{}\"", id.as_str())),
                    "{} in {}",
                    &found[0],
                    path.display()
                );
            }
            count += 1;
        }
    }
    assert!(count > 50, "{count} links");
}

/// Pages in a browser: searched, sorted, no wider than the screen, light and dark.
#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn the_site_works_in_a_browser() {
    let (folder, site) = site();
    let page = |name: &str| std::fs::read_to_string(site.join(name)).unwrap();
    let found = crate::page::browse(
        &folder,
        &page("index.html"),
        "",
        "const column = () => [...document.querySelectorAll('table.matrix')][0].tBodies[0].textContent;
         const first = () => document.querySelector('table.matrix tbody th').textContent;
         const before = first();
         const sort = [...document.querySelectorAll('table.matrix thead th')][2];
         sort.querySelector('button').click();
         const down = [first(), sort.getAttribute('aria-sort')];
         sort.querySelector('button').click();
         const up = [first(), sort.getAttribute('aria-sort')];
         press('/');
         const focused = document.activeElement.id;
         document.activeElement.value = 'fake failed';
         document.activeElement.dispatchEvent(new Event('input'));
         const hits = [...document.querySelectorAll('#found li')].map((one) => one.textContent);
         press('Escape');
         const closed = [document.getElementById('found').hidden, document.getElementById('overall').hidden];
         const paper = () => getComputedStyle(document.body).backgroundColor;
         const light = paper();
         document.getElementById('theme').click();
         return { before, down, up, focused, hits, closed, papers: light !== paper(),
                  isWhole: document.documentElement.scrollWidth <= innerWidth };",
    );
    assert_eq!(found["before"], own!(), "{found}");
    assert_eq!(found["down"], json!([own!(), "descending"]));
    assert_eq!(found["up"], json!(["fake 1.2", "ascending"]));
    assert_eq!(found["focused"], "search");
    assert_eq!(found["hits"], json!(["difference fake: failed no … at #"]));
    assert_eq!(found["closed"], json!([true, false]));
    assert_eq!(found["papers"], true);
    assert_eq!(found["isWhole"], true);
    // In a frame, because a window cannot be as narrow as a phone.
    for name in [
        "index.html",
        "engines/fake@1.2.html",
        "templates/chat.html",
        "constructs/jinja-filters.html",
    ] {
        let text = json!(page(name)).to_string().replace('<', "\\u003c");
        let outer = format!("<!doctype html><body><script>const page = {text};</script>");
        let script = "const widths = [];
             for (const width of [400, 1400]) {
                 const frame = document.createElement('iframe');
                 frame.style = `width: ${width}px; height: 900px; border: 0`;
                 frame.srcdoc = page;
                 document.body.append(frame);
                 await new Promise((done) => { frame.onload = done; });
                 const root = frame.contentDocument.documentElement;
                 widths.push(frame.contentWindow.innerWidth, root.scrollWidth - root.clientWidth);
             }
             return widths;";
        let found = crate::page::browse(&folder, &outer, "", script);
        assert_eq!(found, json!([400, 0, 1400, 0]), "{name}");
    }
    let found = crate::page::browse(
        &folder,
        &page("engines/fake@1.2.html"),
        "#d1",
        "const open = document.getElementById('d1');
         return { open: open.open, diff: open.querySelector('.diff').textContent,
                  images: document.images.length, isWhole: document.documentElement.scrollWidth <= innerWidth };",
    );
    assert_eq!(found["open"], true);
    assert!(found["diff"].as_str().unwrap().contains("+ "), "{found}");
    assert_eq!(found["isWhole"], true);
}

#[test]
#[ignore = "long: .ci/nightly tries it"]
fn an_engine_gets_a_row_in_a_folder_of_its_author() {
    let folder = Folder::empty();
    folder.write("package.json", "{}");
    let update = ["matrix", "update", "rolecall-go"];
    let ran = folder.rolecall(&update);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    assert!(
        ran.stderr().contains("suite: the built-in suite"),
        "{}",
        ran.stderr()
    );
    let own = folder.path("rolecall-engines");
    let entries = std::fs::read_dir(&own).unwrap();
    let path = entries.map(|entry| entry.unwrap().path()).next().unwrap();
    assert!(path.ends_with(concat!("rolecall-go@", env!("CARGO_PKG_VERSION"), ".json")));
    // What it calls itself is its row.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("{\"engine\": \"rolecall-go\""), "{text:.200}");
    folder.write("rolecall-engines/mine@1.json", "{");
    // The folder is found from below, as a rolecall.toml is.
    let below = folder.path("src/deep");
    std::fs::create_dir_all(&below).unwrap();
    let from_below = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        Ran(command.current_dir(&below).output().unwrap())
    };
    assert_says(&from_below(&["matrix"]), 2, &["mine@1.json:1"]);
    std::fs::remove_file(own.join("mine@1.json")).unwrap();
    let ran = from_below(&update);
    assert_says(&ran, 0, &["written"]);
    assert!(path.is_file(), "{}", ran.stdout());
    assert!(!below.join("rolecall-engines").exists());
    // A link out of the folder is not followed.
    std::fs::remove_dir_all(&own).unwrap();
    #[cfg(unix)]
    {
        let other = Folder::empty();
        std::os::unix::fs::symlink(other.path("."), &own).unwrap();
        let ran = folder.rolecall(&update);
        assert_eq!(ran.code(), 2, "{}", ran.stdout());
        let mut entries = std::fs::read_dir(other.path(".")).unwrap();
        assert!(entries.next().is_none());
    }
}
