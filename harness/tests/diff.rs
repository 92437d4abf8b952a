//! `rolecall diff`: two sides; neither counts as correct.

use std::process::Command;

use serde_json::Value;

use crate::folder::{CACHE, Folder, Ran};

/// A template of ChatML with tools.
const OLD: &str = "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}\
                   <|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
                   {% if add_generation_prompt %}<|im_start|>assistant{{ '\\n' }}{% endif %}";

/// Runs the command in a terminal of a given width.
fn at_width(folder: &Folder, width: &str, arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
        .args(arguments)
        .current_dir(folder.path(""))
        .env("ROLECALL_CACHE", CACHE)
        .env("COLUMNS", width)
        .output()
        .unwrap();
    Ran(output)
}

fn diff(folder: &Folder, arguments: &[&str]) -> Ran {
    at_width(folder, "80", &[&["diff"], arguments].concat())
}

/// Whether a message is in the output, wrapped or not.
fn says(ran: &Ran, expected: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    words(&ran.stderr()).contains(&words(expected))
}

fn json(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.0.stdout).unwrap()
}

/// Two templates outside of the suite with three differences.
fn two_templates() -> Folder {
    let folder = Folder::new();
    folder.write("old.jinja", OLD);
    folder.write(
        "new.jinja",
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system') }}\
         {% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
         {% if add_generation_prompt %}<|im_start|>assistant{% endif %}",
    );
    folder
}

#[test]
fn differences_of_two_templates_are_reported_by_their_cause() {
    let folder = two_templates();
    let ran = diff(&folder, &["old.jinja", "new.jinja", "plain/*"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let out = ran.stdout();
    let (cases, card) = out.split_once("\nreport card\n").unwrap();
    assert_eq!(cases, HUMAN);
    for expected in [
        "  + limitation tools-kept: ",
        "tools: kept → dropped",
        "system: kept → refused",
        "generation prompt: `<|im_start|>assistant␊` → `<|im_start|>assistant`",
        "\n2 of 2 cases differ\n",
    ] {
        assert!(card.contains(expected), "missing {expected:?} in\n{card}");
    }
    let ran = diff(&folder, &["old.jinja", "old.jinja"]);
    assert_eq!(ran.code(), 0);
    assert!(
        ran.stdout()
            .ends_with("None of 2 cases differs, 2 give the same prompt\n"),
        "{}",
        ran.stdout()
    );
}

const HUMAN: &str = "\
- A  old.jinja
+ B  new.jinja

2  differ
2  cases

1 case: another prompt, by line 3 of the template
  - <|im_start|>assistant{{ '\\n' }}{% endif %}
  + <|im_start|>assistant{% endif %}
  plain/user
  One user turn.
  first difference at byte 52, line 3, column 22: A has U+000A LINE FEED, B has
    the end
    Hi␡<|im_end|>␊
  - <|im_start|>assistant␊
  - ␃
  + <|im_start|>assistant␃

1 case: A gives a prompt, B refuses, by line 1 of the template
  - if tools %}{{ tools | tojson }}{% endif %}{% for m in messages
  + for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No
    system') }}{% endif
  plain/system
  A system turn.
  Other edits change this case, too. Here A is B without this edit.
  - gives a prompt of 52 bytes
  + refuses: No system
";

#[test]
fn a_comment_on_a_pull_request_says_it_in_a_line_and_a_table() {
    let folder = two_templates();
    let arguments = ["old.jinja", "new.jinja", "--format", "markdown"];
    let ran = diff(&folder, &arguments);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let out = ran.stdout();
    let (head, rest) = out.split_once("\nThe report card:\n\n").unwrap();
    assert_eq!(
        head,
        "**2 of 2 cases differ.**\n\nA is `old.jinja`, B is `new.jinja`.\n\n\
         | template | differ | same prompt | both refuse | both fail |\n\
         |---|--:|--:|--:|--:|\n\
         | `old and new` | 2 | 0 | 0 | 0 |\n"
    );
    let (_, cases) = rest.split_once("\n<details>").unwrap();
    assert_eq!(cases, MARKDOWN);
}

const MARKDOWN: &str = "\
<summary>1 case: another prompt, by line 3 of the template, as in <code>plain/user</code></summary>

One user turn.

```diff
- <|im_start|>assistant{{ '\\n' }}{% endif %}
+ <|im_start|>assistant{% endif %}
```

first difference at byte 52, line 3, column 22: A has U+000A LINE FEED, B has the end

```diff
  Hi␡<|im_end|>␊
- <|im_start|>assistant␊
- ␃
+ <|im_start|>assistant␃
```

</details>

<details><summary>1 case: A gives a prompt, B refuses, by line 1 of the template, as in \
<code>plain/system</code></summary>

A system turn.

```diff
- if tools %}{{ tools | tojson }}{% endif %}{% for m in messages
+ for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system') }}{% endif
```

```diff
- gives a prompt of 52 bytes
+ refuses: No system
```

</details>
";

/// No text of a template can end the block that contains it.
#[test]
fn backticks_of_a_prompt_stay_in_their_block() {
    let folder = Folder::new();
    let quoted =
        |word: &str| format!("````\n```\n</details> `{word}` {{{{ messages[0].content }}}}\n```\n");
    folder.write("a.jinja", &quoted("one"));
    folder.write("b.jinja", &quoted("two"));
    let ran = diff(&folder, &["a.jinja", "b.jinja", "--format", "markdown"]);
    let out = ran.stdout();
    let blocks: Vec<&str> = out.split("````diff\n").collect();
    assert!(
        out.contains("\n````diff\n  ```␊\n- </details> `one` "),
        "{out}"
    );
    assert!(blocks.len() > 1 && blocks[1].contains("\n````\n"), "{out}");
}

#[test]
fn json_has_everything() {
    let folder = two_templates();
    let ran = diff(&folder, &["old.jinja", "new.jinja", "--format", "json"]);
    assert_eq!(ran.code(), 1);
    let value = json(&ran);
    assert_eq!(value["rolecall"], 1);
    assert_eq!(value["subject"], "templates");
    assert_eq!(value["differs"], true);
    assert_eq!(
        value["counts"],
        serde_json::json!({"cases": 2, "differ": 2, "same": 0, "refuse": 0, "fail": 0})
    );
    let first = &value["differences"][0];
    assert_eq!(first["cases"][0]["case"], "plain/user");
    assert!(
        first["first"]
            .as_str()
            .unwrap()
            .contains("A has U+000A LINE FEED")
    );
    assert_eq!(value["differences"][1]["b"]["message"], "No system");
    let card = &value["templates"][0]["card"];
    assert!(card["broken"][0]["contract"].is_string(), "{card}");
    assert_eq!(card["capabilities"][0]["turn"], "lost");
}

#[test]
fn two_failures_are_not_the_same_prompt() {
    let folder = Folder::new();
    let tokens = |end: &str| format!("{{{{ messages[0].content + bos_token }}}}{end}");
    folder.write("a.jinja", &tokens(""));
    folder.write("b.jinja", &tokens("x"));
    let ran = diff(&folder, &["a.jinja", "b.jinja"]);
    assert_eq!(ran.code(), 2);
    let out = ran.stdout().replace('\n', " ");
    for expected in [
        "Nothing could be compared: both sides fail in all of 2 cases.",
        "The templates speak of `bos_token`, which nothing sets",
        "2 cases: both sides fail",
        "None of 2 cases differs, 2 fail on both sides",
    ] {
        assert!(out.contains(expected), "missing {expected:?} in\n{out}");
    }
    // A template that does not need the token says nothing about the other.
    folder.write("c.jinja", "{{ messages[0].content }}");
    let ran = diff(&folder, &["a.jinja", "c.jinja"]);
    assert_eq!(ran.code(), 1);
    assert!(
        ran.stdout()
            .contains("A or B fails in 2 of 2 cases. The templates speak of `bos_token`"),
        "{}",
        ran.stdout()
    );
    // With their tokens they can be compared.
    for name in ["a.json", "b.json"] {
        folder.write(name, r#"{"special_tokens": {"bos_token": "<s>"}}"#);
    }
    let ran = diff(&folder, &["a.jinja", "b.jinja"]);
    assert_eq!(ran.code(), 1);
    assert!(
        ran.stdout()
            .contains("2 cases: another prompt, by line 1 of the template"),
        "{}",
        ran.stdout()
    );
}

#[test]
fn lines_are_as_wide_as_the_terminal_and_long_ones_are_cut() {
    let folder = Folder::new();
    let long = |word: &str| format!("{}{word}{}", "before ".repeat(300), " after".repeat(300));
    folder.write("a.jinja", &long("one"));
    folder.write("b.jinja", &long("two"));
    for (width, most) in [("60", 60), ("80", 80), ("120", 120), ("400", 130)] {
        let ran = at_width(&folder, width, &["diff", "a.jinja", "b.jinja"]);
        assert_eq!(ran.code(), 1);
        let out = ran.stdout();
        let longest = out.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= most, "{longest} columns of {width}:\n{out}");
        let lines: Vec<_> = out
            .lines()
            .filter(|line| line.contains(" before one"))
            .collect();
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with("  - …") && line.ends_with('…')),
            "{out}"
        );
    }
    let ran = diff(&folder, &["a.jinja", "b.jinja", "--all"]);
    assert!(ran.stdout().lines().any(|line| line.len() > 3000));
}

#[test]
fn engines_are_compared_with_the_same_templates() {
    let folder = Folder::new();
    folder.write("cases/templates/turned.jinja", "{{ [][::-1] }}");
    let ran = diff(
        &folder,
        &["--engines", "rolecall-jinja,minijinja", "turned"],
    );
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let out = ran.stdout();
    assert!(
        out.contains("2 cases: A gives a prompt, B crashes"),
        "{out}"
    );
    let ran = diff(
        &folder,
        &["--engines", "rolecall-jinja,minijinja", "chat:plain/user"],
    );
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    for (engines, expected) in [
        (
            "rolecall-jinja,rolecall-go",
            "no template is rendered by both: `rolecall-jinja` is for jinja, `rolecall-go` for go",
        ),
        (
            "rolecall-jinja",
            "--engines takes two engines, separated by a comma, but there is one",
        ),
        (
            "rolecall-jinja,minijinia",
            "no engine is named `minijinia`; did you mean `minijinja`?",
        ),
    ] {
        let ran = diff(&folder, &["--engines", engines]);
        assert_eq!(ran.code(), 2);
        assert!(says(&ran, expected), "{}", ran.stderr());
    }
}

#[test]
fn fronts_are_compared_with_the_same_templates() {
    let folder = Folder::new();
    folder.write(
        "cases/conversations/null.json",
        r#"{"about": "Null.", "cases": {"name": {"messages": [{"role": "user", "content": "Hi", "name": null}]}}}"#,
    );
    folder.write(
        "cases/templates/names.jinja",
        "{{ messages[0].content }}{% if 'name' in messages[0] %}{{ messages[0].name }}{% endif %}",
    );
    let ran = diff(&folder, &["--fronts", "transformers,raw"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let out = ran.stdout();
    for expected in [
        "- A  transformers: tokenizer.apply_chat_template(",
        "  names null/name\n",
        "  - Hi␃\n  + HiNone␃\n",
    ] {
        assert!(out.contains(expected), "missing {expected:?} in\n{out}");
    }
    let ran = diff(&folder, &["--fronts", "transformers,raw", "*:plain/*"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    let ran = diff(&folder, &["--fronts", "raw"]);
    assert_eq!(ran.code(), 2);
    assert!(says(&ran, "--fronts takes two fronts"), "{}", ran.stderr());
}

#[test]
fn saved_runs_are_compared_by_template_and_case() {
    let folder = Folder::new();
    let save = |name: &str| {
        let ran = folder.rolecall(&["render", "--format", "jsonl"]);
        folder.write(name, &ran.stdout());
        ran.stdout()
    };
    let before = save("before.jsonl");
    let source = std::fs::read_to_string(folder.path("cases/templates/chat.jinja")).unwrap();
    let changed = source.replace("<assistant>", "<model>");
    folder.write("cases/templates/chat.jinja", &changed);
    save("after.jsonl");
    let ran = diff(&folder, &["before.jsonl", "before.jsonl"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    let ran = diff(&folder, &["before.jsonl", "after.jsonl"]);
    assert_eq!(ran.code(), 1);
    let out = ran.stdout();
    for expected in [
        "template  differ  same  refused  both fail\n",
        "chat           2     ·        ·          ·\n",
        "2 cases: another prompt\n  chat plain/user\n",
        "the same in chat: plain/system\n",
        "2 of 4 cases differ, 1 gives the same prompt, 1 is refused by both in the same",
    ] {
        assert!(out.contains(expected), "missing {expected:?} in\n{out}");
    }
    // A removed template is a difference, too.
    let less: Vec<&str> = before.lines().skip(1).collect();
    folder.write("less.jsonl", &less.join("\n"));
    let ran = diff(&folder, &["before.jsonl", "less.jsonl"]);
    assert_eq!(ran.code(), 1);
    assert!(
        ran.stdout()
            .contains("only A has 1 case: chat plain/user\n"),
        "{}",
        ran.stdout()
    );
    folder.write("bad.jsonl", &(before.clone() + "{\"template\": 3}\n"));
    let ran = diff(&folder, &["before.jsonl", "bad.jsonl"]);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr()
            .contains("bad.jsonl:5:14: invalid type: integer `3`"),
        "{}",
        ran.stderr()
    );
    let ran = diff(&folder, &["before.jsonl", "chat"]);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr()
            .contains("`before.jsonl` is a run that was saved, and `chat` is none"),
        "{}",
        ran.stderr()
    );
}

#[test]
fn folders_are_compared_template_by_template() {
    let folder = Folder::new();
    for (path, source) in [
        ("a/one.jinja", OLD),
        ("a/two.jinja", OLD),
        ("a/gone.jinja", OLD),
        ("b/one.jinja", OLD),
        ("b/two.jinja", "{{ messages[0].content }}"),
        ("b/new.jinja", OLD),
    ] {
        folder.write(path, source);
    }
    let ran = diff(&folder, &["a", "b"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let out = ran.stdout();
    for expected in [
        "one            ·     2        ·          ·\n",
        "two            2     ·        ·          ·\n",
        "only A has 1 template: gone\n",
        "only B has 1 template: new\n",
        "report card of two\n",
    ] {
        assert!(out.contains(expected), "missing {expected:?} in\n{out}");
    }
    let ran = diff(&folder, &["a", "chat"]);
    assert_eq!(ran.code(), 2);
    assert!(
        says(
            &ran,
            "no template of A has the name of one of B: A has `gone`, `one`, `two`, B has `chat`"
        ),
        "{}",
        ran.stderr()
    );
    // A template of the suite has its sidecar.
    let ran = diff(&folder, &["strict", "cases/templates/strict.jinja"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
}

#[test]
fn a_bad_request_says_what_is_meant() {
    let folder = two_templates();
    for (arguments, expected) in [
        (&[][..], "two sides are needed"),
        (&["old.jinja"], "two sides are needed"),
        (&["old.jinja", "chta"], "`chta`\n  did you mean `chat`?"),
        (
            &["old.jinja", "new.jinja", "plain/usr"],
            "filter `*:plain/usr` matches no case\n  did you mean `*:plain/user`?",
        ),
        (
            &["old.jinja", "new.jinja", "--templates", "old.jinja"],
            "--templates is for --engines and --fronts",
        ),
    ] {
        let ran = diff(&folder, arguments);
        assert_eq!(ran.code(), 2, "{arguments:?}");
        assert!(says(&ran, expected), "{}", ran.stderr());
    }
}

/// Runs Git in a folder, without the user's settings.
fn git(folder: &Folder, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b.c",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder.path(""))
        .env("ROLECALL_CACHE", CACHE)
        .env("GIT_CONFIG_GLOBAL", "")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}");
}

/// A repository with a model whose template and tokens have changed since.
fn repository() -> Folder {
    let folder = Folder::new();
    let config = |token: &str| format!(r#"{{"bos_token": "{token}"}}"#);
    folder.write(
        "model/chat_template.jinja",
        "{{ bos_token }}{{ messages[0].content }}",
    );
    folder.write("model/tokenizer_config.json", &config("<s>"));
    folder.write("one.jinja", "{{ messages[0].content + t }}");
    folder.write("one.json", r#"{"variables": {"t": "old"}}"#);
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "First"]);
    folder.write("model/tokenizer_config.json", &config("<bos>"));
    folder.write("one.json", r#"{"variables": {"t": "new"}}"#);
    folder
}

#[test]
fn a_revision_is_read_with_all_that_belongs_to_a_template() {
    let folder = repository();
    for (revision, path, old, new) in [
        ("HEAD:model", "model", "  - <s>Hi␡␃", "  + <bos>Hi␡␃"),
        ("HEAD:one.jinja", "one.jinja", "  - Hi␡old␃", "  + Hi␡new␃"),
        ("main:./model/", "model", "  - <s>Hi␡␃", "  + <bos>Hi␡␃"),
    ] {
        let ran = diff(&folder, &[revision, path, "plain/user"]);
        assert_eq!(ran.code(), 1, "{}{}", ran.stdout(), ran.stderr());
        let out = ran.stdout();
        for expected in [&format!("- A  {revision}\n"), old, new] {
            assert!(out.contains(expected), "missing {expected:?} in\n{out}");
        }
    }
    let ran = diff(&folder, &["HEAD:model", "HEAD:model"]);
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    // Errors in a revision name the revision.
    folder.write("one.json", "{");
    git(&folder, &["commit", "--quiet", "-am", "Second"]);
    let ran = diff(&folder, &["HEAD~1:one.jinja", "HEAD:one.jinja"]);
    assert_eq!(ran.code(), 2);
    assert!(says(&ran, "HEAD:one.json:1:1: "), "{}", ran.stderr());
}

#[test]
fn what_a_repository_does_not_have_is_reported() {
    let folder = repository();
    for (revision, expected) in [
        (
            "HEAD~7:one.jinja",
            "no file is named `HEAD~7:one.jinja`, and no revision of this Git repository `HEAD~7`\n",
        ),
        ("mian:one.jinja", "did you mean `main:one.jinja`?"),
        (
            "HEAD:two.jinja",
            "the revision `HEAD` has no file or folder `two.jinja`\n  did you mean `HEAD:one.jinja`?",
        ),
        (
            "HEAD:../one.jinja",
            "HEAD:../one.jinja leads out of the repository",
        ),
    ] {
        let ran = diff(&folder, &[revision, "one.jinja"]);
        assert_eq!(ran.code(), 2, "{}", ran.stdout());
        assert!(says(&ran, expected), "{}", ran.stderr());
    }
    let empty = Folder::new();
    git(&empty, &["init", "--quiet"]);
    empty.write("one.jinja", "x");
    let ran = diff(&empty, &["HEAD:one.jinja", "one.jinja"]);
    let help = "no revision of this Git repository `HEAD`\n  it has no commit on this branch yet\n";
    assert!(says(&ran, help), "{}", ran.stderr());
    let elsewhere = Folder::new();
    elsewhere.write("one.jinja", "x");
    let output = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"))
        .args(["diff", "HEAD:one.jinja", "one.jinja"])
        .current_dir(elsewhere.path(""))
        .env(
            "GIT_CEILING_DIRECTORIES",
            elsewhere.path("").parent().unwrap(),
        )
        .output()
        .unwrap();
    let ran = Ran(output);
    assert_eq!(ran.code(), 2);
    assert!(says(&ran, "not a git repository"), "{}", ran.stderr());
}
