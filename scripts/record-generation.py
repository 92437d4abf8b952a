#!/usr/bin/env python3
"""Records where transformers finds the model's own text: `{% generation %}` blocks.

    scripts/setup-references
    .references/python-transformers/bin/python scripts/record-generation.py

Rewrites harness/tests/data/generation.json, a list of [template, prompt, spans] rows. The templates
stay. Prompt and spans are the ones that `return_assistant_tokens_mask` uses, for one user message
"hey" and one assistant message "yé". Spans are ranges of bytes. To add a row, add
["the template", "", []] and run this.
"""

import json
import os
import pathlib

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from transformers.utils import chat_template_utils

TABLE = pathlib.Path(__file__).parent.parent / "harness/tests/data/generation.json"
CONTEXT = {
    "messages": [{"role": "user", "content": "hey"}, {"role": "assistant", "content": "yé"}],
    "tools": None,
    "documents": None,
    "add_generation_prompt": True,
}


def tracked(source):
    template = chat_template_utils._compile_jinja_template(source)
    prompt, spans = chat_template_utils._render_with_assistant_indices(template, **CONTEXT)
    offset = lambda characters: len(prompt[:characters].encode())
    return prompt, [[offset(start), offset(end)] for start, end in spans]


rows = [[source, *tracked(source)] for source, *_ in json.loads(TABLE.read_text("utf-8"))]
lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
TABLE.write_text(f"[\n{lines}\n]\n", "utf-8")
