"""Counts anew, with none of the planner's code, the pairs of antagonists that share a node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import combinations
from typing import NamedTuple

from rescheduler.checker.recounts.final_positions import standing_after
from rescheduler.checker.selectors import label_selector_matches
from rescheduler.model.columns.selectors import read_selector
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.objectives import SeparateAntagonistsArgs

UNTIL = "rescheduler.dev/antagonists-until"


class _Traits(NamedTuple):
    """What decides whom a pod keeps apart from: (set, selector) pairs that pick it, and its mark."""

    picked_by: frozenset[tuple[int, int]]
    mark: str | None


def pairs_left(cluster: Cluster, plan: Plan, args: SeparateAntagonistsArgs, now: float) -> int:
    """Pairs of antagonists that share a node once the plan is carried out; ``now`` decides what has expired."""
    lonely = {number for number, item in enumerate(args.sets) if len(item.members) == 1}
    known: dict[tuple[str, int, bool], _Traits] = {}  # by the very object that replicas share as labels
    on_node: dict[str, dict[_Traits, int]] = defaultdict(lambda: defaultdict(int))
    for pod, node in standing_after(cluster, plan):
        has_ended = _has_passed(pod.annotations.get(UNTIL), now)
        key = (pod.namespace, id(pod.labels), has_ended)
        if key not in known:
            known[key] = _traits(pod, args, now, has_ended=has_ended)
        on_node[node.name][known[key]] += 1
    return sum(_pairs(counts, lonely) for counts in on_node.values())


def _traits(pod: Pod, args: SeparateAntagonistsArgs, now: float, *, has_ended: bool) -> _Traits:
    picked = frozenset(
        (number, member)
        for number, item in enumerate(args.sets)
        if not _has_passed(item.expires, now) and (not item.namespaces or pod.namespace in item.namespaces)
        for member, selector in enumerate(item.members)
        if label_selector_matches(read_selector(selector), pod.labels)
    )
    return _Traits(picked, None if has_ended else pod.labels.get(args.label))


def _pairs(counts: Mapping[_Traits, int], lonely: set[int]) -> int:
    """Pairs among the pods of one node; ``lonely``: sets of one selector, whose pods keep apart from each other."""
    marked: dict[str, int] = defaultdict(int)
    picked: list[tuple[_Traits, int]] = []
    total = 0
    for traits, number in counts.items():  # most pods are in no set: only a mark like their own matters to them
        if traits.picked_by:
            picked.append((traits, number))
            total += number * (number - 1) // 2 if _are_foes(traits, traits, lonely) else 0
        elif traits.mark is not None:
            marked[traits.mark] += number
    total += sum(number * (number - 1) // 2 for number in marked.values())
    total += sum(number * marked.get(traits.mark, 0) for traits, number in picked if traits.mark is not None)
    for (one, first), (other, second) in combinations(picked, 2):
        if _are_foes(one, other, lonely):
            total += first * second
    return total


def _are_foes(one: _Traits, other: _Traits, lonely: set[int]) -> bool:
    if one.mark is not None and one.mark == other.mark:
        return True
    return any(
        number == same and (mine != theirs or number in lonely)
        for number, mine in one.picked_by
        for same, theirs in other.picked_by
    )


def _has_passed(text: str | None, now: float) -> bool:
    """Whether a time with a zone has come; one that cannot be read never does."""
    if text is None or len(text) > 64 or "T" not in text.upper():
        return False
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return False
    return moment.tzinfo is not None and (moment - datetime.fromtimestamp(0, UTC)).total_seconds() <= now
