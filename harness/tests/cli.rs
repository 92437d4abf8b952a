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
fn a_probe_of_the_report_card_is_shown_by_its_name() {
    let folder = Folder::new();
    let ran = folder.rolecall(&["show", "chat", "probe/user"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    assert_eq!(
        ran.stdout(),
        "user: one question\n  {\"role\": \"user\", \"content\": \"askquill\"}\n\n\
         rendered\n<user>askquill␊\n<assistant>␃\n"
    );
    // A path works, too, and the output is exactly the prompt.
    let path = "cases/templates/chat.jinja";
    let ran = folder.rolecall(&["show", path, "probe/user-closed", "--raw"]);
    assert_eq!(ran.0.stdout, b"<user>askquill\n<assistant>");
    let ran = folder.rolecall(&["show", "chat", "probe/tools"]);
    for expected in ["\n  tools: [{\"type\": \"function\",", "\nrendered\n"] {
        assert!(ran.stdout().contains(expected), "{}", ran.stdout());
    }
    let ran = folder.rolecall(&["show", "chat", "probe/user", "--trace"]);
    let out = ran.stdout();
    for expected in ["chat probe/user ", "askquill     messages[0].content"] {
        assert!(out.contains(expected), "{out}{}", ran.stderr());
    }
    // One that a contract asks under its own name, and what others get.
    let ran = folder.rolecall(&["show", "chat", "probe/control-tokens", "--raw"]);
    assert!(ran.stdout().contains("<assistant>"), "{}", ran.stdout());
    let null = ["show", "chat", "probe/null-answer", "--raw"];
    assert!(!folder.rolecall(&null).stdout().contains("None"));
    let raw = folder.rolecall(&[&null[..], &["--front", "raw"]].concat());
    assert!(raw.stdout().contains("None"), "{}", raw.stdout());
}

#[test]
fn run_tells_what_is_new_same_and_changed() {
    let folder = Folder::new();
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    assert!(
        ran.stdout().contains("new chat plain/user"),
        "{}",
        ran.stdout()
    );
    assert!(!folder.path("snapshots").exists(), "run writes nothing");

    folder.accept_all();
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    assert!(ran.stdout().contains("4 pairs in "), "{}", ran.stdout());

    // One invisible character, and the end of the generation prompt.
    let source = std::fs::read_to_string(folder.path("cases/templates/chat.jinja")).unwrap();
    let changed = source.replace("<assistant>\n", "<assistant>\u{A0}\n");
    folder.write("cases/templates/chat.jinja", &changed);
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 1);
    let out = ran.stdout();
    for expected in [
        "changed chat plain/user, by line 2 of the template\n",
        "  One user turn.\n",
        "expected the end, found U+00A0 NO-BREAK SPACE",
        "- <assistant>␃\n",
        "+ <assistant>⟦U+00A0⟧␃\n",
        "the same difference in 1 other pair:\n    chat: plain/system\n",
        "  to look at it: rolecall show chat plain/user --diff\n",
        "2 pairs are not as accepted: run `rolecall review`\n",
        "all pairs of 1 other template are as expected: --all shows them\n",
    ] {
        assert!(out.contains(expected), "missing {expected:?} in\n{out}");
    }
    let rows = |out: &str| out.lines().filter(|line| line.ends_with(" agree")).count();
    let all = folder.rolecall(&["run", "--all"]).stdout();
    assert!(rows(&all) > rows(&out), "{out}\n{all}");
    let ran = folder.rolecall(&["show", "chat", "plain/user", "--diff"]);
    assert_eq!(ran.code(), 1);
    assert!(ran.stdout().contains("NO-BREAK SPACE"));
    let lines = folder.rolecall(&["run", "--format", "jsonl"]).json_lines();
    let snapshots: Vec<_> = lines
        .iter()
        .map(|line| line["snapshot"].as_str().unwrap())
        .collect();
    assert_eq!(snapshots, ["changed", "changed", "same", "same"]);
}

/// A template's own front counts unless the user asks for another one, which has neither snapshots
/// nor records.
#[test]
fn a_front_that_is_asked_for_counts_more_than_that_of_a_template() {
    let folder = Folder::new();
    folder.write(
        "cases/templates/sees.jinja",
        "{{ messages[0].content[0].type }}",
    );
    folder.write(
        "cases/templates/sees.json",
        r#"{"front": "transformers-processor"}"#,
    );
    folder.write(
        "cases/conversations/image.json",
        r#"{"about": "Images.", "cases": {"url": {"messages": [{"content": [{"type": "image_url", "image_url": "u"}]}]}}}"#,
    );
    let shown = |arguments: &[&str]| folder.rolecall(&[&["show"], arguments].concat());
    for (arguments, expected) in [
        (&["image/url"][..], "image"),
        (&["image/url@raw"], "image_url"),
        (&["image/url", "--front", "raw"], "image_url"),
        (&["image/url", "--front", "transformers"], "image_url"),
    ] {
        let ran = shown(&[&["sees"], arguments].concat());
        assert_eq!(ran.stdout(), format!("rendered\n{expected}␃\n"));
    }
    let ran = shown(&["chat", "image/url@raw"]);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr()
            .contains("so it has no version of its own; use `image/url`"),
        "{}",
        ran.stderr()
    );

    folder.accept_all();
    let processor = "transformers-processor";
    let elsewhere = ["--against", "rolecall-jinja"];
    for (front, others, code, found) in [
        // If both fronts make the same of a case, its record holds for both.
        ("transformers", &[][..], 0, "2 pairs in "),
        (processor, &[], 0, "3 pairs in "),
        ("transformers", &elsewhere, 0, "3 of 3 agree"),
        (processor, &elsewhere, 0, "3 of 3 agree"),
        ("raw", &[], 0, "3 pairs in "),
    ] {
        let arguments = [&["run", "sees", "--front", front], others].concat();
        let ran = folder.rolecall(&arguments);
        let said = ran.stdout() + &ran.stderr();
        assert_eq!(ran.code(), code, "{front} {others:?}: {said}");
        assert!(said.contains(found), "{front} {others:?}: {said}");
    }
    let diff = ["sees", "image/url", "--diff", "--front"];
    assert_eq!(shown(&[&diff[..], &[processor]].concat()).code(), 0);
    assert_eq!(shown(&[&diff[..], &["transformers"]].concat()).code(), 2);
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
fn a_typo_in_a_case_makes_no_orphan_of_its_snapshot() {
    let folder = Folder::new();
    folder.accept_snapshots();
    let file = folder.path("cases/conversations/plain.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"messages\"", "\"mesages\"", 1)).unwrap();
    let ran = folder.rolecall(&["run"]);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr()
            .contains("unknown key `mesages` in `cases.user`")
    );
    assert!(!ran.stdout().contains("orphan"), "{}", ran.stdout());
    // A case that was removed leaves a section behind.
    let gone = text.replacen("\"user\": {", "\"other\": {", 1);
    std::fs::write(&file, gone).unwrap();
    assert!(folder.rolecall(&["run"]).stdout().contains("an orphan"));
}

#[test]
fn lint_finds_what_someone_has_edited() {
    let folder = Folder::new();
    folder.accept_all();
    let name = "snapshots/plain.snap";
    let accepted = std::fs::read_to_string(folder.path(name)).unwrap();
    let edited = "not as insta writes it";
    let last = accepted.lines().count();
    for (line, changed) in [
        (last, accepted.trim_end().to_owned()),
        (2, accepted.replace("source: harness", "source: Harness")),
        (3, accepted.replace("plain.json", "other.json")),
    ] {
        folder.write(name, &changed);
        let out = folder.rolecall(&["lint"]).stdout();
        assert!(out.contains(&format!("{name}:{line}:1: {edited}")), "{out}");
    }
    folder.write(name, &accepted);
    folder.write(
        "cases/templates/strict.json",
        r#"{"$schema": "../schema/cases.schema.json", "family": "alone"}"#,
    );
    let out = folder.rolecall(&["lint"]).stdout();
    assert!(!out.contains(edited), "{out}");
    for expected in [
        "strict.json: `$schema` names another schema than this file's",
        "strict.json: no other template is of the family `alone`",
    ] {
        assert!(out.contains(expected), "{out}");
    }
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

/// A message about a defect says where to read more about it.
#[test]
fn a_card_with_defects_says_where_more_is_reported() {
    let folder = Folder::empty();
    folder.write("bad.jinja", "{{ messages[0].content }}");
    folder.write(
        "good.jinja",
        "{% for message in messages %}<{{ message.role }}>{{ message.content }}</s>{% endfor %}\
         {{ '<assistant>' if add_generation_prompt }}",
    );
    for (name, is_reported) in [("bad.jinja", true), ("good.jinja", false)] {
        let said = folder.rolecall(&["check", name]).stdout();
        let count = said.matches("`rolecall explain CONTRACT`").count();
        assert_eq!(count, usize::from(is_reported), "{said}");
    }
}

#[test]
fn colour_is_for_terminals_only() {
    let folder = Folder::new();
    for arguments in [
        &["run"][..],
        &["list", "templates"],
        &["explain", "one-bos"],
        &["show", "chat", "plain/user"],
    ] {
        let ran = folder.rolecall(arguments);
        assert!(!ran.stdout().contains('\u{1B}'), "{arguments:?}");
    }
}
