// The page. Whatever comes from outside becomes text, never markup: `element` and everything else that
// pages share is in shared.js.
const SECONDS = 5; // The longest that a render or a card may take.
const MOST_SHOWN = 200_000; // Characters of a prompt.
const MOST_LINK = 60_000; // Characters of a link's fragment.
const MOST_TEXT = 500_000; // Characters of a text: browsers lay out longer ones for seconds.
const TOO_LONG = "texts of up to 500,000 characters fit on this page";
const KINDS = ["template", "message", "tool", "document", "variable", "token", "clock", "made"];
const EXAMPLE = `{{- bos_token }}
{%- for message in messages %}
    {{- '<|' + message.role + '|>\\n' + message.content | trim + eos_token + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|assistant|>\\n' }}
{%- endif %}
`;

const on = (id, event, run) => $(id).addEventListener(event, run);
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
const put = (id, ...children) => ($(id).replaceChildren(), fill($(id), children));
const json = (value) => JSON.stringify(value, null, 2);

function notice(text) {
  $("notice").textContent = text;
  $("notice").hidden = !text;
}

// ---- Work in other threads

const policy = globalThis.trustedTypes?.createPolicy("rolecall", { createScriptURL: () => "worker.js" });
const module = fetch("rolecall.wasm").then(async (response) => {
  if (!response.ok) throw new Error(`rolecall.wasm cannot be read: ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
});

// A thread that does one job at a time. Only the newest question waits; older ones get null.
class Helper {
  ask(job, values, seconds = SECONDS) {
    return new Promise((done, fail) => {
      this.waiting?.done(null);
      this.waiting = { job, values, seconds, done, fail };
      // Nobody waits for a long answer to a question that is asked no more.
      if (this.running) this.impatience ??= setTimeout(() => this.end(null), 700);
      else this.next();
    });
  }

  async next() {
    if (this.running || !this.waiting) return;
    const running = (this.running = this.waiting);
    const { job, values, seconds } = running;
    this.waiting = null;
    try {
      const compiled = await module;
      if (this.running !== running) return;
      this.worker ??= new Worker(policy ? policy.createScriptURL("") : "worker.js", { type: "module" });
      this.worker.onmessage = ({ data }) => this.finish(data.error === undefined ? null : new Error(data.error), data.result);
      this.worker.onerror = (event) => this.end(new Error(event.message || "the worker failed"));
      this.timer = setTimeout(() => this.end(new Error(`ended: it was not done after ${seconds} seconds`)), seconds * 1000);
      this.worker.postMessage({ job, values, module: compiled });
    } catch (error) {
      if (this.running === running) this.finish(error);
    }
  }

  // Ends the thread, with an error or with nothing.
  end(error) {
    this.worker?.terminate();
    this.worker = null;
    this.finish(error, null);
  }

  finish(error, result) {
    clearTimeout(this.timer);
    clearTimeout(this.impatience);
    this.impatience = null;
    const running = this.running;
    this.running = null;
    if (error) running?.fail(error);
    else running?.done(result);
    this.next();
  }
}

const quick = new Helper();
const beside = new Helper();
const around = new Helper();
const slow = new Helper();
const long = new Helper();

// ---- Editors

const ROW = 20; // Pixels: the height of a line in style.css.

// A text field with the numbers of its lines. Only the lines in sight have elements, so that a text may
// be as long as it likes.
class Editor {
  constructor(name, changed) {
    this.gutter = element("div", { class: "gutter", "aria-hidden": "true" });
    this.backdrop = element("div", { class: "backdrop", "aria-hidden": "true" });
    this.field = element("textarea", { spellcheck: "false", wrap: "off", autocomplete: "off", autocapitalize: "off", "aria-label": name });
    this.element = element("div", { class: "editor" }, this.gutter, element("div", { class: "sheet" }, this.backdrop, this.field));
    this.clear();
    this.field.addEventListener("input", () => (this.clear(), changed(this.field.value)));
    this.field.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.field);
  }

  put(text) {
    if (this.field.value === text) return;
    this.field.value = text;
    this.field.scrollTo(0, 0);
    this.clear();
  }

  clear() {
    this.lines = this.field.value.split("\n");
    this.marks = { missed: new Set(), wrong: null, origin: null };
    this.draw();
  }

  mark(marks) {
    Object.assign(this.marks, marks);
    this.draw();
  }

  // Scrolls to a line unless it is in sight.
  show(line) {
    const top = (line - 1) * ROW;
    const { scrollTop, clientHeight } = this.field;
    if (top < scrollTop || top + 2 * ROW > scrollTop + clientHeight) this.field.scrollTop = Math.max(0, top - clientHeight / 3);
  }

  draw() {
    const { scrollTop, scrollLeft, clientHeight } = this.field;
    const first = Math.floor(scrollTop / ROW);
    const last = Math.min(this.lines.length, first + Math.ceil(clientHeight / ROW) + 2);
    const numbers = [];
    const rows = [];
    const { missed, wrong, origin } = this.marks;
    for (let at = first; at < last; at += 1) {
      const line = at + 1;
      const is = [missed.has(line) && "missed", wrong?.line === line && "wrong", origin?.line === line && "origin"].filter(Boolean).join(" ");
      numbers.push(element("div", { class: is }, String(line)));
      const row = element("div", { class: is });
      const text = this.lines[at].slice(0, 2000);
      const mark = origin?.line === line ? origin : wrong?.line === line && wrong.column ? { from: wrong.column - 1, to: wrong.column } : null;
      const all = [...text]; // Columns count characters.
      const part = (from, to) => all.slice(from, to).join("");
      row.append(...(mark ? [part(0, mark.from), element("mark", {}, part(mark.from, mark.to) || " "), part(mark.to)] : [text]));
      rows.push(row);
    }
    this.gutter.replaceChildren(...numbers);
    this.backdrop.replaceChildren(...rows);
    const down = first * ROW - scrollTop;
    this.gutter.style.transform = `translateY(${down}px)`;
    this.backdrop.style.transform = `translate(${-scrollLeft}px, ${down}px)`;
    this.gutter.style.width = `${String(this.lines.length).length + 1}ch`;
  }
}

// ---- Texts with every character visible

function visible(text) {
  return text.split(/( +|[\p{C}\p{Z}])/u).map((piece, at) => {
    if (at % 2 === 0) return piece;
    if (piece[0] === " ") return element("span", { class: "space" }, piece);
    return unseen(piece, { "\n": "↵", "\t": "⇥", "\r": "←" }[piece] ?? `U+${piece.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  });
}

// Some bytes of a text.
const encoder = new TextEncoder();
const cut = (text, start, end) => new TextDecoder().decode(encoder.encode(text).subarray(start, end));

const kindOf = (span) => (span.template ? "template" : span.input ? span.input.kind : "made");

// The pieces of a prompt: each has one origin, and the model writes it or does not.
function pieces({ text, trace, mask }) {
  const learned = mask?.masks[0]?.learned ?? [];
  const found = [];
  let turn = 0;
  for (const span of trace?.spans ?? []) {
    for (let { start } = span.prompt; start < span.prompt.end; ) {
      while (learned[turn]?.end <= start) turn += 1;
      const range = learned[turn];
      const isLearned = range?.start <= start;
      const end = Math.min(span.prompt.end, isLearned ? range.end : (range?.start ?? Infinity));
      const isWhole = start === span.prompt.start && end === span.prompt.end;
      found.push({ span, isLearned, start, end, text: isWhole ? span.text : cut(span.text, start - span.prompt.start, end - span.prompt.start) });
      start = end;
    }
  }
  return found.length || !text ? found : [{ span: null, isLearned: false, text }];
}

// Who wrote a piece, in words.
function origin({ span, isLearned, start, end }) {
  if (!span) return "";
  const done = span.operations.filter((name) => name !== "key").join(", ");
  let words;
  if (span.template) words = `the template, line ${span.template.line}, column ${span.template.column}`;
  else if (span.input) {
    const message = /^messages\[(\d+)\]/.exec(span.input.path);
    const role = message && state.messages?.[message[1]]?.role;
    words = `${span.input.kind === "message" && role ? `the message of “${role}”` : `a ${span.input.kind}`}: ${span.input.path}, bytes ${span.input.start} to ${span.input.end}`;
  } else words = `made from ${span.made.from.map((input) => input.path).join(", ") || "nothing that was given"}`;
  return `${isLearned ? "The model writes it. " : ""}Bytes ${start} to ${end}: ${words}${done ? `, by ${done}` : ""}`;
}

// ---- The state, and its link

const state = { dialect: "jinja", front: "", tokens: '{"bos_token": "<s>", "eos_token": "</s>"}', a: EXAMPLE, b: null, conversation: "", chosen: "", space: true, mask: false, coverage: false, messages: [] };
const { messages: _, ...EMPTY } = state; // What a link holds.
let [examples, fronts, served, shown] = [[], {}, [], []];
// The file of a tokenizer and its configuration, with the number of their changes.
const tokenizer = { file: null, config: {}, number: 0, isOn: true };

async function through(stream, bytes, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).arrayBuffer();
    size += value.length;
    if (size > most) throw new Error("it is too long");
    parts.push(value);
  }
}

async function fragment() {
  const kept = Object.fromEntries(Object.keys(EMPTY).map((key) => [key, state[key]]).filter(([key, value]) => value !== EMPTY[key]));
  if (examples.some((one) => one.id === state.chosen)) delete kept.conversation;
  const bytes = new Uint8Array(await through(new CompressionStream("deflate-raw"), encoder.encode(JSON.stringify(kept)), Infinity));
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return `#1.${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// The state in a fragment. An error if it was cut or changed.
async function unfolded(text) {
  const found = /^#1\.([\w-]+)$/.exec(text);
  if (!found) throw new Error("it is no link of this page");
  const bytes = Uint8Array.from(atob(found[1].replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
  const kept = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes, 4 * MOST_TEXT)));
  const isFine = ([key, value]) => key in EMPTY && (value === null ? key === "b" : typeof value === (key === "b" ? "string" : typeof state[key]));
  if (kept === null || typeof kept !== "object" || !Object.entries(kept).every(isFine)) throw new Error("it has something else in it");
  return kept;
}

let ownFragment = "";
async function remember() {
  const text = await fragment();
  if (text.length > MOST_LINK) return false;
  ownFragment = text;
  history.replaceState(null, "", text);
  return true;
}

async function restore() {
  const text = location.hash;
  if (!text || text === ownFragment) return;
  if (text.startsWith("#hf:")) return fetchModel(decodeURIComponent(text.slice(1)));
  try {
    take({ ...EMPTY, ...(await unfolded(text)) });
    notice("");
  } catch (error) {
    notice(`The link cannot be read: ${error.message}. It may have been cut.`);
  }
}

// ---- What is shown

const editor = (side, name) => new Editor(name, (text) => ((state[side] = text), changed()));
const editors = { a: editor("a", "Template A"), b: editor("b", "Template B") };
let timer;
let newest = 0;

// What is shown is old until the newest change was asked and answered.
function changed(delay = 150) {
  newest += 1;
  $("prompt").setAttribute("aria-busy", "true");
  clearTimeout(timer);
  timer = setTimeout(update, delay, newest);
}

// Takes over parts of the state, and shows them.
function take(parts) {
  if (Object.values(parts).some((part) => part?.length > MOST_TEXT)) throw new Error(TOO_LONG);
  Object.assign(state, parts);
  const example = examples.find((one) => one.id === state.chosen);
  if (example) state.conversation = example.text;
  editors.a.put(state.a);
  editors.b.put(state.b ?? "");
  $("dialect").value = state.dialect;
  const all = [{ name: "", about: "What people use this kind of template with" }, ...(fronts[state.dialect] ?? [])];
  const chosen = Math.max(0, all.findIndex(({ name }) => name === state.front));
  const at = [...$("fronts").children].indexOf(document.activeElement);
  put("fronts", all.map(({ name, about }, number) => element("button", { type: "button", role: "tab", title: about, "data-front": name, "aria-controls": "prompt", "aria-selected": String(number === chosen), tabindex: number === chosen ? 0 : -1, click: () => take({ front: name }) }, name || "its own application")));
  showServed();
  if (at >= 0) $("fronts").children[chosen].focus();
  $("tokens").value = state.tokens;
  $("conversation").value = state.conversation;
  $("chosen").value = example ? state.chosen : "";
  $("about").textContent = example ? example.about : "Your own conversation: a list of messages, or an object with messages, tools and more.";
  for (const key of ["space", "mask", "coverage"]) $(key).setAttribute("aria-pressed", state[key]);
  $("compare").setAttribute("aria-pressed", state.b !== null);
  $("cuts").hidden = !tokenizer.file;
  $("cuts").setAttribute("aria-pressed", tokenizer.isOn);
  document.body.classList.toggle("compares", state.b !== null);
  editors.b.element.hidden = $("whole").hidden = state.b === null;
  document.body.classList.toggle("plain", !state.space);
  document.body.classList.toggle("masked", state.mask);
  changed(0);
}

// A template with its options, as the module takes it. An error if the tokens are no JSON.
function asked(source, front = state.front) {
  const special_tokens = state.tokens.trim() ? parsed(state.tokens) : {};
  if (!special_tokens) throw new Error('the tokens are not JSON, such as {"eos_token": "</s>"}');
  const options = { name: "chat_template", dialect: state.dialect, special_tokens };
  if (front) options.front = front;
  return { source, options: JSON.stringify(options) };
}

async function update(number) {
  const conversation = parsed(state.conversation);
  state.messages = conversation?.messages ?? conversation;
  remember().then((isKept) => ($("share").disabled = !isKept), () => ($("share").disabled = true));
  try {
    const a = asked(state.a);
    carded(a);
    const compares = state.b !== null;
    const b = compares ? asked(state.b) : state.front ? asked(state.a, "") : null;
    const asks = { conversation: state.conversation, now: new Date().toISOString() };
    around.ask("served", { a: asked(state.a, ""), ...asks }).then(showServed, () => showServed([]));
    const details = ["trace", ...["mask", "coverage"].filter((key) => state[key])];
    const found = await quick.ask("render", { a, b, isOwn: !compares, details, ...asks });
    if (!found) return;
    show(found.outcome);
    $("difference").hidden = !found.diff || (!compares && !found.diff.hunks.length);
    if (tokenizer.file && tokenizer.isOn && found.outcome.kind === "rendered") await cutUp(found.outcome.text);
    if (found.diff) sides(...(compares ? [found.outcome, found.other] : [found.other, found.outcome]), found.diff);
  } catch (error) {
    show({ kind: "ended", text: error.message });
  } finally {
    if (number === newest) $("prompt").setAttribute("aria-busy", "false");
  }
}

// Marks the applications that do not give the prompt of the template's own one.
function showServed(all) {
  served = all ?? served; // There is none if a newer question was asked.
  for (const tab of $("fronts").children) {
    const { kind, is_same: isSame = true } = served.find(({ front }) => front === tab.dataset.front) ?? {};
    tab.classList.toggle("differs", !isSame);
    tab.setAttribute("aria-label", `${tab.textContent}${isSame ? "" : `, ${kind === "rendered" ? "differs from its own application" : "gives no prompt"}`}`);
  }
}

const WHY = {
  raised: "The template refuses the conversation",
  refused: "The application refuses the conversation",
  syntax: "The template cannot be read",
  failed: "The template fails",
  limit: "A limit ran out",
  crashed: "Internal error",
};

function show(outcome) {
  const { kind, text, line, column } = outcome;
  const isPrompt = kind === "rendered";
  $("wrong").textContent = isPrompt ? "" : `${WHY[kind] ?? "There is no prompt"}: ${text}${line ? ` (line ${line}${column ? `, column ${column}` : ""})` : ""}`;
  if (!isPrompt && /_token' is undefined/.test(text)) $("wrong").textContent += ': write the model\'s tokens into the field "tokens"';
  const missed = new Set();
  for (const site of (state.coverage && outcome.coverage?.templates[0]?.sites) || []) {
    if (!site.dead && site.ways.every((way) => way.cases === 0)) for (let at = site.line; at <= site.end_line; at += 1) missed.add(at);
  }
  editors.a.mark({ missed, wrong: isPrompt || !line ? null : { line, column }, origin: null });
  if (!isPrompt && line) editors.a.show(line);
  const cut = isPrompt && text.length > MOST_SHOWN;
  shown = isPrompt ? pieces(cut ? { text: text.slice(0, MOST_SHOWN) } : outcome) : [];
  $("prompt").classList.toggle("none", !isPrompt);
  $("prompt").replaceChildren(...shown.map((piece, at) => {
    const kind = piece.span ? kindOf(piece.span) : "template";
    return element("span", { class: `piece of-${kind}${piece.isLearned ? " learned" : ""}`, "data-at": at }, visible(piece.text));
  }));
  if (!isPrompt) $("prompt").append("no prompt");
  if (isPrompt && !text) $("prompt").append(element("em", {}, "an empty prompt"));
  const bytes = encoder.encode(text).length;
  const learned = outcome.mask?.masks[0]?.learned.reduce((sum, { start, end }) => sum + end - start, 0) ?? 0;
  $("size").textContent = !isPrompt ? "" : `${counted(bytes, "byte")}${state.mask ? `, of which the model writes ${learned.toLocaleString("en")}` : ""}${state.coverage ? `; ${counted(missed.size, "line")} of the template never reached` : ""}${cut ? "; its beginning is shown" : ""}`;
  const kinds = new Set(shown.filter((piece) => piece.span).map((piece) => kindOf(piece.span)));
  put("legend", ...KINDS.filter((kind) => kinds.has(kind)).map((kind) => element("li", { class: `of-${kind}` }, kind)));
  point(-1);
  prompt = isPrompt ? text : "";
}

let [prompt, pointed] = ["", -1];

// Shows the prompt in tokens.
async function cutUp(text) {
  try {
    const { file, number, config } = tokenizer;
    const tokens = await beside.ask("tokens", { file, number: `${number} ${state.tokens}`, config, special_tokens: parsed(state.tokens) ?? {}, text }, 60);
    if (!tokens || text !== prompt) return;
    shown = [];
    put("prompt", tokensOf(tokens));
    put("legend");
    $("origin").textContent = "Point at a token to see its number.";
    $("size").textContent += `, ${counted(tokens.length, "token")}`;
  } catch (error) {
    notice(`The tokenizer cannot be used: ${error.message}`);
  }
}

// Shows who wrote a piece of the prompt, and what else has the same origin.
function point(at, isKey = false) {
  pointed = at;
  const piece = shown[at];
  const all = $("prompt").children;
  const same = (other) => piece?.span && other.span && (piece.span.template ? other.span.template?.start === piece.span.template.start : piece.span.input && other.span.input?.path === piece.span.input.path);
  shown.forEach((other, index) => {
    all[index]?.classList.toggle("here", index === at);
    all[index]?.classList.toggle("same", index !== at && Boolean(same(other)));
  });
  const template = piece?.span?.template;
  if (piece?.span) $("origin").textContent = origin(piece);
  if (template) {
    const length = [...cut(state.a, template.start, template.end).split("\n")[0]].length;
    editors.a.mark({ origin: { line: template.line, from: template.column - 1, to: template.column - 1 + length } });
    editors.a.show(template.line);
  } else editors.a.mark({ origin: null });
  if (isKey) all[at].scrollIntoView({ block: "nearest" });
}

// ---- Two templates

// What differs between A and B, or between the template's own application and another one.
function sides(a, b, diff) {
  const [one, other] = [a, b].map(({ kind }) => (kind === "rendered" ? "a prompt" : "no prompt"));
  const words = state.b === null ? ["its own application", state.front] : ["A", "B"];
  put("differs", a.kind === b.kind && a.text === b.text ? "Both give the same for this conversation, byte for byte." : `${one === other ? "The results differ" : `${words[0]} gives ${one}, and ${words[1]} ${other}`}: − is of ${words[0]}, + of ${words[1]}.`);
  put("sides", diff.hunks.length > 0 && difference(state.b === null ? { ...diff, first: null } : diff));
  $("compared").hidden = true;
}

async function compareAll() {
  $("compared").hidden = false;
  $("compared").textContent = "Comparing in all conversations of the suite…";
  try {
    const report = await long.ask("diff", { a: asked(state.a), b: asked(state.b) }, 30);
    if (report) $("compared").textContent = report.text;
  } catch (error) {
    $("compared").textContent = error.message;
  }
}

// ---- The card

let cardKey = "";

async function carded(a) {
  const key = JSON.stringify(a);
  if (key === cardKey) return;
  cardKey = key;
  $("tally").textContent = "examining…";
  put("patches");
  $("carded").classList.add("old");
  try {
    const report = await slow.ask("card", { a });
    if (report && key === cardKey) showCard(report);
  } catch (error) {
    if (key !== cardKey) return;
    cardKey = "";
    $("tally").textContent = "";
    put("card", element("p", { class: "wrong" }, `The card was ${error.message}`));
    $("carded").classList.remove("old");
  }
}

extras.render = ({ conversation }) => element("button", { type: "button", click: () => take({ chosen: "", conversation: json(conversation) }) }, "Try it above");
extras.evidence = ({ line }) => line && element("button", { type: "button", class: "line", click: () => (editors.a.mark({ origin: { line, from: 0, to: 0 } }), editors.a.show(line)) }, `line ${line}`);

function showCard({ page: { card, pages }, text }) {
  $("carded").classList.remove("old");
  $("tally").textContent = card.syntax_error ? "the template cannot be read" : (text.split("\n")[1] ?? "");
  put("card", reportCard(card, (contract) => pages[contract]), element("details", { class: "block" }, element("summary", {}, "As the command prints it"), element("pre", { class: "words" }, text)));
}

async function mend() {
  $("mend").disabled = true;
  put("patches", element("p", { class: "quiet" }, "Looking for patches, and proving them with the conversations of the suite…"));
  try {
    const source = state.a;
    const report = await long.ask("fixes", { a: asked(source) }, 30);
    // A patch holds a whole template: it would take back what was typed since.
    if (source !== state.a) put("patches", element("p", { class: "quiet" }, "The template was changed meanwhile: look again."));
    else if (report) showPatches(report);
  } catch (error) {
    put("patches", element("p", { class: "wrong" }, `The search was ${error.message}`));
  }
  $("mend").disabled = false;
}

function showPatches({ document: { fixes }, patched, diffs }) {
  const made = fixes.map((fix, at) => element("article", { class: "patch" },
    element("p", {}, element("span", { class: `badge ${fix.is_safe ? "safe" : "unsafe"}` }, fix.is_safe ? "safe" : "unsafe"), " for ", element("strong", {}, fix.contract), `: ${fix.reason}. ${counted(fix.proof.same, "prompt stays", "prompts stay")} byte for byte. `,
      element("button", { type: "button", class: "primary", click: () => (take({ a: patched[at] }), notice(`Applied the patch for ${fix.contract}${at ? ", with the safe ones before it" : ""}.`)) }, "Apply")),
    difference(diffs[at])));
  put("patches", made.length ? made : element("p", { class: "quiet" }, "No patch was found."));
}

// ---- Files and models

const tokenText = (value) => (typeof value === "string" ? value : typeof value?.content === "string" ? value.content : null);

// The template and the special tokens of a tokenizer_config.json, as far as it has them.
function ofConfig(config) {
  Object.assign(tokenizer, { config, number: tokenizer.number + 1 });
  const tokens = Object.entries(config).filter(([key, value]) => key.endsWith("_token") && tokenText(value) !== null);
  const parts = { dialect: "jinja", front: "", tokens: JSON.stringify(Object.fromEntries(tokens.map(([key, value]) => [key, tokenText(value)]))) };
  let source = config.chat_template;
  if (Array.isArray(source)) source = (source.find((one) => one?.name === "default") ?? source[0])?.template;
  return typeof source === "string" ? { ...parts, a: source } : parts;
}

async function openFile(file) {
  const name = file.name.toLowerCase();
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (String.fromCharCode(...head) === "GGUF") {
    // The metadata is at the beginning. Vocabularies are a few megabytes long.
    for (let size = 8 << 20; ; size *= 4) {
      const start = new Uint8Array(await file.slice(0, size).arrayBuffer());
      const found = await beside.ask("gguf", { name: file.name, file: start }, 20);
      if (found?.more && size < file.size && size < 512 << 20) continue;
      if (!found?.templates) throw new Error("the file ends within its metadata");
      const [template] = found.templates;
      return { dialect: "jinja", front: "", a: template.source, tokens: JSON.stringify(template.special_tokens) };
    }
  }
  if (name === "tokenizer.json") {
    Object.assign(tokenizer, { file, number: tokenizer.number + 1 });
    return { note: "the switch “Tokens” shows the prompt as it cuts it" };
  }
  if (file.size > 32 << 20) throw new Error("it is larger than 32 MB");
  const text = await file.text();
  if (/\.(jinja2?|j2|txt)$/.test(name)) return { dialect: "jinja", front: "", a: text };
  if (/\.(gotmpl|tmpl)$/.test(name)) return { dialect: "go", front: "", a: text };
  const config = parsed(text); // Perhaps it is JSON Lines.
  if (config && !config.messages && ["chat_template", "tokenizer_class", "bos_token", "eos_token"].some((key) => key in Object(config))) return ofConfig(config);
  const found = await beside.ask("conversations", { name: file.name, file: text });
  const [first] = found?.conversations ?? [];
  if (!first) throw new Error("another file came in between");
  return { chosen: "", conversation: json(first.conversation), note: found.note };
}

async function openFiles(files) {
  const words = [];
  // What a chat_template.jinja says wins over tokenizer_config.json, as in transformers.
  // Tokens that only the configuration names belong to the tokenizer.
  const rank = ({ name }) => (name.endsWith(".jinja") ? 2 : name === "tokenizer.json" ? 1 : 0);
  const ordered = [...files].sort((a, b) => rank(a) - rank(b));
  for (const file of ordered.slice(0, 20)) {
    try {
      const { note, ...found } = await openFile(file);
      take(found);
      words.push(`Opened ${file.name}${note ? ` (${note})` : ""}.`);
    } catch (error) {
      words.push(`${file.name} cannot be opened: ${error.message}`);
    }
  }
  notice(words.join(" "));
}

async function fetchModel(typed) {
  const found = /^(?:hf:)?([\w.-]+\/[\w.-]+?)(?:@([\w.-]+))?$/.exec(typed.trim());
  if (!found) return notice("A model has a name such as hf:ORG/NAME.");
  const [, name, revision = "main"] = found;
  notice(`Fetching the small files of ${name}…`);
  const get = async (file) => {
    const response = await fetch(`https://huggingface.co/${name}/resolve/${revision}/${file}`, { credentials: "omit" });
    if (response.status === 404) return null;
    if (response.status === 401 || response.status === 403) throw new Error("the model is gated, or there is none of this name");
    if (!response.ok) throw new Error(`the hub answers ${response.status}`);
    return response.text();
  };
  try {
    const [config, template] = await Promise.all([get("tokenizer_config.json"), get("chat_template.jinja")]);
    const parts = config ? ofConfig(JSON.parse(config)) : { dialect: "jinja", front: "", tokens: "" };
    if (template !== null) parts.a = template;
    if (parts.a === undefined) throw new Error("it has no chat template");
    take(parts);
    notice(`Fetched ${name}.`);
  } catch (error) {
    notice(`${name} cannot be fetched: ${error.message}.`);
  }
}

// ---- Beginning

for (const key of ["space", "mask", "coverage"]) on(key, "click", () => take({ [key]: !state[key] }));
on("cuts", "click", () => ((tokenizer.isOn = !tokenizer.isOn), take({})));
on("compare", "click", () => take({ b: state.b === null ? state.a : null }));
on("whole", "click", compareAll);
on("mend", "click", mend);
on("dialect", "change", () => take({ dialect: $("dialect").value, front: "" }));
on("fronts", "keydown", ({ key, target }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  const tabs = [...$("fronts").children];
  if (step) tabs.at((tabs.indexOf(target) + step) % tabs.length).click();
});
on("tokens", "input", () => ((state.tokens = $("tokens").value), changed()));
on("chosen", "change", () => take({ chosen: $("chosen").value }));
on("conversation", "input", () => {
  state.conversation = $("conversation").value;
  state.chosen = $("chosen").value = "";
  changed();
});
on("copy", "click", () => navigator.clipboard.writeText(prompt).then(() => notice("Copied the prompt."), () => notice("The browser does not allow copying.")));
on("share", "click", async () => {
  if (!(await remember())) return notice("This is too long for a link.");
  navigator.clipboard.writeText(location.href).then(() => notice(`Copied a link of ${counted(location.href.length, "character")}.`), () => notice("The link is in the address."));
});
on("open", "click", () => $("files").click());
on("files", "change", () => openFiles($("files").files));
on("fetch", "click", () => ($("hub").hidden = !$("hub").hidden) || $("model").focus());
on("hub", "submit", (event) => (event.preventDefault(), fetchModel($("model").value)));
on("prompt", "mouseover", (event) => {
  const piece = event.target.closest("[data-at]");
  if (piece) point(Number(piece.dataset.at));
  const token = event.target.closest(".token");
  if (token) $("origin").textContent = token.title;
});
on("prompt", "keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step || !shown.length) return;
  event.preventDefault();
  point(Math.min(shown.length - 1, Math.max(0, pointed + step)), true);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => (event.preventDefault(), openFiles(event.dataTransfer.files)));
addEventListener("paste", (event) => {
  if (event.clipboardData.getData("text").length <= MOST_TEXT) return;
  event.preventDefault();
  notice(`This is not pasted: ${TOO_LONG}.`);
});
addEventListener("hashchange", restore);

async function begin() {
  document.querySelector(".editors").append(editors.a.element, editors.b.element);
  const [list, about] = await Promise.all([fetch("examples.json").then((response) => response.json()), quick.ask("about", {}, 60)]);
  examples = list;
  fronts = about.fronts;
  const families = Map.groupBy?.(examples, (one) => one.id.split("/")[0]) ?? new Map([["suite", examples]]);
  $("chosen").append(element("option", { value: "" }, "your own"), ...[...families].map(([family, all]) => element("optgroup", { label: family }, ...all.map((one) => element("option", { value: one.id }, one.id.split("/")[1])))));
  take({ chosen: examples[0].id });
  await restore();
  document.body.classList.add("ready");
}

begin().catch((error) => notice(`The page cannot begin: ${error.message}`));
