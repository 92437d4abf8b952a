"""Engines that are functions in Python, held to Rolecall's suite.

An engine renders Jinja templates: ``engine(source, variables)`` returns the prompt. ``variables`` has
all that a template sees: ``messages``, ``tools``, ``documents``, ``add_generation_prompt``, the special
tokens and other variables. If a parameter of the function is named ``now``, it gets the time at which
the conversation happens. A template's refusal is a :class:`rolecall.TemplateRaised`, or the
``TemplateError`` of jinja2.
"""

from __future__ import annotations

import os

from rolecall import _rolecall
from rolecall.errors import EngineDiffers

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


class EngineRun:
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

    def __repr__(self) -> str:
        return f"<{len(self.tests) - len(self.failures)} of {len(self.tests)} pairs agree>"


class EngineSuite:
    """An engine, and the part of the suite that it is held to."""

    def __init__(
        self,
        engine: Callable[..., str],
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
        if chosen is not None and chosen >= set(self.names()):
            chosen = None
        found = _rolecall.engine_tests(
            self.engine, name, takes_now(self.engine), self.only, self.expected_failures, chosen
        )
        tests = [EngineTest(*test) for test in found]
        if self.expected_failures and all(test.name != LIST for test in tests):
            # Only a whole run can tell whether each line is of use.
            tests.append(EngineTest(LIST, False, None))
        return tests


#: The name of the test of the list of expected failures.
LIST = "every line of the list of expected failures is of use"


def takes_now(engine: Callable[..., Any]) -> bool:
    """Whether a parameter of a function is named ``now``."""
    import inspect

    try:
        return "now" in inspect.signature(engine).parameters
    except (TypeError, ValueError):
        return False


def run(
    engine: Callable[..., str],
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
) -> Callable[[Callable[..., str]], EngineSuite]:
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

    def hold(engine: Callable[..., str]) -> EngineSuite:
        path = expected_failures
        code = getattr(engine, "__code__", None)
        if path is not None and code is not None:
            path = os.path.join(os.path.dirname(os.path.abspath(code.co_filename)), path)
        return EngineSuite(engine, only, path)

    return hold
