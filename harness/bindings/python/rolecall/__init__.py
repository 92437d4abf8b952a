"""Chat templates of language models: prompts as applications make them, and report cards.

>>> import rolecall
>>> template = rolecall.Template(
...     "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}"
...     "{% if add_generation_prompt %}<assistant>{% endif %}",
...     special_tokens={"eos_token": "</s>"},
... )
>>> template.apply_chat_template([{"role": "user", "content": "Hi!"}])
'<user>Hi!</s><assistant>'
"""

from __future__ import annotations

from rolecall import _rolecall
from rolecall._rolecall import ResponseParser, Template, __version__
from rolecall.card import Card, Finding, check
from rolecall.conversation import Conversation, read_conversations
from rolecall.coverage import Coverage, Place
from rolecall.difference import CaseDifference, Diff, diff
from rolecall.engine import EngineRun, EngineSuite, EngineTest, hold_to_suite, run
from rolecall.errors import (
    ContractsBroken,
    EngineCrashed,
    EngineDiffers,
    InputRefused,
    LimitExceeded,
    LoadError,
    ResponseError,
    RolecallError,
    TemplateError,
    TemplateFailed,
    TemplateRaised,
    TemplateSyntaxError,
)
from rolecall.mask import Mask, Turn
from rolecall.shown import is_source
from rolecall.trace import Span, Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "Card",
    "CaseDifference",
    "ContractsBroken",
    "Conversation",
    "Coverage",
    "Diff",
    "EngineCrashed",
    "EngineDiffers",
    "EngineRun",
    "EngineSuite",
    "EngineTest",
    "Finding",
    "InputRefused",
    "LimitExceeded",
    "LoadError",
    "Mask",
    "Place",
    "ResponseError",
    "ResponseParser",
    "RolecallError",
    "Span",
    "Template",
    "TemplateError",
    "TemplateFailed",
    "TemplateRaised",
    "TemplateSyntaxError",
    "Trace",
    "Turn",
    "__version__",
    "check",
    "diff",
    "from_tokenizer",
    "get_json_schema",
    "hold_to_suite",
    "load",
    "read_conversations",
    "run",
]


def load(place: Any, *, name: str | None = None, limits: Any = None) -> Template:
    """Load a template by what one types after ``rolecall check``.

    It may also be the text of a template, a tokenizer of transformers, or a template. A place is the folder of a model, a template file, a GGUF file, a Modelfile, or a model by name:
    ``hf:ORG/NAME`` or ``ollama:NAME``. What the command would fetch is fetched. If there are several
    templates at the place, ``name`` says which one is meant. What there is to say about the files
    becomes a warning.

    >>> import pathlib, rolecall, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "hello.jinja")
    ...     size = file.write_text("Hello {{ messages[0].content }}!")
    ...     template = rolecall.load(file)
    >>> template.render([{"role": "user", "content": "you"}])
    'Hello you!'

    :raises LoadError: if there is no such place, if no template is there, or if there are several.
    """
    import os
    import warnings

    if isinstance(place, Template):
        if limits is not None:
            raise InputRefused("a template keeps the limits that it was made with")
        return place
    if is_source(place):
        return Template(place, name=name or "template", limits=limits)
    if not isinstance(place, (str, os.PathLike)):
        return from_tokenizer(place, name=name, limits=limits)
    text = os.fsdecode(place)
    templates, notes = _rolecall.load(text, limits)
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=2)
    if name is not None:
        found = [template for template in templates if template.name == name]
    else:
        found = templates
    if len(found) == 1:
        return found[0]
    names = ", ".join(template.name for template in templates)
    if name is not None:
        raise LoadError(f"{text} has no template named {name}; it has {names}")
    raise LoadError(f"{text} has {len(templates)} templates, so name one of them: {names}")


def from_tokenizer(tokenizer: Any, *, name: str | None = None, limits: Any = None) -> Template:
    """Take the template of a tokenizer or a processor of transformers.

    Anything with ``chat_template`` and ``special_tokens_map`` will do. A processor has those tokens
    in its ``tokenizer``.

    >>> import rolecall
    >>> class Tokenizer:
    ...     chat_template = "{{ bos_token }}{{ messages[0].content }}"
    ...     special_tokens_map = {"bos_token": "<s>"}
    >>> rolecall.from_tokenizer(Tokenizer()).render([{"role": "user", "content": "Hi"}])
    '<s>Hi'

    :raises InputRefused: if it has no template.
    """
    template = getattr(tokenizer, "chat_template", None)
    if not template:
        raise InputRefused(f"this {type(tokenizer).__name__} has no chat_template")
    if isinstance(template, (list, tuple)):
        # As the file tokenizer_config.json has several.
        template = {one["name"]: one["template"] for one in template}
    tokens = getattr(tokenizer, "special_tokens_map", None)
    is_processor = tokens is None and hasattr(tokenizer, "tokenizer")
    if is_processor:
        tokens = getattr(tokenizer.tokenizer, "special_tokens_map", None)
    path = str(getattr(tokenizer, "name_or_path", "") or "")
    return Template(
        template,
        special_tokens=tokens,
        name=name or path.rstrip("/").rsplit("/", 1)[-1] or "tokenizer",
        front="transformers-processor" if is_processor else "transformers",
        response_template=getattr(
            tokenizer.tokenizer if is_processor else tokenizer, "response_template", None
        ),
        limits=limits,
    )


def get_json_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON schema of a function, as transformers makes it.

    See :func:`rolecall.json_schema.get_json_schema`.
    """
    from rolecall.json_schema import get_json_schema

    return get_json_schema(function)
