"""The make-room instance as a CP-SAT model: counts of pods that leave, arrive and are placed.

Without layers only the end state counts. With ``layers`` > 0 every move belongs to one layer, and pods arrive before
others depart: an arrival of a layer finds the room that departures of earlier layers left. A plan of e moves always
fits in e layers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from ortools.sat.python import cp_model

from rescheduler.model.disruption import MoveLimits
from rescheduler.planning.decoding import Counts
from rescheduler.planning.instance import Instance


class LayeredGroup(NamedTuple):
    """Departures from one group in one layer."""

    group: int
    layer: int


class RoomModel:
    """Variables: ``out`` per group, ``arrive`` per (kind, node); with layers also their shares per layer."""

    def __init__(self, instance: Instance, limits: MoveLimits, layers: int = 0) -> None:
        """Build variables and constraints; objectives are expressions to be chosen by the caller."""
        self.instance = instance
        self.layers = layers
        self.model = cp_model.CpModel()
        model = self.model
        self.out = [model.new_int_var(0, len(group.pods), "") for group in instance.groups]
        roomiest = _room_without_movable_pods(instance)
        self.arrive = {
            (number, node): model.new_int_var(0, min(kind.count, _most(kind.request, roomiest[node])), "")
            for number, kind in enumerate(instance.kinds)
            for node in kind.nodes
        }
        self.out_in: dict[LayeredGroup, cp_model.IntVar] = {}
        self.arrive_in: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self._indicated: list[tuple[cp_model.IntVar, list[cp_model.IntVar]]] = []
        self._arrivals_at: dict[int, list[int]] = defaultdict(list)
        for number, node in self.arrive:
            self._arrivals_at[node].append(number)
        self._groups_at: dict[int, list[int]] = defaultdict(list)
        for number, group in enumerate(instance.groups):
            self._groups_at[group.node].append(number)
        self._demand_kinds = {demand.kind: number for number, demand in enumerate(instance.demands)}
        self.helped = [self._total(demand.kind) for demand in instance.demands]
        self._conserve()
        self._keep_room()
        self._keep_limits(limits)
        self._open_shut_nodes()
        self._separate()
        if layers:
            self._split_into_layers()
        self.variables = [*self.out, *self.arrive.values(), *self.out_in.values(), *self.arrive_in.values()]

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

    def counts(self, solution: list[int]) -> Counts:
        """Read a solution, given in the order of ``variables``."""
        keys = [*range(len(self.out)), *self.arrive, *self.out_in, *self.arrive_in]
        positive = [(key, value) for key, value in zip(keys, solution, strict=True) if value]
        out: list[dict[int, int]] = [{} for _ in range(max(1, self.layers))]
        arrive: list[dict[tuple[int, int], int]] = [{} for _ in range(max(1, self.layers))]
        placed: dict[tuple[int, int], int] = {}
        for key, value in positive:
            if isinstance(key, int):
                if not self.layers:
                    out[0][key] = value
            elif len(key) == 3:
                arrive[key[2]][key[:2]] = value
            elif isinstance(key, LayeredGroup):
                out[key.layer][key.group] = value
            elif key[0] in self._demand_kinds:
                placed[key] = value
            elif not self.layers:
                arrive[0][key] = value
        return Counts(tuple(out), tuple(arrive), placed)

    def hint(self, counts: Counts) -> list[tuple[cp_model.IntVar, int]]:
        """A value for every variable, the literals included, that says the same as counts."""
        pairs = list(zip(self.variables, self.values(counts), strict=True))
        positive = {variable.index for variable, value in pairs if value}
        pairs += [(literal, int(any(v.index in positive for v in variables))) for literal, variables in self._indicated]
        return pairs

    def values(self, counts: Counts) -> list[int]:
        """The variables' values for given counts: the inverse of ``counts``."""
        out: Counter[int] = Counter()
        arrive = Counter(counts.placed)
        for layer_out, layer_arrive in zip(counts.out, counts.arrive, strict=True):
            out.update(layer_out)
            arrive.update(layer_arrive)
        return [
            *(out[number] for number in range(len(self.out))),
            *(arrive[key] for key in self.arrive),
            *(counts.out[key.layer].get(key.group, 0) for key in self.out_in),
            *(counts.arrive[layer].get((kind, node), 0) for kind, node, layer in self.arrive_in),
        ]

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

    def _keep_room(self) -> None:
        for node, free in enumerate(self.instance.free):
            arrivals = [(self.instance.kinds[kind].request, self.arrive[kind, node]) for kind in self._arrivals_at[node]]
            departures = [(self.instance.groups[group].held, self.out[group]) for group in self._groups_at[node]]
            self._bound_node(free, arrivals, departures, arrivals)

    def _bound_node(
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

    def _keep_limits(self, limits: MoveLimits) -> None:
        if limits.max_evictions is not None and self.out:
            self.model.add(self.evictions <= limits.max_evictions)
        if limits.max_evictions_per_node is not None:
            for groups in self._groups_at.values():
                self.model.add(sum(self.out[group] for group in groups) <= limits.max_evictions_per_node)
        if limits.max_evictions_per_namespace is not None:
            by_namespace: dict[str, list[cp_model.IntVar]] = defaultdict(list)
            for group, out in zip(self.instance.groups, self.out, strict=True):
                by_namespace[group.namespace].append(out)
            for outs in by_namespace.values():
                self.model.add(cp_model.LinearExpr.sum(outs) <= limits.max_evictions_per_namespace)

    def _open_shut_nodes(self) -> None:
        """A node that refuses a kind as things stand takes it only after a change among the pods that it watches."""
        for number, kind in enumerate(self.instance.kinds):
            shut = [self.arrive[number, node] for node in kind.shut]
            if not shut:
                continue
            changes = [self.out[group] for group in kind.watched_groups]
            changes += [self.arrive[other, node] for other in kind.watched_kinds for node in self.instance.kinds[other].nodes]
            uses = self._any_of(shut)
            self.model.add(sum(changes) >= 1 + kind.watches_itself).only_enforce_if(uses)

    def _separate(self) -> None:
        for separation in self.instance.separations:
            inside = frozenset(separation.nodes)
            own = [self.arrive[separation.kind, node] for node in separation.nodes if (separation.kind, node) in self.arrive]
            standing = [len(self.instance.groups[g].pods) - self.out[g] for g in separation.groups]
            rivals = [
                self.arrive[rival, node]
                for rival in separation.rivals
                for node in self.instance.kinds[rival].nodes
                if node in inside
            ]
            arrives = self._any_of(own)
            if separation.is_mutual:
                self.model.add(sum(own) <= 1)
            if standing or rivals:
                self.model.add(sum(standing) + sum(rivals) <= 0).only_enforce_if(arrives)

    def _split_into_layers(self) -> None:
        model, instance = self.model, self.instance
        layers = range(self.layers)
        for group, out in enumerate(self.out):
            parts = [model.new_int_var(0, len(instance.groups[group].pods), "") for _ in layers]
            self.out_in.update({LayeredGroup(group, layer): part for layer, part in zip(layers, parts, strict=True)})
            model.add(cp_model.LinearExpr.sum(parts) == out)
        for (kind, node), arrive in self.arrive.items():
            if kind not in self._demand_kinds:
                parts = [model.new_int_var(0, instance.kinds[kind].count, "") for _ in layers]
                self.arrive_in.update({(kind, node, layer): part for layer, part in zip(layers, parts, strict=True)})
                model.add(cp_model.LinearExpr.sum(parts) == arrive)
        self._conserve_in_layers()
        for node in range(len(instance.nodes)):
            for layer in layers:
                self._keep_room_in_layer(node, layer)

    def _conserve_in_layers(self) -> None:
        leaving: dict[int, list[int]] = defaultdict(list)
        for number, group in enumerate(self.instance.groups):
            leaving[group.kind].append(number)
        for kind, groups in leaving.items():
            for layer in range(self.layers):
                arriving = [self.arrive_in[kind, node, layer] for node in self.instance.kinds[kind].nodes]
                outs = [self.out_in[LayeredGroup(group, layer)] for group in groups]
                self.model.add(cp_model.LinearExpr.sum(arriving) == cp_model.LinearExpr.sum(outs))

    def _keep_room_in_layer(self, node: int, layer: int) -> None:
        kinds = [kind for kind in self._arrivals_at[node] if kind not in self._demand_kinds]
        request = {kind: self.instance.kinds[kind].request for kind in kinds}
        arrivals = [(request[kind], self.arrive_in[kind, node, t]) for kind in kinds for t in range(layer + 1)]
        checked = [(request[kind], self.arrive_in[kind, node, layer]) for kind in kinds]
        groups = self._groups_at[node]
        departures = [(self.instance.groups[g].held, self.out_in[LayeredGroup(g, t)]) for g in groups for t in range(layer)]
        self._bound_node(self.instance.free[node], arrivals, departures, checked)


def _room_without_movable_pods(instance: Instance) -> list[list[int]]:
    room = [list(free) for free in instance.free]
    for group in instance.groups:
        for row, held in enumerate(group.held):
            room[group.node][row] += held * len(group.pods)
    return room


def _most(request: tuple[int, ...], room: list[int]) -> int:
    """How many pods fit at most once every movable pod has left."""
    return max(0, min((have // asked for asked, have in zip(request, room, strict=True) if asked), default=2**20))
