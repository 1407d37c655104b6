"""A second scheduler beside the cluster's own: its pods move as its configuration, read from a ConfigMap, says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
import yaml

from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.scenes import add_node, add_pending
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool

NAME = "pool-scheduler"
POOL = ("pool-0", "pool-1", "pool-2")
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": NAME,
            "pluginConfig": [
                {
                    "name": "NodeAffinity",
                    "args": {
                        "addedAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["x"]}]}
                                ]
                            }
                        }
                    },
                }
            ],
        }
    ],
}
POLICY = "schedulers: [{configMap: kube-system/pool-scheduler}]"


@pytest.fixture
def big(cluster: Cluster) -> str:
    """Eight pods of the second scheduler in its pool of three nodes, a large empty node outside, and one that waits."""
    cluster.control_plane.start_scheduler(NAME, CONFIGURATION)
    for node in POOL:
        add_node(cluster, node, cpu="4", labels={"pool": "x"})
    add_node(cluster, "outside", cpu="32")
    cluster.create(deployment("web", replicas=8, cpu="1", spec={"schedulerName": NAME}))
    cluster.wait_pods_running(8, labels="app=web")
    return add_pending(cluster, deployment("big", cpu="2500m", spec={"schedulerName": NAME}))


@pytest.fixture
def write(cluster: Cluster) -> Iterator[Callable[[str], None]]:
    """Writes the ConfigMap that the policy names, and takes it away afterwards."""

    def put(text: str) -> None:
        metadata = {"name": "pool-scheduler", "namespace": "kube-system"}
        data = {"config.yaml": text}
        cluster.api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})

    yield put
    with suppress(ApiError):
        cluster.api.delete("configmaps", "pool-scheduler", "kube-system")


def test_pods_of_a_second_scheduler_move_within_its_pool(
    cluster: Cluster, tool: Tool, big: str, write: Callable[[str], None]
) -> None:
    """One eviction makes room in the pool; nobody goes to the empty node outside, where the scheduler puts no pod."""
    write(yaml.safe_dump(CONFIGURATION))
    answer = tool.run("apply", "--yes", "-o", "json", "--policy", tool.policy(POLICY))
    objective = answer.document["objectives"][0]
    assert (objective["status"], objective["value"], objective["helped"]) == ("OPTIMAL", 1, 1)
    assert cluster.node_of(big) in POOL
    cluster.wait_pods_running(9)
    assert set(cluster.pods_by_node("default")) <= set(POOL)
    (move,) = answer.document["moves"]
    assert move["landedOn"] in POOL  # two of them may tie, and then the scheduler draws lots
    assert move["outcome"] == ("Landed" if move["landedOn"] == move["toNode"] else "LandedElsewhere")
    tool.assert_nothing_left()


def test_pods_of_an_unconfigured_scheduler_stay_put(cluster: Cluster, tool: Tool, big: str) -> None:
    """Without the policy nothing is known about the second scheduler: nothing is written, and the rule is named."""
    tool.writes()
    answer = tool.run("apply", "--yes", "-o", "json")
    assert {item["rule"] for item in answer.document["refusals"]} == {"UnknownScheduler"}
    assert answer.document["moves"] == []
    assert tool.writes() == []
    (found,) = tool.run("schedule", "-o", "json").document["pods"]
    assert (found["pod"]["name"], found["node"]) == (big, None)
    assert NAME in found["warnings"][0]


@pytest.mark.parametrize("text", [None, "apiVersion: v1\nkind: Secret\n", "kind: KubeSchedulerConfiguration\n"])
def test_a_config_map_that_is_of_no_use_is_named(tool: Tool, write: Callable[[str], None], text: str | None) -> None:
    """Missing, of another form, without a version: one paragraph, and nothing is planned."""
    if text is not None:
        write(text)
    answer = tool.run("plan", "--policy", tool.policy(POLICY), code=1 if text is None else 2)
    assert "kube-system/pool-scheduler" in answer.errors
    assert answer.output == ""
