"""One map of a configuration, read field by field as the Go type behind it would decode it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeVar

from pydantic import ValidationError

from rescheduler.model.printable import shown
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.reading.document import Path
from rescheduler.scheduling.reading.findings import Findings, choices

Value = TypeVar("Value")
Model = TypeVar("Model", bound=PolicyModel)
LARGEST_INTEGER = 2**31 - 1


@dataclass
class Fields:
    """A map at a path. A field set to nothing counts as left out.

    ``keeps_default``: how the scheduler is called that goes on with its default where a value has the wrong type;
    empty for one that refuses it. ``asked``: the names looked up so far.
    """

    findings: Findings
    path: Path
    data: dict[str, Any]
    keeps_default: str = ""
    asked: set[str] = field(default_factory=set)

    def has(self, name: str) -> bool:
        """Whether the field is set."""
        self.asked.add(name)
        return self.data.get(name) is not None

    def raw(self, name: str) -> Any:
        """The value as it was written; None where it is not."""
        self.asked.add(name)
        return self.data.get(name)

    def at(self, name: str) -> Path:
        """Path of a field."""
        return (*self.path, name)

    def integer(self, name: str, default: int, low: int | None = None, high: int | None = None) -> int:
        """A whole number; out of range it is refused, so give a range only where the scheduler does."""
        value = self.raw(name)
        if value is None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_INTEGER:
            return self._wrong(name, default, "a whole number")
        if (low is not None and value < low) or (high is not None and value > high):
            self.findings.refuse(self.at(name), f"found {value}; wanted {_range(low, high)}")
            return default
        return value

    def number(self, name: str, default: float) -> float:
        """A finite number."""
        value = self.raw(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            return self._wrong(name, default, "a number")
        return float(value)

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        value = self.raw(name)
        if value is None:
            return default
        return value if isinstance(value, str) else self._wrong(name, default, "a text: put it in quotes")

    def boolean(self, name: str, default: bool) -> bool:
        """True or false, not a text that says so."""
        value = self.raw(name)
        if value is None:
            return default
        return value if isinstance(value, bool) else self._wrong(name, default, "true or false, without quotes")

    def names(self, name: str) -> list[tuple[Path, str]]:
        """A list of texts."""
        found = []
        for path, value in self._items(name):
            if isinstance(value, str):
                found.append((path, value))
            else:
                self._refuse(path, f"found {shown(value)}; wanted a text")
        return found

    def child(self, name: str) -> Fields:
        """The map below; an empty one where it is left out."""
        value = self.raw(name)
        if value is None or isinstance(value, dict):
            return self._below(self.at(name), value or {})
        return self._below(self.at(name), self._wrong(name, {}, "a map"))

    def children(self, name: str) -> list[Fields]:
        """The maps of a list."""
        found = []
        for path, value in self._items(name):
            if isinstance(value, dict):
                found.append(self._below(path, value))
            else:
                self._refuse(path, f"found {shown(value)}; wanted a map")
        return found

    def unread(self) -> Iterator[str]:
        """Names of fields that nobody asked for."""
        return (name for name in self.data if name not in self.asked)

    def refuse_unread(self, reader: str = "kube-scheduler") -> None:
        """Tell of fields that the scheduler, which reads strictly, does not know."""
        for name in self.unread():
            if not self.findings.takes_problems:
                break
            advice = choices(name, sorted(self.asked)) if self.asked else "nothing may stand here"
            self.findings.refuse(self.at(name), f"a field that {reader} does not know; {advice}", at_key=True)

    def warn_unread(self, reader: str) -> None:
        """Tell of fields that the scheduler ignores."""
        for name in self.unread():
            if not self.findings.takes_warnings:
                break
            advice = choices(name, sorted(self.asked))
            self.findings.warn(self.at(name), f"a field that {reader} does not read; {advice}", at_key=True)

    def _below(self, path: Path, data: dict[str, Any]) -> Fields:
        return Fields(self.findings, path, data, self.keeps_default)

    def _items(self, name: str) -> Iterator[tuple[Path, Any]]:
        value = self.raw(name)
        if value is not None and not isinstance(value, list):
            self._wrong(name, [], "a list")
            return
        for number, item in enumerate(value or ()):
            yield (*self.path, name, number), item

    def _wrong(self, name: str, default: Value, wanted: str) -> Value:
        text = f"found {shown(self.data[name])}; wanted {wanted}"
        if self.keeps_default:
            kept = f" {shown(default)}" if not isinstance(default, dict | list) and default != "" else " its default"
            self.findings.warn(self.at(name), f"{text}; {self.keeps_default} keeps{kept}")
        else:
            self.findings.refuse(self.at(name), text)
        return default

    def _refuse(self, path: Path, text: str) -> None:
        if self.keeps_default:
            self.findings.warn(path, f"{text}; {self.keeps_default} leaves it out")
        else:
            self.findings.refuse(path, text)


def _range(low: int | None, high: int | None) -> str:
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"{low} or more" if low is not None else f"{high} or less"


def own_form(fields: Fields, model: type[Model]) -> Model:
    """What nobody asked for yet, as arguments of this project's own form; its defaults where they are refused."""
    data = {key: value for key, value in fields.data.items() if key not in fields.asked and value is not None}
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        for one in error.errors(include_url=False):
            message = str(one["msg"]).removeprefix("Value error, ")
            text = "an unknown field" if one["type"] == "extra_forbidden" else f"found {shown(one['input'])}: {message}"
            fields.findings.refuse((*fields.path, *one["loc"]), text)
        return model()
