"""The exported suite for an engine in Python: here Jinja2 alone, without transformers.

    rolecall export data
    EXPORT=data pytest test_chat_templates.py

expected-failures.json lists the known failures; UPDATE=1 writes it again.
"""

import hashlib
import json
import os
import pathlib

import jsonschema
import pytest
from engine import Refusal, load

DATA = pathlib.Path(os.environ["EXPORT"])
KNOWN = pathlib.Path(__file__).with_name("expected-failures.json")
CASES = json.loads((DATA / "cases.json").read_text("utf-8"))["cases"]
STANDARD = ("messages", "tools", "documents", "add_generation_prompt")
EXPECTED = sorted((DATA / "expected/transformers/raw").glob("*.json"))


def outcome(render, variables):
    """The engine's result, in the words of the files."""
    try:
        return {"outcome": "rendered", "text": render(variables)}
    except Refusal as refusal:
        return {"outcome": "raised", "message": str(refusal)}
    except Exception:
        return {"outcome": "failed"}


def agrees(expected, found):
    if expected["outcome"] in ("failed", "exceeded"):
        return found["outcome"] == "failed"
    return all(expected.get(key) == value for key, value in found.items())


def judge(name, failing):
    """Checks that exactly the known failures fail."""
    known = json.loads(KNOWN.read_text("utf-8")) if KNOWN.exists() else {}
    if os.environ.get("UPDATE"):
        known = {key: value for key, value in {**known, name: failing}.items() if value}
        KNOWN.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    new, gone = set(failing) - set(known.get(name, [])), set(known.get(name, [])) - set(failing)
    assert not new, f"fail, and are not known to: {sorted(new)}"
    assert not gone, f"pass, and are known to fail: take {sorted(gone)} out of {KNOWN.name}"


def test_the_files_are_as_they_were_exported():
    """Without this test, files that are gone or damaged would be tested less, and pass."""
    for path, file in json.loads((DATA / "manifest.json").read_text("utf-8"))["files"].items():
        if not path.startswith("runners/"):
            assert hashlib.sha256((DATA / path).read_bytes()).hexdigest() == file["sha256"], path


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_template(path):
    file = json.loads(path.read_text("utf-8"))
    render = load((DATA / file["source"]).read_bytes().decode("utf-8"))
    failing = []
    for name, expected in file["cases"].items():
        case = CASES[name]
        variables = {key: case[key] for key in STANDARD} | file["variables"]
        variables |= expected.get("variables", {}) | case.get("variables", {})
        render.now = case["now"]
        if not agrees(expected, outcome(render, variables)):
            failing.append(name)
    judge(file["template"], failing)


def test_constructs():
    file = json.loads((DATA / "constructs.json").read_text("utf-8"))
    context = file["contexts"]["jinja"]
    variables = {key: context[key] for key in STANDARD}
    failing = []
    for name, construct in file["constructs"].items():
        if construct["dialect"] == "jinja":
            render = load(construct["template"])
            render.now = context["now"]
            if not agrees(construct, outcome(render, variables)):
                failing.append(name)
    judge("constructs", failing)


@pytest.mark.parametrize("schema", sorted((DATA / "schema").iterdir()), ids=lambda path: path.name)
def test_the_files_are_as_their_schema_says(schema):
    name = schema.name.removesuffix(".schema.json")
    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text("utf-8")))
    files = (DATA / "expected").rglob("*.json") if name == "expected" else [DATA / f"{name}.json"]
    for file in files:
        validator.validate(json.loads(file.read_text("utf-8")))
