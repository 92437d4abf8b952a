"""Templates and results as values of Python: pickled, copied, compared, printed."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

import rolecall

SOURCE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}\n{% endfor %}"
QUESTION = [{"role": "user", "content": "Hi"}]


def made(**options: object) -> rolecall.Template:
    return rolecall.Template(SOURCE, special_tokens={"eos_token": "</s>"}, **options)  # type: ignore[arg-type]


def prompt(template: rolecall.Template) -> str:
    return template.render(QUESTION)


def test_a_template_is_pickled_and_copied_whole(tmp_path: pathlib.Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "chat_template.jinja").write_text(SOURCE)
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    answer = {"start_anchor": "<a>", "fields": {"content": {"close": "</s>"}}}
    several = {"default": SOURCE, "tool_use": "tools"}
    for template in (
        made(response_template=answer, limits={"fuel": 10_000}),
        rolecall.Template(several, special_tokens={"eos_token": "</s>"}, front="raw"),
        rolecall.Template("{{ range .Messages }}{{ .Content }}{{ end }}", dialect="go"),
        rolecall.load(tmp_path),
    ):
        again = pickle.loads(pickle.dumps(template))
        for other in (again, copy.copy(template), copy.deepcopy([template])[0]):
            assert other == template and hash(other) == hash(template)
            assert prompt(other) == prompt(template)
            assert (other.name, other.front, other.templates) == (
                template.name,
                template.front,
                template.templates,
            )
        assert pickle.dumps(again) == pickle.dumps(template)
    assert made() != made(limits="fuel=10000") and made() != made(name="other")
    assert made() != "template" and len({made(), made()}) == 1


def test_a_hash_is_the_same_in_every_process() -> None:
    code = f"import rolecall; print(hash(rolecall.Template({SOURCE!r})))"
    ran = [subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    assert ran[0].stdout == ran[1].stdout == f"{hash(rolecall.Template(SOURCE))}\n".encode()


@pytest.mark.parametrize("way", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_processes_take_templates(way: str) -> None:
    templates = [made(), made(name="other")]
    with multiprocessing.get_context(way).Pool(2) as pool:
        assert pool.map(prompt, templates) == [prompt(template) for template in templates]


def test_datasets_find_their_cache_again(tmp_path: pathlib.Path) -> None:
    fingerprint = pytest.importorskip("datasets.fingerprint")
    template = made()
    code = lambda example: {"prompt": template.apply_chat_template(example["messages"])}  # noqa: E731
    one = fingerprint.Hasher.hash(code)
    template = made()
    assert fingerprint.Hasher.hash(code) == one
    template = made(name="other")
    assert fingerprint.Hasher.hash(code) != one


def test_errors_are_pickled_and_name_their_conversation() -> None:
    template = rolecall.Template(
        "{{ raise_exception('No.') if messages[0].content == 'bad' else messages[0].content.x.y }}"
    )
    bad = [{"role": "user", "content": "bad"}]
    many = [[], bad, QUESTION]
    found = template.render_many(many, errors="return")
    assert [type(one).__name__ for one in found] == ["InputRefused", "TemplateRaised", "TemplateFailed"]
    for index, error in enumerate(found):
        assert isinstance(error, rolecall.RolecallError) and error.conversation == index
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) and str(error).startswith(f"conversation {index}: ")
    refusing = rolecall.Template("{{ raise_exception('No.') if messages[0].content == 'bad' }}")
    for call in (refusing.render_many, refusing.apply_chat_template, refusing.mask):
        with pytest.raises(rolecall.TemplateError, match="^conversation 1: No.$"):
            call([QUESTION, bad, bad])  # type: ignore[operator]
    with pytest.raises(rolecall.TemplateRaised, match="^No.$"):
        template.render(bad)
    differs = rolecall.EngineDiffers([rolecall.EngineTest("a:b/c", False, "x")], 2)
    assert str(pickle.loads(pickle.dumps(differs))) == str(differs)
    assert issubclass(rolecall.ResponseError, ValueError)


def test_places_texts_and_tokenizers_are_taken_alike(tmp_path: pathlib.Path) -> None:
    class Tokenizer:
        chat_template = SOURCE
        special_tokens_map = {"eos_token": "</s>"}
        name_or_path = "org/mine"

    file = tmp_path / "mine.jinja"
    file.write_text(SOURCE)
    for given in (file, str(file), SOURCE, Tokenizer(), made()):
        template = rolecall.load(given)
        assert prompt(template)[:8] == "<user>Hi"
        card = rolecall.check(given, select="messages-kept", like=template)
        assert not card.departures
        assert not rolecall.diff(given, template).differs
    with pytest.raises(rolecall.InputRefused, match="int has no chat_template"):
        rolecall.load(3)


def test_results_print_what_the_command_prints(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text("{{ messages[-1].content }}")
    other = tmp_path / "other.jinja"
    other.write_text("{{ messages[0].content }}<b>")

    def printed(*arguments: str) -> list[str]:
        words = [sys.executable, "-m", "rolecall", *arguments]
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        ran = subprocess.run(words, stdout=subprocess.PIPE, encoding="utf-8", env=environment)
        return ran.stdout.strip().splitlines()

    # The command goes on with a line about all templates, and the time.
    card = str(rolecall.check(file)).splitlines()
    assert card[:12] == printed("check", str(file))[:12] and "messages-kept" in "".join(card)
    diff = rolecall.diff(file, other)
    assert str(diff).splitlines() == printed("diff", str(file), str(other))
    assert "<pre>" in diff._repr_html_() and "&lt;b&gt;" in diff._repr_html_()
    mask = made().mask([*QUESTION, {"role": "assistant", "content": "Hello"}])
    assert str(mask).splitlines()[-1].startswith("reads ") and "Hello</s>" in str(mask)
    run = rolecall.run(engine=lambda source, variables: "x", only="qwen2.5:plain/*")
    assert str(run).startswith("10 of 10 results are wrong\nqwen2.5:plain/")


def test_limits_are_ones_own() -> None:
    endless = "{% for i in range(99999) %}{{ i }}{% endfor %}"
    for limits in ({"fuel": 1_000}, "fuel=1000"):
        template = rolecall.Template(endless, limits=limits)  # type: ignore[arg-type]
        for call in (template.render, template.mask, template.trace):
            with pytest.raises(rolecall.LimitExceeded):
                call(QUESTION)  # type: ignore[operator]
    with pytest.raises(rolecall.InputRefused, match="did you mean `fuel`"):
        rolecall.Template(SOURCE, limits={"fule": 1})
    with pytest.raises(rolecall.InputRefused, match="limits of a render"):
        rolecall.Template(SOURCE, limits="time=1s")
    assert rolecall.__version__.count(".") == 2
