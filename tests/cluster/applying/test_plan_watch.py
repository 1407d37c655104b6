"""``plan --watch`` on a real cluster: a change is seen, planned for, and nothing is written."""

from __future__ import annotations

import signal

from tests.cluster.cluster import Cluster
from tests.cluster.scenes import add_pending, spread
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool
from tests.unit.cli.plans.test_plan_watch import document


def test_a_pod_that_comes_to_be_pending_gets_a_plan(cluster: Cluster, tool: Tool) -> None:
    """The first plan has nobody to help, a later one does; Ctrl-C ends with 130, and the audit log has no write."""
    cluster.add_nodes(4, cpu="4")
    spread(cluster, deployment("web", replicas=12, cpu="1"))
    tool.writes()
    with tool.start("plan", "--watch", "-o", "json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert document(process.stdout)["objectives"][0]["wanted"] == 0
            add_pending(cluster, deployment("big", cpu="2500m"))
            helped = document(process.stdout)
            while not helped["moves"]:
                helped = document(process.stdout)
            assert len(helped["moves"]) == 2
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        assert "Traceback" not in process.stderr.read()
    assert tool.writes() == []
