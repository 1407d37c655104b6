"""What reading a text yields: API objects one by one, and what stood around them."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import msgspec

from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError

# How much a recording may ask of us before it is refused as hostile.

CHUNK_BYTES: Final = 4 * 2**20
LARGEST_OBJECT_BYTES: Final = 64 * 2**20
"""One object, or everything in a list beside its items; an API server accepts 1.5 MB or so."""

LARGEST_YAML_BYTES: Final = 128 * 2**20
"""YAML is read as a whole, and a hundred times more slowly than JSON."""

LARGEST_YAML_WITH_ALIASES_BYTES: Final = 4 * 2**20
LARGEST_YAML_EXPANSION_BYTES: Final = 16 * 2**20
"""Some writers repeat equal parts by aliases; kubectl does not."""

LARGEST_TEXT_BYTES: Final = 8 * 2**30
"""What one file may hold once unpacked."""

LARGEST_EXPANSION: Final = 300
UNSUSPICIOUS_BYTES: Final = 64 * 2**20
"""Compressed data may expand by this factor; the factor counts only above this size."""

UNPACKING_MEMORY_BYTES: Final = 256 * 2**20
DEEPEST_NESTING: Final = 200

MOST_OBJECTS: Final = 600_000
MOST_UNUSED_OBJECTS: Final = 300_000
"""Kinds that are not needed may stand in a recording too, but not without end."""


_HEAD: Final = re.compile(rb'\s*\{\s*"apiVersion"\s*:\s*"([^"\\]*)"\s*,\s*"kind"\s*:\s*"([^"\\]*)"')


class Item(NamedTuple):
    """One object as JSON. ``where``: its place in the text, for messages about objects without a name."""

    kind: str
    api_version: str
    raw: bytes
    where: str


class Envelope(NamedTuple):
    """A list without its items."""

    kind: str
    raw: bytes


class _Head(msgspec.Struct, gc=False):
    """Anything may stand there in a hostile text."""

    kind: Any = None
    api_version: Any = msgspec.field(name="apiVersion", default=None)


def item_of(raw: bytes, list_kind: str | None, where: str) -> Item | None:
    """An object with its kind, or that of its list (``PodList``); None while neither is known.

    Raises ObjectError for a kind that is no text.
    """
    match = _HEAD.match(raw)
    if match:
        return Item(match.group(2).decode("utf-8", "replace"), match.group(1).decode("utf-8", "replace"), raw, where)
    kind, api_version = head_of(raw, where)
    if kind:
        return Item(kind, api_version, raw, where)
    if list_kind is None:
        return None
    if list_kind in ("", "List"):
        raise ObjectError("kind", "is missing, and the list does not say it either", where)
    return Item(list_kind.removesuffix("List"), "", raw, where)


def head_of(raw: bytes, where: str) -> tuple[str, str]:
    """``kind`` and ``apiVersion`` of a JSON object, empty where absent. Raises ObjectError."""
    try:
        head = msgspec.json.decode(raw, type=_Head)
    except UnicodeDecodeError as error:
        raise ObjectError("", "holds text that is not UTF-8", where) from error
    for name, value in (("kind", head.kind), ("apiVersion", head.api_version)):
        if value is not None and not isinstance(value, str):
            raise ObjectError(name, "is no text", where)
    return head.kind or "", head.api_version or ""
