"""Report cards, comparisons and places, beside the command."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

import rolecall

GOOD = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
LAST = "{{ messages[-1].content }}"


def command(*arguments: str, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "rolecall", *arguments]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "good.jinja").write_text(GOOD)
    (tmp_path / "last.jinja").write_text(LAST)
    (tmp_path / "broken.jinja").write_text("a\n{% if %}")
    model = tmp_path / "model"
    model.mkdir()
    settings = {"chat_template": "{{ eos_token }}" + GOOD, "eos_token": "<|end|>"}
    (model / "tokenizer_config.json").write_text(json.dumps(settings))
    return tmp_path


def test_a_card_is_that_of_the_command(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for name in ("good", "last", "broken"):
        card = rolecall.load(f"{name}.jinja").check()
        printed = command("check", f"{name}.jinja", "-q", "--format", "json", folder=folder)
        assert card.to_dict() == json.loads(printed.stdout)
    card = rolecall.load("last.jinja").check(select="messages-kept")
    assert [finding.contract for finding in card.findings] == ["messages-kept"]
    assert card.errors[0].message and card.errors[0].evidence
    with pytest.raises(rolecall.ContractsBroken) as broken:
        card.raise_for_errors()
    assert [finding.contract for finding in broken.value.findings] == ["messages-kept"]
    with pytest.raises(rolecall.TemplateSyntaxError) as syntax:
        rolecall.load("broken.jinja").check().raise_for_errors()
    assert syntax.value.line == 2
    with pytest.raises(rolecall.InputRefused, match="there is no contract"):
        rolecall.Template(GOOD).check(select=["nothing"])


def test_a_card_says_what_applications_make_of_it(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    template = rolecall.load("good.jinja")
    assert template.check().served is None
    card = template.check(served="sglang")
    words = ["check", "good.jinja", "--served=sglang", "-q", "--format", "json"]
    assert card.to_dict() == json.loads(command(*words, folder=folder).stdout)
    assert card.served is not None and card.served["fronts"] == ["sglang"]
    everywhere = template.check(served=True).served
    assert everywhere is not None and {"vllm", "mlx-lm"} < set(everywhere["fronts"])
    with pytest.raises(rolecall.InputRefused, match="there is no application `vlm`"):
        template.check(served=["vlm"])


def test_a_template_is_held_to_another(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    good = rolecall.load("good.jinja")
    same = rolecall.Template(GOOD).check(like=good)
    assert same.departures == []
    like = rolecall.load("last.jinja").check(like="good.jinja")
    printed = command(
        "check", "last.jinja", "-q", "--like", "good.jinja", "--format", "json", folder=folder
    )
    theirs = json.loads(printed.stdout)
    ours = like.to_dict()
    # The side is named as it was typed.
    ours["bases"][0]["a"] = theirs["bases"][0]["a"]
    assert ours == theirs
    assert like.departures
    with pytest.raises(rolecall.ContractsBroken, match="not like its base"):
        like.raise_for_errors()


def test_a_comparison_is_that_of_the_command(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    diff = rolecall.diff("good.jinja", "last.jinja")
    printed = command("diff", "good.jinja", "last.jinja", "--format", "json", folder=folder)
    assert diff.to_dict() == json.loads(printed.stdout)
    assert diff.differs and diff.cases
    assert diff.cases[0].a["outcome"] == "rendered"


def test_places(folder: pathlib.Path) -> None:
    template = rolecall.load(folder / "model")
    assert template.name == "model"
    assert template.special_tokens == {"eos_token": "<|end|>"}
    with pytest.raises(rolecall.LoadError, match="no such file"):
        rolecall.load(folder / "nothing")
    with pytest.raises(rolecall.LoadError, match="3 templates|4 templates"):
        rolecall.load(folder)
    assert rolecall.load(folder, name="good").source == GOOD
    # A mistake is found where it matters.
    broken = rolecall.load(folder / "broken.jinja")
    with pytest.raises(rolecall.TemplateSyntaxError):
        broken.render([{"role": "user"}])


def test_a_log_is_read_and_judged_as_by_the_command(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    call = {"id": "é", "function": {"name": "weather", "arguments": "city: Oslo"}}
    lines = [
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]},
        {"conversations": [{"from": "human", "value": "Hi"}]},
        {
            "prompt": [{"role": "user", "content": "Weather?"}],
            "completion": [{"role": "assistant", "content": "", "tool_calls": [call]}],
            "tools": [{"type": "function", "function": {"name": "weather"}}],
        },
        {"text": "raw"},
    ]
    log = folder / "log.jsonl"
    log.write_text("\n".join(json.dumps(line) for line in lines))

    with pytest.warns(UserWarning) as warned:
        conversations = rolecall.read_conversations(log)
    assert [one.name for one in conversations] == ["1", "2", "3"]
    assert any("log.jsonl:4:1" in str(warning.message) for warning in warned)
    template = rolecall.load("good.jinja")
    first, second, third = conversations
    prompt = template.apply_chat_template(first.messages, **first.keywords)
    assert prompt == "<|user|>Hi<|end|><|assistant|>Ho<|end|>"
    prompt = template.apply_chat_template(second.messages, **second.keywords)
    assert prompt == "<|user|>Hi<|end|><|assistant|>"
    assert third.tools == lines[2]["tools"] and third.keywords["tools"] == third.tools
    assert "3: 2 messages" in repr(third)

    with pytest.raises(rolecall.InputRefused, match="log.jsonl:4:1"):
        rolecall.check(template, conversations=log)
    log.write_text("\n".join(json.dumps(line) for line in lines[:3]))
    card = rolecall.check(template, conversations=log.name)
    printed = command("check", "good.jinja", "log.jsonl", "-q", "--format", "json", folder=folder)
    assert printed.returncode == 1
    assert card.to_dict()["conversations"] == json.loads(printed.stdout)["conversations"]
    assert [cause["rule"] for cause in card.log] == ["arguments-are-json"]
    assert card.log[0]["example"] == "log/3" and "city: Oslo" in card.log[0]["detail"]
    assert {cause["rule"] for cause in card.conversations} == {"tool-calls-kept", "tools-kept"}
    assert "the log itself, 3 conversations: 1 cause" in str(card)
    only = template.check(select="arguments-are-json", conversations=str(log))
    assert only.conversations == [] and only.errors == []
    with pytest.raises(rolecall.ContractsBroken, match="arguments-are-json: .*, as in log/3"):
        only.raise_for_errors()

    log.write_text("{}")
    with pytest.raises(rolecall.LoadError, match="log.jsonl:1:1"):
        rolecall.read_conversations(log)
    with pytest.raises(rolecall.LoadError):
        rolecall.read_conversations(folder / "none.jsonl")
    with pytest.raises(rolecall.InputRefused):
        rolecall.check(template, conversations=folder / "none.jsonl")
    with pytest.raises(rolecall.InputRefused, match="leave no contract"):
        rolecall.check(template, select="texts-intact")
    assert template.check().log == []
