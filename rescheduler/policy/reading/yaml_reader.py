"""Reads one YAML policy strictly: bounded, without aliases, tags or doubled keys, every value with its place.

Built on the parser's events, not on its objects, so that hostile files are stopped while they are being read.
"""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn, cast

import yaml

from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Document, Path, Place, written
from rescheduler.policy.reading.errors import Problem

MOST_BYTES = 1024 * 1024
DEEPEST = 20
MOST_ENTRIES = 10_000
_PLAIN_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_PLAIN_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+]?[0-9]{1,3})?")
_BARE = re.compile(r"[:,\[{-]\s+[*@].?$")
"""The beginning of a line that YAML cannot read because its last text is not in quotes."""
_TAG = "tag:yaml.org,2002:"


class _StopError(Exception):
    """Reading cannot go on; the reason is among the document's problems."""


class _Frame:
    """A list or a map that is being read."""

    def __init__(self, container: list[Any] | dict[str, Any], path: Path) -> None:
        self.container = container
        self.path = path
        self.key: str | None = None
        self.doubled = False


def read_document(file: str, raw: bytes) -> Document:
    """Read a policy's bytes. What is wrong is in ``problems``; ``data`` is None if nothing could be read."""
    document = Document(file)
    try:
        text = _text(document, raw)
        _Reader(document, text).read()
    except _StopError:
        document.data = None
    return document


def _text(document: Document, raw: bytes) -> str:
    if len(raw) > MOST_BYTES:
        _stop(document, 0, 0, f"larger than {MOST_BYTES // 1024} KiB; a policy is a few lines")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        _stop(document, 0, 0, "not UTF-8 at byte 0 (it looks like UTF-16); save the file as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _stop(document, 0, 0, f"not UTF-8 at byte {error.start}; save the file as UTF-8")


def _stop(document: Document, line: int, column: int, text: str, path: str = "") -> NoReturn:
    document.problems.append(Problem(document.file, line, column, path, text))
    raise _StopError


class _Reader:
    """Turns events into data, one event after another."""

    def __init__(self, document: Document, text: str) -> None:
        self._document = document
        self._text = text
        self._frames: list[_Frame] = []
        self._entries = 0
        self._is_begun = False

    def read(self) -> None:
        """Read to the end of the one document."""
        try:
            self._loader = cast(Any, yaml.SafeLoader(self._text))
            while (event := self._loader.get_event()) is not None:
                self._take(event)
        except yaml.reader.ReaderError as error:
            line = self._text.count("\n", 0, error.position) + 1
            _stop(self._document, line, 1, f"the character {chr(error.character)!a} may not stand in YAML")
        except yaml.MarkedYAMLError as error:
            self._fail(error)
        if not self._is_begun or (self._document.data is None and not self._document.problems):
            _stop(self._document, 0, 0, "the policy is empty: nothing would ever be moved; write apiVersion and kind")

    def _fail(self, error: yaml.MarkedYAMLError) -> NoReturn:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        lines = self._text.splitlines() or [""]
        source = lines[min(line, len(lines)) - 1]
        reason = "a tab stands where YAML wants spaces" if "'\\t'" in str(error.problem) else str(error.problem)
        if _BARE.search(source[:column]):
            reason += '; put a text that begins with * or @ in quotes, such as "*/5 * * * *"'
        start = max(0, column - 41)
        piece = source[start : start + 80]
        pointer = " " * len(printable(piece[: column - 1 - start], 80)) + "^"
        _stop(self._document, line, column, f"not YAML: {reason}\n    {printable(piece, 80)}\n    {pointer}")

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.AliasEvent):
            self._refuse(event, "aliases are not allowed; write the value out")
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self._open(event)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self._frames.pop()

    def _begin(self, event: yaml.Event) -> None:
        if self._is_begun:
            _, line, _ = self._place(event)
            self._refuse(event, f"only one document is allowed; a second one starts at line {line}")
        self._is_begun = True

    def _refuse(self, event: yaml.Event, text: str) -> NoReturn:
        path = written(self._next_path()) if self._frames else ""
        self._tell(event, path, text)
        raise _StopError

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        assert mark is not None
        return self._document.file, mark.line + 1, mark.column + 1

    def _tell(self, event: yaml.Event, path: str, text: str) -> None:
        self._document.problems.append(Problem(*self._place(event), path, text))

    def _check(self, event: Any) -> None:
        self._entries += 1
        if self._entries > MOST_ENTRIES:
            self._refuse(event, f"more than {MOST_ENTRIES:,} entries; a policy is a few lines")
        if event.anchor is not None:
            self._refuse(event, "anchors are not allowed; write the value out where it is used")
        if event.tag is not None:
            self._refuse(event, f"the tag {printable(event.tag, 60)} is not allowed; write plain values")

    def _open(self, event: Any) -> None:
        self._check(event)
        if len(self._frames) >= DEEPEST:
            self._refuse(event, f"nested deeper than {DEEPEST} levels")
        if self._wants_key():
            self._refuse(event, "a list or a map cannot be a key; write a name")
        container: list[Any] | dict[str, Any] = [] if isinstance(event, yaml.SequenceStartEvent) else {}
        path = self._next_path()
        self._put(event, container)
        self._frames.append(_Frame(container, path))

    def _wants_key(self) -> bool:
        return bool(self._frames) and isinstance(self._frames[-1].container, dict) and self._frames[-1].key is None

    def _next_path(self) -> Path:
        if not self._frames:
            return ()
        frame = self._frames[-1]
        step = len(frame.container) if isinstance(frame.container, list) else frame.key
        return frame.path if step is None else (*frame.path, step)

    def _scalar(self, event: Any) -> None:
        self._check(event)
        if self._wants_key():
            self._key(event)
            return
        path = self._next_path()
        if event.implicit[0]:
            self._document.plain_texts[path] = event.value
        self._put(event, self._value(event, path))

    def _key(self, event: Any) -> None:
        frame = self._frames[-1]
        assert isinstance(frame.container, dict)
        path = (*frame.path, event.value)
        if event.value == "<<" and event.implicit[0]:
            self._refuse(event, "merge keys are not allowed; write the fields out")
        frame.key, frame.doubled = event.value, event.value in frame.container
        if frame.doubled:
            first = self._document.keys[path][1]
            second = self._place(event)[1]
            self._tell(event, written(path), f"the same field twice, at lines {first} and {second}; keep one")
        else:
            self._document.keys.setdefault(path, self._place(event))

    def _put(self, event: yaml.Event, value: Any) -> None:
        """Store a value; of a doubled field the first value is kept, the second is only read past."""
        place = self._place(event)
        if not self._frames:
            self._document.data = value
            self._document.values[()] = place
            return
        frame, path = self._frames[-1], self._next_path()
        if isinstance(frame.container, list):
            frame.container.append(value)
        else:
            if not frame.doubled:
                frame.container[str(frame.key)] = value
            frame.key = None
        self._document.values.setdefault(path, place)

    def _value(self, event: Any, path: Path) -> Any:
        kind = str(self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)).removeprefix(_TAG)
        text: str = event.value
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() in ("true", "yes", "on", "y")
        if kind in ("int", "float"):
            return self._number(event, path, kind)
        return text

    def _number(self, event: Any, path: Path, kind: str) -> int | float | None:
        """A number in its plain form; anything YAML would reinterpret (octal, base 60, 1_000, .nan) is refused."""
        text: str = event.value
        if kind == "int" and _PLAIN_INTEGER.fullmatch(text):
            return int(text)
        if kind == "float" and _PLAIN_FLOAT.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        advice = "write a plain number such as 20, or put quotes round a text"
        problem = f"{printable(text, 60)} is no number in its plain form"
        if "nan" in text.lower() or "inf" in text.lower():
            problem = f"{printable(text, 60)} is no finite number"
        self._tell(event, written(path), f"{problem}; {advice}")
        return None
