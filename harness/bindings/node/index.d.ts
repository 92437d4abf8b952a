/** The language of a template: Jinja as in transformers, or Go as in Ollama. */
export type Dialect = "jinja" | "go";

/**
 * The application around a template. `raw` is the template alone. The default is `transformers` for
 * Jinja and `ollama` for Go.
 */
export type Front = "raw" | "transformers" | "transformers-processor" | "ollama" | "ollama-openai";

/**
 * A value that JSON can hold, or a BigInt, which becomes a number with all its digits. A number is
 * written as JSON.stringify does it: 1.0 becomes 1, and NaN becomes null.
 */
export type Value = string | number | bigint | boolean | null | undefined | readonly Value[] | { readonly [key: string]: Value };

/** A message, as in the APIs of OpenAI and Hugging Face. */
export type Message = object;

/** The limits of one render. No limit uses a clock. */
export interface Limits {
  /** The most steps of the template: 5 million by default. */
  fuel?: number | bigint;
  /** The most work of filters, functions and operators: 1 Gi units by default. */
  work?: number | bigint;
  /** The most bytes of all values that a render produces: 64 MiB by default. */
  output?: number | bigint;
  /** The most bytes of a prompt: 16 MiB by default. */
  prompt?: number | bigint;
  /** How deeply loops, macros and named templates may nest: 500 by default, and at most. */
  recursion?: number | bigint;
}

/** What an Ollama server knows about the model of a template. */
export interface Setup {
  model?: string;
  family?: string;
  parser?: string;
  system?: string;
  messages?: readonly { role: string; content: string }[];
}

/** What a template comes with besides its source. */
export interface TemplateOptions {
  /** Its name on report cards. */
  name?: string;
  /** Its language; `jinja` if it is absent. */
  dialect?: Dialect;
  /** The tokenizer's special tokens, such as `bos_token`. */
  specialTokens?: { readonly [name: string]: Value };
  /** Further variables of the template. */
  variables?: { readonly [name: string]: Value };
  /** The application around the template. */
  front?: Front;
  setup?: Setup;
  limits?: Limits;
}

/** What a conversation has besides its messages. All other keys are variables of the template. */
export interface RenderOptions {
  tools?: readonly object[] | null;
  documents?: readonly object[] | null;
  /** Whether the prompt ends with the opening of the assistant's turn; true if it is absent. */
  addGenerationPrompt?: boolean;
  /** True, or the name of the field of the last message that the model continues. */
  continueFinalMessage?: boolean | string;
  /** The application around the template, if it is not the template's own. */
  front?: Front;
  /** The time that the template's clock shows. A Date is shown in local time; the default is now. */
  now?: Date | string;
  readonly [variable: string]: unknown;
}

/** The report card of a template: the object that `rolecall check -q --format json` prints. */
export interface CheckResult {
  /** The version of this format. */
  rolecall: number;
  /** One card. */
  cards: { template: string; [key: string]: unknown }[];
}

/** Why there is no prompt or no template. */
export class RolecallError extends Error {
  /**
   * - `raised`: the template refused with `raise_exception`
   * - `refused`: the application refused before the template saw the conversation
   * - `syntax`: the template does not compile
   * - `failed`: the template failed while it was running
   * - `limit`: a limit ran out; `reason` is its name
   * - `crashed`: Rolecall has a defect
   * - `invalid`: the arguments of the call are wrong
   */
  readonly code: "raised" | "refused" | "syntax" | "failed" | "limit" | "crashed" | "invalid";
  /** What the template or the engine said, without the place. */
  readonly reason: string;
  /** The line of the template, from 1, if it is known. */
  readonly line?: number;
  /** The column in that line, from 1, if it is known. */
  readonly column?: number;
}

/** A compiled template. Compile it once and keep it. */
export class Template {
  /** Compiles a template. Throws a RolecallError if it does not compile. */
  constructor(source: string, options?: TemplateOptions);
  /** Compiles the templates of a file or a folder of a model: Jinja, Modelfile, GGUF, and others. */
  static load(path: string): Template[];
  /** Its name. */
  readonly name: string;
  /** Its source. */
  readonly source: string;
  /** The prompt of a conversation. Throws a RolecallError if there is none. */
  render(messages: readonly Message[], options?: RenderOptions): string;
  /**
   * The prompt of a conversation as a JSON text, with the names of transformers: `messages`,
   * `tools`, `documents`, `add_generation_prompt`, `continue_final_message`, `variables`, `now`,
   * `front`. Every digit and the order of all keys is kept, which JSON.parse would change.
   */
  renderJson(conversation: string): string;
  /** The report card. `select` names contracts; without it, all of them are judged. */
  check(options?: { select?: string | readonly string[] }): CheckResult;
}
