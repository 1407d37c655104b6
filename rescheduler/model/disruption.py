"""What may be disrupted, as data: decided by ``disruption/``, obeyed by planner, proved by ``proof/``."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rescheduler.model.constraints import LabelSelector
from rescheduler.model.plan import Refusal


class DisruptionGroup(Struct, frozen=True, gc=False):
    """Pods of which at most ``allowed_per_wave`` may be moved in one wave.

    ``rule`` names what binds (PodDisruptionBudget, WorkloadBudget, Budget), ``name`` the object.
    ``pods`` are indices into ``Cluster.pods``.
    """

    rule: str
    name: str
    allowed_per_wave: int
    pods: tuple[int, ...]


class MoveLimits(Struct, frozen=True, gc=False):
    """Caps on one whole plan; None: no cap."""

    max_evictions: int | None = None
    max_evictions_per_node: int | None = None
    max_evictions_per_namespace: int | None = None


class Eligibility(Struct, frozen=True, gc=False):
    """Which pods may be moved at all, and why the others may not.

    ``movable``: sorted indices into ``Cluster.pods``. ``refusals``: pod index to the rule that refuses it, for each
    running pod that is not movable. ``helpable``: sorted indices of the pending pods that may be helped;
    ``not_helpable``: pending pod index to the reason (gated, of another scheduler, out of scope, ...).
    """

    movable: tuple[int, ...]
    refusals: Mapping[int, Refusal]
    helpable: tuple[int, ...]
    not_helpable: Mapping[int, Refusal]
    groups: tuple[DisruptionGroup, ...] = ()
    limits: MoveLimits = MoveLimits()


class Selection(Struct, frozen=True, gc=False):
    """Which pods one call may move or help: these namespaces (none given: all) and this label selector."""

    namespaces: tuple[str, ...] = ()
    selector: LabelSelector | None = None
