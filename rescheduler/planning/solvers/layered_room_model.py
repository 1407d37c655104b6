"""The make-room model with an order: every move belongs to a layer, and pods arrive before others depart.

An arrival of a layer finds the room that departures of earlier layers left. A plan of e moves always fits in e layers.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from ortools.sat.python import cp_model

from rescheduler.model.disruption import MoveLimits
from rescheduler.planning.decoding import Counts
from rescheduler.planning.instance import Instance
from rescheduler.planning.solvers.room_model import RoomModel


class LayeredGroup(NamedTuple):
    """Departures from one group in one layer."""

    group: int
    layer: int


class LayeredRoomModel(RoomModel):
    """As RoomModel, with shares of ``out`` and ``arrive`` for each layer. Pending pods arrive after the last layer."""

    def __init__(self, instance: Instance, limits: MoveLimits, layers: int) -> None:
        """``layers`` of at least 1."""
        super().__init__(instance, limits)
        self.layers = layers
        self.out_in: dict[LayeredGroup, cp_model.IntVar] = {}
        self.arrive_in: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self._split_into_layers()
        self.variables = [*self.variables, *self.out_in.values(), *self.arrive_in.values()]

    def counts(self, solution: list[int]) -> Counts:
        """Read a solution, given in the order of ``variables``."""
        out: list[dict[int, int]] = [{} for _ in range(self.layers)]
        arrive: list[dict[tuple[int, int], int]] = [{} for _ in range(self.layers)]
        first = len(self.out) + len(self.arrive)
        for key, value in zip(self.out_in, solution[first:], strict=False):
            if value:
                out[key.layer][key.group] = value
        for (kind, node, layer), value in zip(self.arrive_in, solution[first + len(self.out_in) :], strict=True):
            if value:
                arrive[layer][kind, node] = value
        return Counts(tuple(out), tuple(arrive), self._arrivals(solution)[1])

    def values(self, counts: Counts) -> list[int]:
        """The variables' values for given counts: the inverse of ``counts``."""
        return [
            *super().values(counts),
            *(counts.out[key.layer].get(key.group, 0) for key in self.out_in),
            *(counts.arrive[layer].get((kind, node), 0) for kind, node, layer in self.arrive_in),
        ]

    def _split_into_layers(self) -> None:
        model, instance = self.model, self.instance
        layers = range(self.layers)
        for group, out in enumerate(self.out):
            parts = [model.new_int_var(0, len(instance.groups[group].pods), "") for _ in layers]
            self.out_in.update({LayeredGroup(group, layer): part for layer, part in zip(layers, parts, strict=True)})
            model.add(cp_model.LinearExpr.sum(parts) == out)
        for (kind, node), arrive in self.arrive.items():
            if kind not in self.demand_kinds:
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
        kinds = [kind for kind in self.arrivals_at[node] if kind not in self.demand_kinds]
        request = {kind: self.instance.kinds[kind].request for kind in kinds}
        arrivals = [(request[kind], self.arrive_in[kind, node, t]) for kind in kinds for t in range(layer + 1)]
        checked = [(request[kind], self.arrive_in[kind, node, layer]) for kind in kinds]
        groups = self.groups_at[node]
        departures = [
            (self.instance.groups[g].held, self.out_in[LayeredGroup(g, t)]) for g in groups for t in range(layer)
        ]
        self.bound_node(self.instance.free[node], arrivals, departures, checked)
