"""Plans keep out of the room of replacements that earlier evictions still owe."""

from __future__ import annotations

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod, workload
from tests.clocks import FakeClock
from tests.unit.disruption.ledgers import entry, ledger


def test_no_plan_uses_the_room_of_a_replacement_that_is_still_to_be_made() -> None:
    """A pod is not moved into the room that one of an earlier plan waits for, however long that takes to go."""
    seen = cluster(
        workload("a", 2),
        *(node(f"n{number}", cpu="2") for number in (1, 2, 3)),
        pod("web-1", node="n1", cpu="1500m", kind="StatefulSet", deletion_at=NOW + 3000, created_at=NOW - 5000),
        pod("a-0", node="n3", cpu="600m"),
        pod("a-1", node="n1", cpu="500m"),
        pod("big-0", cpu="1400m", unscheduled="Unschedulable"),
    )
    more = cluster(*seen.nodes, *seen.workloads, *seen.pods, pod("late-0", cpu="1400m", unscheduled="Unschedulable"))
    owed = ledger(entry(1, ago=500, state=EntryState.OPEN))
    options = CycleOptions(FakeClock(), ledger=owed)
    assert [item.node for item in make_plan(more, Policy(), options).placements] == ["n3"]
    assert [item.node for item in make_plan(more, Policy(), CycleOptions(FakeClock())).placements] == ["n2", "n3"]
