"""A plan in the form that users and scripts rely on: objectives, moves in waves, placements, refusals, outcomes.

The structs are written to JSON as they stand (camelCase); ``docs/plan.schema.json`` is generated from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.what_if import WhatIf

API_VERSION = "rescheduler/v1alpha1"
MAKE_ROOM = "MakeRoom"
"""The objective to which the places of pending pods belong."""
EMPTY_NODES = "EmptyNodes"
"""The objective on which others act: nodes that it empties are marked, offered to autoscalers, and told by name."""
MOST_EMPTY_CLOSED = 300
"""While nodes are emptied, up to so many that were empty before are kept closed: placeholders for more of them would
take the job controller too long. Planner and executor both go by it."""


class Status(StrEnum):
    """How good the answer is proven to be, as in CP-SAT."""

    OPTIMAL = "OPTIMAL"
    FEASIBLE = "FEASIBLE"
    INFEASIBLE = "INFEASIBLE"
    UNKNOWN = "UNKNOWN"


class Landing(StrEnum):
    """Where the replacement of a pod that somebody else's rules chose is predicted to come to stand."""

    OTHER_NODE = "OtherNode"
    SAME_NODE = "SameNode"
    PENDING = "Pending"
    NO_REPLACEMENT = "NoReplacement"


class PodReference(Struct, frozen=True, rename="camel"):
    """A pod by name and uid."""

    namespace: str
    name: str
    uid: str = ""

    @property
    def key(self) -> str:
        """``NAMESPACE/NAME``."""
        return f"{self.namespace}/{self.name}"


def reference_to(pod: Pod) -> PodReference:
    """Name and uid of a pod."""
    return PodReference(pod.namespace, pod.name, pod.uid)


class SnapshotSummary(Struct, frozen=True, rename="camel"):
    """What the plan was made from. ``pods`` counts all pods, pending ones too; ``takenAt`` is RFC 3339 or null."""

    taken_at: str | None
    nodes: int
    pods: int
    pending_pods: int
    source: str


class Upstream(Struct, frozen=True, rename="camel"):
    """What descheduler itself would come to: its evictions, and the objective's value once their replacements landed.

    ``came_back``: of them to their own node; ``waiting``: for whose replacement there is no place, so that it counts
    for the value where it was. ``pushed_above``: nodes that they leave farther above their target than before, which
    our plan never does; left out where there are none.
    """

    evictions: int
    goal: float
    came_back: int
    waiting: int
    pushed_above: int | UnsetType = UNSET


class ObjectiveResult(Struct, frozen=True, rename="camel", omit_defaults=False):
    """What one objective reached, what is proven about it, and what it cost in time.

    ``upstream``: where a plugin of a DeschedulerPolicy is improved upon.
    """

    name: str
    status: Status
    value: float | None
    bound: float | None
    gap: float | None
    unit: str
    seconds: float
    message: str = ""
    helped: int | UnsetType = UNSET
    wanted: int | UnsetType = UNSET
    certificate: dict[str, Any] | UnsetType = UNSET
    upstream: Upstream | UnsetType = UNSET


class Move(Struct, frozen=True, rename="camel"):
    """One pod leaves a node and is expected on another. ``wave`` counts from 1.

    ``evict_first``: the pods of its wave leave before they arrive (pods on full nodes change places); written only
    where it is so. ``not_before``: until when ``run`` would hold it back in Execute (its ramp-up), RFC 3339; written
    only under ``run`` in another mode, and only where it would. ``landing``: the pod was chosen by somebody else's
    rules, which promise no destination; ``to_node`` is then a prediction, the pod's own node where it has none (in
    documents null where nobody makes it again).
    ``method``: how the pod is moved.
    """

    pod: PodReference
    from_node: str
    to_node: str
    wave: int
    objective: str
    reason: str
    needs_guidance: bool = False
    evict_first: bool | UnsetType = UNSET
    not_before: str | UnsetType = UNSET
    landing: Landing | UnsetType = UNSET
    method: MoveMethod = MoveMethod.EVICT

    @property
    def has_destination(self) -> bool:
        """Whether the plan rests on the replacement coming to stand on ``to_node``."""
        return self.landing is UNSET

    @property
    def destination(self) -> str | None:
        """Where its replacement is expected; None where nobody makes one."""
        return None if self.landing is Landing.NO_REPLACEMENT else self.to_node


class WaveMark(Struct, frozen=True, rename="camel"):
    """What is special about a wave. ``evict_first``: its pods leave before they arrive."""

    wave: int
    evict_first: bool


class PlannedPlacement(Struct, frozen=True, rename="camel"):
    """A pending pod that gets a place, free at the end of ``wave`` (0: it fits already)."""

    pod: PodReference
    node: str
    wave: int


class Refusal(Struct, frozen=True, rename="camel"):
    """A pod or a node that was considered and left alone, with the rule that refused it."""

    rule: str
    message: str
    pod: PodReference | UnsetType = UNSET
    node: str | UnsetType = UNSET


class Plan(Struct, frozen=True, rename="camel"):
    """An ordered set of moves with its proof and its refusals. ``waves``: only those that are marked, if any are.

    ``what_if``: the question of ``--remove-node`` and ``--add-node``, where it answers one; ``cost``: only where
    prices are known.
    """

    snapshot: SnapshotSummary
    objectives: tuple[ObjectiveResult, ...] = ()
    moves: tuple[Move, ...] = ()
    placements: tuple[PlannedPlacement, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()
    waves: tuple[WaveMark, ...] | UnsetType = UNSET
    what_if: WhatIf | UnsetType = UNSET
    cost: Cost | UnsetType = UNSET
    api_version: str = API_VERSION
    kind: str = "Plan"


class OutcomeKind(StrEnum):
    """What became of a move or a placement."""

    LANDED = "Landed"
    LANDED_ELSEWHERE = "LandedElsewhere"
    REFUSED = "Refused"
    NOT_ATTEMPTED = "NotAttempted"
    UNKNOWN = "Unknown"
    UNDONE = "Undone"

    @property
    def has_landed(self) -> bool:
        """Whether the pod came to rest, where it was expected or elsewhere."""
        return self in (OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE)


class MoveOutcome(Move, frozen=True, rename="camel", kw_only=True):
    """A move with what became of it.

    ``attempt``: written only where what was left of a plan was planned again while it was carried out, and the move is
    of that plan: 2, or 3 where that happened twice. The move of the attempt before keeps its own outcome.
    """

    outcome: OutcomeKind
    landed_on: str | None = None
    message: str = ""
    attempt: int | UnsetType = UNSET


class PlacementOutcome(PlannedPlacement, frozen=True, rename="camel", kw_only=True):
    """A placement with what became of it."""

    outcome: OutcomeKind
    landed_on: str | None = None
    message: str = ""


class PlanResult(Struct, frozen=True, rename="camel"):
    """A plan that was carried out, in whole or in part."""

    snapshot: SnapshotSummary
    objectives: tuple[ObjectiveResult, ...] = ()
    moves: tuple[MoveOutcome, ...] = ()
    placements: tuple[PlacementOutcome, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()
    message: str = ""
    waves: tuple[WaveMark, ...] | UnsetType = UNSET
    api_version: str = API_VERSION
    kind: str = "PlanResult"


def marked_waves(moves: Sequence[Move]) -> tuple[WaveMark, ...] | UnsetType:
    """The list of waves whose pods leave before they arrive, as a plan with these moves has it."""
    marked = sorted({move.wave for move in moves if move.evict_first})
    return tuple(WaveMark(wave, evict_first=True) for wave in marked) or UNSET
