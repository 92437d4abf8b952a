//! One edit of a template is one cause: in every format, with the template's line.

use crate::folder::{Folder, has};

const TEMPLATE: &str = "{% for m in messages %}\n<|{{ m.role }}|>\n{{ m.content }}<|end|>\n\
    {% endfor %}\n{% if add_generation_prompt %}\n<|assistant|>\n\n{% endif %}";

/// A suite with a template of its own, with everything accepted.
fn suite() -> Folder {
    let folder = Folder::empty();
    folder.write(
        "rolecall.toml",
        "contracts = \"off\"\n[templates]\nmine = \"mine.jinja\"\n[cases]\n\
         builtin = [\"content-types/*\", \"control-tokens/*\", \"plain/*\"]\n",
    );
    folder.write("mine.jinja", TEMPLATE);
    let ran = folder.rolecall(&["accept", "*"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    folder
}

#[test]
fn a_lost_newline_is_one_cause_with_its_line_in_every_format() {
    let folder = suite();
    let lost = TEMPLATE.replace("<|assistant|>\n", "<|assistant|>");
    folder.write("mine.jinja", &lost);
    let run = |arguments: &[&str]| {
        let ran = folder.rolecall(&[&["run"], arguments].concat());
        assert_eq!(ran.code(), 1, "{}", ran.stderr());
        ran.stdout()
    };
    let out = run(&[]);
    has(
        &out,
        &["changed mine plain/single-turn, by line 6 of the template\n"],
    );
    assert_eq!(out.matches("first difference").count(), 1, "{out}");
    let out = run(&["--format", "github"]);
    has(
        &out,
        &["::error file=mine.jinja,line=6,title=changed::mine plain/single-turn and "],
    );
    assert_eq!(out.matches("title=changed").count(), 1, "{out}");
    let sarif: serde_json::Value = serde_json::from_str(&run(&["--format", "sarif"])).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let regions = results
        .iter()
        .map(|one| &one["locations"][0]["physicalLocation"]["region"]);
    assert_eq!(
        regions.collect::<Vec<_>>(),
        [&serde_json::json!({"startLine": 6})]
    );
    let out = run(&["--format", "markdown"]);
    has(
        &out,
        &[
            "as in <code>mine plain/single-turn</code>",
            "by line 6 of the template: first",
        ],
    );
    let out = run(&["--format", "junit"]);
    assert_eq!(
        out.matches("message=\"by line 6 of the template: first")
            .count(),
        1,
        "{out}"
    );
    has(
        &out,
        &["message=\"as in mine plain/single-turn: by line 6 of the template: first"],
    );
    run(&["--html", "page.html"]);
    has(
        &std::fs::read_to_string(folder.path("page.html")).unwrap(),
        &["changed by line 6"],
    );
    let out = folder.rolecall(&["accept", "--dry-run", "*"]).stdout();
    has(
        &out,
        &["changed mine plain/single-turn, by line 6 of the template\n"],
    );
    assert_eq!(out.matches("first difference").count(), 1, "{out}");
}

#[test]
fn a_template_that_does_not_compile_is_one_failure_and_comes_first() {
    let folder = suite();
    folder.write(
        "mine.jinja",
        &TEMPLATE.replace("{% endfor %}", "{% endfo %}"),
    );
    let run = |format: &str| {
        let ran = folder.rolecall(&["run", "--format", format]);
        assert_eq!(ran.code(), 1, "{}", ran.stderr());
        ran.stdout()
    };
    let out = run("human");
    assert!(out.starts_with("error mine.jinja:4:"), "{out}");
    has(&out, &["Failed: 1 template that cannot be read\n"]);
    assert!(
        !out.contains("to look at it") && !out.contains("rolecall review"),
        "{out}"
    );
    let out = run("github");
    assert!(out.starts_with("::error file=mine.jinja,line=4,"), "{out}");
    assert_eq!(out.matches("::error ").count(), 2, "{out}");
    assert_eq!(run("junit").matches("<failure").count(), 1);
}
