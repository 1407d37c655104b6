"""Which pods share a node with an antagonist, by the sets of a policy and the label of the pods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rescheduler.model.annotations import ANTAGONISTS_UNTIL
from rescheduler.model.cluster import Cluster
from rescheduler.model.constraints import LabelSelector
from rescheduler.model.label_selectors import read_selector, selects
from rescheduler.model.moments import read_time
from rescheduler.model.pod import Pod
from rescheduler.policy.objectives import SeparateAntagonistsArgs


class _Side(NamedTuple):
    """What makes a pod somebody's antagonist: one that holds another side of the same ground.

    ``ground``: a set of the policy, or a value of the label; ``member``: its selector. ``is_alone``: pods of one and
    the same side keep apart too.
    """

    ground: str
    member: int
    is_alone: bool


class _Member(NamedTuple):
    side: _Side
    namespaces: frozenset[str]
    selector: LabelSelector


def sharing_antagonists(cluster: Cluster, args: SeparateAntagonistsArgs) -> Iterator[tuple[Pod, str]]:
    """Each pod that shares its node with an antagonist, and why; sets and marks that have expired say nothing."""
    members = tuple(_members(args, cluster.taken_at))
    known: dict[tuple[str, int], tuple[_Side, ...]] = {}
    on_node: dict[str, list[tuple[Pod, tuple[_Side, ...]]]] = defaultdict(list)
    for pod in cluster.pods:
        if pod.node_name is None or pod.is_finished or pod.is_terminating:
            continue
        key = (pod.namespace, id(pod.labels))  # replicas share their labels, which live as long as the snapshot
        sides = known.get(key)
        if sides is None:
            sides = known[key] = tuple(_sides(pod, members, args.label))
        if sides and pod.annotations.get(ANTAGONISTS_UNTIL):
            sides = _without_ended_mark(pod, sides, args.label, cluster.taken_at)
        if sides:
            on_node[pod.node_name].append((pod, sides))
    for found in on_node.values():
        if len(found) > 1:
            yield from _clashes(found)


def _members(args: SeparateAntagonistsArgs, now: float) -> Iterator[_Member]:
    for item in args.sets:
        ends_at = None if item.expires is None else read_time(item.expires)
        if ends_at is not None and now >= ends_at:
            continue
        for number, selector in enumerate(item.members):
            side = _Side(f"set {item.name}", number, len(item.members) == 1)
            yield _Member(side, frozenset(item.namespaces), read_selector(selector))


def _sides(pod: Pod, members: tuple[_Member, ...], label: str) -> Iterator[_Side]:
    value = pod.labels.get(label)
    if value is not None:
        yield _mark(label, value)
    for member in members:
        if (not member.namespaces or pod.namespace in member.namespaces) and selects(member.selector, pod.labels):
            yield member.side


def _mark(label: str, value: str) -> _Side:
    return _Side(f"label {label}={value}", 0, is_alone=True)


def _without_ended_mark(pod: Pod, sides: tuple[_Side, ...], label: str, now: float) -> tuple[_Side, ...]:
    ends_at = read_time(pod.annotations[ANTAGONISTS_UNTIL])
    if ends_at is None or now < ends_at:
        return sides
    ended = _mark(label, pod.labels.get(label, ""))
    return tuple(side for side in sides if side != ended)


def _clashes(found: list[tuple[Pod, tuple[_Side, ...]]]) -> Iterator[tuple[Pod, str]]:
    """Pods of one node of which another holds the other side of the same ground."""
    holders: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for _, sides in found:
        for side in sides:
            holders[side.ground][side.member] += 1
    for pod, sides in found:
        ground = next((side.ground for side in sides if _has_foe(side, holders[side.ground], sides)), None)
        if ground is not None:
            yield pod, ground


def _has_foe(side: _Side, holders: Mapping[int, int], own: tuple[_Side, ...]) -> bool:
    """Whether some other pod stands on another side, or on the same one where that is the only one."""
    if side.is_alone:
        return holders[side.member] > 1
    mine = {each.member for each in own if each.ground == side.ground}
    return any(count > (member in mine) for member, count in holders.items() if member != side.member)
