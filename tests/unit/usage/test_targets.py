"""Targets that are told by the mean of all nodes."""

from __future__ import annotations

import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.plugins import parse_policy
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Status
from rescheduler.policy.fields.objectives import OverMean, SpreadLoadArgs
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.usage.observed_use import observed_use
from rescheduler.usage.targets import targets_as_numbers
from tests.builders import cluster, node, pod, workload

POLICY = """\
apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
limits: {deadline: 1000s}
objectives: [{name: SpreadLoad, args: {target: TARGET}}]
"""


def uneven() -> Cluster:
    """Nodes of which 75%, 25% and 0% of cpu are used: 33% on the mean."""
    pods = [pod(f"web-{number}", "1", node="a" if number < 3 else "b", owner="web") for number in range(4)]
    return cluster(node("a"), node("b"), node("c"), *pods, workload("web", 4))


def test_the_mean_is_that_of_the_nodes_as_they_stand() -> None:
    """A share of allocatable comes of it, which is never above all."""
    columns = columns_of(uneven())
    use = observed_use(columns, None, "mean", ("cpu", "memory"))
    target = {"cpu": OverMean(over_mean=0.1), "memory": 0.8}
    assert targets_as_numbers(target, columns, use) == pytest.approx({"cpu": 1 / 3 + 0.1, "memory": 0.8})
    assert targets_as_numbers({"cpu": OverMean(over_mean=1.0)}, columns, use) == {"cpu": 1.0}


def test_nodes_are_relieved_down_to_it() -> None:
    """One pod goes to the empty node; a second would bring that above 43% itself."""
    policy = parse_policy(POLICY.replace("TARGET", "{cpu: {overMean: 10%}}"))
    plan = make_plan(uneven(), policy, CycleOptions(SystemClock()))
    (answer,) = plan.objectives
    assert [(move.from_node, move.to_node) for move in plan.moves] == [("a", "c")]
    assert answer.status is Status.OPTIMAL
    assert answer.value == pytest.approx((2 - 4 * (1 / 3 + 0.1)) / 4, abs=1e-6)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("{cpu: {overMean: 110%}}", "overMean: found '110%'; write a share such as 0.1 or 10%"),
        ("{cpu: {above: 10%}}", "found a map of above; write a share such as 70%, or {overMean: 10%}"),
        ("{cpu: {}}", "found a map of nothing"),
        ("{cpu: x}", "write a share such as 0.7 or 70%"),
    ],
)
def test_other_forms_are_refused(target: str, said: str) -> None:
    """With what to write instead."""
    with pytest.raises(PolicyError) as caught:
        parse_policy(POLICY.replace("TARGET", target))
    assert said in str(caught.value)


def test_numbers_and_means_stand_side_by_side() -> None:
    """Each resource has its own."""
    args = SpreadLoadArgs.model_validate({"target": {"cpu": {"overMean": "5%"}, "memory": "80%"}})
    assert (args.is_told_by_mean, args.shares) == (True, {"memory": 0.8})
