"""Conversations in files: requests, logs and files for training."""

from __future__ import annotations

from rolecall import _rolecall

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any


__all__ = ["Conversation", "read_conversations"]


class Conversation:
    """A conversation of a file, as templates know it. Made by :func:`rolecall.read_conversations`."""

    __module__ = "rolecall"
    __slots__ = ("_document",)

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def name(self) -> str:
        """The number of the line where it begins, such as ``"3"``, ``"3-2"`` or ``"3-chosen"``."""
        name: str = self._document["name"]
        return name

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages."""
        messages: list[dict[str, Any]] = self._document["messages"]
        return messages

    @property
    def tools(self) -> list[dict[str, Any]] | None:
        """The tools, if it has any."""
        return self._document.get("tools")

    @property
    def keywords(self) -> dict[str, Any]:
        """The other arguments for ``apply_chat_template``: tools, documents and variables."""
        continues = self._document.get("continue_final_message", False)
        return {
            "tools": self.tools,
            "documents": self._document.get("documents"),
            "add_generation_prompt": self._document.get("add_generation_prompt", not continues),
            "continue_final_message": continues,
            **self._document.get("variables", {}),
        }

    def __repr__(self) -> str:
        return f"<rolecall.Conversation {self.name}: {len(self.messages)} messages>"


def read_conversations(place: str | os.PathLike[str]) -> list[Conversation]:
    """Read the conversations of a file, in every form that ``rolecall check MODEL FILE`` reads.

    What became something else, what is not read, and each line that is no conversation, become warnings.

    >>> import pathlib, rolecall, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "log.jsonl")
    ...     size = file.write_text('[{"role": "user", "content": "Hi"}]')
    ...     (one,) = rolecall.read_conversations(file)
    >>> template = rolecall.Template("{{ messages[0].content }}!")
    >>> template.apply_chat_template(one.messages, **one.keywords)
    'Hi!'

    :raises LoadError: if the file cannot be read, or nothing in it is a conversation.
    """
    import json
    import os
    import warnings

    document, notes = _rolecall.read_conversations(os.fsdecode(place))
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=2)
    return [Conversation(one) for one in json.loads(document)]
