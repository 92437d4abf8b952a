"""Results that print themselves, in a terminal and in a notebook."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rolecall._rolecall import Template
    from typing import Any


class Shown:
    """A result whose text is what the command prints."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


def is_source(given: object) -> bool:
    """Whether a text is a template itself: no place has such a name."""
    return isinstance(given, str) and any(sign in given for sign in ("{{", "{%", "{#", "\n"))


def template_of(given: Any) -> Template:
    """Return a template: itself, or what :func:`rolecall.load` makes of it."""
    import rolecall

    return given if isinstance(given, rolecall.Template) else rolecall.load(given)
