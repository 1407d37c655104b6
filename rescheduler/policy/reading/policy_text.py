"""Reads one policy's YAML strictly: bounded, without aliases, tags or doubled keys, every value with its place."""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Document, Path, written
from rescheduler.policy.reading.errors import ReadingProblem
from rescheduler.policy.reading.yaml_reader import YamlReader, YamlTextError

MOST_BYTES = 1024 * 1024
_PLAIN_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_PLAIN_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+]?[0-9]{1,3})?")
_BARE = re.compile(r"[:,\[{-]\s+[*@].?$")
"""The beginning of a line that YAML cannot read because its last text is not in quotes."""
_RESOLVER: Any = yaml.resolver.Resolver()


def read_document(file: str, raw: bytes) -> Document:
    """Read a policy's bytes. What is wrong is in ``problems``; ``data`` is None if nothing could be read."""
    document = Document(file)
    text = ""
    try:
        text = _text(file, raw)
        document.data = next(iter([*_PolicyReader(text, document).documents()]), None)
    except YamlTextError as error:
        document.problems.append(_told(error, text))
        return document
    if document.data is None and not document.problems:
        nothing = "the policy is empty: nothing would ever be moved; write apiVersion and kind"
        document.problems.append(ReadingProblem(file, 0, 0, "", nothing))
    return document


def _text(file: str, raw: bytes) -> str:
    if len(raw) > MOST_BYTES:
        raise _unusable(file, f"larger than {MOST_BYTES // 1024} KiB; a policy is a few lines")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _unusable(file, "not UTF-8 at byte 0 (it looks like UTF-16); save the file as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unusable(file, f"not UTF-8 at byte {error.start}; save the file as UTF-8") from None


def _unusable(file: str, text: str) -> YamlTextError:
    return YamlTextError(ReadingProblem(file, 0, 0, "", text))


def _told(error: YamlTextError, text: str) -> ReadingProblem:
    """A fault of syntax is told with the line that it stands in, and what helps where a quote is missing."""
    problem = error.problem
    if not error.is_syntax:
        return problem
    _, line, column, _, reason = problem
    lines = text.splitlines() or [""]
    source = lines[min(line, len(lines)) - 1]
    if _BARE.search(source[:column]):
        reason += '; put a text that begins with * or @ in quotes, such as "*/5 * * * *"'
    start = max(0, column - 41)
    piece = source[start : start + 80]
    pointer = " " * len(printable(piece[: column - 1 - start], 80)) + "^"
    return problem._replace(text=f"not YAML: {reason}\n    {printable(piece, 80)}\n    {pointer}")


class _PolicyReader(YamlReader):
    """Of a doubled field the first value is kept, the second is only read past."""

    deepest = 20
    most_entries = 10_000
    few_lines = "a policy is a few lines"

    def __init__(self, text: str, document: Document) -> None:
        super().__init__(text, document.file)
        self.policy = self.document = document
        self._is_begun = False

    def begin(self, event: Any) -> None:
        if self._is_begun:
            line = self.place(event)[1]
            self.refuse(event, f"only one document is allowed; a second one starts at line {line}")
        self._is_begun = True

    def key(self, event: Any, found: dict[str, Any], path: Path = ()) -> str:
        self.count(event, path, 1)
        key = super().key(event, found, path)
        if key == "<<" and event.implicit[0]:
            self.refuse(event, "merge keys are not allowed; write the fields out", path)
        return key

    def doubled(self, event: Any, path: Path) -> None:
        first, second = self.policy.keys[path][1], self.place(event)[1]
        self._tell(event, path, f"the same field twice, at lines {first} and {second}; keep one")

    def store(self, found: dict[str, Any], key: str, value: Any) -> None:
        found.setdefault(key, value)

    def scalar(self, event: Any, path: Path) -> Any:
        text: str = event.value
        if event.implicit[0]:
            self.policy.plain_texts[path] = text
        kind = str(_RESOLVER.resolve(yaml.ScalarNode, text, event.implicit)).rpartition(":")[2]
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() in ("true", "yes", "on", "y")
        return self._number(event, path, kind) if kind in ("int", "float") else text

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
        self._tell(event, path, f"{problem}; {advice}")
        return None

    def _tell(self, event: Any, path: Path, text: str) -> None:
        self.policy.problems.append(ReadingProblem(*self.place(event), written(path), text))
