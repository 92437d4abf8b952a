"""The reference for Jinja templates: Hugging Face transformers, over Rolecall's engine
protocol, one JSON object a line on standard input and output.

Templates are compiled by transformers itself and rendered with the variables that its
`apply_chat_template` passes: messages, tools, documents, add_generation_prompt, then the
tokenizer's special tokens and whatever else the caller gave. Only the clock is ours.
"""

import datetime
import json
import re
import sys

import jinja2
import transformers
from transformers.utils import chat_template_utils

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
    templates[request["template"]] = compiled
    return {"ok": True}


def render(template, request):
    moment = datetime.datetime.fromisoformat(request["now"])
    FrozenClock.moment = moment.replace(tzinfo=None)
    context = {
        name: request[name]
        for name in ("messages", "tools", "documents", "add_generation_prompt")
    }
    context.update(request["variables"])
    try:
        text = template.render(**context)
        # A lone surrogate is no text.
        text.encode()
        return {"outcome": "rendered", "text": text}
    except RecursionError:
        return {"outcome": "exceeded", "limit": "recursion"}
    except Exception as error:
        # `raise_exception` raises this class itself, Jinja2 only those derived from it.
        if type(error) is jinja2.exceptions.TemplateError:
            return {"outcome": "raised", "message": str(error)}
        return {
            "outcome": "failed",
            "stage": "render",
            "message": words(error),
            "line": template_line(error),
        }


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
