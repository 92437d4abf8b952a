"""What the adapters of servers share: they load templates and answer requests of clients over Rolecall's
engine protocol, as an application.
"""

import datetime
import json
import re
import sys

# Applications print, and some log, to standard output, which is for answers here.
ANSWERS, sys.stdout = sys.stdout, sys.stderr

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

# The variables for which requests have fields; the others are in `chat_template_kwargs`.
FIELDS = ("reasoning_effort", "tool_choice")


class Refused(Exception):
    """The server refuses a request."""


class Server:
    """A server. `name`, `version` and `components` are what the greeting says, with `fronts`, or else with
    one that has its name."""

    fronts = None

    def set_clock(self, moment):
        """From now on, templates see this moment, in UTC."""
        raise NotImplementedError

    def load(self, number, templates, tokens, media):
        """A model with the templates, by name or one alone, with the special tokens of its tokenizer, and
        with the kinds of media that it takes: those that its templates mention. It raises `ParseError`
        for a template that cannot be parsed."""
        raise NotImplementedError

    def prompt(self, model, request):
        """The prompt that the server makes of a request. It raises what the server raises."""
        raise NotImplementedError

    def rendered(self, model, asked):
        """The fields of the answer besides its outcome, for what the protocol asks."""
        return {"text": self.prompt(model, request_of(asked))}

    def failure(self, error):
        """The answer for what the server has raised."""
        return {"outcome": "failed", "stage": "input", "message": words(error)}


class ParseError(Exception):
    """A template cannot be parsed, with the answer that says so."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer


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
    server.set_clock(moment.replace(tzinfo=None))
    try:
        rendered = server.rendered(model, asked)
        # A lone surrogate is not a text.
        rendered["text"].encode()
        return {"outcome": "rendered", **rendered}
    except Exception as error:
        return server.failure(error)


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
    tokens = asked.get("special_tokens", {})
    sources = templates if isinstance(templates, str) else " ".join(templates.values())
    media = [kind for kind in ("image", "audio", "video") if kind in sources]
    try:
        models[asked["template"]] = server.load(asked["id"], templates, tokens, media)
    except ParseError as error:
        return error.answer
    return {"ok": True}


def serve(server):
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
                "fronts": server.fronts or [server.name],
            }
        elif kind == "load":
            answer = {"id": asked["id"], **load(server, models, asked)}
        elif kind == "render":
            answer = {"id": asked["id"], **outcome(server, models[asked["template"]], asked)}
        elif kind == "stop":
            return
        else:
            sys.exit(f"unknown request {kind!r}")
        print(json.dumps(answer), file=ANSWERS, flush=True)
