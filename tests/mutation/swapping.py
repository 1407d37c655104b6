"""Puts a faulty text in the place of a module that is imported already, by giving its functions other code."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType


class NotSwappableError(Exception):
    """The fault stands where only a new import brings it into force."""


def swap(name: str, text: str) -> None:
    """Let module ``name`` do what a text says. Raises NotSwappableError where more than functions' code differs."""
    module = sys.modules[name]
    other = ModuleType(name)
    other.__dict__.update({"__file__": module.__file__, "__package__": module.__package__})
    before = compile(_source(module), name, "exec")
    after = compile(text, name, "exec")
    if _outline(before) != _outline(after):
        raise NotSwappableError
    sys.modules[name] = other
    try:
        exec(after, vars(other))
    finally:
        sys.modules[name] = module
    for old, new in _pairs(vars(module), vars(other), name):
        if old.__code__.co_freevars != new.__code__.co_freevars:
            raise NotSwappableError
        old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__


def _source(module: ModuleType) -> str:
    """Its text as faulty ones are written, without comments."""
    assert module.__file__ is not None
    return ast.unparse(ast.parse(Path(module.__file__).read_text(encoding="utf-8")))


def _outline(code: CodeType) -> object:
    """What a module or a class does when it is made, without what its functions do when they are called."""
    inner = tuple(_outline(item) if _is_class(item) else item.co_name for item in _codes(code))
    constants = tuple(repr(item) for item in code.co_consts if not isinstance(item, CodeType))
    return code.co_code, code.co_names, constants, inner


def _codes(code: CodeType) -> list[CodeType]:
    return [item for item in code.co_consts if isinstance(item, CodeType)]


def _is_class(code: CodeType) -> bool:
    return "__qualname__" in code.co_names


def _pairs(
    old: Mapping[str, object], new: Mapping[str, object], module: str
) -> Iterator[tuple[FunctionType, FunctionType]]:
    """Functions of the same name that are of this module, those of its classes too."""
    for name, before in old.items():
        after = new.get(name)
        first, second = _plain(before), _plain(after)
        if isinstance(first, FunctionType) and isinstance(second, FunctionType) and first.__module__ == module:
            yield first, second
        elif isinstance(before, type) and isinstance(after, type) and before.__module__ == module:
            yield from _pairs(vars(before), vars(after), module)


def _plain(found: object) -> object:
    """The function under what decorators put around it."""
    if isinstance(found, property):
        return found.fget
    if isinstance(found, cached_property):
        return found.func
    if isinstance(found, classmethod | staticmethod):
        return found.__func__
    wrapped = getattr(found, "__wrapped__", None)
    return found if wrapped is None else _plain(wrapped)
