"""YAML or JSON text as plain data with places: bounded, with anchors, told apart from what Go programs would refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Document, Path
from rescheduler.policy.reading.errors import ReadingProblem
from rescheduler.policy.reading.yaml_reader import YamlReader, YamlTextError
from rescheduler.scheduling.reading.errors import ConfigurationError
from rescheduler.scheduling.reading.scalars import plain_value

MOST_CHARACTERS = 256 * 1024
MOST_ENTRIES = 5_000
_MOST_DOUBLED = 50
# A text without an end is taken to the end, so that each character is looked at once.
_STRING_OR_TAB = re.compile(r'"(?:\\.|[^"\\])*"?|\t')


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
