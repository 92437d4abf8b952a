//! The suite's twins give the same prompts, or `snapshots/twins.json` says why not.

use rolecall_cli::report;
use rolecall_front::engines::Engines;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Suite;
use rolecall_suite::twins;

use crate::folder::Folder;
use crate::project::LAYOUT;

#[test]
fn twins_agree_or_their_differences_are_explained() {
    let mut suite = Suite::load_layout(&LAYOUT);
    twins::prepare(&mut suite);
    let families = twins::families(&suite);
    assert!(!families.is_empty());
    let explanations = twins::read(&LAYOUT.twins()).unwrap();
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], None).unwrap();
    let run = runner.render(&twins::pairs(&suite, &families));
    let compared = twins::compare(&suite, &families, &run);
    let mut out = Vec::new();
    report::twins::write(&mut out, &compared, &explanations, false).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(explanations.unexplained(&compared), 0, "{out}");
}

/// Named templates are compared even if only some of them name a family.
#[test]
fn named_templates_are_twins_where_one_alone_names_a_family() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        folder.write(&format!("{name}.jinja"), "{{ messages[0].content }}");
    }
    let twins = [
        "diff",
        "--twins",
        "--templates",
        "a.jinja",
        "--templates",
        "b.jinja",
    ];
    for sidecar in [r"{}", r#"{"family": "ours"}"#] {
        folder.write("b.json", sidecar);
        let ran = folder.rolecall(&twins);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
        let out = ran.stdout();
        assert!(out.contains("the same prompt in 2 of 2 cases"), "{out}");
    }
    folder.write("a.json", r#"{"family": "theirs"}"#);
    assert_eq!(folder.rolecall(&twins).code(), 0);
}
