//! The kinds of folders. Nothing outside of a folder is read.

use rolecall_io::source;
use rolecall_suite::layout::Layout;
use rolecall_suite::suite::Suite;

use crate::extent::is_everything;

use super::build::Gguf;
use super::{Folder, notes, problem_in, problems, templates};

#[test]
fn a_folder_of_templates_is_one_also_when_a_sidecar_has_the_name_of_a_models_file() {
    let folder = Folder::new();
    folder.write("t/config.jinja", "A");
    folder.write(
        "t/config.json",
        r#"{"special_tokens": {"bos_token": "<s>"}}"#,
    );
    folder.write("t/chat_template.jinja", "B");
    folder.write("t/chat_template.json", r#"{"about": "A sidecar."}"#);
    folder.write("t/port.gotmpl", "C");
    let found = folder.read("t");
    assert_eq!(
        templates(&found),
        ["chat_template: B", "config: A", "port: C"]
    );
    assert!(
        found.notes.is_empty() && found.problems.is_empty(),
        "{found:#?}"
    );
}

#[test]
fn the_models_of_a_folder_are_found() {
    let folder = Folder::new();
    folder.write(
        "models/a/m/tokenizer_config.json",
        r#"{"chat_template": "A"}"#,
    );
    folder.write(
        "models/b/m/tokenizer_config.json",
        r#"{"chat_template": "B"}"#,
    );
    folder.write("models/b/x/x-Q4.gguf", Gguf::model("X").bytes());
    folder.write("models/c/n/Modelfile", "FROM x\nTEMPLATE N\n");
    folder.write("models/.hidden/h.jinja", "H");
    folder.write("models/embedder/config.json", "{}");
    let found = folder.read("models");
    assert_eq!(templates(&found), ["m: A", "m: B", "n: N", "x-Q4: X"]);
    assert!(notes(&found)[0].ends_with("embedder: the model has no chat template"));
    // Models with one name have their folders in their names.
    let suite = Suite::templates_around(&Layout::new("."), &[folder.path("models")]);
    let names: Vec<_> = suite.templates.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["a/m", "b/m", "n", "x-Q4"]);
    assert_eq!(suite.problems, []);
}

#[test]
fn a_folder_is_read_whole() {
    let folder = Folder::new();
    folder.write("t/loose.jinja", "A");
    folder.write("t/other.jinja2", "B");
    folder.write("t/short.j2", "C");
    folder.write("t/LOUD.JINJA", "D");
    folder.write("t/model/tokenizer_config.json", r#"{"chat_template": "E"}"#);
    folder.write("t/a/b/c/d/e/deep.jinja", "F");
    folder.write("t/gguf/x.GGUF", Gguf::model("G").bytes());
    folder.write("t/node_modules/x/y.jinja", "H");
    let found = folder.read("t");
    assert_eq!(
        templates(&found),
        [
            "LOUD: D", "deep: F", "loose: A", "model: E", "other: B", "short: C", "x: G"
        ]
    );
    assert_eq!(found.problems, []);
    let notes = notes(&found);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("node_modules: not read, because"),
        "{notes:?}"
    );
}

/// So many folders are made only if the tests try everything.
#[test]
fn what_is_too_deep_or_too_much_is_reported() {
    let folder = Folder::new();
    folder.write("t/good.jinja", "A");
    folder.write("t/1/2/3/4/5/6/7/8/9/deep.jinja", "B");
    let found = folder.read("t");
    assert_eq!(templates(&found), ["good: A"]);
    let problem = problem_in(folder.0.path(), &found);
    assert!(
        problem.starts_with("t/1/2/3/4/5/6/7/8/9: not read: more than 8 levels below"),
        "{problem}"
    );
    if is_everything() {
        for number in 0..=source::MOST_FOLDERS {
            std::fs::create_dir_all(folder.path(&format!("many/{number}"))).unwrap();
        }
        let problem = problem_in(folder.0.path(), &folder.read("many"));
        assert!(problem.contains("at most 10000 folders"), "{problem}");
    }
}

#[test]
fn what_a_model_does_not_use_is_reported() {
    let folder = Folder::new();
    folder.write("m/chat_template.jinja", "A");
    folder.write("m/tokenizer_config.json", "{}");
    folder.write("m/old.jinja2", "B");
    folder.write("m/additional_chat_templates/rag.jinja", "C");
    folder.write("m/additional_chat_templates/tool_use.j2", "D");
    folder.write("m/checkpoint-500/chat_template.jinja", "E");
    folder.write("m/runs/1/log.txt", "");
    let found = folder.read("m");
    assert_eq!(templates(&found), ["m: A", "m@rag: C"]);
    let notes = notes(&found);
    for reported in [
        "old.jinja2: ",
        "tool_use.j2: ",
        "checkpoint-500; to read them",
    ] {
        let times = notes.iter().filter(|note| note.contains(reported)).count();
        assert_eq!(times, 1, "{reported} {notes:?}");
    }
    assert_eq!(notes.len(), 3, "{notes:?}");
}

#[test]
fn a_copy_in_a_gguf_file_that_is_another_one_is_reported() {
    let folder = Folder::new();
    folder.write("m/chat_template.jinja", "F");
    folder.write("m/config.json", "{}");
    folder.write("m/Modelfile", "FROM .\n");
    folder.write("m/new.gguf", Gguf::model("F\n").bytes());
    folder.write("m/old.gguf", Gguf::model("OLD").bytes());
    let found = folder.read("m");
    assert_eq!(templates(&found), ["m: F", "new: F\n", "old: OLD"]);
    let notes = notes(&found);
    assert_eq!(notes.len(), 2);
    assert!(notes[0].contains("Modelfile: no TEMPLATE: Ollama takes that of FROM \".\""));
    assert!(notes[1].contains("old.gguf: its template differs from the one in "));
    assert_eq!(found.problems, []);
}

#[test]
fn a_folder_with_nothing_in_it_is_a_problem() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("empty/below")).unwrap();
    folder.write("empty/readme.md", "x");
    let problem = problem_in(folder.0.path(), &folder.read("empty"));
    assert!(
        problem.starts_with("empty: the folder holds no template"),
        "{problem}"
    );
    let problem = problem_in(folder.0.path(), &folder.read("empty/readme.md"));
    assert!(
        problem.starts_with("empty/readme.md: not a template\n"),
        "{problem}"
    );
    let problem = problem_in(folder.0.path(), &folder.read("nowhere"));
    assert_eq!(problem, "nowhere: no such file or folder");
    folder.write(
        "empty/adapter_config.json",
        r#"{"base_model_name_or_path": "org/base"}"#,
    );
    let problem = problem_in(folder.0.path(), &folder.read("empty"));
    assert_eq!(
        problem,
        "empty: this is an adapter without a chat template\n  its base model is `org/base`: name that \
         one, as a folder or as hf:ORG/NAME"
    );
}

#[test]
fn a_template_of_a_model_that_is_named_alone_has_the_tokens_of_its_model() {
    let folder = Folder::new();
    folder.write("m/chat_template.jinja", "F");
    folder.write("m/tokenizer_config.json", r#"{"bos_token": "<s>"}"#);
    let found = folder.read("m/chat_template.jinja");
    assert_eq!(templates(&found), ["m: F"]);
    assert_eq!(found.templates[0].special_tokens["bos_token"], "<s>");
    assert_eq!(
        found.templates[0].path,
        folder.0.path().join("m/chat_template.jinja")
    );
    // A sidecar says more.
    folder.write("m/chat_template.json", "{}");
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A repository in `huggingface_hub`'s cache.
    fn cache() -> Folder {
        let folder = Folder::new();
        let repository = "hub/models--org--name";
        folder.write(&format!("{repository}/blobs/1"), "NEW");
        folder.write(&format!("{repository}/blobs/2"), "OLD");
        folder.write(&format!("{repository}/blobs/3"), r#"{"bos_token": "<s>"}"#);
        for (commit, blob) in [("c0ffee", "1"), ("0ld", "2")] {
            let snapshot = folder.path(&format!("{repository}/snapshots/{commit}"));
            std::fs::create_dir_all(&snapshot).unwrap();
            let link = |name: &str, blob: &str| {
                symlink(format!("../../blobs/{blob}"), snapshot.join(name)).unwrap();
            };
            link("chat_template.jinja", blob);
            link("tokenizer_config.json", "3");
        }
        folder.write(&format!("{repository}/refs/main"), "c0ffee");
        folder
    }

    #[test]
    fn the_cache_is_read_by_its_refs() {
        let folder = cache();
        for path in ["hub/models--org--name", "hub"] {
            let found = folder.read(path);
            assert_eq!(templates(&found), ["org/name: NEW"], "{path} {found:#?}");
            assert_eq!(found.templates[0].special_tokens["bos_token"], "<s>");
        }
        let found = folder.read("hub/models--org--name/snapshots/0ld");
        assert_eq!(templates(&found), ["org/name: OLD"]);

        folder.write("hub/models--org--name/refs/main", "dead");
        let problem = problem_in(folder.0.path(), &folder.read("hub/models--org--name"));
        assert!(
            problem.contains("refs/main: names no snapshot that is here: \"dead\""),
            "{problem}"
        );
        std::fs::remove_file(folder.path("hub/models--org--name/refs/main")).unwrap();
        let problem = problem_in(folder.0.path(), &folder.read("hub/models--org--name"));
        assert!(
            problem.contains("several snapshots, and no refs/main"),
            "{problem}"
        );
        std::fs::remove_dir_all(folder.path("hub/models--org--name/snapshots/0ld")).unwrap();
        let found = folder.read("hub/models--org--name");
        assert_eq!(templates(&found), ["org/name: NEW"]);
    }

    #[test]
    fn links_that_lead_outside_are_not_followed() {
        let folder = cache();
        folder.write("secret.jinja", "SECRET");
        folder.write("secret.json", r#"{"chat_template": "SECRET"}"#);
        let snapshot = folder.path("hub/models--org--name/snapshots/c0ffee");
        std::fs::remove_file(snapshot.join("chat_template.jinja")).unwrap();
        symlink(
            folder.path("secret.jinja"),
            snapshot.join("chat_template.jinja"),
        )
        .unwrap();
        for path in [
            "hub/models--org--name",
            "hub/models--org--name/snapshots/c0ffee",
        ] {
            let found = folder.read(path);
            assert!(found.templates.is_empty(), "{found:#?}");
            let problem = problem_in(folder.0.path(), &found);
            assert!(
                problem.contains("chat_template.jinja: a link that leads outside of "),
                "{problem}"
            );
        }

        for (name, target) in [
            ("t/a.jinja", "../secret.jinja"),
            ("u/additional_chat_templates", "../hub"),
            ("v/tokenizer_config.json", "../secret.json"),
            ("w/x.gguf", "../nowhere"),
            ("x/s.json", "../secret.json"),
            ("y/below", "../hub"),
        ] {
            let link = folder.path(name);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, &link).unwrap();
        }
        folder.write("x/s.jinja", "S");
        for name in ["t", "u", "v", "w", "x", "y"] {
            let found = folder.read(name);
            assert!(found.templates.is_empty(), "{name} {found:#?}");
            let problems = problems(&found).join("\n");
            assert!(problems.contains("a link that leads "), "{name} {problems}");
        }
        // A link that the user names is followed.
        assert_eq!(source::read(&folder.path("t/a.jinja")).templates.len(), 1);
    }

    #[test]
    fn a_folder_with_two_names_is_read_once_and_no_circle_is_followed() {
        let folder = Folder::new();
        folder.write("t/z/a.jinja", "A");
        symlink("z", folder.path("t/latest")).unwrap();
        symlink("..", folder.path("t/z/up")).unwrap();
        folder.write("t/.store/b.jinja", "B");
        symlink(".store", folder.path("t/kept")).unwrap();
        let found = folder.read("t");
        assert_eq!(templates(&found), ["a: A", "b: B"]);
        assert!(found.templates[0].path.ends_with("t/z/a.jinja"));
        assert_eq!(found.problems, []);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = Folder::new();
        let path = folder.path("m/chat_template.jinja");
        folder.write("m/config.json", "{}");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if !made.is_ok_and(|status| status.success()) {
            return;
        }
        let problem = problem_in(folder.0.path(), &folder.read("m"));
        assert!(problem.contains("not a regular file"), "{problem}");
    }
}
