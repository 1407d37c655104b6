"""While `apply` carries a plan out it watches, and lists nothing; the API server's audit log is the judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.execution.requests import asked_by
from tests.cluster.audit import OUR_ACCOUNT
from tests.cluster.cluster import Cluster
from tests.cluster.scenes import fragmented
from tests.cluster.tool import HOLDS, Tool


@pytest.fixture
def seen(cluster: Cluster, tmp_path: Path) -> Tool:
    """The rescheduler as the one account whose reads the audit log keeps, with all rights."""
    tool = Tool(cluster, tmp_path)
    tool.kubeconfig, tool.user = cluster.control_plane.user_kubeconfig(OUR_ACCOUNT, ("system:masters",)), OUR_ACCOUNT
    return tool


def test_nothing_is_listed_between_the_first_and_the_last_eviction(cluster: Cluster, seen: Tool) -> None:
    """Neither the cluster nor a part of it but our own placeholders; what a verdict rests on is streamed, and its pod
    is read by itself."""
    fragmented(cluster)
    audit = cluster.control_plane.audit
    start = audit.mark()
    seen.run("apply", "--yes")
    asked = asked_by(cluster.control_plane.root / "audit.log", start, audit.mark(), OUR_ACCOUNT)
    evictions = [one.at for one in asked if one.is_eviction]
    assert len(evictions) == 2
    during = [one for one in asked if evictions[0] <= one.at <= evictions[-1]]
    assert [one for one in during if one.kind.startswith("list ") and one.namespace != HOLDS] == []
    assert "get pods" in [one.kind for one in during]
    assert {"watch pods", "watch nodes"} <= {one.kind for one in asked}
    assert any(kind.endswith("(proof)") for kind in (one.kind for one in asked))
