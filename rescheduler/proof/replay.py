"""Replays a plan wave by wave and asks every predicate of every arrival."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Plan, PodReference
from rescheduler.model.pod import Pod
from rescheduler.proof.identity import pods_named
from rescheduler.proof.predicates import PREDICATES
from rescheduler.proof.predicates.volumes import chosen_volumes
from rescheduler.proof.violation import Violation
from rescheduler.proof.world import Arrival, World


def check_arrivals(cluster: Cluster, plan: Plan) -> Iterator[Violation]:
    """Every prefix of waves is feasible.

    Within a wave, moves may run in any order: each arrival is asked for while all others of its wave may have come
    or not, and nobody has left. At the end of the wave the moved pods give up their origins; then the pending pods
    whose place is free by now arrive, all of them at once, and hold it from then on.
    """
    world = World(cluster)
    keys = [move.pod.key for move in plan.moves] + [item.pod.key for item in plan.placements]
    pods = {cluster.pods[index].key: cluster.pods[index] for index in pods_named(cluster, keys)}
    waves = {move.wave for move in plan.moves} | {item.wave for item in plan.placements}
    for wave in sorted(waves):
        moved = [(move.pod, move.to_node) for move in plan.moves if move.wave == wave]
        placed = [(item.pod, item.node) for item in plan.placements if item.wave == wave]
        for step, targets in (("moves in", moved), ("is placed at the end of", placed)):
            arrivals = _arrivals(world, pods, targets)
            yield from _check_together(world, arrivals, f"{step} wave {wave}")
            world.land(arrivals)


def _arrivals(world: World, pods: dict[str, Pod], targets: Sequence[tuple[PodReference, str]]) -> list[Arrival]:
    """What can arrive at all; the check of identities names the rest. A pod arrives once, and is taken off ``pods``."""
    found = []
    for reference, name in targets:
        pod, node = pods.pop(reference.key, None), world.node(name)
        if pod is not None and node is not None and pod.node_name != name and not pod.is_finished:
            found.append(Arrival(pod, node))
    return found


def _check_together(world: World, arrivals: Sequence[Arrival], when: str) -> Iterator[Violation]:
    for position, arrival in enumerate(arrivals):
        others = [*arrivals[:position], *arrivals[position + 1 :]]
        for rule, predicate in PREDICATES:
            reason = predicate(arrival, others, world)
            if reason is not None:
                yield Violation(rule, f"{arrival.pod.key} {when} to {arrival.node.name}: {reason}")
    for arrival in arrivals:
        world.reserved_volumes |= chosen_volumes(arrival, world, frozenset(world.reserved_volumes))
