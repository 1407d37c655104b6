"""Containers of a pod as written, turned into what they ask for, with errors that name the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Raw

from rescheduler.adapters.kubernetes.objects.decoding.amounts import amounts
from rescheduler.adapters.kubernetes.objects.decoding.decode import AmountError, ObjectError, decode, joined
from rescheduler.adapters.kubernetes.objects.decoding.metadata import NULL
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import Container, PodSpecObject, ResourceRequirements
from rescheduler.model.objects.pod import APP, INIT, SIDECAR, ContainerResources
from rescheduler.model.objects.resources import (
    CPU,
    DEFAULT_MEMORY_BYTES,
    DEFAULT_MILLICORES,
    LARGEST_AMOUNT,
    MEMORY,
    Resources,
    requested_amount,
    resources,
)

# What a pod asks for as a whole: containers, sidecars, init containers, pod level and overhead (KEP-753, KEP-2837).


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


def pod_needs(spec: PodSpecObject) -> PodNeeds:
    """Everything in a specification that asks for resources. Raises ObjectError."""
    if not spec.containers:
        raise ObjectError("spec.containers", "is missing; a pod has at least one container")
    pod_level = _requirements(spec.resources, "spec.resources")
    return PodNeeds(
        containers=container_needs(spec.containers, "spec.containers"),
        init_containers=container_needs(spec.init_containers or (), "spec.initContainers"),
        pod_requests=amounts(pod_level.requests, requested_amount, "spec.resources.requests"),
        pod_limits=amounts(pod_level.limits, requested_amount, "spec.resources.limits"),
        overhead=below("spec.overhead", amounts_in, spec.overhead),
    )


def container_needs(containers: Sequence[Container], path: str) -> list[ContainerNeeds]:
    """What each container asks for; where it names only a limit, that much, as the API server fills it in."""
    found = []
    for number, container in enumerate(containers):
        requests = below(f"{path}[{number}].resources", requests_in, container.resources)
        found.append(ContainerNeeds(requests, is_sidecar(container)))
    return found


def is_sidecar(container: Container) -> bool:
    """Whether an init container keeps running beside the others."""
    return container.restart_policy == "Always"


@lru_cache(maxsize=4096)
def requests_in(text: bytes) -> Mapping[str, int]:
    """The requests of a container's ``resources``; many containers have the same. Raises ObjectError."""
    if text in NULL:
        return {}
    written = decode(text, ResourceRequirements)
    limits = amounts(written.limits, requested_amount, "limits")
    return {**limits, **amounts(written.requests, requested_amount, "requests")}


def containers_as_written(spec: PodSpecObject) -> tuple[ContainerResources, ...]:
    """Each container of a specification that ``pod_needs`` has read, init containers first."""
    before = [
        resources_of(bytes(container.resources), SIDECAR if is_sidecar(container) else INIT)
        for container in spec.init_containers or ()
    ]
    return (*before, *(resources_of(bytes(container.resources), APP) for container in spec.containers or ()))


@lru_cache(maxsize=4096)
def resources_of(text: bytes, kind: str) -> ContainerResources:
    """One container by its ``resources``, zeros kept; containers alike share one object. Raises ObjectError."""
    limits = {} if text in NULL else amounts(decode(text, ResourceRequirements).limits, requested_amount, "limits")
    return ContainerResources(tuple(sorted(requests_in(text).items())), tuple(sorted(limits.items())), kind)


@lru_cache(maxsize=4096)
def amounts_in(text: bytes) -> Mapping[str, int]:
    """A resource list, such as ``allocatedResources`` or ``overhead``. Raises ObjectError."""
    return {} if text in NULL else amounts(decode(text, dict[str, Any]), requested_amount, "")


def in_range(total: Mapping[str, int]) -> Resources:
    """Sums as they are kept. Raises AmountError for one that is out of all bounds."""
    for name, amount in total.items():
        if amount > LARGEST_AMOUNT:
            raise AmountError("spec.containers", f"their requests of {name} add up to {amount}, which is out of range")
    return resources(total.items())


def _requirements(raw: Raw, path: str) -> ResourceRequirements:
    text = bytes(raw)
    return ResourceRequirements() if text in NULL else decode(text, ResourceRequirements, path)


def below(path: str, read: Callable[[bytes], Mapping[str, int]], raw: Raw) -> Mapping[str, int]:
    """Read a text that lies at ``path``, whose errors do not know where it lies. Raises ObjectError."""
    try:
        return read(bytes(raw))
    except ObjectError as error:
        raise type(error)(joined(path, error.path), error.problem) from error
