"""Two nodes in each of two zones with a workload of twelve, and ledgers of earlier evictions of it."""

from __future__ import annotations

from typing import Any

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.disruption.cases import policy

OPEN = {"singleReplicas": "Allow", "ownerless": "Allow", "notReady": "Allow", "workloads": {"maxUnavailable": 99}}


def world(*others: Any, count: int = 12, **fields: Any) -> Cluster:
    """``web-0`` to ``web-11`` over nodes n0 to n3, of which even ones are in zone a and odd ones in zone b."""
    nodes = [node(f"n{number}", cpu="64", zone="ab"[number % 2]) for number in range(4)]
    pods = [pod(f"web-{number:02d}", node=f"n{number % 4}") for number in range(count)]
    return cluster(*nodes, *pods, workload("web", count), *others, **{"taken_at": NOW, **fields})


def entry(number: int = 1, **fields: Any) -> LedgerEntry:
    """An eviction of a pod of ``web`` from n0 ten minutes ago, repaid since; the pod itself is gone."""
    usual: dict[str, Any] = {
        "plan": 1, "pod": PodReference("default", f"web-old-{number}", f"uid-old-{number}"), "from_node": "n0",
        "to_node": "n1", "at": NOW - 600, "state": EntryState.REPAID, "workload": "uid-default-web", "zone": "a",
        "labels": {"app": "web"}, "desired": 12,
    }  # fmt: skip
    return LedgerEntry(number=number, **{**usual, **fields})


def debt(number: int = 1, **fields: Any) -> LedgerEntry:
    """The same, and nobody knows of a replacement yet."""
    return entry(number, **{"state": EntryState.OPEN, **fields})


def ledger(*entries: LedgerEntry) -> Ledger:
    """A ledger of these."""
    return Ledger(entries=entries)


def decided(cluster: Cluster, *budgets: dict[str, Any], ledger: Ledger = EMPTY_LEDGER) -> Eligibility:
    """Eligibility under budgets alone."""
    return decide_eligibility(cluster, policy(disruption={**OPEN, "budgets": list(budgets)}), ledger=ledger)


def groups(found: Eligibility) -> dict[str, tuple[int, int | None, int]]:
    """Of each group of a budget: how many in a wave, how many in the plan, and of how many pods."""
    own: list[DisruptionGroup] = [group for group in found.groups if group.rule == "Budget"]
    return {group.name: (group.allowed_per_wave, group.allowed_in_plan, len(group.pods)) for group in own}


def movable(cluster: Cluster, found: Eligibility) -> list[str]:
    """Names of the pods that may be moved."""
    return [cluster.pods[index].name for index in found.movable]


def reason(found: Eligibility, rule: str = "Budget") -> str:
    """What the rule says against the pods that it refuses, the pod's own name left out; the one thing, for all."""
    told = {
        item.message.removeprefix(f"{item.pod.key} ")
        for item in found.refusals.values()
        if item.rule == rule and isinstance(item.pod, PodReference)
    }
    (only,) = told
    return only


def unready(name: str, on: str, **fields: Any) -> Pod:
    """A pod of ``web`` that does not work."""
    return pod(name, node=on, owner="web", is_ready=False, **fields)
