"""Pages of a list and single objects, decoded in one go; errors name the object."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, cast

import msgspec

from rescheduler.adapters.kubernetes.kinds import ObjectKind
from rescheduler.adapters.kubernetes.objects.decode import ObjectError, decode
from rescheduler.adapters.kubernetes.objects.metadata import ApiStruct


class _Items(ApiStruct):
    items: list[msgspec.Raw] | None = None


class _Names(ApiStruct):
    """As lenient as can be: whatever stands there."""

    name: Any = None
    namespace: Any = None


class _Named(ApiStruct):
    metadata: _Names | None = None


_NAMED = msgspec.json.Decoder(_Named)  # made here and not by the threads that read, see ``decoder_of``


def decode_page(kind: ObjectKind, page: bytes) -> list[Any]:
    """The objects of one page. Raises ObjectError naming the object, BrokenTextError for what is no JSON."""
    try:
        found: list[Any] | None = decode(page, _page_type(cast("Hashable", kind.decoded))).items
    except ObjectError:
        # Once more, object by object: that tells which one it is.
        return [decode_object(kind, raw) for raw in raw_items(page)]
    return found or []


def raw_items(page: bytes) -> list[msgspec.Raw]:
    """The objects of one page, not decoded. Raises ObjectError for what is no list, BrokenTextError for no JSON."""
    return decode(page, _Items).items or []


def decode_object(kind: ObjectKind, raw: bytes | msgspec.Raw) -> Any:
    """One object. Raises ObjectError naming it, BrokenTextError for what is no JSON."""
    try:
        return decode(raw, kind.decoded)
    except ObjectError as error:
        raise labelled(error, kind.name, raw) from error


def labelled(error: ObjectError, kind: str, raw: bytes | msgspec.Raw) -> ObjectError:
    """The same error with the kind and name of the object that these bytes hold, as far as it tells them."""
    return ObjectError(error.path, error.problem, error.label or label_of(kind, raw))


def label_of(kind: str, raw: bytes | msgspec.Raw) -> str:
    """``Pod default/web-1``; ``Pod (without a name)`` where there is none."""
    try:
        meta = _NAMED.decode(raw).metadata or _Names()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        meta = _Names()
    if not isinstance(meta.name, str) or not meta.name:
        return f"{kind} (without a name)"
    where = f"{meta.namespace}/" if isinstance(meta.namespace, str) and meta.namespace else ""
    return f"{kind} {where}{meta.name}"


@lru_cache(maxsize=64)
def _page_type(decoded: Hashable) -> Any:
    name = getattr(decoded, "__name__", "")
    items = list[decoded] | None  # type: ignore[valid-type]
    return msgspec.defstruct(f"{name}Page", [("items", items, None)], gc=False)
