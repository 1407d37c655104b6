"""What a policy names and no object has is told, each with its place; what something has is not."""

from __future__ import annotations

import pytest

from rescheduler.policy.telling.unmatched import unmatched
from tests.builders import cluster, node, pod
from tests.unit.policy.policies import policy

WORLD = cluster(node("a", labels={"pool": "blue"}), pod("web-1", node="a"), pod("web-2", node="a"))
SETS = "objectives: [{name: SeparateAntagonists, args: {sets: [{name: a, members: [%s]}]}}]"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("scope: {namespaces: {include: [default, gone]}}",
         "scope.namespaces.include: the cluster has no pod in namespace gone"),
        ("scope: {labelSelector: {matchLabels: {app: gone}}}",
         "scope.labelSelector: the cluster has no pod with app=gone"),
        ("scope: {nodeSelector: {pool: green}}", "scope.nodeSelector: the cluster has no node with pool=green"),
        ("objectives: [{name: EmptyNodes, args: {nodeSelector: {pool: green}}}]",
         "objectives[0].args.nodeSelector: the cluster has no node with pool=green"),
        ("objectives: [{name: EmptyNodes, args: {price: cost}}]",
         "objectives[0].args.price: no node has the label cost; each counts as 1"),
        (SETS % "{matchLabels: {app: web}}, {matchLabels: {app: gone}}",
         "objectives[0].args.sets[0].members[1]: the cluster has no pod with app=gone"),
        ("objectives: [{name: Defragment, args: {shapes: [{cpu: 1}, {example.com/gone: 1}]}}]",
         "objectives[0].args.shapes[1]: no node offers example.com/gone"),
        ("disruption: {budgets: [{maxMoving: 1}, {namespaces: [default, gone], maxMoving: 1}]}",
         "disruption.budgets[1].namespaces: the cluster has no pod in namespace gone"),
        ("disruption: {budgets: [{labelSelector: {matchLabels: {app: gone}}, maxMoving: 1}]}",
         "disruption.budgets[0].labelSelector: the cluster has no pod with app=gone"),
        ("disruption: {budgets: [{per: Workload, maxUnavailable: 2}]}",
         ("disruption.budgets[0].maxUnavailable: 2 would allow all replicas of ReplicaSet default/web to be down; only "
          "disruption.workloads.maxUnavailable keeps some of them")),
    ],
)  # fmt: skip
def test_each_name_that_nothing_has_is_told(body: str, text: str) -> None:
    """One sentence, with the place in the policy."""
    assert list(unmatched(policy(body), WORLD)) == [text]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "scope: {namespaces: {include: [default]}, nodeSelector: {pool: blue}}",
        "scope: {labelSelector: {matchLabels: {app: web}}}",
        "objectives: [{name: EmptyNodes, args: {nodeSelector: {pool: blue}, price: pool}}, {name: SpreadLoad}]",
        "objectives: [{name: EmptyNodes, args: {price: {default: 3}}}]",
        SETS % "{}",
        "objectives: [{name: Defragment, args: {shapes: [{cpu: 1000}, {pods: 1}]}}]",
        "disruption: {budgets: [{namespaces: [default], labelSelector: {matchLabels: {app: web}}, maxMoving: 1}]}",
        "disruption: {budgets: [{per: Workload, maxUnavailable: 1}, {maxUnavailable: 2}]}",
    ],
)
def test_what_something_has_is_not_told(body: str) -> None:
    """An empty selector names nothing, a shape may be larger than every node, and no label is asked for by default."""
    assert list(unmatched(policy(body), WORLD)) == []
