"""Report cards: what a template can do, and which contracts it breaks."""

from __future__ import annotations

from rolecall import _rolecall
from rolecall.errors import ContractsBroken, TemplateSyntaxError
from rolecall.shown import Shown, template_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Any


__all__ = ["Card", "Finding"]


class Finding:
    """How a template stands to a contract."""

    __module__ = "rolecall"
    __slots__ = ("_document",)

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def contract(self) -> str:
        """The name of the contract. ``rolecall explain NAME`` says more about it."""
        name: str = self._document["contract"]
        return name

    @property
    def severity(self) -> str:
        """How bad it is: ``error``, ``warning``, ``limitation`` or ``note``."""
        severity: str = self._document["severity"]
        return severity

    @property
    def verdict(self) -> str:
        """``holds``, ``broken`` or ``does-not-apply``."""
        verdict: str = self._document["verdict"]
        return verdict

    @property
    def message(self) -> str:
        """What goes wrong, in words; where nothing does, what the contract demands."""
        for evidence in self.evidence:
            what: str = evidence["what"]
            return what
        message: str = self._document.get("reason") or self._document["meaning"]
        return message

    @property
    def evidence(self) -> list[dict[str, Any]]:
        """What shows that the contract is broken, as the JSON of the command has it."""
        return list(self._document.get("evidence", ()))

    @property
    def deliberate(self) -> str | None:
        """Why the template breaks the contract on purpose, if its files say so."""
        return self._document.get("deliberate")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as the JSON of the command has it."""
        return self._document

    def __str__(self) -> str:
        return f"{self.severity} {self.contract}: {self.message}"

    def __repr__(self) -> str:
        return f"<rolecall.Finding {self}>"


class Card(Shown):
    """The report card of a template, made by :meth:`rolecall.Template.check`.

    >>> import rolecall
    >>> card = rolecall.Template("{{ messages[-1].content }}").check()
    >>> card.errors[0].contract
    'messages-kept'
    >>> card.capabilities["question"]
    {'is': 'kept'}
    """

    __module__ = "rolecall"
    __slots__ = ("_card", "_document", "_text")

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self._document = document
        self._text = text
        self._card: dict[str, Any] = document["cards"][0]

    def _broken(self, severity: str) -> list[Finding]:
        return [
            finding
            for finding in self.findings
            if finding.verdict == "broken"
            and finding.severity == severity
            and finding.deliberate is None
        ]

    @property
    def template(self) -> str:
        """The name of the template."""
        name: str = self._card["template"]
        return name

    @property
    def findings(self) -> list[Finding]:
        """How the template stands to every contract."""
        return [Finding(finding) for finding in self._card["findings"]]

    @property
    def errors(self) -> list[Finding]:
        """The contracts whose break is an error, without those that are broken on purpose."""
        return self._broken("error")

    @property
    def warnings(self) -> list[Finding]:
        """The contracts whose break is a warning, without those that are broken on purpose."""
        return self._broken("warning")

    @property
    def limitations(self) -> list[Finding]:
        """What the template plainly does not do."""
        return self._broken("limitation")

    @property
    def notes(self) -> list[Finding]:
        """What is worth knowing."""
        return self._broken("note")

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the template can do, as the JSON of the command has it."""
        capabilities: dict[str, Any] = self._card["capabilities"]
        return capabilities

    @property
    def switches(self) -> list[dict[str, Any]]:
        """The variables that users may set: each with its ``name``, ``default`` and ``values``."""
        return list(self.capabilities.get("switches", ()))

    @property
    def served(self) -> dict[str, Any] | None:
        """What applications that serve the model make of it, if ``check(served=…)`` asks for it.

        ``fronts`` names the applications, ``capabilities`` has their verdicts, and ``differences``
        what is lost, added or refused, with the changes of the application that do it.
        """
        return self._card.get("served")

    @property
    def conversations(self) -> list[dict[str, Any]]:
        """What the template makes of ``check(conversations=…)`` that is wrong, by its cause."""
        return [
            cause for judged in self._document.get("conversations", ()) for cause in judged["causes"]
        ]

    @property
    def log(self) -> list[dict[str, Any]]:
        """What is wrong with ``check(conversations=…)`` itself, whatever the template is.

        Each cause has the ``rule``, its ``severity``, ``what`` is wrong, in how many conversations
        (``count``), and the smallest one, ``example``, with the ``detail`` that shows it.
        """
        return [
            cause
            for judged in self._document.get("conversations", ())
            for cause in judged.get("log", {}).get("causes", ())
        ]

    @property
    def departures(self) -> list[dict[str, Any]]:
        """Where the template is not like the one that ``check(like=…)`` names."""
        return [
            group
            for base in self._document.get("bases", ())
            for group in base["differences"]
            if group.get("known") is None and group.get("meaning") != "mends"
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, as ``rolecall check -q --format json`` prints it."""
        return self._document

    def raise_for_errors(self) -> None:
        """Raise an exception if there are errors, or if the template is not like its base.

        Errors in conversations, or in what the template makes of them, count too.

        >>> import rolecall
        >>> rolecall.Template("{{ messages[-1].content }}").check().raise_for_errors()
        Traceback (most recent call last):
            ...
        rolecall.ContractsBroken: template: error messages-kept: the first question is not ...
        """
        unread = self._card.get("syntax_error")
        if unread is not None:
            raise TemplateSyntaxError(unread["message"], unread.get("line"), unread.get("column"))
        errors = self.errors
        words = [str(finding) for finding in errors]
        words += [
            f"error {cause['rule']}: {cause['what']}, as in {cause['example']}"
            for cause in self.conversations + self.log
            if cause["severity"] == "error"
        ]
        departures = self.departures
        if departures:
            cases = [case["case"] for group in departures for case in group["cases"]]
            words.append(f"not like its base in {len(cases)} cases, such as {cases[0]}")
        if words:
            raise ContractsBroken(f"{self.template}: " + "\n  ".join(words), errors)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return (
            f"<rolecall.Card of {self.template!r}: {len(self.errors)} errors, "
            f"{len(self.warnings)} warnings>"
        )


def check(
    template: Any,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    like: Any = None,
    served: bool | str | Iterable[str] | None = None,
    conversations: str | os.PathLike[str] | None = None,
) -> Card:
    """Make the report card of a template, or of what :func:`rolecall.load` takes.

    The other arguments are those of :meth:`rolecall.Template.check`.

    >>> import rolecall
    >>> rolecall.check("{{ messages[-1].content }}").errors[0].contract
    'messages-kept'
    """
    import json
    import os

    template = template_of(template)
    like = None if like is None else template_of(like)
    fronts = None if served is None or served is False else _names(None if served is True else served)
    file = None if conversations is None else os.fsdecode(conversations)
    chosen = _names(select), _names(ignore)
    document, text = _rolecall.check(template, *chosen, like, fronts, file)
    return Card(json.loads(document), text.strip("\n"))


def _names(names: str | Iterable[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)
