"""What a pod's own scheduler demands of nodes is proved from data alone."""

from __future__ import annotations

import pytest

from rescheduler.checker.checker import check_plan, check_rest
from rescheduler.model.objects.constraints import NodeSelectorTerm, Requirement
from rescheduler.model.objects.resources import CPU
from rescheduler.model.plan.scheduler_rules import ArrivalRules, LoadLimit, SchedulerRules
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.model.usage.usage_readings import Reading, usage_of
from tests.builders import NOW, cluster, node, pod, taint
from tests.unit.checker.cases import anything_goes, move, place, plan

HERE = node("here", labels={"pool": "x"})
THERE = node("there", taints=[taint("t")])
IN_POOL = (NodeSelectorTerm((Requirement("pool", "In", ("x",)),)),)
WORLD = cluster(
    HERE, THERE, node("full", "1"), pod("w-0", node="here"), pod("f-0", node="full"), pod("p-0", scheduler_name="other")
)


def broken(rules: ArrivalRules, *steps: object) -> list[str]:
    """Rules that a plan breaks, of a fresh plan and of the rest of one alike."""
    checked = plan(*steps)  # type: ignore[arg-type]
    found = [item.rule for item in check_plan(WORLD, checked, anything_goes(WORLD), rules)]
    assert found == [item.rule for item in check_rest(WORLD, checked, anything_goes(WORLD), rules)]
    return found


def measured(age: float = 0.0, **percent: float) -> UsageWindows:
    """Cpu load of nodes over five minutes."""
    readings = {name: (Reading("CPU", "AVG", value),) for name, value in percent.items()}
    return UsageWindows({300.0: usage_of([item.name for item in WORLD.nodes], readings, NOW - age, 300.0)})


def test_added_affinity_binds_the_schedulers_own_pods() -> None:
    """A move out of the pool breaks it for pods of that scheduler and of no other; no terms at all match nothing."""
    tolerant = SchedulerRules(filters=frozenset({"NodeAffinity"}), required_affinity=IN_POOL)
    away = move("w-0", "here", "there")
    assert broken(ArrivalRules({"default-scheduler": tolerant}), away) == ["NodeAffinity"]
    assert broken(ArrivalRules({"default-scheduler": tolerant}), place("p-0", "here")) == []
    assert broken(ArrivalRules({"other": tolerant}), place("p-0", "there")) == ["NodeAffinity"]
    nothing = SchedulerRules(required_affinity=())
    assert broken(ArrivalRules({"other": nothing}), place("p-0", "here")) == ["NodeAffinity"]


@pytest.mark.parametrize(
    ("windows", "is_hot"),
    [
        (measured(here=80.1), True),
        (measured(here=80), False),
        (measured(here=80.1, age=301), False),
        (measured(here=float("nan")), False),
        (measured(there=99), False),
        (UsageWindows({}), False),
        (None, False),
    ],
)
def test_load_above_the_limit_closes_a_node(windows: UsageWindows | None, is_hot: bool) -> None:
    """Only fresh and known load strictly above the limit counts."""
    limited = ArrivalRules({"other": SchedulerRules(load_limits=(LoadLimit(CPU, 80.0, 300.0),))}, windows)
    assert broken(limited, place("p-0", "here")) == (["NodeUsage"] if is_hot else [])


def test_load_over_another_period_says_nothing() -> None:
    """The limit names its window."""
    limited = ArrivalRules({"other": SchedulerRules(load_limits=(LoadLimit(CPU, 80.0, 600.0),))}, measured(here=99))
    assert broken(limited, place("p-0", "here")) == []


def test_filters_that_a_scheduler_leaves_out_bind_nobody() -> None:
    """A tainted node is open to the pods of a scheduler without that filter; ours beside kube-scheduler's stay."""
    without = ArrivalRules({"other": SchedulerRules(filters=frozenset({"NodeResourcesFit"}))})
    assert broken(ArrivalRules(), place("p-0", "there")) == ["TaintToleration"]
    assert broken(without, place("p-0", "there")) == []
    assert broken(without, move("w-0", "here", "there")) == ["TaintToleration"]
    assert broken(without, place("p-0", "full")) == ["NodeResourcesFit"]


def test_ignored_resources_may_be_lacking() -> None:
    """Extended resources by name or by group, for the pods of that scheduler alone; never cpu."""
    asking = pod("g-0", extended={"a.b/gpu": "1"}, scheduler_name="other")
    world = cluster(HERE, asking)
    for rules, rule in (
        (SchedulerRules(ignored_resources=("a.b/gpu",)), []),
        (SchedulerRules(ignored_groups=("a.b",)), []),
        (SchedulerRules(ignored_resources=("a.b/other",), ignored_groups=("a",)), ["NodeResourcesFit"]),
    ):
        checked = plan(place("g-0", "here"))
        found = check_plan(world, checked, anything_goes(world), ArrivalRules({"other": rules}))
        assert [item.rule for item in found] == rule
    assert not SchedulerRules(ignored_resources=("cpu",)).ignores("cpu")
