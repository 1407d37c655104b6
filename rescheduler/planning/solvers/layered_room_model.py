"""The make-room model with an order: every move belongs to a layer, and pods arrive before others depart.

An arrival of a layer finds the room that departures of earlier layers left. A plan of e moves always fits in e layers.
"""

from __future__ import annotations

from collections import defaultdict

from ortools.sat.python import cp_model

from rescheduler.planning.decoding import Counts
from rescheduler.planning.instance import Instance
from rescheduler.planning.remaining_limits import RemainingLimits
from rescheduler.planning.solvers.layered_evenness import Layers, keep_layers_apart, keep_layers_even
from rescheduler.planning.solvers.room_model import RoomModel


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
