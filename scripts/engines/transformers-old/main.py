"""Older versions of transformers, with older versions of Jinja2.

This runs only the compiled template, with everything that a template sees. It does not run the
earlier steps of that version's `apply_chat_template`. In 4.44 the tokenizer itself compiles a
template, without `strftime_now` and loop controls.
"""

import datetime
import json
import re
import sys

import jinja2
import transformers
from transformers.tokenization_utils_base import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


class FrozenClock(datetime.datetime):
    """The clock that `strftime_now` reads."""

    moment = None

    @classmethod
    def now(cls, tz=None):
        return cls.moment


def compiled(source):
    if hasattr(chat_template_utils, "_compile_jinja_template"):
        return chat_template_utils._compile_jinja_template(source)
    # A method, which makes no use of its tokenizer.
    return PreTrainedTokenizerBase._compile_jinja_template(None, source)


def load(templates, request):
    try:
        templates[request["template"]] = compiled(request["source"])
        return {"ok": True}
    except RecursionError:
        return {"outcome": "exceeded", "limit": "recursion"}
    except Exception as error:
        return failure("parse", error, getattr(error, "lineno", None))


def render(templates, request):
    names = ("messages", "tools", "documents", "add_generation_prompt")
    variables = {name: request[name] for name in names} | request["variables"]
    FrozenClock.moment = datetime.datetime.fromisoformat(request["now"]).replace(tzinfo=None)
    try:
        text = templates[request["template"]].render(variables)
        # A lone surrogate is not a text.
        text.encode()
        return {"outcome": "rendered", "text": text}
    except RecursionError:
        return {"outcome": "exceeded", "limit": "recursion"}
    except Exception as error:
        # `raise_exception` raises this class itself; Jinja2 raises only classes derived from it.
        if type(error) is jinja2.exceptions.TemplateError:
            return {"outcome": "raised", "message": str(error)}
        return failure("render", error, None)


def failure(stage, error, line):
    message = ADDRESS.sub("0x…", f"{type(error).__name__}: {error}")
    return {"outcome": "failed", "stage": stage, "message": message, "line": line}


def main():
    chat_template_utils.datetime = FrozenClock
    templates = {}
    answers = {"load": load, "render": render}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["request"] == "stop":
            return
        if request["request"] == "start":
            answer = {
                "rolecall": 1,
                "engine": "transformers",
                "version": transformers.__version__,
                "dialect": "jinja",
                "components": {"jinja2": jinja2.__version__},
            }
        else:
            answer = {"id": request["id"], **answers[request["request"]](templates, request)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


main()
