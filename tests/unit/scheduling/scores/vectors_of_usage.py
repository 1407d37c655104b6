"""Score vectors of the plugins that look at measured load, fed to these plugins."""

from __future__ import annotations

from typing import Any

import numpy as np

from rescheduler.model.columns.placement import placed_totals
from rescheduler.model.objects.pod import INIT, ContainerResources, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.demand import trimaran_demand, trimaran_demands
from rescheduler.model.usage.predicted_use import UsePredictor, is_missing, retained
from rescheduler.model.usage.usage_readings import Reading, statistics_of
from rescheduler.scheduling.scores.best_fit_bin_pack import combined, scaled
from rescheduler.scheduling.scores.load_variation_risk_balancing import (
    LoadVariationRiskBalancing,
    LoadVariationRiskBalancingArguments,
    mean_and_deviation,
    resource_score,
)
from rescheduler.scheduling.scores.low_risk_over_commitment import commitment
from rescheduler.scheduling.scores.safe_balancing import SafeBalancing, safe_share
from rescheduler.scheduling.scores.target_load_packing import (
    TargetLoadPacking,
    TargetLoadPackingArguments,
    simple_form,
    utilisation,
)
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.vector_file import assert_close

Vector = dict[str, Any]


def target_load_packing(vector: Vector) -> None:
    """One node, one pod; or whether a pod is missing from the metrics."""
    given, wanted = vector["inputs"], vector["expected"]
    if "bind_unix" in given:
        found = is_missing(np.array([given["bind_unix"]]), np.array([given["window_end_unix"]]))
        assert found.tolist() == [wanted["predict"]]
    elif "used_cores" in given:
        percent = utilisation(np.array([given["used_cores"]]), given["pod_cpu_cores"], np.array([4]))
        assert percent.tolist() == [wanted["utilisation_percent"]]
        assert simple_form(percent).tolist() == [wanted["score"]]
    else:
        _packing_by_plugin(given, wanted)
        if "utilisation_percent" in wanted:
            containers = [_container(item) for item in given["pod_containers"]]
            added = UsePredictor(1.5, given["default_requests_milli"]).of_containers(
                containers, given["overhead_milli"]
            )
            used = given["node_utilisation_percent"] / 100 * given["node_cpu_milli"] + given["missing_milli"]
            found = utilisation(np.array([used]), added, np.array([given["node_cpu_milli"]]))
            assert_close(found.tolist(), [wanted["utilisation_percent"]], vector)


def _packing_by_plugin(given: Vector, wanted: Vector) -> None:
    """The same through the plugin: the pod recently bound has a limit of what is missing."""
    containers = tuple(_container(item) for item in given.get("pod_containers", ()))
    asking = pod(
        "new",
        containers=containers or (ContainerResources(kind=INIT),),
        overhead=((CPU, given.get("overhead_milli", 0)),),
    )
    recent = pod(
        "recent", node="n", scheduled_at=NOW - 1, containers=(usages.container(limit=given.get("missing_milli", 0)),)
    )
    world = cluster(node("n", cpu=f"{given['node_cpu_milli']}m"), asking, recent)
    percent = given.get("node_utilisation_percent")
    arguments = TargetLoadPackingArguments.model_validate(
        {
            "targetUtilization": given["target_percent"],
            "defaultRequests": {"cpu": f"{given.get('default_requests_milli', 1000)}m"},
            "upstreamCompatible": True,
        }
    )
    plugin = TargetLoadPacking(usages.usage(world, {"n": percent}), arguments)
    assert usages.scores(plugin, usages.placement(world), "new") == {"n": wanted["score"]}


def _container(item: Vector) -> ContainerResources:
    return usages.container(item.get("request_m"), item.get("limit_m"))


def pod_memory(vector: Vector) -> None:
    """Which changes are remembered."""
    given = vector["inputs"]
    found = retained(given["entry_ages_s"], given["retention_s"], is_upstream=True)
    assert found == vector["expected"]["kept_ages_s"]


def packing_with_spread(vector: Vector) -> None:
    """Five rows, and how they are scaled."""
    given, wanted = vector["inputs"], vector["expected"]
    points = np.array(given.get("S", [0]))
    if "rows" in given:
        points = combined(*(np.array([row[key] for row in given["rows"]]) for key in ("pts", "bfbp")))
        assert points.tolist() == wanted["S"]
    found = scaled(points, np.ones(len(points), dtype=np.bool_)).tolist()
    assert found == wanted.get("score", wanted.get("divide_by_max, nearest (half up)"))


def load_variation(vector: Vector) -> None:
    """One resource by the formula, or a node by the plugin."""
    given, wanted = vector["inputs"], vector["expected"]
    if "node_cpu_milli" in given:
        _variation_by_plugin(given, wanted)
        return
    lists = {key: np.atleast_1d(given[key]) for key in ("capacity", "request", "used_stdev")}
    used = np.atleast_1d(given.get("used_avg", given.get("used_mean")))
    mean, deviation = mean_and_deviation(lists["capacity"], lists["request"], used, lists["used_stdev"])
    found = resource_score(lists["capacity"], mean, deviation, given["margin"], given["sensitivity"])
    if "resource_scores" in wanted:
        assert_close(found.tolist(), wanted["resource_scores"], vector)
        assert int(found.min() + 0.5) == wanted["score"]
    else:
        assert np.floor(found + 0.5).tolist() == [wanted["resource_score"]]


def _variation_by_plugin(given: Vector, wanted: Vector) -> None:
    world = cluster(
        node("n", cpu=f"{given['node_cpu_milli']}m", memory=str(given["node_memory_bytes"])),
        pod("new", cpu=f"{given['pod_cpu_milli']}m", memory=str(given["pod_memory_bytes"])),
    )
    readings = [given[f"{name}_avg_std_percent"] for name in ("cpu", "memory")]
    cpu, memory = ({} if pair is None else {"n": tuple(pair)} for pair in readings)
    found = usages.usage(world, cpu, memory)
    for upstream in (True, False):
        arguments = LoadVariationRiskBalancingArguments(upstream_compatible=upstream)
        if cpu or memory or upstream:  # without any metrics ours goes by requests
            plugin = LoadVariationRiskBalancing(found, arguments)
            assert usages.scores(plugin, usages.placement(world), "new") == {"n": wanted["score"]}


def safe_balancing(vector: Vector) -> None:
    """The design's example: shares and room of each resource, and the node's score through the plugin."""
    given, wanted = vector["inputs"], vector["expected"]
    if "selected" in wanted:
        best = max(given["scores"], key=given["scores"].get)
        assert best == wanted["selected"]
        return
    cap, asked, mean, deviation = (np.array(given[key]) for key in ("capacity", "request", "used_mean", "used_stdev"))
    share = safe_share(mean / cap, asked / cap, deviation / cap)
    assert [int(value * 100 + 0.5 + 1e-9) / 100 for value in share] == wanted["S"]
    assert [int((1 - value) * 100 + 0.5 + 1e-9) for value in share] == wanted["U"]
    world = cluster(node("n", cpu="4", memory="8G"), pod("new", cpu="500m", memory="1G"))
    percents = [{"n": (float(m / c) * 100, float(d / c) * 100)} for m, d, c in zip(mean, deviation, cap, strict=True)]
    plugin = SafeBalancing(usages.usage(world, *percents))
    assert usages.scores(plugin, usages.placement(world), "new") == {"n": wanted["score"]}


def resource_stats(vector: Vector) -> None:
    """Mean and deviation, choice of readings, and a pod's own requests and limits."""
    given, wanted = vector["inputs"], vector["expected"]
    if "metrics" in given:
        readings = [Reading(item["type"], item["operator"], item["value"]) for item in given["metrics"]]
        found = statistics_of(readings, given["type"].lower())
        assert bool(found) == wanted["valid"]
        if found:
            amounts = [found[name] / 100 * given["allocatable"] for name in ("average", "deviation")]
            assert_close(amounts, [wanted["used_avg"], wanted["used_stdev"]], vector)
    elif "capacity" in given:
        found = mean_and_deviation(given["capacity"], given["request"], given["used_avg"], given["used_stdev"])
        assert_close([float(value) for value in found], [wanted["mu"], wanted["sigma"]], vector)
    else:
        rows = [*zip(given["cpu_milli"], given["memory_bytes"], strict=True)]
        rows.append((given["init_cpu_milli"], given["init_memory_bytes"]))
        amounts = [((CPU, cpu), (MEMORY, memory)) for cpu, memory in rows]
        kinds = ["App"] * (len(rows) - 1) + ["Init"]
        made = [ContainerResources(item, item, kind) for item, kind in zip(amounts, kinds, strict=True)]
        demand = trimaran_demand(PodSpec(containers=tuple(made), overhead=((CPU, given["overhead_cpu_milli"]),)))
        wanted_amounts = (wanted["cpu_milli"], wanted["memory_bytes"])
        assert (demand.requests, demand.limits) == (wanted_amounts, wanted_amounts)


def node_totals(vector: Vector) -> None:
    """Requests and limits of a node's pods with and without the pod to come."""
    given, wanted = vector["inputs"], vector["expected"]
    pods = [_limited(f"on-{number}", item, "n") for number, item in enumerate(given["pods_on_node"])]
    cpu, memory = given["allocatable"]
    world = cluster(node("n", cpu=f"{cpu}m", memory=str(memory)), _limited("new", given["pending_pod"], None), *pods)
    place = usages.placement(world)
    new = usages.index(place, "new")
    placed = placed_totals(place, trimaran_demands, without=new)
    asked = place.columns.facts(trimaran_demands)[:, place.columns.shape_of[new]]
    rows = [
        commitment((placed[row], placed[row + 2]), (asked[row], asked[row + 2]), np.array([given["allocatable"][row]]))
        for row in (0, 1)
    ]
    names = ("request", "limit", "request_minus_pod", "limit_minus_pod")
    assert {name: [int(row[at][0]) for row in rows] for at, name in enumerate(names)} == wanted


def _limited(name: str, item: Vector, home: str | None) -> Any:
    requests, limits = (tuple(zip((CPU, MEMORY), item[key], strict=True)) for key in ("req", "lim"))
    return pod(name, node=home, containers=(ContainerResources(requests, limits),))
