"""``EmptyNodes: {maxNodes: N}`` as a policy says it."""

from __future__ import annotations

import json

import pytest

from rescheduler.policy.fields.objectives import EmptyNodesArgs
from tests.unit.adapters.api_objects import container, node_object, pod_object
from tests.unit.cli.desk import Desk
from tests.unit.policy.policies import policy, problem

ONLY = "objectives: [{{name: EmptyNodes, args: {{maxNodes: {}}}}}]\nlimits: {{maxEvictions: 1000}}\n"


@pytest.fixture
def fleet(desk: Desk) -> Desk:
    """Sixty nodes of four cores; node number N has one pod more than the one before, up to three, of a core each."""
    pods = []
    for node in range(60):
        owner = {"kind": "ReplicaSet", "name": f"web-{node % 7}", "uid": f"u{node % 7}", "controller": True}
        for number in range(1 + node % 3):
            pod = pod_object(f"web-{node}-{number}", f"n{node}", containers=[container(cpu="1")])
            pod["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", **owner}]
            pods.append(pod)
    desk.record(*(node_object(f"n{number}") for number in range(60)), *pods)
    return desk


@pytest.mark.parametrize("most", [1, 4, 12])
def test_so_many_nodes_are_emptied_the_cheapest_first_and_it_is_proven(fleet: Desk, most: int) -> None:
    """Twenty nodes have one pod only, so each costs one eviction; the message names what binds."""
    fleet.policy(ONLY.format(most))
    answer = fleet.run("plan", "-o", "json")
    assert answer.code == 0, answer.err
    plan = json.loads(answer.out)
    [found] = plan["objectives"]
    assert (found["status"], found["value"], found["bound"], len(plan["moves"])) == ("OPTIMAL", most, most, most)
    assert "maxNodes of EmptyNodes leaves too little for other nodes" in found["message"]


@pytest.mark.parametrize(("value", "told"), [("0", "wanted 1 or more"), ("many", "wanted a whole number")])
def test_what_is_no_number_of_nodes_is_refused(value: str, told: str) -> None:
    """With what was wanted."""
    assert told in problem(f"objectives: [{{name: EmptyNodes, args: {{maxNodes: {value}}}}}]")


def test_left_out_there_is_no_limit() -> None:
    """As before."""
    from rescheduler.policy.reading.objective_arguments import arguments_of

    args = arguments_of(policy("objectives: [{name: EmptyNodes}]").objectives[0])
    assert isinstance(args, EmptyNodesArgs)
    assert args.max_nodes is None
