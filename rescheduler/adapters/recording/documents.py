"""What reading a text yields: API objects one by one, and what stood around them."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import msgspec

from rescheduler.adapters.kubernetes.decoding.errors import ObjectError

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
