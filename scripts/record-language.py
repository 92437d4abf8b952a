#!/usr/bin/env python3
"""Records what small Jinja templates give in the real transformers environment.

    scripts/setup-references
    .references/python-transformers/bin/python scripts/record-language.py

Rewrites harness/tests/data/language.json, a list of [template, outcome, text] rows: the
templates stay, outcome and text are what transformers gives for one user message "hey".
To add a row, add ["the template", "", ""] and run this. The text of `failed` is Python's
own message; only that it fails is compared.
"""

import json
import os
import pathlib

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import jinja2
from transformers.utils import chat_template_utils

TABLE = pathlib.Path(__file__).parent.parent / "harness/tests/data/language.json"
CONTEXT = {
    "messages": [{"role": "user", "content": "hey"}],
    "tools": None,
    "documents": None,
    "add_generation_prompt": True,
}


def outcome(source):
    try:
        return "rendered", chat_template_utils._compile_jinja_template(source).render(**CONTEXT)
    except Exception as error:
        # raise_exception raises exactly this class, everything else a subclass or another.
        kind = "raised" if type(error) is jinja2.exceptions.TemplateError else "failed"
        return kind, str(error)


rows = [[source, *outcome(source)] for source, *_ in json.loads(TABLE.read_text("utf-8"))]
lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
TABLE.write_text(f"[\n{lines}\n]\n", "utf-8")
