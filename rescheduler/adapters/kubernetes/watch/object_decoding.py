"""Decodes the objects of one kind, one unreadable object among them being no reason to lose the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Raw

from rescheduler.adapters.kubernetes.kinds import ObjectKind
from rescheduler.adapters.kubernetes.objects.decode import ObjectError, decode
from rescheduler.adapters.kubernetes.objects.metadata import ObjectMeta
from rescheduler.adapters.kubernetes.objects.pages import decode_object, decode_page, raw_items
from rescheduler.adapters.kubernetes.watch.sink import Unreadable
from rescheduler.adapters.kubernetes.watch.watch_lines import Marked


class ObjectDecoding:
    """``warn`` hears of each object that cannot be read."""

    def __init__(self, kind: ObjectKind, warn: Callable[[str], None]) -> None:
        self._kind = kind
        self._warn = warn

    def one(self, raw: Raw) -> Any:
        """The object, or Unreadable in its place. Raises BrokenTextError for what is no JSON."""
        try:
            return decode_object(self._kind, raw)
        except ObjectError as error:
            self._warn(str(error))
            return Unreadable(_metadata(raw), error)

    def page(self, page: bytes) -> Iterator[Any]:
        """The objects of one page. Raises ObjectError for what is no list, BrokenTextError for what is no JSON."""
        try:
            yield from decode_page(self._kind, page)
        except ObjectError:
            yield from map(self.one, raw_items(page))


def _metadata(raw: Raw) -> ObjectMeta:
    try:
        return decode(raw, Marked).metadata or ObjectMeta()
    except ObjectError:
        return ObjectMeta()
