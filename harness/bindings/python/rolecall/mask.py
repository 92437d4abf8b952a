"""Masks: what the model writes of a prompt."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

from rolecall.shown import Shown

__all__ = ["Mask", "Turn"]


def _range(document: dict[str, int] | None) -> tuple[int, int] | None:
    return None if document is None else (document["start"], document["end"])


class Turn:
    """An assistant's turn in a prompt."""

    __module__ = "rolecall"
    __slots__ = ("_document",)

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def message(self) -> int:
        """The index of its message."""
        message: int = self._document["message"]
        return message

    @property
    def kind(self) -> str:
        """``as-asked``, ``otherwise`` or ``nothing``.

        A turn is ``as-asked`` if the very prompt that asks for it stands before it. It is ``nothing``
        if the template does not write it.
        """
        kind: str = self._document["kind"]
        return kind

    @property
    def learned(self) -> tuple[int, int] | None:
        """What the model writes of it: the first byte in the prompt, and the byte behind the last.

        If more of it stands behind the results of its calls, this ends before the results.
        """
        return _range(self._document.get("learned"))

    @property
    def further(self) -> list[tuple[int, int]]:
        """What the model writes of it behind the results of its calls, in bytes of the prompt."""
        return [(one["start"], one["end"]) for one in self._document.get("further", [])]

    @property
    def end(self) -> tuple[int, int] | None:
        """The token that ends it, in bytes of the prompt. ``None`` if no token does."""
        return _range(self._document.get("end"))

    def to_dict(self) -> dict[str, Any]:
        """Return the turn as the JSON of the command has it."""
        return self._document

    def __repr__(self) -> str:
        return f"<rolecall.Turn of message {self.message}, {self.kind}>"


class Mask(Shown):
    """What the model writes of a prompt, found by :meth:`rolecall.Template.mask`.

    >>> import rolecall
    >>> template = rolecall.Template(
    ...     "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
    ...     "{% if add_generation_prompt %}<assistant>{% endif %}")
    >>> mask = template.mask([
    ...     {"role": "user", "content": "Grüß dich"},
    ...     {"role": "assistant", "content": "Hallo"},
    ... ], add_generation_prompt=False)
    >>> mask.characters
    [(30, 39)]
    >>> mask.of_tokens([(0, 6), (6, 15), (15, 19), (19, 30), (30, 35), (35, 39)])
    [0, 0, 0, 0, 1, 1]
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
    def learned(self) -> list[tuple[int, int]]:
        """What the model writes, in bytes of the prompt in UTF-8."""
        return [(one["start"], one["end"]) for one in self._document["learned"]]

    @property
    def marked(self) -> list[tuple[int, int]] | None:
        """What the template's own ``{% generation %}`` blocks mark, in bytes of the prompt.

        It is ``None`` if the template has none.
        """
        marked = self._document.get("marked")
        return None if marked is None else [(one["start"], one["end"]) for one in marked]

    @property
    def characters(self) -> list[tuple[int, int]]:
        """What the model writes, in characters of the prompt: ``prompt[start:end]``."""
        prompt = self.prompt.encode("utf-8")
        ranges = []
        byte = character = 0
        for start, end in self.learned:
            first = character + len(prompt[byte:start].decode("utf-8"))
            character = first + len(prompt[start:end].decode("utf-8"))
            byte = end
            ranges.append((first, character))
        return ranges

    @property
    def texts(self) -> list[str]:
        """The texts that the model writes."""
        prompt = self.prompt
        return [prompt[start:end] for start, end in self.characters]

    @property
    def turns(self) -> list[Turn]:
        """The assistant's turns, in the order of the conversation."""
        return [Turn(turn) for turn in self._document["turns"]]

    def of_tokens(self, offsets: Iterable[tuple[int, int]]) -> list[int]:
        """Return 1 for each token that the model writes, and 0 for the others.

        ``offsets`` are the first character of each token and the character behind its last, as a
        tokenizer of transformers gives them with ``return_offsets_mapping=True``. Give it the
        ``prompt`` with ``add_special_tokens=False``.
        """
        from bisect import bisect_right

        learned = self.characters
        ends = [end for _, end in learned]

        def is_learned(first: int, last: int) -> bool:
            at = bisect_right(ends, first)
            return at < len(ends) and learned[at][0] < last

        # An array or a tensor gives its numbers much faster as a list.
        to_list = getattr(offsets, "tolist", None)
        pairs: Iterable[tuple[int, int]] = offsets if to_list is None else to_list()
        return [int(is_learned(first, last)) for first, last in pairs]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, as ``rolecall mask --format json`` prints a case."""
        return self._document

    def __str__(self) -> str:
        size = len(self.prompt.encode("utf-8"))
        written = sum(end - start for start, end in self.learned)
        count = len(self.turns)
        lines = [f"the model writes {written} of {size} bytes, in {count} turn{'s'[: count != 1]}"]
        prompt, at = self.prompt, 0
        places = zip(self.characters + [(len(prompt),) * 2], self.learned + [(size, size)])
        byte = 0
        for (first, last), (start, end) in places:
            for word, text, place in (
                ("reads ", prompt[at:first], (byte, start)),
                ("writes", prompt[first:last], (start, end)),
            ):
                if text:
                    shown = text.replace("\n", "␊")
                    lines.append(f"{word} {place[0]}..{place[1]}  {shown}")
            at, byte = last, end
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<rolecall.Mask of {len(self._document['turns'])} turns>"


def read(text: str) -> list[Mask]:
    """Read the JSON of the masks of some cases."""
    import json

    return [Mask(mask) for mask in json.loads(text)["masks"]]
