"""Pod specifications, one shared object for all replicas of a template."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from rescheduler.adapters.kubernetes.objects.decoding.decode import AmountError, decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import NULL
from rescheduler.adapters.kubernetes.objects.pods.affinity import (
    node_affinity,
    pod_affinity,
    tolerations,
    topology_spread,
)
from rescheduler.adapters.kubernetes.objects.pods.containers import (
    PodNeeds,
    arriving_requests,
    containers_as_written,
    effective_requests,
    in_range,
    is_sidecar,
    pod_needs,
    scored_requests,
)
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import (
    Affinity,
    Container,
    ContainerPort,
    PodSpecObject,
    PodStatus,
)
from rescheduler.adapters.kubernetes.objects.pods.pod_status import held_resources
from rescheduler.model.objects.constraints import HostPort
from rescheduler.model.objects.pod import PodSpec
from rescheduler.model.objects.resources import Resources
from rescheduler.model.printable import shortened

_LARGEST_CACHE: Final = 20_000
_NO_AFFINITY: Final = Affinity()
_NO_RAW: Final = Raw()
_LONGEST_SECONDS: Final = (2**63 - 1) // 10**9
"""The longest duration that Kubernetes itself can represent, 292 years in nanoseconds."""


class PodSpecs:
    """Specifications by their text, and by their value where two texts mean the same.

    What differs between replicas (node, host name, volumes and their generated token's name, restarts, since when a
    container runs) is not looked at.
    """

    def __init__(self) -> None:
        """Start empty; one instance for one snapshot."""
        self._by_text: dict[bytes, tuple[PodSpec, Resources | None]] = {}
        self._by_value: dict[PodSpec, PodSpec] = {}
        self._encode = msgspec.json.Encoder().encode

    def of(
        self, spec: PodSpecObject, status: PodStatus, *, is_bound_daemon: bool = False, is_infeasible: bool = False
    ) -> tuple[PodSpec, Resources | None]:
        """The specification, and what the pod holds on its node where that differs. Raises ObjectError.

        Clears the fields of ``spec`` and ``status`` that differ between replicas: the rest, encoded again, is the
        key, which is several times faster than to put one together here.

        ``is_bound_daemon``: a DaemonSet's pod on its node. Its node affinity names that node, and is left out: it
        binds nobody else, the pod never moves, and with it each such pod would have a specification of its own.
        ``is_infeasible``: its resize in place can never be granted.
        """
        spec.node_name, spec.volumes = None, _NO_RAW
        if is_bound_daemon and spec.affinity is not None:
            spec.affinity.node_affinity = _NO_RAW
        for statuses in (status.container_statuses, status.init_container_statuses):
            for item in statuses or ():
                item.restart_count, item.state = None, _NO_RAW
        key = self._encode((is_infeasible, spec, status.container_statuses, status.init_container_statuses))
        found = self._by_text.get(key)
        if found is None:
            found = self._made(spec, status, is_infeasible=is_infeasible)
            if len(self._by_text) >= _LARGEST_CACHE:
                self._by_text.clear()
            self._by_text[key] = found
        return found

    def _made(self, spec: PodSpecObject, status: PodStatus, *, is_infeasible: bool) -> tuple[PodSpec, Resources | None]:
        try:
            needs = pod_needs(spec)
            made = _converted(spec, needs)
            held = held_resources(needs, spec, status, is_infeasible=is_infeasible)
        except AmountError as error:
            made, held = _without_amounts(spec, error), None
        if len(self._by_value) >= _LARGEST_CACHE:
            self._by_value.clear()
        made = self._by_value.setdefault(made, made)
        return made, None if held == made.requests else held


def _without_amounts(spec: PodSpecObject, error: AmountError) -> PodSpec:
    """A pod that asks for more than is counted here: all else of it stands. Raises ObjectError."""
    for container in (*(spec.containers or ()), *(spec.init_containers or ())):
        container.resources = _NO_RAW
    spec.resources = spec.overhead = _NO_RAW
    spec.termination_grace_period_seconds = None
    made = _converted(spec, pod_needs(spec))
    return replace(made, unmodelled=(*made.unmodelled, str(error)), problem=str(error))


def _converted(spec: PodSpecObject, needs: PodNeeds) -> PodSpec:
    affinity = spec.affinity or _NO_AFFINITY
    nodes, unknown_nodes = node_affinity(affinity.node_affinity)
    near, unknown_near = pod_affinity(affinity.pod_affinity, "podAffinity")
    far, unknown_far = pod_affinity(affinity.pod_anti_affinity, "podAntiAffinity")
    tolerated, unknown_tolerations = tolerations(bytes(spec.tolerations))
    spread, unknown_spread = topology_spread(spec.topology_spread_constraints)
    init_containers = spec.init_containers or []
    arriving = arriving_requests(needs)
    return PodSpec(
        requests=in_range(effective_requests(needs)),
        scored_requests=in_range(scored_requests(needs)),
        arriving_requests=None if arriving is None else in_range(arriving),
        node_selector=_node_selector(spec.node_selector),
        node_affinity=nodes,
        tolerations=tolerated,
        affinity=near.required,
        anti_affinity=far.required,
        preferred_affinity=near.preferred,
        preferred_anti_affinity=far.preferred,
        topology_spread=spread,
        host_ports=_host_ports(spec),
        images=tuple(_image(container) for container in (*init_containers, *(spec.containers or ()))),
        container_count=len(spec.containers or ()) + len(init_containers),
        priority=spec.priority or 0,
        priority_class_name=spec.priority_class_name or "",
        preemption_policy=spec.preemption_policy or "PreemptLowerPriority",
        scheduler_name=spec.scheduler_name or "default-scheduler",
        termination_grace_seconds=_grace_seconds(spec),
        unmodelled=(
            *_not_modelled(spec), *unknown_nodes, *unknown_near, *unknown_far, *unknown_tolerations, *unknown_spread
        ),
        containers=containers_as_written(spec),
        overhead=in_range(needs.overhead),
        restart_policy=shortened(spec.restart_policy, 60) if spec.restart_policy else "Always",
    )  # fmt: skip


def _grace_seconds(spec: PodSpecObject) -> int:
    """How long the pod may take to end; one that is negative ends at once, as for the kubelet. Raises AmountError."""
    written = spec.termination_grace_period_seconds
    if written is not None and written > _LONGEST_SECONDS:
        raise AmountError("spec.terminationGracePeriodSeconds", f"{written} seconds are more than 292 years")
    return 30 if written is None else max(written, 0)


def _node_selector(raw: Raw) -> tuple[tuple[str, str], ...]:
    text = bytes(raw)
    return () if text in NULL else tuple(sorted(decode(text, dict[str, str], "spec.nodeSelector").items()))


def _host_ports(spec: PodSpecObject) -> tuple[HostPort, ...]:
    """Ports of the node that containers and sidecars take; on the host's network, every port they name."""
    sidecars = [(f"spec.initContainers[{number}]", container)
                for number, container in enumerate(spec.init_containers or ()) if is_sidecar(container)]  # fmt: skip
    containers = [(f"spec.containers[{number}]", container) for number, container in enumerate(spec.containers or ())]
    found = []
    for path, container in (*containers, *sidecars):
        for port in _ports(container.ports, f"{path}.ports"):
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number:
                found.append(HostPort(number, port.protocol or "TCP", port.host_ip or HostPort(0).host_ip))
    return tuple(found)


def _ports(raw: Raw, path: str) -> Iterable[ContainerPort]:
    text = bytes(raw)
    return () if text in NULL else decode(text, list[ContainerPort], path)


def _image(container: Container) -> str:
    """The image's name as nodes write it: with a tag."""
    name = container.image or ""
    return name if not name or ":" in name.rpartition("/")[2] or "@" in name else f"{name}:latest"


def _not_modelled(spec: PodSpecObject) -> tuple[str, ...]:
    """Predicates that the scheduler has and we have not."""
    found = []
    if bytes(spec.resource_claims) not in (*NULL, b"[]"):
        found.append("resourceClaims (dynamic resource allocation)")
    if bytes(spec.scheduling_group) not in (*NULL, b"{}") or bytes(spec.workload_ref) not in (*NULL, b"{}"):
        found.append("schedulingGroup (gang scheduling)")
    return tuple(found)
