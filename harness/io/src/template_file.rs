//! Template files, and the sidecars next to them.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rolecall_core::{
    Branch, Dialect, OllamaSetup, Template, TemplateName, TemplatePart, Unreached, Variable,
};
use serde_json::{Map, Value, json};

use crate::settings::{self, Unread};
use rolecall_core::document::{self, Document};
use rolecall_core::file::{MOST_CASES, read_text_if_there};
use rolecall_core::json::{Field, Node};
use rolecall_core::problem::{Problem, did_you_mean, shown, shown_path};
use rolecall_core::root::{Root, text_within};
use rolecall_front::front::Front;

/// The JSON Schema of a template's sidecar, which is `<name>.json` beside the template.
pub const SIDECAR_SCHEMA: &str = include_str!("sidecar.schema.json");

pub(crate) const EXTENSIONS: [&str; 4] = ["jinja", "jinja2", "j2", "gotmpl"];

/// The dialect of a file, by its extension: `.jinja`, as models have it, or `.jinja2` or `.j2`, as
/// other projects name Jinja templates; or `.gotmpl`. Capital letters mean the same.
pub fn dialect_of(path: &Path) -> Option<Dialect> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "jinja" | "jinja2" | "j2" => Some(Dialect::Jinja),
        "gotmpl" => Some(Dialect::Go),
        _ => None,
    }
}

/// The place of a template or of a line in it: `path:line`, with the key if the template is a value
/// in a file.
pub fn place(template: &Template, line: Option<usize>) -> String {
    let path = shown_path(&template.path);
    match (&template.part, line) {
        (TemplatePart::Whole, None) => path,
        (TemplatePart::Whole, Some(line)) => format!("{path}:{line}"),
        (TemplatePart::Line(first), line) => {
            format!("{path}:{}", first + line.unwrap_or(1).saturating_sub(1))
        }
        (TemplatePart::Key(key), None) => format!("{path} ({})", key.escape_debug()),
        (TemplatePart::Key(key), Some(line)) => {
            format!("{path} ({}, line {line})", key.escape_debug())
        }
    }
}

/// The line of the file, from 1, for a line of the template. Without a line, the first line of the
/// template, if it is known. None if the template is a value in a file of another kind, because its
/// lines are not lines of that file.
pub fn line_in_file(template: &Template, line: Option<usize>) -> Option<usize> {
    match &template.part {
        TemplatePart::Whole => line,
        TemplatePart::Line(first) => Some(first + line.unwrap_or(1).saturating_sub(1)),
        TemplatePart::Key(_) => None,
    }
}

/// Reads a template and its sidecar.
///
/// A template whose sidecar is broken is not returned: rendered without its special
/// tokens it would give prompts that mean nothing.
pub fn read_template(path: &Path) -> Result<Template, Vec<Problem>> {
    read_template_in(None, path)
}

/// Reads a template and its sidecar as [`read_template`] does. With a bound, both lie in that
/// folder.
pub(crate) fn read_template_in(
    bound: Option<&Root>,
    path: &Path,
) -> Result<Template, Vec<Problem>> {
    let mut problems = Vec::new();
    let Some(dialect) = dialect_of(path) else {
        return Err(vec![
            Problem::new(path, "not a template")
                .help("a template is a .jinja, .jinja2, .j2 or .gotmpl file"),
        ]);
    };
    let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else {
        return Err(vec![Problem::new(path, "the file's name is not UTF-8")]);
    };
    let source = text_within(bound, path, MOST_CASES)
        .map_err(|problem| problems.push(problem))
        .ok();
    // Without its source, too: the mistakes of the sidecar are reported together with that of the
    // template.
    let template = Template::from_source(name, dialect, source.as_deref().unwrap_or_default());
    let sidecar = read_sidecar(bound, &sidecar(path), &template)
        .map_err(|found| problems.extend(found))
        .ok();
    match (source, sidecar) {
        (Some(_), Some(sidecar)) => Ok(Template {
            // A file's name may have characters that a terminal obeys.
            name: TemplateName::new(&shown(name)),
            path: path.to_path_buf(),
            about: sidecar.about,
            origin: sidecar.origin,
            special_tokens: sidecar.special_tokens,
            variables: sidecar.variables,
            front: sidecar.front.map(|front| front.name().to_owned()),
            broken: sidecar.broken,
            unreached: sidecar.unreached,
            setup: sidecar.setup,
            response_template: sidecar.response_template,
            ..template
        }),
        _ => Err(problems),
    }
}

#[derive(Default)]
struct SidecarContent {
    about: Option<String>,
    origin: Option<String>,
    special_tokens: Map<String, Value>,
    variables: Vec<(String, Variable)>,
    front: Option<Front>,
    broken: Vec<(String, String)>,
    unreached: Vec<Unreached>,
    setup: OllamaSetup,
    response_template: Option<Value>,
}

/// The file where the sidecar of a template is, if it has one.
pub fn sidecar(template: &Path) -> PathBuf {
    // `with_extension` would leave the folder for a file named `...jinja`.
    let mut name = template.file_stem().unwrap_or_default().to_owned();
    name.push(".json");
    template.with_file_name(name)
}

/// Whether a file with the path of a sidecar is transformers' own `chat_template.json`, in which
/// processors keep a template.
fn is_legacy_template(path: &Path, text: &str) -> bool {
    path.file_name()
        .is_some_and(|name| name == "chat_template.json")
        && serde_json::from_str::<Map<String, Value>>(text)
            .is_ok_and(|object| object.contains_key("chat_template"))
}

static RULES: LazyLock<Value> = LazyLock::new(|| document::schema(SIDECAR_SCHEMA));

fn read_sidecar(
    bound: Option<&Root>,
    path: &Path,
    template: &Template,
) -> Result<SidecarContent, Vec<Problem>> {
    let text = match bound {
        Some(root) => root.text(path),
        None => read_text_if_there(path),
    };
    let text = match text {
        Ok(Some(text)) if !is_legacy_template(path, &text) => text,
        Ok(_) => return Ok(SidecarContent::default()),
        Err(problem) => return Err(vec![problem]),
    };
    document::read(path, &text, &RULES, "the sidecar", |document, root| {
        let fields = |key: &str| root.get(key).map_or(&[][..], Node::fields);
        let setup = root.get("setup");
        let of_setup = |key: &str| setup?.text_of(key);
        let messages = setup.and_then(|setup| setup.get("messages"));
        let messages = messages.map_or(&[][..], Node::items).iter();
        if let Some(variables) = root.get("variables") {
            document.check_twice(variables, "`variables`");
        }
        report_misspelt(
            document,
            template,
            [fields("special_tokens"), fields("variables")],
        );
        SidecarContent {
            about: root.text_of("about"),
            origin: root.text_of("origin"),
            special_tokens: special_tokens(fields("special_tokens")),
            variables: variables(document, fields("variables")),
            front: root
                .get("front")
                .and_then(|value| front(document, value, template.dialect)),
            broken: fields("broken")
                .iter()
                .map(|field| (field.name.to_string(), document.reason_for(field)))
                .collect(),
            unreached: unreached(document, fields("unreached")),
            setup: OllamaSetup {
                model: of_setup("model"),
                family: of_setup("family"),
                parser: of_setup("parser"),
                system: of_setup("system"),
                messages: messages
                    .filter_map(|one| Some((one.text_of("role")?, one.text_of("content")?)))
                    .collect(),
                ..OllamaSetup::default()
            },
            // What is in it is checked where it is used: models have the same object.
            response_template: root.get("response_template").map(Node::value),
        }
    })
}

/// Reports special tokens and variables that a template does not read, where another name was probably
/// meant.
fn report_misspelt(
    document: &mut Document<'_>,
    template: &Template,
    [tokens, variables]: [&[Field<'_>]; 2],
) {
    let [names, own] = [tokens, variables].map(|fields| {
        let names = fields.iter().map(|field| &*field.name);
        names.collect::<Vec<&str>>()
    });
    let unread = settings::unread([template], &names, &own);
    for (field, unread) in tokens.iter().chain(variables).zip(unread) {
        if let Some(Unread {
            what,
            meant: Some(meant),
        }) = unread
        {
            let message = format!("the template does not read {what}");
            document.problem(field.range.start, message, Some(meant));
        }
    }
}

/// Special tokens as sidecars and `rolecall.toml` have them.
pub fn special_tokens(fields: &[Field<'_>]) -> Map<String, Value> {
    let tokens = fields.iter();
    tokens
        .map(|field| (field.name.to_string(), field.value.value()))
        .collect()
}

fn unreached(document: &mut Document<'_>, places: &[Field<'_>]) -> Vec<Unreached> {
    let mut all = Vec::new();
    for place in places {
        for field in place.value.fields() {
            let why = document.reason_for(field);
            let Some(branch) = Branch::named(&field.name) else {
                let names = Branch::ALL.map(Branch::name).join("`, `");
                let name = &field.name;
                let message = format!("there is no branch `{name}`; expected one of `{names}`");
                document.problem(field.value.range.start, message, None);
                continue;
            };
            let place = place.name.to_string();
            all.push(Unreached { place, branch, why });
        }
    }
    all
}

/// A front that there is, and that is for templates of a dialect.
fn front(document: &mut Document<'_>, value: &Node<'_>, dialect: Dialect) -> Option<Front> {
    let name = value.text()?;
    let fitting = || Front::ALL.into_iter().filter(|front| front.is_for(dialect));
    let (message, question) = match name.parse::<Front>() {
        Ok(front) if front.is_for(dialect) => return Some(front),
        Ok(front) => (
            format!("the front `{front}` is not for {dialect} templates"),
            None,
        ),
        Err(error) => (
            error.to_string(),
            did_you_mean(name, fitting().map(Front::name)),
        ),
    };
    let help = question.unwrap_or_else(|| {
        let names: Vec<_> = fitting().map(|front| format!("`{front}`")).collect();
        format!("fronts for {dialect} templates: {}", names.join(", "))
    });
    document.problem(value.range.start, message, Some(help));
    None
}

/// Variables as sidecars and `rolecall.toml` have them. One with `$json` is generated.
pub fn variables(document: &mut Document<'_>, fields: &[Field<'_>]) -> Vec<(String, Variable)> {
    let variable = |field: &Field<'_>| {
        let value = &field.value;
        if value.entry("$json").is_none() {
            return (field.name.to_string(), Variable::Value(value.value()));
        }
        document.check(&GENERATED, &format!("the variable `{}`", field.name), value);
        let indent = value.get("indent").map(Node::value);
        let indent = indent.and_then(|indent| usize::try_from(indent.as_u64()?).ok());
        (field.name.to_string(), Variable::ToolsJson { indent })
    };
    fields.iter().map(variable).collect()
}

/// What a generated variable looks like.
static GENERATED: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "$json": {"type": "string", "const": "tools"},
            "indent": {"type": ["integer", "null"], "minimum": 0, "maximum": 16},
        },
        "additionalProperties": false,
    })
});

/// Whether a template is written for Go. Such a template has no `{%`, without which Jinja has no
/// statements, and some `{{` is followed by text that is an error in Jinja, such as `.Messages` or
/// `range`.
pub fn is_go(text: &str) -> bool {
    const WORDS: [&str; 8] = [
        "if", "range", "with", "end", "else", "define", "template", "block",
    ];
    let is_of_go = |action: &str| {
        let action = action.strip_prefix('-').unwrap_or(action).trim_start();
        let word = action
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        action.starts_with(['.', '$']) || action.starts_with("/*") || WORDS.contains(&word)
    };
    !text.contains("{%") && text.split("{{").skip(1).any(is_of_go)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sidecar_is_optional_and_a_broken_one_is_not_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jinja");
        std::fs::write(&path, "a\r\nb\r\n").unwrap();
        let template = read_template(&path).unwrap();
        assert_eq!(template.source, "a\r\nb\r\n");
        assert_eq!(template.name.as_str(), "t");

        let sidecar = folder.path().join("t.json");
        std::fs::write(
            &sidecar,
            r#"{"special_tokens": {"bos_token": "<s>"}, "variables": {"z": {"$json": "tools", "indent": 4}, "a": 1}}"#,
        )
        .unwrap();
        let template = read_template(&path).unwrap();
        assert_eq!(template.special_tokens["bos_token"], "<s>");
        assert_eq!(
            template.variables,
            [
                ("z".to_owned(), Variable::ToolsJson { indent: Some(4) }),
                ("a".to_owned(), Variable::Value(1.into())),
            ]
        );

        let response = r#"{"response_template": {"fields": {"b": 1.50, "a": null}}}"#;
        std::fs::write(&sidecar, response).unwrap();
        let read = read_template(&path).unwrap().response_template.unwrap();
        assert_eq!(read.to_string(), r#"{"fields":{"b":1.50,"a":null}}"#);

        std::fs::write(&sidecar, r#"{"special_token": {}, "origin": 3}"#).unwrap();
        let problems: Vec<_> = read_template(&path)
            .unwrap_err()
            .iter()
            .map(|problem| problem.message.clone())
            .collect();
        assert_eq!(
            problems,
            [
                "unknown key `special_token` in the sidecar",
                "`origin` must be a string, not a number"
            ]
        );
    }

    #[test]
    fn a_sidecar_names_a_front_that_is_for_the_template() {
        let folder = tempfile::tempdir().unwrap();
        let read = |extension: &str, front: &str| {
            let path = folder.path().join(format!("t.{extension}"));
            std::fs::write(&path, "x").unwrap();
            let sidecar = format!("{{\n  \"front\": {front}\n}}");
            std::fs::write(folder.path().join("t.json"), sidecar).unwrap();
            read_template(&path)
        };
        let template = read("jinja", r#""transformers-processor""#).unwrap();
        assert_eq!(Front::of(&template), Front::TransformersProcessor);
        for (extension, front, expected) in [
            (
                "jinja",
                r#""transformers-procesor""#,
                "t.json:2:12: no front is named `transformers-procesor`\n  did you mean `transformers-processor`?",
            ),
            (
                "gotmpl",
                "3",
                "t.json:2:12: `front` must be a string, not a number",
            ),
            (
                "gotmpl",
                r#""transformers""#,
                "t.json:2:12: the front `transformers` is not for go templates\n  fronts for go templates: ",
            ),
        ] {
            let problems = read(extension, front).unwrap_err();
            let problem = problems[0].to_string();
            assert!(problem.contains(expected), "{problem}");
            assert_eq!(problems.len(), 1);
        }
    }

    #[test]
    fn a_source_that_is_not_utf8_has_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jinja");
        std::fs::write(&path, b"ok\nb\xFFd").unwrap();
        let problems = read_template(&path).unwrap_err();
        assert!(
            problems[0]
                .to_string()
                .contains("t.jinja:2:2: not UTF-8: byte 0xFF at offset 4"),
            "{}",
            problems[0]
        );
    }

    #[test]
    fn what_processors_keep_next_to_a_template_is_no_sidecar() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat_template.jinja");
        std::fs::write(&path, "F").unwrap();
        let other = folder.path().join("chat_template.json");
        std::fs::write(&other, r#"{"chat_template": "L"}"#).unwrap();
        assert_eq!(read_template(&path).unwrap().source, "F");
        std::fs::write(&other, r#"{"about": 1}"#).unwrap();
        assert!(read_template(&path).is_err());
    }

    #[test]
    fn the_dialect_is_seen_in_the_text() {
        for go in [
            "{{ .Prompt }}",
            "a{{- range .Messages }}{{ .Role }}{{ end }}",
            "{{/* words */}}x",
            "{{ $x := 1 }}",
            "{{if .System}}{{.System}}{{end}}",
        ] {
            assert!(is_go(go), "{go}");
        }
        for jinja in [
            "",
            "words",
            "{{ messages[0].content }}",
            "{% for m in messages %}{{ m.content }}{% endfor %}",
            "{{ '{{ .Prompt }}' }}{% if x %}{% endif %}",
            "{{ ending }}{{- iffy }}",
        ] {
            assert!(!is_go(jinja), "{jinja}");
        }
    }
}
