"""The plugin for pytest: the suite of a ``rolecall.toml`` as tests, and engines held to the suite.

It does nothing without ``--rolecall``, the setting ``rolecall = true`` or the mark ``rolecall``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from rolecall import __main__ as command
from rolecall.engine import ACCEPT, LIST, EngineSuite, EngineTest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import rolecall

#: The file that describes a suite.
FILE = "rolecall.toml"

#: The name under which a run reports what is no pair, such as report cards.
NO_TEMPLATE = "rolecall"

#: How many pairs one command accepts. Systems limit the length of a command.
PAIRS_AT_ONCE = 500

#: How a failure begins that is explained at another pair.
AS_IN = "as in "

#: The category of tests that fail as another one does.
ALIKE = "failed alike"

#: How many tests of a cause the summary names.
MOST_NAMES = 8


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the setting."""
    group = parser.getgroup("rolecall", "chat templates")
    group.addoption(
        "--rolecall",
        action="store_true",
        dest="rolecall",
        help=f"test the chat templates of {FILE}: every pair of a template and a conversation",
    )
    group.addoption(
        "--rolecall-accept",
        action="store_true",
        dest="rolecall_accept",
        help=f"accept the results of the chosen pairs of {FILE}, and write lists of expected failures",
    )
    parser.addini("rolecall", f"test the chat templates of {FILE} always", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Find the suite."""
    config.addinivalue_line(
        "markers",
        "rolecall(place): the template of the fixtures `rolecall_template` and `rolecall_card`, "
        "as one types it after `rolecall check`",
    )
    if config.getoption("rolecall_accept") and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("--rolecall-accept writes files: use it without -n")
    if not is_awake(config):
        return
    if any(Path(without_names(argument)).name == FILE for argument in config.args):
        return
    here = [config.invocation_params.dir, config.rootpath]
    suite = next((folder / FILE for folder in here if (folder / FILE).is_file()), None)
    if suite is not None:
        folders = [config.invocation_params.dir / without_names(one) for one in config.args]
        if not any(suite.parent.samefile(one) for one in folders if one.is_dir()):
            config.args.append(str(suite))
    elif config.getoption("rolecall"):
        raise pytest.UsageError(
            f"there is no {FILE} in {here[0]}: name its path, or make one with `rolecall init`"
        )


def without_names(argument: str) -> str:
    """Return the path of an argument such as ``tests/test_a.py::test_b``."""
    return argument.split("::")[0]


def is_awake(config: pytest.Config) -> bool:
    """Whether suites are to be tested."""
    names = ("rolecall", "rolecall_accept")
    return bool(any(config.getoption(name) for name in names) or config.getini("rolecall"))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """Collect a suite."""
    if file_path.name == FILE and is_awake(parent.config):
        return SuiteFile.from_parent(parent, path=file_path)
    return None


def run_command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command ``rolecall`` in a folder."""
    return subprocess.run(
        [*command.again(), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


class SuiteError(Exception):
    """A suite cannot be tested."""


class PairFailure(Exception):
    """A pair is not as expected. ``cause`` names the pair that shows it, if that is another one."""

    def __init__(self, failure: str, cause: str | None = None) -> None:
        super().__init__(failure)
        self.cause = cause


class PairResult:
    """The result of a pair, or of something else that a run looks at."""

    def __init__(self, template: str, name: str, element: ElementTree.Element | None) -> None:
        self.template = template
        self.name = name
        self.failure: str | None = None
        self.skipped: str | None = None
        #: The pair that shows the cause of the failure.
        self.example = f"{template} {name}"
        for child in element if element is not None else ():
            words = [child.get("message") or "", (child.text or "").rstrip()]
            text = "\n".join(word for word in words if word)
            if child.tag in ("failure", "error"):
                self.failure = text or child.get("type") or "it fails"
                if words[0].startswith(AS_IN):
                    self.example = words[0][len(AS_IN) :].partition(": ")[0]
            elif child.tag == "skipped":
                self.skipped = text or "it is skipped"


def run_suite(path: Path, *filters: str) -> list[PairResult]:
    """Render the pairs of a suite, and compare them with what was accepted."""
    ran = run_command(path.parent, "run", "--format", "junit", *filters)
    said = ran.stderr.strip()
    try:
        root = ElementTree.fromstring(ran.stdout)
    except ElementTree.ParseError:
        raise SuiteError(said or f"`rolecall run` ended with {ran.returncode}") from None
    results = [
        PairResult(suite.get("name") or "suite", case.get("name") or "", case)
        for suite in root.iter("testsuite")
        for case in suite.iter("testcase")
    ]
    if not results:
        raise SuiteError(said or "the suite has no pairs")
    if ran.returncode != 0 and not any(result.failure for result in results):
        # Something else is wrong, such as a file that cannot be read.
        whole = PairResult(NO_TEMPLATE, "run", None)
        whole.failure = said or f"`rolecall run` ended with {ran.returncode}"
        results.append(whole)
    return results


class SuiteFile(pytest.File):
    """A ``rolecall.toml``."""

    #: How many results there are.
    count = 0

    def collect(self) -> Iterator[TemplateCollector]:
        """Collect the suite's templates."""
        try:
            results = run_suite(self.path)
        except SuiteError as error:
            raise self.CollectError(str(error)) from None
        self.count = len(results)
        #: The pair that shows each cause, by the pair that a run of the whole suite chose for it.
        self.shown: dict[str, str] = {}
        of_templates: dict[str, list[PairResult]] = {}
        for result in results:
            of_templates.setdefault(result.template, []).append(result)
        for name, of_template in of_templates.items():
            yield TemplateCollector.from_parent(self, name=name, results=of_template)


class TemplateCollector(pytest.Collector):
    """A template of a suite."""

    def __init__(self, *, results: list[PairResult], **keywords: Any) -> None:
        super().__init__(**keywords)
        self.results = results

    def collect(self) -> Iterator[PairItem]:
        """Collect the pairs of the template."""
        known: dict[str, int] = {}
        for result in self.results:
            count = known[result.name] = known.get(result.name, 0) + 1
            # What is no pair may have the name of something else.
            name = result.name if count == 1 else f"{result.name} ({count})"
            yield PairItem.from_parent(self, name=name, result=result)


class DifferenceItem(pytest.Item):
    """A test that shows a difference, and not where Python found it."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the difference alone. A traceback would take more time than the test."""
        if isinstance(excinfo.value, (PairFailure, pytest.xfail.Exception)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class PairItem(DifferenceItem):
    """A pair of a template and a conversation."""

    def __init__(self, *, result: PairResult, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.result = result

    def runtest(self) -> None:
        """Fail if the pair is not as expected."""
        if self.result.skipped is not None:
            pytest.skip(self.result.skipped)
        file = self.getparent(SuiteFile)
        if self.result.failure is None or file is None:
            return
        name, example = (f"{self.result.template} {self.result.name}", self.result.example)
        if example not in file.shown:
            chosen = (one.result for one in self.session.items if isinstance(one, PairItem))
            is_chosen = any(example == f"{one.template} {one.name}" for one in chosen)
            file.shown[example] = example if is_chosen else name
        if example == name:
            raise PairFailure(self.result.failure)
        # A run that ends with the first failure may not reach the pair that shows the cause.
        if file.shown[example] == name or self.config.getoption("maxfail"):
            raise PairFailure(self.own_failure())
        raise PairFailure(self.result.failure, file.shown[example])

    def own_failure(self) -> str:
        """Return the failure of this pair, as a run of this pair alone shows it."""
        try:
            alone = run_suite(self.path, pair_filter(self.result))
        except SuiteError:
            alone = []
        names = (self.result.template, self.result.name)
        failures = [one.failure for one in alone if (one.template, one.name) == names]
        return next(filter(None, failures), self.result.failure or "")

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the pair."""
        return self.path, None, f"{self.result.template} {self.result.name}"


def pair_filter(result: PairResult) -> str:
    """Return the filter that matches this pair alone."""
    return f"{result.template}:{result.name}"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Accept what was chosen."""
    if not session.config.getoption("rolecall_accept") or session.config.option.collectonly:
        return
    files: dict[Path, list[PairItem]] = {}
    for item in session.items:
        if isinstance(item, PairItem):
            files.setdefault(item.path, []).append(item)
    for path, items in files.items():
        said = accept(path, items)
        session.config.stash.setdefault(SAID, []).extend(said)
        try:
            results = {(one.template, one.name): one for one in run_suite(path)}
        except SuiteError as error:
            raise pytest.UsageError(str(error)) from None
        for item in items:
            item.result = results.get((item.result.template, item.result.name), item.result)


#: What commands said about accepting.
SAID = pytest.StashKey["list[str]"]()


def accept(path: Path, items: list[PairItem]) -> list[str]:
    """Accept the results of these pairs, and return what the command says.

    Report cards are accepted with all pairs, because no filter of the command chooses them.
    """
    file = items[0].getparent(SuiteFile)
    if file is not None and len(items) == file.count:
        filters = ["*"]
    else:
        pairs = [one.result for one in items if one.result.template != NO_TEMPLATE]
        filters = [pair_filter(pair) for pair in pairs if pair.failure]
    said = []
    for start in range(0, len(filters), PAIRS_AT_ONCE):
        ran = run_command(path.parent, "accept", *filters[start : start + PAIRS_AT_ONCE])
        said.append(f"{path.name}: " + (ran.stdout + ran.stderr).strip())
    return said


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Iterator[None]:
    """Note at which other pair a failure is explained."""
    outcome: Any = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, PairFailure):
        outcome.get_result().rolecall_cause = call.excinfo.value.cause


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Keep tests that fail as another one does out of the list of failures."""
    is_alike = report.failed and getattr(report, "rolecall_cause", None)
    return (ALIKE, "F", "FAILED") if is_alike else None


def write_causes(terminalreporter: Any) -> None:
    """Write which tests fail as another one does, in a line for each cause."""
    by_cause: dict[str, list[Any]] = {}
    for report in terminalreporter.stats.get(ALIKE, []):
        by_cause.setdefault(report.rolecall_cause, []).append(report)
    if by_cause:
        terminalreporter.section("rolecall: tests that fail alike")
    for cause, reports in by_cause.items():
        names = [report.nodeid.split("::", 1)[-1] for report in reports[:MOST_NAMES]]
        names += [f"{len(reports) - len(names)} more"] if len(reports) > len(names) else []
        terminalreporter.write_line(f"{len(reports)} as {cause}: {', '.join(names)}")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which failures have the same cause, and what was accepted."""
    write_causes(terminalreporter)
    said = config.stash.get(SAID, [])
    if said:
        terminalreporter.section("rolecall accept")
        for text in said:
            terminalreporter.write_line(text)


def template_place(request: pytest.FixtureRequest) -> str:
    """Return the place that the mark ``rolecall`` of a test names."""
    mark = request.node.get_closest_marker("rolecall")
    if mark is None or len(mark.args) != 1 or mark.kwargs:
        raise pytest.UsageError(
            f"{request.node.nodeid} does not say which template it needs: "
            '@pytest.mark.rolecall("my_model")'
        )
    place: str = os.fspath(mark.args[0])
    for folder in (request.path.parent, request.config.rootpath):
        if (folder / place).exists():
            return str(folder / place)
    return place


@pytest.fixture(scope="session")
def _rolecall_templates() -> dict[str, rolecall.Template]:
    """Templates by their places: a session loads each of them once."""
    return {}


@pytest.fixture
def rolecall_template(
    request: pytest.FixtureRequest, _rolecall_templates: dict[str, rolecall.Template]
) -> rolecall.Template:
    """The template that the mark ``rolecall`` names: a path beside the test, or a model by name."""
    import rolecall

    place = template_place(request)
    if place not in _rolecall_templates:
        _rolecall_templates[place] = rolecall.load(place)
    return _rolecall_templates[place]


@pytest.fixture
def rolecall_card(rolecall_template: rolecall.Template) -> rolecall.Card:
    """The report card of ``rolecall_template``."""
    return rolecall_template.check()


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> Any:
    """Collect an engine that :func:`rolecall.hold_to_suite` holds to the suite."""
    if isinstance(obj, EngineSuite):
        return EngineCollector.from_parent(collector, name=name, suite=obj)
    return None


class EngineCollector(pytest.Collector):
    """An engine that is held to the suite."""

    def __init__(self, *, suite: EngineSuite, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.suite = suite
        self.tests: dict[str, EngineTest] = {}

    def collect(self) -> Iterator[EngineItem]:
        """Collect a test for each pair, and one for the list of expected failures."""
        for name in self.suite.names():
            yield EngineItem.from_parent(self, name=name)

    def test(self, name: str, chosen: Iterable[str]) -> EngineTest:
        """Return a test. The first one lets the engine render all pairs that were chosen.

        A worker of xdist gets only some of the tests, so its engine renders a template at a time. Only
        the test of the list of expected failures needs all pairs.
        """
        if name not in self.tests:
            names = set(chosen)
            if hasattr(self.config, "workerinput") and name != LIST:
                template = name.partition(":")[0] + ":"
                names = {one for one in names if one.startswith(template)}
            # A run of all pairs writes the list, and a run of some of them does not.
            if self.config.getoption("rolecall_accept"):
                os.environ[ACCEPT] = "1"
            try:
                self.tests.update((test.name, test) for test in self.suite.tests(names))
            finally:
                if self.config.getoption("rolecall_accept"):
                    del os.environ[ACCEPT]
        return self.tests[name]


class EngineItem(DifferenceItem):
    """A pair that an engine renders."""

    parent: EngineCollector

    def runtest(self) -> None:
        """Fail if the engine is wrong, or if it is right and was expected to be wrong."""
        items = self.session.items
        chosen = [item.name for item in items if item.parent is self.parent]
        test = self.parent.test(self.name, chosen)
        if test.failure is not None:
            raise PairFailure(test.failure)
        if test.is_expected_to_fail:
            pytest.xfail("it is in the list of expected failures")

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the pair."""
        return self.path, None, f"{self.parent.name} {self.name}"


