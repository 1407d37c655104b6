"""Pods and workloads of a snapshot with the look-ups that follow from them alone, kept where few of them change."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Final, TypeAlias

from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload

Groups: TypeAlias = Mapping[str, tuple[Pod, ...]]
PENDING: Final = "pending"
"""They wait for a node, gated ones too."""
GATED: Final = "gated"
"""A scheduling gate keeps them from being looked at."""
MOST_LABELS: Final = 32
"""By so many labels pods are kept apart; where selectors ask for others too, all of a namespace are looked at."""
MANY: Final = 100
"""Where more than one pod in so many is looked for, all are looked at: that is quicker."""
_PLACE: Final = attrgetter("namespace", "name")


def _node(pod: Pod) -> Sequence[str]:
    return () if pod.node_name is None or pod.is_finished else (pod.node_name,)


def _node_of_finished(pod: Pod) -> Sequence[str]:
    return (pod.node_name,) if pod.node_name is not None and pod.is_finished else ()


def _namespace(pod: Pod) -> Sequence[str]:
    return (pod.namespace,)


def _owners(pod: Pod) -> Sequence[str]:
    """Uids of those whom a pod names as its controllers; one that moves by surge is its ReplicaSet's still."""
    if pod.is_finished:
        return ()
    named = [owner.uid for owner in pod.owners if owner.is_controller]
    if not named and SURGE in pod.annotations and (taken := pod.controller) is not None:
        return (taken.uid,)
    return named


def _value_of(label: str) -> Callable[[Pod], Sequence[str]]:
    """Namespace and value of one label; neither may have a slash in it."""

    def of(pod: Pod) -> Sequence[str]:
        value = pod.labels.get(label)
        return () if value is None else (f"{pod.namespace}/{value}",)

    return of


def _states(pod: Pod) -> Sequence[str]:
    if not pod.is_pending:
        return (GATED,) if pod.scheduling_gates else ()
    return (PENDING, GATED) if pod.scheduling_gates else (PENDING,)


def _held(pods: Iterable[Pod]) -> Mapping[str, int]:
    """What those of these pods ask for that are not on their way out."""
    held: dict[str, int] = {}
    for pod in pods:
        if pod.is_active:
            for name, amount in pod.amounts:
                held[name] = held.get(name, 0) + amount
    return held


class IndexedPods(tuple[Pod, ...]):
    """Sorted by namespace and name; each look-up is worked out when somebody asks for it first.

    A snapshot of 150,000 pods is read anew around each move that is carried out: what follows from all of them must not
    be worked out each time. ``amended`` takes a few milliseconds, most of them for copying.
    """

    @cached_property
    def by_key(self) -> Mapping[str, Pod]:
        """Pods by ``NAMESPACE/NAME``."""
        return {pod.key: pod for pod in self}

    @cached_property
    def uids(self) -> Collection[str]:
        """Uids of all pods."""
        return {pod.uid for pod in self}

    @cached_property
    def by_node(self) -> Groups:
        """Those that hold room on a node, by its name."""
        return self._grouped(_node)

    @cached_property
    def finished_by_node(self) -> Groups:
        """Those that hold none any more, by the node they were on."""
        return self._grouped(_node_of_finished)

    @cached_property
    def by_namespace(self) -> Groups:
        """All pods by namespace."""
        return self._grouped(_namespace)

    @cached_property
    def by_owner(self) -> Groups:
        """Those that name an owner as their controller, by its uid; finished ones left out."""
        return self._grouped(_owners)

    @cached_property
    def by_state(self) -> Groups:
        """Those that are PENDING, and those that are GATED."""
        return self._grouped(_states)

    @cached_property
    def held_by_node(self) -> Mapping[str, Mapping[str, int]]:
        """What pods hold of each resource, by the name of their node; those on their way out hold nothing here."""
        return {name: _held(pods) for name, pods in self.by_node.items()}

    @cached_property
    def _by_label(self) -> dict[str, Groups]:
        """All pods by namespace and value, for each label that selectors have asked for."""
        return {}

    def selected(self, namespace: str, selector: LabelSelector | None) -> tuple[Pod, ...]:
        """Pods of a namespace that a selector matches, finished ones too, in order; quick where these are few."""
        if selector is None:
            return ()
        among: Sequence[Pod] = self.by_namespace.get(namespace, ())
        for rule in selector.requirements:
            if rule.operator == "In":
                among = min(among, self._labelled(namespace, rule), key=len)
        return tuple(pod for pod in among if selects(selector, pod.labels))

    def _labelled(self, namespace: str, rule: Requirement) -> Sequence[Pod]:
        """All pods of a namespace that have one of the values of a label, perhaps with others, in order."""
        groups = self._by_label.get(rule.key)
        if groups is None:
            if len(self._by_label) >= MOST_LABELS:
                return self.by_namespace.get(namespace, ())
            groups = self._by_label[rule.key] = self._grouped(_value_of(rule.key))
        found = [groups.get(f"{namespace}/{value}", ()) for value in dict.fromkeys(rule.values)]
        return found[0] if len(found) == 1 else sorted((pod for pods in found for pod in pods), key=_PLACE)

    def places(self, keys: Collection[str]) -> dict[str, int]:
        """Where those of these pods stand that are there, by ``NAMESPACE/NAME``."""
        if len(keys) * MANY > len(self):
            wanted = set(keys)
            names = {key.partition("/")[2] for key in wanted}
            return {pod.key: place for place, pod in enumerate(self) if pod.name in names and pod.key in wanted}
        found = {}
        for key in keys:
            pod = self.by_key.get(key)
            if pod is not None:
                place = bisect_left(self, _PLACE(pod), key=_PLACE)
                found[key] = place if place < len(self) and self[place] is pod else self.index(pod)
        return found

    def amended(self, changes: Mapping[str, Pod | None]) -> IndexedPods:
        """These pods with others of the same key (None: none) in the place of some; the very same if all are there."""
        gone = {key: old for key in changes if (old := self.by_key.get(key)) is not None and old is not changes[key]}
        come = {key: pod for key, pod in changes.items() if pod is not None and pod is not self.by_key.get(key)}
        if not gone and not come:
            return self
        rows = list(self)
        for key, place in sorted(self.places(gone).items(), key=lambda item: -item[1]):
            rows[place : place + 1] = [come[key]] if key in come else []
        for key in come.keys() - gone.keys():
            insort(rows, come[key], key=_PLACE)
        found = IndexedPods(rows)
        self._hand_over(found, gone, come)
        return found

    def __reduce__(self) -> tuple[type[IndexedPods], tuple[tuple[Pod, ...]]]:
        """Look-ups stay at home."""
        return IndexedPods, (tuple(self),)

    def _grouped(self, of: Callable[[Pod], Sequence[str]]) -> Groups:
        found: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in self:
            for name in of(pod):
                found[name].append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    def _hand_over(self, found: IndexedPods, gone: Mapping[str, Pod], come: Mapping[str, Pod]) -> None:
        """Let the amended pods have what has been worked out of these ones."""
        known, handed = vars(self), vars(found)
        handed["by_key"] = {**self.by_key, **come}
        for key in gone.keys() - come.keys():
            del handed["by_key"][key]
        if "uids" in known:  # an empty one may be that of others too
            handed["uids"] = {*known["uids"]} - {pod.uid for pod in gone.values() if pod.uid}
            handed["uids"].update(pod.uid for pod in come.values())
        for name, of in _GROUPINGS.items():
            if name in known:
                handed[name] = _regrouped(known[name], of, gone.values(), come.values())
        if "_by_label" in known:
            handed["_by_label"] = {
                label: _regrouped(groups, _value_of(label), gone.values(), come.values())
                for label, groups in known["_by_label"].items()
            }
        if "held_by_node" in known:
            nodes = {name for pod in (*gone.values(), *come.values()) for name in _node(pod)}
            held = {name: _held(pods) for name in nodes if (pods := found.by_node.get(name)) is not None}
            others = {name: amounts for name, amounts in known["held_by_node"].items() if name not in nodes}
            handed["held_by_node"] = {**others, **held}


_GROUPINGS: Final[Mapping[str, Callable[[Pod], Sequence[str]]]] = {
    "by_node": _node,
    "finished_by_node": _node_of_finished,
    "by_namespace": _namespace,
    "by_owner": _owners,
    "by_state": _states,
}


def _regrouped(
    before: Groups, of: Callable[[Pod], Sequence[str]], gone: Iterable[Pod], come: Iterable[Pod]
) -> dict[str, tuple[Pod, ...]]:
    """Groups without some pods and with others, each in its place; of large ones nothing but places is looked for."""
    found, touched = {**before}, dict[str, list[Pod]]()

    def members(name: str) -> list[Pod]:
        if name not in touched:
            touched[name] = list(before.get(name, ()))
        return touched[name]

    for pod in gone:
        for name in of(pod):
            rows = members(name)
            place = bisect_left(rows, _PLACE(pod), key=_PLACE)
            del rows[place if place < len(rows) and rows[place] is pod else _place_of(pod, rows)]
    for pod in come:
        for name in of(pod):
            insort(members(name), pod, key=_PLACE)
    for name, rows in touched.items():
        if rows:
            found[name] = tuple(rows)
        else:
            del found[name]
    return found


def _place_of(pod: Pod, rows: Iterable[Pod]) -> int:
    """Where a pod stands among some that are not in order."""
    return next(place for place, other in enumerate(rows) if other is pod)


class IndexedWorkloads(tuple[Workload, ...]):
    """In any order; they are the same ones in most snapshots of one run."""

    @cached_property
    def by_uid(self) -> Mapping[str, Workload]:
        """Workloads by uid."""
        return {workload.uid: workload for workload in self}

    @cached_property
    def owned_by(self) -> Mapping[str, Sequence[str]]:
        """Uids of workloads by the uid of the workload that they name as their owner."""
        found: dict[str, list[str]] = {}
        for workload in self:
            if workload.owner is not None:
                found.setdefault(workload.owner.uid, []).append(workload.uid)
        return found
