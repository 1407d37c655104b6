"""All objects of one kind as they stand, converted; put in order only when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.conversion.assembly import CLUSTER_WIDE
from rescheduler.adapters.kubernetes.conversion.metadata import SharedMetadata
from rescheduler.adapters.kubernetes.conversion.object_conversion import ObjectConversion, lacks_priority
from rescheduler.adapters.kubernetes.conversion.pod_facts import PodFacts, PodTally
from rescheduler.adapters.kubernetes.decoding.errors import ObjectError
from rescheduler.adapters.kubernetes.decoding.metadata import ObjectMeta
from rescheduler.adapters.kubernetes.watching.ordered_objects import Key, OrderedObjects
from rescheduler.adapters.kubernetes.watching.sink import Unreadable
from rescheduler.adapters.kubernetes.watching.versions import number_of
from rescheduler.model.pod import Pod

_NO_META: Final = ObjectMeta()


class KindState(NamedTuple):
    """A kind at one moment. ``objects`` in the model's order; the same tuple as before where nothing has changed.

    ``warnings``: of single objects, in the same order. ``without_priority``: pods that leave theirs to their class.
    """

    objects: tuple[Any, ...] = ()
    warnings: tuple[str, ...] = ()
    without_priority: tuple[Any, ...] = ()
    pod_facts: PodFacts = PodTally().facts()


class _Kept:
    """Objects by namespace and name; ``warnings`` and ``errors`` are those of a few of them."""

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.versions: dict[Key, str] = {}
        self.warnings: dict[Key, tuple[str, ...]] = {}
        self.errors: dict[Key, ObjectError] = {}
        self.without_priority: set[Key] = set()
        self.tally = PodTally()

    def keep(self, key: Key, found: Any) -> None:
        """An object that was not there."""
        self.objects[key] = found
        if isinstance(found, Pod):
            self.tally.add(found)

    def forget(self, key: Key) -> None:
        """Nothing is known of it any more."""
        before = self.objects.get(key)
        if isinstance(before, Pod):
            self.tally.remove(before)
        for part in (self.objects, self.versions, self.warnings, self.errors):
            part.pop(key, None)
        self.without_priority.discard(key)

    def about(self, key: Key) -> tuple[Any, ...]:
        """All that is known of an object but its version."""
        return (
            self.objects.get(key), self.warnings.get(key), self.errors.get(key), key in self.without_priority
        )  # fmt: skip

    def is_like(self, other: _Kept) -> bool:
        """Whether nobody can tell the difference."""
        return (self.objects, self.warnings, self.without_priority, list(self.errors)) == (
            other.objects, other.warnings, other.without_priority, list(other.errors),
        )  # fmt: skip


class KindStore:
    """The sink of one kind's reflector; all else is asked under ``lock``, by any thread."""

    def __init__(
        self,
        kind: str,
        lock: AbstractContextManager[Any],
        changed: Callable[[], None],
        shared: SharedMetadata,
        warn: Callable[[str], None],
    ) -> None:
        """``changed`` is called, under the lock, after each change. ``shared``: by the stores of all kinds.

        ``warn`` hears of each object that cannot be converted.
        """
        self._kind, self._lock, self._changed, self._warn = kind, lock, changed, warn
        self._noted: list[str] = []
        self._conversion = ObjectConversion(self._noted.append, shared)
        self._kept = _Kept()
        self._order = OrderedObjects()
        self._state: KindState | None = KindState()

    def __len__(self) -> int:
        return len(self._kept.objects)

    def replace(self, objects: Iterable[Any]) -> None:
        """All objects that there are; the lock is not held while they are read."""
        fresh = _Kept()
        for found in objects:
            self._complain(self._put(fresh, self._key(found), found))
        with self._lock:
            before, self._kept = self._kept, fresh
            if not fresh.is_like(before):
                self._order = OrderedObjects(fresh.objects)
                self._touch()

    def upsert(self, found: Any) -> None:
        """A new state of an object; one that is no newer than ours is left out."""
        key = self._key(found)
        if not _is_newer(self._kept.versions.get(key), found):
            return
        with self._lock:
            before = self._kept.about(key)
            error = self._put(self._kept, key, found)
            if self._kept.about(key) == before:
                return  # a heartbeat, say
            if key in self._kept.objects:
                self._order.put(key, self._kept.objects[key])
            else:
                self._order.remove(key)
            self._touch()
        self._complain(error)

    def delete(self, found: Any) -> None:
        """An object is gone, unless ours is of a later time: another one of the same name."""
        key = self._key(found)
        known = self._kept.versions.get(key)
        if known is None or not _is_newer(known, found, or_equal=True):
            return
        with self._lock:
            self._kept.forget(key)
            self._order.remove(key)
            self._touch()

    def state(self) -> KindState:
        """What there is. Raises ObjectError while there is an object that cannot be read or converted."""
        kept = self._kept
        if kept.errors:
            raise _fresh(kept.errors[min(kept.errors)])
        if self._state is None:
            self._state = KindState(
                self._order.all(),
                tuple(text for key in sorted(kept.warnings) for text in kept.warnings[key]),
                tuple(kept.objects[key] for key in sorted(kept.without_priority)),
                kept.tally.facts(),
            )
        return self._state

    def _put(self, kept: _Kept, key: Key, found: Any) -> ObjectError | None:
        """Convert an object, or take the one that we have of the same version; why that failed."""
        version = (found.metadata or _NO_META).resource_version or ""
        if version and kept is not self._kept and self._kept.versions.get(key) == version:
            self._keep_again(kept, key, version)
            return None
        kept.forget(key)
        kept.versions[key] = version
        if isinstance(found, Unreadable):
            kept.errors[key] = _fresh(found.error)
            return None  # the reflector has told of it
        is_lacking = lacks_priority(self._kind, found)
        try:
            kept.keep(key, self._conversion.convert(self._kind, found))
        except ObjectError as error:
            kept.errors[key] = _fresh(error)
            return error
        finally:
            noted, self._noted[:] = tuple(self._noted), ()
        if is_lacking:
            kept.without_priority.add(key)
        if noted:
            kept.warnings[key] = noted
        return None

    def _complain(self, error: ObjectError | None) -> None:
        if error is not None:
            self._warn(str(error))

    def _keep_again(self, kept: _Kept, key: Key, version: str) -> None:
        ours = self._kept
        kept.forget(key)
        kept.versions[key] = version
        if key in ours.errors:
            kept.errors[key] = ours.errors[key]
            return
        kept.keep(key, ours.objects[key])
        if key in ours.warnings:
            kept.warnings[key] = ours.warnings[key]
        if key in ours.without_priority:
            kept.without_priority.add(key)

    def _key(self, found: Any) -> Key:
        meta = found.metadata or _NO_META
        return ("" if self._kind in CLUSTER_WIDE else meta.namespace or "default", meta.name or "")

    def _touch(self) -> None:
        self._state = None
        self._changed()


def _fresh(error: ObjectError) -> ObjectError:
    """The same error without the frames that it has passed, which would keep alive whatever they hold."""
    return ObjectError(error.path, error.problem, error.label)


def _is_newer(known: str | None, found: Any, *, or_equal: bool = False) -> bool:
    """Whether an object is of a later version than a known one; what cannot be compared is taken to be."""
    version = (found.metadata or _NO_META).resource_version or ""
    if known is None or not version:
        return True
    if known == version:
        return or_equal
    ours, theirs = number_of(known), number_of(version)
    return ours is None or theirs is None or theirs > ours
