"""Numbers in words that people read: no exponents, no digits that mean nothing."""

from __future__ import annotations

from math import isfinite

_LONGEST_WHOLE = 1e15
_ROUGH = 1e4


def number(value: float) -> str:
    """A count or an amount: whole numbers in full, others with four digits that count."""
    if not isfinite(value):
        return str(value)
    if value == round(value) or abs(value) >= _ROUGH:
        return f"{value + 0.0:.0f}" if abs(value) < _LONGEST_WHOLE else f"{value:.3e}"  # never "-0"
    return f"{value:.4g}" if abs(value) >= 1e-4 else f"{value:.1e}"


def percent(share: float) -> str:
    """A share from 0 on: ``33%``, and ``0.4%`` where whole percents would hide it."""
    if not isfinite(share):
        return str(share)
    if share == 0 or abs(share) >= 0.1:
        return f"{number(100 * round(share, 2))}%"
    return f"{share:.1%}" if abs(share) >= 0.001 else "below 0.1%"
