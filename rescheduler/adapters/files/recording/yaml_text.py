"""API objects out of YAML text, document by document and item by item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

import msgspec
import yaml

from rescheduler.adapters.files.recording.documents import (
    DEEPEST_NESTING,
    LARGEST_OBJECT_BYTES,
    LARGEST_YAML_BYTES,
    LARGEST_YAML_EXPANSION_BYTES,
    LARGEST_YAML_WITH_ALIASES_BYTES,
    Envelope,
    Item,
    head_of,
    item_of,
)
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError
from rescheduler.model.printable import shortened
from rescheduler.policy.reading.document import Path
from rescheduler.policy.reading.yaml_reader import FAST_LOADER, YamlReader, YamlTextError


class _RecordingReader(YamlReader):
    """An alias repeats a value, as some writers do for equal parts.

    All repetitions together may not grow beyond LARGEST_YAML_EXPANSION_BYTES, as JSON, roughly.
    """

    loader = FAST_LOADER
    deepest = DEEPEST_NESTING
    allows_aliases = True
    no_anchor = "alias *{} repeats nothing that is complete"
    no_tag = "tag {} is not allowed"
    no_key = "a key must be a plain text"

    def count(self, event: Any, path: Path, size: int) -> None:  # noqa: ARG002 - no limit but that of repetitions
        """About the bytes of a value, or of a repeated one, as JSON."""
        self.size += size if size > 1 else 2 + len(getattr(event, "value", ""))

    def key(self, event: Any, found: dict[str, Any], path: Path = ()) -> str:
        key = super().key(event, found, path)
        self.size += len(key) + 4
        return key

    def doubled(self, event: Any, path: Path) -> None:
        self.refuse(event, f"key {shortened(event.value)!r} stands twice in one mapping", path)

    def repeated(self, event: Any) -> None:
        if self.expanded > LARGEST_YAML_EXPANSION_BYTES:
            limit = LARGEST_YAML_EXPANSION_BYTES // 2**20
            self.refuse(event, f"aliases expand to more than {limit} MiB; write the values out")


# Finds YAML anchors and aliases in large texts without parsing them, so that a bomb is refused in seconds.

_NOT_ALLOWED: Final = "anchors and aliases are not allowed in a text of this size; write the values out"
_BEFORE: Final = b" \t\r\n[{,"
_NAME: Final = re.compile(rb"[A-Za-z0-9_]")
_MOST_CANDIDATES: Final = 50
_LARGEST_EXCERPT: Final = 2**18


def refuse_early(text: bytes) -> None:
    """Look closely at places in a large text that might be anchors or aliases. Raises BrokenTextError if one is.

    What this overlooks (it reads excerpts), and aliases in small texts, may not expand beyond a limit.
    """
    if len(text) <= LARGEST_YAML_WITH_ALIASES_BYTES:
        return
    for position in chain(*(islice(_candidates(text, mark), _MOST_CANDIDATES) for mark in (b"&", b"*"))):
        start, end = _list_entry(text, position)
        line = _line_of_alias(text[start:end])
        if line is not None:
            before = text.count(b"\n", 0, start)
            raise BrokenTextError(f"line {before + line + 1}: {_NOT_ALLOWED}")


def _candidates(text: bytes, mark: bytes) -> Iterator[int]:
    """Where a mark follows white space, a bracket or a comma, and a name follows it.

    Texts that span several lines may hold the same. Searched for by hand: a pattern would take ten times as long.
    """
    position = text.find(mark)
    while position >= 0:
        if (position == 0 or text[position - 1] in _BEFORE) and _NAME.match(text, position + 1):
            yield position
        position = text.find(mark, position + 1)


def _list_entry(text: bytes, position: int) -> tuple[int, int]:
    """The entry of the outermost list (``- ...`` at the start of a line) or document around a position."""
    earliest = max(0, position - _LARGEST_EXCERPT)
    start = max(text.rfind(b"\n- ", earliest, position), text.rfind(b"\n---", earliest, position)) + 1
    end = text.find(b"\n- ", position, position + _LARGEST_EXCERPT)
    return start or earliest, end if end >= 0 else min(len(text), position + _LARGEST_EXCERPT)


def _line_of_alias(excerpt: bytes) -> int | None:
    try:
        for event in yaml.parse(excerpt, Loader=FAST_LOADER):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                return event.start_mark.line if event.start_mark else 0
    except (yaml.YAMLError, UnicodeDecodeError):
        return None
    return None


def yaml_objects(chunks: Iterator[bytes]) -> Iterator[Item | Envelope]:
    """Objects of one or several YAML documents. Raises BrokenTextError, ObjectError."""
    text = _whole(chunks)
    refuse_early(text)
    try:
        yield from _objects(_RecordingReader(text))
    except YamlTextError as error:
        _, line, column, _, told = error.problem
        where = f"line {line}, column {column}: " if line else ""
        raise BrokenTextError(where + shortened(told, 300)) from error


def _objects(values: YamlReader) -> Iterator[Item | Envelope]:
    while (event := values.next()) is not None:
        if isinstance(event, yaml.NodeEvent) and not isinstance(event, yaml.AliasEvent):
            values.check(event, ())
        if isinstance(event, yaml.MappingStartEvent):
            yield from _document(values)
        elif isinstance(event, yaml.SequenceStartEvent):
            yield from _items(values, None, [])
        elif isinstance(event, yaml.ScalarEvent) and values.scalar(event, ()) is not None:
            shown = shortened(str(event.value), 60)
            values.refuse(
                event,
                f"found {shown!r}, which is no API object; write recordings with kubectl get ... -o json or -o yaml",
            )


def _whole(chunks: Iterator[bytes]) -> bytes:
    parts: list[bytes] = []
    total = 0
    for chunk in chunks:
        parts.append(chunk)
        total += len(chunk)
        if total > LARGEST_YAML_BYTES:
            raise BrokenTextError(f"more than {LARGEST_YAML_BYTES // 2**20} MiB of YAML; record with -o json instead")
    return b"".join(parts)


def _document(values: YamlReader) -> Iterator[Item | Envelope]:
    members: dict[str, Any] = {}
    waiting: list[tuple[bytes, str]] = []
    is_list = False
    while not isinstance(event := values.next(), yaml.MappingEndEvent):
        key = values.key(event, members)
        event = values.next()
        if key == "items" and isinstance(event, yaml.SequenceStartEvent):
            is_list = True
            members["items"] = []
            known = members.get("kind")
            yield from _items(values, known if isinstance(known, str) else None, waiting)
        else:
            members[key] = values.value(event)
    whole = msgspec.json.encode(members)
    kind, api_version = head_of(whole, "the document")
    for raw, where in waiting:
        item = item_of(raw, kind, where)
        assert item is not None
        yield item
    yield Envelope(kind, whole) if is_list or kind.endswith("List") else Item(kind, api_version, whole, "the document")


def _items(values: YamlReader, kind: str | None, waiting: list[tuple[bytes, str]]) -> Iterator[Item]:
    number = held = 0
    while not isinstance(event := values.next(), yaml.SequenceEndEvent):
        where = f"items[{number}]"
        number += 1
        found = values.value(event, depth=2)
        if not isinstance(found, dict):
            values.refuse(event, f"{where} is no object")
        raw = msgspec.json.encode(found)
        item = item_of(raw, kind, where)
        if item is not None:
            yield item
            continue
        waiting.append((raw, where))
        held += len(raw)
        if held > LARGEST_OBJECT_BYTES:
            values.refuse(event, "the list names its kind after its items; it must come first")
