"""The reference for Jinja templates: Hugging Face transformers, over Rolecall's engine
protocol, one JSON object a line on standard input and output.

Where the front `transformers` is asked for, this is what its users call: a tokenizer with
the template and its special tokens, and `apply_chat_template(…, tokenize=False)`. Without a
front a template is compiled by transformers itself, and sees what it is given: messages,
tools, documents, add_generation_prompt and the other variables. Only the clock is ours.
"""

import datetime
import json
import re
import sys

import jinja2
import transformers
from transformers.tokenization_utils_base import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

FRONT = "transformers"
NAMED_TOKENS = PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


class FrozenClock(datetime.datetime):
    """What `strftime_now` reads."""

    moment = None

    @classmethod
    def now(cls, tz=None):
        return cls.moment


def load(templates, request):
    try:
        compiled = chat_template_utils._compile_jinja_template(request["source"])
    except RecursionError:
        return {"outcome": "exceeded", "limit": "recursion"}
    except Exception as error:
        line = getattr(error, "lineno", None)
        return {"outcome": "failed", "stage": "parse", "message": words(error), "line": line}
    if request.get("front") == FRONT:
        templates[request["template"]] = Application(request["source"], request["special_tokens"])
    else:
        templates[request["template"]] = Engine(compiled)
    return {"ok": True}


class Engine:
    """A template alone."""

    # How far it was when something failed outside of the template.
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
    """What people call. The special tokens are those that every tokenizer has a name for, and
    those of its model."""

    outside = "input"

    def __init__(self, source, tokens):
        named = {name: token for name, token in tokens.items() if name in NAMED_TOKENS}
        extra = {name: token for name, token in tokens.items() if name not in NAMED_TOKENS}
        self.source = source
        self.tokenizer = PreTrainedTokenizerBase(**named, extra_special_tokens=extra)

    def prompt(self, request):
        return self.tokenizer.apply_chat_template(
            request["messages"],
            tools=request["tools"],
            documents=request["documents"],
            chat_template=self.source,
            add_generation_prompt=request["add_generation_prompt"],
            continue_final_message=request.get("continue_final_message", False),
            tokenize=False,
            sanitize_control_tokens=False,
            **request["variables"],
        )


def render(asked, request):
    moment = datetime.datetime.fromisoformat(request["now"])
    FrozenClock.moment = moment.replace(tzinfo=None)
    try:
        text = asked.prompt(request)
        # A lone surrogate is no text.
        text.encode()
        return {"outcome": "rendered", "text": text}
    except RecursionError:
        return {"outcome": "exceeded", "limit": "recursion"}
    except Exception as error:
        # `raise_exception` raises this class itself, Jinja2 only those derived from it.
        if type(error) is jinja2.exceptions.TemplateError:
            return {"outcome": "raised", "message": str(error)}
        line = template_line(error)
        stage = asked.outside if line is None else "render"
        return {"outcome": "failed", "stage": stage, "message": words(error), "line": line}


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
                "fronts": [FRONT],
            }
        elif kind == "load":
            answer = {"id": request["id"], **load(templates, request)}
        elif kind == "render":
            answer = {"id": request["id"], **render(templates[request["template"]], request)}
        elif kind == "stop":
            return
        else:
            sys.exit(f"unknown request {kind!r}")
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


main()
