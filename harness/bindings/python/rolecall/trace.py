"""Traces: where the bytes of a prompt come from."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Span", "Trace"]


class Span:
    """A stretch of a prompt with one origin.

    One of ``template``, ``input`` and ``made`` says where it comes from; the others are ``None``.
    """

    __module__ = "rolecall"
    __slots__ = ("_document",)

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def start(self) -> int:
        """The first byte in the prompt, from 0. Bytes are those of UTF-8."""
        start: int = self._document["prompt"]["start"]
        return start

    @property
    def end(self) -> int:
        """The byte behind its end in the prompt."""
        end: int = self._document["prompt"]["end"]
        return end

    @property
    def text(self) -> str:
        """Its text."""
        text: str = self._document["text"]
        return text

    @property
    def template(self) -> dict[str, int] | None:
        """The text of the template that it is: ``line``, ``column``, ``start`` and ``end``."""
        return self._document.get("template")

    @property
    def input(self) -> dict[str, Any] | None:
        """The piece of an input that it is: ``kind``, ``path``, ``start`` and ``end``."""
        return self._document.get("input")

    @property
    def made(self) -> dict[str, Any] | None:
        """What an operation made it ``from``: a list of inputs, each with ``kind`` and ``path``."""
        return self._document.get("made")

    @property
    def operations(self) -> list[str]:
        """What was done on the way, in order, such as ``trim``."""
        return list(self._document["operations"])

    def to_dict(self) -> dict[str, Any]:
        """Return the span as the JSON of the command has it."""
        return self._document

    def __repr__(self) -> str:
        if self.template is not None:
            source = f"template {self.template['line']}:{self.template['column']}"
        elif self.input is not None:
            source = str(self.input["path"])
        else:
            source = "made"
        return f"<rolecall.Span {self.text!r} from {source}>"


class Trace:
    """Where the bytes of a prompt come from, found by :meth:`rolecall.Template.trace`.

    >>> import rolecall
    >>> trace = rolecall.Template("Q: {{ messages[0].content }}").trace([{"content": "Why?"}])
    >>> trace.spans
    [<rolecall.Span 'Q: ' from template 1:1>, <rolecall.Span 'Why?' from messages[0].content>]
    """

    __module__ = "rolecall"
    __slots__ = ("_document",)

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def prompt(self) -> str:
        """The prompt."""
        prompt: str = self._document["prompt"]
        return prompt

    @property
    def spans(self) -> list[Span]:
        """The stretches of the prompt, in its order. They cover it wholly."""
        return [Span(span) for span in self._document["spans"]]

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """What each evaluation of a condition looked at, in the order of the render.

        The dictionaries are those of the key ``decisions`` in ``show --trace --format json``.

        >>> import rolecall
        >>> template = rolecall.Template("{% if 'now' in messages[0].content %}!{% endif %}")
        >>> [decision] = template.trace([{"content": "Not now."}]).decisions
        >>> decision["text"], decision["truth"]
        ("'now' in messages[0].content", True)
        """
        decisions: list[dict[str, Any]] = self._document["decisions"]
        return decisions

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, as ``rolecall show --trace --format json`` prints it."""
        return self._document

    def __repr__(self) -> str:
        return f"<rolecall.Trace of {len(self._document['spans'])} spans>"


def read(text: str) -> Trace:
    """Read the JSON of a trace."""
    import json

    return Trace(json.loads(text))
