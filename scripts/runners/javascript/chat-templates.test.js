// The exported suite for an engine in JavaScript.
//
//     rolecall export data
//     EXPORT=data npm test
//
// expected-failures.json lists the known failures; UPDATE=1 writes it again. There "family/*"
// stands for all cases of a family in which a prompt is expected.

import assert from "node:assert";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { load, LOST } from "./engine.js";

const DATA = process.env.EXPORT;
const KNOWN = new URL("expected-failures.json", import.meta.url);
const read = (...path) => JSON.parse(readFileSync(join(DATA, ...path), "utf8"));
const known = existsSync(KNOWN) ? JSON.parse(readFileSync(KNOWN, "utf8")) : {};
const found = {};

// How an engine's result differs from the expected one. Nothing if it is as expected.
function difference(expected, render, variables) {
  let text;
  try {
    text = render(variables);
  } catch (error) {
    // This engine does not distinguish a refusal of the template from an error of its own.
    const isExpected = expected.outcome === "raised" ? error.message === expected.message : expected.outcome !== "rendered";
    return isExpected ? null : `expected ${shown(expected)}\n     got an error: ${error.message}`;
  }
  if (expected.outcome === "rendered" && text === expected.text) return null;
  if (expected.outcome !== "rendered") return `expected ${shown(expected)}\n     got ${JSON.stringify(text)}`;
  let at = 0;
  while (at < text.length && text[at] === expected.text[at]) at += 1;
  const around = (whole) => JSON.stringify(whole.slice(Math.max(0, at - 40), at + 40));
  return `first difference at character ${at}:\nexpected ${around(expected.text)}\n     got ${around(text)}`;
}

const shown = ({ outcome, message }) => (message ? `${outcome}: ${message}` : outcome);

// The names of the failing cases; one name for a family that fails as a whole.
function folded(rows) {
  const failing = rows.filter((row) => row.difference);
  const family = (row) => row.name.split("/")[0];
  const whole = new Set(failing.filter((row) => row.prompt).map(family));
  for (const row of rows) if (!row.difference && row.prompt) whole.delete(family(row));
  return [...new Set(failing.map((row) => (row.prompt && whole.has(family(row)) ? `${family(row)}/*` : row.name)))].sort();
}

// Checks that exactly the known failures fail.
function judge(name, rows) {
  found[name] = folded(rows);
  if (process.env.UPDATE) return;
  const listed = known[name] ?? [];
  const isListed = (row) => listed.includes(row.name) || listed.includes(`${row.name.split("/")[0]}/*`);
  const fresh = rows.filter((row) => row.difference && !isListed(row));
  const mended = listed.filter((one) => !found[name].includes(one));
  const parts = [];
  if (fresh.length) {
    const [{ name: first, difference }] = fresh;
    const names = fresh.slice(0, 5).map((row) => row.name).join(", ");
    parts.push(`${fresh.length} not as expected: ${names}${fresh.length > 5 ? ", …" : ""}\n${first}: ${difference}`);
  }
  if (mended.length) parts.push(`listed in expected-failures.json, and no longer failing: ${mended.join(", ")}`);
  assert.ok(!parts.length, parts.join("\n"));
  assert.deepStrictEqual(found[name], listed, "expected-failures.json is not as UPDATE=1 writes it");
}

// Without this test, files that are gone or damaged would be tested less, and pass.
test("the files are as they were exported", () => {
  const files = Object.entries(read("manifest.json").files).filter(([path]) => !path.startsWith("runners/"));
  for (const [path, { sha256 }] of files) {
    assert.equal(createHash("sha256").update(readFileSync(join(DATA, path))).digest("hex"), sha256, path);
  }
});

const cases = read("cases.json").cases;
const raw = join("expected", "transformers", "raw");
for (const path of readdirSync(join(DATA, raw)).sort()) {
  test(path, (context) => {
    const file = read(raw, path);
    const render = load(readFileSync(join(DATA, file.source), "utf8"));
    const names = Object.keys(file.cases).filter((name) => !cases[name].flags?.some((flag) => LOST.includes(flag)));
    context.diagnostic(`${Object.keys(file.cases).length - names.length} cases left out`);
    const rows = names.map((name) => {
      const { messages, tools, documents, add_generation_prompt, variables } = cases[name];
      const expected = file.cases[name];
      const standard = { messages, tools, documents, add_generation_prompt };
      const all = { ...standard, ...file.variables, ...expected.variables, ...variables };
      return { name, prompt: expected.outcome === "rendered", difference: difference(expected, render, all) };
    });
    judge(file.template, rows);
  });
}

test("constructs", () => {
  const { constructs, contexts } = read("constructs.json");
  const { messages, tools, documents, add_generation_prompt } = contexts.jinja;
  const jinja = Object.entries(constructs).filter(([, construct]) => construct.dialect === "jinja");
  judge("constructs", jinja.map(([name, construct]) => {
    const variables = { messages, tools, documents, add_generation_prompt };
    const render = () => load(construct.template)(variables);
    const found = difference(construct, render);
    return { name, difference: found && `${construct.template}\n${found}` };
  }));
});

after(() => {
  if (process.env.UPDATE) writeFileSync(KNOWN, JSON.stringify(found, null, 1) + "\n");
});
