// The package, beside the native program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const BUILT = join(ROOT, "target/web");
const PROGRAM = process.env.ROLECALL ?? join(ROOT, "target/debug/rolecall-checkout");
const { load } = await import(join(BUILT, "package/rolecall.js"));
const rolecall = await load();
rolecall.useSuite(readFileSync(join(BUILT, "package/suite.json")));
const folder = mkdtempSync(join(tmpdir(), "rolecall-web-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What the native program prints. It fails where a template has defects, which is fine here. */
function native(...words) {
  const options = { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] };
  try {
    return execFileSync(PROGRAM, words, options);
  } catch (error) {
    if (error.status !== 1) throw error;
    return error.stdout;
  }
}

/** What the sidecar of a template of the suite says, as options. */
function options(name) {
  let sidecar = {};
  try {
    sidecar = JSON.parse(readFileSync(join(ROOT, `cases/templates/${name}.json`), "utf8"));
  } catch {
    // It has none.
  }
  const { special_tokens, variables, setup, front } = sidecar;
  return { name, special_tokens, variables, setup, front };
}

test("every pair of the suite has the outcome that the native program gives", { timeout: 600_000 }, (context) => {
  const sources = new Map(readdirSync(join(ROOT, "cases/templates")).filter((file) => /\.(jinja|gotmpl)$/.test(file)).map((file) => [file.replace(/\.[^.]+$/, ""), file]));
  const expected = new Map(readdirSync(join(BUILT, "export/expected")).flatMap((reference) => readdirSync(join(BUILT, "export/expected", reference)).flatMap((front) => readdirSync(join(BUILT, "export/expected", reference, front)).map((file) => [`${basename(file, ".json")} ${front}`, join(BUILT, "export/expected", reference, front, file)]))));
  // Each case as it is written, because JavaScript does not keep all digits.
  const text = readFileSync(join(BUILT, "export/cases.json"), "utf8");
  const written = new Map([...text.matchAll(/^    "([^"]+\/[^"]+)": (\{[^\n]*\}),?$/gm)].map(([, id, one]) => [id, one]));
  const lines = native("run", "--format", "jsonl").trim().split("\n").map((line) => JSON.parse(line));
  const templates = new Map();
  const started = process.hrtime.bigint();
  const wrong = [];
  for (const line of lines) {
    const [id] = line.case.split("@");
    const file = sources.get(line.template);
    if (!templates.has(line.template)) {
      const dialect = file.endsWith(".gotmpl") ? "go" : "jinja";
      const source = readFileSync(join(ROOT, "cases/templates", file), "utf8");
      const files = [...expected].filter(([name]) => name.startsWith(`${line.template} `)).map(([, path]) => JSON.parse(readFileSync(path, "utf8")));
      templates.set(line.template, { source, files, options: { ...options(line.template), dialect } });
    }
    const { source, files, options: own } = templates.get(line.template);
    // Variables that are made of the case, which a sidecar cannot hold.
    const made = files.map((one) => one.cases[line.case]?.variables ?? one.cases[id]?.variables).find(Boolean);
    const ownVariables = Object.fromEntries(Object.entries(own.variables ?? {}).filter(([, value]) => !value?.$json));
    const template = rolecall.template(source, { ...own, variables: { ...ownVariables, ...made }, front: line.front });
    const outcome = template.outcome(written.get(id));
    const kind = { raised: "raised", rendered: "rendered", exceeded: "limit" }[line.outcome] ?? { input: "refused", parse: "syntax", render: "failed" }[line.stage];
    if (outcome.kind !== kind || outcome.text !== (line.text ?? line.message ?? line.limit)) wrong.push({ line, outcome });
  }
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  context.diagnostic(`${lines.length} pairs, ${((1000 * seconds) / lines.length).toFixed(2)} ms for each`);
  assert.ok(lines.length > 20_000, `${lines.length} pairs`);
  assert.equal(wrong.length, 0, JSON.stringify(wrong.slice(0, 3), null, 1));
});

/** A document without what only a file has: its place and what its sidecar says. */
function comparable(document) {
  const text = JSON.stringify(document).replaceAll(/"file":"[^"]*"/g, '"file":""');
  return JSON.parse(text.replaceAll(/(--- |\+\+\+ )[^\\]*\\n/g, "$1\\n"));
}

test("cards and patches are those of the native program", { timeout: 600_000 }, (context) => {
  const files = process.env.CORPUS ? readdirSync(process.env.CORPUS, { recursive: true }).map((file) => join(process.env.CORPUS, file)) : readdirSync(join(ROOT, "cases/templates")).map((file) => join(ROOT, "cases/templates", file));
  const times = [];
  let count = 0;
  for (const path of files.filter((file) => /\.(jinja|gotmpl|template)$/.test(file))) {
    // A copy, so that nothing lies beside it.
    const name = basename(path).replace(/\.[^.]+$/, "");
    const dialect = path.endsWith(".jinja") ? "jinja" : "go";
    const copy = join(folder, `${name}.${dialect === "jinja" ? "jinja" : "gotmpl"}`);
    const source = readFileSync(path, "utf8");
    writeFileSync(copy, source);
    const expected = JSON.parse(native("check", copy, "--format", "json"));
    const template = rolecall.template(source, { name: expected.cards[0].template, dialect });
    const started = process.hrtime.bigint();
    const card = template.card();
    times.push(Number(process.hrtime.bigint() - started) / 1e6);
    assert.deepEqual(card.document.cards, expected.cards, name);
    assert.deepEqual(comparable(template.fixes().document), comparable(expected), name);
    count += 1;
  }
  times.sort((a, b) => a - b);
  context.diagnostic(`${count} cards: median ${times[times.length >> 1].toFixed(0)} ms, longest ${times.at(-1).toFixed(0)} ms`);
  assert.ok(count > 20, `${count} templates`);
});

test("two templates are compared in the conversations of the suite", () => {
  const source = readFileSync(join(ROOT, "cases/templates/chatml.jinja"), "utf8");
  const [a, b] = [source, source.replaceAll("<|im_start|>", "<|start|>")].map((one) => rolecall.template(one));
  const { document, text } = rolecall.diff(a, b);
  assert.equal(document.differs, true);
  assert.ok(document.counts.cases > 500 && text.length > 100, text);
  assert.equal(rolecall.diff(a, a).document.differs, false);
  assert.deepEqual(rolecall.difference("a b\n", "a c\n").hunks, [[["-", [["a ", false], ["b", true], ["␊", false]]], ["+", [["a ", false], ["c", true], ["␊", false]]]]]);
});

test("a render tells who wrote each byte, what the model writes, and what was never reached", () => {
  const source = "{% if tools %}{{ tools[0] | tojson }}\n{% endif %}{% for m in messages %}é{{ m.content }}{% endfor %}";
  const template = rolecall.template(source);
  const conversation = [{ role: "user", content: "𝄞?" }, { role: "assistant", content: "yes" }];
  const { kind, text, trace, mask, coverage } = template.outcome(conversation, { details: true });
  assert.deepEqual([kind, text], ["rendered", "é𝄞?éyes"]);
  const opening = source.split("\n")[1].indexOf("é") + 1;
  assert.deepEqual(trace.spans.map((span) => span.input?.path ?? span.template.column), [opening, "messages[0].content", opening, "messages[1].content"]);
  assert.equal(trace.spans.map((span) => span.text).join(""), text);
  assert.deepEqual(mask.masks[0].learned, [{ start: 7, end: 12 }]);
  const never = coverage.templates[0].sites.filter((site) => site.ways.every((way) => way.cases === 0));
  assert.deepEqual(never.map((site) => site.text), ["tools[0] | tojson"]);
  const some = template.outcome(conversation, { details: ["trace"] });
  assert.deepEqual([some.trace, some.mask, some.coverage], [trace, undefined, undefined]);
  const served = template.served(conversation);
  assert.deepEqual(served.filter((one) => !one.is_same).map((one) => [one.front, one.kind]), [["llama-server", "rendered"]]);
});

test("bad input is said, and a trap leaves no trace", () => {
  const kind = (source) => rolecall.template(source).outcome([{ role: "user", content: "Hi" }]).kind;
  assert.equal(kind("{% if %}"), "syntax");
  assert.equal(kind("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}"), "limit");
  assert.equal(kind("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"), "limit");
  const nested = (count) => `{{ ${"(".repeat(count)}1${")".repeat(count)} }}`;
  for (const count of [50, 10_000, 1_000_000]) assert.equal(kind(nested(count)), count < 100 ? "rendered" : "limit", String(count));
  assert.equal(kind("x".repeat(5 << 20)), "rendered");
  assert.equal(kind("{{ 'x' }}\n".repeat(500_000)), "limit");
  for (const conversation of ["", "1", "{}", '{"messages": {}}', `${"[".repeat(100_000)}`]) {
    assert.throws(() => rolecall.template("x").render(conversation), { name: "TemplateError", kind: "invalid" });
  }
  assert.throws(() => rolecall.template("x", "{").card(), { kind: "invalid" });
  assert.throws(() => rolecall.ask({ nothing: {} }), { kind: "invalid" });
  assert.throws(() => rolecall.gguf(new Uint8Array(100)), { kind: "invalid" });
  assert.deepEqual(rolecall.gguf(new TextEncoder().encode("GGUF\u0003\0\0\0")), { more: true });
  const lies = new Uint8Array(64);
  lies.set(new TextEncoder().encode("GGUF\u0003\0\0\0"));
  lies.fill(255, 8, 24);
  assert.deepEqual(rolecall.gguf(lies), { more: true });
  lies.fill(9, 4, 8);
  assert.throws(() => rolecall.gguf(lies), { kind: "invalid" });
  // The instance is thrown away, and the next call has another one.
  const { call } = rolecall.instance.exports;
  rolecall.instance = { exports: { ...rolecall.instance.exports, call: () => { throw new WebAssembly.RuntimeError("unreachable"); } } };
  assert.ok(call);
  assert.throws(() => rolecall.about(), { kind: "crashed" });
  assert.equal(rolecall.about().version, "0.1.0");
  assert.equal(rolecall.diff(rolecall.template("a"), rolecall.template("a")).document.differs, false);
});

test("memory stays as it is after a thousand renders", (context) => {
  const template = rolecall.template(readFileSync(join(ROOT, "cases/templates/chatml.jinja"), "utf8"));
  const turns = Array.from({ length: 20 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: "x".repeat(1000) }));
  const render = (count, details) => {
    const started = process.hrtime.bigint();
    for (let left = count; left > 0; left -= 1) template.outcome(turns, { details });
    return Number(process.hrtime.bigint() - started) / 1e6 / count;
  };
  render(50, true);
  const size = () => rolecall.instance.exports.memory.buffer.byteLength;
  const before = size();
  const [plain, detailed] = [render(1000, false), render(200, true)];
  context.diagnostic(`${plain.toFixed(2)} ms plain, ${detailed.toFixed(2)} ms with all details; ${size() >> 20} MiB`);
  // Twelve hundred renders with prompts of 20 kB; the allocator may need a little more room.
  assert.ok(size() - before <= 1 << 20, `${size() - before} bytes more`);
});

test("conversations are read as the command reads them", () => {
  const request = { model: "m", messages: [{ role: "user", content: "Hi" }], tools: [], temperature: 1 };
  const { conversations, note } = rolecall.conversations(JSON.stringify(request), "request.json");
  assert.deepEqual(conversations[0].conversation.messages, request.messages);
  assert.match(note, /temperature/);
  const lines = '{"messages": [{"role": "user", "content": "a"}]}\n{"messages": [{"role": "user", "content": "b"}]}\n';
  assert.equal(rolecall.conversations(lines, "log.jsonl").conversations.length, 2);
  assert.throws(() => rolecall.conversations("{}", "a.json"), { kind: "invalid" });
});

test("the package works in an empty project, and its README is right", { timeout: 120_000 }, () => {
  const project = join(folder, "project");
  mkdirSync(project);
  const run = (program, ...words) => execFileSync(program, words, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  writeFileSync(join(project, "package.json"), '{"private": true, "type": "module"}');
  const [{ filename }] = JSON.parse(run("npm", "pack", "--json", join(BUILT, "package")));
  run("npm", "install", "--offline", "--no-audit", "--no-fund", `./${filename}`);
  const readme = readFileSync(join(project, "node_modules/rolecall/README.md"), "utf8");
  const block = (language) => readme.split(`\n\`\`\`${language}\n`)[1].split("```")[0];
  writeFileSync(join(project, "example.js"), block("js"));
  assert.equal(run(process.execPath, "example.js"), block("text"));
});
