"""API objects out of YAML text, document by document and item by item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from rescheduler.adapters.kubernetes.decoding.errors import BrokenTextError
from rescheduler.adapters.recording.documents import Envelope, Item, head_of, item_of
from rescheduler.adapters.recording.limits import LARGEST_OBJECT_BYTES, LARGEST_YAML_BYTES
from rescheduler.adapters.recording.yaml_aliases import refuse_early
from rescheduler.adapters.recording.yaml_values import YamlValues, place, scalar
from rescheduler.model.printable import shortened


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
