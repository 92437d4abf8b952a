"""Where the bytes of a prompt come from, and which places of a template cases reach."""

from __future__ import annotations

import pytest

import rolecall

USER = [{"role": "user", "content": " Grüß dich "}]


def test_spans_cover_the_prompt() -> None:
    template = rolecall.Template(
        "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}"
        "{{ messages | length }}{{ x }}",
        special_tokens={"bos_token": "<s>"},
    )
    trace = template.trace(USER, x="y")
    assert trace.prompt == template.render(USER, x="y") == "<s><user>Grüß dich1y"
    assert "".join(span.text for span in trace.spans) == trace.prompt
    assert trace.spans[0].start == 0
    for one, other in zip(trace.spans, trace.spans[1:]):
        assert one.end == other.start
    assert trace.spans[-1].end == len(trace.prompt.encode())
    by_text = {span.text: span for span in trace.spans}
    assert by_text["<s>"].input == {"kind": "token", "path": "bos_token", "start": 0, "end": 3}
    content = by_text["Grüß dich"]
    assert content.input is not None
    assert content.input["path"] == "messages[0].content"
    assert " Grüß dich ".encode()[content.input["start"] : content.input["end"]] == (
        "Grüß dich".encode()
    )
    assert content.operations == ["trim"]
    literal = by_text["<"].template
    assert literal is not None
    assert (literal["line"], literal["start"]) == (1, template.source.index("<{{"))
    assert by_text["y"].input == {"kind": "variable", "path": "x", "start": 0, "end": 1}
    count = by_text["1"]
    assert (count.template, count.input) == (None, None)
    assert count.made is not None
    assert trace.to_dict()["prompt"] == trace.prompt


def test_what_has_no_prompt_has_no_trace() -> None:
    with pytest.raises(rolecall.TemplateRaised, match="No."):
        rolecall.Template("{{ raise_exception('No.') }}").trace(USER)
    with pytest.raises(rolecall.InputRefused):
        rolecall.Template("{{ messages }}").trace([])


def test_cases_reach_places() -> None:
    template = rolecall.Template(
        "{% if tools %}{{ tools | length }}{% endif %}{% if x %}{{ x }}{% endif %}"
    )
    coverage = template.cover([USER, {"messages": USER, "tools": [{}]}])
    assert coverage.cases == 2
    assert [place.text for place in coverage.missing] == ["x", "x"]
    assert coverage.missing[0].ways == {"true": 0, "false": 2}
    assert coverage.share == 4 / 6
    whole = template.cover([USER, {"messages": USER, "tools": [{}]}, {"messages": USER, "x": 1}])
    assert (whole.share, whole.missing) == (1.0, [])
    with pytest.raises(rolecall.InputRefused, match="messages"):
        template.cover([{"tools": []}])
