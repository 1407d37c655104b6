"""API objects out of YAML text, document by document and item by item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final, NamedTuple

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
from rescheduler.adapters.kubernetes.objects.decode import BrokenTextError
from rescheduler.model.printable import shortened

# Values out of YAML events: no tags, no duplicate keys, no deep nesting, aliases only as far as they are harmless.

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WHOLE: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,30})")
_DECIMAL: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_QUOTED: Final = ("'", '"', "|", ">")
_NOT_NUMBERS: Final = frozenset({".nan", ".NaN", ".NAN", ".inf", "-.inf", "+.inf", ".Inf", "-.Inf", "+.Inf"})


class _Anchored(NamedTuple):
    """A value that may be repeated, and about how many bytes it is."""

    value: Any
    size: int


class YamlValues:
    """The values of a YAML text, one after the other.

    An alias repeats a value, as some writers do for equal parts; all repetitions together may not grow beyond
    LARGEST_YAML_EXPANSION_BYTES.
    """

    def __init__(self, text: bytes) -> None:
        """Nothing is parsed yet."""
        self._events = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, _Anchored] = {}
        self._expanded = 0
        self._size = 0  # of all values so far, as JSON, roughly

    def next(self) -> Any:
        """The next event. Raises BrokenTextError."""
        try:
            event: Any = next(self._events)
        except yaml.YAMLError as error:
            raise BrokenTextError(_complaint(error)) from error
        except UnicodeDecodeError as error:
            raise BrokenTextError("the text is not UTF-8", error.start) from error
        if getattr(event, "tag", None):
            raise BrokenTextError(f"{place(event)}: tag {shortened(str(event.tag))} is not allowed")
        if isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}
        return event

    def value(self, event: Any, depth: int = 1) -> Any:
        """The value that begins with an event. Raises BrokenTextError."""
        if depth > DEEPEST_NESTING:
            raise BrokenTextError(f"{place(event)}: nested deeper than {DEEPEST_NESTING} levels")
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event)
        before = self._size
        self._size += 2
        found: Any
        if isinstance(event, yaml.MappingStartEvent):
            found = {}
            while not isinstance(inner := self.next(), yaml.MappingEndEvent):
                key = self.key(inner, found)
                found[key] = self.value(self.next(), depth + 1)
        elif isinstance(event, yaml.SequenceStartEvent):
            found = []
            while not isinstance(inner := self.next(), yaml.SequenceEndEvent):
                found.append(self.value(inner, depth + 1))
        else:
            found = scalar(event)
            self._size += len(event.value)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(found, self._size - before)
        return found

    def key(self, event: Any, mapping: dict[str, Any]) -> str:
        """A key that the mapping does not have yet. Raises BrokenTextError."""
        if not isinstance(event, yaml.ScalarEvent):
            raise BrokenTextError(f"{place(event)}: a key must be a plain text")
        key = str(event.value)
        if key in mapping:
            raise BrokenTextError(f"{place(event)}: key {shortened(key)!r} stands twice in one mapping")
        self._size += len(key) + 4
        return key

    def _repeated(self, event: Any) -> Any:
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            raise BrokenTextError(f"{place(event)}: alias *{shortened(event.anchor)} repeats nothing that is complete")
        self._size += anchored.size
        self._expanded += anchored.size
        if self._expanded > LARGEST_YAML_EXPANSION_BYTES:
            limit = LARGEST_YAML_EXPANSION_BYTES // 2**20
            raise BrokenTextError(f"{place(event)}: aliases expand to more than {limit} MiB; write the values out")
        return anchored.value


def scalar(event: Any) -> Any:
    """Plain words as null, booleans and numbers; whatever is quoted, or anything else, as text.

    A number too large for its type stays text, so that the field it stands in can refuse it by name.
    """
    text = str(event.value)
    if event.style in _QUOTED:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text in _NOT_NUMBERS:
        raise BrokenTextError(f"{place(event)}: {text} is no number that can be used here")
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) and ("." in text or "e" in text.lower()):
        number = float(text)
        return number if abs(number) < 1e300 else text
    return text


def place(event: Any) -> str:
    """Line and column, as editors count."""
    mark = event.start_mark
    return f"line {mark.line + 1}, column {mark.column + 1}"


def _complaint(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "the text is no YAML"
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return shortened(f"{where}{problem}", 300)


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
        for event in yaml.parse(excerpt, Loader=_LOADER):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                return event.start_mark.line if event.start_mark else 0
    except (yaml.YAMLError, UnicodeDecodeError):
        return None
    return None


def yaml_objects(chunks: Iterator[bytes]) -> Iterator[Item | Envelope]:
    """Objects of one or several YAML documents. Raises BrokenTextError, ObjectError."""
    text = _whole(chunks)
    refuse_early(text)
    values = YamlValues(text)
    while not isinstance(event := values.next(), yaml.StreamEndEvent):
        if isinstance(event, yaml.MappingStartEvent):
            yield from _document(values)
        elif isinstance(event, yaml.SequenceStartEvent):
            yield from _items(values, None, [])
        elif isinstance(event, yaml.ScalarEvent) and scalar(event) is not None:
            shown = shortened(str(event.value), 60)
            raise BrokenTextError(
                f"{place(event)}: found {shown!r}, which is no API object; write recordings with kubectl get ... "
                "-o json or -o yaml"
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


def _document(values: YamlValues) -> Iterator[Item | Envelope]:
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


def _items(values: YamlValues, kind: str | None, waiting: list[tuple[bytes, str]]) -> Iterator[Item]:
    number = held = 0
    while not isinstance(event := values.next(), yaml.SequenceEndEvent):
        where = f"items[{number}]"
        number += 1
        found = values.value(event, 2)
        if not isinstance(found, dict):
            raise BrokenTextError(f"{place(event)}: {where} is no object")
        raw = msgspec.json.encode(found)
        item = item_of(raw, kind, where)
        if item is not None:
            yield item
            continue
        waiting.append((raw, where))
        held += len(raw)
        if held > LARGEST_OBJECT_BYTES:
            raise BrokenTextError(f"{place(event)}: the list names its kind after its items; it must come first")
