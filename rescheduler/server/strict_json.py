"""JSON of a request, read strictly: nothing twice, nothing too deep, no numbers that JSON does not know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from rescheduler.model.printable import printable

DEEPEST: Final = 32
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)|[\[\]{}:,]', re.DOTALL)
"""A text, though it may not end, so that none is ever looked at twice; or a mark."""


class JsonError(Exception):
    """What is wrong, and at which byte."""


class _Member(NamedTuple):
    name: bytes
    at: int


def read_json(body: bytes) -> Any:
    """The data. Raises JsonError."""
    _require_shallow(body)
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "out of range" not in str(error):
            at = f" (byte {len(body)})" if "truncated" in str(error) else ""
            raise JsonError(f"not JSON: {printable(str(error), 200)}{at}") from None
        data = _with_large_numbers(body)
    _require_unlike_names(body)
    return data


def _with_large_numbers(body: bytes) -> Any:
    """The data with infinity for numbers that are too large: they are wrong where they stand, which is told later."""
    try:
        return json.loads(body, parse_int=float, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise JsonError(f"not JSON: {printable(str(error), 200)}") from None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _require_shallow(body: bytes) -> None:
    depth = 0
    for token in _TOKEN.finditer(body):
        if token.group() in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise JsonError(f"nested deeper than {DEEPEST} levels (byte {token.start()})")
        elif token.group() in b"]}":
            depth -= 1


def _require_unlike_names(body: bytes) -> None:
    """Decoders keep the last of two members of one name, and others the first: an attacker's way past a check."""
    seen: list[set[str]] = [set()]
    for kind, member in _members(body):
        if kind == b"{":
            seen.append(set())
        elif kind == b"}":
            seen.pop()
        elif member is not None:
            name = msgspec.json.decode(member.name, type=str)
            if name in seen[-1]:
                raise JsonError(f"the member {printable(name, 60)!r} stands there twice (byte {member.at})")
            seen[-1].add(name)


def _members(body: bytes) -> Iterator[tuple[bytes, _Member | None]]:
    """Braces, and the names of members, in their order; ``body`` is known to be JSON."""
    before: _Member | None = None
    for token in _TOKEN.finditer(body):
        text = token.group()
        if text in (b"{", b"}"):
            yield text, None
        elif text == b":":
            yield text, before
        before = _Member(text, token.start()) if text.startswith(b'"') else None
