//! The command line as users see it: results, exit codes, and messages about bad input.

use rolecall_check::contract;
use rolecall_core::fingerprint::Fingerprint;

use crate::folder::Folder;

#[test]
fn render_gives_one_exact_line_a_pair() {
    let folder = Folder::new();
    let ran = folder.rolecall(&["render", "--format", "jsonl"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 4);
    // What was rendered: the source, the settings and the case.
    let sha256 = &lines[0]["sha256"];
    let source = std::fs::read(folder.path("cases/templates/chat.jinja")).unwrap();
    assert_eq!(sha256["template"], Fingerprint::of(source).to_string());
    assert_eq!(sha256.as_object().unwrap().len(), 3);
    assert_eq!(
        lines[0],
        serde_json::json!({
            "template": "chat", "case": "plain/user", "engine": "rolecall-jinja",
            "version": env!("CARGO_PKG_VERSION"), "front": "transformers", "sha256": sha256,
            "outcome": "rendered", "text": "<user>Hi\u{7f}\n<assistant>"
        })
    );
    assert_eq!(lines[3]["outcome"], "raised");
    assert_eq!(lines[3]["message"], "No system role");
}

#[test]
fn raw_gives_the_exact_bytes_and_nothing_else() {
    let folder = Folder::new();
    let ran = folder.rolecall(&["show", "chat", "plain/user", "--raw"]);
    assert_eq!(ran.0.stdout, b"<user>Hi\x7f\n<assistant>");
    let ran = folder.rolecall(&["show", "chat", "plain/user"]);
    assert_eq!(ran.stdout(), "rendered\n<user>Hi␡␊\n<assistant>␃\n");
}

#[test]
#[ignore = "tries every byte; .ci/run runs it"]
fn every_byte_of_a_snapshot_counts() {
    let folder = Folder::new();
    folder.accept_all();
    let path = folder.path("snapshots/plain.snap");
    let accepted = std::fs::read_to_string(&path).unwrap();
    let body = accepted.find("rendered").unwrap();
    let counted = accepted.char_indices().filter(|(at, _)| *at >= body);
    for (at, c) in counted {
        if at + c.len_utf8() == accepted.len() {
            // insta ends the file with a line break of its own.
            continue;
        }
        let other = if c == 'x' { 'y' } else { 'x' };
        let rest = &accepted[at + c.len_utf8()..];
        std::fs::write(&path, format!("{}{other}{rest}", &accepted[..at])).unwrap();
        // A line of the reference that cannot be read is a fault of the input.
        let ran = folder.rolecall(&["run"]);
        assert!([1, 2].contains(&ran.code()), "{c:?} at byte {at}");
    }
    std::fs::write(&path, accepted.replace('\n', "\r\n")).unwrap();
    assert_eq!(folder.rolecall(&["run"]).code(), 1);
}

#[test]
fn every_contract_is_explained() {
    let folder = Folder::empty();
    let names: Vec<&str> = contract::ALL.iter().map(|contract| contract.id).collect();
    let ran = folder.rolecall(&[&["explain"], names.as_slice()].concat());
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let said = ran.stdout();
    for contract in contract::ALL {
        let title = format!("{} {} ", contract.id, contract.severity);
        assert!(said.contains(&title), "{title}");
        // Examples stay as they are, without any of the page's Markdown.
        let example = contract.page.split("```").nth(1).unwrap();
        let (_, example) = example.split_once('\n').unwrap();
        assert!(said.contains(example), "{title}");
    }
    assert!(!said.contains("```") && !said.contains("\n#"), "{said}");
    let headings = said.lines().filter(|line| *line == "How to fix it");
    assert_eq!(headings.count(), names.len());
}
