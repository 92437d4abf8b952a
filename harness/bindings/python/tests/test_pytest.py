"""The plugin for pytest, tried as its users have it."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import rolecall

OLD = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}"
NEW = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
OPENING = "{% if add_generation_prompt %}<assistant>{% endif %}"

#: What the last line calls failed tests.
KINDS = ("failed", "failed alike")


def run_pytest(
    folder: pathlib.Path, *arguments: str, has_cache: bool = False
) -> subprocess.CompletedProcess[str]:
    plugins = () if has_cache else ("-p", "no:cacheprovider")
    words = [sys.executable, "-m", "pytest", *plugins, *arguments]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder)


def failures(ran: subprocess.CompletedProcess[str]) -> list[int]:
    """The counts of failed tests in the last line: with a difference of their own, and alike."""
    last = ran.stdout.strip().splitlines()[-1]
    return [sum(map(int, re.findall(rf"(\d+) {kind}\b(?! alike)", last))) for kind in KINDS]


def command(folder: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "rolecall", *arguments]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder)


@pytest.fixture
def suite(tmp_path: pathlib.Path) -> pathlib.Path:
    """A suite as `init` makes it, with everything accepted."""
    (tmp_path / "mine.jinja").write_text(OLD + OPENING)
    assert command(tmp_path, "init").returncode == 0
    settings = (tmp_path / "rolecall.toml").read_text()
    settings = settings.replace('contracts = "errors"', 'contracts = "accepted"')
    (tmp_path / "rolecall.toml").write_text(settings)
    assert command(tmp_path, "accept", "*").returncode == 0
    return tmp_path


def test_a_suite_is_green_with_an_item_for_each_pair(suite: pathlib.Path) -> None:
    ran = run_pytest(suite, "--rolecall", "-q")
    assert ran.returncode == 0, ran.stdout
    count = int(ran.stdout.strip().splitlines()[-1].split()[0])
    listed = command(suite, "run", "--format", "junit").stdout
    assert count == int(ElementTree.fromstring(listed).get("tests", "")) > 600
    collected = run_pytest(suite, "--rolecall", "--collect-only", "-q", "-k", "single-turn")
    assert "rolecall.toml::mine::plain/single-turn" in collected.stdout.splitlines()


def test_the_plugin_sleeps_without_its_option(suite: pathlib.Path) -> None:
    (suite / "test_own.py").write_text("def test_own():\n    pass\n")
    assert "1 passed" in run_pytest(suite).stdout
    (suite / "pytest.ini").write_text("[pytest]\nrolecall = true\n")
    assert "1 passed" not in run_pytest(suite).stdout


def test_a_lost_newline_is_shown_as_a_difference(suite: pathlib.Path) -> None:
    (suite / "mine.jinja").write_text(NEW + OPENING)
    report = suite / "report.xml"
    ran = run_pytest(suite, "--rolecall", "-x", f"--junit-xml={report}", "-k", "plain/single-turn")
    assert ran.returncode == 1
    assert "expected U+000A LINE FEED" in ran.stdout
    assert "- <user>How tall is the Eiffel Tower?␊" in ran.stdout
    assert "Traceback" not in ran.stdout
    failed = ElementTree.parse(report).getroot().iter("failure")
    assert any("LINE FEED" in (one.text or "") for one in failed)
    # The chosen pairs are accepted, the others are not.
    ran = run_pytest(suite, "--rolecall", "--rolecall-accept", "-k", "plain/single-turn")
    assert ran.returncode == 0, ran.stdout
    assert "accepted 1 snapshot" in ran.stdout
    ran = run_pytest(suite, "--rolecall", "-q")
    assert ran.returncode == 1
    assert "::mine::plain/single-turn " not in ran.stdout
    assert run_pytest(suite, "--rolecall-accept", "-q").returncode == 0
    assert run_pytest(suite, "--rolecall", "-q").returncode == 0


def test_broken_contracts_fail_and_keep_no_pair_from_being_accepted(suite: pathlib.Path) -> None:
    settings = (suite / "rolecall.toml").read_text()
    settings = settings.replace('contracts = "accepted"', 'contracts = "errors"')
    (suite / "rolecall.toml").write_text(settings)
    (suite / "mine.jinja").write_text("{{ messages[-1].content }}")
    assert "error messages-kept" in run_pytest(suite, "--rolecall").stdout
    some = "mine and not tools"
    ran = run_pytest(suite, "--rolecall-accept", "-k", some)
    assert "accepted" in ran.stdout and "matches no" not in ran.stdout
    ran = run_pytest(suite, "--rolecall-accept")
    assert "1 failed" in ran.stdout and "error messages-kept" in ran.stdout


def test_a_folder_named_beside_the_suite_does_not_hide_it(suite: pathlib.Path) -> None:
    tests = suite / "tests"
    tests.mkdir()
    (tests / "test_own.py").write_text("def test_own():\n    pass\n")
    both = run_pytest(suite, "--rolecall", "tests", "-q").stdout
    assert int(both.strip().splitlines()[-1].split()[0]) > 600
    one = run_pytest(suite, "--rolecall", "rolecall.toml::mine::plain/single-turn").stdout
    assert "1 passed" in one


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[templates]\nmine = 'gone.jinja'\n", "gone.jinja"),
        ("[template]\nmine = 'mine.jinja'\n", "template"),
        ("[templates", "rolecall.toml:1"),
    ],
)
def test_a_suite_that_cannot_be_read_is_not_green(
    suite: pathlib.Path, text: str, said: str
) -> None:
    (suite / "rolecall.toml").write_text(text)
    ran = run_pytest(suite, "--rolecall")
    assert ran.returncode in (1, 2), ran.stdout
    assert said in ran.stdout


def test_without_a_suite_the_option_is_a_mistake(tmp_path: pathlib.Path) -> None:
    ran = run_pytest(tmp_path, "--rolecall")
    assert ran.returncode == 4
    assert "there is no rolecall.toml" in ran.stderr


def test_workers_of_xdist_share_the_suite(suite: pathlib.Path) -> None:
    pytest.importorskip("xdist")
    ran = run_pytest(suite, "--rolecall", "-q", "-n", "2")
    assert ran.returncode == 0, ran.stdout
    assert run_pytest(suite, "--rolecall-accept", "-n", "2").returncode == 4


def test_fixtures_have_the_template_that_the_mark_names(suite: pathlib.Path) -> None:
    (suite / "test_card.py").write_text(
        "import pytest\n"
        "@pytest.mark.rolecall('mine.jinja')\n"
        "def test_card(rolecall_template, rolecall_card):\n"
        "    assert rolecall_template.render([{'role': 'user', 'content': 'Hi'}])[:8] == '<user>Hi'\n"
        "    assert not [one for one in rolecall_card.errors if one.contract == 'messages-kept']\n"
        "def test_without(rolecall_template):\n"
        "    pass\n"
    )
    ran = run_pytest(suite, "test_card.py", "--strict-markers")
    assert "1 passed, 1 error" in ran.stdout
    assert "does not say which template it needs" in ran.stdout


ENGINE = """
import rolecall
@rolecall.hold_to_suite(only=["qwen2.5:plain/*"], expected_failures="known.txt")
def test_engine(source, variables, now):
    assert now.year == 2026
    template = rolecall.Template(source)
    prompt = template.render(front="raw", **variables)
    return prompt.replace("Eiffel", "Eifel")
"""


def test_an_engine_is_held_to_the_suite(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_engine.py").write_text(ENGINE)
    ran = run_pytest(tmp_path, "-q")
    assert ran.returncode == 1
    assert "qwen2.5:plain/single-turn" in ran.stdout
    assert "+ How tall is the Eifel Tower?<|im_end|>␊" in ran.stdout
    run_pytest(tmp_path, "-q", "--rolecall-accept")
    assert "qwen2.5:plain/single-turn\n" in (tmp_path / "known.txt").read_text()
    assert run_pytest(tmp_path, "-q").returncode == 0


def test_a_list_of_expected_failures_goes_stale_loudly(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_engine.py").write_text(ENGINE)
    known = tmp_path / "known.txt"
    known.write_text("qwen2.5:plain/single-turn\nqwen2.5:plain/with-system\nqwen9:*\n")
    ran = run_pytest(tmp_path, "-q")
    assert ran.returncode == 1, ran.stdout
    assert "agrees, but is expected to fail: remove it from the list" in ran.stdout
    assert "known.txt:3: no pair is `qwen9:*`" in ran.stdout
    assert "xfailed" in ran.stdout


COMPILED = """
import rolecall
compiled = []
@rolecall.hold_to_suite(only=["qwen2.5", "chatml"], expected_failures="known.txt")
def test_engine(source):
    compiled.append(source)
    assert compiled.count(source) == 1
    template = rolecall.Template(source)
    return lambda variables, now: template.render(front="raw", now=now, **variables).replace("t", "T")
"""


def test_expected_failures_cost_nothing_and_templates_are_compiled_once(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_engine.py").write_text(COMPILED)
    (tmp_path / "known.txt").write_text("*\n")
    run_pytest(tmp_path, "-q", "--rolecall-accept")
    names = (tmp_path / "known.txt").read_text()
    report = tmp_path / "report.xml"
    ran = run_pytest(tmp_path, "-q", f"--junit-xml={report}")
    assert ran.returncode == 0, ran.stdout
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    ids = {(case.get("classname"), case.get("name")) for case in cases}
    assert len(ids) == len(cases) > 1000 and len(names.splitlines()) > 500
    # Each test but the first, which renders.
    assert sum(float(case.get("time", "")) for case in cases[1:]) < 0.01 * len(cases)
    # A worker renders the templates of its own tests.
    pytest.importorskip("xdist")
    ran = run_pytest(tmp_path, "-q", "-n", "2")
    assert ran.returncode == 0, ran.stdout


def test_what_failed_last_runs_again(suite: pathlib.Path) -> None:
    (suite / "test_engine.py").write_text(ENGINE.replace("Eiffel", "capital"))
    (suite / "mine.jinja").write_text(NEW + OPENING)
    both = ("--rolecall", "test_engine.py", "rolecall.toml", "-q")
    first = run_pytest(suite, *both, "-k", "single-turn or with-system", has_cache=True)
    failed = failures(first)
    again = run_pytest(suite, *both, "--last-failed", has_cache=True)
    again_last = again.stdout.strip().splitlines()[-1]
    assert sum(failed) > 2 and failures(again) == failed, again_last
    assert "passed" not in again_last, again_last


def test_pairs_that_differ_in_one_way_are_one_failure(suite: pathlib.Path) -> None:
    (suite / "mine.jinja").write_text(NEW + OPENING)
    ran = run_pytest(suite, "--rolecall", "-q")
    own, alike = failures(ran)
    assert ran.returncode == 1 and own < 10 and alike > 500, ran.stdout[-500:]
    # The dots of all tests, a difference for each cause, and the pairs that have it.
    assert len(ran.stdout.splitlines()) < 250, len(ran.stdout.splitlines())
    assert "tests that fail alike" in ran.stdout
    assert re.search(r"^\d+ as mine plain/single-turn: .* more$", ran.stdout, re.MULTILINE)


def test_run_compares_an_engine_without_a_protocol() -> None:
    def engine(source: str, variables: dict[str, object]) -> str:
        return rolecall.Template(source).render(front="raw", **variables)  # type: ignore[arg-type]

    run = rolecall.run(engine=engine, only="qwen2.5")
    assert str(run) == f"all {len(run.tests)} results are right"
    assert len(run.tests) > 500
    assert not run.failures, run.failures[0]
    run.raise_for_failures()


def test_exceptions_of_an_engine_are_outcomes() -> None:
    class TemplateError(Exception):
        __module__ = "jinja2.exceptions"

    def raising(error: BaseException) -> rolecall.EngineRun:
        def engine(source: str, variables: dict[str, object]) -> str:
            raise error

        return rolecall.run(engine=engine, only="qwen2.5:plain/*")

    wrong = raising(TemplateError("No, thanks.")).failures
    assert "expected rendered, found raised" in (wrong[0].failure or "")
    wrong = raising(ZeroDivisionError("by zero")).failures
    assert "found failed" in (wrong[0].failure or "")
    with pytest.raises(rolecall.EngineDiffers, match="results are wrong"):
        raising(ValueError("x")).raise_for_failures()
    with pytest.raises(KeyboardInterrupt):
        raising(KeyboardInterrupt())
    with pytest.raises(rolecall.InputRefused, match="no pair"):
        rolecall.run(engine=lambda source, variables: "", only="qwen9*")
    assert os.environ.get("ROLECALL_ACCEPT") is None
