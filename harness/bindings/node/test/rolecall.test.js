// The package over the exported suite, and each of its calls. scripts/try-embedded runs this in a
// folder into which the package was installed.
//
//     EXPORT=data COMMAND=path/of/rolecall node --test

"use strict";

const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const { mkdtempSync, readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { test } = require("node:test");
const { RolecallError, Template } = require("rolecall");

const { EXPORT, COMMAND } = process.env;
const hi = [{ role: "user", content: "Hi" }];

/** The error of a call, with these properties. */
function holdsError(call, code, { text = "", line, column } = {}) {
  assert.throws(call, (error) => {
    assert.ok(error instanceof RolecallError && error instanceof Error, error);
    assert.deepStrictEqual([error.code, error.line, error.column], [code, line, column], error.message);
    assert.ok(error.message.includes(text), error.message);
    return true;
  });
}

const plain = (source, options) => new Template(source, { front: "raw", ...options });

test("a prompt", () => {
  const source = "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if x %}{{ x }}{% endif %}";
  const template = new Template(source, { specialTokens: { bos_token: "<s>" } });
  assert.strictEqual(template.render(hi), "<s><user>Hi");
  assert.strictEqual(template.render([{ role: "user", content: "a\0😀" }], { x: "y" }), "<s><user>a\0😀y");
  assert.strictEqual(template.source, source);
  assert.strictEqual(template.name, "template");
  assert.strictEqual(plain("{{ tools[0].function.name }}").render(hi, { tools: [{ function: { name: "f" } }] }), "f");
  assert.strictEqual(plain("{{ add_generation_prompt }}").render(hi, { addGenerationPrompt: false }), "False");
  const go = new Template("{{ range .Messages }}{{ .Content }}{{ end }}", { dialect: "go" });
  assert.strictEqual(go.render(hi), "Hi");
  const continued = new Template("{% for m in messages %}{{ m.content }}</s>{% endfor %}");
  assert.strictEqual(continued.render(hi, { continueFinalMessage: true }), "Hi");
});

test("numbers", () => {
  const template = plain("{{ n }}");
  const huge = 123456789012345678901234567890n;
  assert.strictEqual(template.render(hi, { n: huge }), String(huge));
  assert.strictEqual(template.render(hi, { n: [-1n, { "a\n": 2n ** 64n }] }), "[-1, {'a\\n': 18446744073709551616}]");
  assert.strictEqual(template.render(hi, { n: 1.0 }), "1");
  assert.strictEqual(template.render(hi, { n: 0.1 }), "0.1");
  assert.strictEqual(template.render(hi, { n: NaN }), "None");
  assert.strictEqual(template.renderJson('{"messages": [], "variables": {"n": 1.0}}'), "1.0");
});

test("the clock", () => {
  const template = plain("{{ strftime_now('%Y-%m-%d %H:%M') }}");
  assert.strictEqual(template.render(hi, { now: "2026-07-09T23:04:05+02:00" }), "2026-07-09 23:04");
  assert.strictEqual(template.render(hi, { now: new Date(2026, 6, 9, 23, 4) }), "2026-07-09 23:04");
  assert.ok(template.render(hi).startsWith(`${new Date().getFullYear()}-`));
  holdsError(() => template.render(hi, { now: new Date("x") }), "invalid", { text: "not a valid date" });
});

test("errors", () => {
  holdsError(() => plain("a\n b {{ }}"), "syntax", { line: 2, column: 7, text: "(line 2, column 7)" });
  holdsError(() => plain("{{ raise_exception('No.') }}").render(hi), "raised", { text: "No." });
  holdsError(() => new Template("x").render([]), "refused", { text: "no messages" });
  holdsError(() => plain("\n{{ x.y.z }}").render(hi), "failed", { line: 2 });
  const endless = plain("{% for i in range(99) %}{{ i }}{% endfor %}", { limits: { fuel: 9 } });
  holdsError(() => endless.render(hi), "limit", { text: "the limit on fuel ran out" });
  holdsError(() => plain("x", { bosToken: "<s>" }), "invalid", { text: "no option is named `bosToken`" });
  holdsError(() => plain("x", { dialect: "erb" }), "invalid", { text: "no dialect is named `erb`" });
  holdsError(() => plain("x").render(hi, { tools: {} }), "invalid", { text: "`tools`" });
  holdsError(() => plain("x").render([{ content: "\ud800" }]), "invalid", { text: "not JSON" });
  holdsError(() => plain("x").renderJson("{"), "invalid", { text: "not JSON" });
  assert.throws(() => plain("\ud800"), TypeError);
  assert.throws(() => plain("x").render("Hi"), TypeError);
  const circle = {};
  circle.circle = circle;
  assert.throws(() => plain("x").render([circle]), TypeError);
});

test("a file, and a report card", () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-"));
  const file = join(folder, "tags.jinja");
  const source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
  writeFileSync(file, source);
  const [loaded, ...others] = Template.load(file);
  assert.deepStrictEqual([loaded.name, loaded.source, others], ["tags", source, []]);
  assert.strictEqual(loaded.render(hi), "<user>Hi");
  holdsError(() => Template.load(join(folder, "absent.jinja")), "invalid", { text: "absent.jinja" });
  holdsError(() => loaded.check({ select: "luck" }), "invalid", { text: "there is no contract `luck`" });

  // `check` ends with 1 where a contract is broken.
  const command = (...words) => {
    try {
      return JSON.parse(execFileSync(COMMAND, ["check", file, "-q", "--format", "json", ...words], { stdio: "pipe" }));
    } catch (error) {
      assert.strictEqual(error.status, 1, error);
      return JSON.parse(error.stdout);
    }
  };
  assert.deepStrictEqual(loaded.check(), command());
  const named = new Template(source, { name: "tags" });
  const card = named.check({ select: ["text-verbatim", "turns-closed"] });
  const expected = command("--select", "text-verbatim", "--select", "turns-closed");
  assert.deepStrictEqual(card.cards[0].findings, expected.cards[0].findings);
  assert.ok(card.cards[0].findings.length > 0);
});

/** The text of each member of `cases` in a file of the export: a member is a line. */
function caseTexts(path) {
  const [, body] = readFileSync(path, "utf8").split('\n  "cases": {\n');
  const lines = body.split("\n").map((line) => /^    ("[^"]*"): (\{.*\}),?$/s.exec(line));
  return new Map(lines.filter(Boolean).map(([, name, text]) => [JSON.parse(name), text]));
}

/** What a call gives, as the export writes it. */
function outcome(call) {
  try {
    return { outcome: "rendered", text: call() };
  } catch (error) {
    const { code, reason } = error;
    assert.ok(error instanceof RolecallError, error);
    if (code === "raised") return { outcome: "raised", message: reason };
    if (code === "limit") return { outcome: "exceeded" };
    assert.ok(["refused", "syntax", "failed"].includes(code), error);
    return { outcome: "failed" };
  }
}

/** The part of an expected answer in which engines agree. */
function agreed({ outcome, text, message }) {
  if (outcome === "rendered") return { outcome, text };
  return outcome === "raised" ? { outcome, message } : { outcome };
}

// JSON.parse loses these, so only `renderJson` can keep them.
const LOST = ["exact-numbers", "key-order"];

test("the exported suite", (context) => {
  const { templates } = JSON.parse(readFileSync(join(EXPORT, "manifest.json"), "utf8"));
  const texts = caseTexts(join(EXPORT, "cases.json"));
  const cases = new Map([...texts].map(([name, text]) => [name, JSON.parse(text)]));
  const known = { values: 0, texts: 0 };
  const spent = { values: 0, texts: 0 };
  const timed = (kind, call) => {
    const start = performance.now();
    const found = outcome(call);
    spent[kind] += performance.now() - start;
    known[kind] += 1;
    return found;
  };
  for (const path of readdirSync(join(EXPORT, "expected"), { recursive: true }).filter((path) => path.endsWith(".json"))) {
    const file = JSON.parse(readFileSync(join(EXPORT, "expected", path), "utf8"));
    const { dialect } = templates[file.template];
    const entries = Object.entries(file.variables);
    const pick = (is) => Object.fromEntries(entries.filter(([name]) => name.endsWith("_token") === is));
    const { front, setup } = file;
    const options = { dialect, front, setup, specialTokens: pick(true), variables: pick(false) };
    const source = readFileSync(join(EXPORT, file.source), "utf8");
    let template;
    for (const [name, expected] of Object.entries(file.cases)) {
      const written = cases.get(name);
      const where = `${file.template} (${front}) with ${name}`;
      // Variables that are made of the case are plain texts. The case's own win.
      const added = Object.entries(expected.variables ?? {}).filter(([one]) => !(one in (written.variables ?? {})));
      const kwargs = JSON.stringify(Object.fromEntries(added));
      const text = texts.get(name).replace(/\}$/, () => `,"chat_template_kwargs":${kwargs}}`);
      const exact = timed("texts", () => (template ??= new Template(source, options)).renderJson(text));
      assert.deepStrictEqual(exact, agreed(expected), where);
      if (written.flags?.some((flag) => LOST.includes(flag))) continue;
      const { messages, tools, documents, now } = written;
      const rest = { tools, documents, now, ...expected.variables, ...written.variables };
      rest.addGenerationPrompt = written.add_generation_prompt;
      rest.continueFinalMessage = written.continue_final_message;
      const found = timed("values", () => (template ??= new Template(source, options)).render(messages, rest));
      assert.deepStrictEqual(found, agreed(expected), where);
    }
  }
  const shown = (kind) => `${known[kind]} pairs, ${((spent[kind] * 1000) / known[kind]).toFixed(1)} us each`;
  context.diagnostic(`rolecall: render: ${shown("values")}; renderJson: ${shown("texts")}`);
  assert.ok(known.texts > 20_000);
});
