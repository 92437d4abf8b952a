// The engine under test: @huggingface/jinja, as transformers.js uses it. `raise_exception` and
// `strftime_now` are its own; nobody can set its clock.

import { Template } from "@huggingface/jinja";

// The flags of cases that this engine cannot read: JSON.parse does not keep the first two.
export const LOST = ["exact-numbers", "key-order", "clock"];

export function load(source) {
  let template;
  return (variables) => {
    // If a template cannot be compiled, every render of it fails.
    template ??= new Template(source);
    return template.render(variables);
  };
}
