"""No plan closes nodes by taints where Karpenter would buy others for it, whoever has made the plan."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from rescheduler.composition.live import descheduling
from rescheduler.composition.live.carrying_out import refuse_taints
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.descheduler.reading.policy_file import read_descheduler_policy
from rescheduler.extension_points import NOTHING_EARLIER, ClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node_pool import NodePool
from rescheduler.model.plan.disruption import Selection
from rescheduler.policy.fields.policy import Guidance, Policy
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import plan_of

TAINT = Policy(guidance=Guidance.TAINT)
THEIRS = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: all
  pluginConfig: [{name: RemoveDuplicates}, {name: DefaultEvictor}]
  plugins: {balance: {enabled: [RemoveDuplicates]}}
"""


def world() -> Cluster:
    """Two pods of one workload on a node, none on the other; Karpenter has a NodePool."""
    pods = [pod(f"web-{number}", node="a") for number in range(2)]
    return cluster(node("a"), node("b"), *pods, workload("web", 2), node_pools=(NodePool("a"),))


def test_a_plan_with_work_is_refused_and_one_without_is_not() -> None:
    """The sentence says what lets it; without NodePools, or without evictions, there is nothing to refuse."""
    seen = world()
    moving = plan_of(seen, [("web-0", "b", 1)])
    with pytest.raises(ClusterError, match=r"autoscaler\.taints: Allow"):
        refuse_taints(moving, seen, TAINT)
    refuse_taints(plan_of(seen, []), seen, TAINT)
    refuse_taints(moving, replace(seen, node_pools=()), TAINT)
    refuse_taints(moving, seen, Policy())


@pytest.mark.parametrize("act", [descheduling.apply, descheduling.apply_improved])
def test_a_descheduler_policy_is_no_way_around_it(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Refused before anybody is asked, with and without --improve."""
    written = read_descheduler_policy(THEIRS, "theirs.yaml")
    asked: list[Any] = []
    monkeypatch.setattr(descheduling, "read_cluster", lambda *_: world())
    monkeypatch.setattr(descheduling, "earlier_evictions", lambda *_: NOTHING_EARLIER)
    monkeypatch.setattr(descheduling, "with_measured_use", lambda seen, *_: seen)
    carry_out = partial(
        act, ClusterOptions(), written, TAINT, confirm=lambda *given: asked.append(given), selection=Selection(),
        schedulers=lambda _: DEFAULTS, timeout_seconds=60.0,
    )  # fmt: skip
    with pytest.raises(ClusterError, match=r"autoscaler\.taints: Allow"):
        carry_out()
    assert asked == []
