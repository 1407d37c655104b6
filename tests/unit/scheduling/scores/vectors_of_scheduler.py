"""Score vectors of kube-scheduler's own plugins and of load watchers, fed to the plugins through small clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from rescheduler.adapters.kubernetes.objects.pods.containers import ContainerNeeds, PodNeeds, effective_requests
from rescheduler.extension_points import Score
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import LabelSelector, Requirement, TopologySpreadConstraint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, resources
from rescheduler.model.usage.load_report import read_load_report, served_window
from rescheduler.model.usage.usage_readings import mean_of_points, percent_of, short_host
from rescheduler.scheduling.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit, along_shape
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread
from rescheduler.scheduling.scores.requested_to_capacity_ratio import (
    RequestedToCapacityRatio,
    RequestedToCapacityRatioArguments,
    ScoringStrategy,
    ten_point_scores,
)
from tests.builders import cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.vector_file import assert_close

Vector = dict[str, Any]
EXTENDED = ("intel.com/foo", "intel.com/bar")


def ratio(vector: Vector) -> None:
    """The shape alone, nodes by the plugin, the printed example, or what is refused."""
    given, wanted = vector["inputs"], vector["expected"]
    if "points" in given:  # its scores are raw; the plugin's are ten times as large
        shape = tuple((int(at), int(score)) for at, score in given["points"])
        assert (along_shape(shape, np.array(given["p"])) // 10).tolist() == wanted["value"]
    elif "error" in wanted:
        rows = [{"name": name, "weight": weight} for name, weight in zip(EXTENDED, given["weights"], strict=False)]
        with pytest.raises(ValidationError, match="greater than or equal to 1"):
            RequestedToCapacityRatioArguments.model_validate({"resources": rows})
    elif "scheduler_accepts" in wanted:
        _unsorted_shape(given["shape_0_10"])
    elif "resource_scores" in wanted or "exact_mean" in wanted:
        rows = [*zip(given["requested_incl_pod"], given["allocatable"], given["weights"], strict=True)]
        tens, total = ten_point_scores(given["shape_0_10"], rows)
        assert total == wanted.get("score", wanted.get("round_only_at_end"))
        assert tens == wanted.get("resource_scores", tens)
    else:
        _ratio_by_plugin(vector)


def _unsorted_shape(points: list[list[int]]) -> None:
    shape = [{"utilization": at, "score": score} for at, score in points]
    strategy = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": shape}}
    with pytest.raises(ValidationError, match="strictly increasing"):
        ScoringStrategy.model_validate(strategy)
    assert RequestedToCapacityRatioArguments.model_validate({"shape": shape}).points == ((0, 0), (100, 10))
    with pytest.raises(ValidationError, match="given twice"):
        RequestedToCapacityRatioArguments.model_validate({"shape": [shape[0], shape[0]]})


def _ratio_by_plugin(vector: Vector) -> None:
    given, wanted = vector["inputs"], vector["expected"]
    requested, offered = np.atleast_2d(given["requested_incl_pod"]), np.atleast_2d(given["allocatable"])
    names = given.get("order") or (EXTENDED[0], MEMORY, CPU)
    if requested.shape[1] < 3:
        names = (CPU, MEMORY) if "default" in vector["id"] else EXTENDED
    place = _cluster_of(requested, offered, names)
    shape = [{"utilization": at, "score": score} for at, score in given["shape_0_10"]]
    weights = [{"name": name, "weight": weight} for name, weight in zip(names, given["weights"], strict=False)]
    by_option = {"LeaveOut": "current_scheduler", "ScoreZero": "seed_rule"}
    for option, key in by_option.items():
        if key in wanted or option == "LeaveOut":
            arguments = RequestedToCapacityRatioArguments.model_validate(
                {"shape": shape, "resources": weights, "absentResources": option}
            )
            found = _points(RequestedToCapacityRatio(arguments), place)
            assert found == np.atleast_1d(wanted.get(key, wanted.get("score"))).tolist()


def least_allocated(vector: Vector) -> None:
    """Nodes by the plugin."""
    given = vector["inputs"]
    names = (CPU, MEMORY, EXTENDED[0])
    if vector["id"] == "least-allocated-absent-extended":
        names = (EXTENDED[0], CPU, MEMORY)
    place = _cluster_of(np.array(given["requested_incl_pod"]), np.array(given["allocatable"]), names)
    plugin = NodeResourcesFit("LeastAllocated", tuple(zip(names, given["weights"], strict=False)))
    assert _points(plugin, place) == vector["expected"]["score"]


def balanced(vector: Vector) -> None:
    """Nodes by the plugin, under the formula of the version."""
    given = vector["inputs"]
    after, before = np.array(given["requested_after"]), given.get("requested_before")
    names = (CPU, MEMORY, EXTENDED[0])[: after.shape[1]]
    asked = None if before is None else (after - before)[0]
    place = _cluster_of(after, np.array(given["allocatable"]), names, asked)
    plugin = NodeResourcesBalancedAllocation(tuple((name, 1) for name in names), scores_change=before is not None)
    if before is not None:
        known = [at for at, name in enumerate(names) if name in place.columns.resource_index]
        used = place.used[[place.columns.resource_index[names[at]] for at in known]]
        assert (np.array(before)[:, known] == used.T).all()
    assert _points(plugin, place) == vector["expected"]["score"]


def _cluster_of(requested: Any, offered: Any, names: tuple[str, ...], asked: Any = None) -> Placement:
    """A pod that asks for what is said (None: what all nodes have in common), and one on each node with the rest."""
    common = requested.min(axis=0) if asked is None else asked
    objects: list[Node | Pod] = [_pod("new", common, names, None)]
    for number, (used, room) in enumerate(zip(requested, offered, strict=True)):
        amounts = resources([*zip(names, map(int, room), strict=False), (PODS, 110)])
        objects.append(Node(f"n{number}", allocatable=amounts, capacity=amounts))
        objects.append(_pod(f"old-{number}", used - common, names, f"n{number}"))
    return usages.placement(cluster(*objects))


def _pod(name: str, amounts: Any, names: tuple[str, ...], home: str | None) -> Pod:
    requests = resources(zip(names, map(int, amounts), strict=False))
    return Pod("default", name, name, PodSpec(requests=requests, scored_requests=requests), node_name=home)


def _points(plugin: Score, place: Placement) -> list[int]:
    return list(usages.scores(plugin, place, "new").values())


def spread(vector: Vector) -> None:
    """Domains and matching pods as given, made of labels: a constraint has as many domains as it says."""
    candidates = vector["inputs"]["candidates"]
    rules = next(rows for rows in candidates.values() if rows is not None)
    with_keys = [name for name, rows in candidates.items() if rows is not None]
    labels: dict[str, dict[str, str]] = {name: {} for name in candidates}
    objects: list[Node | Pod] = []
    for number, rule in enumerate(rules):
        counts = {name: candidates[name][number]["matching_pods"] for name in with_keys}
        is_grouped = rule["domains"] < len(with_keys)
        seen: set[str] = set()
        for name in with_keys:
            domain = str(counts[name]) if is_grouped else name
            labels[name][f"key-{number}"] = domain
            if domain not in seen:
                objects.extend(
                    pod(f"p{number}-{name}-{item}", node=name, labels={f"c{number}": ""})
                    for item in range(counts[name])
                )
            seen.add(domain)
        assert len(seen) == rule["domains"]
    constraints = tuple(
        TopologySpreadConstraint(
            f"key-{number}", rule["max_skew"], "ScheduleAnyway", LabelSelector((Requirement(f"c{number}", "Exists"),))
        )
        for number, rule in enumerate(rules)
    )
    nodes = [node(name, labels=found) for name, found in labels.items()]
    place = usages.placement(cluster(*nodes, *objects, pod("new", topology_spread=constraints)))
    assert usages.scores(PodTopologySpread(), place, "new") == vector["expected"]["score"]


def pod_resources(vector: Vector) -> None:
    """Effective requests of a pod."""
    given, wanted = vector["inputs"], vector["expected"]
    if "order" in given:
        rows = [
            [ContainerNeeds(dict(zip(given["order"], item, strict=True))) for item in given[kind]]
            for kind in ("containers", "init_containers")
        ]
        found = effective_requests(PodNeeds(*rows))
        assert [found[name] for name in given["order"]] == wanted["total"]
        return
    containers = [ContainerNeeds({CPU: amount}) for amount in given["containers_milli"]]
    first = [ContainerNeeds({CPU: item["milli"]}, item["restart_always"]) for item in given["init_containers"]]
    assert effective_requests(PodNeeds(containers, first)) == {CPU: wanted["cpu_milli"]}


def load_watcher(vector: Vector) -> None:
    """Which window is served, what the design's sample says, and what the encoder writes."""
    given, wanted = vector["inputs"], vector["expected"]
    if "has" in given:
        kept = [window for window, is_kept in given["has"].items() if is_kept]
        assert served_window(kept, given["asked"], is_upstream=True) == wanted["served"]
        if given["asked"] == "15m":
            assert served_window(kept, "15m") == kept[0]
    elif "cached" in given:
        assert given["cached"][served_window(given["cached"], given["asked"])] == wanted["values"]
    elif "window_length_s" in wanted:
        report = read_load_report({**given, "data": sample_of_the_design(wanted["stray_siblings"])})
        assert report.window_seconds == wanted["window_length_s"]
        assert report.timestamp - report.window_end == wanted["timestamp_minus_end_s"]
        assert [name for name, readings in report.nodes.items() if readings] == wanted["nodes_with_metrics"]
    else:
        report = read_load_report(wanted)
        assert {name: len(readings) for name, readings in report.nodes.items()} == {"node-1": 2, "node-2": 0}
        assert report.nodes["node-1"][1] == ("Memory", "Latest", 1e-07)


def sample_of_the_design(strays: list[str]) -> Vector:
    """Nodes as the older form writes them, a statistic as rollup, and parts of a node beside the nodes by mistake."""
    cpu = {"name": "host.cpu.utilisation", "type": "cpu", "rollup": "AVG", "value": 20}
    memory = {"name": "host.memory.utilisation", "type": "memory", "rollup": "STD", "value": 5}
    nodes = {name: {"metrics": [cpu, memory], "tags": [{}]} for name in ("node-1", "node-2")}
    return {**nodes, **{name: {"pool": "light-apps"} for name in strays}}


def provider(vector: Vector) -> None:
    """Means of points by short host name, and percent of capacity."""
    given, wanted = vector["inputs"], vector["expected"]
    points = given.get("points") or given.get("cpu_points")
    if points:
        found = {short_host(name): mean_of_points(values) for name, values in points.items()}
        assert_close(found, wanted.get("values") or wanted["cpu"], vector)
    else:
        for name, unit in (("cpu", "milli"), ("memory", "bytes")):
            percent = percent_of(given[f"usage_{name}_{unit}"], given[f"capacity_{name}_{unit}"])
            assert percent == wanted[f"{name}_percent"]
