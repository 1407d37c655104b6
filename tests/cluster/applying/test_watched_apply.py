"""While `apply` carries a plan out it watches, and lists nothing; the API server's audit log is the judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.execution.requests import asked_by
from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import LOST, Answered, Asked, FaultProxy, Forward
from tests.cluster.plane.audit import OUR_ACCOUNT
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


def test_who_may_not_watch_lists_and_is_told(cluster: Cluster, tmp_path: Path) -> None:
    """The plan is carried out all the same."""
    fragmented(cluster)
    tool, verbs = Tool(cluster, tmp_path), ["get", "list", "create", "update", "patch", "delete"]
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": verbs}, {"nonResourceURLs": ["*"], "verbs": ["get"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "all-but-watch"}}
    cluster.create({**role, "kind": "ClusterRole", "rules": rules})
    named = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "all-but-watch"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "blind"}
    cluster.create({**role, "kind": "ClusterRoleBinding", "roleRef": named, "subjects": [subject]})
    tool.kubeconfig, tool.user = cluster.control_plane.user_kubeconfig("blind"), "blind"
    answer = tool.run("apply", "--yes", "-o", "json")
    [told] = [text for text in answer.document["warnings"] if "watch" in text]
    assert told.startswith("watches are denied: ")
    assert told.endswith("; instead the cluster is listed again and again while the plan is carried out")


@pytest.mark.campaign
@pytest.mark.parametrize("trouble", ["lost", "held back at once", "held back later"])
def test_streams_that_do_not_come_cost_no_move(cluster: Cluster, tool: Tool, proxied: FaultProxy, trouble: str) -> None:
    """Broken off, or passed on when they are over: the server is asked in their place, and all pods leave."""
    fragmented(cluster)
    plan = tool.plan_file()
    begun: list[Asked] = []

    def meddle(asked: Asked, forward: Forward) -> Answered:
        if asked.is_eviction:
            begun.append(asked)
        if not asked.is_watch or (trouble != "held back at once" and not begun):
            return forward()
        if trouble == "lost":
            return LOST
        whole = forward()
        assert whole.stream is not None
        return whole._replace(body=whole.stream.data, stream=None)

    proxied.meddle = meddle
    answer = tool.run("apply", "--yes", "--plan", plan, "-o", "json")
    assert len(tool.evictions()) == 2
    told = [text for text in answer.document["warnings"] if "the cluster is listed again and again" in text]
    assert len(told) == (trouble == "held back at once")
