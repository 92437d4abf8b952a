//! Modelfiles, read as Ollama's parser reads them.

use rolecall_core::{Dialect, OllamaSetup};

use super::{Folder, notes, problem_in};

fn template(text: &str) -> Option<String> {
    let folder = Folder::new();
    folder.write("Modelfile", text);
    let found = folder.read("Modelfile");
    found.templates.first().map(|template| {
        assert_eq!(template.dialect, Dialect::Go);
        template.source.clone()
    })
}

#[test]
fn values_end_with_their_line_or_their_quotes() {
    for (written, expected) in [
        ("TEMPLATE {{ .Prompt }}", "{{ .Prompt }}"),
        ("TEMPLATE {{ .Prompt }}\r", "{{ .Prompt }}"),
        ("template \t  a  b \t ", "a  b"),
        ("TEMPLATE \"  a \"  ", "  a "),
        ("TEMPLATE \"a\" b \"c\"", "a\" b \"c"),
        ("TEMPLATE \"a\nb\"", "a\nb"),
        ("TEMPLATE \"\"\"\na \"quoted\"\n\"\"\" ", "\na \"quoted\"\n"),
        ("TEMPLATE \"\"\"a\r\n\tb\"\"\"", "a\r\n\tb"),
        ("TEMPLATE \"\"\"a\"\"\" b\n\"\"\"", "a\"\"\" b\n"),
        ("TEMPLATE # no comment", "# no comment"),
        ("TEMPLATE \"\"\"\n# no comment\n\"\"\"", "\n# no comment\n"),
        ("TEMPLATE 'a'", "'a'"),
        ("TEMPLATE one\nTEMPLATE two", "two"),
        ("TEMPLATE a\u{A0}b\u{200B}c<｜▁é", "abc<｜▁é"),
        ("TEMPLATE \u{200B} a", "a"),
        ("PARAMETER stop \"</s>\"\nTEMPLATE x", "x"),
        ("MESSAGE user \"\"\"\nTEMPLATE no\n\"\"\"\nTEMPLATE x", "x"),
        ("  TEMPLATE x", "x"),
        ("\u{A0}TEMPLATE x", "x"),
    ] {
        let text = format!("# A model.\nFROM ./x.gguf\n\n{written}\n");
        assert_eq!(template(&text).as_deref(), Some(expected), "{written:?}");
    }
    let utf16: Vec<u8> = "\u{FEFF}FROM x\nTEMPLATE ü\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let folder = Folder::new();
    folder.write("Modelfile", utf16);
    assert_eq!(folder.read("Modelfile").templates[0].source, "ü");
    assert_eq!(template("\u{FEFF}FROM x\nTEMPLATE y").as_deref(), Some("y"));
}

#[test]
fn what_ollama_refuses_is_refused_with_its_place() {
    for (text, expected) in [
        (
            "FROM x\nTEMPLAT y\n",
            "Modelfile:2:1: not an instruction with a value",
        ),
        (
            "FROM x\nTEMPLATE\n",
            "Modelfile:2:1: not an instruction with a value",
        ),
        (
            "FROM x\n\n  7 y\n",
            "Modelfile:3:3: not an instruction with a value",
        ),
        (
            "FROM x\nTEMPLATE \"\"\"a\nb\"\"\" c\n",
            "Modelfile:2:10: the quotation that begins here never ends",
        ),
        (
            "FROM x\nSYSTEM \"a",
            "Modelfile:2:8: the quotation that begins here never ends",
        ),
        (
            "FROM x\nMESSAGE critic No.\n",
            "Modelfile:2:9: a MESSAGE needs the role",
        ),
        (
            "FROM x\nPARAMETER stop!\n",
            "Modelfile:2:11: a PARAMETER needs a name",
        ),
        ("TEMPLATE x\n", "Modelfile: no FROM, which Ollama requires"),
        (
            "FROM x\n",
            "Modelfile: no TEMPLATE: Ollama takes that of FROM \"x\"",
        ),
        ("FROM x\nTEMPLATE \"\"\n", "Modelfile: no TEMPLATE"),
        ("", "Modelfile: no FROM"),
    ] {
        let folder = Folder::new();
        folder.write("Modelfile", text);
        let found = folder.read("Modelfile");
        assert!(found.templates.is_empty(), "{text:?}");
        let problem = problem_in(folder.0.path(), &found);
        assert!(problem.starts_with(expected), "{text:?}: {problem}");
    }
    let folder = Folder::new();
    folder.write("Modelfile", b"FROM x\nTEMPLATE a\xFF");
    let problem = problem_in(folder.0.path(), &folder.read("Modelfile"));
    assert!(
        problem.starts_with("Modelfile:2:11: not UTF-8: byte 0xFF"),
        "{problem}"
    );
}

#[test]
fn what_is_not_the_template_is_reported() {
    let folder = Folder::new();
    let text = "FROM x\nTEMPLATE no\nRENDERER r\nTEMPLATE \"\"\"a\u{A0}\"\"\"\n";
    folder.write("mine/Modelfile", text);
    let found = folder.read("mine/Modelfile");
    let template = &found.templates[0];
    assert_eq!(template.name.as_str(), "mine");
    assert!(rolecall_io::template_file::place(template, Some(1)).ends_with("mine/Modelfile:4"));
    let notes = notes(&found).join("\n");
    for expected in [
        "line 3: with RENDERER Ollama renders by code of its own",
        "line 2: this TEMPLATE is not used, the one in line 4 is",
        "4:14: Ollama drops U+00A0 from the template",
    ] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }
}

#[test]
fn what_a_server_goes_by_comes_with_the_template() {
    let folder = Folder::new();
    let text = "FROM x\nTEMPLATE t\nPARSER harmony\nSYSTEM no\nSYSTEM \"\"\"Be\nbrief.\"\"\"\n\
        MESSAGE user Hi: you\nMESSAGE assistant \"Hello.\"\nPARAMETER stop \"<|end|>\"\n\
        PARAMETER temperature 1\n";
    folder.write("mine/Modelfile", text);
    let found = folder.read("mine/Modelfile");
    assert!(notes(&found).is_empty());
    let message = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    assert_eq!(
        found.templates[0].setup,
        OllamaSetup {
            parser: Some("harmony".into()),
            system: Some("Be\nbrief.".into()),
            messages: vec![message("user", "Hi: you"), message("assistant", "Hello.")],
            stops: vec!["<|end|>".into()],
            ..OllamaSetup::default()
        }
    );
}

#[test]
fn a_modelfile_is_known_by_its_name() {
    let folder = Folder::new();
    for (file, name) in [
        ("a/Modelfile", "a"),
        ("a/modelfile.qwen", "qwen"),
        ("a/Modelfile-tools", "tools"),
        ("a/qwen3.Modelfile", "qwen3"),
    ] {
        folder.write(file, "FROM x\nTEMPLATE y\n");
        assert_eq!(folder.read(file).templates[0].name.as_str(), name);
    }
    assert_eq!(folder.read("a").templates.len(), 4);
}
