"""Compares how answers are read with the real transformers, in the whole suite.

    python compare_responses.py EXPORT TEMPLATES

`EXPORT` is a folder that `rolecall export` made, and `TEMPLATES` the folder of the suite's
templates, whose sidecars have the response templates. The answers are those that the templates
themselves write for the messages of the cases. Both sides read each of them whole and in pieces: the
messages, the events, and the classes of the errors have to be the same.
"""

from __future__ import annotations

import json
import pathlib
import sys
import warnings

from transformers.tokenization_utils_base import PreTrainedTokenizerBase

import rolecall

NAMED = set(PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES)


def outcome(call):
    """What was read, as a text that tells all values apart, or the kind of the error."""
    try:
        return json.dumps(call())
    except rolecall.ResponseError as error:
        return f"! {error.kind}"
    except Exception as error:  # noqa: BLE001
        kinds = type(error).__mro__
        return "! " + next(kind.__name__ for kind in kinds if kind.__module__ == "builtins")


def in_pieces(owner, text, size, prompt, tools):
    parser = owner.get_response_parser(prefix=prompt, tools=tools)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    events = [parser.initial_events, *map(parser.feed, pieces)]
    return [events, parser.finalize()]


def answers(export, templates):
    """Every answer that a template writes, with its prompt and its tools."""
    cases = json.loads((export / "cases.json").read_text())["cases"]
    for path in sorted(templates.glob("*.jinja")):
        sidecar = json.loads(path.with_suffix(".json").read_text())
        if "response_template" not in sidecar:
            continue
        tokens = {k: v for k, v in sidecar.get("special_tokens", {}).items() if k in NAMED}
        tokenizer = PreTrainedTokenizerBase(
            chat_template=path.read_bytes().decode(),
            response_template=sidecar["response_template"],
            **tokens,
        )
        loaded = rolecall.from_tokenizer(tokenizer, name=path.stem)
        assert loaded.reads_answers
        for name, case in cases.items():
            given = {**(case.get("variables") or {}), "tools": case.get("tools")}
            for index, message in enumerate(case["messages"]):
                if not isinstance(message, dict) or message.get("role") != "assistant":
                    continue
                messages = case["messages"][: index + 1]
                try:
                    prompt = loaded.apply_chat_template(messages[:-1], **given)
                    whole = loaded.apply_chat_template(
                        messages, add_generation_prompt=False, **given
                    )
                except rolecall.RolecallError:
                    continue
                if whole.startswith(prompt):
                    text = whole[len(prompt) :]
                    yield f"{path.stem}:{name}#{index}", text, prompt, given["tools"], tokenizer, loaded


def main():
    export, templates = map(pathlib.Path, sys.argv[1:3])
    warnings.simplefilter("ignore")
    count = differ = read = 0
    for name, text, prompt, tools, tokenizer, loaded in answers(export, templates):
        ways = {"whole": lambda owner: owner.parse_response(text, prefix=prompt, tools=tools)}
        if len(text) < 2_000:
            for size in (1, 4):
                ways[f"{size} at a time"] = lambda owner, size=size: in_pieces(
                    owner, text, size, prompt, tools
                )
        for way, call in ways.items():
            theirs, ours = outcome(lambda: call(tokenizer)), outcome(lambda: call(loaded))
            count += 1
            read += not theirs.startswith("!")
            if ours != theirs:
                differ += 1
                if differ <= 20:
                    print(f"{name}, {way}\n  theirs: {theirs:.300}\n  ours:   {ours:.300}")
    print(f"{count - differ} of {count} readings are the same, {read} of them with a message")
    assert count > 10_000, "too few answers were found"
    sys.exit(min(differ, 1))


main()
