"""The text of a DeschedulerPolicy as data, read as the libraries that descheduler reads with take it."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from rescheduler.policy.reading.document import Document, Path
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.yaml_reader import NOT_NUMBERS, QUOTED, YamlReader, YamlTextError

_MERGE: Final = "<<"
_ZERO_BY_MAP: Final[dict[str, Any]] = {"thresholds": 0, "targetThresholds": 0, "matchLabels": ""}
_ZERO_BY_LIST: Final[dict[str, Any]] = {
    "profiles": {}, "pluginConfig": {}, "metricsProviders": {},
    "conditions": {}, "matchExpressions": {}, "protectedStorageClasses": {}, "exitCodes": 0,
}  # fmt: skip


class DeschedulerReader(YamlReader):
    """YAML 1.1: aliases are repeated and maps merged, of a doubled key the last one counts."""

    deepest = 50
    most_entries = 20_000
    few_lines = "a policy is a few lines"
    allows_aliases = True

    def __init__(self, text: str, document: Document) -> None:
        super().__init__(text, document.file)
        self.document = document
        self.findings: list[ReadingProblem] = []

    def scalar(self, event: Any, path: Path) -> Any:
        """Words and numbers of YAML 1.1; see ``YamlReader.scalar``."""
        is_plain = event.style not in QUOTED and str(event.value) not in NOT_NUMBERS
        return plain_value(str(event.value)) if is_plain else super().scalar(event, path)

    def store(self, found: dict[str, Any], key: str, value: Any) -> None:
        """The key ``<<`` puts the fields of another map here, or of several, of which the first ones win."""
        if key != _MERGE:
            found[key] = value
            return
        for one in reversed(value) if isinstance(value, list) else (value,):
            if not isinstance(one, dict):
                raise YamlTextError(ReadingProblem(self.file, 0, 0, _MERGE, "takes a map, or a list of maps"))
            found.update(one)

    def doubled(self, event: Any, path: Path) -> None:
        """The last one wins; the first ones are named."""
        place = self.place(event)
        self.findings.append(ReadingProblem(*place, ".".join(map(str, path)), "stands twice; only the last one counts"))
        assert self.document is not None
        for known in (self.document.values, self.document.keys):
            for below in [key for key in known if key[: len(path)] == path]:
                del known[below]
        self.document.keys[path] = place

    def look_behind(self) -> None:
        """Whatever stands behind the document that was read is read over, and need be no YAML."""
        try:
            while (event := self.next()) is not None:
                if isinstance(event, yaml.DocumentStartEvent):
                    self._find_behind(*self.place(event))
                    return
        except YamlTextError as error:
            self._find_behind(error.problem.file, error.problem.line, error.problem.column)

    def _find_behind(self, file: str, line: int, column: int) -> None:
        self.findings.append(ReadingProblem(file, line, column, "", "a second document, and is read over"))


def read_document(text: str, file: str) -> tuple[Document, list[ReadingProblem]]:
    """The first document, with what is read over on the way. Raises PolicyError for what is no YAML."""
    document = Document(file)
    reader = DeschedulerReader(text, document)
    try:
        document.data = next(reader.documents(), None)
    except YamlTextError as error:
        raise PolicyError([error.problem]) from None
    reader.look_behind()
    return document, reader.findings


def with_zero_values(data: Any, name: str = "") -> Any:
    """A field that is set to nothing is left out; in a list, or in a map of values, nothing is the type's zero value.

    ``name``: of the field that the data stand in.
    """
    if isinstance(data, dict):
        if name in _ZERO_BY_MAP:
            return {key: _ZERO_BY_MAP[name] if value is None else value for key, value in data.items()}
        return {key: with_zero_values(value, key) for key, value in data.items() if value is not None}
    if isinstance(data, list):
        return [_ZERO_BY_LIST.get(name, "") if item is None else with_zero_values(item) for item in data]
    return data


_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_BASES: Final = {"0x": 16, "0b": 2, "0o": 8}
_DECIMAL: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_LARGEST: Final = 2**64 - 1
_LARGEST_WRITTEN_OUT: Final = 1e21
"""A float below, if it is whole, is written in JSON as a whole number, which a field of that type takes."""


def plain_value(text: str) -> Any:
    """What a scalar without quotes stands for; a number too large for its type stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    whole = _whole(digits)
    if whole is not None:
        return whole
    if not _DECIMAL.fullmatch(digits):
        return text
    number = float(digits)
    if abs(number) >= 1e300:
        return text
    return int(number) if number.is_integer() and abs(number) < _LARGEST_WRITTEN_OUT else number


def _whole(digits: str) -> int | None:
    """Also in base 16, 8 or 2; a leading zero means 8, as in C."""
    sign, rest = (digits[0], digits[1:]) if digits[0] in "+-" else ("", digits)
    base = _BASES.get(rest[:2].lower(), 10)
    if base != 10:
        rest = rest[2:]
    elif len(rest) > 1 and rest[0] == "0":
        base = 8
    if not rest.isascii() or not rest.isalnum() or len(rest) > 70:
        return None
    try:
        found = int(sign + rest, base)
    except ValueError:
        return None
    return found if -(2**63) <= found <= _LARGEST else None
