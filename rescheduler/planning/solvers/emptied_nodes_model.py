"""Adds to a room model which nodes are emptied: all their pods leave and nobody arrives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.room_model import RoomModel


class EmptiedNodes:
    """A literal for each node (position in the instance) that is worth something when it ends empty."""

    def __init__(self, room: RoomModel, worth: Mapping[int, int]) -> None:
        """``worth`` of each such node, in whole numbers; nodes that are empty at the start are among them."""
        self._room = room
        self._worth = worth
        self.is_empty = {node: room.model.new_bool_var("") for node in worth}
        for node, literal in self.is_empty.items():
            for group in room.groups_at.get(node, ()):
                room.model.add(room.out[group] == len(room.instance.groups[group].pods)).only_enforce_if(literal)
            arrivals = [room.arrive[kind, node] for kind in room.arrivals_at.get(node, ())]
            for arrival in arrivals:
                room.model.add(arrival == 0).only_enforce_if(literal)

    @property
    def value(self) -> cp_model.LinearExprT:
        """Worth of all nodes that end empty."""
        literals = list(self.is_empty.values())
        return cp_model.LinearExpr.weighted_sum(literals, list(self._worth.values())) if literals else 0

    def cost(self, prices: Sequence[int]) -> cp_model.LinearExprT:
        """Price of all moves, with a price for each group."""
        return cp_model.LinearExpr.weighted_sum(self._room.out, prices) if self._room.out else 0

    def values(self, room_values: Sequence[int]) -> list[int]:
        """The literals' values for given values of the room model's own variables."""
        room = self._room
        own = dict(zip((variable.index for variable in room.variables), room_values, strict=False))
        return [int(self._ends_empty(node, own)) for node in self.is_empty]

    def limit_departures(self, node: int, most: int) -> None:
        """A node that may lose fewer pods than the others."""
        groups = self._room.groups_at.get(node, ())
        if groups:
            self._room.model.add(sum(self._room.out[group] for group in groups) <= most)

    def limit_emptied(self, nodes: Sequence[int], most: int) -> None:
        """Of these nodes at most so many are emptied."""
        if len(nodes) > most:
            self._room.model.add(cp_model.LinearExpr.sum([self.is_empty[node] for node in nodes]) <= most)

    def limit_namespace(self, namespace: str, most: int) -> None:
        """A namespace that may lose fewer pods than the others."""
        room = self._room
        outs = [out for group, out in zip(room.instance.groups, room.out, strict=True) if group.namespace == namespace]
        if outs:
            room.model.add(cp_model.LinearExpr.sum(outs) <= most)

    def _ends_empty(self, node: int, own: Mapping[int, int]) -> bool:
        room = self._room
        leave = all(
            own[room.out[group].index] == len(room.instance.groups[group].pods)
            for group in room.groups_at.get(node, ())
        )
        return leave and not any(own[room.arrive[kind, node].index] for kind in room.arrivals_at.get(node, ()))
