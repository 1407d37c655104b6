"""Containers of a pod as written, turned into what they ask for, with errors that name the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Raw

from rescheduler.adapters.kubernetes.conversion.amounts import amounts
from rescheduler.adapters.kubernetes.conversion.effective_requests import ContainerNeeds, PodNeeds
from rescheduler.adapters.kubernetes.conversion.metadata import NULL
from rescheduler.adapters.kubernetes.decoding.decode import decode, joined
from rescheduler.adapters.kubernetes.decoding.errors import ObjectError
from rescheduler.adapters.kubernetes.decoding.pod import Container, PodSpecObject, ResourceRequirements
from rescheduler.model.containers import APP, INIT, SIDECAR, ContainerResources
from rescheduler.model.resources import LARGEST_AMOUNT, Resources, requested_amount, resources


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
    """Sums as they are kept. Raises ObjectError for one that is out of all bounds."""
    for name, amount in total.items():
        if amount > LARGEST_AMOUNT:
            raise ObjectError("spec.containers", f"their requests of {name} add up to {amount}, which is out of range")
    return resources(total.items())


def _requirements(raw: Raw, path: str) -> ResourceRequirements:
    text = bytes(raw)
    return ResourceRequirements() if text in NULL else decode(text, ResourceRequirements, path)


def below(path: str, read: Callable[[bytes], Mapping[str, int]], raw: Raw) -> Mapping[str, int]:
    """Read a text that lies at ``path``, whose errors do not know where it lies. Raises ObjectError."""
    try:
        return read(bytes(raw))
    except ObjectError as error:
        raise ObjectError(joined(path, error.path), error.problem) from error
