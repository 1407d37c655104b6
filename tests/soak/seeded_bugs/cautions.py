"""Bugs in what makes a daemon wait: breaker, back-off, health, quiet; and in which pods and nodes it leaves alone."""

from __future__ import annotations

from typing import Any, Final

from rescheduler.composition.live import executors
from rescheduler.daemon.rounds import vigilance
from rescheduler.daemon.rounds.past_states import PastStates
from rescheduler.disruption.earlier.back_off import EvictionBackOff
from rescheduler.disruption.gate import breaker, gate, health
from rescheduler.execution.run import plan_run
from rescheduler.model.daemon.ledger import Breaker
from rescheduler.model.objects.cluster import Cluster
from tests.soak.seeded_bugs.seams import (
    SeededBug,
    always,
    becomes,
    changed,
    changed_everywhere,
    together,
    without_rules,
)

BREAKING: Final = "breaker: {failures: 2, of: 10, repayWithin: 1m, oldest: 15m, rest: 1h}"
FAILING: Final = {"share_ill": 0.4, "malice": 0.1}
LENIENT: Final = (
    "localStorage: Allow; persistentVolumes: Allow; ownerless: Allow; singleReplicas: Allow; "
    "workloads: {maxUnavailable: 90%}"
)
ODD: Final = {"world_pace": 4.0, "malice": 0.6}
BACKING: Final = "backOff: {first: 1h, longest: 24h, rest: 1h}"


def _never_open(ledger: Any, rules: Any, now: float, bereft: Any = ()) -> Breaker:
    return ledger.breaker  # type: ignore[no-any-return]


def _closes_by_itself(original: Any) -> Any:
    def judge(ledger: Any, rules: Any, now: float, bereft: Any = ()) -> Breaker:
        if ledger.breaker.opened_at is not None and now - ledger.breaker.opened_at > 120.0:
            return Breaker(since=now)
        return original(ledger, rules, now, bereft)  # type: ignore[no-any-return]

    return judge


BUGS: Final = (
    SeededBug(
        "breaker never opens", "failed evictions open nothing", ("I18",),
        changed_everywhere(breaker, "judge_breaker", becomes(_never_open)), policy=BREAKING, settings=FAILING,
    ),
    SeededBug(
        "breaker closes by itself", "an open breaker is closed after two minutes, without a trial", ("I18",),
        changed_everywhere(breaker, "judge_breaker", _closes_by_itself), policy=BREAKING, settings=FAILING,
    ),
    SeededBug(
        "breaker not asked", "an open breaker forbids nothing", ("I18",),
        together(
            changed_everywhere(breaker, "breaker_objection", always(None)),
            changed_everywhere(breaker, "is_on_trial", always(False)),
        ),
        policy=BREAKING, settings=FAILING,
    ),
    SeededBug(
        "strays do not count", "a replacement that went elsewhere is no reason to wait", ("I9",),
        changed(EvictionBackOff, "seconds_left", always(0.0)),
        policy=BACKING, settings={"malice": 0.2, "nodes": 3},
    ),
    SeededBug(
        "no rest", "what was just moved is moved again", ("I9",),
        changed(EvictionBackOff, "_rests", always(None)),
        policy=BACKING, settings={"malice": 0.2, "nodes": 3},
    ),
    SeededBug(
        "blind", "the health of the cluster is not looked at", ("I17",),
        changed_everywhere(health, "unhealthy", always(())),
        health="unreadyNodes: 5%, unreadyInZone: 20%, calm: 10m", settings={"world_pace": 6.0},
    ),
    SeededBug(
        "never calm", "after a freeze it goes on at once", ("I17",),
        changed(vigilance.Vigilance, "findings", lambda _: lambda self, cluster, ledger: health.unhealthy(
            cluster, self._rules, ledger=ledger)),
        health="unreadyNodes: 5%, unreadyInZone: 20%, calm: 10m", settings={"world_pace": 6.0},
    ),
    SeededBug(
        "scaling ignored", "a workload that was just scaled is moved", ("I11",), without_rules("Rescaled"),
        policy="unsettled: Deny; quiet: 5m", settings={"world_pace": 8.0},
    ),
    SeededBug(
        "marks ignored", "pods that people marked are moved", ("I10",),
        without_rules("DoNotEvict", "SafeToEvict", "PreferNoEviction", "DoNotDisrupt"),
        policy=LENIENT, top="scope: {systemNamespaces: Allow}", settings={"malice": 1.0, "nodes": 12},
    ),
    SeededBug(
        "excluded namespaces", "the policy's scope of namespaces is not asked", ("I10",), without_rules("Namespace"),
        top="scope: {namespaces: {exclude: [shop]}}",
    ),
    SeededBug(
        "empty means all", "the policy's label selector is not asked", ("I10",), without_rules("LabelSelector"),
        top="scope: {labelSelector: {matchLabels: {app: a1}}}",
    ),
    SeededBug(
        "local storage", "pods with local storage are moved", ("I10",), without_rules("LocalStorage"),
        policy=LENIENT.replace("localStorage: Allow", "localStorage: Deny"),
        top="scope: {systemNamespaces: Allow}", settings={"malice": 1.0, "nodes": 12},
    ),
    SeededBug(
        "any controller", "pods of custom controllers, and those that run to their end, are moved", ("I10",),
        without_rules("CustomController", "Job"), settings=ODD,
    ),
    SeededBug(
        "forged owners", "what stands in a pod's references is believed", ("I1", "I4", "I10"),
        changed(Cluster, "owner_problem", always(None)), settings=ODD,
    ),
    SeededBug(
        "owners that are gone", "an owner that a pod names need not be there", ("I10",),
        changed(Cluster, "would_hold", always(False)), policy=LENIENT, settings=ODD,
    ),
    SeededBug(
        "lies are believed", "moves rest on measured load whatever is known against it", ("I14",),
        changed(gate, "distrusted", always(())), settings={"is_measured": True, "malice": 0.1},
    ),
    SeededBug(
        "system namespaces", "pods of the cluster's own namespaces are moved", ("I10",),
        without_rules("SystemNamespace"), policy=LENIENT, settings=ODD,
    ),
    SeededBug(
        "not ready", "pods that are not Ready, and those on nodes that are not, are moved", ("I10",),
        without_rules("NotReady", "NodeNotReady"), settings={"world_pace": 4.0, "malice": 0.5},
    ),
    SeededBug(
        "too young", "the minimum age is not asked", ("I10",), without_rules("MinimumAge"),
        top="scope: {minimumAge: 30m}", settings={"malice": 0.1},
    ),
    SeededBug(
        "no proof", "neither proof nor gate asks whether a node takes the pods that are led to it", ("I6",),
        together(changed(executors, "prove_rest", always(())), changed(gate, "_ban", always(None))),
        policy="workloads: {maxUnavailable: 90%}", settings={"has_proof": True, "malice": 0.5, "dedicated": 12.0},
    ),
    SeededBug(
        "the past is believed", "an older state than one that was shown before is acted on", ("I7",),
        changed(PastStates, "refuse_older", lambda _: lambda _past, cluster: cluster),
        settings={"forced": (("read", "stale"),) * 200, "malice": 0.1},
    ),
    SeededBug(
        "never cleans up", "placeholders outlive the process by hours, and nobody removes them", ("I22",),
        together(
            changed(plan_run.PlanRun, "close", always(None)),
            changed(executors, "HoldSettings", lambda original: lambda _, namespace: original(86_400.0, namespace)),
        ),
        top="guidance: Hold", settings={"kills": 6.0, "malice": 0.1},
    ),
)  # fmt: skip
