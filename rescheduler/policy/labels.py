"""Keys and values of labels as Kubernetes admits them: a selector with any other could never mean what it says."""

from __future__ import annotations

import re
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from rescheduler.policy.values import shown

_NAME: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_KEY: Final = re.compile(rf"([a-z0-9]([-a-z0-9.]{{0,251}}[a-z0-9])?/)?{_NAME}")
_VALUE: Final = re.compile(rf"({_NAME})?")


def label_key(text: str) -> str:
    """The key itself. Raises PydanticCustomError for what no object can have."""
    if _KEY.fullmatch(text) is None:
        found = {"found": shown(text)}
        raise PydanticCustomError(
            "label_key", "no label has the key {found}; write it like app or example.com/team", found
        )
    return text


def label_value(text: str) -> str:
    """The value itself. Raises PydanticCustomError for what no object can have."""
    if _VALUE.fullmatch(text) is None:
        wanted = "63 letters, digits, -, _ and . at most, a letter or digit at both ends"
        raise PydanticCustomError(
            "label_value", "no label has the value {found}; wanted {wanted}", {"found": shown(text), "wanted": wanted}
        )
    return text


def _labels(found: dict[str, str]) -> dict[str, str]:
    return {label_key(key): label_value(value) for key, value in found.items()}


LabelKey: TypeAlias = Annotated[str, Field(min_length=1, max_length=317), AfterValidator(label_key)]
"""Key of a label, with or without a prefix."""
LabelValue: TypeAlias = Annotated[str, AfterValidator(label_value)]
"""Value of a label, which may be empty."""
Labels: TypeAlias = Annotated[dict[str, str], AfterValidator(_labels)]
"""Labels by key."""
