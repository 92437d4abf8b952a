"""Nothing that a caller or a template does ends the interpreter."""

from __future__ import annotations

import collections.abc
import concurrent.futures
import gc
import os
import sys
import threading

import pytest

import rolecall

USER = [{"role": "user", "content": "Hi"}]
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


class Mapping(collections.abc.Mapping):  # type: ignore[type-arg]
    """A mapping that calls a function for each of its values."""

    def __init__(self, call):  # type: ignore[no-untyped-def]
        self.call = call

    def __getitem__(self, key: str) -> object:
        return self.call(key)

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(["role", "content"])

    def __len__(self) -> int:
        return 2


def test_what_a_mapping_raises_reaches_the_caller() -> None:
    def fail(key: str) -> object:
        raise ZeroDivisionError(key)

    template = rolecall.Template(PLAIN)
    with pytest.raises(ZeroDivisionError):
        template.render([Mapping(fail)])
    with pytest.raises(ZeroDivisionError):
        template.render_many([USER, [Mapping(fail)]], errors="return")


def test_a_message_that_changes_while_it_is_read() -> None:
    message = {"role": "user", "content": "Hi", "more": None}
    messages = [message, {"role": "user"}]

    def change(key: str) -> object:
        message.clear()
        messages.clear()
        message["new"] = 1
        return key

    message["more"] = Mapping(change)  # type: ignore[assignment]
    assert rolecall.Template(PLAIN).render(messages) == "<user>Hi"


def test_values_that_contain_themselves_are_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    message: dict[str, object] = {"role": "user"}
    message["content"] = message
    endless = Mapping(lambda key: endless)
    for content in (loop, message, endless):
        with pytest.raises((rolecall.InputRefused, RecursionError)):
            rolecall.Template("x").render([{"role": "user", "content": content}])


def test_deep_values_and_deep_templates() -> None:
    deep: object = "x"
    for _ in range(450):
        deep = [deep]
    call = lambda: rolecall.Template("{{ v | tojson | length }}").render(USER, v=deep)  # noqa: E731
    assert call() == "903"
    # A thread has less room.
    threading.stack_size(256 * 1024)
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with pytest.raises(rolecall.InputRefused, match="too deeply"):
                pool.submit(call).result()
            recursion = "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}"
            with pytest.raises(rolecall.LimitExceeded):
                pool.submit(lambda: rolecall.Template(recursion).render(USER)).result()
    finally:
        threading.stack_size(0)
    with pytest.raises(rolecall.RolecallError):
        rolecall.Template("{{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}")


def test_many_threads_share_a_template() -> None:
    template = rolecall.Template(PLAIN)

    def work(number: int) -> None:
        messages = [{"role": "user", "content": str(number)}]
        for _ in range(500):
            assert template.apply_chat_template(messages) == f"<user>{number}"

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))


def test_others_run_while_a_template_renders() -> None:
    slow = rolecall.Template("{% for i in range(90000) %}{% for j in range(9) %}{% endfor %}{% endfor %}x")
    ticks = 0
    done = threading.Event()

    def render() -> None:
        try:
            for _ in range(5):
                slow.render(USER)
        finally:
            done.set()

    thread = threading.Thread(target=render)
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    template = rolecall.Template(PLAIN)
    assert template.render_many([USER] * 10) == ["<user>Hi"] * 10
    child = os.fork()
    if child == 0:
        os._exit(0 if template.render_many([USER] * 10) == ["<user>Hi"] * 10 else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_renders_leave_no_memory_behind() -> None:
    def resident() -> int:
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    template = rolecall.Template(PLAIN)
    failing = rolecall.Template("{{ raise_exception('no') }}")

    def work(count: int) -> None:
        for _ in range(count):
            template.apply_chat_template(USER, tools=[{"a": [1, 2.5, None]}])
            template.apply_chat_template(USER, chat_template=f"{count}{{{{ messages }}}}")
            try:
                failing.render(USER)
            except rolecall.TemplateRaised:
                pass

    work(5_000)
    before = resident()
    work(int(os.environ.get("ROLECALL_RENDERS", "30000")))
    assert resident() - before < 4 << 20
