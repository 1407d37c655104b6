"""YAML or JSON text as plain data with places: bounded, with anchors, told apart from what Go programs would refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import yaml

from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Document, Path
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.yaml_reader import YamlReader, YamlTextError

MOST_CHARACTERS = 256 * 1024
MOST_ENTRIES = 5_000
_MOST_DOUBLED = 50
# A text without an end is taken to the end, so that each character is looked at once.
_STRING_OR_TAB = re.compile(r'"(?:\\.|[^"\\])*"?|\t')


Scalar: TypeAlias = str | int | float | bool | None

_RESOLVER = cast(Any, yaml.resolver.Resolver())
_NOTATIONS = ((re.compile(r"0[xX][0-9a-fA-F]+"), 16), (re.compile(r"0[bB][01]+"), 2), (re.compile(r"0[oO]?[0-7]+"), 8))
_DECIMAL = re.compile(r"0|[1-9][0-9]*")
_FLOAT = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_LONGEST_NUMBER = 64


class ConfigurationError(PolicyError):
    """A scheduler's configuration that its own scheduler would not start with, or that is none.

    ``problems`` are all that were found, each with file, line, field, what was found and what was wanted.
    """


@dataclass
class ReadDocument(Document):
    """A document, and what else was seen of it.

    ``doubled``: fields written more than once (the last one counts), with the lines of the first and the last.
    """

    doubled: list[tuple[Path, int, int]] = field(default_factory=list)


def read_documents(where: str, text: str) -> list[ReadDocument]:
    """Every document of a text that is not empty. Raises ConfigurationError for what is neither YAML nor JSON."""
    if len(text) > MOST_CHARACTERS:
        raise unusable(where, f"larger than {MOST_CHARACTERS // 1024} KiB; a scheduler's configuration is a few lines")
    try:
        found = [*_ConfigurationReader(_without_tabs(text).removeprefix("\ufeff"), where).read()]
    except YamlTextError as error:
        problem = error.problem
        if error.is_syntax:
            problem = problem._replace(text=f"neither YAML nor JSON: {printable(problem.text, 200)}")
        raise ConfigurationError([problem._replace(path="")]) from None
    return [document for document in found if document.data is not None]


def unusable(where: str, text: str, line: int = 0, column: int = 0, path: str = "") -> ConfigurationError:
    """An error of one problem."""
    return ConfigurationError([ReadingProblem(where, line, column, path, text)])


def _without_tabs(text: str) -> str:
    """JSON may be laid out with tabs, which YAML does not take; one space for each keeps every place."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", '"')):
        return text
    return _STRING_OR_TAB.sub(lambda match: " " if match.group() == "\t" else match.group(), text)


class _ConfigurationReader(YamlReader):
    """As Go programs read: with anchors, merge keys and tags; the last of doubled fields counts."""

    deepest = 30
    most_entries = MOST_ENTRIES
    few_lines = "a scheduler's configuration is a few lines"
    allows_aliases = True
    allows_tags = True

    def read(self) -> Iterator[ReadDocument]:
        """The documents of the text, empty ones too."""
        for data in self.documents():
            self._read.data = data
            yield self._read

    def begin(self, event: Any) -> None:  # noqa: ARG002 - each document is a new one
        self._read = self.document = ReadDocument(self.file)

    def scalar(self, event: Any, path: Path) -> Any:  # noqa: ARG002 - wherever it stands
        return plain_value(event.value) if event.implicit[0] else event.value

    def doubled(self, event: Any, path: Path) -> None:
        document = self._read
        document.doubled.append((path, document.keys[path][1], self.place(event)[1]))
        if len(document.doubled) > _MOST_DOUBLED:
            self.refuse(event, f"more than {_MOST_DOUBLED} fields are written twice", path)
        for places in (document.values, document.keys):
            for stale in [known for known in places if known[: len(path)] == path]:
                del places[stale]
        document.keys[path] = self.place(event)

    def whole(self, found: dict[str, Any]) -> None:
        """YAML's merge key: fields that are not written out are taken over."""
        if isinstance(found.get("<<"), dict | list):
            merged = found.pop("<<")
            for source in merged if isinstance(merged, list) else [merged]:
                for key, taken in source.items() if isinstance(source, dict) else ():
                    found.setdefault(key, taken)


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
