"""What may be disrupted, as data: decided by ``disruption/``, obeyed by planner, proved by ``proof/``."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Refusal

LIMIT_NAMES = ("limits.maxEvictions", "limits.maxEvictionsPerNode", "limits.maxEvictionsPerNamespace")


class DisruptionGroup(Struct, frozen=True, gc=False):
    """Pods of which at most ``allowed_per_wave`` may be moved in one wave.

    ``rule`` names what binds (PodDisruptionBudget, WorkloadBudget, Budget), ``name`` the object.
    ``pods`` are indices into ``Cluster.pods``. ``allowed_in_plan``: at most so many in the whole plan (a rate, of
    which the sliding window leaves so many); None: no such limit. ``detail``: the numbers behind that, in words.
    """

    rule: str
    name: str
    allowed_per_wave: int
    pods: tuple[int, ...]
    allowed_in_plan: int | None = None
    detail: str = ""


class MoveLimits(Struct, frozen=True, gc=False):
    """Caps on one whole plan; None: no cap. ``names``: what sets each of them, for messages."""

    max_evictions: int | None = None
    max_evictions_per_node: int | None = None
    max_evictions_per_namespace: int | None = None
    names: tuple[str, str, str] = LIMIT_NAMES


class Eligibility(Struct, frozen=True, gc=False):
    """Which pods may be moved at all, and why the others may not.

    ``movable``: sorted indices into ``Cluster.pods``. ``refusals``: pod index to the rule that refuses it, for each
    running pod that is not movable. ``helpable``: sorted indices of the pending pods that may be helped;
    ``not_helpable``: pending pod index to the reason (gated, of another scheduler, out of scope, ...).
    ``may_evict_first``: replacements are held back until they are led to their nodes, so that the pods of a wave may
    leave before they arrive. ``owing``: those of ``movable`` whose workload still waits for an earlier replacement.
    ``methods``: how those of ``movable`` are moved that are not evicted.
    """

    movable: tuple[int, ...]
    refusals: Mapping[int, Refusal]
    helpable: tuple[int, ...]
    not_helpable: Mapping[int, Refusal]
    groups: tuple[DisruptionGroup, ...] = ()
    limits: MoveLimits = MoveLimits()
    may_evict_first: bool = False
    owing: frozenset[int] = frozenset()
    methods: Mapping[int, MoveMethod] = {}

    def method_of(self, pod: int) -> MoveMethod:
        """How a movable pod is moved."""
        return self.methods.get(pod, MoveMethod.EVICT)


class OwnIdentity(Struct, frozen=True, gc=False):
    """Where the process that asks runs: its namespace, and its pod where it is one ("": not known)."""

    namespace: str = "rescheduler-system"
    pod: str = ""


class Selection(Struct, frozen=True, gc=False):
    """Which pods one call may move or help: these namespaces (none given: all) and this label selector.

    ``own``: who asks, and never moves itself.
    """

    namespaces: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    own: OwnIdentity = OwnIdentity()
