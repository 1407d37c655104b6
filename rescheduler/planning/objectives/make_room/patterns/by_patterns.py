"""Plans by patterns of nodes: where hard pods would run out of room, the nodes that take them are chosen as well.

The programme of ``node_patterns`` makes the patterns, CP-SAT chooses one for each node, evicted pods get the places
that were made for them, and the rest goes where there is room.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are first named

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.planning.objectives.make_room.patterns.arriving_classes import (
    ArrivingClasses,
    Fineness,
    arriving_classes,
)
from rescheduler.planning.objectives.make_room.patterns.node_patterns import NodePatterns, Pattern, cheap_enough
from rescheduler.planning.objectives.make_room.patterns.node_states import MOST_STATES, node_states
from rescheduler.planning.objectives.make_room.replacement import assume_all, chain, replace_rows
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.ranking import HelpVector, help_vector
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.repeatable import RepeatableSolver
from rescheduler.planning.waves.arrivals import Arrivals
from rescheduler.planning.waves.sequencing import sequence

FINENESS = ((Fineness(30, 1.15), 15_000), (Fineness(20, 1.25), MOST_STATES))
"""With the states that there may be at most; with more of them the next, coarser one is taken."""
FINENESS_OF_BOUND = ((Fineness(15, 1.1), MOST_STATES),)
MOST_TRIES = 5
_PROGRAMME_SHARE = 0.85
_DETERMINISTIC_SECONDS = 2.0
_JUST_AS_HARD = 0.9


def may_plan_by_patterns(problem: Problem) -> bool:
    """Whether patterns know all that pending pods ask for: room and nodes, for each of them alone, at any price."""
    groups = problem.pending_groups
    return (
        groups.evictions_per_pod is None
        and not groups.group_of
        and problem.remaining.of_namespace is None
        and not any(map(problem.is_entangled, problem.pending))
    )


class PlanByPatterns:
    """One search; ``best`` is the plan with the fewest evictions so far that helps all."""

    def __init__(self, problem: Problem, seed: int) -> None:
        """Begin with nothing."""
        self.problem = problem
        self.seed = seed
        self.best: WaveSchedule | None = None
        self._hard = np.zeros(len(problem.movable), dtype=np.bool_)

    def run(self, most: int, least: int, deadline: Deadline) -> None:
        """Look for plans of at most ``most`` evictions; pods that found no place count as hard the next time.

        Ends with one of no more than ``least``, or once no choice of patterns is better than the best plan.
        """
        everybody = help_vector(self.problem, self.problem.pending)
        for _ in range(MOST_TRIES):
            if most < least or deadline.is_over():
                return
            part = deadline.part(_PROGRAMME_SHARE)
            found = _programme(self.problem, FINENESS, everybody, part, is_bound=False, hard=self._hard)
            if found is None or found[1].value > most:
                return
            classes, programme = found
            chosen = _choose(programme, classes, min(most, self.problem.remaining.in_all), deadline, self.seed)
            if chosen is None:
                return
            failed = self._carry_out(classes, chosen, deadline)
            if self.best is not None:
                most = min(most, self.best.evictions - 1)
            if not failed:
                return
            self._note(classes, failed)

    def _carry_out(self, classes: ArrivingClasses, chosen: Sequence[Pattern], deadline: Deadline) -> tuple[int, ...]:
        """Make a schedule of a choice; returns the pods (rows) that found no place but by further evictions."""
        problem = self.problem
        places, slots = _taken(classes, chosen)
        evicted = [row for pattern in chosen for row in pattern.rows]
        state = Arrivals(problem)
        assume_all(state, places)
        moves = _into_slots(problem, classes, state, evicted, slots)
        replacement = replace_rows(problem, state, [row for row in evicted if int(problem.movable[row]) not in moves])
        moves.update(replacement.moves)
        if replacement.failed:
            covers = problem.covers.copy()
            for pattern in chosen:
                covers.remove(int(classes.nodes[pattern.node]), pattern.rows)
            moves.update(chain(problem, state, covers, replacement.failed) or {})
        if len(moves) >= len(evicted) and (self.best is None or len(moves) < self.best.evictions):
            draft = Draft(moves, places)
            self._offer(sequence(problem, draft, deadline, hint=tuple(moves.items())).schedule)
        return replacement.failed

    def _offer(self, schedule: WaveSchedule | None) -> None:
        if schedule is not None and (self.best is None or schedule.evictions < self.best.evictions):
            self.best = schedule

    def _note(self, classes: ArrivingClasses, failed: Sequence[int]) -> None:
        """Pods about as large as those that found no place, or larger, are hard to place as well."""
        requests = self.problem.requests[classes.scarce]
        for row in failed:
            self._hard |= (requests >= _JUST_AS_HARD * requests[:, [row]]).all(axis=0)


def least_by_patterns(problem: Problem, for_help: HelpVector, enough: int, deadline: Deadline) -> int:
    """No plan that helps as many pods of each priority as ``for_help`` says takes fewer evictions than this.

    Hard pods that are evicted are charged for the room that they need elsewhere. ``enough``: more is of no use.
    """
    found = _programme(problem, FINENESS_OF_BOUND, for_help, deadline, is_bound=True, enough=enough)
    return 0 if found is None else int(np.ceil(found[1].bound - 1e-6))


def _programme(
    problem: Problem,
    finenesses: Sequence[tuple[Fineness, int]],
    for_help: HelpVector,
    deadline: Deadline,
    *,
    is_bound: bool,
    enough: float = np.inf,
    hard: BoolArray | None = None,
) -> tuple[ArrivingClasses, NodePatterns] | None:
    classes, states = None, None
    for fineness, most in finenesses:
        classes = arriving_classes(problem, fineness, hard, is_bound=is_bound)
        states = None if classes is None else node_states(problem, classes, deadline, is_bound=is_bound, most=most)
        if states is not None:
            break
    if classes is None or states is None:
        return None
    programme = NodePatterns(problem, classes, states, for_help, is_bound=is_bound)
    programme.solve(deadline, enough)
    return classes, programme


def _choose(
    programme: NodePatterns, classes: ArrivingClasses, most: int, deadline: Deadline, seed: int
) -> list[Pattern] | None:
    """One pattern at most for each node: all are helped, and for each hard pod that leaves there is a place."""
    patterns = cheap_enough(programme, most)
    if not patterns or deadline.is_over():
        return None
    model = cp_model.CpModel()
    use = [model.new_bool_var("") for _ in patterns]
    of_node: defaultdict[int, list[cp_model.IntVar]] = defaultdict(list)
    for pattern, variable in zip(patterns, use, strict=True):
        of_node[pattern.node].append(variable)
    for variables in of_node.values():
        model.add_at_most_one(variables)
    wanted = [len(pods) for pods in classes.members] + [0] * (len(classes.asked) - len(classes.members))
    for kind, number in enumerate(wanted):
        some = [(variable, pattern.gain[kind]) for variable, pattern in zip(use, patterns, strict=True)]
        some = [(variable, gain) for variable, gain in some if gain]
        if some or number:
            gain = cp_model.LinearExpr.weighted_sum([item for item, _ in some], [item for _, item in some])
            model.add(gain >= number)
    cost = cp_model.LinearExpr.weighted_sum(use, [pattern.cost for pattern in patterns])
    model.add(cost <= most)
    model.minimize(cost)
    solver = RepeatableSolver(seed, deadline, _DETERMINISTIC_SECONDS)
    solver.parameters.linearization_level = 2
    status = solver.solve(model)
    solver.count_work()
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return [pattern for pattern, variable in zip(patterns, use, strict=True) if solver.boolean_value(variable)]


class _Slot(NamedTuple):
    """Room on a node that was made for a hard pod of one class."""

    kind: int
    node: int


def _taken(classes: ArrivingClasses, chosen: Sequence[Pattern]) -> tuple[dict[int, int], list[_Slot]]:
    """Where pending pods go, and the slots for hard ones."""
    queues = [list(pods) for pods in classes.members]
    places: dict[int, int] = {}
    slots: list[_Slot] = []
    for pattern in chosen:
        node = int(classes.nodes[pattern.node])
        for kind, number in enumerate(pattern.arriving):
            for _ in range(number):
                if kind >= len(queues):
                    slots.append(_Slot(kind, node))
                elif queues[kind]:
                    places[queues[kind].pop(0)] = node
    return places, slots


def _into_slots(
    problem: Problem, classes: ArrivingClasses, state: Arrivals, evicted: Sequence[int], slots: Sequence[_Slot]
) -> dict[int, int]:
    """As many hard pods as can be go to the slots, in ``state`` too; a slot takes whoever is no larger."""
    hard = [row for row in evicted if classes.of_row[row] >= 0]
    fitting = np.zeros((len(hard), len(slots)), dtype=np.bool_)
    for number, row in enumerate(hard):
        asked, mask = problem.requests[:, row], problem.masks[problem.mask_numbers[row]]
        for place, slot in enumerate(slots):
            fits = mask[slot.node] and slot.node != problem.origin[row]
            fitting[number, place] = fits and (asked <= classes.asked[slot.kind]).all()
    moves: dict[int, int] = {}
    if not fitting.any():
        return moves
    graph = scipy.sparse.csr_array(fitting.astype(np.int64))
    pairs = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column")
    for row, place in zip(hard, pairs.tolist(), strict=True):
        pod = int(problem.movable[row])
        if place >= 0 and (not problem.is_entangled(pod) or state.others_allow(pod, slots[place].node)):
            state.placement.move(pod, slots[place].node)
            moves[pod] = slots[place].node
    state.placement.settle()
    return moves
