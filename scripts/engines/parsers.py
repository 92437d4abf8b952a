"""What the two adapters of servers' parsers share. They load chat templates and read answers with the
parsers that belong to each template. They render nothing.

A server is an object:

- `name`, `version`, `components`: what the greeting says.
- `tool_call_parsers`, `reasoning_parsers`: the names of its parsers.
- `choose(tokenizer)`: the parsers for a chat template, as {"tool_calls": name or None, "reasoning":
  name or None}.
- `for_response_template(template)`: the same for a response template.
- `read(chosen, tokenizer, request)`: the message that these parsers read in an answer.
"""

import argparse
import json
import logging
import re
import sys

import stand_ins
from tokens import Tokenizer

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


class Unsupported(Exception):
    """There is no parser for a template, or one that needs more than a text."""


def message(reasoning, content, calls):
    """A message, as clients of a server get it. `calls` are names and texts of arguments."""
    whole = {"role": "assistant", "content": content or ""}
    if reasoning:
        whole["reasoning_content"] = reasoning
    if calls:
        whole["tool_calls"] = [
            {"type": "function", "function": {"name": name, "arguments": arguments}}
            for name, arguments in calls
        ]
    return whole


class Calls:
    """The calls of a stream, whose names and arguments come in pieces."""

    def __init__(self):
        self.by_index = {}

    def add(self, index, name, arguments):
        call = self.by_index.setdefault(index, ["", ""])
        call[0] = name or call[0]
        call[1] += arguments or ""

    def all(self):
        return [tuple(call) for _, call in sorted(self.by_index.items())]


def arguments(server):
    """The options of the command line: parsers that are named, as for the server itself."""
    options = argparse.ArgumentParser()
    options.add_argument("--tool-call-parser", choices=sorted(server.tool_call_parsers))
    options.add_argument("--reasoning-parser", choices=sorted(server.reasoning_parsers))
    return options.parse_args()


def load(server, named, templates, request):
    chosen = {"tool_calls": named.tool_call_parser, "reasoning": named.reasoning_parser}
    tokenizer = Tokenizer(request["source"])
    if not any(chosen.values()):
        chosen = server.choose(tokenizer)
    templates[request["template"]] = (chosen, tokenizer)
    return {"ok": True, "parsers": chosen}


def parse(server, templates, request):
    try:
        if request.get("response_template") is not None:
            template = request["response_template"]
            chosen = server.for_response_template(template)
            tokenizer = Tokenizer("", template)
        else:
            chosen, tokenizer = templates[request["template"]]
        if not any(chosen.values()):
            if request.get("response_template") is not None:
                raise Unsupported(f"{server.name} has no parser for this response template")
            # A server without parsers passes on the text as it is.
            return {"outcome": "read", "message": message(None, request["text"], [])}
        return {"outcome": "read", "message": server.read(chosen, tokenizer, request)}
    except (Unsupported, stand_ins.Missing) as error:
        return {"outcome": "unsupported", "message": str(error)}
    except Exception as error:
        kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return {"outcome": "failed", "kind": kind, "message": words(error)}


def words(error):
    """An error's kind and message; addresses in memory differ from run to run."""
    return ADDRESS.sub("0x…", f"{type(error).__name__}: {error}")


def serve(server):
    # Parsers log what they cannot read. It is no answer.
    logging.disable(logging.CRITICAL)
    named, templates = arguments(server), {}
    stand_ins.seal()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        kind = request["request"]
        if kind == "start":
            answer = {
                "rolecall": 1,
                "engine": server.name,
                "version": server.version,
                "dialect": "jinja",
                "components": server.components,
                "reads": ["chat_template", "response_template"],
            }
        elif kind == "load":
            answer = {"id": request["id"], **load(server, named, templates, request)}
        elif kind == "parse":
            answer = {"id": request["id"], **parse(server, templates, request)}
        elif kind == "render":
            refusal = {"outcome": "failed", "stage": "render", "message": "it only reads answers"}
            answer = {"id": request["id"], **refusal}
        elif kind == "stop":
            return
        else:
            sys.exit(f"unknown request {kind!r}")
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
