"""Finds YAML anchors and aliases without parsing the whole text, so that a bomb is refused in seconds."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

import yaml

from rescheduler.adapters.kubernetes.decoding.errors import BrokenTextError

NOT_ALLOWED: Final = "anchors and aliases are not allowed; write the values out"
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# An anchor or alias follows white space, a bracket or a comma. Texts of several lines may hold the same.
_CANDIDATE: Final = re.compile(rb"(?:\A|(?<=[\s\[{,]))[&*][A-Za-z0-9_]")
_MOST_CANDIDATES: Final = 50
_LARGEST_EXCERPT: Final = 2**18


def refuse_early(text: bytes) -> None:
    """Look closely at each place that might be an anchor or alias. Raises BrokenTextError if one is.

    What this overlooks (it reads excerpts) is refused by the parser itself, only later.
    """
    for match in islice(_CANDIDATE.finditer(text), _MOST_CANDIDATES):
        start, end = _list_entry(text, match.start())
        line = _line_of_alias(text[start:end])
        if line is not None:
            before = text.count(b"\n", 0, start)
            raise BrokenTextError(f"line {before + line + 1}: {NOT_ALLOWED}")


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
