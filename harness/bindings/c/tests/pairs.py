#!/usr/bin/env python3
"""Writes the exported suite so that a C program can read it without a JSON parser.

    pairs.py DATA >pairs

DATA is the output of `rolecall export`. A template is a line `T NAME SOURCE OPTIONS`, and each of
its cases a line `C OUTCOME NAME CONVERSATION TEXT`. The words in capitals are lengths in bytes, the
outcome is a word; the bytes themselves follow the line, one part after the other.
"""

import json
import re
import sys
from pathlib import Path

# JSON numbers stay as they are written: they become texts with a mark, and numbers again at the end.
MARK = "\ufdd0"
KEYS = ("messages", "tools", "documents", "add_generation_prompt", "continue_final_message", "now")


def read(path):
    keep = lambda number: MARK + number
    return json.loads(path.read_text(encoding="utf-8"), parse_float=keep, parse_int=keep)


def written(value):
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(f'"{MARK}([^"]*)"', r"\1", text).encode()


def put(word, name, *parts):
    parts = [name.encode(), *parts]
    lengths = " ".join(str(len(part)) for part in parts)
    sys.stdout.buffer.write(f"{word} {lengths}\n".encode() + b"".join(parts))


def options(dialect, front, file):
    tokens = {name: value for name, value in file["variables"].items() if name.endswith("_token")}
    others = {name: value for name, value in file["variables"].items() if name not in tokens}
    setup = file.get("setup", {})
    return written(
        {"dialect": dialect, "front": front, "special_tokens": tokens, "variables": others, "setup": setup}
    )


def conversation(case, expected):
    fields = {key: case[key] for key in KEYS if key in case}
    fields["variables"] = {**expected.get("variables", {}), **case.get("variables", {})}
    return written(fields)


def answer(expected):
    return (expected["text"] if expected["outcome"] == "rendered" else expected.get("message", "")).encode()


def main():
    data = Path(sys.argv[1])
    cases = read(data / "cases.json")["cases"]
    templates = read(data / "manifest.json")["templates"]
    for path in sorted(data.glob("expected/*/*/*.json")):
        file = read(path)
        source = (data / file["source"]).read_bytes()
        dialect, front = templates[file["template"]]["dialect"], file["front"]
        put("T", f"{file['template']} ({front})", source, options(dialect, front, file))
        for name, expected in file["cases"].items():
            put(f"C {expected['outcome']}", name, conversation(cases[name], expected), answer(expected))


main()
