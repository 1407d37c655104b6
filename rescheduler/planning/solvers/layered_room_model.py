"""The make-room model with an order: every move belongs to a layer, and pods arrive before others depart.

An arrival of a layer finds the room that departures of earlier layers left. A plan of e moves always fits in e layers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rescheduler.planning.problem.remaining_limits import RemainingLimits
from rescheduler.planning.room_model.decoding import Counts
from rescheduler.planning.room_model.instance import Instance, SpreadBound, SpreadDomain
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.room_model import RoomModel

# Spread constraints and separations of the make-room model with an order: what each layer's arrivals find.
## In a layer where a pod arrives under a constraint nobody else moves that the constraint counts or binds. That loses
# no
# plan, since a plan of e moves fits in e layers, and makes the counts of every layer exact.

AnyOf = Callable[[list[cp_model.IntVar]], cp_model.IntVar]


@dataclass(frozen=True)
class Layers:
    """Shares of a model's variables: ``out`` by (group, layer), ``arrive`` and ``place`` by (kind, node, layer).

    Pods that were pending and are placed in a layer are there before its moves; one layer more comes after the last.
    """

    number: int
    out: Mapping[tuple[int, int], cp_model.IntVar]
    arrive: Mapping[tuple[int, int, int], cp_model.IntVar]
    place: Mapping[tuple[int, int, int], cp_model.IntVar]

    def gone(self, groups: Iterable[int], layers: Iterable[int]) -> list[cp_model.IntVar]:
        """Departures from groups in layers."""
        return [self.out[group, layer] for group in groups for layer in layers]

    def come(self, kinds: Sequence[int], nodes: Sequence[int], moves: range, places: range) -> list[cp_model.IntVar]:
        """Arrivals on nodes: by moves, and of pending pods, each in its layers."""
        found = [self.arrive.get((kind, node, layer)) for kind in kinds for node in nodes for layer in moves]
        found += [self.place.get((kind, node, layer)) for kind in kinds for node in nodes for layer in places]
        return [variable for variable in found if variable is not None]


def keep_layers_even(model: cp_model.CpModel, instance: Instance, layers: Layers, any_of: AnyOf) -> None:
    """Add the rows of every spread constraint for every layer."""
    for evenness in instance.evenness:
        for layer in range(layers.number + 1):
            _keep_even(model, instance, evenness, layers, layer, any_of)


def _keep_even(
    model: cp_model.CpModel, instance: Instance, evenness: SpreadBound, layers: Layers, layer: int, any_of: AnyOf
) -> None:
    """Rows for pods that were pending and are placed in a layer, then for the moves of the layer."""
    moving = set()
    for domain in evenness.domains:
        placed = layers.come(evenness.kinds, domain.nodes, range(0), range(layer, layer + 1))
        if placed:
            before = range(layer)
            _bind(model, evenness, layers, domain, any_of(placed), before, range(layer + 1))
        moved = layers.come(evenness.kinds, domain.nodes, range(layer, layer + 1), range(0))
        if moved:
            moving.update(moved)
            until = range(layer + 1)
            _bind(model, evenness, layers, domain, any_of(moved), until, until)
    if moving:
        related = {group for domain in evenness.domains for group in domain.groups}
        related |= {number for number, group in enumerate(instance.groups) if group.kind in evenness.kinds}
        alone = any_of(sorted(moving, key=lambda variable: variable.index))
        leaving = layers.gone(sorted(related), [layer])
        model.add(cp_model.LinearExpr.sum(leaving) <= 1).only_enforce_if(alone)


def _bind(
    model: cp_model.CpModel,
    evenness: SpreadBound,
    layers: Layers,
    domain: SpreadDomain,
    arrives: cp_model.IntVar,
    moves: range,
    places: range,
) -> None:
    """If ``arrives``, the domain exceeds no other one by more than allowed, counted after these moves and places."""
    # Others that are placed in the same layer may come later; only those under the constraint are sure to be there.
    certain = [kind for kind in evenness.counted_kinds if kind in evenness.kinds]
    others = [kind for kind in evenness.counted_kinds if kind not in evenness.kinds]
    here = layers.come(certain, domain.counted, moves, places)
    here += layers.come(others, domain.counted, moves, range(len(moves)))
    own = 1 if evenness.counts_itself else 0
    count = domain.count + cp_model.LinearExpr.sum(here) - cp_model.LinearExpr.sum(layers.gone(domain.groups, moves))
    if evenness.is_from_zero:
        model.add(count - own <= evenness.most).only_enforce_if(arrives)
        return
    for other in evenness.domains:
        if other.is_least and other is not domain:
            there = layers.come(evenness.counted_kinds, other.counted, moves, places)
            least = other.count + cp_model.LinearExpr.sum(there)
            least -= cp_model.LinearExpr.sum(layers.gone(other.groups, moves))
            model.add(count - own <= evenness.most + least).only_enforce_if(arrives)


def keep_layers_apart(model: cp_model.CpModel, instance: Instance, layers: Layers, any_of: AnyOf) -> None:
    """Pods that may not meet: those that stood in a domain have left it before one arrives that they keep off."""
    for separation in instance.separations:
        standing = sum(len(instance.groups[group].pods) for group in separation.groups)
        if not standing:
            continue
        for layer in range(layers.number):
            arriving = layers.come([separation.kind], separation.nodes, range(layer, layer + 1), range(0))
            if arriving:
                # one of a kind that keeps off itself may move within the domain: its own copy does not count
                until = range(layer + 1) if separation.is_mutual else range(layer)
                gone = layers.gone(separation.groups, until)
                model.add(cp_model.LinearExpr.sum(gone) >= standing).only_enforce_if(any_of(arriving))


class LayeredRoomModel(RoomModel):
    """As RoomModel, with shares of ``out`` (by group and layer) and ``arrive`` for each layer.

    Pending pods arrive after the last layer; where spread constraints look at them, in any layer.
    """

    def __init__(self, instance: Instance, limits: RemainingLimits, layers: int) -> None:
        """``layers`` of at least 1."""
        super().__init__(instance, limits)
        self.layers = layers
        self.out_in: dict[tuple[int, int], cp_model.IntVar] = {}
        self.arrive_in: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self.place_in: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self._split_into_layers()
        shares = Layers(layers, self.out_in, self.arrive_in, self.place_in)
        keep_layers_even(self.model, instance, shares, self._any_of)
        keep_layers_apart(self.model, instance, shares, self._any_of)
        self.variables = [
            *self.variables, *self.out_in.values(), *self.arrive_in.values(), *self.place_in.values()
        ]  # fmt: skip

    def counts(self, solution: list[int]) -> Counts:
        """Read a solution, given in the order of ``variables``."""
        out: list[dict[int, int]] = [{} for _ in range(self.layers)]
        arrive: list[dict[tuple[int, int], int]] = [{} for _ in range(self.layers)]
        first = len(self.out) + len(self.arrive)
        for (group, layer), value in zip(self.out_in, solution[first:], strict=False):
            if value:
                out[layer][group] = value
        for (kind, node, layer), value in zip(self.arrive_in, solution[first + len(self.out_in) :], strict=False):
            if value:
                arrive[layer][kind, node] = value
        return Counts(tuple(out), tuple(arrive), self._arrivals(solution)[1])

    def values(self, counts: Counts) -> list[int]:
        """The variables' values for given counts: the inverse of ``counts``."""
        return [
            *super().values(counts),
            *(counts.out[layer].get(group, 0) for group, layer in self.out_in),
            *(counts.arrive[layer].get((kind, node), 0) for kind, node, layer in self.arrive_in),
            *(counts.placed.get((kind, node), 0) * (layer == self.layers) for kind, node, layer in self.place_in),
        ]

    def _split_into_layers(self) -> None:
        model, instance = self.model, self.instance
        layers = range(self.layers)
        for group, out in enumerate(self.out):
            parts = [model.new_int_var(0, len(instance.groups[group].pods), "") for _ in layers]
            self.out_in.update({(group, layer): part for layer, part in zip(layers, parts, strict=True)})
            model.add(cp_model.LinearExpr.sum(parts) == out)
        counted = {kind for evenness in instance.evenness for kind in (*evenness.kinds, *evenness.counted_kinds)}
        for (kind, node), arrive in self.arrive.items():
            if kind in self.demand_kinds:
                if kind in counted:
                    self._split_place(kind, node, arrive)
            else:
                parts = [model.new_int_var(0, instance.kinds[kind].count, "") for _ in layers]
                self.arrive_in.update({(kind, node, layer): part for layer, part in zip(layers, parts, strict=True)})
                model.add(cp_model.LinearExpr.sum(parts) == arrive)
        self._conserve_in_layers()
        for node in range(len(instance.nodes)):
            for layer in layers:
                self._keep_room_in_layer(node, layer)

    def _split_place(self, kind: int, node: int, arrive: cp_model.IntVar) -> None:
        """Pending pods that others count, or that count others, may be placed before the end."""
        slots = range(self.layers + 1)
        parts = [self.model.new_int_var(0, self.instance.kinds[kind].count, "") for _ in slots]
        self.place_in.update({(kind, node, slot): part for slot, part in zip(slots, parts, strict=True)})
        self.model.add(cp_model.LinearExpr.sum(parts) == arrive)

    def _conserve_in_layers(self) -> None:
        leaving: dict[int, list[int]] = defaultdict(list)
        for number, group in enumerate(self.instance.groups):
            leaving[group.kind].append(number)
        for kind, groups in leaving.items():
            for layer in range(self.layers):
                arriving = [self.arrive_in[kind, node, layer] for node in self.instance.kinds[kind].nodes]
                outs = [self.out_in[group, layer] for group in groups]
                self.model.add(cp_model.LinearExpr.sum(arriving) == cp_model.LinearExpr.sum(outs))

    def _keep_room_in_layer(self, node: int, layer: int) -> None:
        kinds = [kind for kind in self.arrivals_at[node] if kind not in self.demand_kinds]
        request = {kind: self.instance.kinds[kind].request for kind in kinds}
        arrivals = [(request[kind], self.arrive_in[kind, node, t]) for kind in kinds for t in range(layer + 1)]
        checked = [(request[kind], self.arrive_in[kind, node, layer]) for kind in kinds]
        places = [(k, t) for k in self.arrivals_at[node] for t in range(layer + 1) if (k, node, t) in self.place_in]
        arrivals += [(self.instance.kinds[kind].request, self.place_in[kind, node, t]) for kind, t in places]
        groups = self.groups_at[node]
        departures = [(self.instance.groups[g].held, self.out_in[g, t]) for g in groups for t in range(layer)]
        self.bound_node(self.instance.free[node], arrivals, departures, checked)
