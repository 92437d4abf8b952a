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

fn kept(folder: &Folder) -> Value {
    let text = std::fs::read_to_string(folder.path(KEPT)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn assert_says(ran: &Ran, code: i32, words: &[&str]) {
    let said = format!("{}{}", ran.stdout(), ran.stderr());
    assert_eq!(ran.code(), code, "{said}");
    for words in words {
        assert!(said.contains(words), "no `{words}` in\n{said}");
    }
}

#[test]
fn an_engine_is_measured_and_what_it_did_is_kept() {
    let folder = measured();
    let kept = kept(&folder);
    assert_eq!(kept["engine"]["version"], "1.2");
    let agreement = json!({"templates": [1, 2], "prompts": [0, 3], "prompts_of_loaded": [0, 2], "refusals": [0, 1]});
    assert_eq!(kept["agreement"], agreement);
    // A memory address does not belong to its message.
    assert_eq!(
        kept["templates"]["strict"]["refused"],
        "no <b>parser</b> at 0x7f12"
    );
    let groups = kept["differences"].as_array().unwrap();
    let failed = groups
        .iter()
        .find(|group| group["found"] == "failed")
        .unwrap();
    assert_eq!(failed["cause"], "no … at #");
    assert_eq!(
        failed["cases"],
        json!([
            ["strict", "rendered", "plain", "user"],
            ["strict", "raised", "plain", "system"]
        ])
    );
    let rendered = groups
        .iter()
        .find(|group| group["found"] == "rendered")
        .unwrap();
    assert_eq!(rendered["example"]["case"], "plain/system");
    let digits = "8de0b3c47f11"; // of `S`, as sha256sum says it
    assert!(
        rendered["cases"]
            .to_string()
            .contains(&format!("system:{digits}")),
        "{rendered}"
    );
    // `x.y.z` fails in the reference. The engine echoes the others, one of them correctly.
    assert_eq!(kept["constructs"]["all"], 3);
    let constructs = kept["constructs"]["differ"].to_string();
    assert_eq!(
        constructs.matches("\"rendered\"").count(),
        1,
        "{constructs}"
    );

    // A second measurement is the same, however long it took.
    let before = std::fs::read(folder.path(KEPT)).unwrap();
    let echo = command(&folder, ECHO);
    let ran = folder.rolecall(&["matrix", "update", &echo, "--jobs", "3"]);
    assert_says(&ran, 0, &["fake@1.2: prompts 0 of 3 (0.00 %)", "as it was"]);
    assert_eq!(std::fs::read(folder.path(KEPT)).unwrap(), before);
    assert_says(
        &folder.rolecall(&["matrix", "verify", &echo]),
        0,
        &["fake@1.2: unchanged in 4 pairs"],
    );
}

#[test]
fn a_change_of_an_engine_is_reported_pair_by_pair() {
    let folder = measured();
    let right = "start; while ask; do case $line in *load*) echo \"{\\\"id\\\": $id, \\\"ok\\\": true}\" ;; \
                 *'\"content\":\"S\"'*chat*|*chat*'\"content\":\"S\"'*) text '<system>S\\n<assistant>' ;; \
                 *render*) text other ;; *) exit 0 ;; esac; done";
    let right = command(&folder, right);
    let before = std::fs::read(folder.path(KEPT)).unwrap();
    let ran = folder.rolecall(&["matrix", "verify", &right]);
    let words = [
        "fake@1.2: changed since its measurement",
        "1 pair: wrong before, right now",
        "chat: plain/system",
        "3 pairs: still wrong, but differently",
        "strict loads now",
        "construct: agreed before, and differ now",
        "\n    {{ messages[0].content }}␃\n",
        "matrix update",
    ];
    assert_says(&ran, 1, &words);
    assert_eq!(
        std::fs::read(folder.path(KEPT)).unwrap(),
        before,
        "verify writes nothing"
    );
    // The command that it recommends can be typed as it is.
    let said = ran.stdout();
    let advice = said
        .lines()
        .find_map(|line| line.split_once("results: rolecall "));
    let words = shlex::split(advice.unwrap().1).unwrap();
    assert_eq!(words, ["matrix", "update", right.as_str()]);
    // Another version is another engine.
    let newer = command(&folder, &ECHO.replace("start\n", "ask; echo '{\"rolecall\": 1, \"engine\": \"fake\", \"version\": \"1.10\", \"dialect\": \"jinja\"}'\n"));
    assert_says(
        &folder.rolecall(&["matrix", "verify", &newer]),
        1,
        &["no measurement of this version, only of fake@1.2"],
    );
    assert_says(
        &folder.rolecall(&["matrix", "update", &newer]),
        0,
        &["fake@1.10.json written"],
    );
    let ran = folder.rolecall(&["matrix", "--differ", "fake@1.2", "fake"]);
    assert_says(
        &ran,
        0,
        &["fake 1.2 and fake 1.10", "the same in all of 4 pairs"],
    );
    let ran = folder.rolecall(&["matrix", "--differ", "rolecall-jinja", "fake"]);
    assert_says(
        &ran,
        0,
        &[
            concat!("in 4 of 4 pairs only ", own!(), " is right"),
            concat!("load only with ", own!(), ": strict"),
            concat!("2 constructs: only ", own!(), " is right"),
        ],
    );
}

/// An engine with random answers is asked twice before it counts as changed.
#[test]
fn one_answer_by_chance_is_no_change() {
    let folder = measured();
    let mark = folder.path("mark");
    let lucky = format!(
        "if [ -e {0} ]; then text \"$(content)\"; else touch {0}; text odd; fi",
        mark.display()
    );
    let lucky = command(&folder, &ECHO.replace("text \"$(content)\"", &lucky));
    let verify = ["matrix", "verify", &lucky, "--jobs", "1"];
    let words = [
        "the second measurement has other results",
        "fake@1.2: unchanged in 4 pairs",
    ];
    assert_says(&folder.rolecall(&verify), 0, &words);
    assert!(mark.exists());
    let ran = folder.rolecall(&verify);
    assert_says(&ran, 0, &["unchanged"]);
    assert!(
        !ran.stderr()
            .contains("the second measurement has other results"),
        "{}",
        ran.stderr()
    );
}

#[test]
fn the_table_is_made_without_running_anything() {
    let folder = measured();
    std::fs::remove_file(folder.path("engine.sh")).unwrap();
    let ran = folder.rolecall(&["matrix"]);
    let table = ran.stdout();
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        lines[1][..8],
        [
            "rolecall-jinja",
            env!("CARGO_PKG_VERSION"),
            "(minijinja",
            "3.0.5)",
            "2/2",
            "100",
            "%",
            "100"
        ]
    );
    assert_eq!(
        lines[2][..7],
        ["fake", "1.2", "(sh", "0)", "1/2", "0.00", "%"]
    );
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
    let words = [
        "templates that load",
        "1 of 2 (50.00 %)",
        "does not load: no <b>parser</b> at 0x7f12",
        "filter upper",
        "- <system>S␊",
        "+ S␃",
    ];
    assert_says(&folder.rolecall(&["matrix", "fake"]), 0, &words);
    assert_says(
        &folder.rolecall(&["matrix", "--common"]),
        0,
        &["1 engine with mistakes", "only fake@1.2 gets 4 pairs wrong"],
    );
    let ran = folder.rolecall(&["matrix", "fake", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let engine = &document["engines"][0];
    assert_eq!(engine["prompts"], json!({"agree": 0, "of": 3}));
    assert_eq!(
        engine["detail"]["by_family"]["plain"],
        json!({"agree": 0, "of": 4})
    );
    assert_eq!(
        engine["detail"]["by_construct"]["filter upper"],
        json!({"agree": 0, "of": 1})
    );
}

#[test]
fn what_has_changed_since_is_reported() {
    let folder = measured();
    let stale = |folder: &Folder| {
        let ran = folder.rolecall(&["matrix", "fake", "--format", "json"]);
        let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
        document["engines"][0]["changed_since"].clone()
    };
    assert_eq!(stale(&folder), json!([]));
    let cases = std::fs::read_to_string(folder.path("cases/conversations/plain.json")).unwrap();
    folder.write(
        "cases/conversations/plain.json",
        &cases.replace("\"S\"", "\"T\""),
    );
    assert_eq!(stale(&folder), json!(["the family plain"]));
    folder.write("cases/conversations/plain.json", &cases);
    folder.write("cases/templates/chat.jinja", "other");
    assert_eq!(stale(&folder), json!(["the template chat"]));
    assert_says(
        &folder.rolecall(&["matrix"]),
        0,
        &[
            "fake 1.2: measured before the suite changed (the template chat)",
            "matrix update ENGINE",
        ],
    );
    // A pair whose right answer is not known is not measured.
    let ran = folder.rolecall(&["matrix", "update", "rolecall-jinja"]);
    assert_says(&ran, 2, &["2 pairs have no record", "reference update"]);
}

#[test]
fn nothing_is_kept_of_an_engine_that_was_given_up() {
    let folder = suite();
    let broken = command(&folder, "start; exit 1");
    let ran = folder.rolecall(&["matrix", "update", &broken]);
    assert_says(
        &ran,
        2,
        &["fake 1.2 (sh 0) was given up", "pairs were not asked"],
    );
    assert!(!folder.path(KEPT).exists());
    let nameless = command(
        &folder,
        "ask; echo '{\"rolecall\": 1, \"engine\": \"/..\", \"version\": \"\", \"dialect\": \"jinja\"}'; ask",
    );
    assert_says(
        &folder.rolecall(&["matrix", "update", &nameless]),
        2,
        &["cannot be the name of a file"],
    );
    assert_says(
        &folder.rolecall(&["matrix"]),
        2,
        &["no engine was measured", "matrix update"],
    );
}

#[test]
fn an_engine_is_found_by_the_name_that_it_was_set_up_under() {
    let folder = suite();
    folder.write("scripts/engines/echo/main.sh", "");
    let ran = folder.rolecall(&["matrix", "update", "echo"]);
    assert_says(
        &ran,
        2,
        &[
            "the engine `echo` is not set up",
            "`scripts/setup-engines echo`",
        ],
    );
    let script = command(&folder, ECHO);
    let launcher = folder.write(".engines/echo", &format!("#!/bin/sh\nexec {script}\n"));
    // A program that cannot be started is not set up.
    assert_says(
        &folder.rolecall(&["run", "--engine", "echo"]),
        2,
        &["is not set up"],
    );
    let mut permissions = launcher.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&launcher, permissions).unwrap();
    assert_says(
        &folder.rolecall(&["run", "--engine", "echo"]),
        1,
        &["prompts: 0 of 3 agree"],
    );
    assert_says(
        &folder.rolecall(&["matrix", "update", "echo"]),
        0,
        &["fake@1.2"],
    );
    assert_says(
        &folder.rolecall(&["probe-engine", "echo"]),
        1,
        &["fake 1.2", "checks"],
    );
    assert_says(
        &folder.rolecall(&["run", "--engine", "ecko"]),
        2,
        &["did you mean `echo`?"],
    );
    assert_says(
        &folder.rolecall(&["matrix", "fakes"]),
        2,
        &["did you mean `fake`?", "fake@1.2"],
    );
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
fn the_site_is_the_same_every_time_and_leaves_other_folders_alone() {
    let (folder, site) = site();
    let before = files(&site);
    assert_says(
        &folder.rolecall(&["matrix", "--html", "site"]),
        0,
        &["wrote site"],
    );
    assert!(before == files(&site), "other bytes");
    folder.write("site/CNAME", "mine");
    assert_says(
        &folder.rolecall(&["matrix", "--html", "site"]),
        2,
        &["CNAME is not one of the files", "name a new folder"],
    );
    assert_says(
        &folder.rolecall(&["matrix", "--html", "cases"]),
        2,
        &["not empty"],
    );
    assert!(folder.path("cases/conversations/plain.json").exists());
    let badge: Value =
        serde_json::from_str(&std::fs::read_to_string(site.join("badges/fake@1.2.json")).unwrap())
            .unwrap();
    assert_eq!(
        badge,
        json!({"schemaVersion": 1, "label": "chat templates as transformers", "message": "0.0 % of 3 prompts", "color": "red"})
    );
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
    // What it calls itself is its row, besides the rows of the engines that Rolecall measured.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("{\"engine\": \"rolecall-go\""), "{text:.200}");
    let table = || folder.rolecall(&["matrix"]);
    let before = table().stdout();
    assert!(before.contains("huggingface-js"), "{before}");
    folder.write("rolecall-engines/mine@1.json", "{");
    let ran = table();
    assert_eq!(ran.code(), 2, "{}", ran.stdout());
    assert!(ran.stderr().contains("mine@1.json:1"), "{}", ran.stderr());
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

/// The name of a row is the name of an engine of which somebody has saved results, although nobody
/// knows how to start it.
#[test]
fn a_row_is_measured_again_from_saved_results() {
    let folder = measured();
    let echo = command(&folder, ECHO);
    let ran = folder.rolecall(&["run", "--engine", &echo, "--format", "jsonl"]);
    folder.write("saved.jsonl", &ran.stdout());
    let before = std::fs::read(folder.path(KEPT)).unwrap();
    let update = ["matrix", "update", "fake", "--results", "saved.jsonl"];
    let ran = folder.rolecall(&update);
    assert_says(&ran, 0, &["fake@1.2 is not asked", "as it was"]);
    assert_eq!(std::fs::read(folder.path(KEPT)).unwrap(), before);
    let verify = ["matrix", "verify", "fake@1.2", "--results", "saved.jsonl"];
    assert_says(&folder.rolecall(&verify), 0, &["unchanged in 4 pairs"]);
    // Another answer makes another row.
    let saved = std::fs::read_to_string(folder.path("saved.jsonl")).unwrap();
    folder.write(
        "saved.jsonl",
        &saved.replace(r#""text":"S""#, r#""text":"T""#),
    );
    assert_says(
        &folder.rolecall(&verify),
        1,
        &["still wrong, but differently"],
    );
    assert_says(&folder.rolecall(&update), 0, &["fake@1.2.json written"]);

    let ran = folder.rolecall(&["matrix", "update", "fake"]);
    let words = [
        "`fake` was measured, but its program is not known",
        "command line",
    ];
    assert_says(&ran, 2, &words);
    let unknown = ["matrix", "update", "fke", "--results", "saved.jsonl"];
    assert_says(&folder.rolecall(&unknown), 2, &["no engine is named `fke`"]);
    // Its constructs are not asked again: they have to be the same ones.
    let table = std::fs::read_to_string(folder.path("cases/constructs/jinja.json")).unwrap();
    folder.write(
        "cases/constructs/jinja.json",
        &table.replace("upper", "lower"),
    );
    assert_says(
        &folder.rolecall(&update),
        2,
        &["the table of constructs has changed"],
    );
    folder.write("cases/constructs/jinja.json", &table);
    let newer = command(&folder, &ECHO.replace("start\n", "ask; echo '{\"rolecall\": 1, \"engine\": \"fake\", \"version\": \"1.10\", \"dialect\": \"jinja\"}'\n"));
    assert_eq!(folder.rolecall(&["matrix", "update", &newer]).code(), 0);
    assert_says(
        &folder.rolecall(&update),
        2,
        &["name one of fake@1.2, fake@1.10"],
    );
}

#[test]
fn a_run_of_another_engine_says_how_to_see_a_difference_of_that_engine() {
    let folder = suite();
    let echo = command(&folder, ECHO);
    let ran = folder.rolecall(&["run", "--engine", &echo, "--format", "markdown"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let said = ran.stdout();
    assert!(said.contains(" pairs differ"), "{said}");
    let line = said
        .lines()
        .find(|line| line.contains("--reference --diff"));
    let words = line.and_then(|line| line.split_once("show ")).unwrap().1;
    let words = shlex::split(words.split('`').next().unwrap()).unwrap();
    assert!(words.contains(&echo), "{words:?}");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let shown = folder.rolecall(&[&["show"], words.as_slice()].concat());
    assert!(
        shown.stdout().contains("\n+ "),
        "{}{}",
        shown.stdout(),
        shown.stderr()
    );
}
