"""JSON schemas of Python functions, as transformers 5.24 makes them of tools.

The result and the words of every refusal are those of ``transformers.utils.get_json_schema``. So is
what counts as a description: the Google format, with a block ``Args:``.
"""

from __future__ import annotations

import enum
import inspect
import json
import re
import types
import typing
from typing import Any, Callable, Union

from rolecall.errors import InputRefused

__all__ = ["DocstringParsingException", "TypeHintParsingException", "get_json_schema"]


class TypeHintParsingException(InputRefused):
    """The type hint of a parameter is missing, or no JSON schema can express it."""


class DocstringParsingException(InputRefused):
    """A function or one of its parameters has no description."""


#: The types whose values JSON has, with their names there.
_SCALARS: dict[type, str] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    type(None): "null",
}

#: The other types that have a name in a schema, without what they contain.
_CONTAINERS: dict[type, str] = {list: "array", tuple: "array", dict: "object"}

#: Media, by module and name: those libraries are not imported for the question.
_MEDIA = {("PIL.Image", "Image"): "image", ("torch", "Tensor"): "audio"}

_UNIONS = (Union, getattr(types, "UnionType", Union))

#: The headings that end a block of a docstring.
_HEADINGS = ("Args:", "Returns:", "Raises:")


def get_json_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON schema of a function, made of its signature and docstring.

    >>> def weather(city: str, days: int = 1) -> str:
    ...     '''
    ...     Look up the weather.
    ...
    ...     Args:
    ...         city: The name of the city
    ...         days: How many days to look ahead
    ...     '''
    ...     return "sunny"
    >>> schema = get_json_schema(weather)["function"]
    >>> schema["description"], schema["parameters"]["required"]
    ('Look up the weather.', ['city'])
    >>> schema["parameters"]["properties"]["days"]
    {'type': 'integer', 'description': 'How many days to look ahead'}

    :raises TypeHintParsingException: if a parameter has no type hint, or one that has no schema.
    :raises DocstringParsingException: if a description is missing.
    """
    name = getattr(function, "__name__", "operation")
    docstring = inspect.getdoc(function)
    if not docstring:
        raise DocstringParsingException(
            f"Cannot generate JSON schema for {name} because it has no docstring!"
        )
    described = _Docstring(docstring.strip())
    parameters, returned = _parameters(function, name)
    for parameter, schema in parameters["properties"].items():
        if parameter not in described.arguments:
            raise DocstringParsingException(
                f"Cannot generate JSON schema for {name} because the docstring has no description "
                f"for the argument '{parameter}'"
            )
        _describe(schema, described.arguments[parameter])
    schema = {"name": name, "description": described.summary, "parameters": parameters}
    if returned is not None:
        if described.returns is not None:
            returned["description"] = described.returns
        schema["return"] = returned
    return {"type": "function", "function": schema}


def schema_of_tool(tool: Any) -> dict[str, Any]:
    """Return the schema of a tool that is no mapping: of a function or a method."""
    if inspect.isfunction(tool) or inspect.ismethod(tool):
        return get_json_schema(tool)
    raise InputRefused(
        "Tools should either be a JSON schema, or a callable function with type hints and a "
        "docstring suitable for auto-conversion to a schema."
    )


def _describe(schema: dict[str, Any], description: str) -> None:
    """Add a description to a schema. Choices at its end become the schema's only values."""
    choices = re.search(r"\(choices:", description, re.IGNORECASE)
    closed = description.rstrip()
    if choices and closed.endswith(")"):
        values = json.loads(closed[choices.end() : -1].lstrip())
        schema["enum"] = [one.strip() if isinstance(one, str) else one for one in values]
        description = description[: choices.start()].strip()
    schema["description"] = description


def _parameters(
    function: Callable[..., Any], name: str
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the schemas of the parameters, and of what is returned if there is one."""
    hints = typing.get_type_hints(function)
    signature = inspect.signature(function).parameters
    receiver = next(iter(signature), None)
    if receiver not in ("self", "cls") or signature[receiver].annotation is not inspect.Parameter.empty:
        receiver = None
    required = []
    for parameter in signature.values():
        if parameter.name == receiver:
            continue
        if parameter.annotation is inspect.Parameter.empty:
            raise TypeHintParsingException(
                f"Argument {parameter.name} is missing a type hint in function {name}"
            )
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    properties: dict[str, Any] = {}
    returned = None
    for parameter_name, hint in hints.items():
        if parameter_name == "return":
            try:
                returned = _schema(hint)
            except TypeHintParsingException:
                # A model never writes it, so it need not be described.
                returned = None
        elif parameter_name != receiver:
            properties[parameter_name] = _schema(hint)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema, returned


def _schema(hint: Any) -> dict[str, Any]:
    """Return the schema of a type hint."""
    origin = typing.get_origin(hint)
    inner = typing.get_args(hint)
    if origin is None:
        is_enum = isinstance(hint, type) and issubclass(hint, enum.Enum)
        return _of_enum(hint) if is_enum else _of_bare(hint)
    if origin in _UNIONS:
        return _of_union(inner)
    if origin is typing.Literal and inner:
        if any(type(value) not in _SCALARS for value in inner):
            raise TypeHintParsingException(
                "Only the valid python literals can be listed in typing.Literal."
            )
        return _of_values(list(inner))
    if origin is list:
        return {"type": "array", "items": _schema(inner[0])} if inner else {"type": "array"}
    if origin is tuple:
        return _of_tuple(hint, inner)
    if origin is dict:
        values = {"additionalProperties": _schema(inner[1])} if len(inner) == 2 else {}
        return {"type": "object", **values}
    raise TypeHintParsingException(
        str(("Couldn't parse this type hint, likely due to a custom class or object: ", hint))
    )


def _of_bare(hint: Any) -> dict[str, Any]:
    """Return the schema of a hint that stands alone."""
    if hint is Any:
        return {}
    media = (getattr(hint, "__module__", None), getattr(hint, "__qualname__", None))
    # A hint that cannot be a key raises here, as it does in transformers.
    name = _SCALARS.get(hint) or _CONTAINERS.get(hint) or _MEDIA.get(media)  # type: ignore[arg-type]
    if name is None:
        raise TypeHintParsingException(
            f"Couldn't convert the type hint {hint!r} to a JSON schema, likely because it is a "
            "custom class or object. Supported type hints are basic types like int, float, str and "
            "bool, Enum classes, typing.Literal, and list, tuple, dict and Union types containing "
            "those. If you need a more complex schema than that, you can write the JSON schema for "
            "your tool by hand and pass that instead of the function."
        )
    return {"type": name}


def _of_enum(hint: Any) -> dict[str, Any]:
    """Return the schema of an enumeration: the values of its members."""
    values = [member.value for member in hint]
    if not values:
        raise TypeHintParsingException(
            f"The Enum {hint.__name__} has no members, so no value could ever match it."
        )
    if any(type(value) not in _SCALARS for value in values):
        raise TypeHintParsingException(
            f"The Enum {hint.__name__} has member values that cannot be written as JSON scalars.\n"
            f"Values: {values}\n"
            "Enum member values must be int, float, str, bool or None to be converted to a JSON "
            "schema."
        )
    return _of_values(values)


def _of_values(values: list[Any]) -> dict[str, Any]:
    """Return the schema of some values, and of no others."""
    names = list(dict.fromkeys(_SCALARS[type(value)] for value in values))
    return {"type": names if len(names) > 1 else names[0], "enum": values}


def _of_union(members: tuple[Any, ...]) -> dict[str, Any]:
    """Return the schema of a union. That it may be ``None`` is said apart."""
    schemas = [_schema(member) for member in members if member is not type(None)]
    schema: dict[str, Any]
    if len(schemas) == 1:
        schema = schemas[0]
    elif all(list(one) == ["type"] and isinstance(one["type"], str) for one in schemas):
        names = sorted({one["type"] for one in schemas})
        schema = {"type": names if len(names) != 1 else names[0]}
    else:
        schema = {"anyOf": schemas}
    if type(None) in members:
        schema["nullable"] = True
    return schema


def _of_tuple(hint: Any, inner: tuple[Any, ...]) -> dict[str, Any]:
    """Return the schema of a tuple of known length."""
    if not inner:
        return {"type": "array"}
    if len(inner) == 1:
        raise TypeHintParsingException(
            f"The type hint {str(hint).replace('typing.', '')} is a Tuple with a single element, "
            "which we do not automatically convert to JSON schema as it is rarely necessary. If "
            "this input can contain more than one element, we recommend using a list[] type "
            "instead, or if it really is a single element, remove the tuple[] wrapper and just pass "
            "the element directly."
        )
    if ... in inner:
        raise TypeHintParsingException(
            "Conversion of '...' is not supported in Tuple type hints. Use list[] types for "
            "variable-length inputs instead."
        )
    return {"type": "array", "prefixItems": [_schema(one) for one in inner]}


class _Docstring:
    """The parts of a docstring in Google's format."""

    def __init__(self, text: str) -> None:
        #: What stands before the first heading.
        self.summary = _until(text, _HEADINGS).strip()
        #: The descriptions of the parameters by name.
        self.arguments: dict[str, str] = {}
        arguments = re.search(r"\n\s*Args:\n", text)
        if arguments:
            block = _until(text[arguments.end() :], _HEADINGS[1:]).rstrip()
            lines = [line for line in block.split("\n") if line.strip()]
            self.arguments = _entries("\n".join(lines))
        #: What is returned, if there is a block for it.
        self.returns: str | None = None
        returns = re.search(r"\n\s*Returns:\n\s*", text)
        if returns:
            self.returns = _until(text[returns.end() :], _HEADINGS[2:]).strip()


def _until(text: str, headings: tuple[str, ...]) -> str:
    """Return what stands before the first of some headings. Any place in a line counts."""
    places = [text.find(heading) for heading in headings]
    return text[: min((place for place in places if place >= 0), default=len(text))]


#: A name, and a type in parentheses that says nothing more than the hint.
_ENTRY = re.compile(r"([ \t]*)(\w+)(?:[ \t]*\([^()\n]*\))?:")


def _entries(block: str) -> dict[str, str]:
    """Return the descriptions in a block of lines ``name: description``.

    A line that is indented deeper than the name belongs to its description, whatever it looks like.
    """
    entries: dict[str, str] = {}
    starts = [0, *(newline.end() for newline in re.finditer("\n", block))]
    end = 0
    for start in starts:
        entry = _ENTRY.match(block, start)
        if start < end or entry is None:
            continue
        indent, name = entry.groups()
        begin = entry.end() + len(block[entry.end() :]) - len(block[entry.end() :].lstrip())
        end = len(block) + 1
        for other in starts:
            is_deeper = block.startswith((indent + " ", indent + "\t"), other)
            if other > begin and not is_deeper and _ENTRY.match(block, other):
                end = other
                break
        entries[name] = re.sub(r"\s*\n+\s*", " ", block[begin : end - 1].strip())
    return entries
