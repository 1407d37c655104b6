"""Tests of pods whose scheduling cannot be predicted."""

from __future__ import annotations

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.plan.disruption import Selection
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod
from tests.unit.disruption.cases import rule_against, verdict


def test_a_predicate_that_is_not_modelled_keeps_the_pod_and_is_named() -> None:
    """Running and pending pods with such a rule are left alone, and told why."""
    for subject in (pod("web-0", node="n1", unmodelled=("DRA claims",)), pod("web-0", unmodelled=("DRA claims",))):
        found = verdict(subject)
        assert found is not None
        assert found.rule == "UnmodelledPredicate"
        assert "DRA claims" in found.message


def test_pods_of_unknown_schedulers_are_left_alone() -> None:
    """Nobody can say where another scheduler would put a pod."""
    for subject in (pod("web-0", node="n1", scheduler_name="volcano"), pod("web-0", scheduler_name="volcano")):
        assert rule_against(subject) == "UnknownScheduler"


def test_schedulers_that_are_configured_are_known() -> None:
    """A name that is passed in is predicted like the default one."""
    world = cluster(node("n1"), pod("web-0", scheduler_name="volcano"))
    known = decide_eligibility(world, Policy(), Selection(), frozenset({"default-scheduler", "volcano"}))
    assert known.helpable == (0,)


def test_gated_pods_are_not_helped() -> None:
    """No room makes a gated pod run."""
    found = verdict(pod("web-0", scheduling_gates=("example.com/wait",)))
    assert found is not None
    assert found.rule == "SchedulingGated"
    assert "example.com/wait" in found.message


def test_our_own_placeholders_are_not_helped() -> None:
    """A placeholder waits on purpose."""
    assert rule_against(pod("hold", labels={"app.kubernetes.io/managed-by": "rescheduler"})) == "Placeholder"
