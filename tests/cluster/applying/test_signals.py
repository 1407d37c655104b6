"""What is observed beside snapshots, on the real control plane: a scheduler that is silent, and requests."""

from __future__ import annotations

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.client.request_record import RequestRecord
from rescheduler.adapters.kubernetes.client.traffic import RequestLimits, Traffic
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.daemon.rounds.scheduler_watch import SchedulerWatch
from rescheduler.model.objects.pod import Pod
from tests.cluster.cluster import Cluster
from tests.cluster.shapes import pod
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until


class Eyes:
    """Reads the cluster as a daemon does, and watches its scheduler."""

    def __init__(self, tool: Tool) -> None:
        self.record = RequestRecord(SystemClock(), fewest=5)
        traffic = Traffic(self.record, RequestLimits(SystemClock()))
        self.connection = connect(str(tool.kubeconfig), read_only=True, traffic=traffic)
        self.watch = SchedulerWatch(("default-scheduler",))

    def look(self) -> tuple[dict[str, Pod], float | None]:
        """Pods of the default namespace by name, and how long the scheduler is silent."""
        seen = LiveReader(self.connection).read()
        return {item.name: item for item in seen.pods if item.namespace == "default"}, self.watch.silent_seconds(seen)


def test_a_scheduler_that_stands_still_is_silent(cluster: Cluster, tool: Tool) -> None:
    """A pod that it does not try tells, one at a gate does not; once it works again it is heard of."""
    eyes = Eyes(tool)
    cluster.create(pod("tried", cpu="4"))
    wait_until(lambda: eyes.look()[0]["tried"].unscheduled == "Unschedulable", "the first try")
    assert eyes.look()[1] is None
    cluster.control_plane.pause("kube-scheduler")
    try:
        cluster.create(pod("gated", spec={"schedulingGates": [{"name": "example.com/wait"}]}))
        pods, silent = eyes.look()
        assert (pods["gated"].unscheduled, silent) == ("SchedulingGated", None)
        cluster.create(pod("untried"))
        wait_until(lambda: (eyes.look()[1] or 0.0) >= 2.0, "two seconds of silence")
        assert eyes.look()[0]["untried"].unscheduled == ""
        cluster.api.delete("pods", "untried", "default")
        cluster.wait_gone("pods", "untried")
        body = {"spec": {"schedulingGates": None}}
        cluster.api.patch("pods", "gated", body, "default")
        silent = eyes.look()[1]
        assert silent is not None
        assert silent < 2.0
    finally:
        cluster.control_plane.resume("kube-scheduler")
    wait_until(lambda: eyes.look()[1] is None, "the scheduler's word")
    assert eyes.look()[0]["gated"].unscheduled == "Unschedulable"


def test_requests_to_a_healthy_server_are_well(cluster: Cluster, tool: Tool) -> None:
    """None fails, a 404 is no failure, and its clock is ours."""
    eyes = Eyes(tool)
    eyes.look()
    for _ in range(3):
        assert eyes.connection.send("GET", "/api/v1/namespaces/default/pods/nobody").status == 404
    assert eyes.record.error_share() == 0.0
    slowest, offset = eyes.record.slowest_percent_seconds(), eyes.record.clock_offset_seconds()
    assert slowest is not None
    assert 0.0 < slowest < 10.0
    assert offset is not None
    assert abs(offset) < 5.0
    counts = eyes.record.counts()
    assert counts["get", "pods", "404"] == 3  # type: ignore[index]
    assert counts["list", "poddisruptionbudgets.policy", "200"] == 1  # type: ignore[index]
