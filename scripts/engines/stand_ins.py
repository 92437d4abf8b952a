"""Stand-ins for modules that a parser imports but does not need in order to read a text: torch,
xgrammar, and the parts of a server around its parsers.

Every name in such a module is a class that stands for anything: it can be a base class, a type, a
decorator, or be called. Once all is imported, `seal` ends that: then whoever calls a stand-in, or reads
a name of it, fails. So no stand-in decides what is read from a text.
"""

import importlib.machinery
import sys
import sysconfig
import types

SEALED = []


class Missing(Exception):
    """A parser needs what is not there."""


def seal():
    """From now on, stand-ins cannot be used."""
    SEALED.append(True)


def check(name):
    if SEALED:
        raise Missing(f"it needs {name}, which is not there")


class Anything(type):
    """The type of all stand-ins."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        check(f"{cls.__name__}.{name}")
        return stand_in(name)

    def __getitem__(cls, _):
        return cls

    def __or__(cls, other):
        return cls

    __ror__ = __or__

    def __iter__(cls):
        return iter(())

    def __len__(cls):
        return 0

    def __bool__(cls):
        return False


def stand_in(name):
    """A class that stands for anything."""

    def new(cls, *arguments, **named):
        # Other classes may be derived from it.
        if cls is made:
            check(name)
        # A decorator leaves alone what it decorates.
        is_decorated = len(arguments) == 1 and not named and callable(arguments[0])
        if cls is made and is_decorated:
            return arguments[0]
        return object.__new__(cls)

    def attribute(self, asked):
        if asked.startswith("__"):
            raise AttributeError(asked)
        return getattr(made, asked)

    def schema(cls, _source, _handler):
        from pydantic_core import core_schema

        return core_schema.any_schema()

    body = {
        "__init_subclass__": classmethod(lambda cls, **named: None),
        "__new__": new,
        "__init__": lambda self, *arguments, **named: None,
        "__call__": lambda self, *arguments, **named: made(*arguments, **named),
        "__getattr__": attribute,
        "__get_pydantic_core_schema__": classmethod(schema),
    }
    made = Anything(name, (), body)
    return made


# What parsers really need of modules that are not there.
VALUES = {}


class Module(types.ModuleType):
    """A module of which every name is a stand-in."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = VALUES.get(name) or stand_in(name)
        setattr(self, name, made)
        return made


class Finder:
    """Finds stand-ins for modules of a package in a folder, and for whole other packages."""

    def __init__(self, folder, real, others):
        self.folder = folder
        self.package = real[0].split(".")[0]
        # With everything in it if its name ends with a dot.
        self.real = real
        self.others = others

    def is_real(self, name):
        return any(name == it or f"{name}.".startswith(it) and it.endswith(".") for it in self.real)

    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in self.others and (top != self.package or self.is_real(name)):
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        if top == self.package:
            # There may be real modules in it.
            spec.submodule_search_locations.append(f"{self.folder}/{name.replace('.', '/')}")
        return spec

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


def install(names, others, **values):
    """From now on, all modules of a package are stand-ins but those that a file names. So are other
    packages. `values` are what parsers really need of those, by their names."""
    with open(names, encoding="utf-8") as file:
        real = [line.strip() for line in file if not line.startswith("#")]
    VALUES.update(values)
    sys.meta_path.insert(0, Finder(sysconfig.get_path("purelib"), real, others))
