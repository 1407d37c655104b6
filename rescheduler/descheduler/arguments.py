"""What arguments of several plugins have in common: selectors, namespaces, durations, and how they are refused."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.columns.selectors import read_selector
from rescheduler.model.label_selector_text import LABEL_KEY, LABEL_VALUE
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.policy.fields.policy_model import PolicyModel

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST_SECONDS = 2**63 / 1e9
_KEY = re.compile(LABEL_KEY)
_VALUE = re.compile(LABEL_VALUE)


def refused(text: str) -> PydanticCustomError:
    """An error with our own words; braces stand for themselves."""
    return PydanticCustomError("descheduler", "{text}", {"text": text})


def parse_go_duration(value: object) -> float:
    """Seconds of a Go duration as a text (``1h30m``). Raises PydanticCustomError."""
    if not isinstance(value, str):
        raise refused("not a duration; write a text such as 1h30m")
    text = value.lstrip("+-") or "?"
    parts = re.findall(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", text)
    if text != "0" and "".join(number + unit for number, unit in parts) != text:
        raise refused(f"{value[:40]!r} is not a Go duration; write it like 1h30m")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if seconds >= _LONGEST_SECONDS:
        raise refused(f"{value[:40]!r} is longer than a Go duration may be, which is 292 years")
    return -seconds if value.startswith("-") else seconds


GoDuration = Annotated[float, BeforeValidator(parse_go_duration)]
Unsigned = Annotated[int, Field(ge=0, le=2**64 - 1)]


class SelectorRequirement(PolicyModel):
    """One rule of a label selector."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_valid(self) -> SelectorRequirement:
        if self.operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            raise refused(f"operator {self.operator!r}; there are In, NotIn, Exists, DoesNotExist")
        if bool(self.values) != (self.operator in ("In", "NotIn")):
            raise refused(
                f"operator {self.operator} with {len(self.values)} values; In and NotIn have some, others none"
            )
        if not _KEY.fullmatch(self.key):
            raise refused(f"{self.key[:60]!r} is no label key")
        wrong = [value for value in self.values if not _VALUE.fullmatch(value)]
        if wrong:
            raise refused(f"{wrong[0][:60]!r} is no label value")
        return self


class Selector(PolicyModel):
    """A label selector as Kubernetes objects have it."""

    match_labels: dict[str, str] = Field(default_factory=dict)
    match_expressions: tuple[SelectorRequirement, ...] = ()

    @field_validator("match_labels")
    @classmethod
    def _are_valid(cls, labels: dict[str, str]) -> dict[str, str]:
        for key, value in labels.items():
            if not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
                raise refused(f"{key[:60]!r}: {value[:60]!r} is no label")
        return labels

    def read(self) -> LabelSelector:
        """The selector in the model's form; an empty one selects everything."""
        return read_selector(self)


class IncludeOrExclude(PolicyModel):
    """What to keep to, or what to leave out."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if self.include and self.exclude:
            raise refused("both include and exclude; write one of them")
        return self


class NamespaceChoice(IncludeOrExclude):
    """Namespaces to keep to, or to keep out of."""

    def let_in(self, namespace: str) -> bool:
        """Whether pods of a namespace are looked at."""
        return namespace in self.include if self.include else namespace not in self.exclude


class DeschedulerArguments(PolicyModel):
    """What every plugin's arguments have in common: any apiVersion and kind, which are not looked at."""

    api_version: str = ""
    kind: str = ""


class PodArguments(DeschedulerArguments):
    """Arguments of a plugin that looks at pods of some namespaces and labels."""

    namespaces: NamespaceChoice = NamespaceChoice()
    label_selector: Selector | None = None
