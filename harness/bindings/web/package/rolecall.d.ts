/** The conversations that templates get, as JSON has them. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Conversation {
  messages: Json[];
  tools?: Json[] | null;
  documents?: Json[] | null;
  /** True if it is absent, unless a message is continued. */
  add_generation_prompt?: boolean;
  /** True, or the name of the field of the last message that the model continues. */
  continue_final_message?: boolean | string;
  /** Further variables of the template. */
  variables?: { [name: string]: Json };
  chat_template_kwargs?: { [name: string]: Json };
  /** What the clock shows, such as `2026-01-02T03:04:05Z`. */
  now?: string;
  /** The application around the template, if it is not the template's own. */
  front?: string;
}

export interface Options {
  /** The name of the template on its report card. */
  name?: string;
  dialect?: "jinja" | "go";
  special_tokens?: { [name: string]: string };
  variables?: { [name: string]: Json };
  /** The application around the template: `transformers` or `ollama` if it is absent. */
  front?: string;
  limits?: { fuel?: number; work?: number; output?: number; prompt?: number; recursion?: number };
  setup?: { [name: string]: Json };
}

export type Kind =
  | "rendered"
  | "raised"
  | "refused"
  | "syntax"
  | "failed"
  | "limit"
  | "crashed"
  | "invalid";

export interface RenderOptions {
  /** What the clock shows if the conversation does not say so. The current time if it is absent. */
  now?: Date | string;
  /** Whether the outcome has the trace, the mask and the coverage, or which of them. */
  details?: boolean | ("trace" | "mask" | "coverage")[];
}

export interface Outcome {
  kind: Kind;
  /** The prompt, or why there is none. */
  text: string;
  line?: number;
  column?: number;
  /** As `rolecall trace --format json` prints it. */
  trace?: { [key: string]: Json };
  /** As `rolecall mask --format json` prints it. */
  mask?: { [key: string]: Json };
  /** As `rolecall cover --format json` prints it. */
  coverage?: { [key: string]: Json };
}

export interface Report {
  /** As the command prints it with `--format json`. */
  document: { [key: string]: Json };
  /** As the command prints it on a terminal. */
  text: string;
}

/** Lines with the side that has them, in pieces: each with whether the other side has something else. */
export interface Difference {
  first: string | null;
  hunks: ["-" | "+" | " ", [text: string, changed: boolean][]][][];
}

export interface CardReport extends Report {
  /** The template after each patch of `document.fixes`. */
  patched: string[];
  /** What each patch changes. */
  diffs: Difference[];
  page: { card: { [key: string]: Json }; pages: { [contract: string]: string } } | null;
}

export declare class TemplateError extends Error {
  kind: Exclude<Kind, "rendered">;
  line?: number;
  column?: number;
}

export declare class Template {
  outcome(conversation: Conversation | Json[] | string, options?: RenderOptions): Outcome;
  render(conversation: Conversation | Json[] | string, options?: RenderOptions): string;
  /** What each application that may serve the template makes of a conversation: the kind of its outcome, and
   * whether it is that of the template's own application. */
  served(
    conversation: Conversation | Json[] | string,
    options?: { now?: Date | string },
  ): { front: string; is_same: boolean; kind: Kind }[];
  /** `page`: whether the report has what the page shows, with transcripts and differences. */
  card(options?: { page?: boolean }): CardReport;
  fixes(): CardReport;
}

export declare class Rolecall {
  about(): {
    version: string;
    fronts: { [dialect: string]: { name: string; about: string }[] };
  };
  template(source: string, options?: Options | string): Template;
  useSuite(suite: string | Uint8Array): void;
  diff(a: Template, b: Template): Report;
  patch(a: string, b: string): string;
  difference(a: string, b: string): Difference;
  conversations(
    file: string | Uint8Array,
    name?: string,
  ): {
    conversations: { name: string; conversation: Conversation }[];
    note: string | null;
    problems: string[];
  };
  gguf(
    start: Uint8Array,
    name?: string,
  ):
    | { more: true }
    | {
        more?: undefined;
        templates: { name: string; source: string; special_tokens: { [name: string]: string } }[];
      };
}

export declare function load(module?: WebAssembly.Module): Promise<Rolecall>;
