"""Plain words of YAML as the library that descheduler reads with takes them: YAML 1.1, where ``on`` is true."""

from __future__ import annotations

import re
from typing import Any, Final

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_BASES: Final = {"0x": 16, "0b": 2, "0o": 8}
_DECIMAL: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_LARGEST: Final = 2**64 - 1
_LARGEST_WRITTEN_OUT: Final = 1e21
"""A float below, if it is whole, is written in JSON as a whole number, which a field of that type takes."""


def plain_value(text: str) -> Any:
    """What a scalar without quotes stands for; a number too large for its type stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    whole = _whole(digits)
    if whole is not None:
        return whole
    if not _DECIMAL.fullmatch(digits):
        return text
    number = float(digits)
    if abs(number) >= 1e300:
        return text
    return int(number) if number.is_integer() and abs(number) < _LARGEST_WRITTEN_OUT else number


def _whole(digits: str) -> int | None:
    """Also in base 16, 8 or 2; a leading zero means 8, as in C."""
    sign, rest = (digits[0], digits[1:]) if digits[0] in "+-" else ("", digits)
    base = _BASES.get(rest[:2].lower(), 10)
    if base != 10:
        rest = rest[2:]
    elif len(rest) > 1 and rest[0] == "0":
        base = 8
    if not rest.isascii() or not rest.isalnum() or len(rest) > 70:
        return None
    try:
        found = int(sign + rest, base)
    except ValueError:
        return None
    return found if -(2**63) <= found <= _LARGEST else None
