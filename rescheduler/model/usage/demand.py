"""Requests and limits of whole pods, by the rules of the schedulers that look at limits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.pod import APP, SIDECAR, ContainerResources, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY, Resources

MEASURED = (CPU, MEMORY)
"""Resources that usage-based plugins look at, in the order of rows."""


class Demand(NamedTuple):
    """What one pod asks for and may use, in MEASURED order; a limit is never below the request."""

    requests: tuple[int, int]
    limits: tuple[int, int]

    @property
    def is_best_effort(self) -> bool:
        """Neither requests nor limits."""
        return not any((*self.requests, *self.limits))


def containers_of(spec: PodSpec) -> tuple[ContainerResources, ...]:
    """The pod's containers; where their split is unknown, one with all requests, or as many empty ones as there are."""
    if spec.containers:
        return spec.containers
    if spec.requests:
        return (ContainerResources(spec.requests),)
    return (ContainerResources(),) * max(spec.container_count, 1)


def trimaran_demand(spec: PodSpec) -> Demand:
    """Requests and limits as the Trimaran plugins sum them: running containers or the largest init container.

    Sidecars count as plain init containers, unlike in kube-scheduler. Overhead comes on top of both. A limit that is
    missing or smaller becomes the request.
    """
    containers = containers_of(spec)
    requests, limits = [], []
    for resource in MEASURED:
        overhead = _amount(spec.overhead, resource)
        requests.append(_peak(containers, resource, is_limit=False) + overhead)
        limits.append(max(_peak(containers, resource, is_limit=True) + overhead, requests[-1]))
    return Demand((requests[0], requests[1]), (limits[0], limits[1]))


def trimaran_demands(columns: Columns) -> IntArray:
    """Requests for cpu and memory, then limits, of each shape, int64[4, S]; for ``Columns.facts``."""
    rows = [(*demand.requests, *demand.limits) for demand in map(trimaran_demand, columns.shapes)]
    return np.array(rows, dtype=np.int64).reshape(-1, 4).T


def effective_limit(spec: PodSpec, resource: str) -> int:
    """Limit of the whole pod by kube-scheduler's rule for requests (KEP-753); 0 where no container has one.

    Overhead is added only where there is a limit.
    """
    running = sidecars = peak = 0
    for container in spec.containers:
        limit = _amount(container.limits, resource)
        if container.kind == APP:
            running += limit
        elif container.kind == SIDECAR:
            sidecars += limit
            peak = max(peak, sidecars)
        else:
            peak = max(peak, limit + sidecars)
    total = max(running + sidecars, peak)
    return total + _amount(spec.overhead, resource) if total else 0


def _peak(containers: Iterable[ContainerResources], resource: str, *, is_limit: bool) -> int:
    running = largest = 0
    for container in containers:
        amount = _amount(container.limits if is_limit else container.requests, resource)
        if container.kind == APP:
            running += amount
        else:
            largest = max(largest, amount)
    return max(running, largest)


def _amount(amounts: Resources, resource: str) -> int:
    return next((amount for name, amount in amounts if name == resource), 0)
