"""Texts of arguments that must have a certain form, with words for what was wanted."""

from __future__ import annotations

import re

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError


def form(pattern: str, wanted: str, most: int = 250) -> AfterValidator:
    """A check that the whole text matches and is not too long; ``wanted`` says in words what does."""
    compiled = re.compile(pattern, re.ASCII)

    def checked(text: str) -> str:
        if len(text) > most or compiled.fullmatch(text) is None:
            raise PydanticCustomError(
                "form", "found {found}; wanted {wanted}", {"found": repr(text[:60]), "wanted": wanted}
            )
        return text

    return AfterValidator(checked)


def not_empty(values: tuple[str, ...]) -> tuple[str, ...]:
    """A list of at least one, and of at most eight."""
    if not 0 < len(values) <= 8:
        raise PydanticCustomError("length", "found {count} entries; wanted 1 to 8", {"count": len(values)})
    return values


def python_pattern(text: str) -> str:
    """A regular expression that Python reads."""
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise PydanticCustomError("pattern", "no regular expression: {why}", {"why": str(error)}) from None
    return text
