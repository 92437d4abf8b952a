"""Answers of models, read as messages."""

from __future__ import annotations

import threading

import pytest

import rolecall

RESPONSE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<assistant>",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open": "<call>",
            "close": "</call>",
            "content": "json",
            "repeats": True,
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "</s>"},
    },
}
SOURCE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}<assistant>"


def template(response=RESPONSE):
    return rolecall.Template(SOURCE, response_template=response)


def test_token_ids_and_arrays_are_read() -> None:
    class Array:
        def __init__(self, items: object) -> None:
            self.items = items

        def tolist(self) -> object:
            return self.items

    class Tokenizer:
        def decode(self, ids: list[int]) -> str:
            return "".join(map(chr, ids))

    template = rolecall.Template(
        "", response_template={"start_anchor": "<a>", "fields": {"content": {"close": "</s>"}}}
    )
    ids = [ord(letter) for letter in "Hi</s>"]
    for tokenizer in (Tokenizer(), Tokenizer().decode):

        def read(given: object, prefix: object = "") -> object:
            return template.parse_response(given, prefix=prefix, tokenizer=tokenizer)  # type: ignore

        assert read(ids) == read(Array(ids)) == read("Hi</s>") == {"content": "Hi"}
        assert read([ids, ids]) == read(Array([ids, ids])) == [{"content": "Hi"}] * 2
        assert read(ids, []) == read(ids, [ord(letter) for letter in "q<a>"]) == {"content": "Hi"}
    with pytest.raises(rolecall.InputRefused, match="tokenizer"):
        template.parse_response(ids, prefix="")


def test_values_are_those_of_python():
    text = '<call>{"name": "f", "arguments": {"a": NaN, "b": 1e400, "c": "\\ud800", "d": 1.0}}</call>'
    message = template().parse_response(text, prefix="")
    values = message["tool_calls"][0]["function"]["arguments"]
    assert values["a"] != values["a"]
    assert values["b"] == float("inf")
    assert values["c"] == "\ud800"
    assert isinstance(values["d"], float)
    large = '<call>{"name": "f", "arguments": {"n": %s}}</call>' % ("9" * 100)
    message = template().parse_response(large, prefix="")
    assert message["tool_calls"][0]["function"]["arguments"] == {"n": int("9" * 100)}


def test_tools_give_arguments_their_types():
    def f(n: int):
        """
        Count.

        Args:
            n: How many.
        """

    text = '<call>{"name": "f", "arguments": {"n": "7"}}</call>'
    arguments = [
        template().parse_response(text, prefix="", tools=tools)["tool_calls"][0]["function"]
        for tools in (None, [f])
    ]
    assert [one["arguments"] for one in arguments] == [{"n": "7"}, {"n": 7}]


def test_several_answers_are_read_at_once():
    prompt = template().apply_chat_template([{"role": "user", "content": "Hi"}])
    read = template().parse_response(["a</s>", "b"], prefix=prompt)
    assert [one["content"] for one in read] == ["a", "b"]
    prefixes = [prompt, prompt + "<think>"]
    read = template().parse_response(["a", "b</think>c"], prefix=prefixes)
    assert read[1] == {"role": "assistant", "thinking": "b", "content": "c"}
    with pytest.raises(rolecall.InputRefused):
        template().parse_response(["a", "b"], prefix=[prompt])


def test_an_answer_comes_in_pieces():
    parser = template().get_response_parser(prefix="<assistant><think>")
    assert parser.initial_events == [{"type": "region_open", "field": "thinking"}]
    events = [event for piece in ("Hm", "m</thi", "nk>Yes", "</s>") for event in parser.feed(piece)]
    chunks = [(event["field"], event["text"]) for event in events if "text" in event]
    assert chunks == [("thinking", "Hm"), ("thinking", "m"), ("content", "Yes")]
    message, last = parser.finalize()
    assert message == {"role": "assistant", "thinking": "Hmm", "content": "Yes"}
    assert last == []
    with pytest.raises(rolecall.ResponseError) as raised:
        parser.feed("more")
    assert raised.value.kind == "RuntimeError"


def test_errors_say_what_is_wrong():
    for response, kind in [
        ({}, "ValueError"),
        ({"start_anchor": "a", "fields": {"content": {"open_pattern": "("}}}, "ValueError"),
        ({"start_anchor": "a", "fields": {"content": {"open_pattern": "(?i)a"}}}, "NotImplementedError"),
    ]:
        with pytest.raises(rolecall.ResponseError) as raised:
            template(response).parse_response("x", prefix="")
        assert raised.value.kind == kind, response
    with pytest.raises(rolecall.ResponseError) as raised:
        template().parse_response("<call>{", prefix="")
    assert raised.value.kind == "ValueError"
    with pytest.raises(rolecall.ResponseError):
        template().parse_response("x")
    with pytest.raises(AttributeError):
        rolecall.Template(SOURCE).parse_response("x", prefix="")
    assert not rolecall.Template(SOURCE).reads_answers


def test_threads_share_a_template():
    shared, wrong = template(), []

    def read(word):
        for _ in range(300):
            message = shared.parse_response(f"{word}</s>", prefix="<assistant>")
            if message["content"] != word:
                wrong.append(message)

    threads = [threading.Thread(target=read, args=(word,)) for word in ("a", "b", "c", "d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
