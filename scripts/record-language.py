#!/usr/bin/env python3
"""Records the results of small Jinja templates in the real transformers environment.

    scripts/setup-references
    .references/python-transformers/bin/python scripts/record-language.py

Rewrites cases/constructs/jinja.json and harness/jinja/tests/scopes.json: one conversation, and rows with a
template each. The first table is for every engine, and measured; the second is about scopes and the order of
errors, and for our own engine. The templates stay; the rest is the result of transformers for the conversation. To add a row, add
{"template": "…"} and run this. The message of `failed` is Python's own; tests compare only that the
template fails. A row has to give the same result every time: no address in memory, no random
choice. The clock stands still.

Rewrites harness/tests/data/language-names.json too: every filter, test and global function
that a template has there, and the attributes of `loop` and of Python's types. A row has to
use each of them. The recorded names are those of CPython 3.11.
"""

import datetime
import json
import os
import pathlib
import re
import sys

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import jinja2
from jinja2.runtime import LoopContext
from transformers.utils import chat_template_utils

ROOT = pathlib.Path(__file__).parent.parent
TABLES = [ROOT / "cases/constructs/jinja.json", ROOT / "harness/jinja/tests/scopes.json"]
NAMES = ROOT / "harness/tests/data/language-names.json"
CASE = {"now": "2026-01-02T03:04:05Z", "messages": [{"role": "user", "content": "hey"}]}
CONTEXT = {
    "messages": CASE["messages"],
    "tools": None,
    "documents": None,
    "add_generation_prompt": True,
}
VALUES = ["", {}, [], (), 0, 0.0]
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
# Only once in a million runs, a random choice between two gives the same result so many times in a
# row.
TIMES = 20


class FrozenClock(datetime.datetime):
    """What `strftime_now` reads: the moment of a case that names none."""

    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(CASE["now"].removesuffix("Z"))


def outcome(source):
    stage = "parse"
    try:
        template = chat_template_utils._compile_jinja_template(source)
        stage = "render"
        return {"outcome": "rendered", "text": template.render(**CONTEXT)}
    except Exception as error:
        # raise_exception raises exactly this class; other errors have a subclass or another class.
        if type(error) is jinja2.exceptions.TemplateError:
            return {"outcome": "raised", "message": str(error)}
        return {"outcome": "failed", "stage": stage, "message": str(error)}


def row(source):
    found = outcome(source)
    if any(outcome(source) != found for _ in range(TIMES)) or ADDRESS.search(str(found)):
        sys.exit(f"{source}\n  gives something else every time: {found}")
    return {"template": source} | found


def public(value):
    return [name for name in dir(value) if not name.startswith("_")]


def names():
    environment = chat_template_utils._compile_jinja_template("").environment
    methods, refused = {}, {}
    for value in VALUES:
        kind = type(value).__name__
        methods[kind], refused[kind] = [], []
        for name in public(value):
            safe = environment.is_safe_attribute(value, name, getattr(value, name))
            (methods if safe else refused)[kind].append(name)
    return {
        "filters": sorted(environment.filters),
        "tests": sorted(environment.tests),
        "globals": sorted(environment.globals),
        "loop": public(LoopContext([], None, None)),
        "methods": methods,
        "refused": {kind: found for kind, found in refused.items() if found},
    }


def main():
    chat_template_utils.datetime = FrozenClock
    for table in TABLES:
        rows = [row(kept["template"]) for kept in json.loads(table.read_text("utf-8"))["rows"]]
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        table.write_text(f'{{"case": {json.dumps(CASE)},\n"rows": [\n{lines}\n]}}\n', "utf-8")
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in names().items())
    NAMES.write_text(f"{{\n{lines}\n}}\n", "utf-8")


main()
