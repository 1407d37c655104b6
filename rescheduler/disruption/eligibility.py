"""Which pods may be moved, which may be helped, and within which limits: decided once for a snapshot."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType

from rescheduler.disruption.circumstances import DEFAULT_SCHEDULERS, EVERYTHING, Circumstances
from rescheduler.disruption.pod_kinds import is_standing
from rescheduler.disruption.rules import HELPING, MOVING
from rescheduler.disruption.rules.rule import Rule, Stage
from rescheduler.model.cluster import Cluster
from rescheduler.model.disruption import DisruptionGroup, Eligibility, MoveLimits, Selection
from rescheduler.model.plan import PodReference, Refusal
from rescheduler.model.pod import Pod
from rescheduler.policy.models import Policy

NOTHING_REMEMBERED: Mapping[str, int] = MappingProxyType({})


def decide_eligibility(
    cluster: Cluster,
    policy: Policy,
    selection: Selection = EVERYTHING,
    schedulers: frozenset[str] = DEFAULT_SCHEDULERS,
    remembered_replicas: Mapping[str, int] = NOTHING_REMEMBERED,
) -> Eligibility:
    """Ask every rule of every pod; O(pods), rules about templates and nodes once for each distinct one.

    ``schedulers``: names of those that can be predicted. ``remembered_replicas``: desired replicas by uid of owners
    that are known by their pods alone, as counted before the first eviction.
    """
    circumstances = Circumstances(cluster, policy, selection, schedulers, remembered_replicas)
    movable, refusals = _divide(circumstances, MOVING, [i for i, pod in enumerate(cluster.pods) if not _waits(pod)])
    helpable, not_helpable = _divide(circumstances, HELPING, [i for i, pod in enumerate(cluster.pods) if _waits(pod)])
    limits = policy.limits
    return Eligibility(
        movable=tuple(movable),
        refusals=refusals,
        helpable=tuple(helpable),
        not_helpable=not_helpable,
        groups=tuple(_groups(circumstances, movable)),
        limits=MoveLimits(limits.max_evictions, limits.max_evictions_per_node, limits.max_evictions_per_namespace),
    )


def explain_pod(circumstances: Circumstances, pod: Pod) -> tuple[Refusal, ...]:
    """Every rule that speaks against moving the pod (or against helping it, if it waits for a node)."""
    stages = HELPING if _waits(pod) else MOVING
    objections = ((rule, rule.objection(pod, circumstances)) for stage in stages for rule in stage.rules)
    return tuple(refusal(rule.name, pod, reason) for rule, reason in objections if reason is not None)


def refusal(rule: str, pod: Pod, reason: str) -> Refusal:
    """A rule's no to one pod."""
    reference = PodReference(namespace=pod.namespace, name=pod.name, uid=pod.uid)
    return Refusal(rule=rule, message=f"{pod.key} {reason}", pod=reference)


def _waits(pod: Pod) -> bool:
    return pod.node_name is None and not pod.is_finished


def _divide(
    circumstances: Circumstances, stages: Sequence[Stage], candidates: Sequence[int]
) -> tuple[list[int], dict[int, Refusal]]:
    """Indices without any objection, and the first objection to each of the others."""
    accepted: list[int] = []
    refused: dict[int, Refusal] = {}
    pods, kind_of = circumstances.cluster.pods, circumstances.kinds.kind_of
    answered: list[tuple[Stage, dict[Hashable, tuple[str, str] | None]]] = [(stage, {}) for stage in stages]
    for index in candidates:
        pod = pods[index]
        for stage, answers in answered:
            key: Hashable = kind_of[index] if stage.per == "kind" else pod.node_name
            if stage.per == "pod":
                objection = _first_objection(stage.rules, pod, circumstances)
            elif key in answers:
                objection = answers[key]
            else:
                objection = answers[key] = _first_objection(stage.rules, pod, circumstances)
            if objection is not None:
                refused[index] = refusal(objection[0], pod, objection[1])
                break
        else:
            accepted.append(index)
    return accepted, refused


def _first_objection(rules: Sequence[Rule], pod: Pod, circumstances: Circumstances) -> tuple[str, str] | None:
    for name, objection in rules:
        reason = objection(pod, circumstances)
        if reason is not None:
            return name, reason
    return None


def _groups(circumstances: Circumstances, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
    """One group a budget and one a workload, of the movable pods that are ready now."""
    members: dict[tuple[str, str, int], list[int]] = {}
    of_kind: dict[int, list[list[int]]] = {}
    kind_of = circumstances.kinds.kind_of
    for index in movable:
        kind = kind_of[index]
        if kind not in of_kind:
            spent = _spends(circumstances, circumstances.cluster.pods[index])
            of_kind[kind] = [members.setdefault(group, []) for group in spent]
        for group in of_kind[kind]:
            group.append(index)
    for rule, name, allowed in sorted(members):
        yield DisruptionGroup(rule, name, allowed, tuple(members[(rule, name, allowed)]))


def _spends(circumstances: Circumstances, pod: Pod) -> Iterator[tuple[str, str, int]]:
    """Groups that moving the pod spends from: rule, name, and what is allowed in a wave.

    A pod that is not ready counts as missing already, so moving it spends nothing, unless its PodDisruptionBudget
    asks for it all the same.
    """
    is_ready = is_standing(pod)
    for budget in circumstances.budgets.of(pod):
        if is_ready or not budget.lets_unready_go:
            yield "PodDisruptionBudget", budget.budget.key, budget.allowed
    workload = circumstances.workloads.of(pod)
    if workload is not None and is_ready:
        yield "WorkloadBudget", workload.workload.key, workload.allowed
