"""What is said of a few pods is what would be said of them among all: a verdict costs what its pods cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.disruption.earlier.open_evictions import with_debts
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.disruption.gate.gate import ALL_METHODS, GateContext, permit_wave
from rescheduler.model.daemon.ledger import EntryState, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, reference_to
from rescheduler.policy.fields.policy import Permission
from tests.builders import budget, cluster, node, pod, workload
from tests.unit.cycle.test_cycle_surges import clusters, policies
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry, ledger

BUDGETS: Any = (
    [],
    [{"maxMoving": 1}],
    [{"per": "Workload", "maxUnavailable": "50%"}, {"per": "Node", "maxMoving": 1}],
    [{"per": "Namespace", "rate": {"maxEvictions": 1, "window": "1h"}}, {"maxUnavailable": 2}],
)


@st.composite
def ledgers(draw: st.DrawFn, seen: Cluster) -> Ledger:
    """Some pods left lately, of whom some are still owed a replacement."""
    left = draw(st.lists(st.sampled_from([one for one in seen.pods if one.node_name] or list(seen.pods)), max_size=2))
    states = st.sampled_from([EntryState.OPEN, EntryState.REPAID])
    made = (
        replace_pod(entry(number, ago=draw(st.sampled_from([5.0, 4000.0])), state=draw(states)), one, seen)
        for number, one in enumerate(left)
    )
    return ledger(*made)


def replace_pod(found: Any, one: Any, seen: Cluster) -> Any:
    """An entry about a pod of a cluster."""
    above = seen.workload_of(one)
    told = {"pod": reference_to(one), "from_node": one.node_name or "", "workload": "" if above is None else above.uid}
    return type(found)(**{name: getattr(found, name) for name in found.__struct_fields__} | told)


def verdicts(seen: Cluster, moves: list[Move], found: Eligibility) -> list[str]:
    """What the gate says of each, by rule."""
    given = permit_wave(moves, GateContext(seen, found, may_execute=True, carried_out=ALL_METHODS))
    return ["" if isinstance(verdict, Permit) else verdict.rule for verdict in given]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_few_are_judged_as_among_all(data: st.DataObject) -> None:
    """Movable, helpable, refused in the same words, and permitted or forbidden by the same rule."""
    seen = data.draw(clusters())
    by = data.draw(policies())
    asked_for: Any = {
        "unsettled": data.draw(st.sampled_from(list(Permission))),
        "budgets": policy(disruption={"budgets": data.draw(st.sampled_from(BUDGETS))}).disruption.budgets,
    }
    by = by.model_copy(update={"disruption": by.disruption.model_copy(update=asked_for)})
    gone = data.draw(st.lists(st.sampled_from(seen.pods), max_size=1))
    seen = with_debts(seen, [reference_to(one) for one in gone])
    options: Any = {"ledger": data.draw(ledgers(seen)), "is_daemon": data.draw(st.booleans())}
    few = data.draw(st.lists(st.sampled_from(seen.pods), min_size=1, max_size=3, unique_by=lambda one: one.key))
    of_all = decide_eligibility(seen, by, **options)
    of_few = decide_eligibility(seen, by, **options, only=frozenset(one.key for one in few))
    asked = set(seen.indices_of([one.key for one in few]).values())
    assert set(of_few.movable) == asked.intersection(of_all.movable)
    assert set(of_few.helpable) == asked.intersection(of_all.helpable)
    for part in ("refusals", "not_helpable", "methods"):
        told = getattr(of_all, part)
        assert getattr(of_few, part) == {index: told[index] for index in asked & set(told)}
    assert of_few.owing == of_all.owing & asked
    assert {index for group in of_few.groups for index in group.pods} <= asked
    moves = [
        Move(reference_to(one), one.node_name or "", "n0", 1, "MakeRoom", "room", method=of_all.method_of(index))
        for one in few
        for index in seen.indices_of([one.key]).values()
    ]
    assert verdicts(seen, moves, of_few) == verdicts(seen, moves, of_all)


def test_nothing_is_sorted_into_kinds_for_a_few(monkeypatch: Any) -> None:
    """Where the policy has no budgets, a verdict looks at the pod, its workload and its namespace's budgets."""
    nodes = (node("n1"), node("n2"))
    seen = cluster(
        *nodes, workload("web", 3), *(pod(f"web-{n}", node="n1") for n in range(3)), budget("b", 1, app="web")
    )
    monkeypatch.setattr(EligibilityContext, "kinds", property(lambda _: 1 / 0))
    found = decide_eligibility(seen, policy(), only=frozenset({"default/web-1"}))
    assert [seen.pods[index].name for index in found.movable] == ["web-1"]


def test_pods_of_a_workload_are_found_through_all_its_owners() -> None:
    """Through ReplicaSets too; who only says so, or has finished, is none of them."""
    web = workload("web", 3)
    seen = cluster(node("n1"), web, *(pod(f"web-{n}", node="n1") for n in range(3)), pod("db-0", owner="db", node="n1"))
    above = seen.workload_of(seen.pod_by_key["default/web-0"])
    assert above is not None
    assert [one.name for one in seen.pods_of(above.uid)] == ["web-0", "web-1", "web-2"]
    every = [one.name for one in seen.pods if (top := seen.workload_of(one)) is not None and top.uid == above.uid]
    assert sorted(one.name for one in seen.pods_of(above.uid)) == every
    assert list(replace(seen, pods=()).pods_of(above.uid)) == []
