"""Compares `apply_chat_template` with that of the real transformers, in the whole suite.

    python compare_transformers.py EXPORT [--speed]

`EXPORT` is a folder that `rolecall export` made. Both sides get the same Python objects. A pair is
the same if both give the same text, if the template refuses in the same words on both sides, or if
both sides fail. With `--speed` it also says how many calls each side makes in a second.
"""

from __future__ import annotations

import concurrent.futures
import copy
import datetime
import json
import pathlib
import sys
import time
import warnings

import jinja2
import transformers
from transformers.tokenization_utils_base import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

import rolecall

NAMED = set(PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES)


class FrozenClock(datetime.datetime):
    """The clock that `strftime_now` of transformers reads."""

    moment = None

    @classmethod
    def now(cls, tz=None):
        return cls.moment


def outcome(call):
    """The kind of an outcome, and what has to be the same."""
    try:
        text = call()
        text.encode()
        return ("rendered", text)
    except rolecall.TemplateRaised as error:
        return ("raised", str(error))
    except rolecall.LimitExceeded:
        return ("exceeded", "")
    except rolecall.EngineCrashed as error:
        return ("crashed", str(error))
    except RecursionError:
        return ("exceeded", "")
    except Exception as error:  # noqa: BLE001
        if type(error) is jinja2.exceptions.TemplateError:
            return ("raised", str(error))
        return ("failed", "")


def pairs(export):
    """Every template for transformers with every case, and the variables of the pair."""
    manifest = json.loads((export / "manifest.json").read_text())
    cases = json.loads((export / "cases.json").read_text())["cases"]
    for name, template in manifest["templates"].items():
        if template["dialect"] != "jinja":
            continue
        source = (export / template["source"]).read_bytes().decode()
        expected = json.loads((export / template["expected"]["raw"]).read_text())
        settings = expected["variables"]
        tokens = {key: value for key, value in settings.items() if key in NAMED}
        own = {key: value for key, value in settings.items() if key not in NAMED}
        tokenizer = PreTrainedTokenizerBase(chat_template=source, **tokens)
        try:
            loaded = rolecall.from_tokenizer(tokenizer)
        except rolecall.TemplateSyntaxError:
            loaded = None
        for case_name, case in cases.items():
            if "jinja" in case["dialects"]:
                of_pair = expected["cases"].get(case_name, {}).get("variables") or {}
                variables = {**own, **of_pair, **(case.get("variables") or {})}
                yield name, case_name, case, variables, tokenizer, loaded


def arguments(case, variables):
    given = {
        "tools": case.get("tools"),
        "documents": case.get("documents"),
        "add_generation_prompt": case.get("add_generation_prompt", True),
        "continue_final_message": case.get("continue_final_message") or False,
        "tokenize": False,
    }
    return {**given, **variables}


def compare(export):
    count = differ = texts = 0
    for name, case_name, case, variables, tokenizer, loaded in pairs(export):
        given = arguments(case, variables)
        moment = case.get("now") or "2026-01-02T03:04:05Z"
        FrozenClock.moment = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
        FrozenClock.moment = FrozenClock.moment.replace(tzinfo=None)
        messages = case["messages"]
        before = copy.deepcopy((messages, given))
        theirs = outcome(lambda: tokenizer.apply_chat_template(messages, **given))
        if loaded is None:
            ours = ("failed", "")
        else:
            ours = outcome(lambda: loaded.apply_chat_template(messages, now=moment, **given))
        assert (messages, given) == before, "the arguments were changed"
        count += 1
        texts += theirs[0] == "rendered"
        if ours != theirs:
            differ += 1
            if differ <= 20:
                print(f"{name}:{case_name}\n  theirs: {theirs!r:.300}\n  ours:   {ours!r:.300}")
    print(f"{count - differ} of {count} pairs are the same, {texts} of them with a prompt")
    return differ


def per_second(call, items, threads):
    """The rate of calls, with some threads that share the work."""

    def work(part):
        for item in part:
            call(*item)

    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        if threads == 1:
            work(items)
        else:
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                list(pool.map(work, [items[number::threads] for number in range(threads)]))
        best = max(best, len(items) / (time.perf_counter() - start))
    return best


def speed(export):
    chat_template_utils.datetime = datetime.datetime
    rendered = []
    for _, _, case, variables, tokenizer, loaded in pairs(export):
        given = arguments(case, variables)
        if loaded is None:
            continue
        try:
            tokenizer.apply_chat_template(case["messages"], **given)
            loaded.apply_chat_template(case["messages"], **given)
        except Exception:  # noqa: BLE001
            continue
        rendered.append((case["messages"], given, tokenizer, loaded))
    # Some cases are huge, to try limits: all of the time would be theirs.
    rendered = [one for one in rendered if len(str(one[0])) < 20_000]
    both = {
        "transformers": [(t.apply_chat_template, m, g) for m, g, t, _ in rendered],
        "rolecall": [(r.apply_chat_template, m, g) for m, g, _, r in rendered],
    }
    rates = {}
    for side, items in both.items():
        for threads in (1, 2):
            rate = per_second(lambda method, m, g: method(m, **g), items, threads)
            rates[side, threads] = rate
            print(f"{side}, threads: {threads}: {rate:,.0f} calls a second")
    for threads in (1, 2):
        ratio = rates["rolecall", threads] / rates["transformers", threads]
        print(f"threads: {threads}: {ratio:.1f} times as many calls as transformers")


def main():
    export = pathlib.Path(sys.argv[1])
    warnings.simplefilter("ignore")
    chat_template_utils.datetime = FrozenClock
    print(f"transformers {transformers.__version__}, jinja2 {jinja2.__version__}")
    differ = compare(export)
    if "--speed" in sys.argv:
        speed(export)
    sys.exit(min(differ, 1))


main()
