"""Reads the formulas in explanations of scores, and works them out anew."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from rescheduler.model.objects.resources import parse_quantity

_OPERAND = r"(\([^()]*\)|[^\s()]+)"
_FORMULA = re.compile(rf"(100 - )?100 x {_OPERAND} / {_OPERAND} = (\d+)")


class Formula(NamedTuple):
    """What a formula comes to, exactly, and the number printed after it."""

    exact: Fraction
    printed: int
    is_reversed: bool


def formulas(text: str) -> list[Formula]:
    """Every formula of the form ``[100 -] 100 x A / B = N`` in the text; amounts are Kubernetes quantities."""
    found = []
    for lead, dividend, divisor, printed in _FORMULA.findall(text):
        share = 100 * _sum(dividend) / _sum(divisor)
        found.append(Formula(100 - share if lead else share, int(printed), bool(lead)))
    return found


def _sum(text: str) -> Fraction:
    first, *others = text.strip("()").split()
    total = -parse_quantity(first[1:]) if first.startswith("-") else parse_quantity(first)
    for sign, amount in zip(others[::2], others[1::2], strict=True):
        total += parse_quantity(amount) * (1 if sign == "+" else -1)
    return total
