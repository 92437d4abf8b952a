"""The reference for Jinja templates: Hugging Face transformers, over Rolecall's engine
protocol, one JSON object a line on standard input and output.

If the request names a front, this calls what the front's users call: `apply_chat_template(…,
tokenize=False)` of a tokenizer with the template and its special tokens, or of a processor with
such a tokenizer. Without a front, transformers itself compiles the template, and the template sees
the variables of the request: messages, tools, documents, add_generation_prompt and the others. Only
the clock is ours.

It also reads answers, with `parse_response` or, if the answer comes in pieces or its events are
wanted, with the parser that `get_response_parser` returns.
"""

import datetime
import json
import math
import re
import sys

import jinja2
import tokenizers
import transformers
from transformers.processing_utils import ProcessorMixin
from transformers.tokenization_utils_base import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

NAMED_TOKENS = PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
SURROGATE = re.compile("[\ud800-\udfff]")


class FrozenClock(datetime.datetime):
    """The clock that `strftime_now` reads."""

    moment = None

    @classmethod
    def now(cls, tz=None):
        return cls.moment


def load(templates, request):
    named = request.get("templates")
    try:
        # If there are several templates, each is compiled when it is first used.
        compiled = named or chat_template_utils._compile_jinja_template(request["source"])
    except RecursionError:
        return {"outcome": "exceeded", "limit": "recursion"}
    except Exception as error:
        line = getattr(error, "lineno", None)
        return {"outcome": "failed", "stage": "parse", "message": words(error), "line": line}
    front = request.get("front")
    if front is None:
        asked = Engine(compiled)
    else:
        template = named or request["source"]
        asked = Application(FRONTS[front](template, request["special_tokens"]))
    templates[request["template"]] = asked
    return {"ok": True}


class Engine:
    """A template alone."""

    # The stage that the render had reached, for failures outside of the template.
    outside = "render"

    def __init__(self, template):
        self.template = template

    def prompt(self, request):
        context = {
            name: request[name]
            for name in ("messages", "tools", "documents", "add_generation_prompt")
        }
        context.update(request["variables"])
        return self.template.render(context)


class Application:
    """A tokenizer or a processor, as people call it."""

    outside = "input"

    def __init__(self, owner):
        self.owner = owner

    def prompt(self, request):
        return self.owner.apply_chat_template(
            request["messages"],
            chat_template=None,
            tools=request["tools"],
            documents=request["documents"],
            add_generation_prompt=request["add_generation_prompt"],
            continue_final_message=request.get("continue_final_message", False),
            tokenize=False,
            sanitize_control_tokens=False,
            **request["variables"],
        )


def special(tokens):
    """The tokens that every tokenizer has a name for, and those of the model."""
    named = {name: token for name, token in tokens.items() if name in NAMED_TOKENS}
    extra = {name: token for name, token in tokens.items() if name not in NAMED_TOKENS}
    return {**named, "extra_special_tokens": extra}


def tokenizer(template, tokens):
    return PreTrainedTokenizerBase(chat_template=template, **special(tokens))


class Processor(ProcessorMixin):
    """The smallest possible processor: most have no `apply_chat_template` of their own."""

    def __init__(self, tokenizer, chat_template):
        super().__init__(tokenizer, chat_template=chat_template)


def processor(template, tokens):
    # A processor asks whether its tokenizer is fast; nearly all are.
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(tokenizers.models.BPE()), **special(tokens)
    )
    return Processor(fast, template)


FRONTS = {"transformers": tokenizer, "transformers-processor": processor}


def render(asked, request):
    moment = datetime.datetime.fromisoformat(request["now"])
    FrozenClock.moment = moment.replace(tzinfo=None)
    try:
        text = asked.prompt(request)
        # A lone surrogate is not a text.
        text.encode()
        return {"outcome": "rendered", "text": text}
    except RecursionError:
        return {"outcome": "exceeded", "limit": "recursion"}
    except Exception as error:
        # `raise_exception` raises this class itself; Jinja2 raises only classes derived from it.
        if type(error) is jinja2.exceptions.TemplateError:
            return {"outcome": "raised", "message": str(error)}
        line = template_line(error)
        stage = asked.outside if line is None else "render"
        return {"outcome": "failed", "stage": stage, "message": words(error), "line": line}


def parse(request):
    template, prefix = request["response_template"], request["prefix"]
    tools, chunks = request["tools"], request.get("chunks")
    owner = PreTrainedTokenizerBase()
    try:
        if chunks is None and not request.get("events"):
            message = owner.parse_response(
                request["text"], template, prefix=prefix, tools=tools
            )
            return {"outcome": "read", "message": message}
        parser = owner.get_response_parser(template, prefix=prefix, tools=tools)
        events = [parser.initial_events]
        events += [parser.feed(chunk) for chunk in chunks or [request["text"]]]
        message, last = parser.finalize()
        return {"outcome": "read", "message": message, "events": [*events, last]}
    except Exception as error:
        kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return {"outcome": "failed", "kind": kind, "message": words(error)}


def carried(value):
    """A value of Python in a form that every JSON parser reads: the documentation of the protocol
    says how NaN, the infinities, lone surrogates and objects that look like these are written."""
    if isinstance(value, dict):
        keys_are_plain = all(is_text(key) for key in value)
        if keys_are_plain and not (len(value) == 1 and next(iter(value)).startswith("$")):
            return {key: carried(item) for key, item in value.items()}
        return {"$object": [[carried(key), carried(item)] for key, item in value.items()]}
    if isinstance(value, list):
        return [carried(item) for item in value]
    if isinstance(value, float) and (value != value or value in (math.inf, -math.inf)):
        return {"$float": repr(value)}
    if isinstance(value, str) and not is_text(value):
        escaped = value.replace("\\", "\\\\")
        return {"$text": SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)}
    return value


def is_text(text):
    """Whether a string has no lone surrogates."""
    return not SURROGATE.search(text)


def words(error):
    """An error's kind and message; addresses in memory differ from run to run."""
    return ADDRESS.sub("0x…", f"{type(error).__name__}: {error}")


def template_line(error):
    """The line of the template at which Python was, innermost first."""
    line, frame = None, error.__traceback__
    while frame:
        if frame.tb_frame.f_code.co_filename == "<template>":
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def written(answer):
    """An answer as a line. Python limits the digits and the depth of what it writes. The limits
    that hold while it reads must stay as they are."""
    digits, depth = sys.get_int_max_str_digits(), sys.getrecursionlimit()
    sys.set_int_max_str_digits(0)
    sys.setrecursionlimit(20 * depth)
    try:
        return json.dumps(carried(answer))
    finally:
        sys.set_int_max_str_digits(digits)
        sys.setrecursionlimit(depth)


def main():
    chat_template_utils.datetime = FrozenClock
    templates = {}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        kind = request["request"]
        if kind == "start":
            answer = {
                "rolecall": 1,
                "engine": "transformers",
                "version": transformers.__version__,
                "dialect": "jinja",
                "components": {"jinja2": jinja2.__version__},
                "fronts": list(FRONTS),
                "reads": ["response_template"],
            }
        elif kind == "load":
            answer = {"id": request["id"], **load(templates, request)}
        elif kind == "render":
            answer = {"id": request["id"], **render(templates[request["template"]], request)}
        elif kind == "parse":
            answer = {"id": request["id"], **parse(request)}
        elif kind == "stop":
            return
        else:
            sys.exit(f"unknown request {kind!r}")
        sys.stdout.write(written(answer) + "\n")
        sys.stdout.flush()


main()
