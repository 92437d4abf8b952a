// The parts that the adapters in JavaScript share: the engine protocol, and a parser that keeps
// JSON as it is written. `JSON.parse` turns 1.0 into 1, rounds big integers, and puts keys that
// look like integers before all others; a prompt may show all three.
"use strict";

const TOKEN = /\s*([[\]{}:,"]|[^\s[\]{}:,"]+)/y;

/** A number as it is written. */
class Written {
  constructor(words) {
    this.words = words;
    this.isFloat = /[.eE]/.test(words);
  }
}

/** The end of the string that begins at a place. One pattern for all of it exhausts the stack. */
function endOfString(text, start) {
  for (let end = start; ; ) {
    end = text.indexOf('"', end + 1);
    let before = end;
    while (text[before - 1] === "\\") before -= 1;
    if ((end - before) % 2 === 0) return end + 1;
  }
}

/** Reads JSON, the objects as maps, in their order, the numbers as they are written. */
function parse(text) {
  let at = 0;
  const next = () => {
    TOKEN.lastIndex = at;
    const [, token] = TOKEN.exec(text);
    const start = TOKEN.lastIndex - token.length;
    at = token === '"' ? endOfString(text, start) : TOKEN.lastIndex;
    return text.slice(start, at);
  };
  const items = (end, item) => {
    const found = [];
    for (let token = next(); token !== end; token = next()) {
      found.push(item(token === "," ? next() : token));
    }
    return found;
  };
  const entry = (key) => {
    next(); // the colon
    return [JSON.parse(key), value(next())];
  };
  const value = (token) => {
    if (token === "{") return new Map(items("}", entry));
    if (token === "[") return items("]", value);
    return /^[-\d]/.test(token) ? new Written(token) : JSON.parse(token);
  };
  return value(next());
}

/** The error that `raise_exception` throws. */
class Raised extends Error {}

const RealDate = Date;

/** The date that templates read with `new Date()`; the launcher sets the time zone to UTC. */
function setClock(now) {
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length > 0 ? given : [now]));
    }
  };
}

const failed = (stage, error) => ({
  outcome: "failed",
  stage,
  message: String(error?.message ?? error),
});

/**
 * Answers until there are no more requests. `load(source)` makes a template. `render(template,
 * variables)` makes its prompt; `variables` is a map with everything that the template sees.
 */
async function serve({ engine, version, load, render }) {
  const templates = new Map();
  const answers = {
    load(request) {
      try {
        templates.set(request.get("template"), load(request.get("source")));
        return { ok: true };
      } catch (error) {
        return failed("parse", error);
      }
    },
    render(request) {
      setClock(request.get("now"));
      const names = ["messages", "tools", "documents", "add_generation_prompt"];
      const variables = new Map(names.map((name) => [name, request.get(name)]));
      request.get("variables").forEach((value, name) => variables.set(name, value));
      try {
        const text = render(templates.get(request.get("template")), variables);
        if (!text.isWellFormed()) throw new Error("a lone surrogate is no text");
        return { outcome: "rendered", text };
      } catch (error) {
        if (error instanceof Raised) return { outcome: "raised", message: error.message };
        if (/^Maximum call stack/.test(error.message)) return { outcome: "exceeded", limit: "recursion" };
        return failed("render", error);
      }
    },
  };
  // Not `readline`: it also ends a line at a U+2028 in a text.
  let rest = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const request = parse(line);
      const kind = request.get("request");
      if (kind === "stop") return;
      const answer =
        kind === "start"
          ? { rolecall: 1, engine, version, dialect: "jinja" }
          : { id: Number(request.get("id").words), ...answers[kind](request) };
      process.stdout.write(`${JSON.stringify(answer)}\n`);
    }
  }
}

module.exports = { Raised, Written, parse, serve };
