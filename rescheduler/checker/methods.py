"""Checks how pods are moved: by the method that may be, beside their own old copies, and so many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rescheduler.checker.violation import Violation
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move, Plan

RULE = "Method"
REPLICA_SET = "ReplicaSet"


def check_methods(cluster: Cluster, plan: Plan, eligibility: Eligibility) -> Iterator[Violation]:
    """Each pod is moved as it may be; pods that stay until their replacements are Ready leave no others waiting."""
    keys = [move.pod.key for move in plan.moves]
    index_of = cluster.indices_of(keys)
    at_once: Counter[tuple[int, MoveMethod, str]] = Counter()
    most: dict[str, int] = {}
    for move in plan.moves:
        index = index_of.get(move.pod.key)
        if index is None:
            continue  # the check of identities names it
        may = eligibility.method_of(index)
        if move.method is not may:
            yield Violation(RULE, f"{move.pod.key} is to be moved by {move.method}, and may be by {may}")
        if move.method is not MoveMethod.EVICT:
            yield from _of_one(cluster, cluster.pods[index], move)
            what, most_of_it = _counted(cluster, cluster.pods[index], move)
            most[what] = most_of_it
            at_once[(move.wave, move.method, what)] += 1
    for (wave, method, what), number in sorted(at_once.items()):
        if number > most[what]:
            yield Violation(
                RULE, f"wave {wave} moves {number} pods of {what} by {method}; at most {most[what]} at once"
            )


def _of_one(cluster: Cluster, pod: Pod, move: Move) -> Iterator[Violation]:
    if move.evict_first:
        yield Violation(RULE, f"{pod.key} is to leave before it arrives, and by {move.method} it stays until then")
    owner = cluster.owner_of(pod)
    if move.method is MoveMethod.SURGE and (owner is None or owner.kind != REPLICA_SET):
        yield Violation(RULE, f"{pod.key} is to be moved by Surge, and is no pod of a {REPLICA_SET}")


def _counted(cluster: Cluster, pod: Pod, move: Move) -> tuple[str, int]:
    """Of what only some pods may be on their way at once, and how many."""
    workload = cluster.workload_of(pod)
    if move.method is MoveMethod.MIGRATE or workload is None:
        return f"node {move.from_node}", 1
    return workload.key, _most_surplus(workload)


def _most_surplus(workload: Workload) -> int:
    """What a rollout may have beyond the wanted number, which is a quarter where nobody says; a share rounds up."""
    asked = workload.max_surge if workload.max_surge is not None else "25%"
    if isinstance(asked, int):
        return max(1, asked)
    share = asked.rstrip("%")
    if not share.isdecimal():
        return 1
    number = int(share)
    if asked.endswith("%"):
        number = ((workload.desired_replicas or 0) * number + 99) // 100
    return max(1, number)
