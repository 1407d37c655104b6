"""Anti-affinity, zone spread and taints each decide a case that resources alone would decide otherwise."""

from __future__ import annotations

from tests.cluster.cluster import Cluster
from tests.cluster.scenes import SINGLE_REPLICAS_MAY_MOVE, add_pending, put
from tests.cluster.shapes import deployment, node, replica_set
from tests.cluster.tool import Tool, crowd

ZONE = "topology.kubernetes.io/zone"


def apply(tool: Tool) -> dict[str, tuple[str, str | None]]:
    """Apply with single replicas allowed to move; outcomes by pod."""
    tool.writes()
    answer = tool.run("apply", "--yes", "-o", "json", "--policy", tool.policy(SINGLE_REPLICAS_MAY_MOVE))
    return answer.outcomes()


def test_anti_affinity_decides(cluster: Cluster, tool: Tool) -> None:
    """All nodes have room, but each holds a pod that the pending one cannot stand: one moves to join another."""
    cluster.add_nodes(2, prefix="n", cpu="4")
    put(cluster, "n-0", replica_set("noisy", cpu="1"))
    put(cluster, "n-1", replica_set("loud", cpu="1", labels={"noise": "yes"}))
    term = {
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["noisy", "loud"]}]},
        "topologyKey": "kubernetes.io/hostname",
    }
    spec = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    quiet = add_pending(cluster, deployment("quiet", cpu="1", spec=spec))
    found = apply(tool)
    assert found[quiet][0] == "Landed"
    assert len(tool.evictions()) == 1
    neighbours = cluster.pods_by_node("default")[cluster.node_of(quiet)]
    assert neighbours == [quiet]
    assert crowd(cluster) == {"noisy": 1, "loud": 1, "quiet": 1}
    tool.assert_nothing_left()


def test_zone_spread_decides(cluster: Cluster, tool: Tool) -> None:
    """The pending replica may only run in the zone that is full; a pod there makes room although others are nearer."""
    for zone in ("a", "b"):
        cluster.create(node(f"{zone}-0", cpu="2", labels={ZONE: zone}), node(f"{zone}-1", cpu="2", labels={ZONE: zone}))
    cluster.wait_nodes_ready()
    spread = {
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "even"}},
    }  # fmt: skip
    put(cluster, "a-0", replica_set("even", cpu="1", spec={"topologySpreadConstraints": [spread]}))
    put(cluster, "b-0", replica_set("fill", replicas=1, cpu="2"))
    put(cluster, "b-1", replica_set("stop", replicas=1, cpu="1500m"))
    cluster.api.patch("replicasets", "even", {"spec": {"replicas": 2}}, "default")
    pending = _pending(cluster, "even")
    found = apply(tool)
    assert found[pending][0] == "Landed"
    assert cluster.node_of(pending).startswith("b-")
    assert len(tool.evictions()) == 1
    assert crowd(cluster) == {"even": 2, "fill": 1, "stop": 1}
    tool.assert_nothing_left()


def test_taints_decide(cluster: Cluster, tool: Tool) -> None:
    """An empty node that the moved pod does not tolerate is no destination; the tolerated one is used."""
    taint = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]
    cluster.create(node("closed", cpu="8", taints=taint), node("full", cpu="4"), node("other", cpu="4"))
    cluster.wait_nodes_ready()
    put(cluster, "full", replica_set("web", replicas=2, cpu="1500m"), 2)
    put(cluster, "other", replica_set("side", cpu="2"))
    pending = add_pending(cluster, deployment("big", cpu="2500m"))
    found = apply(tool)
    assert found[pending][0] == "Landed"
    assert "closed" not in cluster.pods_by_node("default")
    assert len(tool.evictions()) == 1
    assert crowd(cluster) == {"web": 2, "side": 1, "big": 1}
    tool.assert_nothing_left()


def test_a_rate_that_a_policy_writes_binds_apply(cluster: Cluster, tool: Tool) -> None:
    """Two pods wait, and one eviction each would help them: one is made this hour, whatever is asked for."""
    cluster.create(*(node(f"full-{number}", cpu="4") for number in range(2)))
    cluster.create(*(node(f"spare-{number}", cpu="2") for number in range(2)))
    cluster.wait_nodes_ready()
    for number in range(2):
        put(cluster, f"full-{number}", replica_set(f"web{number}", replicas=2, cpu="1500m"), 2)
    for number in range(2):
        add_pending(cluster, deployment(f"big{number}", cpu="2500m"))
    tool.writes()
    both = tool.plan_file()
    rated = tool.policy("disruption: {rates: {perHour: 1}}")
    whole = tool.run("apply", "--yes", "-o", "json", "--policy", rated, "--plan", both, code=1)
    assert tool.evictions() == []
    assert "disruption.rates.perHour" in whole.errors
    tool.run("apply", "--yes", "-o", "json", "--policy", rated)
    assert len(tool.evictions()) == 1
    again = tool.run("apply", "--yes", "-o", "json", "--policy", rated)
    assert tool.evictions() == []
    assert again.document["moves"] == []
    assert "disruption.rates.perHour" in again.output
    tool.run("apply", "--yes", "-o", "json", "--policy", tool.policy("disruption: {rates: {perHour: unlimited}}"))
    assert len(tool.evictions()) == 1
    assert crowd(cluster) == {"web0": 2, "web1": 2, "big0": 1, "big1": 1}
    tool.assert_nothing_left()


def _pending(cluster: Cluster, app: str) -> str:
    """The one pod of an app that the scheduler found no node for."""
    from tests.cluster.cluster import condition
    from tests.cluster.waiting import wait_until

    found: list[str] = []

    def is_there() -> bool:
        found[:] = [
            pod["metadata"]["name"]
            for pod in cluster.api.list("pods", "default", labels=f"app={app}")
            if condition(pod, "PodScheduled") == "False"
        ]
        return len(found) == 1

    wait_until(is_there, f"a pending pod of {app}")
    return found[0]
