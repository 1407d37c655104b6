"""AntagonistReport: pods that are known to disturb each other have come to share a node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rescheduler.daemon.triggers.causes import Causes, TriggerBackOff
from rescheduler.daemon.triggers.setting import Setting, listed, without_objective
from rescheduler.extension_points import Trigger
from rescheduler.model.columns.selectors import read_selector, selects
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.model.objects.annotations import ANTAGONISTS_UNTIL
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import reference_to
from rescheduler.model.times import read_time
from rescheduler.policy.fields.objectives import SeparateAntagonistsArgs
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import DurationSeconds
from rescheduler.policy.reading.objective_arguments import arguments_of

# Which pods share a node with an antagonist, by the sets of a policy and the label of the pods.


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
        if pod.node_name is None or not pod.is_active:
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


LOOK_SECONDS: Final = 10.0
"""All pods are looked at, so not more often than this."""


class AntagonistReportArgs(PolicyModel):
    """When antagonists (of SeparateAntagonists) have come to share a node."""

    debounce: DurationSeconds = 5.0
    """Pairs that are found within this ask for one round."""
    back_off: TriggerBackOff = TriggerBackOff()
    """How long a pair that a round did not separate does not ask again."""


class AntagonistReport(Trigger):
    """Asks for each pod that comes to share a node with an antagonist, by the arguments of SeparateAntagonists."""

    name = "AntagonistReport"
    arguments = AntagonistReportArgs

    def __init__(self, args: AntagonistReportArgs, setting: Setting) -> None:
        self._antagonists = _antagonists_of(setting.policy)
        self._causes: Causes[tuple[str, ...]] = Causes(args.back_off, args.debounce)
        self._found_at: dict[tuple[str, ...], float] = {}
        self._seen_at: float | None = None
        self._has_passed_over = False

    @classmethod
    def sentence(cls, args: AntagonistReportArgs) -> str:  # noqa: ARG003
        """What has happened."""
        return "when antagonists have come to share a node"

    @classmethod
    def warnings(cls, args: AntagonistReportArgs, policy: Policy) -> Iterator[str]:  # noqa: ARG003
        """A policy that separates nobody."""
        return without_objective("SeparateAntagonists", cls.name, policy)

    def look(self, sight: Sight) -> Occasion | None:
        """Whether there are pods that were not known to share a node with an antagonist."""
        now = sight.cluster.taken_at
        self._has_passed_over = self._seen_at is not None and self._seen_at <= now < self._seen_at + LOOK_SECONDS
        if self._has_passed_over:
            return None
        self._seen_at = now
        found: dict[tuple[str, ...], tuple[Pod, str]] = {
            (pod.node_name or "", pod.uid or pod.key): (pod, ground)
            for pod, ground in sharing_antagonists(sight.cluster, self._antagonists)
        }
        self._found_at = {key: min(self._found_at.get(key, now), now) for key in found}
        asked = self._causes.see(self._found_at, now)
        if not asked:
            return None
        clashes = [found[key] for key in asked]
        texts = [f"{pod.key} on {pod.node_name} ({ground})" for pod, ground in clashes]
        what = "pod shares" if len(asked) == 1 else "pods share"
        return Occasion(
            self.name,
            f"{len(asked)} {what} a node with antagonists: {listed(texts)}",
            now,
            pods=tuple(reference_to(pod) for pod, _ in clashes),
            nodes=tuple(sorted({pod.node_name for pod, _ in clashes if pod.node_name is not None})),
        )

    def wake_at(self, now: float) -> float | None:
        """When pods that were found are to be asked for, or a change that was passed over is to be looked at."""
        at = self._causes.wake_at(now)
        if self._seen_at is None:
            return at
        again = self._seen_at + LOOK_SECONDS
        if self._has_passed_over:
            return again
        return None if at is None else max(at, again)

    def answered(self, report: RoundReport) -> None:
        """Pods that share a node still are left alone for a while."""
        self._causes.answered(report)


def _antagonists_of(policy: Policy) -> SeparateAntagonistsArgs:
    for objective in policy.objectives:
        args = arguments_of(objective)
        if isinstance(args, SeparateAntagonistsArgs):
            return args
    return SeparateAntagonistsArgs()
