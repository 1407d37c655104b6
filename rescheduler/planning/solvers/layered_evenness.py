"""Spread constraints and separations of the make-room model with an order: what each layer's arrivals find.

In a layer where a pod arrives under a constraint nobody else moves that the constraint counts or binds. That loses no
plan, since a plan of e moves fits in e layers, and makes the counts of every layer exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from rescheduler.planning.instance import Evenness, Instance, SpreadDomain

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
    model: cp_model.CpModel, instance: Instance, evenness: Evenness, layers: Layers, layer: int, any_of: AnyOf
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
    evenness: Evenness,
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
