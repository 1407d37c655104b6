"""Every rule that binds an arrival, listed by hand: written for the proof alone, from kube-scheduler's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from rescheduler.checker.predicates.node import affinity, ready, schedulable, taints, usable
from rescheduler.checker.predicates.pod_affinity import affinity as pod_affinity
from rescheduler.checker.predicates.pod_affinity import anti_affinity, anti_affinity_of_others
from rescheduler.checker.predicates.ports import ports
from rescheduler.checker.predicates.resources import resources
from rescheduler.checker.predicates.scheduler import added_affinity, load_limits
from rescheduler.checker.predicates.spread import spread
from rescheduler.checker.predicates.volumes import volume_binding, volume_limits, volume_restrictions, volume_zone
from rescheduler.checker.wave_arrivals import Others
from rescheduler.checker.world import Arrival, World

Predicate: TypeAlias = Callable[[Arrival, Others, World], str | None]
"""Says why a pod may not arrive while any of ``others`` may have arrived before it; None if it may."""

PREDICATES: Final[tuple[tuple[str, Predicate], ...]] = (
    ("NodeUsable", usable),
    ("NodeReady", ready),
    ("NodeUnschedulable", schedulable),
    ("TaintToleration", taints),
    ("NodeAffinity", affinity),
    ("NodeAffinity", added_affinity),
    ("NodeUsage", load_limits),
    ("NodePorts", ports),
    ("NodeResourcesFit", resources),
    ("VolumeRestrictions", volume_restrictions),
    ("NodeVolumeLimits", volume_limits),
    ("VolumeBinding", volume_binding),
    ("VolumeZone", volume_zone),
    ("PodTopologySpread", spread),
    ("InterPodAffinity", anti_affinity),
    ("InterPodAffinity", anti_affinity_of_others),
    ("InterPodAffinity", pod_affinity),
)

OPTIONAL: Final = frozenset(rule for rule, _ in PREDICATES) - {"NodeUsable", "NodeReady", "NodeUsage"}
"""Rules that are filters of kube-scheduler, which a profile may leave out."""
