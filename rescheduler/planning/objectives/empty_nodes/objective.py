"""Empty as many nodes as possible by as few evictions as possible: start reading here."""

from __future__ import annotations

from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.empty_nodes.following import by_cost, emptied_without_holds, with_destinations
from rescheduler.planning.objectives.empty_nodes.messages import binding_limits, blocked_nodes, describe
from rescheduler.planning.objectives.empty_nodes.request import EmptyNodesAnswer, EmptyNodesRequest
from rescheduler.planning.objectives.empty_nodes.search import EmptyingSearch
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.plan_request import PlannedMove
from rescheduler.planning.waves.waves import GroupsOfPods

SEARCH_SHARE = 0.85  # the rest of the time is for the destinations that the scheduler would choose
_SAME = 1e-9


def plan_empty_nodes(request: EmptyNodesRequest) -> EmptyNodesAnswer:
    """Plan within the deadline. The plan is never worse than doing nothing, and every prefix of its waves is allowed.

    Raises ValueError where prices are negative or not one for each node.
    """
    deadline = Deadline(request.clock, request.deadline_seconds)
    situation = EmptyingSituation(request)
    groups = GroupsOfPods(situation.problem)
    notes: list[str] = []
    search = EmptyingSearch(situation, groups, deadline.part(SEARCH_SHARE), request.seed, request.progress)
    if request.is_guided_by_holds:
        search.run()
        request.progress("predicting destinations")
        best = with_destinations(situation, groups, search.best, deadline, closes_empty=request.holds_empty_nodes)
    else:
        search.prove()
        best = emptied_without_holds(situation, groups, by_cost(situation), deadline)
        notes.append(_note_without_holds(situation, best))
    notes += best.schedule.notes_on_exchanges
    return _answer(situation, request, best, search.bound, notes)


def _answer(
    situation: EmptyingSituation, request: EmptyNodesRequest, best: Solution, bound: float, notes: list[str]
) -> EmptyNodesAnswer:
    refusals = blocked_nodes(situation, request.eligibility)
    limits = binding_limits(situation, best.evictions)
    is_proven = best.value >= bound - _SAME * max(1.0, abs(bound))
    return EmptyNodesAnswer(
        status=Status.OPTIMAL if is_proven else Status.FEASIBLE if best.emptied else Status.UNKNOWN,
        value=best.value,
        bound=best.value if is_proven else bound,
        gap=0.0 if is_proven else abs(best.value - bound) / max(1.0, abs(bound)),
        message=describe(situation, best, bound, refusals, limits, [note for note in notes if note]),
        emptied=best.emptied,
        moves=_moves(situation, best),
        refusals=refusals,
        binding_limits=limits,
    )


def _moves(situation: EmptyingSituation, best: Solution) -> tuple[PlannedMove, ...]:
    nodes = situation.columns.cluster.nodes
    emptied = frozenset(best.emptied)
    moves = []
    for number, wave in enumerate(best.schedule.waves, start=1):
        for pod, node in wave:
            origin = int(situation.start.node_of[pod])
            reason = f"empties {nodes[origin].name}" if origin in emptied else f"makes room on {nodes[origin].name}"
            is_exchange = number in best.schedule.evict_first
            moves.append(PlannedMove(pod, node, number, pod in best.guided, reason, is_exchange))
    return tuple(moves)


def _note_without_holds(situation: EmptyingSituation, best: Solution) -> str:
    left = len(situation.candidates) - len(best.emptied)
    if left <= 0:
        return ""
    return (
        f"without guidance {left} node{'s' if left != 1 else ''} that could be emptied stay, since the scheduler would"
        " send some of their pods back, or to nodes emptied already"
    )
