#!/usr/bin/env python3
"""Answers requests in JSON Lines with the parser of transformers.

    .references/python-transformers/bin/python scripts/response_reference.py

A request is {"template": …, "prompt": …, "tools": […], "pieces": […]}. The answer has the events
of the prompt, those of each piece, and those of the end with the message. An exception is the name
of its class. After an exception the parser goes on.
"""

import json
import os
import signal
import sys

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from transformers.utils.chat_parsing import ResponseParser  # noqa: E402
from transformers.utils.chat_parsing.response_templates import load_response_template  # noqa: E402

PYTHON_KINDS = (KeyError, AttributeError, RecursionError, TypeError, ValueError, RuntimeError)


class TooLong(BaseException):
    """The parser did not come to an end."""


def give_up(*_):
    raise TooLong


def kind_of(error):
    """The class of an exception, or the nearest one above it that callers know."""
    for kind in PYTHON_KINDS:
        if isinstance(error, kind):
            return kind.__name__
    return type(error).__name__


def escaped(text):
    return "".join(
        "\\\\" if c == "\\" else f"\\u{ord(c):04x}" if 0xD800 <= ord(c) < 0xE000 else c for c in text
    )


def has_surrogate(text):
    return any(0xD800 <= ord(c) < 0xE000 for c in text)


def to_json(value):
    """A value in the lossless form of the crate `rolecall-response`."""
    if isinstance(value, bool) or value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        if value != value:
            return {"$float": "nan"}
        if value in (float("inf"), float("-inf")):
            return {"$float": "inf" if value > 0 else "-inf"}
        return value
    if isinstance(value, str):
        return {"$text": escaped(value)} if has_surrogate(value) else value
    if isinstance(value, list):
        return [to_json(item) for item in value]
    keys = list(value)
    if any(has_surrogate(key) for key in keys) or len(keys) == 1 and keys[0].startswith("$"):
        return {"$object": [[to_json(key), to_json(item)] for key, item in value.items()]}
    return {key: to_json(item) for key, item in value.items()}


def events(found):
    out = []
    for event in found:
        out.append({key: to_json(item) if key == "value" else item for key, item in event.items()})
    return out


def attempt(call):
    try:
        return None, call()
    except TooLong:
        raise
    except Exception as error:  # noqa: BLE001: every exception is an answer
        return {"error": kind_of(error)}, None


def answer(request, seconds=2):
    """The reference's answer, or {"limit": …} if it takes too long."""
    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return plain_answer(request)
    except (TooLong, MemoryError):
        return {"limit": "time"}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def plain_answer(request):
    fault, template = attempt(lambda: load_response_template(request["template"]))
    if fault:
        return {"load": fault["error"]}
    prompt, tools = request.get("prompt"), request.get("tools")
    fault, parser = attempt(lambda: ResponseParser(template, prefix=prompt, tools=tools))
    if fault:
        return {"start": fault}
    initial = events(parser.initial_events)
    fed = []
    for piece in request["pieces"]:
        fault, found = attempt(lambda: parser.feed(piece))  # noqa: B023: called at once
        fed.append(fault or events(found))
    fault, last = attempt(parser.finalize)
    end = fault or {"events": events(last[1]), "message": to_json(last[0])}
    return {"initial": initial, "fed": fed, "end": end}


def main():
    sys.set_int_max_str_digits(4300)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
