"""Replays a plan wave by wave and asks every predicate of every arrival."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import structs

from rescheduler.checker.limits import evict_first_waves
from rescheduler.checker.predicates import OPTIONAL, PREDICATES
from rescheduler.checker.predicates.volumes import chosen_volumes
from rescheduler.checker.violation import Violation
from rescheduler.checker.wave_arrivals import NOBODY, Others, WaveArrivals
from rescheduler.checker.world import Arrival, World
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan, PodReference
from rescheduler.model.plan.scheduler_rules import ArrivalRules


def check_arrivals(cluster: Cluster, plan: Plan, rules: ArrivalRules) -> Iterator[Violation]:
    """Every prefix of waves is feasible for the schedulers of the pods that arrive.

    Moves of one wave may run in any order. When it has ended the moved pods give up their origins; then the pending
    pods whose room is free by now arrive, one after the other as a scheduler places them, and hold it from then on.
    Where the pods of a wave leave before they arrive, all have given up their origins before the first arrival.
    """
    world = World(cluster, rules)
    keys = [move.pod.key for move in plan.moves] + [item.pod.key for item in plan.placements]
    pods = {key: cluster.pods[index] for key, index in cluster.indices_of(keys).items()}
    leaving_first = evict_first_waves(plan)
    staying = {move.pod.key for move in plan.moves if move.method is not MoveMethod.EVICT}
    for wave in sorted({move.wave for move in plan.moves} | {item.wave for item in plan.placements}):
        moved = [(move.pod, move.to_node) for move in plan.moves if move.wave == wave]
        placed = [(item.pod, item.node) for item in plan.placements if item.wave == wave]
        arrivals = _arrivals(world, pods, moved)
        if wave in leaving_first:
            arrivals = world.depart(arrivals)
        yield from _check_any_order(world, arrivals, f"moves in wave {wave}", staying)
        yield from _check_some_order(world, _arrivals(world, pods, placed), f"is placed at the end of wave {wave}")


def _arrivals(world: World, pods: dict[str, Pod], targets: Sequence[tuple[PodReference, str]]) -> list[Arrival]:
    """What can arrive at all; the check of identities names the rest. A pod arrives once, and is taken off ``pods``."""
    found = []
    for reference, name in targets:
        pod, node = pods.pop(reference.key, None), world.node(name)
        if pod is not None and node is not None and pod.node_name != name and not pod.is_finished:
            found.append(Arrival(pod, node))
    return found


def _check_any_order(
    world: World, arrivals: Sequence[Arrival], when: str, staying: Collection[str]
) -> Iterator[Violation]:
    """Each arrival is asked for while any of the others may have come or not, and nobody leaves meanwhile.

    ``staying``: keys of the pods that stay until their replacements are Ready.
    """
    wave = WaveArrivals(arrivals)
    for position, arrival in enumerate(arrivals):
        yield from _objections(world, arrival, wave.without(position), when)
        if arrival.pod.key in staying:
            yield from _beside_itself(world, arrival, wave.without(position), when)
    _land(world, arrivals)


def _beside_itself(world: World, arrival: Arrival, others: Others, when: str) -> Iterator[Violation]:
    """What refuses a pod whose own old copy stays until the new one is Ready, and counts as any other pod does."""
    newcomer = arrival._replace(pod=structs.replace(arrival.pod, node_name=None, held=None))
    yield from _objections(world, newcomer, others, f"moves by surge {when.removeprefix('moves ')}")


def _check_some_order(world: World, arrivals: Sequence[Arrival], when: str) -> Iterator[Violation]:
    """Each in turn comes as soon as it fits beside those that came before it; those that never do are told.

    Pods that fit in the order of the list pass; some other order is tried, though not every one.
    """
    waiting = list(arrivals)
    while waiting:
        fitting = next((item for item in waiting if not any(_objections(world, item, NOBODY, when))), None)
        if fitting is None:
            for arrival in waiting:
                yield from _objections(world, arrival, NOBODY, when)
            _land(world, waiting)
            return
        _land(world, [fitting])
        waiting.remove(fitting)


def _objections(world: World, arrival: Arrival, others: Others, when: str) -> Iterator[Violation]:
    filters = world.rules.of(arrival.pod.spec.scheduler_name).filters
    for rule, predicate in PREDICATES:
        if filters is not None and rule in OPTIONAL and rule not in filters:
            continue  # the pod's scheduler does not ask
        reason = predicate(arrival, others, world)
        if reason is not None:
            told = f"{arrival.pod.key} {when} to {arrival.node.name}: {reason}"
            yield Violation(rule, told, arrival.pod.key)


def _land(world: World, arrivals: Sequence[Arrival]) -> None:
    for arrival in arrivals:
        world.reserved_volumes |= chosen_volumes(arrival, world, frozenset(world.reserved_volumes))
    world.land(arrivals)
