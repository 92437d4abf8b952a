// minijinja-js, minijinja as WebAssembly.
//
// Set up for chat templates as well as possible: blocks are trimmed and stripped, Python's methods
// are there, `tojson` is as in transformers, and the source loses `{% generation %}`, which has no
// effect on a prompt. The engine has no loop controls, and takes only JavaScript's numbers, so 1.0
// is 1. If a callback throws, as `raise_exception` has to, its WebAssembly breaks, so the next
// render gets a new instance.
"use strict";

const { Raised, Written, serve } = require("../protocol.cjs");
const { dependencies } = require("./package.json");

const MODULE = require.resolve("minijinja-js");
const GENERATION = /\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}/g;

let environment = null;
let refusal = null;

function fresh() {
  delete require.cache[MODULE];
  environment = new (require(MODULE).Environment)();
  environment.trimBlocks = true;
  environment.lstripBlocks = true;
  environment.enablePyCompat();
  environment.addFilter("tojson", (value, options) => toJson(value, options));
  environment.addGlobal("strftime_now", strftime);
  environment.addGlobal("raise_exception", (message) => {
    refusal = new Raised(message);
    throw refusal;
  });
}

/** `json.dumps(value, ensure_ascii=False)`, with the arguments that templates give. */
function toJson(value, options, depth = 0) {
  const given = (name) => (options instanceof Map ? options.get(name) : undefined);
  const indent = given("indent");
  const [comma, colon] = given("separators") ?? [indent === undefined ? ", " : ",", ": "];
  if (value === null || typeof value !== "object") {
    const text = typeof value === "bigint" ? String(value) : JSON.stringify(value ?? null);
    const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return given("ensure_ascii") ? text.replace(/[\u0080-\uffff]/g, escaped) : text;
  }
  const one = (item) => toJson(item, options, depth + 1);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map(one)
    : [...value].map(([key, item]) => one(String(key)) + colon + one(item));
  const [open, close] = isList ? "[]" : "{}";
  if (indent === undefined || items.length === 0) return open + items.join(comma) + close;
  const line = (level) => `\n${" ".repeat(indent * level)}`;
  return open + line(depth + 1) + items.join(comma + line(depth + 1)) + line(depth) + close;
}

/** The part of `strftime` that chat templates use. */
function strftime(format) {
  const now = new Date();
  const two = (number) => String(number).padStart(2, "0");
  const name = (options) => now.toLocaleString("en", { timeZone: "UTC", ...options });
  const parts = {
    "%Y": () => now.getUTCFullYear(),
    "%m": () => two(now.getUTCMonth() + 1),
    "%d": () => two(now.getUTCDate()),
    "%A": () => name({ weekday: "long" }),
    "%b": () => name({ month: "short" }),
    "%B": () => name({ month: "long" }),
    "%H": () => two(now.getUTCHours()),
    "%M": () => two(now.getUTCMinutes()),
    "%%": () => "%",
  };
  return format.replace(/%./g, (part) => parts[part]?.() ?? part);
}

/** The value in JavaScript's types, except for integers that it would round. */
function valueOf(read) {
  if (Array.isArray(read)) return read.map(valueOf);
  if (read instanceof Map) {
    return Object.fromEntries([...read].map(([key, value]) => [key, valueOf(value)]));
  }
  if (!(read instanceof Written)) return read;
  const number = Number(read.words);
  return read.isFloat || Number.isSafeInteger(number) ? number : BigInt(read.words);
}

function render(source, variables) {
  if (environment === null) fresh();
  try {
    return environment.renderNamedStr("chat", source, valueOf(variables));
  } catch (error) {
    const thrown = refusal ?? error;
    if (refusal !== null || error instanceof WebAssembly.RuntimeError) environment = null;
    refusal = null;
    throw thrown;
  }
}

function load(source) {
  if (environment === null) fresh();
  const readable = source.replace(GENERATION, (_, left, end, right) =>
    `{%${left} ${end ? "endif" : "if true"} ${right}%}`,
  );
  environment.addTemplate("chat", readable);
  return readable;
}

serve({
  engine: "minijinja-js",
  version: dependencies["minijinja-js"],
  load,
  render,
});
