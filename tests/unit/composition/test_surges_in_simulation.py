"""Plans with moves by surge in the embedded cluster: so far nobody is moved, and nothing is left behind."""

from __future__ import annotations

import pytest

from rescheduler.composition.simulating import simulate
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import OutcomeKind
from tests.builders import cluster, node, pod
from tests.unit.disruption.cases import policy
from tests.unit.disruption.surge_cases import deployment, tight_budget


@pytest.mark.parametrize("guidance", ["Hold", "Guide", "Taint"])
@pytest.mark.parametrize("mode", ["DryRun", "Execute"])
def test_a_planned_surge_is_never_carried_out_as_an_eviction(guidance: str, mode: str) -> None:
    """The pods stay as they are, by uid, and each move is told as refused."""
    objects = [item for name, on in (("a", "n1"), ("b", "n2"), ("c", "n3")) for item in deployment(name, [on])]
    seen = cluster(
        node("n1"), node("n2"), node("n3"), *objects, *(tight_budget(name, 1) for name in "abc"), network_policies=()
    )
    by = policy(
        mode=mode,
        guidance=guidance,
        objectives=[{"name": "EmptyNodes"}],
        disruption={"moveBy": [{"method": "Surge"}]},
    )
    report = simulate(seen, by, selection=Selection(), cycles=2)
    assert all(result.moves for result in report.results)
    outcomes = {move.outcome for result in report.results for move in result.moves}
    assert outcomes <= {OutcomeKind.REFUSED, OutcomeKind.NOT_ATTEMPTED}
    assert any("not carried out yet" in move.message for result in report.results for move in result.moves)
    before, after = (
        {one.uid: (one.node_name, one.annotations) for one in world.pods} for world in (seen, report.after)
    )
    assert after == before
    assert not any(one.taints for one in report.after.nodes)


def test_evictions_of_the_same_plan_are_carried_out_up_to_there() -> None:
    """A pod that moves by eviction, as the policy has it, moves."""
    many = [pod(f"web-{number}", cpu="100m", memory="100Mi", node="n2" if number else "n1") for number in range(20)]
    seen = cluster(node("n1"), node("n2"), *many, network_policies=())
    by = policy(
        objectives=[{"name": "EmptyNodes"}],
        disruption={"moveBy": [{"namespaces": ["shop"], "method": "Surge"}]},
    )
    report = simulate(seen, by, selection=Selection())
    assert [move.outcome for move in report.results[0].moves] == [OutcomeKind.LANDED]
