"""The make-room instance as a CP-SAT model of the end state: counts of pods that leave, arrive and are placed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rescheduler.planning.problem.covers import IMPOSSIBLE
from rescheduler.planning.problem.remaining_limits import UNLIMITED, RemainingLimits
from rescheduler.planning.room_model.decoding import Counts
from rescheduler.planning.room_model.instance import (
    Instance,
    SpreadBound,
    SpreadDomain,
    most_together,
    room_without_movable_pods,
)
from rescheduler.planning.solvers.cp_sat import cp_model

# Spread constraints in the make-room models: what must hold at the end of every allowed plan.
## A constraint binds arrivals only, so the last arrival in a domain is looked at: by then the domain holds at least
# its
# pods that never leave and those that arrive under the constraint, and no other domain holds more than it had and
# gets.

Arrivals = Mapping[tuple[int, int], cp_model.IntVar]


@dataclass(frozen=True)
class Least:
    """A variable that is at most each of these sums of a number and variables."""

    variable: cp_model.IntVar
    terms: tuple[tuple[int, tuple[cp_model.IntVar, ...]], ...]

    def value(self, values: Mapping[int, int]) -> int:
        """The largest value it may have, for values of other variables by index."""
        sums = (number + sum(values.get(variable.index, 0) for variable in parts) for number, parts in self.terms)
        return min(sums, default=0)


class EvennessRows:
    """Adds the rows of one constraint; ``least`` is then the variable for the least domain, if there is one."""

    def __init__(
        self, model: cp_model.CpModel, evenness: SpreadBound, arrive: Arrivals, out: Sequence[cp_model.IntVar]
    ) -> None:
        """``arrive`` by (kind, node), ``out`` by group."""
        self._model = model
        self._evenness = evenness
        self._arrive = arrive
        self._out = out
        self.least = None if evenness.is_from_zero else self._least()

    def newcomers(self, domain: SpreadDomain) -> list[cp_model.IntVar]:
        """Arrivals in a domain that the constraint binds."""
        return self._at(self._evenness.kinds, domain.nodes)

    def bind(self, domain: SpreadDomain, arrives: cp_model.IntVar) -> None:
        """If ``arrives`` is true, the domain may exceed the least one no further than allowed."""
        evenness = self._evenness
        own = self._at(evenness.kinds, domain.counted) if evenness.counts_itself else []
        staying = domain.count - cp_model.LinearExpr.sum([self._out[group] for group in domain.groups])
        others = staying + cp_model.LinearExpr.sum(own) - (1 if evenness.counts_itself else 0)
        least = 0 if self.least is None else self.least.variable
        self._model.add(others <= evenness.most + least).only_enforce_if(arrives)

    def _least(self) -> Least:
        evenness = self._evenness
        terms = tuple(
            (domain.count, tuple(self._at(evenness.counted_kinds, domain.counted)))
            for domain in evenness.domains
            if domain.is_least
        )
        variable = self._model.new_int_var(0, 2**20, "")
        for number, parts in terms:
            self._model.add(variable <= number + cp_model.LinearExpr.sum(list(parts)))
        return Least(variable, terms)

    def _at(self, kinds: Sequence[int], nodes: Sequence[int]) -> list[cp_model.IntVar]:
        return [self._arrive[kind, node] for kind in kinds for node in nodes if (kind, node) in self._arrive]


class RoomModel:
    """Variables: ``out`` per group and ``arrive`` per (kind, node)."""

    layers = 0

    def __init__(self, instance: Instance, limits: RemainingLimits) -> None:
        """Build variables and constraints; objectives are expressions to be chosen by the caller."""
        self.instance = instance
        self.model = cp_model.CpModel()
        model = self.model
        self.out = [model.new_int_var(0, len(group.pods), "") for group in instance.groups]
        roomiest = room_without_movable_pods(instance)
        self.arrive = {
            (number, node): model.new_int_var(0, min(kind.count, most_together(kind.request, roomiest[node])), "")
            for number, kind in enumerate(instance.kinds)
            for node in kind.nodes
        }
        self._indicated: list[tuple[cp_model.IntVar, list[cp_model.IntVar]]] = []
        self.arrivals_at: dict[int, list[int]] = defaultdict(list)
        for number, node in self.arrive:
            self.arrivals_at[node].append(number)
        self.groups_at: dict[int, list[int]] = defaultdict(list)
        for number, group in enumerate(instance.groups):
            self.groups_at[group.node].append(number)
        self.demand_kinds = {demand.kind: number for number, demand in enumerate(instance.demands)}
        self.helped = [self._total(demand.kind) for demand in instance.demands]
        self._conserve()
        self._keep_room()
        self._keep_limits(limits)
        self._dig_holes()
        self._open_shut_nodes()
        self._separate()
        self._leasts: list[Least] = []
        self._keep_even()
        self.variables = [*self.out, *self.arrive.values()]

    @property
    def evictions(self) -> cp_model.LinearExprT:
        """Number of moves."""
        return cp_model.LinearExpr.sum(self.out) if self.out else 0

    @property
    def price(self) -> cp_model.LinearExprT:
        """Price of all moves."""
        prices = [group.price for group in self.instance.groups]
        return cp_model.LinearExpr.weighted_sum(self.out, prices) if self.out else 0

    def weighted_help(self, weights: Mapping[int, int]) -> cp_model.LinearExprT:
        """Helped pods, each counted with the weight of its priority (0 where none is given)."""
        demands = zip(self.instance.demands, self.helped, strict=True)
        return sum(weights[demand.priority] * total for demand, total in demands if demand.priority in weights)

    def worth(self, priority: int, evictions_per_pod: int) -> tuple[cp_model.LinearExprT, cp_model.LinearExprT]:
        """Helped pods of a priority at a worth each, less the evictions, more help first among equals; and the help."""
        demands = zip(self.instance.demands, self.helped, strict=True)
        helped = cp_model.LinearExpr.sum([total for demand, total in demands if demand.priority == priority])
        most = sum(len(demand.pods) for demand in self.instance.demands) + 1
        return cp_model.LinearExpr.weighted_sum([helped, self.evictions], [evictions_per_pod * most + 1, -most]), helped

    def help_everybody(self, least: int, most: int) -> None:
        """Only plans that help all pending pods by a number of evictions between these."""
        for demand, total in zip(self.instance.demands, self.helped, strict=True):
            self.model.add(total == len(demand.pods))
        self.model.add_linear_constraint(self.evictions, least, max(least - 1, most))

    def counts(self, solution: list[int]) -> Counts:
        """Read a solution, given in the order of ``variables``."""
        out = {group: value for group, value in enumerate(solution[: len(self.out)]) if value}
        arrive, placed = self._arrivals(solution)
        return Counts((out,), (arrive,), placed)

    def values(self, counts: Counts) -> list[int]:
        """The variables' values for given counts: the inverse of ``counts``."""
        out: Counter[int] = Counter()
        arrive = Counter(counts.placed)
        for layer_out, layer_arrive in zip(counts.out, counts.arrive, strict=True):
            out.update(layer_out)
            arrive.update(layer_arrive)
        return [*(out[number] for number in range(len(self.out))), *(arrive[key] for key in self.arrive)]

    def hint(self, values: Sequence[int]) -> list[tuple[cp_model.IntVar, int]]:
        """A value for every variable and every literal behind it, from the values of ``variables``."""
        pairs = list(zip(self.variables, values, strict=True))
        positive = {variable.index for variable, value in pairs if value}
        pairs += [(literal, int(any(v.index in positive for v in variables))) for literal, variables in self._indicated]
        by_index = {variable.index: value for variable, value in pairs}
        pairs += [(least.variable, least.value(by_index)) for least in self._leasts]
        return pairs

    def _arrivals(self, solution: list[int]) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
        """Positive arrivals of moved pods, and of pending ones, by (kind, node)."""
        values = solution[len(self.out) : len(self.out) + len(self.arrive)]
        positive = {key: value for key, value in zip(self.arrive, values, strict=True) if value}
        placed = {key: value for key, value in positive.items() if key[0] in self.demand_kinds}
        return {key: value for key, value in positive.items() if key not in placed}, placed

    def forbid(self, values: list[int], relevant: list[int]) -> None:
        """Rule out that the variables at the positions ``relevant`` (of out + arrive) all have these values again."""
        variables = [*self.out, *self.arrive.values()]
        differs = []
        zeros = []
        for position in relevant:
            variable, value = variables[position], values[position]
            if value == 0:
                zeros.append(variable)
                continue
            literal = self.model.new_bool_var("")
            domain = cp_model.Domain.from_values([value]).complement()
            self.model.add_linear_expression_in_domain(variable, domain).only_enforce_if(literal)
            differs.append(literal)
        if zeros:
            literal = self.model.new_bool_var("")
            self.model.add(cp_model.LinearExpr.sum(zeros) >= 1).only_enforce_if(literal)
            differs.append(literal)
        self.model.add_bool_or(differs)

    def _any_of(self, variables: list[cp_model.IntVar]) -> cp_model.IntVar:
        """A literal that is true if any of the variables is positive."""
        literal = self.model.new_bool_var("")
        for variable in variables:
            self.model.add(variable == 0).only_enforce_if(~literal)
        self._indicated.append((literal, variables))
        return literal

    def _total(self, kind: int) -> cp_model.LinearExprT:
        return cp_model.LinearExpr.sum([self.arrive[kind, node] for node in self.instance.kinds[kind].nodes])

    def _conserve(self) -> None:
        """Who leaves arrives; of those that wait at most all arrive."""
        leaving: dict[int, list[cp_model.IntVar]] = defaultdict(list)
        for group, out in zip(self.instance.groups, self.out, strict=True):
            leaving[group.kind].append(out)
        for kind, outs in leaving.items():
            self.model.add(self._total(kind) == cp_model.LinearExpr.sum(outs))
        for demand, total in zip(self.instance.demands, self.helped, strict=True):
            self.model.add(total <= len(demand.pods))
        for members in self.instance.together:
            is_met = self._any_of(list(self._arrivals_of(members)))
            for number in members:
                self.model.add(self.helped[number] == len(self.instance.demands[number].pods) * is_met)

    def _arrivals_of(self, demands: Sequence[int]) -> Iterator[cp_model.IntVar]:
        for number in demands:
            kind = self.instance.demands[number].kind
            yield from (self.arrive[kind, node] for node in self.instance.kinds[kind].nodes)

    def _keep_room(self) -> None:
        for node, free in enumerate(self.instance.free):
            arrivals = [(self.instance.kinds[kind].request, self.arrive[kind, node]) for kind in self.arrivals_at[node]]
            departures = [(self.instance.groups[group].held, self.out[group]) for group in self.groups_at[node]]
            self.bound_node(free, arrivals, departures, arrivals)

    def bound_node(
        self,
        free: tuple[int, ...],
        arrivals: list[tuple[tuple[int, ...], cp_model.IntVar]],
        departures: list[tuple[tuple[int, ...], cp_model.IntVar]],
        checked: list[tuple[tuple[int, ...], cp_model.IntVar]],
    ) -> None:
        """Requests of arrivals fit what is free and left; a row already overdrawn binds only pods that ask for it."""
        for row, room in enumerate(free):
            asking = [(request[row], variable) for request, variable in arrivals if request[row]]
            if not asking:
                continue
            given = [(held[row], variable) for held, variable in departures if held[row]]
            used = cp_model.LinearExpr.weighted_sum([v for _, v in asking], [a for a, _ in asking])
            left = cp_model.LinearExpr.weighted_sum([v for _, v in given], [a for a, _ in given]) if given else 0
            constraint = self.model.add(used <= room + left)
            if room < 0:
                constraint.only_enforce_if(self._any_of([variable for request, variable in checked if request[row]]))

    def _keep_limits(self, limits: RemainingLimits) -> None:
        if limits.in_all < UNLIMITED and self.out:
            self.model.add(self.evictions <= limits.in_all)
        for node, groups in self.groups_at.items():
            most = int(limits.of_node[self.instance.nodes[node]])
            if most < sum(len(self.instance.groups[group].pods) for group in groups):
                self.model.add(cp_model.LinearExpr.sum([self.out[group] for group in groups]) <= most)
        if limits.of_namespace is not None:
            by_namespace: dict[str, list[cp_model.IntVar]] = defaultdict(list)
            for group, out in zip(self.instance.groups, self.out, strict=True):
                by_namespace[group.namespace].append(out)
            for name, outs in by_namespace.items():
                self.model.add(cp_model.LinearExpr.sum(outs) <= limits.of(name))

    def _dig_holes(self) -> None:
        """Implied by room, but told to the linear relaxation, which would take pods in part."""
        for hole in self.instance.holes:
            arrive = self.arrive[hole.kind, hole.node]
            if hole.least >= IMPOSSIBLE:
                self.model.add(arrive == 0)
                continue
            out = cp_model.LinearExpr.sum([self.out[group] for group in self.groups_at[hole.node]])
            self.model.add(hole.number * out >= hole.least * arrive)

    def _open_shut_nodes(self) -> None:
        """A node that refuses a kind as things stand takes it only after a change among the pods that it watches."""
        for number, kind in enumerate(self.instance.kinds):
            shut = [self.arrive[number, node] for node in kind.shut]
            if not shut:
                continue
            changes = [self.out[group] for group in kind.watched_groups]
            changes += [
                self.arrive[other, node] for other in kind.watched_kinds for node in self.instance.kinds[other].nodes
            ]
            uses = self._any_of(shut)
            self.model.add(sum(changes) >= 1 + kind.watches_itself).only_enforce_if(uses)

    def _separate(self) -> None:
        for separation in self.instance.separations:
            inside = frozenset(separation.nodes)
            at = ((separation.kind, node) for node in separation.nodes)
            own = [self.arrive[place] for place in at if place in self.arrive]
            standing = [len(self.instance.groups[g].pods) - self.out[g] for g in separation.groups]
            at = ((rival, node) for rival in separation.rivals for node in self.instance.kinds[rival].nodes)
            rivals = [self.arrive[place] for place in at if place[1] in inside]
            arrives = self._any_of(own)
            if separation.is_mutual:
                self.model.add(sum(own) <= 1)
            if standing or rivals:
                self.model.add(sum(standing) + sum(rivals) <= 0).only_enforce_if(arrives)

    def _keep_even(self) -> None:
        for evenness in self.instance.evenness:
            rows = EvennessRows(self.model, evenness, self.arrive, self.out)
            if rows.least is not None:
                self._leasts.append(rows.least)
            for domain in evenness.domains:
                newcomers = rows.newcomers(domain)
                if newcomers:
                    rows.bind(domain, self._any_of(newcomers))
