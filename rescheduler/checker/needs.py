"""Checks that moves of different waves only run beside one another where neither can be in the other's way.

The waves themselves are proven elsewhere, each in any order of its moves. Here it is proven, pair by pair and by
reasons of its own, that the later of two waves waits wherever the proof of its wave rests on the earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rescheduler.checker.selectors import label_selector_matches
from rescheduler.checker.violation import Violation
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Move, Plan

RULE = "Needs"
FLOORS = frozenset({"WorkloadBudget", "StatefulSet", "PodDisruptionBudget"})
"""Groups of which a few may be missing at any time."""


def check_needs(
    cluster: Cluster, plan: Plan, needs: Sequence[frozenset[int]], eligibility: Eligibility
) -> Iterator[Violation]:
    """``needs``: for each move of the plan, by its place, the places of those that are settled before it starts."""
    counted = _counted_together(cluster, plan, eligibility)
    pods = [cluster.pod_by_key.get(move.pod.key) for move in plan.moves]
    seen = [None if pod is None else _seen(pod) for pod in pods]
    for later, move in enumerate(plan.moves):
        for earlier, other in enumerate(plan.moves):
            if other.wave >= move.wave:
                if earlier in needs[later]:
                    yield Violation(RULE, f"{move.pod.key} waits for {other.pod.key}, which comes no earlier")
                continue
            if earlier in needs[later]:
                continue
            reason = _order_matters(other, move) or (
                _meet(seen[earlier], seen[later])
                or ("both are counted for one limit" if counted[earlier] & counted[later] else None)
            )
            if reason is not None:
                yield Violation(RULE, f"{move.pod.key} does not wait for {other.pod.key} of an earlier wave: {reason}")


def _order_matters(earlier: Move, later: Move) -> str | None:
    if earlier.evict_first or later.evict_first:
        return "the pods of one of these waves leave before they arrive"
    return f"it leaves {later.to_node}" if earlier.from_node == later.to_node else None


class _Seen(NamedTuple):
    """What tells whether a pod meets another. ``looks``: selectors of its terms; ``owner``: its controller's uid."""

    labels: Mapping[str, str]
    looks: Sequence[LabelSelector]
    owner: str | None
    has_claims: bool


def _seen(pod: Pod) -> _Seen:
    spec = pod.spec
    found = [term.selector for term in spec.affinity] + [term.selector for term in spec.anti_affinity]
    found += [item.selector for item in spec.topology_spread]
    looks = tuple(selector for selector in found if selector is not None)
    owner = None if pod.controller is None else pod.controller.uid
    return _Seen(pod.labels, looks, owner, any(volume.claim for volume in pod.volumes))


def _meet(first: _Seen | None, second: _Seen | None) -> str | None:
    """Whether one of two pods looks at the other, or both ask for volumes that are still to be chosen."""
    if first is None or second is None:
        return None
    for one, other in ((first, second), (second, first)):
        if one.looks and any(label_selector_matches(selector, other.labels) for selector in one.looks):
            return "a term of affinity or spread of one picks the other"
    if first.owner is not None and first.owner == second.owner:
        return "both have one owner"
    return "both have claims" if first.has_claims and second.has_claims else None


def _counted_together(cluster: Cluster, plan: Plan, eligibility: Eligibility) -> list[set[int]]:
    """For each move the floors that it counts for, where all of the plan's pods together are more than one allows."""
    place = {move.pod.key: number for number, move in enumerate(plan.moves)}
    found: list[set[int]] = [set() for _ in plan.moves]
    for number, group in enumerate(eligibility.groups):
        if group.rule not in FLOORS:
            continue
        moved = [place[cluster.pods[index].key] for index in group.pods if cluster.pods[index].key in place]
        if len(moved) > group.allowed_per_wave:
            for move in moved:
                found[move].add(number)
    return found
