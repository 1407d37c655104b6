"""A warm start: what of another plan still makes sense here, for the search of each objective to begin with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import MAKE_ROOM, Move, Plan, PlannedPlacement, PodReference
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.waves.still_possible import still_possible

SHARE_OF_LOOKING = 0.25
"""Of an objective's time, for what of the start still finds room and an order."""
SHARE_OF_LOOKING_AT_MOVES = 0.6
"""The same where that only packs moves, one look at each: what is cut off there is mostly not found again in time."""
NOT_ASKED = "for objectives that are not asked for"
POD_GONE = "of pods that are gone"
ELSEWHERE = "of pods that stand elsewhere now"
NODE_GONE = "to nodes that are gone"
NOT_POSSIBLE = "that limits, room or time do not allow"


@dataclass
class WarmStart:
    """Drafts by objective, in the order of the plan that they are from.

    ``count``: moves and places of that plan; ``left_out``: how many of them were dropped at once, by reason;
    ``impossible``: how many each objective had to drop, which is known once its turn comes.
    """

    drafts: Mapping[str, Draft] = field(default_factory=dict)
    count: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    impossible: dict[str, int] = field(default_factory=dict)

    def schedule(self, objective: str, request: PlanRequest) -> WaveSchedule:
        """What of an objective's draft is possible in a question; nothing where there is none."""
        draft = self.drafts.get(objective, Draft())
        movable, helpable = set(request.eligibility.movable), set(request.eligibility.helpable)
        left = Draft(
            {pod: node for pod, node in draft.moves.items() if pod in movable},
            {pod: node for pod, node in draft.places.items() if pod in helpable},
        )
        if not left.moves and not left.places:
            return WaveSchedule()
        limits = remaining_limits(request.eligibility.limits, request.placement)
        deadline, problem = request.deadline(), problem_of(request)
        is_quick = not left.places and not problem.may_evict_first
        share = SHARE_OF_LOOKING_AT_MOVES if is_quick else SHARE_OF_LOOKING
        found = still_possible(problem, limits, left, deadline.part(share))
        lost = len(draft.moves) + len(draft.places) - found.evictions - len(found.places)
        self.impossible.setdefault(objective, lost)
        return found

    @property
    def told(self) -> tuple[str, ...]:
        """What was dropped, in words; nothing where all of it could be used."""
        reasons = self.left_out + Counter({NOT_POSSIBLE: sum(self.impossible.values())})
        if not reasons:
            return ()
        kept = self.count - reasons.total()
        parts = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        return (f"the search began with {kept} of {self.count} moves and places of the start; left out: {parts}",)


def warm_start_of(plan: Plan | None, request: PlanRequest, objectives: Sequence[PlanningObjective]) -> WarmStart:
    """What of another plan, perhaps of another snapshot, is about pods and nodes that are here and may be planned for.

    ``request``: about the snapshot as it stands; ``objectives``: what is asked for; moves for others are dropped.
    """
    if plan is None:
        return WarmStart()
    columns = request.prediction.columns
    drafts = {objective.name: Draft() for objective in objectives}
    looking = _Looking(columns, request.eligibility, drafts.keys())
    left_out: Counter[str] = Counter()
    for move in plan.moves:
        against = looking.against_move(move)
        if against is None:
            drafts[move.objective].moves[looking.pod_of[move.pod.key]] = columns.node_index[move.to_node]
        else:
            left_out[against] += 1
    for place in plan.placements:
        against = looking.against_place(place)
        if against is None:
            drafts[MAKE_ROOM].places[looking.pod_of[place.pod.key]] = columns.node_index[place.node]
        else:
            left_out[against] += 1
    return WarmStart(drafts, len(plan.moves) + len(plan.placements), left_out)


class _Looking:
    """Finds pods and nodes by name, and says what speaks against planning with them."""

    def __init__(self, columns: Columns, eligibility: Eligibility, objectives: Collection[str]) -> None:
        self.pod_of = {pod.key: number for number, pod in enumerate(columns.cluster.pods)}
        self._columns = columns
        self._eligibility = eligibility
        self._objectives = objectives
        self._movable = frozenset(eligibility.movable)
        self._helpable = frozenset(eligibility.helpable)

    def against_move(self, move: Move) -> str | None:
        """Why a move is dropped; None: it is not."""
        if move.objective not in self._objectives or not move.has_destination:
            return NOT_ASKED
        pod = self._pod(move.pod)
        if pod is None:
            return POD_GONE
        if pod.node_name != move.from_node:
            return ELSEWHERE
        if move.to_node not in self._columns.node_index:
            return NODE_GONE
        number = self.pod_of[move.pod.key]
        return None if number in self._movable else self._barred(number, self._eligibility)

    def against_place(self, place: PlannedPlacement) -> str | None:
        """Why the place of a pending pod is dropped; None: it is not."""
        pod = self._pod(place.pod)
        if MAKE_ROOM not in self._objectives:
            return NOT_ASKED
        if pod is None:
            return POD_GONE
        if pod.node_name:
            return ELSEWHERE
        if place.node not in self._columns.node_index:
            return NODE_GONE
        number = self.pod_of[place.pod.key]
        return None if number in self._helpable else "of pods that may not be helped now"

    def _pod(self, reference: PodReference) -> Pod | None:
        number = self.pod_of.get(reference.key)
        pod = None if number is None else self._columns.cluster.pods[number]
        return pod if pod is not None and pod.uid == reference.uid else None

    @staticmethod
    def _barred(number: int, eligibility: Eligibility) -> str:
        refusal = eligibility.refusals.get(number)
        return "of pods that may not be moved now" + ("" if refusal is None else f" ({refusal.rule})")
