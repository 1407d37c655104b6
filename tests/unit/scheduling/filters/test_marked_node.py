"""Tests of nodes that autoscalers mark: neither source nor target of a plan, though schedulers may still use them."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.node import Node, node_mark
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import NOW, cluster, node, pod, taint, workload

MARKED = [
    (node("n2", taints=[taint("ToBeDeletedByClusterAutoscaler", "1800000000")]), "an autoscaler is about to remove"),
    (node("n2", taints=[taint("DeletionCandidateOfClusterAutoscaler", "1", "PreferNoSchedule")]), "about to remove"),
    (node("n2", taints=[taint("karpenter.sh/disrupted")]), "about to remove (taint karpenter.sh/disrupted)"),
    (node("n2", taints=[taint("karpenter.sh/unregistered", effect="NoExecute")]), "is still starting"),
    (node("n2", taints=[taint("startup-taint.cluster-autoscaler.kubernetes.io/cni")]), "is still starting (taint "),
    (node("n2", deletion_at=NOW), "is being deleted"),
]


@pytest.mark.parametrize(("marked", "reason"), MARKED)
def test_a_marked_node_is_no_target_when_planning(marked: Node, reason: str) -> None:
    """Not even for a pod that tolerates everything; what its scheduler may choose is another question."""
    from rescheduler.model.objects.constraints import Toleration

    seen = cluster(node("n1"), marked, pod("web-0", tolerations=(Toleration("", "Exists"),)))
    planning = DEFAULTS.model(seen, is_for_planning=True)
    assert planning.feasible(0, Placement(planning.columns)).tolist() == [True, False]
    if marked.deletion_at is None:
        predicted = DEFAULTS.model(seen)
        assert predicted.feasible(0, Placement(predicted.columns)).tolist() == [True, True]
    assert reason in (node_mark(marked) or "")


@pytest.mark.parametrize(("marked", "reason"), MARKED)
def test_a_marked_node_is_no_source(marked: Node, reason: str) -> None:
    """Whoever takes the node away moves its pods itself."""
    seen = cluster(node("n1"), marked, workload("web", 10), *(pod(f"web-{n}", "10m", node="n2") for n in range(10)))
    found = decide_eligibility(seen, Policy())
    assert not found.movable
    assert found.refusals[0].rule == "MarkedNode"
    assert found.refusals[0].message.startswith("default/web-0 is on node n2, which ")
    assert reason in found.refusals[0].message


def test_other_taints_are_no_marks() -> None:
    """They say who may come, not that the node goes."""
    plain = node("n1", taints=[taint("dedicated"), taint("node.kubernetes.io/unschedulable")])
    assert node_mark(plain) is None
    seen = cluster(plain, pod("web-0"))
    model = DEFAULTS.model(seen, is_for_planning=True)
    assert "MarkedNode" not in {found.reason for found in model.reasons(0, Placement(model.columns))}
    assert np.count_nonzero(model.feasible(0, Placement(model.columns))) == 0
