/* Tries the C interface: over pairs of the exported suite, with eight threads, and with wrong
 * arguments. It is C99 and also C++. scripts/try-embedded builds and runs it.
 *
 *   program PAIRS [STEP]    PAIRS is the output of pairs.py; with STEP 50 it renders every 50th pair
 */

#define _POSIX_C_SOURCE 200809L

#include "rolecall.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 8

/* A thread with such a stack needs no other one for a render. Only the used part takes memory. */
#define LARGE_STACK ((size_t)256 << 20)

/* Bytes of the file of pairs. */
struct text {
  const char *bytes;
  size_t length;
};

struct pair {
  rolecall_template *compiled;
  /* Why there is no template, if there is none. */
  rolecall_result *error;
  struct text template_name;
  struct text name;
  struct text conversation;
  struct text expected;
  const char *outcome;
};

static struct pair *pairs;
static size_t pair_count;
static rolecall_template **templates;
static size_t template_count;
static rolecall_result **errors;
static size_t error_count;

static void fail(const char *reason) {
  fprintf(stderr, "program: %s\n", reason);
  exit(1);
}

static void hold(int is, const char *what) {
  if (!is) fail(what);
}

static void *grown(void *list, size_t count, size_t size) {
  if ((count & (count - 1)) != 0) return list;
  list = realloc(list, (count == 0 ? 1 : count * 2) * size);
  if (list == NULL) fail("no memory");
  return list;
}

static int is_word(const char *outcome, const char *word) {
  return strncmp(outcome, word, strlen(word)) == 0;
}

/* Whether a result is the expected one. The words of a failure are the reference's own. */
static int is_expected(const struct pair *pair, const rolecall_result *result) {
  int has_text = result->length == pair->expected.length &&
                 memcmp(result->text, pair->expected.bytes, result->length) == 0;
  if (is_word(pair->outcome, "rendered")) return result->kind == ROLECALL_RENDERED && has_text;
  if (is_word(pair->outcome, "raised")) return result->kind == ROLECALL_RAISED && has_text;
  if (is_word(pair->outcome, "exceeded")) return result->kind == ROLECALL_LIMIT;
  return result->kind == ROLECALL_REFUSED || result->kind == ROLECALL_SYNTAX ||
         result->kind == ROLECALL_FAILED;
}

/* Renders a pair. Returns whether the result is the expected one. */
static int agrees(const struct pair *pair) {
  int is;
  rolecall_result *result;
  if (pair->compiled == NULL) return is_expected(pair, pair->error);
  result = rolecall_render(pair->compiled, pair->conversation.bytes, pair->conversation.length);
  is = is_expected(pair, result);
  if (!is) {
    fprintf(stderr, "%.*s with %.*s: expected %.8s, got %d: %.*s\n", (int)pair->template_name.length,
            pair->template_name.bytes, (int)pair->name.length, pair->name.bytes, pair->outcome,
            (int)result->kind, (int)result->length, result->text);
  }
  rolecall_result_free(result);
  return is;
}

static struct text cut(const char **at, size_t length) {
  struct text text;
  text.bytes = *at;
  text.length = length;
  *at += length;
  return text;
}

/* Reads the lengths at the end of a line, and moves behind the line. */
static void lengths(const char **at, size_t *into, int count) {
  int i;
  char *end;
  for (i = 0; i < count; i++) {
    into[i] = strtoul(*at, &end, 10);
    *at = end;
  }
  hold(**at == '\n', "a line of the pairs is broken");
  *at += 1;
}

/* Compiles the templates and collects every STEPth pair. */
static void collect(const char *at, const char *end, size_t step) {
  rolecall_template *compiled = NULL;
  rolecall_result *error = NULL;
  struct text template_name = {NULL, 0};
  size_t seen = 0;
  size_t length[3];
  while (at < end) {
    if (*at == 'T') {
      struct text source, options;
      at += 1;
      lengths(&at, length, 3);
      template_name = cut(&at, length[0]);
      source = cut(&at, length[1]);
      options = cut(&at, length[2]);
      compiled = rolecall_compile(source.bytes, source.length, options.bytes, options.length, NULL,
                                  &error);
      hold((compiled == NULL) != (error == NULL), "a call gives a template or an error");
      if (compiled != NULL) {
        templates = (rolecall_template **)grown(templates, template_count, sizeof *templates);
        templates[template_count++] = compiled;
      } else {
        errors = (rolecall_result **)grown(errors, error_count, sizeof *errors);
        errors[error_count++] = error;
        hold(error->kind != ROLECALL_INVALID, error->text);
      }
    } else {
      struct pair pair;
      at += 2;
      pair.compiled = compiled;
      pair.error = error;
      pair.template_name = template_name;
      pair.outcome = at;
      at = strchr(at, ' ');
      lengths(&at, length, 3);
      pair.name = cut(&at, length[0]);
      pair.conversation = cut(&at, length[1]);
      pair.expected = cut(&at, length[2]);
      if (seen++ % step == 0) {
        pairs = (struct pair *)grown(pairs, pair_count, sizeof *pairs);
        pairs[pair_count++] = pair;
      }
    }
  }
}

/* All pairs, beginning at another one in each thread. */
static void *all_pairs(void *first) {
  size_t start = *(size_t *)first;
  size_t i;
  size_t wrong = 0;
  for (i = 0; i < pair_count; i++) wrong += !agrees(&pairs[(start + i) % pair_count]);
  *(size_t *)first = wrong;
  return NULL;
}

/* Starts threads that render all pairs. Returns how many results are wrong. */
static size_t in_threads(size_t count, size_t stack) {
  pthread_t threads[THREADS];
  size_t first[THREADS];
  pthread_attr_t attributes;
  size_t i;
  size_t wrong = 0;
  pthread_attr_init(&attributes);
  if (stack != 0) hold(pthread_attr_setstacksize(&attributes, stack) == 0, "a stack has a size");
  for (i = 0; i < count; i++) {
    first[i] = i * pair_count / count;
    hold(pthread_create(&threads[i], &attributes, all_pairs, &first[i]) == 0, "a thread starts");
  }
  for (i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
    wrong += first[i];
  }
  pthread_attr_destroy(&attributes);
  return wrong;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Renders one conversation with a template that the call compiles. */
static rolecall_result *rendered(const char *source, const char *conversation,
                                 const rolecall_limits *limits) {
  rolecall_result *error = NULL;
  rolecall_result *result;
  rolecall_template *compiled =
      rolecall_compile(source, strlen(source), NULL, 0, limits, &error);
  if (compiled == NULL) return error;
  result = rolecall_render(compiled, conversation, strlen(conversation));
  rolecall_template_free(compiled);
  return result;
}

static void expect(const char *source, const char *conversation, rolecall_kind kind,
                   const char *text) {
  rolecall_result *result = rendered(source, conversation, NULL);
  if (result->kind != kind || strstr(result->text, text) == NULL) {
    fprintf(stderr, "program: %s with %s: %d: %s\n", source, conversation, (int)result->kind,
            result->text);
    exit(1);
  }
  hold(result->text[result->length] == 0, "a NUL byte ends the text");
  rolecall_result_free(result);
}

/* Each kind of a result, and wrong arguments. */
static void edges(void) {
  static const char hi[] = "[{\"role\": \"user\", \"content\": \"Hi\\u0000there\"}]";
  rolecall_limits limits = {0, 0, 0, 0, 0};
  rolecall_result *result;
  rolecall_result *error = NULL;
  rolecall_template *compiled;

  hold(strchr(rolecall_version(), '.') != NULL, "there is a version");
  rolecall_result_free(NULL);
  rolecall_template_free(NULL);

  result = rendered("{{ messages[0].content }}", hi, NULL);
  hold(result->kind == ROLECALL_RENDERED && result->length == 8 &&
           memcmp(result->text, "Hi\0there", 9) == 0,
       "a prompt may hold NUL bytes");
  rolecall_result_free(result);

  expect("{{ raise_exception('No.') }}", hi, ROLECALL_RAISED, "No.");
  expect("x", "[]", ROLECALL_REFUSED, "no messages");
  expect("{{ x.y.z }}", hi, ROLECALL_FAILED, "undefined");
  expect("x", "{\"messages\"", ROLECALL_INVALID, "not JSON");
  expect("x", "\"\xff\"", ROLECALL_INVALID, "not UTF-8");
  expect("x", "", ROLECALL_INVALID, "not JSON");
  expect("{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}", hi, ROLECALL_LIMIT, "recursion");

  result = rendered("a\n  {% if %}", hi, NULL);
  hold(result->kind == ROLECALL_SYNTAX && result->line == 2 && result->column > 2,
       "a syntax error has its place");
  rolecall_result_free(result);

  limits.fuel = 100;
  result = rendered("{% for a in range(200) %}{{ a }}{% endfor %}", hi, &limits);
  hold(result->kind == ROLECALL_LIMIT && strcmp(result->text, "fuel") == 0, "a limit holds");
  rolecall_result_free(result);
  limits.fuel = 0;
  limits.prompt = 3;
  result = rendered("four", hi, &limits);
  hold(result->kind == ROLECALL_LIMIT && strcmp(result->text, "output") == 0, "a limit holds");
  rolecall_result_free(result);

  result = rolecall_render(NULL, hi, strlen(hi));
  hold(result->kind == ROLECALL_INVALID, "a template that is NULL is an error");
  rolecall_result_free(result);
  compiled = rolecall_compile("x", 1, NULL, 0, NULL, NULL);
  hold(compiled != NULL, "a template compiles without a place for the error");
  result = rolecall_render(compiled, NULL, 5);
  hold(result->kind == ROLECALL_INVALID, "a text that is NULL has no length");
  rolecall_result_free(result);
  rolecall_template_free(compiled);
  hold(rolecall_compile("{% if", 5, NULL, 0, NULL, NULL) == NULL, "a broken template is none");
  compiled = rolecall_compile("x", 1, "{\"tokens\": {}}", 14, NULL, &error);
  hold(compiled == NULL && error->kind == ROLECALL_INVALID, "an unknown option is an error");
  rolecall_result_free(error);
}

static char *whole(const char *path, size_t *length) {
  char *bytes;
  long size;
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail("the pairs cannot be read");
  size = ftell(file);
  rewind(file);
  bytes = (char *)malloc((size_t)size + 1);
  if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
    fail("the pairs cannot be read");
  }
  fclose(file);
  bytes[size] = 0;
  *length = (size_t)size;
  return bytes;
}

int main(int argc, char **argv) {
  size_t step = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
  size_t length = 0;
  size_t i;
  size_t wrong = 0;
  double start;
  double compiled;
  double alone;
  double roomy;
  double together;
  char *bytes;

  if (argc < 2 || step == 0) fail("usage: program PAIRS [STEP]");
  edges();
  bytes = whole(argv[1], &length);
  start = seconds();
  collect(bytes, bytes + length, step);
  compiled = seconds() - start;
  hold(pair_count * step > 20000, "there are many pairs");

  start = seconds();
  for (i = 0; i < pair_count; i++) wrong += !agrees(&pairs[i]);
  alone = seconds() - start;
  start = seconds();
  wrong += in_threads(1, LARGE_STACK);
  roomy = seconds() - start;
  start = seconds();
  wrong += in_threads(THREADS, 0);
  together = seconds() - start;

  printf("rolecall %s: %lu templates compiled in %.1f ms\n", rolecall_version(),
         (unsigned long)(template_count + error_count), compiled * 1e3);
  printf("%lu pairs: %.1f us each, %.1f us on a thread with a large stack; %d threads: %.2f s\n",
         (unsigned long)pair_count, alone * 1e6 / (double)pair_count,
         roomy * 1e6 / (double)pair_count, THREADS, together);
  printf("%lu results are wrong\n", (unsigned long)wrong);

  for (i = 0; i < template_count; i++) rolecall_template_free(templates[i]);
  for (i = 0; i < error_count; i++) rolecall_result_free(errors[i]);
  free(templates);
  free(errors);
  free(pairs);
  free(bytes);
  return wrong == 0 ? 0 : 1;
}
