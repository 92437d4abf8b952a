import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal, Protocol, TypeAlias, final, overload

from rolecall.card import Card
from rolecall.coverage import Coverage
from rolecall.errors import RolecallError
from rolecall.mask import Mask
from rolecall.trace import Trace

_Message: TypeAlias = Mapping[str, Any] | Any
_Tools: TypeAlias = Iterable[Mapping[str, Any] | Callable[..., Any]] | None
_Documents: TypeAlias = Iterable[Mapping[str, Any]] | None
_Front: TypeAlias = Literal[
    "raw", "transformers", "transformers-processor", "ollama", "ollama-openai"
]
_Now: TypeAlias = str | date | None
_Limits: TypeAlias = Mapping[str, int | str] | str | None

class _Array(Protocol):
    def tolist(self) -> Any: ...

_Ids: TypeAlias = Sequence[int] | Sequence[Sequence[int]] | _Array

__version__: str

@final
class Template:
    def __new__(
        cls,
        source: str | Mapping[str, str],
        *,
        special_tokens: Mapping[str, Any] | None = None,
        name: str = "template",
        dialect: Literal["jinja", "go"] = "jinja",
        front: _Front | None = None,
        response_template: Mapping[str, Any] | None = None,
        limits: _Limits = None,
    ) -> Template: ...
    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: _Tools = None,
        documents: _Documents = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        *,
        now: _Now = None,
        tokenize: Literal[False] = False,
        **variables: Any,
    ) -> str: ...
    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Sequence[Mapping[str, Any]]],
        tools: _Tools = None,
        documents: _Documents = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        *,
        now: _Now = None,
        tokenize: Literal[False] = False,
        **variables: Any,
    ) -> list[str]: ...
    def render(
        self,
        messages: Iterable[_Message],
        tools: _Tools = None,
        documents: _Documents = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        *,
        front: _Front | None = None,
        now: _Now = None,
        **variables: Any,
    ) -> str: ...
    @overload
    def render_many(
        self,
        conversations: Iterable[Iterable[_Message]],
        tools: _Tools = None,
        documents: _Documents = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        *,
        front: _Front | None = None,
        now: _Now = None,
        errors: Literal["raise"] = "raise",
        **variables: Any,
    ) -> list[str]: ...
    @overload
    def render_many(
        self,
        conversations: Iterable[Iterable[_Message]],
        tools: _Tools = None,
        documents: _Documents = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        *,
        front: _Front | None = None,
        now: _Now = None,
        errors: Literal["return"],
        **variables: Any,
    ) -> list[str | RolecallError]: ...
    def trace(
        self,
        messages: Iterable[_Message],
        tools: _Tools = None,
        documents: _Documents = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        *,
        front: _Front | None = None,
        now: _Now = None,
        **variables: Any,
    ) -> Trace: ...
    @overload
    def mask(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: _Tools = None,
        documents: _Documents = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        *,
        front: _Front | None = None,
        now: _Now = None,
        **variables: Any,
    ) -> Mask: ...
    @overload
    def mask(
        self,
        messages: Sequence[Sequence[Mapping[str, Any]]],
        tools: _Tools = None,
        documents: _Documents = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        *,
        front: _Front | None = None,
        now: _Now = None,
        **variables: Any,
    ) -> list[Mask]: ...
    def cover(
        self,
        cases: Iterable[Iterable[_Message] | Mapping[str, Any]],
        *,
        front: _Front | None = None,
    ) -> Coverage: ...
    def check(
        self,
        *,
        select: str | Iterable[str] | None = None,
        ignore: str | Iterable[str] | None = None,
        like: Any = None,
        served: bool | str | Iterable[str] | None = None,
        conversations: str | os.PathLike[str] | None = None,
    ) -> Card: ...
    @overload
    def parse_response(
        self,
        response: str,
        schema: Mapping[str, Any] | None = None,
        *,
        prefix: str | _Ids | None = None,
        tools: _Tools = None,
        tokenizer: Any = None,
    ) -> dict[str, Any]: ...
    @overload
    def parse_response(
        self,
        response: list[str],
        schema: Mapping[str, Any] | None = None,
        *,
        prefix: str | Sequence[str] | _Ids | None = None,
        tools: _Tools = None,
        tokenizer: Any = None,
    ) -> list[dict[str, Any]]: ...
    @overload
    def parse_response(
        self,
        response: _Ids,
        schema: Mapping[str, Any] | None = None,
        *,
        prefix: str | Sequence[str] | _Ids | None = None,
        tools: _Tools = None,
        tokenizer: Any,
    ) -> Any: ...
    def get_response_parser(
        self,
        response_template: Mapping[str, Any] | None = None,
        *,
        prefix: str | None = None,
        tools: _Tools = None,
    ) -> ResponseParser: ...
    @property
    def reads_answers(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def dialect(self) -> Literal["jinja", "go"]: ...
    @property
    def front(self) -> _Front: ...
    @property
    def special_tokens(self) -> dict[str, str]: ...
    @property
    def templates(self) -> dict[str, str]: ...

@final
class ResponseParser:
    @property
    def initial_events(self) -> list[dict[str, Any]]: ...
    def feed(self, text: str) -> list[dict[str, Any]]: ...
    def finalize(self) -> tuple[dict[str, Any], list[dict[str, Any]]]: ...

def run(arguments: list[str], again: list[str]) -> int: ...
def restore(state: str) -> Template: ...
def load(place: str, limits: _Limits) -> tuple[list[Template], list[str]]: ...
def check(
    template: Template,
    select: list[str],
    ignore: list[str],
    like: Template | None,
    served: list[str] | None,
    conversations: str | None,
) -> tuple[str, str]: ...
def read_conversations(place: str) -> tuple[str, list[str]]: ...
def cover(template: Template, cases: Iterable[Any], front: str | None) -> str: ...
def diff(a: Template, b: Template, names: tuple[str, str]) -> tuple[str, str]: ...
def engine_names(only: list[str]) -> list[str]: ...
def engine_tests(
    function: Callable[..., str],
    name: str,
    takes_now: bool,
    only: list[str],
    expected_failures: str | None,
    chosen: set[str] | None,
) -> list[tuple[str, bool, str | None]]: ...
