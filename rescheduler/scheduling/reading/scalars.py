"""Plain YAML scalars as Go programs read them: numbers in every notation, booleans, nothing, or else text."""

from __future__ import annotations

import re
from typing import Any, TypeAlias, cast

import yaml

Scalar: TypeAlias = str | int | float | bool | None

_RESOLVER = cast(Any, yaml.resolver.Resolver())
_NOTATIONS = ((re.compile(r"0[xX][0-9a-fA-F]+"), 16), (re.compile(r"0[bB][01]+"), 2), (re.compile(r"0[oO]?[0-7]+"), 8))
_DECIMAL = re.compile(r"0|[1-9][0-9]*")
_FLOAT = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_LONGEST_NUMBER = 64


def plain_value(text: str) -> Scalar:
    """What an unquoted scalar stands for."""
    kind = str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False))).rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on", "y")
    number = _number(text) if len(text) <= _LONGEST_NUMBER else None
    return text if number is None else number


def _number(text: str) -> int | float | None:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-").replace("_", "") if len(text) - len(text.lstrip("+-")) <= 1 else ""
    if _DECIMAL.fullmatch(digits):
        return sign * int(digits)
    for form, radix in _NOTATIONS:
        if form.fullmatch(digits):
            return sign * int(digits.lstrip("0xXbBoO") or "0", radix)
    if _FLOAT.fullmatch(digits):
        return sign * float(digits)
    return {".inf": sign * float("inf"), ".nan": float("nan")}.get(digits.lower())
