"""What a pod asks for as a whole: containers, sidecars, init containers, pod level and overhead (KEP-753, KEP-2837)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rescheduler.model.resources import CPU, DEFAULT_MEMORY_BYTES, DEFAULT_MILLICORES, MEMORY


class ContainerNeeds(NamedTuple):
    """What one container asks for; ``is_sidecar``: an init container that keeps running."""

    requests: Mapping[str, int]
    is_sidecar: bool = False


class PodNeeds(NamedTuple):
    """Everything in a pod that asks for resources."""

    containers: Sequence[ContainerNeeds]
    init_containers: Sequence[ContainerNeeds] = ()
    pod_requests: Mapping[str, int] = {}
    pod_limits: Mapping[str, int] = {}
    overhead: Mapping[str, int] = {}


def effective_requests(needs: PodNeeds) -> dict[str, int]:
    """The amounts kube-scheduler reserves, zeros too.

    Running containers and sidecars are summed; an init container needs its own beside the sidecars started before
    it; the larger counts. Pod-level requests replace both. Overhead comes on top.
    """
    found: dict[str, int] = {}
    for container in needs.containers:
        _add(found, container.requests)
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in needs.init_containers:
        if container.is_sidecar:
            _add(sidecars, container.requests)
            raise_to(peak, sidecars)
        else:
            beside = dict(sidecars)
            _add(beside, container.requests)
            raise_to(peak, beside)
    _add(found, sidecars)
    raise_to(found, peak)
    _replace_by_pod_level(found, needs)
    _add(found, needs.overhead)
    return found


def scored_requests(needs: PodNeeds) -> dict[str, int]:
    """The same with kube-scheduler's non-zero defaults for each container without a request for cpu or memory."""
    if all(CPU in found.requests and MEMORY in found.requests for found in (*needs.containers, *needs.init_containers)):
        return effective_requests(needs)
    return effective_requests(
        needs._replace(
            containers=[_with_defaults(container) for container in needs.containers],
            init_containers=[_with_defaults(container) for container in needs.init_containers],
        )
    )


def arriving_requests(needs: PodNeeds) -> dict[str, int] | None:
    """The same for a pod that has no place yet, as its fit score sees it: without what it asks for as a whole.

    None where that makes no difference. Seen in kube-scheduler 1.36; the source of 1.35 reads the same.
    """
    if not (needs.pod_requests or needs.pod_limits):
        return None
    found = scored_requests(needs._replace(pod_requests={}, pod_limits={}))
    return {name: found[name] for name in (CPU, MEMORY)}


def is_pod_level_resource(name: str) -> bool:
    """Whether a pod may ask for this resource as a whole."""
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def raise_to(amounts: dict[str, int], other: Mapping[str, int]) -> None:
    """Make each amount at least what the other mapping has."""
    for name, amount in other.items():
        amounts[name] = max(amounts.get(name, 0), amount)


def _replace_by_pod_level(found: dict[str, int], needs: PodNeeds) -> None:
    """As the API server fills it in: a pod-level limit stands in for a request that nobody makes."""
    for name, amount in needs.pod_limits.items():
        if is_pod_level_resource(name) and name not in found:
            found[name] = amount
    found.update((name, amount) for name, amount in needs.pod_requests.items() if is_pod_level_resource(name))


def _with_defaults(container: ContainerNeeds) -> ContainerNeeds:
    return container._replace(requests={CPU: DEFAULT_MILLICORES, MEMORY: DEFAULT_MEMORY_BYTES, **container.requests})


def _add(total: dict[str, int], part: Mapping[str, int]) -> None:
    for name, amount in part.items():
        total[name] = total.get(name, 0) + amount
