"""Compares the schemas of many functions with those of the real transformers.

    python compare_json_schema.py
"""

import enum
import functools
import json
import sys
import typing
from typing import Any, Dict, List, Literal, Optional, Tuple, Union

from transformers.utils import get_json_schema as theirs

from rolecall import get_json_schema as ours

FUNCTIONS = []
COLOURS = enum.Enum("Colour", {"RED": "red", "BLUE": 2, "NONE": None})
EMPTY = enum.Enum("Empty", {})
ODD = enum.Enum("Odd", {"A": (1, 2)})


class Number(int, enum.Enum):
    ONE = 1
    TWO = 2


class Custom:
    pass


def add(hint, doc="Do it.\n\nArgs:\n    x: The value", default=None, returns=None):
    """A function with one parameter of this type."""
    space = {"hint": hint, "returns": returns}
    default = "" if default is None else f" = {default}"
    result = "" if returns is None else " -> returns"
    exec(f"def f(x: hint{default}){result}:\n    pass", space)
    space["f"].__doc__ = doc
    FUNCTIONS.append(space["f"])


for hint in (
    int, float, str, bool, type(None), list, tuple, dict, Any, None, object, bytes, set, complex,
    list[int], List[str], list[list[float]], tuple[int, str], Tuple[int, ...], tuple[int], tuple[()],
    dict[str, int], Dict[str, List[int]], dict[str, Any], Optional[int], Optional[list[int]],
    Union[int, str], Union[int, str, None], Union[list, tuple], Union[list[int], str],
    Union[Literal["a"], int], Union[Literal["a", None], None], Union[float, int], Literal["a", "b"], Literal[1, "a", None, True],
    Literal[1], Literal[b"a"], COLOURS, EMPTY, ODD, Number, Optional[Number], Custom, list[Custom],
    set[int], frozenset, typing.Callable[[int], int], typing.Iterable[int], typing.Sequence,
    typing.List, typing.Dict, typing.Tuple, typing.Annotated[int, "x"], "int", "list[int] | None",
    Optional[Any], Union[Any, int], Union[None], type, typing.Type[int],
):
    add(hint)

for doc in (
    None, "", "   ", "Only words.", "Args:\n    x: first line", "Do it.\nArgs:\n  x: y",
    "Do it.\n\nArgs:\n    x: one\n        two\n\n        three\n    y: four",
    "Do it.\n\nArgs:\n    x (int): typed", "Do it.\n\nArgs:\n    x(int, optional):\n        below (see): it\n    y\t(a: b): four", "Do it.\n\nArgs:\n    x ((a)): x\n    x (int) : y",
    "Do it.\n\nArgs:\n    y: one\n    x (str): two", "Do it.\n\nArgs:\n    x:\n        below",
    "Do it.\n\nArgs:\n    x:\n    y: swallowed", "Do it.\n\nArgs:\n    y: another",
    'Do it.\n\nArgs:\n    x: pick (choices: ["a ", "b", 1])',
    'Do it.\n\nArgs:\n    x: pick (CHOICES: ["a"])  ', 'Do it.\n\nArgs:\n    x: (choices: {"a": 1}) (choices: [1])',
    "Do it.\n\nArgs:\n    x: pick (choices: [1, 2)", "Do it.\n\nArgs:\n    x: pick (choices: 7)", 'Do it.\n\nArgs:\n    x: (choices: ["a"]) and more',
    "Do it.\n\nReturns:\n    the result\n\nRaises:\n    E: if",
    "Do it.\n\nArgs:\n    x: one\n\nReturns:\n    int: the\n    result\n\nRaises:\n    E: if",
    "Do it.\n\nArgs:\n    x: one Returns: inline\n\nReturns:\n    later",
    "Two\nlines.\n\n\nMore.\n\nArgs:\n    x: a: b: c\n      z: deeper\n    w: other",
    "Do it.\n\nArgs:\n\tx: tab\n\t\ty: deeper\n\tz: other", "Do it.\n\nArgs:\n    x: ü\u2003 \n    é: accent",
    "Do it.\n\nArgs:\n    nonsense\n    x: late", "Do it. Raises: early\n\nArgs:\n    x: one",
    "Do it.\n\n    Args:   \n    x: spaces after", "Do it.\n\nArgs:\n    *x: star\n    x: plain\n    x: twice",
):
    add(int, doc)
    add(Optional[str], doc, default="None", returns=int)
    add(int, doc, returns=Custom)


def no_hint(x):
    """Do it.

    Args:
        x: one
    """


def several(a: int, b: "str" = "b", *rest: int, c: bool = True, d: list[str], **more: str) -> None:
    """Do it.

    Args:
        a: one
        b: two
        rest: three
        c: four
        d: five
        more: six
    """


def unknown(a: "Nothing"):  # noqa: F821
    """Do it.

    Args:
        a: one
    """


class Kit:
    def method(self, a: int) -> str:
        """Do it.

        Args:
            a: one

        Returns:
            what
        """

    @classmethod
    def of_class(cls, a: int):
        """Do it.

        Args:
            a: one
        """

    @staticmethod
    def static(self: int, a: int):
        """Do it.

        Args:
            self: one
            a: two
        """

    def __call__(self, a: int):
        """Do it.

        Args:
            a: one
        """


def wrapped(function):
    @functools.wraps(function)
    def inner(*arguments):
        return function(*arguments)

    return inner


FUNCTIONS += [
    no_hint, several, unknown, Kit().method, Kit.method, Kit.of_class, Kit.static, Kit(), wrapped(several),
    functools.partial(several, 1), len, print, Kit, lambda x: x, json.dumps,
]


def result(make, function):
    try:
        # The order of keys counts, too.
        return json.dumps(make(function))
    except Exception as error:  # noqa: BLE001
        return (type(error).__name__, str(error))


def main():
    differ = 0
    for function in FUNCTIONS:
        one, other = result(theirs, function), result(ours, function)
        if one != other:
            differ += 1
            print(f"{function}\n{function.__doc__!r}\n  theirs: {one}\n  ours:   {other}")
    refused = sum(isinstance(result(theirs, function), tuple) for function in FUNCTIONS)
    count = len(FUNCTIONS)
    print(f"{count - differ} of {count} functions have the same schema, {refused} of them the same refusal")
    sys.exit(min(differ, 1))


main()
