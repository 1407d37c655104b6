"""Proves what is left of a foretold plan on a fresh snapshot: limits, floors, and that no replacement would wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.checker.checker import check_rest
from rescheduler.checker.violation import Violation
from rescheduler.descheduler.cycle import Chosen
from rescheduler.descheduler.landing import foretell
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.leaving_taint import without_leaving_taints
from rescheduler.model.plan.plan import Landing, Plan
from rescheduler.policy.fields.policy import Policy, with_unready, with_unrest
from rescheduler.scheduling.schedulers import Schedulers


def prove_foretold(
    cluster: Cluster, rest: Plan, policy: Policy, selection: Selection, schedulers: Schedulers, plugins: frozenset[str]
) -> Sequence[Violation]:
    """What speaks against the rest; empty: it still holds. ``plugins``: whose victims need not be Ready.

    Which of the pods must be Ready is the gate's question, pod by pod.
    """
    cluster = schedulers.configured(without_leaving_taints(cluster))
    judged_by = with_unready(policy) if any(move.objective in plugins for move in rest.moves) else policy
    eligibility = decide_eligibility(cluster, with_unrest(judged_by), selection, schedulers.names)
    return check_rest(cluster, rest, eligibility, schedulers.rules(cluster)) or [*_waiting(cluster, rest, schedulers)]


def _waiting(cluster: Cluster, rest: Plan, schedulers: Schedulers) -> Iterator[Violation]:
    """Replacements that would find no node any more, in the order in which their pods leave."""
    pods = cluster.pod_by_key
    victims = [
        Chosen(pods[move.pod.key], move.objective, "", move.reason, None)
        for move in rest.moves
        if move.pod.key in pods and move.landing is not Landing.NO_REPLACEMENT
    ]
    for victim, landed in zip(victims, foretell(cluster, victims, schedulers), strict=True):
        if landed.landing is Landing.PENDING:
            yield Violation("Destination", f"{victim.pod.key} stays: {landed.text}", victim.pod.key)
