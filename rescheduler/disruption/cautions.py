"""What would hold ``run`` back, as warnings for those who plan and apply by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rescheduler.disruption.budgets.budget_status import called, rate_detail
from rescheduler.disruption.earlier.back_off import EvictionBackOff
from rescheduler.disruption.earlier.ramp_up import allowance, let_go_at
from rescheduler.disruption.eligibility_context import EligibilityContext, revision_of
from rescheduler.disruption.gate.breaker import breaker_objection, judge_breaker
from rescheduler.disruption.gate.health import lacking_head_room, unhealthy
from rescheduler.disruption.rules.scope import minimum_age
from rescheduler.disruption.rules.unsettled import RUN, unstable_reason
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Move, Plan
from rescheduler.policy.fields.policy import Permission, Policy
from rescheduler.policy.fields.values import format_duration


def cautions(cluster: Cluster, plan: Plan, policy: Policy, ledger: Ledger, *, is_daemon: bool = False) -> Iterator[str]:
    """One sentence for each; nothing for a plan without moves. ``is_daemon``: its plan keeps rates and age already."""
    if not plan.moves:
        return
    for finding in unhealthy(cluster, policy.health, ledger=ledger):
        yield f"run would wait now: {finding}"
    lacking = lacking_head_room(cluster, plan.moves, plan.placements, policy.health)
    if lacking is not None:
        yield f"run would not do this: {lacking}"
    if policy.disruption.unsettled is Permission.ALLOW:
        yield from _in_motion(cluster, plan.moves, policy, ledger)
    if ledger.entries or ledger.breaker.opened_at is not None:
        yield from _remembered(cluster, plan.moves, policy, ledger)
    if not is_daemon:
        yield from _rested_on_defaults(cluster, plan, policy, ledger)


def _in_motion(cluster: Cluster, moves: Sequence[Move], policy: Policy, ledger: Ledger) -> Iterator[str]:
    """Workloads that roll out, are being scaled, or whose pods may not come back."""
    context = EligibilityContext(cluster, policy, ledger=ledger, is_daemon=True)
    frozen = []
    of_alike: dict[tuple[object, ...], str | None] = {}
    for move in moves:
        pod = cluster.pod_by_key.get(move.pod.key)
        if pod is None:
            continue
        # Replicas of one revision share owner and specification, and with them every reason: each is looked for once.
        alike = (pod.namespace, revision_of(pod), id(pod.spec), context.is_own_surge(pod))
        if alike not in of_alike:
            of_alike[alike] = unstable_reason(pod, context)
        reason = of_alike[alike]
        frozen += [] if reason is None else [f"{move.pod.key} {reason.removesuffix(RUN).rstrip()}"]
    if frozen:
        yield f"run would leave {len(frozen)} of these pods alone for now: {frozen[0]}"


def _remembered(cluster: Cluster, moves: Sequence[Move], policy: Policy, ledger: Ledger) -> Iterator[str]:
    """What earlier evictions say."""
    rules, now = policy.disruption, cluster.taken_at
    objection = breaker_objection(judge_breaker(ledger, rules.breaker, now), rules.breaker, now)
    if objection is not None:
        yield f"run would wait now: {objection}"
    back_off = EvictionBackOff(ledger, rules.back_off, now)
    resting: Counter[str] = Counter()
    for move in moves:
        pod = cluster.pod_by_key.get(move.pod.key)
        workload = None if pod is None else cluster.workload_of(pod)
        if pod is not None and workload is not None:
            reason = back_off.objection(pod, workload.uid)
            resting.update([] if reason is None else [f"{pod.key} {reason}"])
    if resting:
        yield f"run would leave {len(resting)} of these pods alone for now: {next(iter(resting))}"


def _rested_on_defaults(cluster: Cluster, plan: Plan, policy: Policy, ledger: Ledger) -> Iterator[str]:
    """What binds ``run`` though the policy does not say it, and how ``run`` begins."""
    moved = tuple(pod for move in plan.moves if (pod := cluster.pod_by_key.get(move.pod.key)) is not None)
    # Ages, rates and their windows ask nothing of any other pod.
    context = EligibilityContext(replace(cluster, pods=moved), policy, ledger=ledger, is_daemon=True)
    young = [f"{pod.key} {reason}" for pod in moved if (reason := minimum_age(pod, context)) is not None]
    if young:
        yield f"run would leave {len(young)} of these pods alone for now: {young[0]}"
    for status in context.policy_budgets.statuses:
        places = Counter(map(status.coverage.place_of, moved))
        places.pop(NOWHERE, None)
        over = [place for place, number in sorted(places.items()) if number > status.left_of_rate[place]]
        if over:
            number = sum(min(number, int(status.left_of_rate[place])) for place, number in places.items())
            detail = rate_detail(status, over[0])
            yield f"run would evict {number} of these {len(moved)} pods now: {called(status, over[0])}: {detail}"
    times = let_go_at(plan, cluster, policy.disruption, ledger)
    number = sum(at <= cluster.taken_at for at in times.values())
    if number < len(times) and policy.disruption.ramp_up is not None:
        allowed = allowance(ledger, policy.disruption.ramp_up, cluster.taken_at).allowed
        within = format_duration(policy.disruption.ramp_up.window)
        yield f"run would evict {number} of these {len(times)} pods now: its ramp-up allows {allowed} within {within}"
