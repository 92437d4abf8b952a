//! Written files are whole or not there, and never outside of their folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rolecall_core::problem::Problem;
use rolecall_suite::lint::lint;
use rolecall_suite::records::AskedTemplates;
use rolecall_suite::snapshot::Snapshots;

use crate::extent::is_everything;

use super::{
    Folder, REFERENCE, clear, contents, ended, has, install_reference, layout, link, pipe, suite,
};

fn drafts(folder: &Folder) -> Vec<PathBuf> {
    let all = contents(&folder.path(""));
    let paths = all.into_iter().map(|(path, _)| path);
    paths
        .filter(|path| path.to_string_lossy().contains(".rolecall-"))
        .collect()
}

/// Many families, so that it takes a while to write their records.
fn many() -> (Folder, Vec<PathBuf>) {
    let folder = Folder::empty();
    let names: Vec<String> = (100..250).map(|n| format!("f{n}")).collect();
    for name in &names {
        folder.write(
            &format!("cases/conversations/{name}.json"),
            r#"{"about": "Words.", "cases": {"one": {"about": "x", "messages": []}}}"#,
        );
    }
    folder.write("cases/templates/t.jinja", "{{ 1 }}");
    let records = names.iter();
    let records = records.map(|name| folder.path(&format!("snapshots/{name}.snap")));
    let records = records.collect();
    (folder, records)
}

/// An update that is killed while it writes leaves each record byte for byte old or new, and does
/// not disturb the next update. If the template has changed, no record counts until the last one is
/// written.
#[test]
fn an_update_that_is_killed_leaves_each_record_old_or_new() {
    let (folder, records) = many();
    let install = |word: &str| {
        install_reference(&folder, word);
        folder.write("cases/templates/t.jinja", &format!("{{# {word} #}}"));
    };
    let texts = ["old", "new"].map(|word| {
        install(word);
        assert_eq!(ended(&folder.rolecall(&["reference", "update"])), 0);
        let read = |path: &PathBuf| fs::read(path).unwrap();
        records.iter().map(read).collect::<Vec<_>>()
    });
    let mut torn = 0;
    let rounds = if is_everything() { 48 } else { 3 };
    let mut tried = 0;
    // A busy machine may wake this test only after the last record is written. So the test goes on
    // until a kill comes between two records, and fails where none does.
    while tried < rounds || (torn == 0 && tried < 200) {
        let before: Vec<_> = records.iter().map(|path| fs::read(path).unwrap()).collect();
        let is_old = before[0] == texts[0][0];
        install(if is_old { "new" } else { "old" });
        let mut running = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
            .env("ROLECALL_CACHE", crate::folder::CACHE)
            .env("ROLECALL_ALLOW_ENGINES", "1")
            .args(["reference", "update"])
            .current_dir(folder.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Starts when the first record changes, a little later each time.
        let start = Instant::now();
        while fs::read(&records[0]).unwrap() == before[0]
            && running.try_wait().unwrap().is_none()
            && start.elapsed() < Duration::from_mins(1)
        {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(7200 / rounds * (tried % rounds)));
        running.kill().unwrap();
        running.wait().unwrap();
        let mut seen = [0, 0];
        for (index, path) in records.iter().enumerate() {
            let found = fs::read(path).unwrap();
            let which = texts.iter().position(|texts| texts[index] == found);
            let which = which.unwrap_or_else(|| panic!("{}: {found:?}", path.display()));
            seen[which] += 1;
        }
        if seen[0] > 0 && seen[1] > 0 {
            torn += 1;
            let snapshots = Snapshots::of(&layout(&folder));
            let asked = AskedTemplates::read(&snapshots).unwrap();
            assert!(asked.is_empty(), "{asked:?}");
        }
        tried += 1;
    }
    assert!(torn > 0, "no kill came while records were written");
    // Leftover drafts are found and disturb nobody.
    let left = drafts(&folder);
    let findings = lint(&layout(&folder), &suite(&folder));
    let is_left_over = |problem: &&Problem| problem.message.contains("left over from a command");
    assert_eq!(findings.iter().filter(is_left_over).count(), left.len());
    install("old");
    assert_eq!(ended(&folder.rolecall(&["reference", "update"])), 0);
    for (path, text) in records.iter().zip(&texts[0]) {
        assert!(fs::read(path).unwrap() == *text, "{}", path.display());
    }
}

/// Nothing is written before the reference has answered everything.
#[test]
fn an_update_that_is_killed_while_the_reference_answers_changes_nothing() {
    let folder = Folder::new();
    install_reference(&folder, "word");
    assert_eq!(ended(&folder.rolecall(&["reference", "update"])), 0);
    let before = contents(&folder.path("snapshots"));
    // It hangs at the second case.
    let hanging = REFERENCE.replace(
        "stop",
        "render\"'*'\"S\"'*) sleep 60 ;;\n    *'\"request\":\"stop",
    );
    folder.write(".references/transformers", &hanging);
    folder.write("cases/templates/chat.jinja", "{# new #}");
    let mut running = folder.command(&["reference", "update"]).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert!(running.try_wait().unwrap().is_none(), "it does not hang");
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(contents(&folder.path("snapshots")), before);
}

/// A page that cannot be written to its end, as on a full disk.
#[test]
fn a_page_that_does_not_fit_leaves_the_old_one() {
    let folder = Folder::new();
    folder.accept_all();
    let page = folder.write("page.html", "old");
    let run = |before: &str| {
        let program = env!("CARGO_BIN_EXE_rolecall-checkout");
        Command::new("sh")
            .args([
                "-c",
                &format!("{before} ulimit -f 8; exec '{program}' run --html page.html"),
            ])
            .current_dir(folder.path(""))
            .output()
            .unwrap()
    };
    // The limit ends programs that do not expect it by a signal, in the middle of a file.
    for before in ["trap '' XFSZ;", ""] {
        let output = run(before);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        has(
            &String::from_utf8(output.stderr).unwrap(),
            &["page.html: cannot be written: File too large"],
        );
        assert_eq!(fs::read(&page).unwrap(), b"old");
        assert!(drafts(&folder).is_empty());
    }
    assert_eq!(ended(&folder.rolecall(&["run", "--html", "page.html"])), 0);
    assert!(fs::read_to_string(&page).unwrap().ends_with("</html>\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_an_error() {
    let folder = Folder::new();
    folder.accept_all();
    for command in [
        &["run"][..],
        &["render", "--format", "jsonl"],
        &["list", "cases"],
        &["lint"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
            .env("ROLECALL_CACHE", crate::folder::CACHE)
            .args(command)
            .current_dir(folder.path(""))
            .stdout(fs::File::options().write(true).open("/dev/full").unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?} {output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("cannot write the report: "),
            "{command:?} {said}"
        );
    }
}

/// A page goes into the file that the user named, and replaces nothing but a file.
#[test]
fn what_is_no_file_is_not_written_over() {
    let folder = Folder::new();
    folder.accept_all();
    let target = folder.write("target.html", "old");
    let page = folder.path("page.html");
    let is_left = |expected: &str| {
        let before = contents(&folder.path(""));
        for command in [
            &["run", "--html", "page.html"][..],
            &["check", "cases/templates/chat.jinja", "--html", "page.html"],
        ] {
            let ran = folder.rolecall(command);
            assert_eq!(ended(&ran), 2, "{command:?}");
            has(&ran.stderr(), &[&format!("page.html: {expected}")]);
            assert!(contents(&folder.path("")) == before, "{expected}");
        }
        clear(&page);
    };
    link(&target, &page);
    is_left("a link: nothing is written through links\n  remove the link");
    link("nowhere", &page);
    is_left("a link: nothing is written through links");
    fs::create_dir(&page).unwrap();
    is_left("a folder, where a file is to be written\n  remove the folder");
    pipe(&page);
    is_left("not a regular file: nothing is written");
    fs::write(&page, "old").unwrap();
    fs::set_permissions(&page, fs::Permissions::from_mode(0o444)).unwrap();
    is_left("the file is read-only: nothing is written\n  make it writable");
    assert_eq!(fs::read(&target).unwrap(), b"old");
    // No folder is made: its name may be a mistake.
    let ran = folder.rolecall(&["run", "--html", "new/folders/page.html"]);
    assert_eq!(ended(&ran), 2, "{}", ran.stderr());
    assert!(!folder.path("new").exists());
}

/// A folder that its mode closes. Root can write into it nevertheless; then the page is written.
#[test]
fn a_folder_that_may_not_be_written_to_is_reported() {
    let folder = Folder::new();
    folder.accept_all();
    let closed = folder.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let is_open = fs::File::create(closed.join("probe")).is_ok();
    let ran = folder.rolecall(&["run", "--html", "closed/page.html"]);
    if is_open {
        assert_eq!(ended(&ran), 0, "{}", ran.stderr());
    } else {
        assert_eq!(ended(&ran), 2);
        has(
            &ran.stderr(),
            &["closed/page.html: cannot be written: Permission denied"],
        );
        assert!(contents(&closed).is_empty());
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Links in the folder of snapshots do not lead records elsewhere. If something is in the way of
/// one record, the others are written, and none of the template counts.
#[test]
fn records_are_not_written_outside() {
    let (folder, records) = many();
    install_reference(&folder, "word");
    let outside = folder.write("outside/file", "old");
    fs::create_dir_all(&records[2]).unwrap();
    link("../outside/file", &records[1]);
    pipe(&records[3]);
    let ran = folder.rolecall(&["reference", "update"]);
    assert_eq!(ended(&ran), 2);
    has(
        &ran.stderr(),
        &[
            "snapshots/f101.snap: a link, where a file is expected",
            "snapshots/f102.snap: a folder, where a file is expected",
            "snapshots/f103.snap: not a regular file",
        ],
    );
    assert_eq!(
        contents(&folder.path("outside")),
        [(outside, b"old".to_vec())]
    );
    assert!(drafts(&folder).is_empty());
    assert!(records[4..].iter().all(|path| path.is_file()));
    has(&ran.stdout(), &["; 147 files written"]);
    assert!(!folder.path("snapshots/reference.json").exists());
}

/// Links in the folder of snapshots lead neither what was asked elsewhere, nor report cards.
#[test]
fn nothing_is_written_through_a_link() {
    let folder = Folder::new();
    install_reference(&folder, "word");
    fs::create_dir(folder.path("outside")).unwrap();
    fs::create_dir(folder.path("snapshots")).unwrap();
    let refused = |command: &[&str], expected: &str| {
        let ran = folder.rolecall(command);
        assert_eq!(ended(&ran), 2);
        has(&ran.stderr(), &[expected]);
        assert_eq!(contents(&folder.path("outside")), []);
    };
    let asked = folder.path("snapshots/reference.json");
    link("../outside/asked", &asked);
    refused(&["reference", "update"], "snapshots/reference.json: a link");
    clear(&asked);
    link("../outside", &folder.path("snapshots/cards"));
    refused(
        &["accept"],
        "snapshots/cards: a link, which may lead outside of snapshots",
    );
}

#[test]
fn schemas_are_not_written_outside() {
    let folder = Folder::new();
    fs::create_dir(folder.path("outside")).unwrap();
    link("../outside", &folder.path("cases/schema"));
    let ran = folder.rolecall(&["lint", "--fix"]);
    assert_eq!(ended(&ran), 2);
    has(
        &ran.stderr(),
        &["cases/schema: a link, which may lead outside of cases"],
    );
    assert_eq!(contents(&folder.path("outside")), []);
}
