"""All objects of one kind as they stand, converted; put in order only when somebody asks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.objects.assembly import CLUSTER_WIDE, PodFacts, PodTally
from rescheduler.adapters.kubernetes.objects.cluster import ObjectConversion, lacks_priority
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta, SharedMetadata
from rescheduler.adapters.kubernetes.objects.decoding.pages import Unreadable
from rescheduler.adapters.kubernetes.objects.decoding.setting_aside import stand_in
from rescheduler.adapters.kubernetes.watch.watched_scope import Key, WatchedScope
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.constraints import Requirement
from rescheduler.model.objects.indexed import MOST_LABELS, IndexedPods
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resource_version import number_of
from rescheduler.model.objects.set_aside import SetAside

# Objects in the order of their names, kept so at the price of the few that change.

_MOST_MOVED: Final = 200
"""An insertion moves all that comes after it: among 150,000 that takes 0.1 ms, and sorting anew a hundred of those."""
_GONE: Final = object()


class OrderedObjects:
    """Changes are gathered until somebody asks."""

    def __init__(self, objects: dict[Key, Any] | None = None) -> None:
        """``objects`` may be changed afterwards."""
        self._changed: dict[Key, Any] = dict(objects or {})
        self._keys: list[Key] = []
        self._objects: list[Any] = []

    def put(self, key: Key, found: Any) -> None:
        """Take an object in the place of what has this key."""
        self._changed[key] = found

    def remove(self, key: Key) -> None:
        """Nothing happens if it is not there."""
        self._changed[key] = _GONE

    def all(self) -> tuple[Any, ...]:
        """All objects, in order."""
        moved = [item for item in self._changed.items() if not self._is_replaced(*item)]
        if len(moved) <= _MOST_MOVED:
            for key, found in moved:
                self._move(key, found)
        else:
            self._sort_anew(moved)
        self._changed.clear()
        return tuple(self._objects)

    def _is_replaced(self, key: Key, found: Any) -> bool:
        """Whether the object took the place of another, and all is done."""
        index = bisect_left(self._keys, key)
        is_known = index < len(self._keys) and self._keys[index] == key
        if is_known and found is not _GONE:
            self._objects[index] = found
        return is_known is (found is not _GONE)

    def _move(self, key: Key, found: Any) -> None:
        """Insert an object that is not there, or take one out that is."""
        index = bisect_left(self._keys, key)
        if found is _GONE:
            del self._keys[index], self._objects[index]
        else:
            self._keys.insert(index, key)
            self._objects.insert(index, found)

    def _sort_anew(self, moved: list[tuple[Key, Any]]) -> None:
        everything = dict(zip(self._keys, self._objects, strict=True))
        for key, found in moved:
            if found is _GONE:
                del everything[key]
            else:
                everything[key] = found
        self._keys = sorted(everything)
        self._objects = [everything[key] for key in self._keys]


_NO_META: Final = ObjectMeta()


class UncountedError(ClusterError):
    """An object cannot be counted, or read, and so only the server knows what it is."""


class KindState(NamedTuple):
    """A kind at one moment. ``objects`` in the model's order; the same tuple as before where nothing has changed.

    ``warnings``: of single objects, in the same order. ``without_priority``: pods that leave theirs to their class.
    ``aside``: objects that cannot be counted, or read.
    """

    objects: tuple[Any, ...] = ()
    warnings: tuple[str, ...] = ()
    without_priority: tuple[Any, ...] = ()
    pod_facts: PodFacts = PodTally().facts()
    aside: tuple[SetAside, ...] = ()


class _Kept:
    """Objects by namespace and name; ``warnings`` and ``aside`` are those of a few of them.

    ``on_node``: keys of pods by node; ``of_namespace``: all keys; in the order of the whole. ``of_label``: keys of
    objects that have a label, by namespace and value, for each label that was asked for.
    """

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.versions: dict[Key, str] = {}
        self.warnings: dict[Key, tuple[str, ...]] = {}
        self.aside: dict[Key, SetAside] = {}
        self.without_priority: set[Key] = set()
        self.tally = PodTally()
        self.on_node: dict[str, dict[Key, None]] = {}
        self.of_namespace: dict[str, dict[Key, None]] = {}
        self.of_label: dict[str, dict[str, dict[Key, None]]] = {}

    def note(self, key: Key, version: str) -> None:
        """There is an object of this version, which was not there."""
        self.versions[key] = version
        self.of_namespace.setdefault(key[0], {})[key] = None

    def keep(self, key: Key, found: Any) -> None:
        """An object that was not there."""
        self.objects[key] = found
        if isinstance(found, Pod):
            self.tally.add(found)
            self.on_node.setdefault(found.node_name or "", {})[key] = None
        for label, groups in self.of_label.items():
            _put_in(groups, _group_of(key, found, label), key)

    def forget(self, key: Key) -> None:
        """Nothing is known of it any more."""
        before = self.objects.get(key)
        if isinstance(before, Pod):
            self.tally.remove(before)
            _taken_out(self.on_node, before.node_name or "", key)
        for label, groups in self.of_label.items():
            if (group := _group_of(key, before, label)) is not None:
                _taken_out(groups, group, key)
        if key in self.versions:
            _taken_out(self.of_namespace, key[0], key)
        for part in (self.objects, self.versions, self.warnings, self.aside):
            part.pop(key, None)
        self.without_priority.discard(key)

    def labelled(self, namespace: str, rule: Requirement) -> Iterable[Key]:
        """Keys of the objects of a namespace whose label has one of some values."""
        groups = self.of_label.get(rule.key)
        if groups is None:
            groups = self.of_label[rule.key] = {}
            for key, found in self.objects.items():
                _put_in(groups, _group_of(key, found, rule.key), key)
        return chain.from_iterable(groups.get(f"{namespace}/{value}", ()) for value in dict.fromkeys(rule.values))

    def about(self, key: Key) -> tuple[Any, ...]:
        """All that is known of an object but its version."""
        return (
            self.objects.get(key), self.warnings.get(key), self.aside.get(key), key in self.without_priority
        )  # fmt: skip

    def is_like(self, other: _Kept) -> bool:
        """Whether nobody can tell the difference."""
        return (self.objects, self.warnings, self.without_priority, self.aside) == (
            other.objects, other.warnings, other.without_priority, other.aside,
        )  # fmt: skip


def _group_of(key: Key, found: Any, label: str) -> str | None:
    """Namespace and value of a label of an object that a selector may pick by it; neither may have a slash in it."""
    value = found.labels.get(label) if isinstance(found, Pod | Node) else None
    return None if value is None else f"{key[0]}/{value}"


def _put_in(keys: dict[str, dict[Key, None]], group: str | None, key: Key) -> None:
    """A key of a group; of none where that is None."""
    if group is not None:
        keys.setdefault(group, {})[key] = None


def _taken_out(keys: dict[str, dict[Key, None]], group: str, key: Key) -> None:
    """No key of a group any more, nor an empty group: nodes and namespaces come and go."""
    keys[group].pop(key, None)
    if not keys[group]:
        del keys[group]


class KindStore:
    """The sink of one kind's reflector; all else is asked under ``lock``, by any thread."""

    def __init__(
        self,
        kind: str,
        lock: AbstractContextManager[Any],
        changed: Callable[[], None],
        shared: SharedMetadata,
        noted: Callable[[Any, Any], None] = lambda _before, _found: None,
    ) -> None:
        """``changed`` is called, under the lock, after each change. ``shared``: by the stores of all kinds.

        ``noted``: with an object that has come or changed, and as it was before, None for a new one; under the lock.
        """
        self._kind, self._lock, self._changed = kind, lock, changed
        self._noted: list[str] = []
        self._tell_of = noted
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
            self._put(fresh, self._key(found), found)
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
            before, known = self._kept.about(key), self._kept.objects.get(key)
            self._put(self._kept, key, found)
            if self._kept.about(key) == before:
                return  # a heartbeat, say
            if key in self._kept.objects:
                self._order.put(key, self._kept.objects[key])
                self._tell_of(known, self._kept.objects[key])
            else:
                self._order.remove(key)
            self._touch()

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

    def version_of(self, key: Key) -> str | None:
        """The version of one object; None where it is not there."""
        with self._lock:
            return self._kept.versions.get(key)

    def versions_in(self, scope: WatchedScope) -> dict[Key, str]:
        """The versions of all objects of a part, those that are set aside too."""
        with self._lock:
            kept = self._kept
            return {key: kept.versions[key] for key in self._near(scope) if scope.holds(key, kept.objects.get(key))}

    def found_in(self, scope: WatchedScope) -> list[Any]:
        """All objects of a part. Raises UncountedError where one of them is set aside."""
        with self._lock:
            kept = self._kept
            for key in kept.aside:
                if scope.may_hold(key, kept.objects.get(key)):
                    raise UncountedError(f"{self._kind} {'/'.join(filter(None, key))} is set aside")
            found = ((key, kept.objects.get(key)) for key in self._near(scope))
            return [one for key, one in found if one is not None and scope.holds(key, one)]

    def _near(self, scope: WatchedScope) -> list[Key]:
        """All that may be of a part, and few others."""
        kept = self._kept
        if scope.name and (scope.namespace or self._kind in CLUSTER_WIDE):
            key = scope.namespace, scope.name
            return [key] if key in kept.versions else []
        if scope.node:
            return list(kept.on_node.get(scope.node, ()))
        if (rule := self._narrowing(scope)) is not None:
            return list(kept.labelled(scope.namespace, rule))
        return list(kept.of_namespace.get(scope.namespace, ()) if scope.namespace else kept.versions)

    def _narrowing(self, scope: WatchedScope) -> Requirement | None:
        """The rule by which a part is looked for; None: by none."""
        if scope.labels is None or not (scope.namespace or self._kind in CLUSTER_WIDE):
            return None
        known = self._kept.of_label
        return next(
            (
                rule
                for rule in scope.labels.requirements
                if rule.operator == "In" and (rule.key in known or len(known) < MOST_LABELS)
            ),
            None,
        )

    def state(self) -> KindState:
        """What there is."""
        kept = self._kept
        if self._state is None:
            objects = self._order.all()
            self._state = KindState(
                IndexedPods(objects) if self._kind == "Pod" else objects,
                tuple(text for key in sorted(kept.warnings) for text in kept.warnings[key]),
                tuple(kept.objects[key] for key in sorted(kept.without_priority)),
                kept.tally.facts(),
                tuple(kept.aside[key] for key in sorted(kept.aside)),
            )
        return self._state

    def _put(self, kept: _Kept, key: Key, found: Any) -> None:
        """Convert an object, or take the one that we have of the same version."""
        version = (found.metadata or _NO_META).resource_version or ""
        if version and kept is not self._kept and self._kept.versions.get(key) == version:
            self._keep_again(kept, key, version)
            return
        kept.forget(key)
        kept.note(key, version)
        if isinstance(found, Unreadable):
            is_lacking, (made, aside) = False, stand_in(self._kind, found.glimpse, found.error)
        else:
            is_lacking = lacks_priority(self._kind, found)
            made, aside = self._conversion.convert_or_stand_in(self._kind, found)
        noted, self._noted[:] = tuple(self._noted), ()
        if made is not None:
            kept.keep(key, made)
        if aside is not None:
            kept.aside[key] = aside
        if is_lacking and made is not None:
            kept.without_priority.add(key)
        if noted:
            kept.warnings[key] = noted

    def _keep_again(self, kept: _Kept, key: Key, version: str) -> None:
        ours = self._kept
        kept.forget(key)
        kept.note(key, version)
        if key in ours.objects:
            kept.keep(key, ours.objects[key])
        if key in ours.aside:
            kept.aside[key] = ours.aside[key]
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


def _is_newer(known: str | None, found: Any, *, or_equal: bool = False) -> bool:
    """Whether an object is of a later version than a known one; what cannot be compared is taken to be."""
    version = (found.metadata or _NO_META).resource_version or ""
    if known is None or not version:
        return True
    if known == version:
        return or_equal
    ours, theirs = number_of(known), number_of(version)
    return ours is None or theirs is None or theirs > ours
