#!/usr/bin/env python3
"""Records what transformers reads from model folders, for harness/tests/sources.

    python3 scripts/record-sources.py > harness/tests/data/sources.json

Each row is a folder: its files, and the template and the special tokens of a tokenizer and a
processor that are loaded from it. Nothing is downloaded;
`tokenizer.json` is the smallest that loads.
"""

import json
import os
import pathlib
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import transformers
from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.processing_utils import ProcessorMixin

TOKENIZER = {
    "version": "1.0",
    "added_tokens": [],
    "model": {"type": "WordLevel", "vocab": {"<s>": 0, "</s>": 1, "<unk>": 2, "a": 3}, "unk_token": "<unk>"},
}
NAMED = [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}]
OBJECT = {"content": "<s>", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
TYPED = {"__type": "AddedToken", **OBJECT}
DECODER = {"added_tokens_decoder": {"0": {**OBJECT, "special": True}}}

CONFIG = "tokenizer_config.json"
MAP = "special_tokens_map.json"
JINJA = "chat_template.jinja"
LEGACY = "chat_template.json"
PROCESSOR = "processor_config.json"


def extra(name):
    return f"additional_chat_templates/{name}.jinja"


ROWS = [
    ("nothing but a tokenizer", {}),
    ("a string in tokenizer_config", {CONFIG: {"chat_template": "C"}}),
    ("null in tokenizer_config", {CONFIG: {"chat_template": None}}),
    ("an empty string in tokenizer_config", {CONFIG: {"chat_template": ""}}),
    ("named templates in tokenizer_config", {CONFIG: {"chat_template": NAMED}}),
    ("an object of named templates", {CONFIG: {"chat_template": {"default": "D", "tool_use": "T", "rag": "R"}}}),
    ("named templates without a default", {CONFIG: {"chat_template": [{"name": "rag", "template": "R"}]}}),
    ("only tool_use", {CONFIG: {"chat_template": [{"name": "tool_use", "template": "T"}]}}),
    ("one name twice", {CONFIG: {"chat_template": NAMED + [{"name": "default", "template": "E"}]}}),
    ("a named template without its text", {CONFIG: {"chat_template": [{"name": "default"}]}}),
    ("an empty list of templates", {CONFIG: {"chat_template": []}}),
    ("a file alone", {JINJA: "F"}),
    ("an empty file", {JINJA: "", CONFIG: {"chat_template": "C"}}),
    ("a file over tokenizer_config", {JINJA: "F", CONFIG: {"chat_template": "C"}}),
    ("a file over named templates", {JINJA: "F", CONFIG: {"chat_template": NAMED}}),
    ("additional templates beside the file", {JINJA: "F", extra("tool_use"): "T", extra("rag"): "R"}),
    ("additional templates without the file", {extra("tool_use"): "T", CONFIG: {"chat_template": "C"}}),
    ("an additional template named default", {JINJA: "F", extra("default"): "A"}),
    ("only an additional template named default", {extra("default"): "A", CONFIG: {"chat_template": "C"}}),
    ("an additional template named file", {JINJA: "F", extra("file"): "A"}),
    ("an additional template in a folder below", {JINJA: "F", "additional_chat_templates/x/y.jinja": "A"}),
    ("an additional template with another extension", {JINJA: "F", "additional_chat_templates/x.jinja2": "A"}),
    ("line endings and a byte order mark in the file", {JINJA: "\ufeffa\r\nb\rc\n"}),
    ("the legacy file alone", {LEGACY: {"chat_template": "L"}}),
    ("the legacy file without its key", {LEGACY: {"template": "L"}}),
    ("the legacy file and tokenizer_config", {LEGACY: {"chat_template": "L"}, CONFIG: {"chat_template": "C"}}),
    ("the legacy file and the file", {LEGACY: {"chat_template": "L"}, JINJA: "F"}),
    ("the legacy file and additional templates", {LEGACY: {"chat_template": "L"}, JINJA: "F", extra("rag"): "R"}),
    ("the processor's own template", {PROCESSOR: {"chat_template": "P"}, JINJA: "F"}),
    ("the processor's own template and the legacy file", {PROCESSOR: {"chat_template": "P"}, LEGACY: {"chat_template": "L"}}),
    (
        "the processor's own template, the legacy file and additional templates",
        {PROCESSOR: {"chat_template": "P"}, LEGACY: {"chat_template": "L"}, JINJA: "F", extra("rag"): "R"},
    ),
    ("named templates without a default beside the legacy file", {CONFIG: {"chat_template": NAMED[1:]}, LEGACY: {"chat_template": "L"}}),
    ("tokens as strings", {CONFIG: {"bos_token": "<s>", "eos_token": "</s>", "pad_token": None}}),
    ("tokens as typed objects", {CONFIG: {"bos_token": TYPED}}),
    ("tokens as plain objects", {CONFIG: {"bos_token": OBJECT}}),
    ("a token that is a number", {CONFIG: {"bos_token": 1}}),
    ("the map alone", {MAP: {"bos_token": OBJECT, "eos_token": "</s>"}}),
    ("the map over tokenizer_config", {CONFIG: {"bos_token": "a", "eos_token": "</s>"}, MAP: {"bos_token": OBJECT}}),
    ("null in the map over tokenizer_config", {CONFIG: {"bos_token": "a"}, MAP: {"bos_token": None}}),
    ("the map beside an added_tokens_decoder", {CONFIG: {"bos_token": "a", **DECODER}, MAP: {"bos_token": "<s>", "eos_token": "</s>"}}),
    ("a plain object next to an added_tokens_decoder", {CONFIG: {"bos_token": OBJECT, **DECODER}}),
    ("additional special tokens", {CONFIG: {"additional_special_tokens": ["<x>", TYPED]}}),
    ("additional special tokens in the map", {MAP: {"additional_special_tokens": ["<x>", OBJECT], "eos_token": "</s>"}}),
    ("extra special tokens as a list", {CONFIG: {"extra_special_tokens": ["<x>"]}}),
    ("extra special tokens as an object", {CONFIG: {"extra_special_tokens": {"image_token": "<i>", "boi": "<b>"}}}),
    ("extra special tokens as an object in the map", {MAP: {"extra_special_tokens": {"image_token": "<i>"}}}),
    ("extra special tokens as objects", {CONFIG: {"extra_special_tokens": {"image_token": TYPED}}}),
    ("extra special tokens that name a standard one", {CONFIG: {"bos_token": "a", "extra_special_tokens": {"bos_token": "<s>"}}}),
    ("model specific tokens", {CONFIG: {"model_specific_special_tokens": {"image_token": "<i>"}}}),
    ("model specific tokens beside others", {CONFIG: {"model_specific_special_tokens": {"image_token": "<i>"}, "audio_token": "<a>"}}),
    ("a token of its own", {CONFIG: {"image_token": "<i>", "add_bos_token": True}}),
    ("a token of its own as a typed object", {CONFIG: {"image_token": TYPED}}),
    ("a token of its own as a plain object", {CONFIG: {"image_token": OBJECT}}),
    ("a token of its own in the map", {MAP: {"image_token": "<i>"}}),
    ("a token of its own in the map and the config", {CONFIG: {"image_token": "<i>"}, MAP: {"image_token": "<j>"}}),
    ("the config is not an object", {CONFIG: []}),
    ("a list as the map", {MAP: []}),
    ("a list as the map, beside an added_tokens_decoder", {CONFIG: {"eos_token": "</s>", **DECODER}, MAP: []}),
]


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if name.endswith((".jinja", ".jinja2")) else json.dumps(content)
        path.write_bytes(text.encode())
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))


def chosen(tokenizer, tools):
    try:
        return tokenizer.get_chat_template(tools=tools)
    except ValueError:
        return None


def tokenizer_of(folder):
    try:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "templates": tokenizer.chat_template,
        "plain": chosen(tokenizer, None),
        "with_tools": chosen(tokenizer, []),
        "special_tokens": tokenizer.special_tokens_map,
    }


def processor_of(folder):
    try:
        return {"templates": ProcessorMixin.get_processor_dict(folder)[0].get("chat_template")}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def auto(folder):
    """AutoTokenizer agrees wherever it finds out the class."""
    config = pathlib.Path(folder, CONFIG)
    content = json.loads(config.read_text()) if config.exists() else {}
    if not isinstance(content, dict):
        return None
    config.write_text(json.dumps({**content, "tokenizer_class": "PreTrainedTokenizerFast"}))
    try:
        return AutoTokenizer.from_pretrained(folder)
    except Exception:
        return None


transformers.logging.set_verbosity_error()
rows = []
for about, files in ROWS:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder, files)
        row = {"about": about, "files": files, "tokenizer": tokenizer_of(name), "processor": processor_of(name)}
        if (tokenizer := auto(name)) is not None:
            assert tokenizer.chat_template == row["tokenizer"]["templates"], about
            assert tokenizer.special_tokens_map == row["tokenizer"]["special_tokens"], about
        else:
            assert "error" in row["tokenizer"], about
        for side in ("tokenizer", "processor"):
            if error := row[side].get("error"):
                row[side]["error"] = error.replace(name, "FOLDER").splitlines()[0]
        rows.append(json.dumps(row, ensure_ascii=False))
print("[\n" + ",\n".join(rows) + "\n]")
print(len(rows), "folders", file=sys.stderr)
