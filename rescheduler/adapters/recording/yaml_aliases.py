"""Finds YAML anchors and aliases in large texts without parsing them, so that a bomb is refused in seconds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

import yaml

from rescheduler.adapters.kubernetes.decoding.errors import BrokenTextError
from rescheduler.adapters.recording.limits import LARGEST_YAML_WITH_ALIASES_BYTES

_NOT_ALLOWED: Final = "anchors and aliases are not allowed in a text of this size; write the values out"
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BEFORE: Final = b" \t\r\n[{,"
_NAME: Final = re.compile(rb"[A-Za-z0-9_]")
_MOST_CANDIDATES: Final = 50
_LARGEST_EXCERPT: Final = 2**18


def refuse_early(text: bytes) -> None:
    """Look closely at places in a large text that might be anchors or aliases. Raises BrokenTextError if one is.

    What this overlooks (it reads excerpts), and aliases in small texts, may not expand beyond a limit.
    """
    if len(text) <= LARGEST_YAML_WITH_ALIASES_BYTES:
        return
    for position in chain(*(islice(_candidates(text, mark), _MOST_CANDIDATES) for mark in (b"&", b"*"))):
        start, end = _list_entry(text, position)
        line = _line_of_alias(text[start:end])
        if line is not None:
            before = text.count(b"\n", 0, start)
            raise BrokenTextError(f"line {before + line + 1}: {_NOT_ALLOWED}")


def _candidates(text: bytes, mark: bytes) -> Iterator[int]:
    """Where a mark follows white space, a bracket or a comma, and a name follows it.

    Texts that span several lines may hold the same. Searched for by hand: a pattern would take ten times as long.
    """
    position = text.find(mark)
    while position >= 0:
        if (position == 0 or text[position - 1] in _BEFORE) and _NAME.match(text, position + 1):
            yield position
        position = text.find(mark, position + 1)


def _list_entry(text: bytes, position: int) -> tuple[int, int]:
    """The entry of the outermost list (``- ...`` at the start of a line) or document around a position."""
    earliest = max(0, position - _LARGEST_EXCERPT)
    start = max(text.rfind(b"\n- ", earliest, position), text.rfind(b"\n---", earliest, position)) + 1
    end = text.find(b"\n- ", position, position + _LARGEST_EXCERPT)
    return start or earliest, end if end >= 0 else min(len(text), position + _LARGEST_EXCERPT)


def _line_of_alias(excerpt: bytes) -> int | None:
    try:
        for event in yaml.parse(excerpt, Loader=_LOADER):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                return event.start_mark.line if event.start_mark else 0
    except (yaml.YAMLError, UnicodeDecodeError):
        return None
    return None
