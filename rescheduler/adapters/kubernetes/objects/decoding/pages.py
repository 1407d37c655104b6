"""Pages of a list and single objects, decoded in one go; errors name the object."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, cast

import msgspec

from rescheduler.adapters.kubernetes.kinds import ObjectKind
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError, decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct, ObjectMeta
from rescheduler.adapters.kubernetes.objects.decoding.setting_aside import Glimpse, glimpse_of_text


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


# One unreadable object among others is no reason to lose those.


class Unreadable(NamedTuple):
    """Stands for an object that cannot be decoded, as far as it can be seen."""

    metadata: ObjectMeta
    error: ObjectError
    glimpse: Glimpse


class ObjectDecoding:
    """Decodes objects of one kind; ``warn`` hears of each that cannot be read."""

    def __init__(self, kind: ObjectKind, warn: Callable[[str], None]) -> None:
        self._kind = kind
        self._warn = warn

    def one(self, raw: msgspec.Raw) -> Any:
        """The object, or Unreadable in its place. Raises BrokenTextError for what is no JSON."""
        try:
            return decode_object(self._kind, raw)
        except ObjectError as error:
            self._warn(str(error))
            meta = _metadata(raw)
            return Unreadable(meta, error, glimpse_of_text(meta, raw))

    def page(self, page: bytes) -> Iterator[Any]:
        """The objects of one page. Raises ObjectError for what is no list, BrokenTextError for what is no JSON."""
        try:
            yield from decode_page(self._kind, page)
        except ObjectError:
            yield from map(self.one, raw_items(page))


class _Marked(ApiStruct):
    metadata: ObjectMeta | None = None


def _metadata(raw: msgspec.Raw) -> ObjectMeta:
    try:
        return decode(raw, _Marked).metadata or ObjectMeta()
    except ObjectError:
        return ObjectMeta()
