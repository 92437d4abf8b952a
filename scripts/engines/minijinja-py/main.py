"""minijinja for Python.

`main.py adapted` is set up for chat templates as well as possible: `tojson` is Python's own, and the
source loses `{% generation %}`, which has no effect on a prompt. `main.py plain` has only the
obvious settings: blocks are trimmed and stripped, and Python's methods are there. It also has
`raise_exception` and `strftime_now`, because hardly any template works without them.
"""

import datetime
import importlib.metadata
import json
import re
import sys

import minijinja

GENERATION = re.compile(r"\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


class Raised(Exception):
    """The error that `raise_exception` raises."""


def raise_exception(message):
    raise Raised(message)


def tojson(value, indent=None, ensure_ascii=False, separators=None, sort_keys=False):
    """The same as in transformers."""
    return json.dumps(
        value, indent=indent, ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys
    )


def without_generation(source):
    return GENERATION.sub(
        lambda tag: "{%%%s %s %s%%}" % (tag[1], "endif" if tag[2] else "if true", tag[3]), source
    )


class Engine:
    def __init__(self, adapted):
        self.adapted = adapted
        self.moment = None
        self.environment = minijinja.Environment(
            trim_blocks=True,
            lstrip_blocks=True,
            pycompat=True,
            debug=False,
            auto_escape_callback=lambda name: False,
            filters={"tojson": tojson} if adapted else {},
            globals={
                "raise_exception": raise_exception,
                "strftime_now": lambda format: self.moment.strftime(format),
            },
        )

    def load(self, request):
        source = request["source"]
        if self.adapted:
            source = without_generation(source)
        try:
            self.environment.add_template(request["template"], source)
        except minijinja.TemplateError as error:
            return failure("parse", error)
        return {"ok": True}

    def render(self, request):
        names = ("messages", "tools", "documents", "add_generation_prompt")
        variables = {name: request[name] for name in names} | request["variables"]
        self.moment = datetime.datetime.fromisoformat(request["now"])
        try:
            text = self.environment.render_template(request["template"], **variables)
            text.encode()
            return {"outcome": "rendered", "text": text}
        except Raised as refusal:
            return {"outcome": "raised", "message": str(refusal)}
        except Exception as error:
            return failure("render", error)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            return {"outcome": "crashed", "message": str(error)}


def failure(stage, error):
    line = getattr(error, "line", None)
    message = ADDRESS.sub("0x…", f"{type(error).__name__}: {error}")
    return {"outcome": "failed", "stage": stage, "message": message, "line": line}


def main(variant):
    engine = Engine(adapted=variant == "adapted")
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["request"] == "stop":
            return
        if request["request"] == "start":
            answer = {
                "rolecall": 1,
                "engine": "minijinja-py" if engine.adapted else "minijinja-py-plain",
                "version": importlib.metadata.version("minijinja"),
                "dialect": "jinja",
            }
        else:
            answer = {"id": request["id"], **getattr(engine, request["request"])(request)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


main(sys.argv[1])
