"""Prompts, and the reasons why there is none."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import pickle
import types

import pytest

import rolecall

USER = [{"role": "user", "content": "Hi"}]
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


def shown(value: object, expression: str = "v") -> str:
    """What a template writes for a value."""
    return rolecall.Template("{{ " + expression + " }}").render(USER, v=value)


def test_the_options_reach_the_template() -> None:
    template = rolecall.Template(
        "{{ bos_token }}{{ tools }}{{ documents }}{{ add_generation_prompt }}{{ x }}",
        special_tokens={"bos_token": "<s>"},
    )
    assert template.apply_chat_template(USER) == "<s>NoneNoneTrue"
    assert template.apply_chat_template(USER, [{}], [{"a": 1}], None, False, x=2) == (
        "<s>[{}][{'a': 1}]False2"
    )
    assert template.apply_chat_template(messages=USER, tokenize=False) == "<s>NoneNoneTrue"
    assert template.apply_chat_template(USER, bos_token="B") == "BNoneNoneTrue"


def test_several_conversations_give_several_prompts() -> None:
    template = rolecall.Template(PLAIN)
    assert template.apply_chat_template([USER, USER]) == ["<user>Hi", "<user>Hi"]
    conversation = types.SimpleNamespace(messages=USER)
    assert template.apply_chat_template([conversation]) == ["<user>Hi"]


def test_a_template_can_be_chosen() -> None:
    template = rolecall.Template({"default": "d", "tool_use": "t", "rag": "r"})
    assert template.templates == {"default": "d", "tool_use": "t", "rag": "r"}
    assert template.apply_chat_template(USER) == "d"
    assert template.apply_chat_template(USER, tools=[]) == "t"
    assert template.apply_chat_template(USER, chat_template="rag") == "r"
    assert template.apply_chat_template(USER, chat_template="{{ 1 + 1 }}") == "2"
    with pytest.raises(rolecall.InputRefused, match="default"):
        rolecall.Template({"rag": "r"}).apply_chat_template(USER)


def test_values_are_as_exact_as_in_json() -> None:
    for value in (0, -1, 2**63, -(2**64), 10**400, -(10**5000) - 7, 1 << 70000):
        written = rolecall.Template("{{ v | tojson }}").render(USER, v=value)
        assert int(written[-500:].lstrip("-")) == abs(value) % 10**500
        assert abs(len(written) - abs(value).bit_length() * 0.30103) < 3
    assert shown(12345678901234567890123) == "12345678901234567890123"
    for number in (1.0, 1e16, 1e-7, 0.1, -0.0, float("inf"), float("-inf"), float("nan")):
        assert shown(number) == str(number)
    assert shown([True, None, "ü\0😀", 1.5]) == "[True, None, 'ü\\x00😀', 1.5]"
    assert shown({"b": 1, "a": {}}) == "{'b': 1, 'a': {}}"


def test_every_mapping_is_an_object_and_other_things_are_named() -> None:
    @dataclasses.dataclass
    class Point:
        x: int
        y: list[int]

    class Model:
        def model_dump(self) -> dict[str, int]:
            return {"a": 1}

    class Colour(str, enum.Enum):
        RED = "red"

    class Level(enum.IntEnum):
        HIGH = 3

    assert shown(Point(1, [2])) == "{'x': 1, 'y': [2]}"
    assert shown(Model()) == "{'a': 1}"
    assert shown(types.MappingProxyType({"a": 1})) == "{'a': 1}"
    assert shown(collections.OrderedDict(b=1)) == "{'b': 1}"
    assert shown(Colour.RED) == "red"
    assert shown(Level.HIGH) == "3"
    assert shown((1, (2,))) == "[1, [2]]"
    assert shown(object()) == "<object>"
    assert shown({1, 2}) == "<set>"


def test_what_has_no_prompt_says_why() -> None:
    with pytest.raises(rolecall.TemplateSyntaxError) as syntax:
        rolecall.Template("a\n{% if %}")
    assert (syntax.value.line, syntax.value.column) == (2, 7)
    with pytest.raises(rolecall.TemplateRaised) as raised:
        rolecall.Template("{{ raise_exception('no') }}").render(USER)
    assert raised.value.message == "no"
    with pytest.raises(rolecall.TemplateFailed) as failed:
        rolecall.Template("\n{{ x.y.z }}").render(USER)
    assert failed.value.line == 2
    with pytest.raises(rolecall.LimitExceeded) as exceeded:
        rolecall.Template("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").render(USER)
    assert exceeded.value.limit == "recursion"
    template = rolecall.Template("x")
    for wrong in ([], "text", 7, {"role": "user"}, [7], ["text"]):
        with pytest.raises(rolecall.InputRefused):
            template.render(wrong)  # type: ignore[arg-type]
    for options in (
        {"v": {1: 2}},
        {"v": "\ud800"},
        {"now": "yesterday"},
        {"now": 7},
        {"front": "nothing"},
        {"front": "ollama"},
        {"tools": ["text"]},
        {"documents": [1]},
        {"self": 1},
    ):
        with pytest.raises((rolecall.InputRefused, TypeError)):
            template.render(USER, **options)
    for options in ({"tokenize": True}, {"sanitize_control_tokens": True}):
        with pytest.raises(rolecall.InputRefused):
            template.apply_chat_template(USER, **options)
    with pytest.raises(rolecall.InputRefused, match="exclude each other"):
        template.apply_chat_template(
            USER, add_generation_prompt=True, continue_final_message=True
        )


def test_errors_can_be_sent_to_other_processes() -> None:
    for error in (
        rolecall.TemplateSyntaxError("m", 1, 2),
        rolecall.TemplateRaised("m"),
        rolecall.TemplateFailed("m", 3),
        rolecall.InputRefused("m"),
        rolecall.LimitExceeded("fuel"),
        rolecall.ContractsBroken("m", []),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.args) == (type(error), str(error), error.args)
        assert isinstance(error, rolecall.RolecallError)


def test_the_clock_is_the_real_one_unless_it_is_stopped() -> None:
    template = rolecall.Template("{{ strftime_now('%Y-%m-%d %H:%M:%S') }}")
    before = datetime.datetime.now().replace(microsecond=0)
    shown_time = datetime.datetime.fromisoformat(template.apply_chat_template(USER))
    assert before <= shown_time <= datetime.datetime.now()
    moment = datetime.datetime(2026, 11, 23, 4, 5, 6)
    for now in (moment, "2026-11-23T04:05:06", "2026-11-23 04:05:06Z", "2026-11-23T04:05:06+02:00"):
        assert template.render(USER, now=now) == "2026-11-23 04:05:06"
    for day in ("2026-11-23", datetime.date(2026, 11, 23)):
        assert template.render(USER, now=day) == "2026-11-23 00:00:00"


def test_many_conversations_keep_their_order() -> None:
    template = rolecall.Template("{{ messages[0].content }}{{ x }}")
    conversations = ([{"role": "user", "content": n}] for n in range(3000))
    assert template.render_many(conversations, x="!") == [f"{n}!" for n in range(3000)]
    assert template.render_many([]) == []
    with pytest.raises(rolecall.InputRefused):
        template.render_many([USER, [], USER])
    one, other, third = template.render_many([USER, [], USER], errors="return")
    assert (one, third) == ("Hi", "Hi")
    assert isinstance(other, rolecall.InputRefused)


def test_a_tokenizer_or_a_processor_gives_its_template() -> None:
    tokenizer = types.SimpleNamespace(
        chat_template="{{ eos_token }}",
        special_tokens_map={"eos_token": "</s>", "pad_token": None},
        name_or_path="org/model",
    )
    template = rolecall.from_tokenizer(tokenizer)
    assert (template.name, template.render(USER)) == ("model", "</s>")
    assert template.special_tokens == {"eos_token": "</s>"}
    processor = types.SimpleNamespace(tokenizer=tokenizer, chat_template=PLAIN)
    assert rolecall.from_tokenizer(processor).front == "transformers-processor"
    with pytest.raises(rolecall.InputRefused):
        rolecall.from_tokenizer(types.SimpleNamespace(chat_template=None))
