"""The command runs in the extension, and is like any other program."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import rolecall

PROGRAM = str(pathlib.Path(sys.executable).with_name("rolecall"))


def run(*arguments: str, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=folder)


def test_exit_codes_are_passed_on(tmp_path: pathlib.Path) -> None:
    (tmp_path / "last.jinja").write_text("{{ messages[-1].content }}")
    assert run("--version", folder=tmp_path).returncode == 0
    assert run("check", "last.jinja", folder=tmp_path).returncode == 1
    assert run("check", "nothing.jinja", folder=tmp_path).returncode == 2
    usage = run("nonsense", folder=tmp_path)
    assert usage.returncode == 2
    assert "Usage: rolecall" in usage.stderr


def test_the_current_folder_is_not_where_the_command_starts_itself_from(
    tmp_path: pathlib.Path,
) -> None:
    for name in ("rolecall", "signal", "os", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken over')")
    (tmp_path / "a.jinja").write_text("{{ messages[0].content }}")
    # The engine runs in a process of its own.
    found = run("probe-engine", "rolecall-jinja", folder=tmp_path)
    assert "taken over" not in found.stdout + found.stderr
    assert found.returncode == 0, found.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_an_interrupt_ends_it(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.jinja").write_text("x")
    words = [PROGRAM, "check", "a.jinja", "--watch"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "watching" in line:
            break
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    assert process.wait(10) == -signal.SIGINT
    assert time.monotonic() - start < 5
    process.communicate()


@pytest.mark.skipif(os.name != "posix", reason="pipes are those of Unix")
def test_a_closed_pipe_ends_it(tmp_path: pathlib.Path) -> None:
    line = f"'{PROGRAM}' -q list cases | true; echo ${{PIPESTATUS[0]}}"
    found = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout.strip() in ("141", "0")
    assert found.stderr == ""


def test_an_import_starts_nothing() -> None:
    code = (
        "import sys, threading, rolecall; "
        "assert threading.active_count() == 1; "
        "heavy = {'json', 'typing', 'inspect', 'dataclasses', 'datetime', 're'} & set(sys.modules); "
        "print(sorted(heavy))"
    )
    found = subprocess.run([sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True)
    if "No module named 'rolecall'" in found.stderr:
        site = str(pathlib.Path(rolecall.__file__).parent.parent)
        code = f"import sys; sys.path.append({site!r}); {code}"
        found = subprocess.run([sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True)
    assert found.stdout.strip() == "[]", found.stderr
