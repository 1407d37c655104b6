"""Which pods may be moved, which may be helped, and within which limits: decided once for a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType

from rescheduler.disruption.earlier.open_evictions import indebted, replicas_with_debts
from rescheduler.disruption.earlier.ramp_up import RULE, allowance, has_ended, sent_in_window
from rescheduler.disruption.eligibility_context import DEFAULT_SCHEDULERS, EVERYTHING, EligibilityContext
from rescheduler.disruption.gate.breaker import is_on_trial
from rescheduler.disruption.methods.move_methods import method_groups
from rescheduler.disruption.pod_kinds import counts_as_ready
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.disruption.rules import HELPING, MOVING
from rescheduler.disruption.rules.rule import Rule, Stage
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits, Selection
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Refusal, reference_to
from rescheduler.policy.fields.policy import Guidance, Limits, Permission, Policy
from rescheduler.policy.fields.values import format_duration

# Groups that carefulness adds: what ramp-up and circuit breaker leave, and StatefulSets one pod at a time.

STATEFUL_SET = "StatefulSet"


def careful_groups(context: EligibilityContext, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
    """Nothing where the policy is permissive and a person watches."""
    if context.is_daemon and movable:
        yield from _ramp_up(context, movable)
        if is_on_trial(context.breaker):
            # One a wave, not one a plan: a trial that is repaid closes the breaker before the next wave.
            yield DisruptionGroup("Breaker", "the circuit breaker's trial", 1, tuple(movable))
    if context.policy.disruption.unsettled is Permission.DENY or context.is_daemon:
        yield from _stateful_sets(context, movable)


def _ramp_up(context: EligibilityContext, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
    """Where a step was granted nothing else goes, and it goes whole unless others have sent something meanwhile."""
    disruption, granted, now = context.policy.disruption, context.granted, context.cluster.taken_at
    rules = disruption.ramp_up
    if rules is None or granted is None or has_ended(context.ledger, disruption, now):
        return
    allowed, left = allowance(context.ledger, rules, now)
    name = f"the ramp-up ({allowed} in {format_duration(rules.window)})"
    if granted:
        others = tuple(index for index in movable if context.cluster.pods[index].uid not in granted)
        yield DisruptionGroup(RULE, name, 0, others, 0)
    if any(entry.pod.uid not in granted for entry in sent_in_window(context.ledger, rules, now)) or not granted:
        yield DisruptionGroup(RULE, name, left, tuple(movable), left)


def _stateful_sets(context: EligibilityContext, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
    """One pod of each in one plan: which ordinal comes first is then no question."""
    members: dict[tuple[str, str], list[int]] = {}
    for index in movable:
        owner = context.cluster.owner_of(context.cluster.pods[index])
        if owner is not None and owner.kind == STATEFUL_SET:
            members.setdefault((owner.key, owner.uid), []).append(index)
    gone = {move.pod.uid for move in context.earlier.sent}
    before = Counter(entry.workload for entry in context.ledger.entries if entry.pod.uid in gone)
    for (name, uid), pods in sorted(members.items()):
        left = max(0, 1 - context.sent.get(uid, 0) - before[uid])
        yield DisruptionGroup(STATEFUL_SET, name, left, tuple(pods), left)


# What earlier attempts have used up of the limits of the whole.


def spent_groups(context: EligibilityContext, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
    """What is left for nodes and namespaces that pods have left already."""
    limits, sent, pods = context.policy.limits, context.earlier.sent, context.cluster.pods
    caps = (
        (limits.max_evictions_per_node, Counter(("node", move.from_node) for move in sent)),
        (limits.max_evictions_per_namespace, Counter(("namespace", move.pod.namespace) for move in sent)),
    )
    for cap, gone in caps:
        if cap is None:
            continue
        for place, number in sorted(gone.items()):
            own = (i for i in movable if place in (("node", pods[i].node_name), ("namespace", pods[i].namespace)))
            left = max(0, cap - number)
            yield DisruptionGroup("Limits", " ".join(place), left, tuple(own), left)


def _left(limits: Limits, earlier: EarlierAttempts) -> MoveLimits:
    most = limits.max_evictions
    most = None if most is None else max(0, most - len(earlier.sent))
    return MoveLimits(most, limits.max_evictions_per_node, limits.max_evictions_per_namespace)


NOTHING_REMEMBERED: Mapping[str, int] = MappingProxyType({})
NOTHING_WANTED: Mapping[str, Wanted] = MappingProxyType({})
NOTHING_LEFT: Mapping[str, str] = MappingProxyType({})


def decide_eligibility(
    cluster: Cluster,
    policy: Policy,
    selection: Selection = EVERYTHING,
    schedulers: frozenset[str] = DEFAULT_SCHEDULERS,
    remembered_replicas: Mapping[str, int] = NOTHING_REMEMBERED,
    ledger: Ledger = EMPTY_LEDGER,
    *,
    is_daemon: bool = False,
    stop: str | None = None,
    wanted: Mapping[str, Wanted] = NOTHING_WANTED,
    sent: Mapping[str, int] = NOTHING_REMEMBERED,
    left: Mapping[str, str] = NOTHING_LEFT,
    granted: frozenset[str] | None = None,
    own_run: str = "",
    only: frozenset[str] | None = None,
    earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
) -> Eligibility:
    """Ask every rule of every pod; O(pods), rules about templates and nodes once for each distinct one.

    ``only``: these pods alone, by key, are asked about; what is said of them is what would be said among all, and
    groups name nobody else (None: all). ``schedulers``: names of those that can be predicted. ``remembered_replicas``:
    desired replicas by uid of owners that are known by their pods alone, as counted before the first eviction.
    ``ledger``: earlier evictions, which count in windows; those that are still debts count as missing pods.
    ``is_daemon``, ``stop``, ``wanted``, ``sent``, ``left``, ``granted``, ``own_run`` and ``earlier``: see
    EligibilityContext.
    """
    cluster = indebted(cluster, ledger)
    replicas = replicas_with_debts(remembered_replicas, ledger)
    more = (is_daemon, stop, wanted, sent, left, granted, own_run, earlier, only)
    return _decided(EligibilityContext(cluster, policy, selection, schedulers, replicas, ledger, *more))


def _decided(context: EligibilityContext) -> Eligibility:
    is_few = context.only is not None
    placed, waiting = _asked(context)
    movable, refusals = _divide(context, MOVING, placed, is_few=is_few)
    helpable, not_helpable = _divide(context, HELPING, waiting, is_few=is_few)
    methods = context.methods.among(movable)
    return Eligibility(
        movable=tuple(movable),
        refusals=refusals,
        helpable=tuple(helpable),
        not_helpable=not_helpable,
        groups=tuple(_groups(context, movable, methods)),
        limits=_left(context.policy.limits, context.earlier),
        may_evict_first=context.policy.guidance is Guidance.GUIDE,
        owing=_owing(context, movable),
        methods=methods,
    )


def _asked(context: EligibilityContext) -> tuple[list[int], list[int]]:
    """Pods to ask about: those that are or were on a node, and those that wait for one."""
    pods, asked = context.cluster.pods, context.asked
    return [i for i in asked if not _waits(pods[i])], [i for i in asked if _waits(pods[i])]


def _owing(context: EligibilityContext, movable: Sequence[int]) -> frozenset[int]:
    owed = {entry.workload for entry in context.ledger.debts}
    if not owed:
        return frozenset()
    workloads, pods = context.workloads, context.cluster.pods
    found = ((index, workloads.of(pods[index])) for index in movable)
    return frozenset(index for index, state in found if state is not None and state.workload.uid in owed)


def explain_pod(context: EligibilityContext, pod: Pod) -> tuple[Refusal, ...]:
    """Every rule that speaks against moving the pod (or against helping it, if it waits for a node)."""
    stages = HELPING if _waits(pod) else MOVING
    objections = ((rule, rule.objection(pod, context)) for stage in stages for rule in stage.rules)
    return tuple(refusal(rule.name, pod, reason) for rule, reason in objections if reason is not None)


def refusal(rule: str, pod: Pod, reason: str) -> Refusal:
    """A rule's no to one pod."""
    reference = reference_to(pod)
    return Refusal(rule=rule, message=f"{pod.key} {reason}", pod=reference)


def _waits(pod: Pod) -> bool:
    return pod.node_name is None and not pod.is_finished


def _divide(
    context: EligibilityContext, stages: Sequence[Stage], candidates: Sequence[int], *, is_few: bool
) -> tuple[list[int], dict[int, Refusal]]:
    """Indices without any objection, and the first objection to each of the others.

    ``is_few``: finding out which pods are alike would take longer than to ask about each.
    """
    accepted: list[int] = []
    refused: dict[int, Refusal] = {}
    pods = context.cluster.pods
    asked = [stage for stage in stages if stage.per != "debt" or context.debt_of]
    answered = [(stage.rules, None if is_few else _alike(stage, context), _Answers()) for stage in asked]
    for index in candidates:
        pod = pods[index]
        for rules, alike, answers in answered:
            key = None if alike is None else alike[index]
            if alike is None:
                objection = _first_objection(rules, pod, context)
            elif key in answers:
                objection = answers[key]
            else:
                objection = answers[key] = _first_objection(rules, pod, context)
            if objection is not None:
                refused[index] = refusal(objection[0], pod, objection[1])
                break
        else:
            accepted.append(index)
    return accepted, refused


class _Answers(dict[Hashable, tuple[str, str] | None]):
    """Rule and reason for all pods that are alike to a stage."""


def _alike(stage: Stage, context: EligibilityContext) -> Sequence[Hashable] | None:
    """For each pod what a stage's answers depend on; None: on the pod itself."""
    if stage.per == "kind":
        return context.kinds.kind_of
    if stage.per == "node":
        return [pod.node_name for pod in context.cluster.pods]
    return context.policy_budgets.alike if stage.per == "budget" else None


def _first_objection(rules: Sequence[Rule], pod: Pod, context: EligibilityContext) -> tuple[str, str] | None:
    for name, objection in rules:
        reason = objection(pod, context)
        if reason is not None:
            return name, reason
    return None


def _groups(
    context: EligibilityContext, movable: Sequence[int], methods: Mapping[int, MoveMethod]
) -> Iterator[DisruptionGroup]:
    evicted = [index for index in movable if index not in methods]
    yield from _kubernetes_groups(context, evicted, context.asked_kinds.kind_of)
    yield from method_groups(context, methods)
    yield from context.policy_budgets.groups(movable)
    yield from careful_groups(context, movable)
    yield from spent_groups(context, movable)


def _kubernetes_groups(
    context: EligibilityContext, movable: Sequence[int], kind_of: Sequence[int]
) -> Iterator[DisruptionGroup]:
    """One group a budget and one a workload, of the movable pods that are ready now."""
    members: dict[tuple[str, str, int], list[int]] = {}
    of_kind: dict[int, list[list[int]]] = {}
    for index in movable:
        kind = kind_of[index]
        if kind not in of_kind:
            spent = _spends(context, context.cluster.pods[index])
            of_kind[kind] = [members.setdefault(group, []) for group in spent]
        for group in of_kind[kind]:
            group.append(index)
    for rule, name, allowed in sorted(members):
        yield DisruptionGroup(rule, name, allowed, tuple(members[(rule, name, allowed)]))


def _spends(context: EligibilityContext, pod: Pod) -> Iterator[tuple[str, str, int]]:
    """Groups that moving the pod spends from: rule, name, and what is allowed in a wave.

    A pod that is not ready counts as missing already, so moving it spends nothing, unless its PodDisruptionBudget
    asks for it all the same.
    """
    is_ready = counts_as_ready(pod)
    for budget in context.budgets.of(pod):
        if is_ready or not budget.lets_unready_go:
            yield "PodDisruptionBudget", budget.budget.key, budget.allowed
    workload = context.workloads.of(pod)
    if workload is not None and is_ready:
        yield "WorkloadBudget", workload.workload.key, workload.allowed
