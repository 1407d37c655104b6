"""A policy file as plain data that remembers where each part stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rescheduler.model.printable import printable
from rescheduler.policy.reading.errors import ReadingProblem

Path: TypeAlias = tuple[str | int, ...]
"""The way to a value: field names and list positions."""
Place: TypeAlias = tuple[str, int, int]
"""File, line and column, both counted from 1."""


@dataclass
class Document:
    """Plain data, the place of each key and value, and what was wrong already as YAML.

    ``plain_texts`` hold scalars as they were written without quotes.
    """

    file: str
    data: Any = None
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    plain_texts: dict[Path, str] = field(default_factory=dict)
    problems: list[ReadingProblem] = field(default_factory=list)

    def problem(self, path: Path, text: str, *, at_key: bool = False) -> ReadingProblem:
        """A problem at a path; where the path stands nowhere, at the nearest part above it."""
        places: Mapping[Path, Place] = self.keys if at_key and path in self.keys else self.values
        above = path
        while above and above not in places:
            above = above[:-1]
        file, line, column = places.get(above, (self.file, 1, 1))
        return ReadingProblem(file, line, column, written(path), text)


def written(path: Path) -> str:
    """A path as people write it: ``scope.namespaces.exclude[0]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{printable(step, 60)}" if text else printable(step, 60)
    return text


def merged(first: Document, second: Document) -> Document:
    """Both documents as one: the second wins field by field, lists are replaced whole, null takes a value back."""
    answer = Document(second.file, _merge(first.data, second.data))
    replaced = _replaced(first.data, second.data, ())
    for name in ("values", "keys", "plain_texts"):
        kept = {
            path: place
            for path, place in getattr(first, name).items()
            if not any(path[: len(above)] == above for above in replaced)
        }
        getattr(answer, name).update(kept)
        getattr(answer, name).update(getattr(second, name))
    return answer


def _merge(first: Any, second: Any) -> Any:
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return second
    return {
        key: _merge(first[key], second[key]) if key in first and key in second else {**first, **second}[key]
        for key in {**first, **second}
    }


def _replaced(first: Any, second: Any, path: Path) -> list[Path]:
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return [path]
    return [place for key in first if key in second for place in _replaced(first[key], second[key], (*path, key))]
