"""What the adapters of servers share: they load templates and answer requests of clients over Rolecall's
engine protocol, as an application.

A server is an object:

- `name`, `version`, `components`: what the greeting says; its front has its name.
- `load(number, templates, tokens, media)`: a model with the templates, by name or one alone, with the
  special tokens of its tokenizer, and with the kinds of media that it takes: those that its templates
  mention.
- `prompt(model, request)`: the prompt that the server makes of a request. It raises what the server raises.
"""

import datetime
import json
import re
import sys

import jinja2
import stand_ins
from transformers.tokenization_utils_base import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

NAMED_TOKENS = PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

# The variables for which requests have fields; the others are in `chat_template_kwargs`.
FIELDS = ("reasoning_effort", "tool_choice")


class Refused(Exception):
    """The server refuses a request."""


class FrozenClock(datetime.datetime):
    """The clock that `strftime_now` reads."""

    moment = None

    @classmethod
    def now(cls, tz=None):
        return cls.moment


class Tokenizer(PreTrainedTokenizerBase):
    """A tokenizer without tokens but the special ones."""

    @classmethod
    def of(cls, templates, tokens):
        named = {name: token for name, token in tokens.items() if name in NAMED_TOKENS}
        extra = {name: token for name, token in tokens.items() if name not in NAMED_TOKENS}
        return cls(chat_template=templates, **named, extra_special_tokens=extra)


def request_of(asked):
    """The request of a client for what the protocol asks."""
    variables = dict(asked["variables"])
    request = {"model": "model", "messages": asked["messages"]}
    request.update({name: variables.pop(name) for name in FIELDS if name in variables})
    if variables:
        request["chat_template_kwargs"] = variables
    for name in ("tools", "documents"):
        if asked[name] is not None:
            request[name] = asked[name]
    continued = asked.get("continue_final_message")
    if continued:
        request["continue_final_message"] = True if continued == "content" else continued
    if continued or not asked["add_generation_prompt"]:
        request["add_generation_prompt"] = asked["add_generation_prompt"]
    return request


def outcome(server, model, asked):
    moment = datetime.datetime.fromisoformat(asked["now"])
    FrozenClock.moment = moment.replace(tzinfo=None)
    try:
        text = server.prompt(model, request_of(asked))
        # A lone surrogate is not a text.
        text.encode()
        return {"outcome": "rendered", "text": text}
    except stand_ins.Missing:
        raise
    except Exception as error:
        return refusal(error)


def refusal(error):
    for cause in causes(error):
        if isinstance(cause, RecursionError):
            return {"outcome": "exceeded", "limit": "recursion"}
        # `raise_exception` raises this class itself; Jinja2 raises only classes derived from it.
        if type(cause) is jinja2.exceptions.TemplateError:
            return {"outcome": "raised", "message": str(cause)}
    lines = [line for cause in causes(error) for line in template_lines(cause)]
    line = lines[-1] if lines else None
    stage = "input" if line is None else "render"
    return {"outcome": "failed", "stage": stage, "message": words(error), "line": line}


def causes(error):
    """An error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__


def template_lines(error):
    """The lines of the template at which Python was, outermost first."""
    frame = error.__traceback__
    while frame:
        if frame.tb_frame.f_code.co_filename == "<template>":
            yield frame.tb_lineno
        frame = frame.tb_next


def words(error):
    """What an error says, in a line; addresses in memory differ from run to run."""
    if hasattr(error, "errors"):
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"] if not str(step).startswith("function-"))
        text = f"{place}: {first['msg']}" if place else first["msg"]
    else:
        text = str(error) or type(error).__name__
    return ADDRESS.sub("0x…", text)


def load(server, models, asked):
    templates = asked.get("templates") or asked["source"]
    try:
        if isinstance(templates, str):
            chat_template_utils._compile_jinja_template(templates)
    except RecursionError:
        return {"outcome": "exceeded", "limit": "recursion"}
    except Exception as error:
        line = getattr(error, "lineno", None)
        message = f"{type(error).__name__}: {error}"
        return {"outcome": "failed", "stage": "parse", "message": message, "line": line}
    tokens = asked.get("special_tokens", {})
    sources = templates if isinstance(templates, str) else " ".join(templates.values())
    media = [kind for kind in ("image", "audio", "video") if kind in sources]
    models[asked["template"]] = server.load(asked["id"], templates, tokens, media)
    return {"ok": True}


def serve(server):
    chat_template_utils.datetime = FrozenClock
    models = {}
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        kind = asked["request"]
        if kind == "start":
            answer = {
                "rolecall": 1,
                "engine": server.name,
                "version": server.version,
                "dialect": "jinja",
                "components": server.components,
                "fronts": [server.name],
            }
        elif kind == "load":
            answer = {"id": asked["id"], **load(server, models, asked)}
        elif kind == "render":
            answer = {"id": asked["id"], **outcome(server, models[asked["template"]], asked)}
        elif kind == "stop":
            return
        else:
            sys.exit(f"unknown request {kind!r}")
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
