"""Turns a solver's counts into named pods: who of the identical ones goes where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.room_model.instance import Instance


@dataclass(frozen=True)
class Counts:
    """A solution: pods that leave each group and arrive per (kind, node), each by layer (one layer: no order known)."""

    out: tuple[dict[int, int], ...]
    arrive: tuple[dict[tuple[int, int], int], ...]
    placed: dict[tuple[int, int], int]


@dataclass(frozen=True)
class DecodedDraft:
    """A draft, its moves in the order of their layers, and whether no other choice among identical pods exists."""

    draft: Draft
    order: tuple[tuple[int, int], ...]
    is_unique: bool


def decode(instance: Instance, counts: Counts) -> DecodedDraft:
    """Name pods. A pod that would go back to its own node, an identical one in its place, does not move at all."""
    next_of_group: Counter[int] = Counter()
    order: list[tuple[int, int]] = []
    is_unique = True
    for out, arrive in zip(counts.out, counts.arrive, strict=True):
        leaving: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for group, count in out.items():
            leaving[instance.groups[group].kind] += [(instance.groups[group].node, group)] * count
        arriving: dict[int, list[int]] = defaultdict(list)
        for (kind, node), count in arrive.items():
            arriving[kind] += [node] * count
        for kind in sorted(leaving):
            sources, targets = _without_returns(leaving[kind], arriving[kind])
            is_unique &= len({node for node, _ in sources}) < 2 or len(set(targets)) < 2
            for (_, group), node in zip(sources, targets, strict=True):
                pod = instance.groups[group].pods[next_of_group[group]]
                next_of_group[group] += 1
                order.append((pod, instance.nodes[node]))
    places = _places(instance, counts)
    return DecodedDraft(Draft(dict(order), places), tuple(order), is_unique)


def _without_returns(sources: list[tuple[int, int]], targets: list[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Cancel a departure from a node against an arrival of the same kind there."""
    back = Counter(targets) & Counter(node for node, _ in sources)
    kept_targets = list((Counter(targets) - back).elements())
    kept_sources = []
    for node, group in sources:
        if back[node]:
            back[node] -= 1
        else:
            kept_sources.append((node, group))
    return sorted(kept_sources), sorted(kept_targets)


def _places(instance: Instance, counts: Counts) -> dict[int, int]:
    places: dict[int, int] = {}
    waiting = {demand.kind: list(demand.pods) for demand in instance.demands}
    for (kind, node), count in sorted(counts.placed.items()):
        for _ in range(count):
            places[waiting[kind].pop(0)] = instance.nodes[node]
    return places


def encode(instance: Instance, schedule: WaveSchedule, layers: int) -> Counts | None:
    """The counts of a schedule, or None where it does not fit the instance (a pod or node it does not know)."""
    if layers and len(schedule.waves) > layers:
        return None
    return _counts(instance, schedule.waves, schedule.draft.places, layers)


def encode_draft(instance: Instance, draft: Draft) -> Counts | None:
    """The counts of a draft, without layers."""
    return _counts(instance, (tuple(draft.moves.items()),), draft.places, 0)


def _counts(
    instance: Instance, waves: Sequence[Sequence[tuple[int, int]]], places: Mapping[int, int], layers: int
) -> Counts | None:
    position = {node: number for number, node in enumerate(instance.nodes)}
    group_of = {pod: number for number, group in enumerate(instance.groups) for pod in group.pods}
    kind_of = {pod: demand.kind for demand in instance.demands for pod in demand.pods}
    out: list[dict[int, int]] = [Counter() for _ in range(max(1, layers))]
    arrive: list[dict[tuple[int, int], int]] = [Counter() for _ in range(max(1, layers))]
    placed: Counter[tuple[int, int]] = Counter()
    for number, wave in enumerate(waves):
        layer = number if layers else 0
        for pod, node in wave:
            if pod not in group_of or node not in position:
                return None
            out[layer][group_of[pod]] += 1
            arrive[layer][instance.groups[group_of[pod]].kind, position[node]] += 1
    for pod, node in places.items():
        if pod not in kind_of or node not in position:
            return None
        placed[kind_of[pod], position[node]] += 1
    return Counts(tuple(out), tuple(arrive), placed)
