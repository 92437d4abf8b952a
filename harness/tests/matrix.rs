//! The command `matrix`: measures engines over a suite, and writes their measurements.

use rolecall_suite::layout::Layout;
use rolecall_suite::measurement;
use serde_json::json;

use crate::folder::{Folder, Ran};

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
    folder.write("echo.sh", include_str!("sessions/shared/echo.sh"));
    let words = include_str!("sessions/shared/engine-words.sh");
    folder.write("engine-words.sh", words);
    let ran = folder.rolecall(&["matrix", "update", "rolecall-jinja", "sh echo.sh"]);
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
