"""Comparisons of two templates."""

from __future__ import annotations

from rolecall import _rolecall
from rolecall.shown import Shown, is_source, template_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


__all__ = ["CaseDifference", "Diff"]


class CaseDifference:
    """A case in which two templates differ."""

    __module__ = "rolecall"
    __slots__ = ("_document", "name")

    #: The name of the case: ``rolecall show TEMPLATE NAME`` shows its prompt.
    name: str

    def __init__(self, name: str, document: dict[str, Any]) -> None:
        self.name = name
        self._document = document

    @property
    def a(self) -> dict[str, Any]:
        """The outcome of the first template, in the first of the cases with this cause.

        If other edits change that case, too, this is the outcome of the second template without
        this edit.
        """
        outcome: dict[str, Any] = self._document["a"]
        return outcome

    @property
    def b(self) -> dict[str, Any]:
        """The outcome of the second template, in the first of the cases with this cause."""
        outcome: dict[str, Any] = self._document["b"]
        return outcome

    @property
    def edits(self) -> list[dict[str, str]]:
        """The texts that are ``gone`` and those that ``came``, in the first of the cases with this
        cause."""
        return list(self._document.get("edits", ()))

    @property
    def first(self) -> str | None:
        """Where the outcomes differ first, in words, if both are prompts."""
        return self._document.get("first")

    def __repr__(self) -> str:
        return f"<rolecall.CaseDifference {self.name!r}>"


class Diff(Shown):
    """What two templates make of the cases of the suite, made by :func:`rolecall.diff`."""

    __module__ = "rolecall"
    __slots__ = ("_document", "_text")

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self._document = document
        self._text = text

    @property
    def differs(self) -> bool:
        """Whether the two differ in any case."""
        differs: bool = self._document["differs"]
        return differs

    @property
    def counts(self) -> dict[str, int]:
        """How many ``cases`` there are, and in how many the two ``differ``, are the ``same``, both
        ``refuse`` or both ``fail``."""
        counts: dict[str, int] = self._document["counts"]
        return counts

    @property
    def cases(self) -> list[CaseDifference]:
        """The cases in which the two differ."""
        return [
            CaseDifference(case["case"], group)
            for group in self._document["differences"]
            for case in group["cases"]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, as ``rolecall diff --format json`` prints it."""
        return self._document

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        counts = self.counts
        return f"<rolecall.Diff: {counts['differ']} of {counts['cases']} cases differ>"


def diff(a: Any, b: Any) -> Diff:
    """Compare two templates in the cases of the suite, as ``rolecall diff`` does.

    Each of them may be a template, or anything that :func:`rolecall.load` takes.

    >>> import rolecall
    >>> source = "{% for m in messages %}{{ m.role }}: {{ m.content }}\\n{% endfor %}"
    >>> old = rolecall.Template(source, name="old")
    >>> new = rolecall.Template(source.replace(": ", ":"), name="new")
    >>> comparison = rolecall.diff(old, new)
    >>> comparison.counts["differ"] == len(comparison.cases) > 100
    True
    >>> rolecall.diff(old, old).cases
    []
    """
    import json
    import os

    sides = [template_of(a), template_of(b)]
    # Of two templates with one name, the places tell which is which.
    names = [
        os.fsdecode(given) if isinstance(given, (str, os.PathLike)) and not is_source(given) else side.name
        for given, side in zip((a, b), sides)
    ]
    document, text = _rolecall.diff(sides[0], sides[1], (names[0], names[1]))
    return Diff(json.loads(document), text.strip("\n"))
