"""Engines that are functions in Python, held to Rolecall's suite.

An engine renders Jinja templates: ``engine(source, variables)`` returns the prompt. An engine with one
parameter, ``engine(source)``, compiles a template once, and returns a function of ``variables`` that
renders it. ``variables`` has all that a template sees: ``messages``, ``tools``, ``documents``, ``add_generation_prompt``, the special
tokens and other variables. If a parameter of the function is named ``now``, it gets the time at which
the conversation happens. A template's refusal is a :class:`rolecall.TemplateRaised`, or the
``TemplateError`` of jinja2.
"""

from __future__ import annotations

import os
import sys

from rolecall import _rolecall
from rolecall.errors import EngineDiffers
from rolecall.shown import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["EngineRun", "EngineSuite", "EngineTest", "hold_to_suite", "run"]

#: The variable of the environment that makes a whole run write its list of expected failures.
ACCEPT = "ROLECALL_ACCEPT"


class EngineTest:
    """What an engine made of a pair, or what is wrong with a line of the list of failures."""

    __slots__ = ("failure", "is_expected_to_fail", "name")

    #: ``TEMPLATE:FAMILY/CASE``.
    name: str
    #: Whether the list of expected failures names the pair.
    is_expected_to_fail: bool
    #: What is wrong, with the difference; ``None`` if nothing is.
    failure: str | None

    def __init__(self, name: str, is_expected_to_fail: bool, failure: str | None) -> None:
        self.name = name
        self.is_expected_to_fail = is_expected_to_fail
        self.failure = failure

    def __repr__(self) -> str:
        return f"<{self.name}: {'agrees' if self.failure is None else 'fails'}>"


class EngineRun(Shown):
    """The results of an engine, one for each pair."""

    def __init__(self, tests: list[EngineTest]) -> None:
        #: All results.
        self.tests = tests

    @property
    def failures(self) -> list[EngineTest]:
        """The results that are wrong. A pair that is expected to fail, and does not, is one."""
        return [test for test in self.tests if test.failure is not None]

    def raise_for_failures(self) -> None:
        """Raise an error if a result is wrong.

        :raises EngineDiffers: which shows the first differences.
        """
        if self.failures:
            raise EngineDiffers(self.failures, len(self.tests))

    def __str__(self) -> str:
        failures = self.failures
        if failures:
            return str(EngineDiffers(failures, len(self.tests)))
        return f"all {len(self.tests)} results are right"

    def __repr__(self) -> str:
        return f"<{len(self.tests) - len(self.failures)} of {len(self.tests)} pairs agree>"


class EngineSuite:
    """An engine, and the part of the suite that it is held to."""

    def __init__(
        self,
        engine: Callable[..., Any],
        only: str | Iterable[str] = (),
        expected_failures: str | os.PathLike[str] | None = None,
    ) -> None:
        self.engine = engine
        self.only = [only] if isinstance(only, str) else list(only)
        self.expected_failures = None if expected_failures is None else os.fspath(expected_failures)
        self.__doc__ = engine.__doc__
        self.__module__ = engine.__module__

    def names(self) -> list[str]:
        """Return the names of the pairs: ``TEMPLATE:FAMILY/CASE``."""
        names = _rolecall.engine_names(self.only)
        return names + [LIST] if self.expected_failures else names

    def tests(self, chosen: set[str] | None = None) -> list[EngineTest]:
        """Let the engine render all pairs, or those that are chosen by their names."""
        name = getattr(self.engine, "__name__", type(self.engine).__name__)
        engine, has_now = called(self.engine)
        if chosen is None and sys.stderr is not None and sys.stderr.isatty():
            # The progress bar shows how many there are.
            chosen = set(self.names())
        found = _rolecall.engine_tests(
            engine, name, has_now, self.only, self.expected_failures, chosen
        )
        tests = [EngineTest(*test) for test in found]
        if self.expected_failures and all(test.name != LIST for test in tests):
            # Only a whole run can tell whether each line is of use.
            tests.append(EngineTest(LIST, False, None))
        return tests


#: The name of the test of the list of expected failures.
LIST = "every line of the list of expected failures is of use"


def parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters, as far as they are known."""
    import inspect

    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def called(engine: Callable[..., Any]) -> tuple[Callable[..., str], bool]:
    """Return an engine as a function of a source and variables, and whether it takes ``now``."""
    names = parameters(engine)
    if len(names) != 1:
        return engine, "now" in names
    compiled: dict[str, tuple[Callable[..., str], bool]] = {}

    def render(source: str, variables: dict[str, Any], now: Any) -> str:
        if source not in compiled:
            program = engine(source)
            compiled[source] = program, "now" in parameters(program)
        program, has_now = compiled[source]
        return program(variables, now=now) if has_now else program(variables)

    return render, True


def run(
    engine: Callable[..., Any],
    *,
    only: str | Iterable[str] = (),
    expected_failures: str | os.PathLike[str] | None = None,
) -> EngineRun:
    """Let an engine render the suite, and compare each result with the one of transformers.

    ``only`` chooses pairs as filters of the command do. ``expected_failures`` is a file with a filter
    on each line. A line that matches no pair, and a pair that it names and that does not fail, are
    failures too.

    >>> import rolecall
    >>> def engine(source, variables):
    ...     return "the same for all"
    >>> rolecall.run(engine=engine, only="qwen2.5:plain/*")
    <0 of 10 pairs agree>
    """
    return EngineRun(EngineSuite(engine, only, expected_failures).tests())


def hold_to_suite(
    *,
    only: str | Iterable[str] = (),
    expected_failures: str | os.PathLike[str] | None = None,
) -> Callable[[Callable[..., Any]], EngineSuite]:
    """Make tests for pytest of an engine: one for each pair.

    A relative path of ``expected_failures`` begins at the file of the engine. ``pytest
    --rolecall-accept`` writes this list.

    >>> import rolecall
    >>> @rolecall.hold_to_suite(only="qwen2.5:plain/*")
    ... def test_my_engine(source, variables):
    ...     return my_engine.render(source, **variables)
    >>> test_my_engine.names()[0]
    'qwen2.5:plain/single-turn'
    """

    def hold(engine: Callable[..., Any]) -> EngineSuite:
        path = expected_failures
        code = getattr(engine, "__code__", None)
        if path is not None and code is not None:
            path = os.path.join(os.path.dirname(os.path.abspath(code.co_filename)), path)
        return EngineSuite(engine, only, path)

    return hold
