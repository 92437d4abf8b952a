// The engine under test: @huggingface/jinja, as transformers.js uses it. `raise_exception` and
// `strftime_now` are its own; it has no clock that could be set.

import { Template } from "@huggingface/jinja";

// What this engine cannot be given: JSON.parse does not keep the first two.
export const LOST = ["exact-numbers", "key-order", "clock"];

export function load(source) {
  let template;
  return (variables) => {
    // A template that cannot be compiled fails in every render.
    template ??= new Template(source);
    return template.render(variables);
  };
}
