"""The search for the best plan: the bound first, then cheap constructions, then the exact model or repacking."""

from __future__ import annotations

from collections import Counter
from math import floor

import numpy as np

from rescheduler.extension_points import Progress
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.empty_nodes.draining.draining import Draining
from rescheduler.planning.objectives.empty_nodes.exact import ExactSearch, Known
from rescheduler.planning.objectives.empty_nodes.exchanging import Exchanges
from rescheduler.planning.objectives.empty_nodes.least_evictions import LeastEvictions, whole_prices
from rescheduler.planning.objectives.empty_nodes.node_by_node import NodeByNode
from rescheduler.planning.objectives.empty_nodes.relaxation import relax
from rescheduler.planning.objectives.empty_nodes.repacking.repacking import repacked
from rescheduler.planning.objectives.empty_nodes.simple_rules import SimpleRules
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution, keeps_limits, solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.room_model.instance_builder import build_instance
from rescheduler.planning.solvers.emptied_share import EmptiedShare, EmptiedShareProgram
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.still_possible import as_possible_here
from rescheduler.planning.waves.wave_packing import as_far_as_possible, packed_in_order
from rescheduler.planning.waves.waves import GroupsOfPods

_LARGEST_MODEL = 30_000  # (kind of pod, node) pairs
_SECONDS_PER_PAIR = 1e-4
_MOST_REPLAYED = 2_000
_RANDOM_ORDERS = 12
_ENOUGH = 1e-6
_SHARE_OF_BOUND, _SHARE_OF_WHOLE_BOUND = 0.4, 0.15
_SHARE_OF_FEWEST = 0.1
_FEE = 0.1  # of what nodes are worth a pod: too little to give up a node, enough to tell sets of nodes apart
_SHARE_OF_SEATS = 0.6  # of what is left for one trial; the rest is for its order
_FEW_EVICTIONS = 0.2  # of the movable pods: then the choice of nodes is what matters, else how pods are packed
_FIRST_SPARE, _FINEST_SPARE, _LARGEST_SPARE = 0.04, 0.003, 0.64
_FIRST_TOGETHER, _FINEST_TOGETHER, _MOST_TRIES_TOGETHER = 0.0125, 0.002, 24
_SHARE_OF_EXCHANGES, _SHARE_WITH_FEW_PODS, _FEW_PODS = 0.2, 0.5, 5  # a node: with many it is packing that matters
_SHORT_SECONDS = 1.0
_MANY_PODS = 10_000
_LARGEST_REPACKED, _LARGEST_EXCHANGED = 50_000_000, 1_000_000  # pods times nodes
_SHARE_OF_START, _SHARE_OF_TOGETHER = 0.3, 0.9
_SHARE_OF_FIRST_RULE, _SHARE_OF_OTHER_RULES = 0.95, 0.15
_TIMES_TO_PROVE = 1.0  # the bound takes about as long as the simple rules
_SHARE_IF_ENOUGH, _SHARE_OF_FIRST_ORDERS, _SHARE_OF_REPACKING, _SHARE_OF_DRAINING = 0.5, 0.1, 0.5, 0.95


class EmptyingSearch:
    """One run over a situation. ``best`` is the best plan so far, ``bound`` what no plan exceeds."""

    def __init__(
        self, situation: EmptyingSituation, groups: GroupsOfPods, deadline: Deadline, seed: int, progress: Progress
    ) -> None:
        """Begin with the plan that moves nobody."""
        self.situation = situation
        self.groups = groups
        self.deadline = deadline
        self.seed = seed
        self.progress = progress
        self.best = Solution()
        self.bound = float(situation.price[situation.could_be_emptied].sum())
        self._least = LeastEvictions(situation)
        self._program: EmptiedShareProgram | None = None
        self._guides: list[EmptiedShare] = []
        self._draining = Draining(situation, groups, seed, progress)
        self._draft: dict[int, int] = {}
        self._draft_value = 0.0
        self._is_warm = False

    def begin_with(self, start: WaveSchedule) -> None:
        """Begin where another plan ended, mend what of it is broken, and go on beside it."""
        deadline = self.deadline.part(_SHARE_OF_START)
        start = as_possible_here(self.situation.problem, self.situation.limits, start, deadline)
        self.progress("mending the start")
        self._keep(solution_of(self.situation, start))
        self._mend(start, deadline)
        self._leave_out_what_is_in_vain(deadline)
        self._is_warm = bool(self.best.emptied)
        if self._is_warm and not deadline.is_over():
            self._extend(deadline)

    def _mend(self, start: WaveSchedule, deadline: Deadline) -> None:
        """Seat those pods whose moves were lost, so that the nodes which the others left are emptied all the same."""
        situation = self.situation
        emptied = solution_of(situation, start).emptied
        leaving = Counter(int(situation.start.node_of[pod]) for wave in start.waves for pod, _ in wave)
        broken = [node for node in leaving if node not in emptied and situation.could_be_emptied[node]]
        if not broken:
            return
        broken.sort(key=lambda node: (int(situation.pods_on[node]) - leaving[node], node))
        is_closed = situation.is_empty.copy()
        is_closed[broken] = True
        work = NodeByNode(situation, is_closed)
        work.repeat(start, emptied)
        for may_eject in (False, True):
            left = [node for node in broken if node not in work.emptied]
            work.run(left, deadline.part(_SHARE_OF_SEATS / 2), may_eject=may_eject)
        self._offer(work.order, deadline)

    def _leave_out_what_is_in_vain(self, deadline: Deadline) -> None:
        """The best plan without its moves from nodes that are not emptied, if that empties as many."""
        origin = self.situation.start.node_of
        moves = [move for wave in self.best.schedule.waves for move in wave]
        useful = [move for move in moves if int(origin[move[0]]) in self.best.emptied]
        if len(useful) < len(moves):
            waves, _ = as_far_as_possible(self.situation.problem, self.groups, useful, deadline)
            self._keep(solution_of(self.situation, waves.schedule))

    def run(self) -> None:
        """Search until the plan is proven best or time is over."""
        if not len(self.situation.candidates):
            self.bound = 0.0
            return
        movable = len(self.situation.problem.movable)
        if self._is_warm:  # mostly there is nothing to add to what the last plan found
            self.prove()
            is_large = movable >= _MANY_PODS  # fewer evictions for as much are worth no second search there
            if self._is_done() or (is_large and self.best.value >= self.bound):
                return
        before = self.deadline.remaining()
        self._begin(movable)
        left = self.deadline.remaining()
        if left <= _TIMES_TO_PROVE * (before - left):  # too little even for the bound
            self._construct(self.deadline)
            return
        if not self._is_warm:
            self.prove()
        if self.bound <= 0 or self.deadline.is_over() or (self._is_warm and self._is_done()):
            return
        self._guide()
        self.progress("emptying node by node")
        is_tight = self.situation.limits.in_all < _FEW_EVICTIONS * movable
        if not is_tight:
            self._draining.prepare(self.deadline)
        is_enough = is_tight or self._is_roomy()
        self._construct(self.deadline.part(_SHARE_IF_ENOUGH if is_enough else _SHARE_OF_FIRST_ORDERS))
        if self._differ_in_worth():
            self._exchange(movable)
        if not is_tight and not self._is_done():
            self._pack(movable)
        if self.best.value < self.bound and not self.deadline.is_over():
            self._drain(self.deadline.part(_SHARE_OF_DRAINING))
        if not self.deadline.is_over() and not self._is_done():
            self._solve_whole()

    def _begin(self, movable: int) -> None:
        """The simple rules first: however slow the machine, no answer is below what they reach in the same time."""
        self.progress("emptying node by node, each pod to the first node with room")
        situation = self.situation
        rules = SimpleRules(situation, self.groups)
        is_empty, nobody = situation.is_empty, np.zeros(situation.node_count, dtype=np.bool_)
        share = _SHARE_OF_FIRST_RULE
        for order in rules.orders():
            for closed in (is_empty, nobody) if is_empty.any() else (is_empty,):
                if self.deadline.is_over():
                    return
                found = rules.run(order.tolist(), closed, self.deadline.part(share))
                share = _SHARE_OF_OTHER_RULES
                self._keep(found)
                if movable >= _MANY_PODS and found.value > self._draft_value:
                    self._draft, self._draft_value = found.schedule.draft.moves, found.value
        self._leave_out_what_is_in_vain(self.deadline.part(_SHARE_OF_OTHER_RULES))
        if self.deadline.seconds < _SHORT_SECONDS and movable < _MANY_PODS:
            ones = np.ones(situation.node_count)
            self._try(self._by_pods(ones), ones < 0, self.deadline.part(0.5))

    def prove(self) -> None:
        """A bound that holds for every plan: by the linear program, with whole nodes where they are few."""
        if not len(self.situation.candidates):
            self.bound = 0.0
            return
        self.progress("bounding what can be emptied")
        relaxation = relax(self.situation)
        if self.deadline.is_over():
            return
        self._program = EmptiedShareProgram(relaxation)
        for is_whole, share in ((False, _SHARE_OF_BOUND), (True, _SHARE_OF_WHOLE_BOUND)):
            found = self._program.solve(0.0, self.deadline.part(share), is_whole=is_whole)
            if found is not None:
                self._guides = self._guides or [found]
                self.bound = min(self.bound, self._rounded(found.bound))

    def _guide(self) -> None:
        """Where nodes differ in price: of sets of nodes that are worth about as much, that of few pods shows the way.

        What is worth most on paper is many sets, and most of them have pods that find no room in truth.
        """
        if self._program is None or not self._differ_in_worth():
            return
        nodes = self.situation.candidates
        fee = _FEE * float(self.situation.price[nodes].sum() / self.situation.pods_on[nodes].sum())
        found = self._program.solve(0.0, self.deadline.part(_SHARE_OF_WHOLE_BOUND), is_whole=True, fee=fee)
        self._guides += [] if found is None else [found]

    def _differ_in_worth(self) -> bool:
        price = self.situation.price[self.situation.candidates]
        return bool(price.min() < price.max())

    def _exchange(self, movable: int) -> None:
        """Exchange a few nodes at a time for others."""
        nodes = self.situation.node_count
        if movable * nodes > _LARGEST_EXCHANGED:
            return
        self.progress("exchanging nodes to empty")
        deadline = self.deadline.part(_SHARE_WITH_FEW_PODS if movable <= _FEW_PODS * nodes else _SHARE_OF_EXCHANGES)
        exchanges = Exchanges(self.situation, self._by_pods(np.ones(nodes)).tolist(), self.seed)
        while self.best.value < self.bound and (work := exchanges.better_than(self.best, deadline)) is not None:
            self._offer(work.order, deadline)

    def _is_roomy(self) -> bool:
        """Whether on paper every node could be emptied that may be: then one after the other is mostly enough."""
        return self.bound + _ENOUGH >= float(self.situation.price[self.situation.candidates].sum())

    def _rounded(self, bound: float) -> float:
        """With prices that are whole numbers (of some unit) so is the value of every plan."""
        prices, bound = whole_prices(self.situation.price), max(0.0, bound)
        return prices.real(floor(bound * prices.scale + _ENOUGH)) if prices.is_exact else bound and bound + _ENOUGH

    def _is_done(self) -> bool:
        return self.best.value >= self.bound and self.best.evictions <= self._fewest_for_best()

    def _fewest_for_best(self) -> int:
        return self._least.for_value(self.best.value, self.deadline.part(_SHARE_OF_FEWEST))

    def _known(self) -> Known | None:
        """What is proven so far, for the exact search; prices that are not whole are not known exactly."""
        prices = whole_prices(self.situation.price)
        fewest = self._fewest_for_best() if self.best.value >= self.bound else 0
        return Known(round(self.bound * prices.scale), fewest) if prices.is_exact else None

    def _construct(self, deadline: Deadline) -> None:
        """Several orders of nodes, with and without the nodes that the linear program empties kept free."""
        random = np.random.default_rng(self.seed)
        for closed in self._closings():
            for order in self._orders():
                if deadline.is_over():
                    return
                self._try(order, closed, deadline)
                if self._is_done() or deadline.is_over():
                    return
        for number in range(_RANDOM_ORDERS):
            noise = random.lognormal(0.0, 0.1 + 0.02 * number, self.situation.node_count)
            self._try(self._by_pods(noise), self._closings()[number % (1 + len(self._guides))], deadline)
            if self._is_done() or deadline.is_over():
                return

    def _try(self, order: IntArray, closed: BoolArray, deadline: Deadline) -> None:
        work = NodeByNode(self.situation, closed | self.situation.is_empty)
        work.run(order.tolist(), deadline.part(_SHARE_OF_SEATS), may_eject=False)
        emptied = frozenset(work.emptied)
        left = [node for node in order.tolist() if node not in emptied]
        work.run(left, deadline.part(_SHARE_OF_SEATS / 2), may_eject=True)
        self._note_draft(work)
        self._offer(work.order, deadline)

    def _note_draft(self, work: NodeByNode) -> None:
        value = float(self.situation.price[work.emptied].sum())
        if value > self._draft_value:
            self._draft, self._draft_value = dict(work.order), value

    def _offer(self, order: list[tuple[int, int]], deadline: Deadline) -> None:
        """Keep what of an order can be packed in time, if that is better."""
        problem = self.situation.problem
        waves, rest = as_far_as_possible(problem, self.groups, order, deadline)
        schedule = packed_in_order(problem, self.groups, order, deadline) if rest else None
        self._keep(solution_of(self.situation, schedule or waves.schedule))

    def _closings(self) -> list[BoolArray]:
        """Nodes to keep free of arrivals: those that a linear program empties; none."""
        found = []
        for guide in self._guides:
            assert self._program is not None
            wanted = np.zeros(self.situation.node_count, dtype=np.bool_)
            wanted[self._program.nodes[guide.share > 0.5]] = True
            found.append(wanted & self.situation.could_be_emptied)
        return [*reversed(found), np.zeros(self.situation.node_count, dtype=np.bool_)]

    def _orders(self) -> list[IntArray]:
        situation = self.situation
        orders = [self._by_pods(np.ones(situation.node_count))]
        first = orders[0]
        for guide in self._guides:
            assert self._program is not None
            share = np.zeros(situation.node_count)
            share[self._program.nodes] = guide.share
            orders.insert(0, first[np.argsort(-share[first], kind="stable")])
        capacity = np.maximum(1, situation.columns.allocatable)
        used = ((situation.start.used / capacity)[:2]).max(axis=0)
        nodes = situation.candidates
        orders.append(nodes[np.lexsort((nodes, used[nodes] / situation.price[nodes]))])
        return orders

    def _by_pods(self, noise: np.ndarray[tuple[int], np.dtype[np.float64]]) -> IntArray:
        """Nodes that cost the fewest evictions for what they are worth first."""
        situation = self.situation
        nodes = situation.candidates
        share = situation.pods_on[nodes] / situation.price[nodes] * noise[nodes]
        ordered: IntArray = nodes[np.lexsort((nodes, situation.harm[nodes], share))]
        return ordered

    def _pack(self, movable: int) -> None:
        """Empty many nodes at once, by the loops of draining if these are fast by now, else after other work."""
        is_ready = self._draining.is_ready(self.deadline)
        is_better = is_ready and self._empty_together(self.deadline.part(_SHARE_OF_TOGETHER))
        if not is_better and movable * self.situation.node_count <= _LARGEST_REPACKED:
            self._repack(self.deadline.part(_SHARE_OF_REPACKING))
        if not is_ready and self.best.value < self.bound:
            self._empty_together(self.deadline.part(_SHARE_OF_TOGETHER))

    def _empty_together(self, deadline: Deadline) -> bool:
        """Empty what the linear program chooses, with the least room to spare that is enough; whether that is better.

        Then some more tries with the most room to spare that was too little: what is left differs from try to try.
        """
        self.progress("emptying many nodes together")
        value, least, most, spare = self.best.value, 0.0, 1.0, _FIRST_TOGETHER
        for number in range(_MOST_TRIES_TOGETHER):
            before = deadline.remaining()
            found = self._draining.together(spare, deadline, number)
            if found is None:
                break
            self._keep(found.solution)
            if self.best.value >= self.bound or deadline.remaining() < before / 2:  # too little for one more
                break
            least, most = (spare, most) if found.left else (least, spare)
            is_fine = most - least <= _FINEST_TOGETHER or spare >= _LARGEST_SPARE
            spare = least if is_fine else (least + most) / 2 if most < 1.0 else 2 * least
        return self.best.value > value

    def _repack(self, deadline: Deadline) -> None:
        """Empty all at once what the linear program would, with the least room to spare that is enough (bisection)."""
        self.progress("seating the pods of many nodes together")
        random = np.random.default_rng(self.seed)
        least, most, spare = 0.0, 1.0, _FIRST_SPARE
        while most - least > _FINEST_SPARE and spare <= _LARGEST_SPARE and not deadline.is_over():
            if self._try_spare(spare, deadline, random):
                most = spare
            else:
                least = spare
            spare = (least + most) / 2 if most < 1.0 else 2 * least
        if self.best.emptied and not deadline.is_over():
            self._extend(deadline)

    def _try_spare(self, spare: float, deadline: Deadline, random: np.random.Generator) -> bool:
        """Whether everything that the linear program empties with so much room to spare could be emptied."""
        assert self._program is not None
        share = self._program.solve(spare, deadline.part(0.2))
        if share is None:
            return False
        chosen = self._program.nodes[share.share > 0.5]
        chosen = chosen[self.situation.could_be_emptied[chosen]]
        schedule = repacked(self.situation, self.groups, chosen, deadline.part(0.5), random)
        found = solution_of(self.situation, schedule)
        self._keep(found)
        return len(found.emptied) >= len(chosen)

    def _extend(self, deadline: Deadline) -> None:
        """Empty further nodes one by one beside those of the best plan."""
        work = NodeByNode(self.situation, self.situation.is_empty)
        work.repeat(self.best.schedule, self.best.emptied)
        order = [
            node for node in self._by_pods(np.ones(self.situation.node_count)).tolist() if node not in work.emptied
        ]
        work.run(order, deadline.part(_SHARE_OF_SEATS), may_eject=True)
        self._offer(work.order, deadline)

    def _drain(self, deadline: Deadline) -> None:
        """Drain further nodes beside those of the best plan, those first that the linear program empties."""
        self.progress("draining further nodes")
        draft = self.best.schedule.draft.moves
        if self._draft_value > self.best.value:
            draft = self._draft
        found = self._draining.drained(draft, self._orders()[0], self._closings()[0], deadline)
        if found is not None:
            self._keep(found)

    def _keep(self, found: Solution) -> None:
        if not keeps_limits(self.situation, found.schedule) or not found.is_better_than(self.best):
            return
        if found.evictions > _MOST_REPLAYED or not replay(self.situation.problem, found.schedule):
            self.best = found

    def _solve_whole(self) -> None:
        situation, problem = self.situation, self.situation.problem
        shapes = len(np.unique(problem.columns.shape_of[problem.movable]))
        size = shapes * situation.node_count
        if size > min(_LARGEST_MODEL, self.deadline.seconds / (4 * _SECONDS_PER_PAIR)):
            return
        self.progress("solving the whole model")
        instance = build_instance(problem, np.arange(situation.node_count))
        exact = ExactSearch(situation, instance, self.deadline, self.seed, self.best, self._known())
        exact.run()
        self._keep(exact.solution)
        if exact.bound is not None:
            self.bound = min(self.bound, exact.bound)
