"""Why a daemon runs a round: what triggers look at, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final, NamedTuple

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PlanResult, PodReference
from rescheduler.model.usage.usage import UsageWindows


class Occasion(NamedTuple):
    """A trigger asks for a round. ``at``: seconds since the epoch; ``pods``, ``nodes``: what it is about.

    ``place``: of the trigger in its policy, -1 for none; two of one name are two.
    """

    trigger: str
    reason: str
    at: float
    pods: tuple[PodReference, ...] = ()
    nodes: tuple[str, ...] = ()
    place: int = -1


FIRST_TRY: Final = "FirstTry"
"""The trigger of ``autoscaler.firstTry``: what it asks for is no round of all objectives, but one try for its pods."""


class RoundRequest(NamedTuple):
    """Somebody asks for a round himself. ``how``: REST, signal or annotation."""

    at: float
    how: str
    who: str = ""
    reason: str = ""


NODE_COMES: Final = frozenset({"TriggeredScaleUp", "Nominated"})
"""A node is on its way for a pod, or has room for it: the pod is left to it."""
NO_NODE_COMES: Final = frozenset(
    {
        "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "FailedScheduling",
        "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed",
    }
)  # fmt: skip
"""It does not come after all."""


class AutoscalerNotice(NamedTuple):
    """What an autoscaler has said. ``reason``: as its event or condition has it; the object is what it speaks of.

    ``autoscaler``: cluster-autoscaler or karpenter. ``kind``: Pod, Node, NodeClaim or ConfigMap.
    """

    at: float
    autoscaler: str
    reason: str
    kind: str
    namespace: str
    name: str
    message: str = ""


@dataclass(frozen=True, eq=False)
class Sight:
    """What triggers look at; ``cluster.taken_at`` is now.

    ``usage``: measured load of the snapshot's nodes, None where nothing is measured. ``notices`` and ``requests``:
    those since the look before. ``values``: each objective's value as the cluster stands, lower is better; costly.
    ``unseen_for``: what is new has happened, or was heard of, within so many seconds.
    """

    cluster: Cluster
    usage: UsageWindows | None = None
    notices: tuple[AutoscalerNotice, ...] = ()
    requests: tuple[RoundRequest, ...] = ()
    values: Callable[[], Mapping[str, float]] = dict
    unseen_for: float = inf


# What one round of a daemon was: why it ran, what it planned, and what became of it.


@dataclass(frozen=True)
class RoundReport:
    """One round. Times in seconds since the epoch.

    ``mode``: the policy's when it ran. ``plan`` None: none could be made. ``result`` None: nothing was carried out;
    ``reason`` says why nothing, or no more, was, "" if the plan was carried out whole. ``seconds``: by step.
    ``approved_by``: who said yes under mode Approve.
    ``is_held``: what stood in the way may pass (a freeze, say); the round is tried again.
    """

    number: int
    occasions: tuple[Occasion, ...]
    started_at: float
    ended_at: float
    mode: str
    policy_id: str
    plan_id: str = ""
    plan: Plan | None = None
    result: PlanResult | None = None
    reason: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    approved_by: str = ""
    is_held: bool = False

    @property
    def is_dry_run(self) -> bool:
        """Whether nothing could have been carried out, whatever the plan."""
        return self.mode == "DryRun"
