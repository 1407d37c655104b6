"""While `apply` carries a plan out it watches, and lists nothing; the API server's audit log is the judge."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.execution.requests import Asked, asked_by
from tests.cluster.audit import OUR_ACCOUNT
from tests.cluster.cluster import Cluster
from tests.cluster.scenes import spread
from tests.cluster.shapes import deployment, disruption_budget
from tests.cluster.tool import Tool

POLICY = """\
objectives: [{name: EmptyNodes}]
guidance: Predict
disruption: {workloads: {maxUnavailable: 99%}, quiet: 0s}
"""


@pytest.fixture
def seen(cluster: Cluster, tmp_path: Path) -> Tool:
    """The rescheduler as the one account whose reads the audit log keeps, with all rights."""
    tool = Tool(cluster, tmp_path)
    tool.kubeconfig, tool.user = cluster.control_plane.user_kubeconfig(OUR_ACCOUNT, ("system:masters",)), OUR_ACCOUNT
    return tool


def test_nothing_is_listed_between_the_first_and_the_last_eviction(cluster: Cluster, seen: Tool) -> None:
    """By any kind of list, narrow ones too; each move takes six requests at most besides watches."""
    cluster.add_nodes(6, cpu="4")
    cluster.create(disruption_budget("web", maxUnavailable=6))
    spread(cluster, deployment("web", replicas=12, cpu="1"))
    audit = cluster.control_plane.audit
    start = audit.mark()
    answer = seen.run("apply", "--policy", seen.policy(POLICY), "--yes", "-o", "json")
    asked = asked_by(cluster.control_plane.root / "audit.log", start, audit.mark(), OUR_ACCOUNT)
    evictions = [one.at for one in asked if one.is_eviction]
    assert len(evictions) == len(answer.document["moves"]) >= 4
    during = [one for one in asked if evictions[0] <= one.at <= evictions[-1]]
    assert [one.kind for one in during if one.kind.startswith("list ")] == []
    assert any(one.kind == "watch pods" for one in asked)
    assert requests_a_move(during, len(evictions)) <= 6.0, Counter(one.kind for one in during)


def requests_a_move(asked: list[Asked], moves: int) -> float:
    """All but watches and proofs."""
    return sum(not one.kind.startswith("watch ") for one in asked) / moves
