// Works for the page in a thread of its own, so that typing never waits, and what never ends can be ended.
import { load } from "./rolecall.js";

let rolecall;
let cutter = {}; // The tokenizer, in an instance of its own module.

const template = ({ source, options }) => rolecall.template(source, options);

// Patches and comparisons need the conversations of the suite.
async function withSuite() {
  if (rolecall.suite) return;
  const response = await fetch("suite.json");
  if (!response.ok) throw new Error(`suite.json cannot be read: ${response.status}`);
  rolecall.useSuite(new Uint8Array(await response.arrayBuffer()));
}

const jobs = {
  about: () => rolecall.about(),
  render: ({ a, b, isOwn, conversation, now, details }) => {
    const outcome = template(a).outcome(conversation, { now, details });
    if (!b) return { outcome };
    const other = template(b).outcome(conversation, { now });
    const [one, two] = isOwn ? [other, outcome] : [outcome, other];
    return { outcome, other, diff: rolecall.difference(one.text, two.text) };
  },
  served: ({ a, conversation, now }) => template(a).served(conversation, { now }),
  card: ({ a }) => template(a).card({ page: true }),
  fixes: async ({ a }) => (await withSuite(), template(a).fixes()),
  diff: async ({ a, b }) => (await withSuite(), rolecall.diff(template(a), template(b))),
  tokens: async ({ file, number, config, special_tokens, text }) => {
    if (cutter.number !== number) {
      cutter = await load(await WebAssembly.compile(await (await fetch("tokens.wasm")).arrayBuffer()));
      cutter.ask({ read: { config, special_tokens } }, new Uint8Array(await file.arrayBuffer()));
      cutter.number = number;
    }
    return cutter.ask({ cut: { text } });
  },
  conversations: ({ file, name }) => rolecall.conversations(file, name),
  gguf: ({ file, name }) => rolecall.gguf(file, name),
};

addEventListener("message", async ({ data: { job, values, module } }) => {
  try {
    rolecall ??= await load(module);
    postMessage({ result: await jobs[job](values) });
  } catch (error) {
    postMessage({ error: error.message, kind: error.kind });
  }
});
