"""How the benchmark of DeschedulerPolicies draws, judges and counts."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.descheduler_policy.drawing import PLUGINS, draw
from benchmarks.descheduler_policy.improvement import improvement_table
from benchmarks.descheduler_policy.judging import LIKE, ORDER, OTHER, SAME, judge
from benchmarks.descheduler_policy.measuring import SOURCE, DrawnUse, measured_case
from benchmarks.descheduler_policy.recording import RecordedCase, keep, recorded
from benchmarks.descheduler_policy.table import agreement_table, told_differences
from rescheduler.descheduler.reading.policy_file import read_descheduler_policy
from tests.unit.adapters.api_objects import container, node_object, pod_object

KIND = "RemovePodsHavingTooManyRestarts"


def case(*runs: list[str], total: int = 1) -> RecordedCase:
    """Two replicas on a and one on b that were all restarted too often, of which so many may go."""
    items = [node_object(name) for name in "abc"]
    for name, node in (("web-0", "a"), ("web-1", "a"), ("api-0", "b")):
        pod = pod_object(name, node, containers=[container(cpu="1")])
        owner = name.partition("-")[0]
        pod["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": f"u-{owner}", "controller": True}
        ]
        pod["status"]["containerStatuses"] = [{"name": "main", "restartCount": 9}]
        items.append(pod)
    profile = {
        "name": "p",
        "pluginConfig": [{"name": KIND, "args": {"podRestartThreshold": 3}}],
        "plugins": {"deschedule": {"enabled": [KIND]}},
    }
    head = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "maxNoOfPodsToEvictTotal": total}
    found = [{"evicted": [f"default/{name}" for name in run], "refused": []} for run in runs]
    return RecordedCase(1, KIND, {**head, "profiles": [profile]}, {"kind": "List", "items": items}, found)


def test_names_come_first_then_equal_pods_then_another_order() -> None:
    """Replicas of one node are alike; which node comes first is chance; too many are a difference."""
    assert judge(case(["web-0"])).kind == SAME
    assert judge(case(["web-1"])).kind == LIKE
    assert judge(case(["api-0"])).kind == ORDER
    assert judge(case(["web-0", "web-1"])).kind == OTHER


def test_a_case_is_stable_where_all_runs_name_the_same_pods() -> None:
    """Whatever their order."""
    assert judge(case(["web-0", "api-0"], ["api-0", "web-0"], total=2)).is_stable
    assert not judge(case(["web-0"], ["web-1"])).is_stable


def test_the_table_counts_each_case_once_and_differences_are_told() -> None:
    """Those that are neither the same nor equal."""
    verdicts = [judge(case(["web-0"])), judge(case(["api-0"], ["web-1"])), judge(case(["web-0", "web-1"]))]
    row = next(line for line in agreement_table(verdicts).splitlines() if line.startswith("| all "))
    assert [int(cell) for cell in row.strip("| ").split(" | ")[1:]] == [3, 3, 4, 2, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0]
    assert ["different" in line for line in told_differences(verdicts)] == [True]


def test_the_same_seed_draws_the_same_case_and_every_plugin_has_its_turn() -> None:
    """Policies are such as descheduler reads."""
    assert [draw(seed).plugin for seed in range(len(PLUGINS))] == list(PLUGINS)
    for seed in range(30):
        assert draw(seed) == draw(seed)
        assert read_descheduler_policy(json.dumps(draw(seed).policy), "p.yaml").profiles


def test_improvement_is_counted_by_plugin() -> None:
    """One row with both sides' evictions."""
    row = improvement_table([case(["web-0"], total=3)]).splitlines()[-1]
    cells = row.strip("| ").split(" | ")
    assert cells[:3] == [KIND, "1", "3"]
    assert cells[6] == "0"


def test_recordings_are_kept_and_found_again(tmp_path: Path) -> None:
    """What was never played is not there."""
    keep(tmp_path, case(["web-0"]))
    assert recorded(tmp_path, 1) == case(["web-0"])
    assert recorded(tmp_path, 2) is None


def test_measured_use_is_drawn_served_and_judged_alike() -> None:
    """What the stand-in answers is what a recording holds, and by it the plugin chooses."""
    drawn, use = measured_case(3)
    assert (drawn, use) == measured_case(3)
    assert drawn.policy["metricsProviders"] == [{"source": "KubernetesMetrics"}]
    assert set(use.nodes) == {node["metadata"]["name"] for node in drawn.nodes}
    node = use.document(["nodes", "n0"])
    assert node is not None
    assert node["usage"]["cpu"] == f"{use.nodes['n0'][0]}m"
    (space, name), _ = next(iter(use.pods.items()))
    assert use.document(["namespaces", space, "pods", f"{name}-1"]) == use.of_pod(space, f"{name}-1")
    assert use.document(["namespaces", space, "pods", "none-1"]) is None
    args = {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 50}, "metricsUtilization": {"source": SOURCE}}
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "LowNodeUtilization", "args": args}],
        "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
    }
    found = case(["web-0"])
    provided = {"metricsProviders": [{"source": SOURCE}], "profiles": [profile], "maxNoOfPodsToEvictTotal": 1}
    samples = [DrawnUse({"a": (3500, 1), "b": (10, 1), "c": (10, 1)}).of_node(item) for item in "abc"]
    samples.append(DrawnUse(pods={("default", "web"): (900, 1)}).of_pod("default", "web-0"))
    cluster = {"kind": "List", "items": [*found.cluster["items"], *samples]}
    assert judge(found._replace(policy={**found.policy, **provided}, cluster=cluster)).kind == SAME
