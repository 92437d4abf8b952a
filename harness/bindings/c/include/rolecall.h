/* Rolecall: chat templates of language models, rendered as transformers and Ollama do.
 *
 * Compile a template once, render conversations with it, and free it:
 *
 *   rolecall_result *error = NULL;
 *   rolecall_template *chat = rolecall_compile(source, strlen(source), NULL, 0, NULL, &error);
 *   rolecall_result *result = rolecall_render(chat, json, strlen(json));
 *   if (result->kind == ROLECALL_RENDERED) fwrite(result->text, 1, result->length, stdout);
 *   rolecall_result_free(result);
 *   rolecall_template_free(chat);
 *
 * Rules of this interface:
 *
 * - Texts are UTF-8 with a length in bytes. They may hold NUL bytes. The library copies what it
 *   needs, so the caller may free its texts after a call. NULL with the length 0 is an empty text.
 * - A template and a result belong to the caller, who frees each of them once. Freeing NULL does
 *   nothing.
 * - Any number of threads may render with one template at the same time. The caller frees it when
 *   no thread uses it any more.
 * - The library has no global state, except for a few constants that the first call makes. It
 *   starts no threads, reads no files and prints nothing. It reads the clock for a conversation
 *   without `now`.
 * - No template and no conversation makes a call crash or run without end: a template stops at its
 *   limits. A panic in the library becomes a result of the kind ROLECALL_CRASHED; Rust also prints
 *   it on the standard error of the process. If memory runs out, the process ends.
 * - A later version may add kinds, functions, and fields at the end of rolecall_result. It changes
 *   nothing else without another number in rolecall_version. Treat a kind that you do not know as a
 *   failure. Do not copy a rolecall_result by value.
 *
 * cbindgen generates this file. Do not edit it. */

#ifndef ROLECALL_H
#define ROLECALL_H



#include <stddef.h>
#include <stdint.h>

// The kind of a result.
typedef enum rolecall_kind {
  // The template gave a prompt, perhaps an empty one. The text is the prompt.
  ROLECALL_RENDERED = 0,
  // The template refused the conversation with `raise_exception`. The text is its message.
  ROLECALL_RAISED = 1,
  // The application refused the conversation before the template saw it. For example,
  // transformers refuses an empty list of messages.
  ROLECALL_REFUSED = 2,
  // The template does not compile.
  ROLECALL_SYNTAX = 3,
  // The template failed while it was running.
  ROLECALL_FAILED = 4,
  // A limit ran out. The text is its name: `fuel`, `recursion` or `output`.
  ROLECALL_LIMIT = 5,
  // The library has a defect. The text says what happened.
  ROLECALL_CRASHED = 6,
  // The arguments of the call are wrong. For example, the conversation is not JSON.
  ROLECALL_INVALID = 7,
} rolecall_kind;

// A compiled template. Only the library knows its content.
typedef struct rolecall_template rolecall_template;

// The limits of one render. 0 means the default. No limit uses a clock: a render that exceeds one
// does so on every machine. `rolecall_limits limits = {0};` sets no limit of your own.
typedef struct rolecall_limits {
  // The most steps of the template: 5 million by default.
  uint64_t fuel;
  // The most work of filters, functions and operators: 1 Gi units by default. A unit is the time
  // to compare or copy a byte.
  uint64_t work;
  // The most bytes of all values that a render produces: 64 MiB by default.
  uint64_t output;
  // The most bytes of a prompt: 16 MiB by default.
  uint64_t prompt;
  // How deeply loops, macros and named templates may nest: 500 by default, and at most.
  uint64_t recursion;
} rolecall_limits;

// The result of a call. Read its fields, then call `rolecall_result_free`.
typedef struct rolecall_result {
  // What the result is.
  enum rolecall_kind kind;
  // The prompt, or the reason why there is none: UTF-8, never NULL. The prompt may hold NUL
  // bytes; a further NUL byte follows after `length` bytes.
  const char *text;
  // The bytes of the text, without the NUL byte at its end.
  size_t length;
  // The line of the template to which the reason belongs, from 1. 0 if it is not known.
  size_t line;
  // The column in that line, from 1, in characters. 0 if it is not known.
  size_t column;
} rolecall_result;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as `0.1.0`. The text is never freed.
const char *rolecall_version(void);

// Compiles a template. The options are a JSON object, or an empty text. All of its fields are
// optional:
//
// - `dialect`: `jinja` or `go`; `jinja` if it is absent
// - `special_tokens`: the tokenizer's, by name, such as `{"bos_token": "<s>"}`
// - `variables`: further variables of the template, by name
// - `front`: the application that renders the template. For Jinja: `transformers` (the default),
//   `transformers-processor`, or `raw`, which is the template alone. For Go: `ollama` (the
//   default), `ollama-openai`, or `raw`
// - `setup`: what an Ollama server knows about the model: `model`, `family`, `parser`, `system`,
//   `messages`
// - `limits`: the fields of `rolecall_limits`, by name
//
// `limits` may be NULL; its fields win over the options. Returns NULL if there is no template.
// Then `*error` is a result that says why. Otherwise `*error` becomes NULL. `error` may be NULL if
// the caller does not want to know.
//
// The caller promises: `source` and `options` are NULL or can be read for their lengths, `limits`
// is NULL or points to limits, and `error` is NULL or points to a place for a pointer.
struct rolecall_template *rolecall_compile(const char *source,
                                           size_t source_length,
                                           const char *options,
                                           size_t options_length,
                                           const struct rolecall_limits *limits,
                                           struct rolecall_result **error);

// Renders a conversation. It is a JSON text: a list of messages, or an object with `messages`. All
// other fields of the object are optional:
//
// - `tools`, `documents`: lists
// - `add_generation_prompt`: whether the prompt ends with the opening of the assistant's turn; true
//   if it is absent, unless a message is continued
// - `continue_final_message`: true, or the name of the field to continue
// - `variables`, also as `chat_template_kwargs`: further variables of the template
// - `now`: the time that the template's clock shows, such as `2026-01-02T03:04:05+01:00`; if it is
//   absent, the time of this machine, in UTC
// - `front`: the application, if it is not the template's own
//
// Never returns NULL. Several threads may call it with the same template.
//
// The caller promises: `compiled` is NULL or a template of `rolecall_compile` that is not freed,
// and `conversation` is NULL or can be read for its length.
struct rolecall_result *rolecall_render(const struct rolecall_template *compiled,
                                        const char *conversation,
                                        size_t length);

// Frees a template. NULL is allowed.
//
// The caller promises: `compiled` is NULL, or a template of `rolecall_compile` that no thread uses
// any more and that was not freed before.
void rolecall_template_free(struct rolecall_template *compiled);

// Frees a result. NULL is allowed.
//
// The caller promises: `result` is NULL, or a result of this library that is unchanged and was not
// freed before.
void rolecall_result_free(struct rolecall_result *result);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ROLECALL_H */
