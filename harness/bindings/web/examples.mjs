// Prints the conversations that the page offers: some that most people ask for, then the first of each other
// family of the suite that is short, that Jinja templates take, and that JavaScript writes as it was. The
// argument is `cases.json` of an export.
import { readFileSync } from "node:fs";

const FIRST = ["plain/multi-turn-with-system", "plain/single-turn", "tool-use/answered", "tool-use/offered-with-system", "reasoning/multi-turn"];
const MOST = 4000;
const LEFT_OUT = ["about", "dialects", "flags"];
const CHANGED = ["exact-numbers", "key-order"];

const { cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const family = (id) => id.split("/")[0];

function example(id) {
  const one = cases[id];
  const isDefault = ([key, value]) => LEFT_OUT.includes(key) || value === null || (key === "add_generation_prompt" && value === true);
  const fields = Object.fromEntries(Object.entries(one).filter((entry) => !isDefault(entry)));
  const text = JSON.stringify(fields, null, 2);
  const isFit = one.dialects.includes("jinja") && text.length <= MOST && !(one.flags ?? []).some((flag) => CHANGED.includes(flag));
  return isFit ? { id, about: one.about ?? "", text } : null;
}

const found = FIRST.map(example);
if (found.includes(null)) throw new Error(`one of ${FIRST} cannot be offered`);
const known = new Set(FIRST.map(family));
for (const id of Object.keys(cases)) {
  const one = known.has(family(id)) ? null : example(id);
  if (one) known.add(family(id));
  if (one) found.push(one);
}
console.log(JSON.stringify(found));
