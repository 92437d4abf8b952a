"""Coverage: which places of a template some cases reach."""

from __future__ import annotations

from rolecall import _rolecall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rolecall._rolecall import Template

__all__ = ["Coverage", "Place"]


class Place:
    """A place of a template that can be reached, in one way or in several."""

    __module__ = "rolecall"
    __slots__ = ("_document",)

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def kind(self) -> str:
        """The kind: ``statement``, ``condition``, ``operand``, ``loop`` or ``macro``."""
        kind: str = self._document["kind"]
        return kind

    @property
    def line(self) -> int:
        """The line of the template where it begins, from 1."""
        line: int = self._document["line"]
        return line

    @property
    def column(self) -> int:
        """The column where it begins, from 1."""
        column: int = self._document["column"]
        return column

    @property
    def text(self) -> str:
        """Its text."""
        text: str = self._document["text"]
        return text

    @property
    def missing(self) -> str | None:
        """What no case does, in words; ``None`` if the cases do everything."""
        return self._document.get("missing")

    @property
    def ways(self) -> dict[str, int]:
        """The ways in which it can be reached, each with the number of cases that take it."""
        return {way["way"]: way["cases"] for way in self._document["ways"]}

    def to_dict(self) -> dict[str, Any]:
        """Return the place as the JSON of the command has it."""
        return self._document

    def __repr__(self) -> str:
        missing = f": {self.missing}" if self.missing else ""
        return f"<rolecall.Place {self.kind} at {self.line}:{self.column}{missing}>"


class Coverage:
    """Which places of a template some cases reach, found by :meth:`rolecall.Template.cover`.

    >>> import rolecall
    >>> coverage = rolecall.Template("{{ messages[0].content }}").cover([[{"content": "Hi"}]])
    >>> coverage.share, coverage.missing
    (1.0, [])
    """

    __module__ = "rolecall"
    __slots__ = ("_document", "_template")

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._template: dict[str, Any] = document["templates"][0]

    @property
    def places(self) -> list[Place]:
        """All places of the template."""
        return [Place(place) for place in self._template["sites"]]

    @property
    def missing(self) -> list[Place]:
        """The places that the cases do not reach in every way."""
        return [place for place in self.places if place.missing is not None]

    @property
    def share(self) -> float:
        """The share of all ways that some case takes, from 0 to 1."""
        counts = self._template["reached"].values()
        every = sum(count["all"] for count in counts)
        taken: int = sum(count["reached"] for count in counts)
        return taken / every if every else 1.0

    @property
    def cases(self) -> int:
        """How many cases there are."""
        cases: int = self._template["cases"]
        return cases

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, as ``rolecall cover --format json`` prints it."""
        return self._document

    def __repr__(self) -> str:
        return f"<rolecall.Coverage {100 * self.share:.2f} % by {self.cases} cases>"


def cover(template: Template, cases: Iterable[Any], front: str | None) -> Coverage:
    """Find out which places of a template some cases reach."""
    import json

    return Coverage(json.loads(_rolecall.cover(template, cases, front)))
