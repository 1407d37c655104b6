"""A plan that foretells what somebody else's rules do: victims in their order, and what becomes of each.

Written to JSON as it stands (camelCase), as ``kind: Plan``. Every eviction that is tried stands once, in ``moves``
or in ``refusals``, numbered over both by ``order``.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from rescheduler.model.plan.plan import (
    API_VERSION,
    Landing,
    ObjectiveResult,
    OutcomeKind,
    PodReference,
    SnapshotSummary,
)


class ForetoldMove(Struct, frozen=True, rename="camel"):
    """One victim. ``to_node``: where kube-scheduler is predicted to put its replacement; None: nowhere.

    ``instead_of``: it goes in the place of one that our own rules refused; such a move has no ``order``.
    """

    pod: PodReference
    from_node: str
    to_node: str | None
    landing: Landing
    profile: str
    objective: str
    reason: str
    message: str
    wave: int
    needs_guidance: bool = False
    order: int | UnsetType = UNSET
    instead_of: PodReference | UnsetType = UNSET


class ForetoldRefusal(Struct, frozen=True, rename="camel"):
    """A pod that was left alone; with ``chosen_by`` the plugin that would have evicted it.

    ``server_would_refuse``: only where the API server would refuse the eviction as well.
    """

    pod: PodReference
    rule: str
    message: str
    chosen_by: str | UnsetType = UNSET
    profile: str | UnsetType = UNSET
    order: int | UnsetType = UNSET
    server_would_refuse: bool | UnsetType = UNSET


class ForetoldPlan(Struct, frozen=True, rename="camel"):
    """Victims of one cycle; one entry of ``objectives`` for each run of a plugin, in running order."""

    snapshot: SnapshotSummary
    objectives: tuple[ObjectiveResult, ...] = ()
    moves: tuple[ForetoldMove, ...] = ()
    placements: tuple[()] = ()
    refusals: tuple[ForetoldRefusal, ...] = ()
    warnings: tuple[str, ...] = ()
    api_version: str = API_VERSION
    kind: str = "Plan"


class ForetoldOutcome(ForetoldMove, frozen=True, rename="camel", kw_only=True):
    """A victim with what became of it; ``message`` then says why, unless it landed as foretold."""

    outcome: OutcomeKind
    landed_on: str | None = None


class ForetoldResult(Struct, frozen=True, rename="camel"):
    """A foretold plan that was carried out, in whole or in part."""

    snapshot: SnapshotSummary
    objectives: tuple[ObjectiveResult, ...] = ()
    moves: tuple[ForetoldOutcome, ...] = ()
    placements: tuple[()] = ()
    refusals: tuple[ForetoldRefusal, ...] = ()
    warnings: tuple[str, ...] = ()
    message: str = ""
    api_version: str = API_VERSION
    kind: str = "PlanResult"
