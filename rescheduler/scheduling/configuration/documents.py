"""YAML or JSON text as plain data with places: bounded, with anchors, told apart from what Go programs would refuse.

Built on the parser's events, so that hostile texts are stopped while they are being read.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

import yaml

from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Document, Path, Place
from rescheduler.policy.reading.errors import Problem
from rescheduler.scheduling.configuration.errors import ConfigurationError
from rescheduler.scheduling.configuration.scalars import plain_value

MOST_CHARACTERS = 256 * 1024
DEEPEST = 30
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
    found = list(_Reader(where, _without_tabs(text)).read())
    return [document for document in found if document.data is not None]


def unusable(where: str, text: str, line: int = 0, column: int = 0, path: str = "") -> ConfigurationError:
    """An error of one problem."""
    return ConfigurationError([Problem(where, line, column, path, text)])


def _without_tabs(text: str) -> str:
    """JSON may be laid out with tabs, which YAML does not take; one space for each keeps every place."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", '"')):
        return text
    return _STRING_OR_TAB.sub(lambda match: " " if match.group() == "\t" else match.group(), text)


@dataclass
class _Frame:
    """A list or a map that is being read; ``size``: entries in it, ``height``: levels, aliases written out."""

    container: Any
    path: Path
    anchor: str | None
    key: str | None = None
    size: int = 0
    height: int = 1


class _Reader:
    """Turns events into data, one event after another."""

    def __init__(self, where: str, text: str) -> None:
        self._where, self._text = where, text.removeprefix("\ufeff")
        self._document = ReadDocument(where)
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        self._entries = 0

    def read(self) -> Iterator[ReadDocument]:
        """The documents of the text, empty ones too."""
        try:
            loader = cast(Any, yaml.SafeLoader(self._text))
            while (event := loader.get_event()) is not None:
                if isinstance(event, yaml.DocumentStartEvent):
                    self._document, self._anchors = ReadDocument(self._where), {}
                self._take(event)
                if isinstance(event, yaml.DocumentEndEvent):
                    yield self._document
        except yaml.reader.ReaderError as error:
            line = self._text.count("\n", 0, error.position) + 1
            raise unusable(
                self._where, f"the character {chr(error.character)!a} may not stand in YAML", line, 1
            ) from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            reason = "a tab stands where YAML wants spaces" if "'\\t'" in str(error.problem) else str(error.problem)
            raise unusable(self._where, f"neither YAML nor JSON: {printable(reason, 200)}", line, column) from None
        except (ValueError, OverflowError):  # an escape such as \UFFFFFFFF that stands for no character
            raise unusable(self._where, "an escape in a quoted text stands for no character") from None

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self._open(event)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self._close()

    def _open(self, event: Any) -> None:
        if len(self._frames) >= DEEPEST:
            self._refuse(event, f"nested deeper than {DEEPEST} levels")
        if self._wants_key():
            self._refuse(event, "a list or a map cannot be a key; write a name")
        container: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
        path = self._next_path()
        self._put(event, container)
        self._frames.append(_Frame(container, path, event.anchor))

    def _close(self) -> None:
        frame = self._frames.pop()
        if frame.anchor is not None:
            self._anchors[frame.anchor] = (frame.container, frame.size, frame.height)
        if self._frames:
            self._frames[-1].size += frame.size
            self._rise(frame.height)

    def _scalar(self, event: Any) -> None:
        if self._wants_key():
            self._key(event, event.value)
            return
        value = plain_value(event.value) if event.implicit[0] else event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1, 0)
        self._put(event, value)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            self._refuse(event, f"the alias *{printable(event.anchor, 60)} names nothing that stands before it")
        value, size, height = self._anchors[event.anchor]
        if self._wants_key():
            self._refuse(event, "an alias cannot be a key; write a name")
        if len(self._frames) + height > DEEPEST:
            self._refuse(event, f"nested deeper than {DEEPEST} levels")
        self._count(event, size)
        self._rise(height)
        self._put(event, copy.deepcopy(value))

    def _key(self, event: Any, name: str) -> None:
        frame = self._frames[-1]
        path = (*frame.path, name)
        frame.key = name
        if path in self._document.keys:
            self._document.doubled.append((path, self._document.keys[path][1], self._place(event)[1]))
            if len(self._document.doubled) > _MOST_DOUBLED:
                self._refuse(event, f"more than {_MOST_DOUBLED} fields are written twice")
            for places in (self._document.values, self._document.keys):
                for stale in [known for known in places if known[: len(path)] == path]:
                    del places[stale]
        self._document.keys[path] = self._place(event)

    def _put(self, event: yaml.Event, value: Any) -> None:
        self._count(event, 1)
        path = self._next_path()
        self._document.values[path] = self._place(event)
        if not self._frames:
            self._document.data = value
            return
        frame = self._frames[-1]
        if isinstance(frame.container, list):
            frame.container.append(value)
        else:
            key, frame.key = str(frame.key), None
            if key == "<<" and isinstance(value, dict | list):
                _merge(frame.container, value)
            else:
                frame.container[key] = value

    def _rise(self, height: int) -> None:
        if self._frames:
            self._frames[-1].height = max(self._frames[-1].height, height + 1)

    def _count(self, event: yaml.Event, size: int) -> None:
        self._entries += size
        if self._frames:
            self._frames[-1].size += size
        if self._entries > MOST_ENTRIES:
            self._refuse(event, f"more than {MOST_ENTRIES:,} entries; a scheduler's configuration is a few lines")

    def _wants_key(self) -> bool:
        return bool(self._frames) and isinstance(self._frames[-1].container, dict) and self._frames[-1].key is None

    def _next_path(self) -> Path:
        if not self._frames:
            return ()
        frame = self._frames[-1]
        step = len(frame.container) if isinstance(frame.container, list) else frame.key
        return frame.path if step is None else (*frame.path, step)

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        assert mark is not None
        return self._where, mark.line + 1, mark.column + 1

    def _refuse(self, event: yaml.Event, text: str) -> NoReturn:
        _, line, column = self._place(event)
        raise unusable(self._where, text, line, column)


def _merge(container: dict[str, Any], value: Any) -> None:
    """YAML's merge key: fields that are not written out are taken over."""
    for source in value if isinstance(value, list) else [value]:
        if isinstance(source, dict):
            for key, taken in source.items():
                container.setdefault(key, taken)
