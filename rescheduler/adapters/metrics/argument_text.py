"""Texts of arguments that must have a certain form, with words for what was wanted."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, StringConstraints
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


def _host_pattern(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except (re.error, RecursionError, OverflowError) as error:
        raise PydanticCustomError("pattern", "no regular expression: {why}", {"why": str(error)}) from None
    if groups > 1:
        raise PydanticCustomError("pattern", "more than one group; keep the one around the host's name")
    return text


HostPattern: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_host_pattern)]
"""A regular expression with at most one group; the group, else the whole match, is the host."""
PlainName: TypeAlias = Annotated[str, form(r"[-_.a-zA-Z0-9]+", "letters, digits, dots, dashes and underscores")]
"""Letters, digits, dots, dashes and underscores: nothing that means more in a query."""
PlainSuffix: TypeAlias = Annotated[str, form(r"[-_.a-zA-Z0-9]*", "letters, digits, dots, dashes and underscores")]
"""The same, or nothing."""
