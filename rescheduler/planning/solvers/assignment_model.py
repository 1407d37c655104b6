"""An assignment problem as a CP-SAT model: one literal for each member and node that is open to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IndexArray
from rescheduler.planning.assignment.assignment_problem import (
    AffinityCost,
    AssignmentProblem,
    CrowdCost,
    SpreadCost,
    StrifeCost,
)
from rescheduler.planning.solvers.cp_sat import cp_model

Variable = cp_model.IntVar
UNIT = 10_000
"""What 1 of the cost is in the sum with fees."""
_ENDLESS = 2**20


class AssignmentModel:
    """``cost``, ``evictions`` and ``fees`` are what may be minimised; ``literals`` are all that decide."""

    def __init__(self, assignment: AssignmentProblem) -> None:
        """Build literals and constraints."""
        self.assignment = assignment
        self.model = cp_model.CpModel()
        self.at = {
            (member, node): self.model.new_bool_var("")
            for member, nodes in enumerate(assignment.nodes)
            for node in nodes
        }
        for member, nodes in enumerate(assignment.nodes):
            self.model.add_exactly_one(self.at[member, node] for node in nodes)
        self._homes = [self.at[member, home] for member, home in enumerate(assignment.homes)]
        self._keep_room()
        self._keep_limits()
        self._keep_conflicts()
        self.cost: cp_model.LinearExprT = self._total_cost()

    @property
    def literals(self) -> list[Variable]:
        """All places, in the order of ``at``."""
        return list(self.at.values())

    @property
    def evictions(self) -> cp_model.LinearExprT:
        """Members that do not end at home."""
        return cp_model.LinearExpr.sum([~literal for literal in self._homes])

    @property
    def fees(self) -> cp_model.LinearExprT:
        """Price of all moves."""
        return cp_model.LinearExpr.weighted_sum([~literal for literal in self._homes], list(self.assignment.fees))

    @property
    def at_home(self) -> list[int]:
        """Values of ``literals`` when nobody moves."""
        return [int(node == self.assignment.homes[member]) for member, node in self.at]

    def weighed(self, fees: Sequence[float]) -> cp_model.LinearExprT:
        """Cost and the fee of each move, in units of the cost, as one whole number."""
        shares = [min(_ENDLESS * UNIT, round(fee * UNIT)) for fee in fees]
        paid = cp_model.LinearExpr.weighted_sum([~literal for literal in self._homes], shares)
        return cp_model.LinearExpr.weighted_sum([self.cost, paid], [UNIT, 1])

    def moves(self, values: Sequence[int]) -> dict[int, int]:
        """Members that move, with their nodes, from values of ``literals``."""
        ends = {key[0]: key[1] for key, value in zip(self.at, values, strict=True) if value}
        return {member: node for member, node in ends.items() if node != self.assignment.homes[member]}

    def forbid(self, moves: dict[int, int]) -> None:
        """Rule out that all members end just so."""
        ends = [self.at[member, moves.get(member, home)] for member, home in enumerate(self.assignment.homes)]
        self.model.add_bool_or([~literal for literal in ends])

    def _keep_room(self) -> None:
        arriving: dict[int, list[int]] = defaultdict(list)
        staying: dict[int, list[int]] = defaultdict(list)
        for member, node in self.at:
            (staying if node == self.assignment.homes[member] else arriving)[node].append(member)
        for node, members in arriving.items():
            for resource, room in enumerate(self.assignment.room[node]):
                asking = [
                    (m, self.assignment.request[m][resource]) for m in members if self.assignment.request[m][resource]
                ]
                held = [
                    (m, self.assignment.held[m][resource]) for m in staying[node] if self.assignment.held[m][resource]
                ]
                if not asking:
                    continue
                used = cp_model.LinearExpr.weighted_sum(
                    [self.at[m, node] for m, _ in (*asking, *held)], [amount for _, amount in (*asking, *held)]
                )
                if sum(amount for _, amount in held) <= room:
                    self.model.add(used <= room)
                else:  # more is held than there is: that binds those who come, not those who stay
                    for member, _ in asking:
                        self.model.add(used <= room).only_enforce_if(self.at[member, node])

    def _keep_limits(self) -> None:
        limits, assignment = self.assignment.limits, self.assignment
        if limits.in_all < len(assignment.homes):
            self.model.add(self.evictions <= limits.in_all)
        by_node: dict[int, list[Variable]] = defaultdict(list)
        by_namespace: dict[str, list[Variable]] = defaultdict(list)
        for home, namespace, literal in zip(assignment.homes, assignment.namespaces, self._homes, strict=True):
            by_node[home].append(literal)
            by_namespace[namespace].append(literal)
        caps = [(literals, int(limits.of_node[home])) for home, literals in by_node.items()]
        caps += [(literals, limits.of(namespace)) for namespace, literals in by_namespace.items()]
        for literals, cap in caps:
            if cap < len(literals):
                self.model.add(cp_model.LinearExpr.sum(literals) >= len(literals) - cap)

    def _keep_conflicts(self) -> None:
        for conflict in self.assignment.conflicts:
            others = self._by_domain(conflict.codes, (conflict.other,))
            for node in self.assignment.nodes[conflict.one]:
                domain = int(conflict.codes[node])
                if domain == NOWHERE or node == self.assignment.homes[conflict.one]:
                    continue
                for other in others.get(domain, ()):
                    self.model.add_implication(self.at[conflict.one, node], ~other)

    def _total_cost(self) -> cp_model.LinearExprT:
        costs = self.assignment.costs
        parts: list[cp_model.LinearExprT] = [costs.constant]
        placed = [(self.at[key], amount) for key, amount in costs.of_place.items() if key in self.at]
        if placed:
            parts.append(cp_model.LinearExpr.weighted_sum([one for one, _ in placed], [amount for _, amount in placed]))
        for crowd in costs.crowds:
            parts += self._crowd(crowd)
        for strife in costs.strifes:
            parts += self._strife(strife)
        for evenness in costs.evennesses:
            parts += self._evenness(evenness)
        parts += [self._need(need) for need in costs.needs]
        return cp_model.LinearExpr.sum(parts)

    def _crowd(self, crowd: CrowdCost) -> list[Variable]:
        """Pairs by domain as a convex function of their number, which gives the solver a strong bound."""
        found = []
        for domain, literals in self._by_domain(crowd.codes, crowd.members).items():
            standing = int(crowd.standing[domain])
            most = min(len(crowd.members), len(literals))
            pairs = self.model.new_int_var(0, most * standing + most * (most - 1) // 2, "")
            number = cp_model.LinearExpr.sum(literals)
            for before in range(most):  # the next one adds ``standing + before`` pairs
                self.model.add(pairs >= (standing + before) * number - before * (before + 1) // 2)
            found.append(pairs)
        return found

    def _strife(self, strife: StrifeCost) -> list[Variable]:
        found = []
        for one in strife.ones:
            mine = self._by_domain(strife.codes, (one,))
            for other in strife.others:
                theirs = self._by_domain(strife.codes, (other,))
                meet = self.model.new_bool_var("")
                for domain in sorted(mine.keys() & theirs.keys()):
                    both = cp_model.LinearExpr.sum([*mine[domain], *theirs[domain]])
                    self.model.add(both <= 1 + meet)
                found.append(meet)
        return found

    def _evenness(self, evenness: SpreadCost) -> list[Variable]:
        literals = self._by_domain(evenness.codes, evenness.members)
        counts = {
            domain: int(evenness.standing[domain]) + cp_model.LinearExpr.sum(literals.get(domain, []))
            for domain in np.flatnonzero(evenness.is_domain).tolist()
        }
        least = self.model.new_int_var(0, 0 if evenness.is_from_zero else _ENDLESS, "")
        for count in counts.values():
            self.model.add(least <= count)
        found = []
        for count in counts.values():
            over = self.model.new_int_var(0, _ENDLESS, "")
            self.model.add(over + least + evenness.max_skew >= count)
            found.append(over)
        return found

    def _need(self, need: AffinityCost) -> cp_model.LinearExprT:
        """A literal that is true where the holder lacks company."""
        lacks = self.model.new_bool_var("")
        is_excused: list[Variable] = []
        if need.is_free_alone and not need.has_standing:
            alone = self.model.new_bool_var("")
            some = np.any([codes != NOWHERE for codes in need.codes], axis=0)
            for partner in need.partners:
                for node in self.assignment.nodes[partner]:
                    if some[node]:
                        self.model.add_implication(alone, ~self.at[partner, node])
            is_excused = [alone]
        nodes = (need.node,) if need.holder == NOWHERE else self.assignment.nodes[need.holder]
        partners = [self._by_domain(codes, need.partners) for codes in need.codes]
        for node in nodes:
            here = [] if need.holder == NOWHERE else [~self.at[need.holder, node]]
            for codes, standing, near in zip(need.codes, need.standing, partners, strict=True):
                domain = int(codes[node])
                if domain == NOWHERE:
                    self.model.add_bool_or([lacks, *here])
                elif not standing[domain]:
                    self.model.add_bool_or([lacks, *here, *near.get(domain, []), *is_excused])
        return lacks

    def _by_domain(self, codes: IndexArray, members: Sequence[int]) -> dict[int, list[Variable]]:
        """Literals of members within each domain that some of them can reach."""
        found: dict[int, list[Variable]] = defaultdict(list)
        for member in members:
            for node in self.assignment.nodes[member]:
                if codes[node] != NOWHERE:
                    found[int(codes[node])].append(self.at[member, node])
        return found
