"""Use of one moment from the cluster's own metrics API: whole amounts, and in words why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rescheduler.adapters.metrics.use_of_moment import use_from_cluster
from rescheduler.model.objects.measured_use import MeasuredUse
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.loopback_server import Answer, json_answer, loopback_server
from tests.unit.adapters.metrics.kubernetes_worlds import connection_to

NODES = "/apis/metrics.k8s.io/v1beta1/nodes"


def read(folder: Path, nodes: Answer, pods: Answer) -> MeasuredUse:
    """What is read of an API that answers so."""
    with loopback_server(lambda request: nodes if request.route == NODES else pods) as server:
        return use_from_cluster(connection_to(server.address, folder))


def listed(*items: dict[str, Any]) -> Answer:
    """A list of the metrics API."""
    return json_answer({"items": list(items)})


def test_amounts_are_whole_millicores_and_bytes_rounded_up(tmp_path: Path) -> None:
    """Containers of a pod are added up before anything is rounded."""
    node = {"metadata": {"name": "n1"}, "usage": {"cpu": "1500000001n", "memory": "1Ki"}}
    usages = [{"usage": {"cpu": "400500u", "memory": "1"}}, {"usage": {"cpu": "500u", "memory": "1"}}]
    pod = {"metadata": {"name": "web", "namespace": "team"}, "containers": usages}
    found = read(tmp_path, listed(node), listed(pod))
    assert found.nodes == {"n1": {CPU: 1501, MEMORY: 1024}}
    assert found.pods == {"team/web": {CPU: 401, MEMORY: 2}}
    assert found.problem == ""


def test_a_pod_is_unknown_whose_container_lacks_cpu_or_memory(tmp_path: Path) -> None:
    """descheduler passes over it; half of what it uses would be taken for all."""
    whole, half = {"usage": {"cpu": "1", "memory": "1"}}, {"usage": {"cpu": "1"}}
    pods = ({"metadata": {"name": name}, "containers": [whole, other]} for name, other in (("a", half), ("b", whole)))
    assert set(read(tmp_path, listed(), listed(*pods)).pods) == {"default/b"}


def test_where_it_tells_nothing_the_reason_is_kept(tmp_path: Path) -> None:
    """An API that is not there, and one that answers nonsense, end in words and not in an error."""
    assert "404" in read(tmp_path, Answer(b"{}", 404), listed()).problem
    wrong = read(tmp_path, listed({"metadata": {"name": "n1"}, "usage": {"cpu": "much"}}), listed())
    assert "NodeMetrics n1" in wrong.problem
    assert "'much' is not a quantity" in wrong.problem
    assert wrong.nodes == {}
