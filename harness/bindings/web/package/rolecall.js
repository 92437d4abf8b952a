// Rolecall in JavaScript: the prompts of chat templates as Hugging Face transformers and Ollama make
// them, and report cards. Everything happens in one module of WebAssembly without imports: it reaches
// no file, no network and no clock. The types are in rolecall.d.ts.

const FILE = new URL("rolecall.wasm", import.meta.url);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** There is no prompt. `kind` says why, `line` and `column` where in the template. */
export class TemplateError extends Error {
  constructor({ kind, text, line, column }) {
    super(text);
    this.name = "TemplateError";
    Object.assign(this, { kind, line, column });
  }
}

async function compiled() {
  if (FILE.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(FILE));
  }
  const response = await fetch(FILE);
  if (!response.ok) throw new Error(`${FILE} cannot be read: ${response.status}`);
  // A server may not know the media type that compiling while loading asks for.
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Loads the module: the file next to this one, or one that was compiled already. */
export async function load(module) {
  const rolecall = new Rolecall(module ?? (await compiled()));
  rolecall.instance = await WebAssembly.instantiate(rolecall.module, {});
  return rolecall;
}

/** The module. Its methods return when the work is done: a page calls them in a worker. */
export class Rolecall {
  constructor(module) {
    this.module = module;
    this.instance = null;
    this.suite = null;
  }

  /** Asks the module. After a trap there is a fresh instance, and the error says what happened. */
  ask(request, file = new Uint8Array()) {
    this.instance ??= new WebAssembly.Instance(this.module, {});
    const { memory, room, call, length, answer } = this.instance.exports;
    const read = (at) => decoder.decode(new Uint8Array(memory.buffer, at, length()));
    const json = encoder.encode(JSON.stringify(request));
    let text;
    try {
      // Making room may move the memory.
      const at = room(json.length + file.length);
      const question = new Uint8Array(memory.buffer, at, json.length + file.length);
      question.set(json);
      question.set(file, json.length);
      text = read(call(json.length) >>> 0);
    } catch (error) {
      let words = "";
      try {
        words = read(answer() >>> 0);
      } catch {
        // The stack is used up, and only the error is known.
      }
      this.instance = null;
      throw new TemplateError({ kind: "crashed", text: words || String(error) });
    }
    const found = JSON.parse(text);
    if (found.error !== undefined) throw new TemplateError({ kind: "invalid", text: found.error });
    return found;
  }

  /** The version of the module, and the applications that it knows. */
  about() {
    return this.ask({ about: {} });
  }

  /** A template with its options. */
  template(source, options = {}) {
    return new Template(this, source, options);
  }

  /** Hands over the conversations of the suite: the text or the bytes of `suite.json`. */
  useSuite(suite) {
    this.suite = typeof suite === "string" ? encoder.encode(suite) : suite;
    this.loaded = null;
  }

  /** Asks what needs the suite. A fresh instance gets it first. */
  askWithSuite(request) {
    if (this.suite && (!this.instance || this.loaded !== this.instance)) {
      this.ask({ suite: {} }, this.suite);
      this.loaded = this.instance;
    }
    return this.ask(request);
  }

  /** Compares two templates in the conversations of the suite. */
  diff(a, b) {
    return this.askWithSuite({ diff: { a: a.text, b: b.text } });
  }

  /** The difference of two texts, as a unified diff. */
  patch(a, b) {
    return this.ask({ patch: { a, b } }).diff;
  }

  /** The difference of two texts in lines and pieces, as the page shows it. */
  difference(a, b) {
    return this.ask({ difference: { a, b } });
  }

  /** The conversations in a file: a request, a log, data for training. */
  conversations(file, name = "conversation.json") {
    return this.ask({ conversations: { name } }, bytes(file));
  }

  /** The templates in the beginning of a GGUF file; `{ more: true }` if more of it is needed. */
  gguf(start, name = "model.gguf") {
    return this.ask({ gguf: { name } }, start);
  }
}

const bytes = (file) => (typeof file === "string" ? encoder.encode(file) : file);

/** A template. The module keeps the last one that it rendered, compiled. */
export class Template {
  constructor(rolecall, source, options) {
    this.rolecall = rolecall;
    this.text = { source, options: typeof options === "string" ? options : JSON.stringify(options) };
  }

  /** The outcome of a conversation: `kind` is `rendered`, or says why there is no prompt. */
  outcome(conversation, { details = false, now } = {}) {
    const names = details === true ? ["trace", "mask", "coverage"] : details || [];
    const wanted = names.length ? Object.fromEntries(names.map((name) => [name, true])) : null;
    return this.rolecall.ask({ render: { ...this.about(conversation, now), details: wanted } });
  }

  /** What each application that may serve the template makes of a conversation. */
  served(conversation, { now } = {}) {
    return this.rolecall.ask({ served: this.about(conversation, now) });
  }

  about(conversation, now = new Date()) {
    const text = typeof conversation === "string" ? conversation : JSON.stringify(conversation);
    return { template: this.text, conversation: text, now: typeof now === "string" ? now : now.toISOString() };
  }

  /** The prompt of a conversation: a list of messages, an object with `messages`, or JSON of either. */
  render(conversation, options) {
    const outcome = this.outcome(conversation, options);
    if (outcome.kind !== "rendered") throw new TemplateError(outcome);
    return outcome.text;
  }

  /** The report card, as `rolecall check` prints it. */
  card({ page = false } = {}) {
    return this.rolecall.ask({ card: { template: this.text, page } });
  }

  /** The report card with patches. It needs the suite. */
  fixes() {
    return this.rolecall.askWithSuite({ fixes: { template: this.text } });
  }
}
