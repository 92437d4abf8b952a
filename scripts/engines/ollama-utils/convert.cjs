// @huggingface/ollama-utils converts the Jinja templates in GGUF files to Go templates for Ollama.
// The hub does this for everyone who runs one of its models with Ollama.
//
//   .engines/bin/ollama-utils FROM INTO
//
// For each FROM/NAME.jinja that it converts, it writes INTO/NAME.jinja and INTO/NAME-ollama.gotmpl,
// with sidecars, and reports how it found the result. `rolecall diff INTO/NAME.jinja
// INTO/NAME-ollama.gotmpl` compares both.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { convertGGUFTemplateToOllama } = require("@huggingface/ollama-utils");

const [from, into] = process.argv.slice(2);
if (into === undefined) {
  console.error("usage: ollama-utils FROM INTO");
  process.exit(2);
}

function sidecarOf(name) {
  const file = path.join(from, `${name}.json`);
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
}

/** The converted template, and how it was found: a model's name, or `auto-conversion`. */
function convert(source, tokens) {
  const gguf = { chat_template: source, bos_token: tokens.bos_token, eos_token: tokens.eos_token };
  try {
    const found = convertGGUFTemplateToOllama(gguf);
    return found ? { template: found.ollama.template, way: found.model } : { way: "not converted" };
  } catch (error) {
    return { way: `failed: ${error.message}` };
  }
}

fs.mkdirSync(into, { recursive: true });
const templates = fs.readdirSync(from).filter((file) => file.endsWith(".jinja"));
for (const file of templates.sort()) {
  const name = path.basename(file, ".jinja");
  const source = fs.readFileSync(path.join(from, file), "utf8");
  const tokens = sidecarOf(name).special_tokens ?? {};
  const { template, way } = convert(source, tokens);
  console.log(`${name}: ${way}`);
  if (template === undefined) continue;
  const { special_tokens, variables } = sidecarOf(name);
  const about = (what) => ({ about: what, origin: `${file}, given to ollama-utils` });
  const write = (name, text) => fs.writeFileSync(path.join(into, name), text);
  const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
  write(file, source);
  write(`${name}.json`, json({ ...about("The template itself."), special_tokens, variables }));
  write(`${name}-ollama.gotmpl`, template);
  write(`${name}-ollama.json`, json(about(`What was made of it: ${way}.`)));
}
