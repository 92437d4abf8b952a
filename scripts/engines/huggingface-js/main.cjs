// @huggingface/jinja, the engine of transformers.js and of Hugging Face's site.
//
// Set up as in transformers.js, with `new Template(source).render(variables)`. This trims and
// strips blocks, removes `{% generation %}`, and brings `raise_exception` and `strftime_now`. The
// engine's `set` declares variables, and here it does two more things. A refusal gets a class of
// its own, so that we can distinguish it from a failure. And JavaScript's own numbers and objects
// would lose 1.0 and the order of keys, so values are given in the engine's types. The engine's
// integers are JavaScript numbers, so it rounds those above 2⁵³.
"use strict";

const { Environment, Template } = require("@huggingface/jinja");
const { Raised, Written, serve } = require("../protocol.cjs");
const { dependencies } = require("./package.json");

const set = Environment.prototype.set;

/** A class of the engine, which does not export them, by a value of it. */
const typeOf = (value) => set.call(new Environment(), "value", value).constructor;
const [FloatValue, ArrayValue, ObjectValue] = [0.5, [], {}].map(typeOf);
const plain = (value) => set.call(new Environment(), "value", value);

function valueOf(read) {
  if (Array.isArray(read)) return new ArrayValue(read.map(valueOf));
  if (read instanceof Map) {
    return new ObjectValue(new Map([...read].map(([key, value]) => [key, valueOf(value)])));
  }
  if (!(read instanceof Written)) return plain(read);
  return read.isFloat ? new FloatValue(Number(read.words)) : plain(Number(read.words));
}

/** The values of the variables, beside the engine's own. */
class Given {
  constructor(read) {
    this.read = read;
  }
}

Environment.prototype.set = function (name, value) {
  if (value instanceof Given) return this.setVariable(name, valueOf(value.read));
  if (name !== "raise_exception") return set.call(this, name, value);
  return set.call(this, name, (message) => {
    throw new Raised(message);
  });
};

serve({
  engine: "huggingface-js",
  version: dependencies["@huggingface/jinja"],
  load: (source) => new Template(source),
  render(template, variables) {
    const given = [...variables].map(([name, read]) => [name, new Given(read)]);
    return template.render(Object.fromEntries(given));
  },
});
