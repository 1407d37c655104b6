"""Texts from outside, made safe to print on a terminal."""

from __future__ import annotations

from typing import Final

LONGEST_SHOWN: Final = 120


def printable(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The text with every control, direction or surrogate character escaped, cut to ``longest`` characters."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    if cut.isprintable():
        return cut
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii") for mark in cut)
