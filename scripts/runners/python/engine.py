"""The engine under test: Jinja2, set up as transformers sets it up."""

import datetime
import functools
import json

import jinja2
import jinja2.ext
import jinja2.sandbox


class Refusal(Exception):
    """The template called `raise_exception`."""


class Generation(jinja2.ext.Extension):
    """`{% generation %}` prints its content."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise Refusal(message)


def load(source):
    """A function that renders a template; its `now` is the time of the clock."""
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception

    # A template may keep the function, so the function looks at the clock when it is called.
    environment.globals["strftime_now"] = lambda format: moment(render.now).strftime(format)
    compiled = functools.cache(lambda: environment.from_string(source))

    def render(variables):
        return compiled().render(variables)

    return render


def moment(now):
    return datetime.datetime.fromisoformat(now.removesuffix("Z"))
