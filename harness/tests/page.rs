//! The page of `--html`, in a headless Chromium.
//!
//! These tests are ignored by default, because they need a browser: `.ci/run` installs one and runs
//! `cargo test --test harness page -- --include-ignored`. `CHROMIUM` names another program.

use std::process::Command;

use crate::folder::Folder;
use crate::scratch;
use serde_json::Value;

/// A suite with a template that tries to become markup, and one that differs from its snapshot.
fn page() -> (Folder, String) {
    let folder = Folder::new();
    folder.write(
        "cases/templates/markup.jinja",
        "</script><script>document.title = 'owned'</script><img src=x onerror=alert(1)>{{ messages[0].content }}",
    );
    folder.accept_all();
    folder.write(
        "cases/templates/strict.jinja",
        "{{ messages[0].content }}\u{A0}",
    );
    let ran = folder.rolecall(&["run", "--html", "page.html"]);
    assert_eq!(ran.code(), 1);
    assert!(
        ran.stderr().starts_with("wrote page.html ("),
        "{}",
        ran.stderr()
    );
    let html = std::fs::read_to_string(folder.path("page.html")).unwrap();
    (folder, html)
}

/// The document after a script of the test has run in it, with the script's result.
pub(crate) fn browse(folder: &Folder, html: &str, address: &str, script: &str) -> Value {
    let test = format!(
        "<script>addEventListener('load', () => setTimeout(async () => {{
            const wait = () => new Promise((done) => setTimeout(done, 150));
            const press = (key, target = document.activeElement) =>
                target.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true }}));
            const rows = () => [...document.querySelectorAll('#overview tbody tr')]
                .filter((row) => !row.hidden).map((row) => row.querySelector('a').textContent);
            const text = (selector) => document.querySelector(selector)?.textContent ?? null;
            let result;
            try {{ result = await (async () => {{ {script} }})(); }} catch (error) {{ result = String(error); }}
            const shown = document.createElement('template');
            shown.id = 'result';
            shown.setAttribute('data-result', encodeURIComponent(JSON.stringify(result)));
            document.body.append(shown);
        }}, 300));</script>"
    );
    let path = folder.write("test.html", &format!("{html}{test}"));
    let profile = scratch::folder();
    let output = Command::new(std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into()))
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--virtual-time-budget=8000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{address}", path.display()))
        .output()
        .expect("Chromium can be started");
    let dom = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = dom
        .rsplit_once("data-result=\"")
        .unwrap_or_else(|| panic!("no result in\n{dom}"));
    let (encoded, _) = rest.split_once('"').unwrap();
    serde_json::from_slice(&percent_decoded(encoded)).unwrap()
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(&others[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    bytes
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let (_folder, html) = page();
    assert!(html.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=\"", "<link", "@import", "url("] {
        // The templates' texts are compressed; the rest is the page's own.
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(
        !html.contains("owned"),
        "a template's words are in the page as they are"
    );
}

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn templates_and_cases_can_be_found() {
    let (folder, html) = page();
    let found = browse(
        &folder,
        &html,
        "",
        "const all = rows();
         const about = text('#about');
         press('/');
         const focused = document.activeElement.id;
         document.activeElement.value = 'STRI';
         document.activeElement.dispatchEvent(new Event('input'));
         const searched = rows();
         document.activeElement.value = 'plain/sys';
         document.activeElement.dispatchEvent(new Event('input'));
         const cases = [...document.querySelectorAll('td.pairs')].map((cell) => cell.textContent);
         document.activeElement.value = 'zzz';
         document.activeElement.dispatchEvent(new Event('input'));
         return { all, about, focused, searched, cases, none: [rows().length, document.getElementById('nothing').hidden], address: location.hash };",
    );
    assert_eq!(
        found["all"],
        serde_json::json!(["chat", "markup", "strict"])
    );
    assert_eq!(found["about"], "3 templates × 2 cases");
    assert_eq!(found["focused"], "search");
    assert_eq!(found["searched"], serde_json::json!(["strict"]));
    assert_eq!(found["cases"], serde_json::json!(["1", "1", "1"]));
    assert_eq!(found["none"], serde_json::json!([0, false]));
    assert_eq!(found["address"], "#q=zzz");
    // The filters in the address that a button makes.
    let found = browse(
        &folder,
        &html,
        "#o=unexpected",
        "const pressed = [...document.querySelectorAll('#filters [aria-pressed=true]')].map((one) => one.textContent);
         const before = rows();
         document.querySelector('#filters [aria-pressed=true]').click();
         return { pressed, before, after: rows() };",
    );
    assert_eq!(found["pressed"], serde_json::json!(["unexpected"]));
    assert_eq!(found["before"], serde_json::json!(["strict"]));
    assert_eq!(
        found["after"],
        serde_json::json!(["chat", "markup", "strict"])
    );
}

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn a_page_starts_with_the_verdict_and_its_causes() {
    let (folder, html) = page();
    let found = browse(
        &folder,
        &html,
        "",
        "const causes = [...document.querySelectorAll('#verdict .cause')];
         const first = document.querySelector('main').firstElementChild;
         const link = causes[0].querySelector('a');
         return { heading: text('#verdict h1'), facts: text('#verdict p'), causes: causes.length,
                  cause: causes.map((one) => one.querySelector('summary').textContent).join(' '),
                  diff: text('#verdict .diff'), asked: text('#verdict .asked'), isFirst: first.id,
                  link: link.getAttribute('href'), isOpen: causes[0].open };",
    );
    assert_eq!(found["heading"], "✗ Failed: 2 pairs changed");
    assert_eq!(found["isFirst"], "verdict");
    assert_eq!(found["isOpen"], true);
    let words = |name: &str| found[name].as_str().unwrap().to_owned();
    assert!(
        words("facts").contains("Engine: rolecall-jinja "),
        "{found}"
    );
    assert!(words("facts").contains(" UTC."), "{found}");
    assert!(
        words("cause").contains("changed by line 1 of the template strict plain/user"),
        "{found}"
    );
    assert!(words("diff").contains("+ Hi␡⟦U+00A0⟧␃"), "{found}");
    assert!(words("asked").contains("\"role\":\"user\""), "{found}");
    assert!(words("link").contains("c=plain%2F"), "{found}");
}

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn a_pair_is_shown_with_every_byte_and_its_difference() {
    let (folder, html) = page();
    let found = browse(
        &folder,
        &html,
        "#t=strict&c=plain/user",
        "await wait();
         return { heading: text('#detail h1'), pair: text('#pair h2'), diff: text('#pair .diff'),
                  hidden: text('#pair .hidden'), transcript: text('#pair .transcript'), title: document.title };",
    );
    assert_eq!(found["heading"], "strict");
    assert_eq!(found["pair"], "plain/user");
    assert_eq!(found["hidden"], "⟦U+00A0⟧");
    assert_eq!(found["transcript"], "Hi␡⟦U+00A0⟧␃");
    let diff = found["diff"].as_str().unwrap();
    assert!(
        diff.contains("- Hi␡</s>␃") && diff.contains("+ Hi␡⟦U+00A0⟧␃"),
        "{diff}"
    );

    // The template's report card: broken contracts, with the prompts that prove it, and abilities.
    let found = browse(
        &folder,
        &html,
        "#t=chat",
        "await wait();
         const broken = document.querySelector('#contract-no-null-leak');
         broken.querySelector('summary').click();
         return { open: broken.open, evidence: broken.querySelector('.transcript').textContent,
                  heading: text('h2'), capabilities: text('dl.grid'),
                  list: document.querySelectorAll('.cases a').length };",
    );
    assert_eq!(found["open"], true);
    assert_eq!(found["list"], 2);
    assert!(
        found["evidence"].as_str().unwrap().contains("None"),
        "{found}"
    );
    let heading = found["heading"].as_str().unwrap();
    assert!(heading.starts_with("Broken contracts: "), "{heading}");
    let capabilities = found["capabilities"].as_str().unwrap();
    assert!(
        capabilities.contains("roles, system, leadingkept"),
        "{capabilities}"
    );

    // A template's output is text and nothing else.
    let found = browse(
        &folder,
        &html,
        "#t=markup&c=plain/user",
        "await wait();
         return { title: document.title, images: document.images.length, transcript: text('#pair .transcript') };",
    );
    assert_eq!(found["title"], "markup · Rolecall");
    assert_eq!(found["images"], 0);
    assert!(
        found["transcript"]
            .as_str()
            .unwrap()
            .starts_with("</script><script>")
    );
}

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn the_keyboard_reaches_everything() {
    let (folder, html) = page();
    let found = browse(
        &folder,
        &html,
        "",
        "document.querySelector('.strip').focus();
         const first = text('#tip');
         press('ArrowRight');
         const second = text('#tip');
         press('ArrowDown');
         const below = text('#tip');
         press('Enter'); await wait();
         const opened = text('#pair h2');
         press('k', document.body); await wait();
         const before = text('#pair h2');
         press('Escape', document.body); await wait();
         const closed = [text('#pair h2'), text('#detail h1')];
         press('Escape', document.body); await wait();
         const theme = document.documentElement.dataset.theme;
         document.getElementById('theme').click();
         return { first, second, below, opened, before, closed, back: document.getElementById('overview').hidden,
                  themes: [theme, document.documentElement.dataset.theme] };",
    );
    let starts = |key: &str, with: &str| {
        assert!(found[key].as_str().unwrap().starts_with(with), "{found}");
    };
    starts("first", "chat · plain/user · rendered");
    starts("second", "chat · plain/system · rendered");
    starts("below", "markup · plain/system · rendered");
    assert_eq!(found["opened"], "plain/system");
    assert_eq!(found["before"], "plain/user");
    assert_eq!(found["closed"], serde_json::json!([null, "markup"]));
    assert_eq!(found["back"], false);
    assert_eq!(found["themes"], serde_json::json!(["", "dark"]));
}

#[test]
fn a_page_that_cannot_be_written_is_a_clear_error() {
    let folder = Folder::new();
    folder.accept_all();
    let ran = folder.rolecall(&["run", "--html", "cases"]);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr()
            .contains("cases: a folder, where a file is to be written"),
        "{}",
        ran.stderr()
    );
    let left = std::fs::read_dir(folder.path("")).unwrap();
    let names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(
        names.into_iter().all(|name| !name.contains("draft")),
        "a draft is left behind"
    );
}

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn nothing_of_the_overview_is_cut_off() {
    let (folder, html) = page();
    let found = browse(
        &folder,
        &html,
        "",
        "const right = [...document.querySelectorAll('.strip, td')]
             .map((part) => part.getBoundingClientRect().right);
         return { right: Math.max(...right) <= innerWidth, strips: document.querySelectorAll('.strip').length };",
    );
    assert_eq!(found["right"], true);
    assert!(found["strips"].as_u64().unwrap() > 0);
}

/// The page of `check`, for a template with a defect and one with a known defect.
fn card_page() -> (Folder, String) {
    let folder = Folder::new();
    let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\
        {% for c in m.tool_calls or [] %}{{ c }}{% endfor %}<|end|>{% endfor %}\
        {% if tools %}{{ tools }}{% endif %}";
    folder.write("own/broken.jinja", source);
    folder.write("own/known.jinja", source);
    folder.write(
        "own/known.json",
        r#"{"broken": {"no-repr-leak": "It was trained so."}}"#,
    );
    let ran = folder.rolecall(&["check", "own", "--html", "page.html"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let html = std::fs::read_to_string(folder.path("page.html")).unwrap();
    (folder, html)
}

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn what_is_broken_is_counted_and_leads_to_its_evidence() {
    let (folder, html) = card_page();
    let found = browse(
        &folder,
        &html,
        "",
        "const totals = [...document.querySelectorAll('.totals div')].map((one) => one.textContent);
         const leak = [...document.querySelectorAll('#contracts .finding')]
             .find((one) => one.querySelector('b').textContent === 'no-repr-leak');
         leak.querySelector('summary').click();
         const counts = [...leak.querySelectorAll('.count')].map((one) => one.textContent);
         const right = [...document.querySelectorAll('#contracts *')].map((part) => part.getBoundingClientRect().right);
         const link = [...leak.querySelectorAll('a')].find((one) => one.textContent === 'broken');
         link.click(); await wait(); await wait();
         const opened = document.getElementById('contract-no-repr-leak');
         return { totals, counts, isWhole: Math.max(...right) <= innerWidth, heading: text('#detail h1'), isOpen: opened.open,
                  mark: opened.querySelector('mark')?.textContent, hidden: document.getElementById('contracts').hidden };",
    );
    let totals = found["totals"].as_array().unwrap();
    assert_eq!(totals[0], "templates2", "{found}");
    assert_eq!(totals[5], "known1", "{found}");
    assert_eq!(
        found["counts"],
        serde_json::json!(["1 error (50.0 %)", "1 known (50.0 %)"])
    );
    assert_eq!(found["isWhole"], true);
    assert_eq!(found["heading"], "broken");
    assert_eq!(found["isOpen"], true, "{found}");
    assert_eq!(found["mark"], "'type': 'function'", "{found}");
    assert_eq!(found["hidden"], true);
}

/// A page of two templates. One of them gives another prompt and refuses one case.
fn two_sides() -> (Folder, String) {
    let folder = Folder::new();
    folder.write("old.jinja", "{{ messages[0].content }}");
    folder.write(
        "new.jinja",
        "{% if messages[0].role == 'system' %}{{ raise_exception('</script>no') }}{% endif %}\
         {{ messages[0].content }}\u{A0}",
    );
    let arguments = ["old.jinja", "new.jinja", "plain/*", "--html", "page.html"];
    let ran = folder.rolecall(&[&["diff"], arguments.as_slice()].concat());
    assert_eq!(ran.code(), 1, "{}", ran.stderr());
    let html = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(!html.contains("</script>no"));
    (folder, html)
}

#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn two_sides_are_shown_with_what_they_differ_in() {
    let (folder, html) = two_sides();
    let found = browse(
        &folder,
        &html,
        "",
        "const differences = [...document.querySelectorAll('.cause')].map((one) => [one.querySelector('b').textContent, one.querySelector('a').getAttribute('href'), one.querySelector('.diff') && one.querySelector('.diff').textContent, [...one.querySelectorAll(':scope > p > code')].map((code) => code.textContent)]);
         document.querySelector('.strip').focus();
         return { sides: text('.sides'), about: text('#about'), differences, rows: rows(), tip: text('#tip'),
                  filters: [...document.querySelectorAll('#filters button')].map((one) => one.textContent) };",
    );
    assert_eq!(found["sides"], "Aold.jinjaBnew.jinja");
    assert_eq!(found["about"], "2 of 2 cases differ");
    assert_eq!(
        found["differences"],
        serde_json::json!([
            [
                "another prompt, by line 1 of the template",
                "#t=old%20and%20new&c=plain%2Fuser",
                "  rendered- Hi␡␃+ Hi␡⟦U+00A0⟧␃",
                [
                    "{{ messages[0].content }}",
                    "{{ messages[0].content }}⟦U+00A0⟧"
                ]
            ],
            [
                "A gives a prompt, B refuses, by line 1 of the template",
                "#t=old%20and%20new&c=plain%2Fsystem",
                null,
                [
                    "{% if messages[0].role == 'system' %}{{ raise_exception('</script>no') }}{% endif %}"
                ]
            ]
        ])
    );
    assert_eq!(found["rows"], serde_json::json!(["old and new"]));
    assert_eq!(
        found["tip"],
        "old and new · plain/user · differs · One user turn."
    );
    assert_eq!(found["filters"], serde_json::json!(["differs"]));
    let found = browse(
        &folder,
        &html,
        "#t=old%20and%20new&c=plain%2Fuser",
        "await wait();
         return { diff: text('#pair .diff'), changes: text('.changes'),
                  sides: [...document.querySelectorAll('#pair .two > div')].map((one) => one.textContent) };",
    );
    assert_eq!(found["diff"], "  rendered- Hi␡␃+ Hi␡⟦U+00A0⟧␃");
    assert_eq!(
        found["sides"],
        serde_json::json!(["A: renderedHi␡␃", "B: renderedHi␡⟦U+00A0⟧␃"])
    );
    assert!(!found["changes"].as_str().unwrap().is_empty(), "{found}");
}

/// If a model's vocabulary is known, each token of a prompt has its colour and its number.
#[test]
#[ignore = "needs Chromium; .ci/run runs it"]
fn prompts_are_shown_token_by_token() {
    let table: Value = serde_json::from_str(include_str!("data/tokens.json")).unwrap();
    let folder = Folder::new();
    let row = &table["rows"][0];
    folder.write(
        "m/tokenizer.json",
        &table["tokenizers"]["byte-level"].to_string(),
    );
    folder.write("m/tokenizer_config.json", &row["config"].to_string());
    let ran = folder.rolecall(&["check", "m", "--html", "page.html"]);
    assert!(ran.stderr().contains("wrote page.html"), "{}", ran.stderr());
    let html = std::fs::read_to_string(folder.path("page.html")).unwrap();
    let shown = browse(
        &folder,
        &html,
        "#t=m",
        "document.querySelector('.cases a').click(); await wait(); await wait();
         const tokens = [...document.querySelectorAll('.token')];
         return {
             summary: text('.tokens summary'),
             count: tokens.length,
             first: [tokens[0].className, tokens[0].title, tokens[0].textContent],
             whole: tokens.map((token) => token.textContent).join('') + '\\u2403'
                 === document.querySelector('#pair .transcript').textContent,
         };",
    );
    let count = shown["count"].as_u64().unwrap();
    assert!(count > 10, "{shown}");
    assert_eq!(shown["summary"], format!("{count} tokens"));
    let first = serde_json::json!(["token is-special", "token 302, special", "<|im_start|>"]);
    assert_eq!(shown["first"], first);
    assert_eq!(shown["whole"], true, "{shown}");
}
