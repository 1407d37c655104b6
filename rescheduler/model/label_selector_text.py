"""Label selectors as kubectl's ``-l`` reads them: ``app=web,tier!=db,env in (a, b),!legacy,size>5``."""

from __future__ import annotations

import re
from typing import Final

from rescheduler.model.objects.constraints import LabelSelector, Requirement

_NAME: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LABEL_KEY: Final = rf"(?:[a-z0-9](?:[-a-z0-9.]{{0,251}}[a-z0-9])?/)?{_NAME}"
"""Keys of labels as Kubernetes admits them, as a regular expression: a selector with another could never match."""
LABEL_VALUE: Final = rf"(?:{_NAME})?"
"""Values of labels, which may be empty."""
_EQUALS = re.compile(rf"({LABEL_KEY})\s*(==|=|!=)\s*({LABEL_VALUE})")
_AMONG = re.compile(rf"({LABEL_KEY})\s+(in|notin)\s*\(\s*({LABEL_VALUE}(?:\s*,\s*{LABEL_VALUE})*)\s*\)")
_COMPARED = re.compile(rf"({LABEL_KEY})\s*([<>])\s*([-+]?[0-9]{{1,18}})", re.ASCII)
_PRESENCE = re.compile(rf"(!?)\s*({LABEL_KEY})")
_PIECE = re.compile(r"((?:[^,(]|\([^)]*\))+)(?:,|$)")
_LONGEST = 4096


def parse_label_selector(text: str) -> LabelSelector:
    """Read a selector; an empty text selects everything. Raises ValueError."""
    if len(text) > _LONGEST:
        raise ValueError(f"a selector of {len(text)} characters; the longest read is {_LONGEST}")
    requirements, position = [], 0
    while position < len(text.rstrip()):
        match = _PIECE.match(text, position)
        if match is None:
            raise ValueError(_complaint(text[position:]))
        requirements.append(_requirement(match.group(1).strip()))
        position = match.end()
    if text.rstrip().endswith(","):
        raise ValueError(f"{text!r} ends with a comma; write key=value, key!=value, key in (a,b), key or !key")
    return LabelSelector(tuple(requirements))


def _requirement(piece: str) -> Requirement:
    if match := _EQUALS.fullmatch(piece):
        key, operator, value = match.groups()
        return Requirement(key, "NotIn" if operator == "!=" else "In", (value,))
    if match := _AMONG.fullmatch(piece):
        key, operator, values = match.groups()
        names = tuple(sorted({value.strip() for value in values.split(",")}))
        return Requirement(key, "In" if operator == "in" else "NotIn", names)
    if match := _COMPARED.fullmatch(piece):
        key, operator, value = match.groups()
        return Requirement(key, "Gt" if operator == ">" else "Lt", (value,))
    if match := _PRESENCE.fullmatch(piece):
        return Requirement(match.group(2), "DoesNotExist" if match.group(1) else "Exists")
    raise ValueError(_complaint(piece))


def _complaint(piece: str) -> str:
    return f"{piece[:60]!r} is no label selector; write key=value, key!=value, key in (a,b), key or !key"
