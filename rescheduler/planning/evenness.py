"""States, domain by domain, what binding spread constraints count among the pods of an instance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from rescheduler.model.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.spread import SpreadRule
from rescheduler.planning.instance import Evenness, Group, Kind, SpreadDomain
from rescheduler.planning.problem import Problem


def evenness_of(
    problem: Problem, local: IntArray, kinds: Sequence[Kind], groups: Sequence[Group]
) -> tuple[Evenness, ...]:
    """Spread constraints of the pods that may move or arrive; kinds with equal constraints share one.

    ``local`` maps node indices of the cluster to positions of the instance, int64[N].
    """
    bound: dict[Hashable, tuple[SpreadRule, BoolArray, list[int]]] = {}
    for number, kind in enumerate(kinds):
        rules = problem.entanglement.spread_rules(kind.pod) if problem.is_entangled(kind.pod) else ()
        labelled = np.ones(problem.node_count, dtype=np.bool_)
        for rule in rules:
            labelled &= problem.columns.domains.of(rule.topology_key)[0] != NOWHERE
        for rule in rules:
            counted = rule.counted_nodes & labelled
            found = bound.setdefault(_identity(rule, counted), (rule, counted, []))
            found[2].append(number)
    return tuple(
        _evenness(problem, local, kinds, groups, rule, counted, members) for rule, counted, members in bound.values()
    )


def _identity(rule: SpreadRule, counted: BoolArray) -> Hashable:
    numbers = (rule.topology_key, rule.max_skew, rule.min_domains, rule.own_weight)
    return *numbers, rule.pods.tobytes(), counted.tobytes()


def _evenness(
    problem: Problem,
    local: IntArray,
    kinds: Sequence[Kind],
    groups: Sequence[Group],
    rule: SpreadRule,
    counted: BoolArray,
    members: list[int],
) -> Evenness:
    counts = np.zeros(problem.columns.pod_count, dtype=np.bool_)
    counts[rule.pods] = True
    codes, values = problem.columns.domains.of(rule.topology_key)
    sites = problem.start.sites(rule.pods)
    tally = np.bincount(codes[sites[counted[sites]]], minlength=len(values) + 1)
    homes = {number: int(problem.start.node_of[group.pods[0]]) for number, group in enumerate(groups)}
    leaving = [number for number, group in enumerate(groups) if counts[group.pods[0]] and counted[homes[number]]]
    domains = []
    for code in range(len(values)):
        nodes = np.flatnonzero((codes == code) & (local != NOWHERE))
        domains.append(
            SpreadDomain(
                nodes=tuple(local[nodes].tolist()),
                counted=tuple(local[nodes[counted[nodes]]].tolist()),
                count=int(tally[code]),
                groups=tuple(number for number in leaving if codes[homes[number]] == code),
                is_least=bool(counted[codes == code].any()),
            )
        )
    number_of_domains = sum(domain.is_least for domain in domains)
    return Evenness(
        kinds=tuple(members),
        counted_kinds=tuple(number for number, kind in enumerate(kinds) if counts[kind.pod]),
        domains=tuple(domains),
        most=rule.max_skew - rule.own_weight,
        counts_itself=all(counts[kinds[member].pod] for member in members),
        is_from_zero=number_of_domains < max(1, rule.min_domains),
    )
