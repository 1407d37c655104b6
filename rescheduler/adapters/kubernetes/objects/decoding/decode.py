"""Bytes to slim structs, with errors that name the field."""

from __future__ import annotations

import re
from collections.abc import Hashable
from threading import Lock
from typing import Any, Final, TypeVar, cast

import msgspec

from rescheduler.model.printable import shortened

# What is wrong with one object, and where in it.


class ObjectError(ValueError):
    """A field of one object cannot be used.

    ``path`` as people write it (``spec.containers[0].image``; empty: the object as a whole), ``problem`` what was
    found and what was wanted, ``label`` the object's kind and name, or its position, once that is known.
    """

    def __init__(self, path: str, problem: str, label: str = "") -> None:
        """All three are made printable when the error is shown."""
        super().__init__(path, problem, label)
        self.path = path
        self.problem = problem
        self.label = label

    def __str__(self) -> str:
        """``Pod default/a: spec.nodeName: problem``."""
        return ": ".join(shortened(part, 300) for part in (self.label, self.path, self.problem) if part)


class AmountError(ObjectError):
    """An amount that the API server accepts, and that is more than is counted here: it costs that object alone."""


class BrokenTextError(ValueError):
    """The bytes are no JSON at all. ``offset``: the byte where reading stopped, None where the parser does not say."""

    def __init__(self, problem: str, offset: int | None = None) -> None:
        """``offset`` counts from the start of the bytes that were given."""
        super().__init__(problem)
        self.problem = problem
        self.offset = offset


T = TypeVar("T")

_AT: Final = re.compile(r"^(.*?)(?: - at `(?:key in )?\$(.*)`)?$", re.DOTALL)
_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_MISSING: Final = re.compile(r"Object missing required field `(\w+)`")


_making: Final = Lock()
_made: Final[dict[Hashable, msgspec.json.Decoder[Any]]] = {}
"""One for each type that our code names, whatever is decoded."""


def decoder_of(wanted: type[T]) -> msgspec.json.Decoder[T]:
    """The decoder of a type, made once: two threads that make one of the same structs crash the interpreter."""
    found = _made.get(cast("Hashable", wanted))
    if found is None:
        with _making:
            found = _made[cast("Hashable", wanted)] = msgspec.json.Decoder(wanted)
    return cast("msgspec.json.Decoder[T]", found)


def decode(raw: bytes | msgspec.Raw | memoryview, wanted: type[T], path: str = "") -> T:
    """Decode JSON of a known type that lies at ``path`` of an object.

    Raises ObjectError for a value of another type, BrokenTextError for what is no JSON.
    """
    try:
        return decoder_of(wanted).decode(raw)
    except msgspec.ValidationError as error:
        raise _object_error(str(error), raw, path) from error
    except msgspec.DecodeError as error:
        raise broken_text(error) from error
    except UnicodeDecodeError as error:
        raise ObjectError(path, "holds text that is not UTF-8") from error
    except RecursionError as error:
        raise ObjectError(path, "is nested too deeply") from error


def broken_text(error: msgspec.DecodeError) -> BrokenTextError:
    """The parser's complaint, with the offset taken out of its words."""
    match = _BYTE.search(str(error))
    text = _BYTE.sub("", str(error)).strip().removeprefix("JSON is malformed: ")
    return BrokenTextError(text, int(match.group(1)) if match else None)


def joined(path: str, part: str) -> str:
    """``spec`` and ``nodeName`` as ``spec.nodeName``, ``spec`` and ``[0]`` as ``spec[0]``."""
    return path + part if not path or not part or part.startswith("[") else f"{path}.{part}"


def _object_error(message: str, raw: bytes | msgspec.Raw | memoryview, path: str) -> ObjectError:
    match = _AT.match(message)
    problem, inner = (match.group(1), match.group(2) or "") if match else (message, "")
    inner = _with_keys(raw, inner).removeprefix(".")
    whole = joined(path, inner) if inner else path
    missing = _MISSING.search(problem)
    if missing:
        return ObjectError(joined(whole, missing.group(1)), "is missing")
    return ObjectError(whole, _in_words(problem))


def _in_words(problem: str) -> str:
    """``Expected `int | null`, got `str``` as ``wanted whole number, found text``."""
    names = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false", "object": "mapping"}
    words = problem.replace("Expected ", "wanted ", 1).replace(", got ", ", found ", 1)
    words = words.replace(" | null`", "`").replace("`array`", "`list`")
    return re.sub(r"`(\w+)`", lambda match: names.get(match.group(1), match.group(1)), words).replace("`", "")


def _with_keys(raw: bytes | msgspec.Raw | memoryview, inner: str) -> str:
    """Name the key that the parser writes as ``[...]``: the first of that mapping whose value is no text."""
    if "[...]" not in inner:
        return inner
    before, _, after = inner.partition("[...]")
    try:
        value: Any = msgspec.json.decode(raw)
        for key, index in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", before):
            value = value[key] if key else value[int(index)]
        name = next(key for key, item in value.items() if not isinstance(item, str))
    except (ValueError, LookupError, TypeError, AttributeError, StopIteration, RecursionError):
        return inner
    return f"{before}.{shortened(name)}{after}"
