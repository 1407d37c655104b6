"""By which method each pod is moved: what the policy's rules say of it, and whether that is possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rescheduler.disruption.methods.surges import surge_allowance, surge_obstacle
from rescheduler.model.columns.selectors import read_selector, selects
from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS, REQUEST_EVICT_ONLY, SURGE
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import DisruptionGroup
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.move_by import MoveRule, Otherwise

if TYPE_CHECKING:
    from rescheduler.disruption.eligibility_context import EligibilityContext

POLICY: Final = "(policy: disruption.moveBy)"


class MethodChoice(NamedTuple):
    """How a pod is moved; ``objection``: why it is left alone nevertheless, as the rest of a sentence."""

    method: MoveMethod
    objection: str | None = None


EVICTED: Final = MethodChoice(MoveMethod.EVICT)


class _Rule(NamedTuple):
    namespaces: frozenset[str] | None
    selector: LabelSelector | None
    rule: MoveRule

    def names(self, pod: Pod) -> bool:
        """Rules of migrations are about pods alone whose owner moves them himself."""
        if self.namespaces is not None and pod.namespace not in self.namespaces:
            return False
        if self.selector is not None and not selects(self.selector, pod.labels):
            return False
        return self.rule.method is not MoveMethod.MIGRATE or REQUEST_EVICT_ONLY in pod.annotations


class MoveMethods:
    """The policy's rules in one cluster; each kind of pod is asked about once."""

    def __init__(self, context: EligibilityContext) -> None:
        """Read the rules."""
        self._context = context
        self._rules = [
            _Rule(
                None if rule.namespaces is None else frozenset(rule.namespaces),
                None if rule.label_selector is None else read_selector(rule.label_selector),
                rule,
            )
            for rule in context.policy.disruption.move_by
        ]
        self._known: dict[str, MethodChoice] = {}

    @property
    def has_rules(self) -> bool:
        """Whether any pod could be moved otherwise than by eviction."""
        return bool(self._rules)

    def of(self, pod: Pod) -> MethodChoice:
        """How the pod is moved."""
        if not self._rules and REQUEST_EVICT_ONLY not in pod.annotations:
            return EVICTED
        found = self._known.get(pod.key)
        if found is None:
            found = self._known[pod.key] = self._choose(pod)
        return found

    def is_evicted(self, pod: Pod) -> bool:
        """Whether all rules of evictions hold for the pod."""
        return self.of(pod).method is MoveMethod.EVICT

    def is_migrated(self, pod: Pod) -> bool:
        """Whether whoever owns the pod moves it himself, makes the new one, and sees to its data."""
        return self.of(pod).method is MoveMethod.MIGRATE

    def rule_of(self, pod: Pod) -> MoveRule | None:
        """The first rule that names the pod."""
        return next((rule.rule for rule in self._rules if rule.names(pod)), None)

    def among(self, movable: Sequence[int]) -> dict[int, MoveMethod]:
        """Methods of those of these pods (indices) that are not evicted."""
        if not self._rules:
            return {}
        kinds = self._context.asked_kinds
        of_kind = [self.of(example).method for example in kinds.examples]
        found = ((index, of_kind[kinds.kind_of[index]]) for index in movable)
        return {index: method for index, method in found if method is not MoveMethod.EVICT}

    def _choose(self, pod: Pod) -> MethodChoice:
        rule = self.rule_of(pod)
        method = MoveMethod.EVICT if rule is None else rule.method
        if REQUEST_EVICT_ONLY in pod.annotations:
            return _migration(pod, rule)
        if rule is None or method is not MoveMethod.SURGE:
            return EVICTED
        obstacle = surge_obstacle(pod, self._context)
        if obstacle is None:
            return MethodChoice(MoveMethod.SURGE)
        if rule.otherwise is Otherwise.EVICT:
            return EVICTED
        return MethodChoice(MoveMethod.SURGE, f"cannot be moved by surge: {obstacle} {POLICY}")


def _migration(pod: Pod, rule: MoveRule | None) -> MethodChoice:
    if rule is None or rule.method is not MoveMethod.MIGRATE:
        told = "no rule says that he is to be asked" if rule is None else f"its rule says {rule.method}"
        text = f"is moved by whoever owns it alone (annotation {REQUEST_EVICT_ONLY}), and {told} {POLICY}"
        return MethodChoice(MoveMethod.EVICT, text)
    if EVICTION_IN_PROGRESS in pod.annotations:
        return MethodChoice(MoveMethod.MIGRATE, "is being moved by whoever owns it already")
    return MethodChoice(MoveMethod.MIGRATE)


# How many pods may be on their way at once by other methods than eviction.


def method_groups(context: EligibilityContext, methods: Mapping[int, MoveMethod]) -> Iterator[DisruptionGroup]:
    """Of a workload as many as it may surge by, those on their way already included; of a node one migration.

    Pods that the run at hand has on their way itself are asked about once more, and do not count against each other.
    """
    pods = context.cluster.pods
    surging: dict[str, list[int]] = {}
    own: dict[str, list[int]] = {}
    migrating: dict[str, list[int]] = {}
    for index, method in methods.items():
        workload = context.cluster.workload_of(pods[index])
        if method is MoveMethod.MIGRATE:
            migrating.setdefault(pods[index].node_name or "", []).append(index)
        elif workload is not None:
            (own if context.is_own_surge(pods[index]) else surging).setdefault(workload.uid, []).append(index)
    under_way = _under_way(context) if surging else Counter[str]()
    for found, counted in ((surging, under_way), (own, Counter[str]())):
        for uid, members in found.items():
            workload = context.cluster.workload_of(pods[members[0]])
            assert workload is not None  # it is a surge of its pods
            allowed = max(0, surge_allowance(workload) - counted[uid])
            yield DisruptionGroup(MoveMethod.SURGE.value, workload.key, allowed, tuple(members))
    for node, members in migrating.items():
        left = 0 if _is_migrating_from(context, node) else 1
        yield DisruptionGroup(MoveMethod.MIGRATE.value, f"node {node}", left, tuple(members))


def _is_migrating_from(context: EligibilityContext, node: str) -> bool:
    """Whether a pod of a node is being moved by whoever owns it, or was asked for and stands yet."""
    return any(
        EVICTION_IN_PROGRESS in pod.annotations or pod.uid in context.asked_of_owners
        for pod in context.cluster.pods_by_node.get(node, ())
    )


def _under_way(context: EligibilityContext) -> Counter[str]:
    """Pods that are on their way by surge already, by uid of their workload; one that was evicted has been replaced."""
    found: Counter[str] = Counter()
    for pod, number in zip(context.kinds.examples, context.kinds.sizes, strict=True):
        is_out = SURGE in pod.annotations and not pod.is_terminating
        workload = context.cluster.workload_of(pod) if is_out else None
        if workload is not None:
            found[workload.uid] += number
    return found
