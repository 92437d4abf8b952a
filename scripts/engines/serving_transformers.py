"""What the adapters of servers share that call transformers."""

import datetime

import jinja2
import stand_ins
from serving import ParseError, Server, words
from transformers.tokenization_utils_base import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

NAMED_TOKENS = PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES


class FrozenClock(datetime.datetime):
    """The clock that `strftime_now` reads."""

    moment = None

    @classmethod
    def now(cls, tz=None):
        return cls.moment


class Tokenizer(PreTrainedTokenizerBase):
    """A tokenizer without tokens but the special ones."""

    @classmethod
    def of(cls, templates, tokens):
        named = {name: token for name, token in tokens.items() if name in NAMED_TOKENS}
        extra = {name: token for name, token in tokens.items() if name not in NAMED_TOKENS}
        return cls(chat_template=templates, **named, extra_special_tokens=extra)


class TransformersServer(Server):
    """A server whose templates transformers renders."""

    def set_clock(self, moment):
        chat_template_utils.datetime = FrozenClock
        FrozenClock.moment = moment

    def failure(self, error):
        if isinstance(error, stand_ins.Missing):
            raise error
        for cause in causes(error):
            if isinstance(cause, RecursionError):
                return {"outcome": "exceeded", "limit": "recursion"}
            # `raise_exception` raises this class itself; Jinja2 raises only classes derived from it.
            if type(cause) is jinja2.exceptions.TemplateError:
                return {"outcome": "raised", "message": str(cause)}
        lines = [line for cause in causes(error) for line in template_lines(cause)]
        line = lines[-1] if lines else None
        stage = "input" if line is None else "render"
        return {"outcome": "failed", "stage": stage, "message": words(error), "line": line}


def check(templates):
    """Refuses a template that cannot be parsed. Of several, each is compiled when it is first used."""
    try:
        if isinstance(templates, str):
            chat_template_utils._compile_jinja_template(templates)
    except RecursionError:
        raise ParseError({"outcome": "exceeded", "limit": "recursion"}) from None
    except Exception as error:
        line = getattr(error, "lineno", None)
        message = f"{type(error).__name__}: {error}"
        answer = {"outcome": "failed", "stage": "parse", "message": message, "line": line}
        raise ParseError(answer) from error


def causes(error):
    """An error and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__


def template_lines(error):
    """The lines of the template at which Python was, outermost first."""
    frame = error.__traceback__
    while frame:
        if frame.tb_frame.f_code.co_filename == "<template>":
            yield frame.tb_lineno
        frame = frame.tb_next
