"""Load of one node at a time, in plain Python: slow, and obviously right."""

from __future__ import annotations

from math import floor, isfinite, nan
from typing import NamedTuple

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.objects.pod import ContainerResources, Pod, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.unit.scheduling.scores.random_usage import Measured

MEASURED = (CPU, MEMORY)


class PlainLoad(NamedTuple):
    """Amount and deviation in units, and what a share of them is of; ``is_known`` False: nothing can be said."""

    amount: float
    deviation: float
    base: int
    is_known: bool

    def share(self) -> float:
        """Between 0 and 1."""
        return share(self.amount, self.base)

    def deviation_share(self) -> float:
        """Between 0 and 1."""
        return share(self.deviation, self.base)


def share(amount: float, base: float) -> float:
    """A fraction within 0 and 1."""
    return min(max(amount / base, 0.0), 1.0) if base > 0 else 0.0


def rounded(value: float) -> int:
    """Halves up."""
    return floor(value + 0.5)


def amount_of(amounts: tuple[tuple[str, int], ...], name: str) -> int:
    """One resource of many."""
    return dict(amounts).get(name, 0)


def split(spec: PodSpec) -> tuple[ContainerResources, ...]:
    """The containers, or a guess at them."""
    if spec.containers:
        return spec.containers
    return (ContainerResources(spec.requests),) if spec.requests else (ContainerResources(),)


def predicted(spec: PodSpec, resource: str, multiplier: float = 1.5, default: int = 1000) -> float:
    """What a pod will use."""
    if resource == MEMORY:
        return amount_of(spec.requests, MEMORY)
    total: float = amount_of(spec.overhead, CPU)
    for container in split(spec):
        if container.kind == "App":
            limits, requests = dict(container.limits), dict(container.requests)
            if CPU in limits:
                total += limits[CPU]
            elif CPU in requests:
                total += rounded(requests[CPU] * multiplier)
            else:
                total += default
    return total


class PlainLoads:
    """A measured placement, seen by a plugin that scores ``resources``, without the pod of index ``without``."""

    def __init__(
        self, measured: Measured, without: int, resources: tuple[str, ...] = MEASURED, *, is_upstream: bool = False,
        counts_recent: bool = True,
    ) -> None:  # fmt: skip
        """Find out first whether the provider has failed."""
        self.placement, self.usage = measured
        self.cluster = self.placement.columns.cluster
        self.without = without
        self.resources = resources
        self.is_upstream = is_upstream
        self.counts_recent = counts_recent
        usable = [n for n, node in enumerate(self.cluster.nodes) if node.is_ready and not node.is_unschedulable]
        usable = usable or list(range(len(self.cluster.nodes)))
        stale = [n for n in usable if all(self.percent(n, resource) is None for resource in resources)]
        self.is_by_requests = not is_upstream and len(stale) > len(usable) / 2

    def of(self, node: int, resource: str) -> PlainLoad:
        """The load of one node."""
        row = self.placement.columns.resource_index[resource]
        if self.is_by_requests:
            return PlainLoad(
                self.requested(node, resource), 0.0, int(self.placement.columns.allocatable[row][node]), True
            )
        percent, base = self.percent(node, resource), self.capacity(node, resource)
        amount = (percent or 0.0) / 100 * base
        if self.counts_recent:
            amount = max(amount + self.correction(node, resource), 0.0)
        deviation = self.possible(self.usage.statistics[resource].deviation[node])
        return PlainLoad(amount, (deviation or 0.0) / 100 * base, base, percent is not None)

    def percent(self, node: int, resource: str) -> float | None:
        """Measured load, 0 on a node so new that it has none yet, None if there is nothing to go by."""
        now, end = self.cluster.taken_at, self.usage.window_end[node]
        is_usable = self.usage.is_valid[node] and (self.is_upstream or (isfinite(end) and now - end <= 300))
        found = dict.fromkeys(self.resources)
        if is_usable:
            for name in self.resources:
                statistics = self.usage.statistics[name]
                average, latest = self.possible(statistics.average[node]), self.possible(statistics.latest[node])
                found[name] = latest if average is None else average  # type: ignore[assignment]
        if all(value is None for value in found.values()) and not self.is_upstream and self.is_new(node):
            return 0.0
        return found[resource]

    def is_new(self, node: int) -> bool:
        """Younger than the window, and all its pods are too."""
        ends = [end for end in self.usage.window_end if isfinite(end)]
        created = self.cluster.nodes[node].created_at
        if not ends or created is None or created <= max(ends) - 900:
            return False
        initial = self.placement.columns.initial_node_of
        return all(self.is_uncounted(n) for n in range(len(initial)) if initial[n] == node)

    def correction(self, node: int, resource: str) -> float:
        """Pods that the measure lacks, less those that it has too many."""
        total = 0.0
        for number, pod in enumerate(self.cluster.pods):
            home = int(self.placement.columns.initial_node_of[number])
            is_measured = home == node and not self.is_uncounted(number)
            places = {int(self.placement.node_of[number]), int(self.placement.leaving[number])}
            is_here = number != self.without and node in places
            if is_here and not is_measured:
                total += predicted(pod.spec, resource)
            if is_measured and not is_here and not self.is_upstream:
                total -= self.pod_use(number, pod, resource)
        if not self.is_upstream:
            for departure in self.usage.departures:
                if departure.node == self.cluster.nodes[node].name and self.is_late(departure.left_at, node):
                    total -= predicted(departure.spec, resource)
        return total

    def is_uncounted(self, number: int) -> bool:
        """Bound too late for the window of the node of the snapshot."""
        pod = self.cluster.pods[number]
        times = [time for time in (pod.scheduled_at, pod.started_at, pod.created_at) if time is not None]
        home = int(self.placement.columns.initial_node_of[number])
        return bool(times) and home != NOWHERE and self.is_late(times[0], home)

    def is_late(self, time: float, node: int) -> bool:
        """Too late for the node's window, yet not longer ago than anything is remembered."""
        ends = [end for end in self.usage.window_end if isfinite(end)]
        end = self.usage.window_end[node]
        end = end if isfinite(end) else max(ends, default=nan)
        is_recent = self.is_upstream or self.cluster.taken_at - time <= 300
        return bool(is_recent and (time > end or end - time < 60))

    def pod_use(self, number: int, pod: Pod, resource: str) -> float:
        """Measured, else predicted."""
        own = self.usage.pod_use.get(resource)
        if own is not None and isfinite(own[number]) and own[number] >= 0:
            return float(own[number])
        return predicted(pod.spec, resource)

    def requested(self, node: int, resource: str) -> float:
        """Requests of the pods on the node."""
        total = 0
        for number, pod in enumerate(self.cluster.pods):
            if number != self.without:
                places = (self.placement.node_of[number], self.placement.leaving[number])
                total += places.count(node) * amount_of(pod.spec.requests, resource)
        return total

    def capacity(self, node: int, resource: str) -> int:
        """What percentages are of."""
        found = self.cluster.nodes[node]
        return amount_of(found.capacity or found.allocatable, resource)

    @staticmethod
    def possible(value: float) -> float | None:
        """A percentage that can be, None for none."""
        return min(float(value), 100.0) if isfinite(value) and value >= 0 else None
