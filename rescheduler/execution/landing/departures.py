"""Pods on their way: who left, whether the old pod is gone, and which new pod took its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.columns.shared_lists import read_shared
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move, PodReference

_PASSING: Final = frozenset({"", "ErrImagePull", "RegistryUnavailable"})
"""Troubles that may pass by the next look; an image that cannot be pulled becomes ImagePullBackOff."""


@dataclass
class EvictedPod:
    """One pod that was evicted. ``known`` are uids of its owner's pods that were there before it left.

    ``refused``: a replacement that ended before it ran, as when a kubelet does not let it in. ``old``: the pod itself
    as seen last, where it is moved by surge: it is one of its owner's pods no more, and stands until the end.
    ``successor``: uid of the replacement whose work lets a pod that moves by surge go; see ``take_over``.
    ``unwanted``: why its owner will make no other, though nothing has come yet; None: it may. ``granted_at``: when
    the API server said that it goes; seconds since the epoch, by the cluster's clock. None: nobody noted it.
    """

    move: Move
    pod: Pod
    selector: LabelSelector | None
    known: frozenset[str]
    is_gone: bool = False
    replacement: Pod | None = None
    refused: Pod | None = None
    old: Pod | None = None
    successor: str | None = None
    unwanted: str | None = None
    granted_at: float | None = None

    def take_over(self) -> None:
        """The replacement seen last works, so that the old pod may go; from now on it lets nobody else go besides."""
        self.successor = None if self.replacement is None else self.replacement.uid

    @property
    def has_owner(self) -> bool:
        """Whether anything recreates the pod."""
        return self.pod.controller is not None and self.unwanted is None

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

    @property
    def failure(self) -> str | None:
        """Why this move has failed: its replacement was not let in, or cannot run where it is; None: it has not.

        Whoever moves his pod himself may try more than one new pod, and sees to that.
        """
        if self.move.method is MoveMethod.MIGRATE:
            return None
        if self.refused is not None:
            where = f" by node {self.refused.node_name}" if self.refused.node_name else ""
            return f"{self.refused.key} was refused{where}: {self.refused.trouble or 'it failed at once'}"
        new = self.replacement
        if new is None or new.node_name is None or new.is_ready or new.trouble in _PASSING:
            return None
        return f"{new.key} cannot run on {new.node_name}: {new.trouble}"


def selector_of(pod: Pod, cluster: Cluster) -> LabelSelector | None:
    """What tells an owner's pods from others; None where only a look at all pods of the namespace can."""
    owner = cluster.owner_of(pod)
    return owner.selector if owner is not None else None


def siblings(pod: Pod, pods: Iterable[Pod]) -> list[Pod]:
    """Those of the pods of its namespace that name the same owner.

    Whoever may create pods may name any owner: ``pods`` are those alone that the owner's selector matches, where it
    has one.
    """
    owner = pod.controller
    return [
        other
        for other in pods
        if owner is not None
        and other.namespace == pod.namespace
        and other.controller is not None
        and other.controller.uid == owner.uid
    ]


def true_siblings(pod: Pod, cluster: Cluster) -> list[Pod]:
    """Those that name the same owner, and rightly so."""
    return siblings(pod, (other for other in _near(pod, cluster) if cluster.owner_problem(other) is None))


def known_before(pod: Pod, cluster: Cluster) -> frozenset[str]:
    """Uids of the owner's pods as they stand in a snapshot, to tell a replacement from them later.

    To be taken from one in which they were read anew right before the pod is evicted.
    """
    return frozenset(other.uid for other in siblings(pod, _near(pod, cluster))) | {pod.uid}


def _near(pod: Pod, cluster: Cluster) -> Iterable[Pod]:
    """All pods that name the owner of this one, and others."""
    owner = selector_of(pod, cluster)
    if owner is None or pod.controller is None:
        return cluster.pods_by_namespace.get(pod.namespace, ())
    named = cluster.pods_by_owner_uid.get(pod.controller.uid, ())  # of these none has finished
    found = {other.key: other for other in (*named, *cluster.selected(pod.namespace, owner))}
    return [found[key] for key in sorted(found)]


class Departures:
    """All pods that leave in one wave, watched together."""

    def __init__(self, target: ExecutionTarget) -> None:
        self._target = target
        self.all: list[EvictedPod] = []

    def look(self, only: EvictedPod | None = None) -> None:
        """Look at the cluster and match new pods to the moves they replace.

        Pods of one owner are alike, so a new pod counts for the move that wanted it where it landed. ``only``: just
        those pods are looked at among which this one's replacement would be.
        """
        groups: dict[tuple[str, LabelSelector | None], list[EvictedPod]] = defaultdict(list)
        for departure in self.all:
            groups[_group(departure)].append(departure)
        if only is None:
            wanted = [key for key, items in groups.items() if not all(item.is_over and item.is_ready for item in items)]
        else:
            wanted = [_group(only)]
        for key, pods in zip(wanted, read_shared(wanted, self._target.read_lists), strict=True):
            _match(groups[key], [*pods, *self._taken_out(groups[key])])

    def _taken_out(self, departures: Iterable[EvictedPod]) -> Iterator[Pod]:
        """Pods that their owners' selectors do not match any more, as they stand."""
        for departure in departures:
            if departure.move.method is MoveMethod.SURGE:
                pod = self._target.read_pod(departure.pod.namespace, departure.pod.name)
                departure.old = pod if pod is not None and pod.uid == departure.pod.uid else None
                if departure.old is not None:
                    yield departure.old

    @property
    def pods(self) -> frozenset[PodReference]:
        """Those that leave."""
        return frozenset(departure.move.pod for departure in self.all)

    @property
    def open(self) -> Sequence[EvictedPod]:
        """Departures whose old pod is not gone, or whose new one is not bound."""
        return [departure for departure in self.all if not departure.is_over]


def _group(departure: EvictedPod) -> tuple[str, LabelSelector | None]:
    return departure.pod.namespace, departure.selector


def _match(departures: Sequence[EvictedPod], pods: Sequence[Pod]) -> None:
    standing = {pod.uid for pod in pods if not pod.is_finished}
    for departure in departures:
        departure.is_gone = departure.pod.uid not in standing
        departure.replacement = None
        departure.refused = next((pod for pod in siblings(departure.pod, pods) if _is_refused(pod, departure)), None)
    new = [pod for pod in pods if pod.is_active]
    of_owner: dict[str, list[EvictedPod]] = defaultdict(list)
    for departure in departures:
        if departure.pod.controller is not None:
            of_owner[departure.pod.controller.uid].append(departure)
    for group in of_owner.values():
        _match_replicas(group, siblings(group[0].pod, new))


def _is_refused(pod: Pod, departure: EvictedPod) -> bool:
    """Whether a pod that came after this departure has failed already."""
    return pod.phase == "Failed" and pod.uid not in departure.known


def _match_replicas(departures: Sequence[EvictedPod], pods: Sequence[Pod]) -> None:
    """Share out the new pods of one owner: to those that left before they came, and then to anybody.

    Who left last has the fewest to choose from, and so comes first. Those whose old pods are gone, new pods that were
    made since the first eviction was granted (others came for a reason of their own, as when somebody scales up while
    this process is stopped), and those that are where they were wanted, come before others. Nobody who leaves himself
    takes another one's place: of those that are out of their ReplicaSet already, whoever is taken out after them is
    told nothing by their owner's selector. And whoever went because a replacement works keeps that one, wherever
    others came: it stands in for one pod alone.
    """
    known_to_all = frozenset.intersection(*(departure.known for departure in departures))
    known_to_all |= {departure.pod.uid for departure in departures}
    unclaimed = [pod for pod in pods if pod.uid not in known_to_all]
    for departure in departures:
        departure.replacement = next((pod for pod in unclaimed if pod.uid == departure.successor), None)
        if departure.replacement is not None:
            unclaimed.remove(departure.replacement)
    first = min(departure.granted_at or 0.0 for departure in departures)
    for is_own, is_gone, is_since, is_as_planned in product((True, False), repeat=4):
        for departure in reversed(departures):
            if departure.replacement is None and departure.is_gone is is_gone:
                fitting = (
                    pod
                    for pod in unclaimed
                    if (not is_own or pod.uid not in departure.known)
                    and (not is_since or pod.is_made_since(first))
                    and (not is_as_planned or pod.node_name == departure.move.to_node)
                )
                departure.replacement = next(fitting, None)
                if departure.replacement is not None:
                    unclaimed.remove(departure.replacement)
