"""Tests of the checker on random plans, against a brute force over every order of every wave."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.checker.checker import check_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.plan.plan import Plan
from tests.builders import NOW, cluster, node, pod, selector
from tests.unit.checker.cases import anything_goes, move, place, plan
from tests.unit.checker.naive import misfits

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
NODES = (
    node("n1", cpu="4", zone="a"),
    node("n2", cpu="4", zone="a"),
    node("n3", cpu="3", zone="b"),
    node("n4", cpu="4"),
)
NAMES = [item.name for item in NODES]
WITHIN_A_WAVE = {"NodeResourcesFit", "NodePorts", "InterPodAffinity", "PodTopologySpread"}

TERMS = st.builds(
    PodAffinityTerm, st.sampled_from([ZONE, HOST]), st.sampled_from(["x", "y"]).map(lambda a: selector(app=a))
)
SPREADS = st.builds(
    TopologySpreadConstraint,
    st.sampled_from([ZONE, HOST]),
    st.integers(1, 2),
    selector=st.sampled_from(["x", "y"]).map(lambda app: selector(app=app)),
    min_domains=st.integers(1, 3),
)


def few(items: st.SearchStrategy[Any], most: int = 1) -> st.SearchStrategy[tuple[Any, ...]]:
    """Mostly none, sometimes some."""
    return st.one_of(st.just(()), st.just(()), st.lists(items, max_size=most).map(tuple))


PODS = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["0", "1", "2"]),
        "labels": st.sampled_from([{"app": "x"}, {"app": "y"}]),
        "affinity": few(TERMS, 2),
        "anti_affinity": few(TERMS),
        "topology_spread": few(SPREADS, 2),
        "ports": st.sampled_from([(), (), (), (80,)]),
    }
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Cluster, Plan]:
    """A tiny cluster, which may break its own rules already, and a random plan."""
    pods, steps = [], []
    for number in range(draw(st.integers(1, 5))):
        origin = draw(st.sampled_from(NAMES))
        wave = draw(st.sampled_from([0, 1, 1, 2]))
        target = draw(st.sampled_from([name for name in NAMES if name != origin]))
        going = None if wave else draw(st.sampled_from([None, None, NOW]))
        pods.append(pod(f"run-{number}", node=origin, deletion_at=going, **draw(PODS)))
        if wave:
            steps.append((wave, move(f"run-{number}", origin, target, wave)))
    for number in range(draw(st.integers(0, 3))):
        pods.append(pod(f"new-{number}", **draw(PODS)))
        steps.append((0, place(f"new-{number}", draw(st.sampled_from(NAMES)), draw(st.integers(0, 2)))))
    return cluster(*NODES, *pods), plan(*(step for _, step in sorted(steps, key=lambda item: item[0])))


@settings(max_examples=200, deadline=None)
@given(cases())
def test_the_checker_agrees_with_brute_force_over_all_orders(case: tuple[Cluster, Plan]) -> None:
    """A move is refused if and only if it would not fit in some order; placements, only if not as they are listed."""
    world, proposed = case
    violations = check_plan(world, proposed, anything_goes(world))
    refused = {item.message.partition(" ")[0] for item in violations if item.rule in WITHIN_A_WAVE}
    naive = misfits(world, proposed)
    assert {key for key in refused if key.startswith("default/run-")} == naive.stuck
    wave_of = {item.pod.key: item.wave for item in proposed.placements}
    assert naive.unplaceable <= {wave_of[key] for key in refused if key in wave_of} <= naive.misordered
