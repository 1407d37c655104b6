"""API objects out of YAML text, event by event: no aliases, no tags, no duplicate keys, no deep nesting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import yaml

from rescheduler.adapters.kubernetes.decoding.errors import BrokenTextError
from rescheduler.adapters.printable import printable
from rescheduler.adapters.recording.documents import Envelope, Item, head_of, item_of
from rescheduler.adapters.recording.limits import DEEPEST_NESTING, LARGEST_OBJECT_BYTES, LARGEST_YAML_BYTES
from rescheduler.adapters.recording.yaml_aliases import NOT_ALLOWED, refuse_early

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WHOLE: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,30})")
_DECIMAL: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NOT_NUMBERS: Final = frozenset({".nan", ".NaN", ".NAN", ".inf", "-.inf", "+.inf", ".Inf", "-.Inf", "+.Inf"})


class _Events:
    """The parser's events, with everything refused that no recording needs."""

    def __init__(self, text: bytes) -> None:
        self._events = yaml.parse(text, Loader=_LOADER)

    def next(self) -> Any:
        """The next event. Raises BrokenTextError."""
        try:
            event: Any = next(self._events)
        except yaml.YAMLError as error:
            raise BrokenTextError(_complaint(error)) from error
        except UnicodeDecodeError as error:
            raise BrokenTextError("the text is not UTF-8", error.start) from error
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BrokenTextError(f"{_place(event)}: {NOT_ALLOWED}")
        if getattr(event, "tag", None):
            raise BrokenTextError(f"{_place(event)}: tag {printable(str(event.tag))} is not allowed")
        return event


def yaml_objects(chunks: Iterator[bytes]) -> Iterator[Item | Envelope]:
    """Objects of one or several YAML documents. Raises BrokenTextError, ObjectError."""
    text = _whole(chunks)
    refuse_early(text)
    events = _Events(text)
    while True:
        event = events.next()
        if isinstance(event, yaml.StreamEndEvent):
            return
        if isinstance(event, yaml.MappingStartEvent):
            yield from _document(events)
        elif isinstance(event, yaml.SequenceStartEvent):
            yield from _items(events, None, [])
        elif isinstance(event, yaml.ScalarEvent) and _scalar(event) is not None:
            shown = printable(str(event.value), 60)
            raise BrokenTextError(
                f"{_place(event)}: found {shown!r}, which is no API object; write recordings with kubectl get ... "
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


def _document(events: _Events) -> Iterator[Item | Envelope]:
    members: dict[str, Any] = {}
    waiting: list[tuple[bytes, str]] = []
    is_list = False
    while not isinstance(event := events.next(), yaml.MappingEndEvent):
        key = _key(event, members)
        event = events.next()
        if key == "items" and isinstance(event, yaml.SequenceStartEvent):
            is_list = True
            members["items"] = []
            known = members.get("kind")
            yield from _items(events, known if isinstance(known, str) else None, waiting)
        else:
            members[key] = _value(events, event, 1)
    whole = msgspec.json.encode(members)
    kind, api_version = head_of(whole, "the document")
    for raw, where in waiting:
        item = item_of(raw, kind, where)
        assert item is not None
        yield item
    yield Envelope(kind, whole) if is_list or kind.endswith("List") else Item(kind, api_version, whole, "the document")


def _items(events: _Events, kind: str | None, waiting: list[tuple[bytes, str]]) -> Iterator[Item]:
    number = held = 0
    while not isinstance(event := events.next(), yaml.SequenceEndEvent):
        where = f"items[{number}]"
        number += 1
        if not isinstance(event, yaml.MappingStartEvent):
            raise BrokenTextError(f"{_place(event)}: {where} is no object")
        raw = msgspec.json.encode(_value(events, event, 2))
        item = item_of(raw, kind, where)
        if item is not None:
            yield item
            continue
        waiting.append((raw, where))
        held += len(raw)
        if held > LARGEST_OBJECT_BYTES:
            raise BrokenTextError(f"{_place(event)}: the list names its kind after its items; it must come first")


def _value(events: _Events, event: Any, depth: int) -> Any:
    if depth > DEEPEST_NESTING:
        raise BrokenTextError(f"{_place(event)}: nested deeper than {DEEPEST_NESTING} levels")
    if isinstance(event, yaml.MappingStartEvent):
        mapping: dict[str, Any] = {}
        while not isinstance(inner := events.next(), yaml.MappingEndEvent):
            key = _key(inner, mapping)
            mapping[key] = _value(events, events.next(), depth + 1)
        return mapping
    if isinstance(event, yaml.SequenceStartEvent):
        sequence = []
        while not isinstance(inner := events.next(), yaml.SequenceEndEvent):
            sequence.append(_value(events, inner, depth + 1))
        return sequence
    return _scalar(event)


def _key(event: Any, mapping: dict[str, Any]) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise BrokenTextError(f"{_place(event)}: a key must be a plain text")
    key = str(event.value)
    if key in mapping:
        raise BrokenTextError(f"{_place(event)}: key {printable(key)!r} stands twice in one mapping")
    return key


def _scalar(event: Any) -> Any:
    """Plain words as null, booleans and numbers; whatever is quoted, or anything else, as text.

    A number too large for its type stays text, so that the field it stands in can refuse it by name.
    """
    text = str(event.value)
    if event.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text in _NOT_NUMBERS:
        raise BrokenTextError(f"{_place(event)}: {text} is no number that can be used here")
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) and ("." in text or "e" in text.lower()):
        number = float(text)
        return number if abs(number) < 1e300 else text
    return text


def _place(event: Any) -> str:
    mark = event.start_mark
    return f"line {mark.line + 1}, column {mark.column + 1}"


def _complaint(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "the text is no YAML"
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return printable(f"{where}{problem}", 300)
