"""A policy that names schedulers: destinations and scores change as each scheduler's own do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.adapters.api_objects import api_object, container, node_object, pod_object
from tests.unit.cli.desk import KUBE, NODES, PACKING, STANDING, Desk, waiting


def test_each_profile_of_a_file_places_its_own_pods(desk: Desk) -> None:
    """The default scheduler spreads, the packing profile fills the fullest node; score and plan agree."""
    desk.file("k.yaml", KUBE + PACKING)
    desk.policy("schedulers: [{file: k.yaml}]")
    assert desk.placed() == {"default-scheduler": "c", "packing": "a", "volcano": None}
    scores = desk.scores("packing")
    assert {name: node["scores"]["NodeResourcesFit"] for name, node in scores.items()} == {"a": 100, "b": 50, "c": 25}
    assert max(scores, key=lambda name: scores[name]["total"]) == "a"
    plan = desk.document("plan")
    assert {item["pod"]["name"]: item["node"] for item in plan["placements"]} == {
        "default-scheduler": "c", "packing": "a"
    }  # fmt: skip
    assert plan["objectives"][0]["wanted"] == 2


def test_the_embedded_cluster_places_as_the_configured_schedulers_do(desk: Desk) -> None:
    """Every pod lands where the plan says, and the pod of the unconfigured scheduler goes on waiting."""
    desk.file("k.yaml", KUBE + PACKING)
    desk.policy("schedulers: [{file: k.yaml}]")
    result = desk.document("simulate")
    outcomes = {item["pod"]["name"]: (item["outcome"], item["landedOn"]) for item in result["placements"]}
    assert outcomes == {"default-scheduler": ("Landed", "c"), "packing": ("Landed", "a")}
    assert [(item["rule"], item["pod"]["name"]) for item in result["refusals"]] == [("UnknownScheduler", "volcano")]


def test_a_pod_of_an_unconfigured_scheduler_is_listed_without_a_node(desk: Desk) -> None:
    """``schedule`` lists it with a warning, as it does a gated pod; every node refuses it in ``score``."""
    desk.record(*NODES, waiting("volcano"), waiting("packing", "gated", schedulingGates=[{"name": "x/y"}]))
    desk.policy("schedulers: [{schedulerName: packing}]")
    gated, unknown = desk.document("schedule")["pods"]
    assert (gated["node"], gated["warnings"]) == (None, ["gated by x/y"])
    assert (unknown["node"], unknown["bestNodes"], unknown["schedulerName"]) == (None, [], "volcano")
    assert unknown["warnings"] == ['scheduler "volcano" is not configured']
    assert {node["feasible"] for node in desk.scores("volcano").values()} == {False}


@pytest.mark.parametrize(
    ("profile", "node", "changed"),
    [
        # As kube-scheduler comes: the emptiest node.
        ("{}", "c", {}),
        # Ratio by shape: full nodes first, and the score is 10 times the shape's own.
        (
            (
                "{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, "
                "resources: [{name: cpu, weight: 1}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, "
                "{utilization: 100, score: 10}]}}}}]}"
            ),
            "a",
            {"NodeResourcesFit": {"a": 100, "b": 50, "c": 25}},
        ),
        # One score alone, and it sees no difference: all tie.
        ("{plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 7}]}}}", "a", {}),
        # A score switched off: nothing but the balance of cpu and memory is left to tell the nodes apart.
        ("{plugins: {score: {disabled: [{name: NodeResourcesFit}]}}}", None, {"NodeResourcesFit": None}),
        # Affinity that the scheduler adds to every pod.
        (
            (
                "{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {required"
                "DuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, "
                "operator: In, values: [b]}]}]}}}}]}"
            ),
            "b",
            {},
        ),
        # A wish that the scheduler adds: 50 x NodeAffinity outweighs everything else.
        (
            (
                "{plugins: {score: {disabled: [{name: NodeAffinity}], enabled: [{name: NodeAffinity, weight: 50}]}}, "
                "pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {preferredDuringSchedulingIgnoredDuring"
                "Execution: [{weight: 1, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, "
                "values: [b]}]}}]}}}]}"
            ),
            "b",
            {"NodeAffinity": {"a": 0, "b": 100, "c": 0}},
        ),
    ],
)
def test_a_profile_changes_the_destination(
    desk: Desk, profile: str, node: str | None, changed: dict[str, dict[str, int] | None]
) -> None:
    """The best node and the plugin's own scores are those of the profile."""
    desk.record(*NODES, *STANDING, waiting("default-scheduler", "p"))
    desk.file("k.yaml", f"{KUBE}profiles: [{profile}]\n")
    desk.policy("schedulers: [{file: k.yaml}]")
    (found,) = desk.document("schedule")["pods"]
    scores = desk.scores("p")
    if node is not None:
        assert node in found["bestNodes"]
    for plugin, expected in changed.items():
        told = {name: item["scores"].get(plugin) for name, item in scores.items() if item["feasible"]}
        assert told == (dict.fromkeys("abc") if expected is None else expected)
    best = max(item["total"] for item in scores.values() if item["feasible"])
    assert found["bestNodes"] == [name for name, item in scores.items() if item["total"] == best]


def test_a_filter_switched_off_opens_nodes_to_schedule_and_plan(desk: Desk) -> None:
    """Without TaintToleration the tainted node counts, and the proof lets the placement pass."""
    tainted = node_object("t")
    tainted["spec"]["taints"] = [{"key": "x", "effect": "NoSchedule"}]
    desk.record(tainted, waiting("default-scheduler", "p"))
    desk.policy("")
    assert desk.placed() == {"p": None}
    desk.file("k.yaml", KUBE + "profiles: [{plugins: {filter: {disabled: [{name: TaintToleration}]}}}]\n")
    desk.policy("schedulers: [{file: k.yaml}]")
    assert desk.placed() == {"p": "t"}
    plan = desk.document("plan")
    assert ([item["node"] for item in plan["placements"]], plan["warnings"]) == (["t"], [])


def test_no_plan_promises_a_place_that_the_kubelet_would_refuse(desk: Desk) -> None:
    """A scheduler that does not look at room binds to a full node; the plan does not call that a place."""
    desk.record(node_object("a"), STANDING[0], waiting("default-scheduler", "p", containers=[container(cpu="2")]))
    desk.file("k.yaml", KUBE + "profiles: [{plugins: {filter: {disabled: [{name: NodeResourcesFit}]}}}]\n")
    desk.policy("schedulers: [{file: k.yaml}]")
    assert desk.placed() == {"p": "a"}
    plan = desk.document("plan")
    assert (plan["placements"], plan["objectives"][0]["helped"]) == ([], 0)


POOL = """\
profiles:
- schedulerName: pool
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a, b]}]}]
"""


def replica(name: str, node: str, cpu: str, **spec: Any) -> dict[str, Any]:
    """A running pod of one ReplicaSet of three."""
    made = pod_object(name, node, containers=[container(cpu=cpu)], **spec)
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "w", "uid": "rs", "controller": True}
    ]
    return made


def test_moves_stay_where_their_own_scheduler_allows(desk: Desk) -> None:
    """A profile's added affinity keeps moved pods off the large empty node, which its pods could never land on."""
    room = {"cpu": "32", "memory": "64Gi", "pods": "110"}
    empty = node_object("c", allocatable=room, capacity=room)
    web = [replica("w-1", "a", "2", schedulerName="pool"), replica("w-2", "a", "1", schedulerName="pool")]
    owner = api_object(
        "ReplicaSet", "w", namespace="default", version="apps/v1", metadata={"uid": "rs"}, spec={"replicas": 3}
    )
    big = waiting("pool", "big", containers=[container(cpu="2500m")])
    desk.record(
        node_object("a"), node_object("b"), empty, *web, replica("w-3", "b", "2", schedulerName="pool"), owner, big
    )
    desk.file("k.yaml", KUBE + POOL)
    desk.policy("schedulers: [{file: k.yaml}]\nhealth: {headRoom: 0%}\nscope: {minimumAge: 0s}")
    plan = desk.document("plan")
    (move,) = plan["moves"]
    (placement,) = plan["placements"]
    assert (move["pod"]["name"], move["fromNode"], move["toNode"]) == ("w-1", "a", "b")
    assert (placement["node"], plan["objectives"][0]["status"]) == ("a", "OPTIMAL")
    result = desk.document("simulate")
    assert {item["outcome"] for item in (*result["moves"], *result["placements"])} == {"Landed"}


LEGACY = """\
{"kind": "Policy", "apiVersion": "v1",
 "predicates": [{"name": "GeneralPredicates"}],
 "priorities": [{"name": "RequestedToCapacityRatioPriority", "weight": 2, "argument": {
   "requestedToCapacityRatioArguments": {
     "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}],
     "resources": [{"name": "cpu", "weight": 1}]}}}]}
"""


def test_a_legacy_policy_packs_by_its_shape(desk: Desk) -> None:
    """The one priority left decides, with its weight; the form is gone, which is a warning."""
    desk.record(*NODES, *STANDING, waiting("default-scheduler", "p"))
    desk.file("policy.json", LEGACY)
    desk.policy("schedulers: [{file: policy.json}]")
    answer = desk.run("score", "default/p", "-o", "json")
    assert answer.code == 0
    assert "warning: " in answer.err
    assert "1.23" in answer.err
    totals = {item["node"]: item["total"] for item in json.loads(answer.out)["nodes"]}
    assert totals == {"a": 200, "b": 100, "c": 50}


def test_score_shows_a_column_for_each_plugin_and_the_chosen_nodes(desk: Desk) -> None:
    """The total's formula, one column a score, and --nodes narrows it; an unknown node is wrong use."""
    desk.file("k.yaml", KUBE + "profiles: [{plugins: {score: {disabled: [{name: ImageLocality}]}}}]\n")
    desk.policy("schedulers: [{file: k.yaml}]")
    answer = desk.run("score", "default/default-scheduler", "--nodes", "b,c")
    assert answer.code == 0
    assert "total = 3 x TaintToleration + 2 x NodeAffinity" in answer.out
    assert "ImageLocality" not in answer.out
    lines = answer.out.splitlines()
    assert [line.split()[0] for line in lines if line[:2] in ("a ", "b ", "c ")] == ["c", "b"]
    assert any(line.split()[:4] == ["NODE", "FITS", "TOTAL", "Toleration"] for line in lines)
    answer = desk.run("score", "default/default-scheduler", "--nodes", "bb")
    assert (answer.code, answer.out) == (2, "")
    assert "--nodes: the cluster has no node 'bb'" in answer.err
    wide = desk.run("score", "default/default-scheduler", "-o", "wide").out
    assert "NodeResourcesBalancedAllocation" in wide
