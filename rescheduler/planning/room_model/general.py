"""Any-depth search: the whole question over some nodes as one model, solved, put in order, and cut where no order is.

First only the end state counts. If its best plan has no order in which every pod arrives before others depart, the
model gets layers; if filters other than room refuse it, that plan is cut off and the model is solved again. Where pods
may leave before they arrive, only disruption groups and filters other than room stand in the way of an order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice, permutations, product

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.attempts import Attempt, Attempts, Refuted
from rescheduler.planning.room_model.instance import Instance
from rescheduler.planning.room_model.ranking import Proven, helped_by, rank
from rescheduler.planning.room_model.trimming import trim
from rescheduler.planning.waves.arrivals import Arrivals
from rescheduler.planning.waves.sequencing import (
    MOST_EVENTS_IN_ALL_ORDERS,
    MOST_EVENTS_TO_PERMUTE,
    Sequencing,
    any_order,
    any_steps,
    possible_part,
    sequence,
)

# The other ways to name the pods of a solution: which of several alike ones goes where can decide about the order.

MOST_PAIRINGS = 24
MOST_ALIKE = 6


def pairings(instance: Instance, draft: Draft, *, by_group: bool = False) -> tuple[list[Draft], bool]:
    """Drafts with the same counts, the given one first, and whether these are all of them.

    ``by_group``: pods of one node are alike only within their group, as where it matters who leaves in one wave.
    """
    kind_of = {pod: group.kind for group in instance.groups for pod in group.pods}
    home_of = {pod: instance.nodes[group.node] for group in instance.groups for pod in group.pods}
    group_of = {pod: number for number, group in enumerate(instance.groups) for pod in group.pods}
    like = group_of if by_group else home_of
    by_kind: dict[int, list[int]] = {}
    for pod in draft.moves:
        by_kind.setdefault(kind_of[pod], []).append(pod)
    is_all = all(len(pods) <= MOST_ALIKE for pods in by_kind.values())
    options = [list(_ways(pods, draft, home_of, like)) for pods in by_kind.values()]
    found = [draft]
    for choice in islice(product(*options), MOST_PAIRINGS + 1):
        moves = dict(draft.moves)
        for way in choice:
            moves.update(way)
        if moves != draft.moves:
            found.append(Draft(moves, draft.places))
    total = 1
    for ways in options:
        total *= len(ways)
    return found[:MOST_PAIRINGS], is_all and total <= MOST_PAIRINGS


def _ways(
    pods: list[int], draft: Draft, home_of: Mapping[int, int], like: Mapping[int, int]
) -> Iterator[dict[int, int]]:
    """Different ways to give pods each other's targets; those of one number in ``like`` are alike, none goes home."""
    targets = [draft.moves[pod] for pod in pods]
    if len(pods) > MOST_ALIKE:
        yield dict(zip(pods, targets, strict=True))
        return
    seen = set()
    for order in permutations(targets):
        key = tuple(sorted((like[pod], target) for pod, target in zip(pods, order, strict=True)))
        if key not in seen and all(home_of[pod] != target for pod, target in zip(pods, order, strict=True)):
            seen.add(key)
            yield dict(zip(pods, order, strict=True))


MOST_LAYERS = 24
MOST_CUTS = 400
CUTS_WITHOUT_ORDER = 6  # then layers, which know more of spread and separation, are quicker than more cuts
MOST_EFFORT = 8.0


class General:
    """One search. ``best`` is the best schedule so far; ``proven`` holds for every allowed order of moves."""

    def __init__(
        self,
        problem: Problem,
        instance: Instance,
        deadline: Deadline,
        seed: int,
        best: WaveSchedule | None = None,
        floor: int = 0,
    ) -> None:
        """``best``: a schedule to begin with; ``floor``: helping everybody is known to take as many evictions."""
        self.problem = problem
        self.instance = instance
        self.deadline = deadline
        self.best = best
        self.proven = Proven()
        self._floor = floor
        self._layers = 0
        self._attempts = Attempts(problem, instance, deadline, seed)
        self._cuts = self._attempts.cuts
        self._is_complete = instance.covers_all and instance.is_exact

    def run(self) -> None:
        """Search until the best schedule is proven best, or time is over."""
        while not self.deadline.is_over():
            attempt = self._attempts.solve(self._layers, self.best, self._floor)
            if attempt is None:
                if not self._try_harder():
                    return
            elif isinstance(attempt, Refuted):
                if not self._learn_refuted():
                    return
            elif not self._use(attempt):
                return

    def _use(self, attempt: Attempt) -> bool:
        """Order the plan of an attempt, or learn why it has none; whether to go on."""
        found = self._order(attempt)
        self._learn(attempt)
        if found.schedule is None:
            self._salvage(attempt.decoded.draft)
            return self._react(attempt, found)
        is_better = self._offer(found.schedule)
        if self._is_finished():
            return False
        if self._can_learn_more(attempt):
            self._layers = self._more_layers()
            return True
        is_cheaper = is_better and self._attempts.can_only_be_cheaper(self.best)
        return is_cheaper or (not attempt.is_proven and self._try_harder())

    def _try_harder(self) -> bool:
        """Give each stage twice the time; whether there is any point in that."""
        self._attempts.effort *= 2
        return self._attempts.effort <= MOST_EFFORT

    def _learn_refuted(self) -> bool:
        """No plan of the model has fewer evictions than the best; whether more layers may have one."""
        assert self.best is not None
        helped, is_all = helped_by(self.problem, self.best), self._layers == 0 or self._layers >= self._most_moves()
        least = self.best.evictions if is_all else min(self.best.evictions, self._layers + 1)
        if self._is_complete:
            self.proven = Proven(helped, max(least, self.proven.bound_for(helped)), helped)
        if is_all or self._layers >= MOST_LAYERS or self._is_finished():
            return False
        self._layers = self._more_layers()
        return True

    def _more_layers(self) -> int:
        return min(MOST_LAYERS, self._most_moves(), max(2, 2 * self._layers))

    def _order(self, attempt: Attempt) -> Sequencing:
        """An order for the attempt's plan, or for one with the same counts in which alike pods are named otherwise."""
        first = sequence(self.problem, attempt.decoded.draft, self.deadline, hint=attempt.decoded.order)
        is_unique = attempt.decoded.is_unique and not self.problem.may_evict_first
        if is_unique or (first.schedule is not None and not first.schedule.evict_first):
            return first
        drafts, are_all = self._pairings(attempt.decoded.draft)
        is_impossible = are_all and first.is_impossible
        best = first.schedule
        for draft in drafts[1:]:
            found = sequence(self.problem, draft, self.deadline)
            if found.schedule is not None and (best is None or found.schedule.exchanged < best.exchanged):
                best = found.schedule
            if best is not None and not best.evict_first:
                break
            is_impossible &= found.is_impossible
        return Sequencing(best, is_impossible and best is None)

    def _pairings(self, draft: Draft) -> tuple[list[Draft], bool]:
        return pairings(self.instance, draft, by_group=self.problem.may_evict_first)

    def _learn(self, attempt: Attempt) -> None:
        """Turn what the solver proved of its model into what holds for every plan."""
        if not self._is_complete or not attempt.is_help_proven:
            return
        is_all = self._layers == 0 or self._layers >= self._most_moves()
        if is_all and attempt.help != self.proven.most_help:
            self.proven = Proven(attempt.help, 0, attempt.help)
        if attempt.help == self.proven.for_help:
            bound = attempt.evictions_bound
            if not is_all:  # a plan of e moves fits in e layers
                bound = min(bound, self._layers + 1)
            self.proven = replace(self.proven, least_evictions=max(bound, self.proven.least_evictions))

    def _salvage(self, draft: Draft) -> None:
        """Keep what of a draft without an order can be done, less the moves that nobody needs then."""
        part = possible_part(self.problem, draft)
        part = Draft(part.moves, self.problem.pending_groups.whole(part.places))
        if part.places and (
            self.best is None
            or self.problem.pending_groups.evictions_per_pod is not None
            or len(part.places) >= len(self.best.places)
        ):
            for smaller in (trim(self.problem, part), part):
                schedule = sequence(self.problem, smaller, self.deadline).schedule
                if schedule is not None:
                    self._offer(schedule)
                    return

    def _offer(self, schedule: WaveSchedule) -> bool:
        """Keep a schedule that is better; whether it is."""
        is_better = self.best is None or rank(self.problem, schedule) > rank(self.problem, self.best)
        if is_better:
            self.best = schedule
        return is_better

    def _is_finished(self) -> bool:
        return self.best is not None and self.proven.is_best(helped_by(self.problem, self.best), self.best.evictions)

    def _can_learn_more(self, attempt: Attempt) -> bool:
        """Whether more layers could still better the plan or its proof."""
        return attempt.is_help_proven and 0 < self._layers < min(MOST_LAYERS, self._most_moves())

    def _most_moves(self) -> int:
        most = sum(len(group.pods) for group in self.instance.groups)
        most = min(most, self.problem.remaining.in_all)
        if self.best is not None and self._attempts.can_only_be_cheaper(self.best):
            most = min(most, self.best.evictions - 1)
        return most

    def _react(self, attempt: Attempt, found: Sequencing) -> bool:
        """After a plan without an order: cut it off, or ask for an order in the model; False if neither helps."""
        is_tangled = any(map(self.problem.is_entangled, (*attempt.decoded.draft.moves, *attempt.decoded.draft.places)))
        if len(self._cuts) >= MOST_CUTS:
            return False
        is_ordered = self._layers > 0 or len(self._cuts) < CUTS_WITHOUT_ORDER
        if is_tangled and is_ordered:
            drafts, are_all = self._pairings(attempt.decoded.draft)
            if all(map(self._is_refused_by_filters, drafts)):
                self._is_complete &= are_all
                self._cuts.append((attempt.values, self._tangled_positions()))
                return True
        if self._layers == 0 and not self.problem.may_evict_first:
            self._layers = min(2, self._most_moves())
            return self._layers > 0
        if not is_tangled and not self.problem.may_evict_first:
            return False
        self._is_complete &= found.is_impossible
        self._cuts.append((attempt.values, list(range(len(self.instance.groups) + self.instance.size))))
        return True

    def _is_refused_by_filters(self, draft: Draft) -> bool:
        """Whether the filters other than room allow no order of the moves and arrivals that bear on each other."""
        groups, kinds = self._tangle
        pods = {pod for number in groups for pod in self.instance.groups[number].pods}
        pods |= {pod for demand in self.instance.demands if demand.kind in kinds for pod in demand.pods}
        part = Draft(
            {pod: node for pod, node in draft.moves.items() if pod in pods},
            {pod: node for pod, node in draft.places.items() if pod in pods},
        )
        if len(part.moves) + len(part.places) > MOST_EVENTS_TO_PERMUTE:
            return False
        start = Arrivals(self.problem, ignores_room=True)
        if self.problem.may_evict_first:
            if len(part.moves) + len(part.places) > MOST_EVENTS_IN_ALL_ORDERS:
                return False
            found = any_steps(start, part, self.deadline)
            return found.steps is None and found.was_complete
        order, was_complete = any_order(start, part, self.deadline)
        return order is None and was_complete

    @cached_property
    def _tangle(self) -> tuple[frozenset[int], frozenset[int]]:
        """Groups and kinds of pods that watch others or are watched."""
        kinds = {n for n, kind in enumerate(self.instance.kinds) if self.problem.is_entangled(kind.pod)}
        groups = {n for n, group in enumerate(self.instance.groups) if group.kind in kinds}
        for number in tuple(kinds):
            groups.update(self.instance.kinds[number].watched_groups)
            kinds.update(self.instance.kinds[number].watched_kinds)
        kinds.update(self.instance.groups[number].kind for number in groups)
        return frozenset(groups), frozenset(kinds)

    def _tangled_positions(self) -> list[int]:
        """Positions, among groups and then (kind, node) pairs, of the counts that filters other than room look at."""
        groups, kinds = self._tangle
        pairs = [number for number, kind in enumerate(self.instance.kinds) for _ in kind.nodes]
        offset = len(self.instance.groups)
        return [*sorted(groups), *(offset + position for position, kind in enumerate(pairs) if kind in kinds)]
