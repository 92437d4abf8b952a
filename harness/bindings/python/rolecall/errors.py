"""The errors of Rolecall. Each of them is a :class:`RolecallError`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ContractsBroken",
    "EngineCrashed",
    "EngineDiffers",
    "InputRefused",
    "LimitExceeded",
    "LoadError",
    "ResponseError",
    "RolecallError",
    "TemplateError",
    "TemplateFailed",
    "TemplateRaised",
    "TemplateSyntaxError",
]


class RolecallError(Exception):
    """Something has no result, and this says why."""

    __module__ = "rolecall"

    #: The reason in words.
    message: str
    #: Which conversation it is about, counted from 0, if several were given.
    conversation: int | None = None

    def __init__(self, message: str, *fields: object) -> None:
        super().__init__(message, *fields)
        self.message = message

    def __str__(self) -> str:
        words = self._words()
        return words if self.conversation is None else f"conversation {self.conversation}: {words}"

    def _words(self) -> str:
        return self.message


class TemplateError(RolecallError):
    """A template gives no prompt. It is the base of such errors, as jinja2's ``TemplateError`` is."""

    __module__ = "rolecall"


class TemplateSyntaxError(TemplateError):
    """The source of a template cannot be read.

    >>> import rolecall
    >>> try:
    ...     rolecall.Template("Hello\\n{% if %}")
    ... except rolecall.TemplateSyntaxError as error:
    ...     print(error.line, error.column)
    2 7
    """

    __module__ = "rolecall"

    #: The line of the mistake, from 1, where it is known.
    line: int | None
    #: The column of the mistake in characters, from 1, where it is known.
    column: int | None

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message, line, column)
        self.line = line
        self.column = column

    def _words(self) -> str:
        place = [
            f"{name} {number}"
            for name, number in (("line", self.line), ("column", self.column))
            if number is not None
        ]
        return f"{', '.join(place)}: {self.message}" if place else self.message


class ResponseError(RolecallError, ValueError):
    """A response template cannot be used, or an answer does not fit it.

    >>> import rolecall
    >>> template = rolecall.Template("", response_template={
    ...     "start_anchor": "A", "fields": {"content": {"content": "json"}}})
    >>> try:
    ...     template.parse_response("{", prefix="")
    ... except rolecall.ResponseError as error:
    ...     print(error.kind)
    ValueError
    """

    __module__ = "rolecall"

    #: The class of the error that transformers raises, such as ``ValueError``. It is
    #: ``NotImplementedError`` for a pattern that only transformers knows.
    kind: str

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message, kind)
        self.kind = kind


class TemplateRaised(TemplateError):
    """The template itself refuses the conversation, with ``raise_exception(message)``.

    >>> import rolecall
    >>> template = rolecall.Template("{{ raise_exception('No system message, please.') }}")
    >>> template.render([{"role": "system", "content": "Be kind."}])
    Traceback (most recent call last):
        ...
    rolecall.TemplateRaised: No system message, please.
    """

    __module__ = "rolecall"


class TemplateFailed(TemplateError):
    """The template fails while it runs: it needs a value that is not there, or one of another type."""

    __module__ = "rolecall"

    #: The line of the template that failed, from 1, where it is known.
    line: int | None

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message, line)
        self.line = line

    def _words(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


class InputRefused(RolecallError, ValueError):
    """The conversation or an option is refused before the template sees it."""

    __module__ = "rolecall"


class LimitExceeded(TemplateError):
    """The template needs more than a render may take.

    >>> import rolecall
    >>> endless = "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"
    >>> try:
    ...     rolecall.Template(endless).render([{"role": "user"}])
    ... except rolecall.LimitExceeded as error:
    ...     print(error.limit)
    recursion
    """

    __module__ = "rolecall"

    #: The name of the limit: ``fuel``, ``recursion`` or ``output``.
    limit: str

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit

    def _words(self) -> str:
        return f"the limit on {self.limit} ran out"


class EngineCrashed(RolecallError):
    """The engine has a defect. Please report it."""

    __module__ = "rolecall"


class LoadError(RolecallError):
    """No template can be loaded from a place, or not the one that is asked for."""

    __module__ = "rolecall"


class ContractsBroken(RolecallError):
    """A template breaks contracts: see :meth:`rolecall.Card.raise_for_errors`."""

    __module__ = "rolecall"

    #: The broken contracts, each a :class:`rolecall.Finding`.
    findings: list[Any]

    def __init__(self, message: str, findings: list[Any]) -> None:
        super().__init__(message, findings)
        self.findings = findings


class EngineDiffers(RolecallError):
    """An engine gives other results than transformers: see :meth:`rolecall.EngineRun.raise_for_failures`."""

    __module__ = "rolecall"

    #: The results that are wrong, each a :class:`rolecall.EngineTest`.
    failures: list[Any]
    #: How many results there are.
    total: int

    def __init__(self, failures: list[Any], total: int) -> None:
        shown = [f"{test.name}: {test.failure}" for test in failures[:3]]
        more = [f"... and {len(failures) - 3} more"] if len(failures) > 3 else []
        first = f"{len(failures)} of {total} results are wrong"
        super().__init__("\n".join([first, *shown, *more]), failures, total)
        self.failures = failures
        self.total = total

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.failures, self.total)
