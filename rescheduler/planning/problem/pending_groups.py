"""Whom make room is to help: pods by importance, in groups that are helped whole or not at all, up to a worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rescheduler.model.objects.cluster import Cluster


class PendingGroups:
    """``pending``: pods to help, most important first; ``evictions_per_pod``: what one of the least is worth.

    ``groups``: pods that get a place all or none; a group is as important as its most important pod.
    ``evictions_per_pod`` None: any number of evictions; more important pods are always worth it, since what they are
    worth is settled before.
    """

    def __init__(
        self,
        cluster: Cluster,
        helpable: Iterable[int],
        together: Sequence[Sequence[int]] = (),
        evictions_per_pod: int | None = None,
    ) -> None:
        """``together``: groups of pods; those that share a pod are one, and who is not helpable is in none."""
        waiting = set(helpable)
        self.evictions_per_pod = evictions_per_pod
        self.groups = _merged([[pod for pod in group if pod in waiting] for group in together])
        self.group_of: Mapping[int, int] = {pod: number for number, group in enumerate(self.groups) for pod in group}
        highest = [max(cluster.pods[pod].spec.priority for pod in group) for group in self.groups]
        self._priority = {
            pod: highest[self.group_of[pod]] if pod in self.group_of else cluster.pods[pod].spec.priority
            for pod in waiting
        }
        self.pending = tuple(sorted(waiting, key=lambda pod: (-self._priority[pod], pod)))
        self.levels = tuple(sorted(set(self._priority.values()), reverse=True))

    def priority(self, pod: int) -> int:
        """A pending pod's importance: its own priority or the highest one in its group."""
        return self._priority[pod]

    def members(self, pod: int) -> tuple[int, ...]:
        """The pod's whole group, or the pod alone."""
        return self.groups[self.group_of[pod]] if pod in self.group_of else (pod,)

    def is_whole(self, places: Mapping[int, int]) -> bool:
        """Whether no group is placed in part."""
        return len(self.whole(places)) == len(places)

    def whole(self, places: Mapping[int, int]) -> dict[int, int]:
        """The same places without those of groups that are placed in part."""
        return {pod: node for pod, node in places.items() if all(member in places for member in self.members(pod))}

    def in_units(self, order: Iterable[int]) -> list[tuple[int, ...]]:
        """Pods in an order, each group at the turn of its first pod and in that order."""
        units: dict[int, list[int]] = {}
        for pod in order:
            units.setdefault(self.members(pod)[0], []).append(pod)
        return [tuple(unit) for unit in units.values()]


def _merged(groups: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Groups with more than one pod, those with a pod in common as one; pods ascending."""
    found: list[set[int]] = []
    for group in groups:
        joined = set(group)
        disjoint = [other for other in found if not other & joined]
        for other in found:
            if other & joined:
                joined |= other
        found = [*disjoint, joined]
    return tuple(sorted(tuple(sorted(group)) for group in found if len(group) > 1))
