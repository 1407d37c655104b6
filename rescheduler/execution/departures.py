"""Pods on their way: who left, whether the old pod is gone, and which new pod took its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.cluster import Cluster
from rescheduler.model.constraints import LabelSelector
from rescheduler.model.plan import Move
from rescheduler.model.pod import Pod


@dataclass
class Departure:
    """One pod that was evicted. ``known`` are uids of its owner's pods that were there before it left."""

    move: Move
    pod: Pod
    selector: LabelSelector | None
    known: frozenset[str]
    is_gone: bool = False
    replacement: Pod | None = None

    @property
    def has_owner(self) -> bool:
        """Whether anything recreates the pod."""
        return self.pod.controller is not None

    @property
    def landed_on(self) -> str | None:
        """The node its replacement is bound to."""
        return self.replacement.node_name if self.replacement is not None else None

    @property
    def is_over(self) -> bool:
        """Whether the old pod is gone and the new one is bound."""
        return self.is_gone and (not self.has_owner or self.landed_on is not None)

    @property
    def is_ready(self) -> bool:
        """Whether the new pod works."""
        return not self.has_owner or (self.replacement is not None and self.replacement.is_ready)


def selector_of(pod: Pod, cluster: Cluster) -> LabelSelector | None:
    """What tells an owner's pods from others; None where only a look at all pods of the namespace can."""
    owner = cluster.owner_of(pod)
    return owner.selector if owner is not None else None


def siblings(pod: Pod, pods: Iterable[Pod]) -> list[Pod]:
    """Those of the pods that have the same owner."""
    owner = pod.controller
    return [
        other
        for other in pods
        if owner is not None and other.controller is not None and other.controller.uid == owner.uid
    ]


class Departures:
    """All pods that leave in one wave, watched together."""

    def __init__(self, target: ExecutionTarget) -> None:
        self._target = target
        self.all: list[Departure] = []

    def known_before(self, pod: Pod, selector: LabelSelector | None) -> frozenset[str]:
        """Uids of the owner's pods as they stand now, to tell a replacement from them later."""
        return frozenset(other.uid for other in self._target.read_pods(pod.namespace, selector))

    def look(self) -> None:
        """Look at the cluster and match new pods to the moves they replace.

        Pods of one owner are alike, so a new pod counts for the move that wanted it where it landed.
        """
        groups: dict[tuple[str, LabelSelector | None], list[Departure]] = defaultdict(list)
        for departure in self.all:
            groups[departure.pod.namespace, departure.selector].append(departure)
        for (namespace, selector), departures in groups.items():
            pods = self._target.read_pods(namespace, selector)
            _match(departures, pods)

    @property
    def open(self) -> Sequence[Departure]:
        """Departures whose old pod is not gone, or whose new one is not bound."""
        return [departure for departure in self.all if not departure.is_over]


def _match(departures: Sequence[Departure], pods: Sequence[Pod]) -> None:
    standing = {pod.uid for pod in pods if not pod.is_finished}
    claimed: set[str] = set()
    fresh = {
        id(departure): [
            pod
            for pod in siblings(departure.pod, pods)
            if pod.uid not in departure.known and not pod.is_terminating and not pod.is_finished
        ]
        for departure in departures
    }
    for departure in departures:
        departure.is_gone = departure.pod.uid not in standing
        departure.replacement = None
    for is_gone, is_as_planned in ((True, True), (True, False), (False, True), (False, False)):
        for departure in departures:
            if departure.is_gone is not is_gone or departure.replacement is not None:
                continue
            for pod in fresh[id(departure)]:
                if pod.uid not in claimed and (not is_as_planned or pod.node_name == departure.move.to_node):
                    departure.replacement = pod
                    claimed.add(pod.uid)
                    break
