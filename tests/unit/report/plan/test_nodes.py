"""What nodes hold before and after a plan."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from rescheduler.model.objects.resources import CPU, PODS
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.report.html.bars import bars_after
from rescheduler.report.plan.flows import flows_of
from rescheduler.report.plan.nodes import IN_USE, Walk, in_one_unit, measured_resources, resources_shown, uses_of
from tests.builders import cluster, node, pod
from tests.unit.report.large_plans import chain, spreading
from tests.unit.report.plans import small_cluster, small_plan


def test_moves_and_placements_change_both_ends() -> None:
    """What leaves one node arrives on the other; a placed pod is added."""
    uses = {use.node.name: use for use in uses_of(small_plan(), small_cluster())}
    assert (uses["n1"].before[CPU], uses["n1"].after[CPU]) == (2000, 4000)
    assert (uses["n2"].before[CPU], uses["n2"].after[CPU]) == (3000, 4000)
    assert (uses["n1"].before[PODS], uses["n1"].after[PODS]) == (2, 2)


def test_nodes_that_the_plan_leaves_alone_are_shown_only_when_asked_for() -> None:
    """A report of five thousand nodes shows those that matter."""
    empty = small_plan(moves=(), placements=())
    assert uses_of(empty, small_cluster()) == ()
    assert [use.node.name for use in uses_of(empty, small_cluster(), and_others=1)] == ["n1"]


def test_a_plan_of_another_cluster_shows_nothing_wrong() -> None:
    """Pods and nodes that the cluster does not have are left out."""
    assert uses_of(small_plan(), cluster(node("other"))) == ()


def test_a_resource_is_shown_where_the_plan_changes_it() -> None:
    """CPU and memory always, others only if a pod brings or takes them."""
    with_gpu = cluster(
        node("n1", extended={"example.com/gpu": "2"}),
        node("n2", extended={"example.com/gpu": "2"}),
        pod("web-1", node="n1", extended={"example.com/gpu": "1"}),
        pod("big-1", "3"),
    )
    assert resources_shown(uses_of(small_plan(), with_gpu)) == ("cpu", "memory", "example.com/gpu")
    assert resources_shown(uses_of(small_plan(), small_cluster())) == ("cpu", "memory")


def test_wave_by_wave_leads_to_the_same_end_as_all_at_once() -> None:
    """Each step begins where the one before ended."""
    found, plan = spreading(30, 90, 12)
    walk, last = Walk(found), {}
    for _, flows in groupby(flows_of(plan), key=lambda flow: flow.wave):
        for use in walk.step(tuple(flows)):
            assert dict(use.before) == last.get(use.node.name, dict(use.before))
            last[use.node.name] = dict(use.after)
    whole = {use.node.name: dict(use.after) for use in uses_of(plan, found)}
    assert {name: {key: amount for key, amount in use.items() if amount} for name, use in last.items()} == {
        name: {key: amount for key, amount in use.items() if amount} for name, use in whole.items()
    }


def test_nothing_appears_and_nothing_is_lost() -> None:
    """What all nodes hold together changes by the pending pods alone."""
    found, plan = chain()
    uses = uses_of(plan, found)
    assert sum(use.after[CPU] - use.before[CPU] for use in uses) == 6000
    assert sum(use.after[PODS] - use.before[PODS] for use in uses) == 2


def test_cores_are_told_in_decimals_and_never_with_an_exponent() -> None:
    """However many."""
    assert [in_one_unit(CPU, amount) for amount in (0, 250, 1500, 99_999_999, 10**8, 10**12, -500)] == [
        "0", "0.25", "1.5", "100000", "100000", "1000000000", "-0.5",
    ]  # fmt: skip


def test_measured_use_moves_with_its_pod_and_of_unknown_nodes_nothing_is_told() -> None:
    """Whole millicores, the node's own use counted in; nothing for a node whose load is not known."""
    found = small_cluster()
    pods, nodes = len(found.pods), len(found.nodes)
    of_pods = np.arange(1.0, pods + 1)[None, :] * 100.4
    known = np.array([node.name != "n2" for node in found.nodes])
    observed = ObservedUse(("cpu",), np.full((1, nodes), 4000.0), of_pods, np.full((1, nodes), 50.0), known)
    uses = {use.node.name: use for use in uses_of(small_plan(), found, observed=observed)}
    name, number = f"cpu{IN_USE}", {pod.name: row for row, pod in enumerate(found.pods)}
    share = {key: round(100.4 * (row + 1)) for key, row in number.items()}
    on_first = sum(share[pod.name] for pod in found.pods_by_node["n1"])
    assert uses["n1"].before[name] == on_first + 50
    assert uses["n1"].after[name] == on_first + 50 - share["web-1"] + share["big-1"]
    assert uses["n1"].offered[name] == 4000
    assert name not in uses["n2"].offered
    (bar,) = bars_after(uses["n2"], [name])
    assert (bar.label, bar.figures, list(bar.parts)) == (name, "", [])
    assert measured_resources(uses.values()) == (name,)
