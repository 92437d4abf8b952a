// Chat templates of language models. index.d.ts describes the interface.
//
// Conversations go to the native part as JSON texts, because JSON keeps what a template sees.

"use strict";

const { randomUUID } = require("node:crypto");
const { platform, arch, report } = process;

/** The file of the native part for this machine. */
function file() {
  // A report without a version of glibc comes from musl.
  const isMusl = platform === "linux" && !report.getReport().header.glibcVersionRuntime;
  return `./native/${platform}-${arch}${isMusl ? "-musl" : ""}.node`;
}

function required() {
  try {
    return require(file());
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    throw new Error(`this package of rolecall has no ${file()}`, { cause: error });
  }
}

const native = required();

/** Why there is no prompt or no template. `code` is a word for the kind of the reason. */
class RolecallError extends Error {
  constructor({ kind, text, line, column }) {
    const place = line === undefined ? "" : ` (line ${line}${column === undefined ? "" : `, column ${column}`})`;
    super((kind === "limit" ? `the limit on ${text} ran out` : text) + place);
    this.name = "RolecallError";
    this.code = kind;
    this.reason = text;
    this.line = line;
    this.column = column;
  }
}

const invalid = (text) => new RolecallError({ kind: "invalid", text });

/** A value as JSON. Unlike JSON.stringify it writes a BigInt as a number, with all digits. */
function toJson(value) {
  try {
    // This is fast, and it fails at the first BigInt.
    return JSON.stringify(value);
  } catch {
    const mark = randomUUID();
    const marked = (_, value) => (typeof value === "bigint" ? `${mark}${value}` : value);
    return JSON.stringify(value, marked).replace(new RegExp(`"${mark}(-?[0-9]+)"`, "g"), "$1");
  }
}

/** Whether a string has no surrogate without its other half: it would not survive UTF-8. */
const isWhole = (string) => !/\p{Surrogate}/u.test(string);

/** The text of a reply that holds one. */
function text(reply) {
  if (reply.kind !== "rendered") throw new RolecallError(reply);
  return reply.text;
}

/** A template of the native part. */
function compiled(reply) {
  if (!(reply instanceof native.NativeTemplate)) throw new RolecallError(reply);
  return reply;
}

/** A date as the clock on the wall shows it, with its time zone. */
function local(date) {
  if (Number.isNaN(date.getTime())) throw invalid("`now` is not a valid date");
  const minutes = -date.getTimezoneOffset();
  const digits = (number) => String(Math.trunc(number)).padStart(2, "0");
  const zone = `${minutes < 0 ? "-" : "+"}${digits(Math.abs(minutes) / 60)}:${digits(Math.abs(minutes) % 60)}`;
  const shown = new Date(date.getTime() + minutes * 60_000).toISOString();
  return shown.slice(0, -1) + zone;
}

class Template {
  #native;

  constructor(source, options = {}) {
    if (source instanceof native.NativeTemplate) {
      this.#native = source;
      return;
    }
    if (typeof source !== "string" || !isWhole(source)) {
      throw new TypeError("the source of a template is a string without lone surrogates");
    }
    const { specialTokens: special_tokens, name, dialect, variables, front, setup, limits, ...others } = options;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw invalid(`no option is named \`${unknown}\``);
    const known = { name, dialect, special_tokens, variables, front, setup, limits };
    this.#native = compiled(native.compile(source, toJson(known)));
  }

  static load(path) {
    return native.load(path).map((one) => new Template(compiled(one)));
  }

  get name() {
    return this.#native.name;
  }

  get source() {
    return this.#native.source;
  }

  render(messages, options = {}) {
    if (!Array.isArray(messages)) throw new TypeError("the messages are an array");
    const { tools, documents, addGenerationPrompt, continueFinalMessage, front, now, ...variables } = options;
    return this.renderJson(
      toJson({
        messages,
        tools,
        documents,
        add_generation_prompt: addGenerationPrompt,
        continue_final_message: continueFinalMessage,
        front,
        now: typeof now === "string" ? now : local(now ?? new Date()),
        variables,
      }),
    );
  }

  renderJson(conversation) {
    return text(this.#native.render(conversation));
  }

  check({ select = [] } = {}) {
    return JSON.parse(text(this.#native.check([].concat(select))));
  }
}

module.exports = { Template, RolecallError };
