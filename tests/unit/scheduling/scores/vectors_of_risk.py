"""Score vectors of LowRiskOverCommitment and of Volcano's usage plugin."""

from __future__ import annotations

from typing import Any

import numpy as np

from rescheduler.model.objects.pod import ContainerResources
from rescheduler.model.objects.resources import CPU
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.scheduling.filters.node_usage import NodeUsage as NodeUsageFilter
from rescheduler.scheduling.scores.low_risk_over_commitment import (
    Commitment,
    LowRiskOverCommitment,
    LowRiskOverCommitmentArguments,
    limit_risk,
    load_risk,
    smoothed_deviation,
    total_risk,
)
from rescheduler.scheduling.scores.node_usage import (
    NodeUsage,
    NodeUsageArguments,
    dimension_room,
    factor_score,
    node_order,
)
from rescheduler.scheduling.scoring.beta_distribution import (
    BetaDistribution,
    fitted,
    largest_variance,
    probability_below,
)
from rescheduler.scheduling.scoring.shadow_load import (
    best_effort_estimate,
    composite,
    estimate,
    is_shadowed,
    risk_factor,
    weighted_load,
)
from tests.builders import cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.vector_file import assert_close
from tests.unit.scheduling.scores.vectors_of_usage import Vector, node_totals


def low_risk(vector: Vector) -> None:
    """One resource's risk, a node's totals, or a pod that asks for nothing."""
    given, wanted = vector["inputs"], vector["expected"]
    if "pods_on_node" in given:
        node_totals(vector)
    elif "pod_requests" in given:
        world = cluster(node("n"), pod("new", cpu="0", memory="0", containers=(ContainerResources(),)))
        plugin = LowRiskOverCommitment(usages.usage(world, {"n": given["cpu_avg_percent"]}))
        assert usages.scores(plugin, usages.placement(world), "new") == {"n": wanted["score"]}
    elif "limit_risk" in wanted:
        request, limit, capacity = (np.array([given[key]]) for key in ("request", "limit", "capacity"))
        found = limit_risk(Commitment(request, limit, request, limit, capacity))
        assert_close(found.tolist(), [wanted["limit_risk"]], vector)
        assert wanted["allowed"] / wanted["excess"] + found[0] == 1
    else:
        total = Commitment(
            *(
                np.array([given[key]])
                for key in ("request", "limit", "request_minus_pod", "limit_minus_pod", "capacity")
            )
        )
        has_room = given["capacity"] > 0
        mean = np.array([given["avg_percent"] / 100 if has_room else 0.0])
        deviation = smoothed_deviation(np.array([given["std_percent"] / 100]), given["smoothing_window"])
        by_load = load_risk(total, mean, deviation, np.array([True]))
        risk = total_risk(limit_risk(total), by_load, given["risk_limit_weight"])
        assert_close(risk.tolist(), [wanted["risk"]], vector)
        if "score_if_only_resource" in wanted:
            assert int((1 - risk[0]) * 100 + 0.5) == wanted["score_if_only_resource"]
        if has_room:
            _risk_by_plugin(given, risk[0])


def _risk_by_plugin(given: Vector, risk: float) -> None:
    """The same through the plugin: one pod on the node with the totals, one to come with the rest, no memory."""
    parts = (
        ("old", "n", given["request_minus_pod"], given["limit_minus_pod"]),
        ("new", None, given["request"] - given["request_minus_pod"], given["limit"] - given["limit_minus_pod"]),
    )
    pods = [
        pod(
            name, cpu=f"{request}m", memory="0", node=home,
            containers=(ContainerResources(((CPU, request),), ((CPU, limit),)),),
        )
        for name, home, request, limit in parts
    ]  # fmt: skip
    world = cluster(node("n", cpu=f"{given['capacity']}m"), *pods)
    arguments = LowRiskOverCommitmentArguments.model_validate(
        {"smoothingWindowSize": given["smoothing_window"], "riskLimitWeight": given["risk_limit_weight"]}
    )
    plugin = LowRiskOverCommitment(usages.usage(world, {"n": (given["avg_percent"], given["std_percent"])}), arguments)
    assert usages.scores(plugin, usages.placement(world), "new") == {"n": int((1 - risk) * 100 + 0.5)}


def beta(vector: Vector) -> None:
    """Validity, moments, fit, probabilities and density."""
    given, wanted = vector["inputs"], vector["expected"]
    if "mu" in given:
        found: Any = probability_below(*(np.array([given[key]], dtype=float) for key in ("mu", "sigma", "threshold")))
        assert_close(found.tolist(), [wanted["prob_below"]], vector)
    elif "max_variance" in wanted:
        assert_close(float(largest_variance(given["m1"])), wanted["max_variance"], vector)
    elif "m2" in given:
        found = fitted(given["m1"], given["m2"] - given["m1"] ** 2)
        assert bool(found.is_valid) == wanted["valid"]
    else:
        found = BetaDistribution(given["alpha"], given["beta"])
        if "valid" in wanted:
            assert bool(found.is_valid) == wanted["valid"]
        for key, value in wanted.items():
            if key.startswith("m"):
                assert_close(float(found.moment(int(key[1:]))), value, vector)
        if "cdf" in wanted:
            assert_close(float(found.below(given["x"])), wanted["cdf"], vector)
        if "pdf" in wanted:
            assert_close(float(found.density(given["x"])), wanted["pdf"], vector)


def volcano_usage(vector: Vector) -> None:
    """The filter on one node, or Volcano's order of several."""
    given, wanted = vector["inputs"], vector["expected"]
    rows = given.get("nodes", [given])
    names = [f"n{number}" for number in range(len(rows))]
    world = cluster(*map(node, names), pod("new"))
    is_measured = [row["metrics_age_s"] is not None for row in rows]
    known = [(name, row) for name, row, measured in zip(names, rows, is_measured, strict=True) if measured]
    found = usages.usage(
        world,
        {name: row["cpu_percent"] for name, row in known},
        {name: row["mem_percent"] for name, row in known},
        age={name: row["metrics_age_s"] for name, row in known},
    )
    windows, place = UsageWindows({600.0: found}), usages.placement(world)
    if "schedulable" in wanted:
        limits = {"cpu": given["threshold_cpu"], "memory": given["threshold_mem"]}
        arguments = NodeUsageArguments.model_validate(
            {"upstreamCompatible": True, "enablePredicate": given["enablePredicate"], "thresholds": [limits]}
        )
        rejections = NodeUsageFilter(windows, arguments.active_thresholds).reject(0, place)
        assert not any(item.is_resolvable for item in rejections)
        assert any(item.nodes[0] for item in rejections) != wanted["schedulable"]
        return
    weights = {"cpuWeight": given["cpu_weight"], "memoryWeight": given["memory_weight"]}
    arguments = NodeUsageArguments.model_validate(
        {"upstreamCompatible": True, "usageWeight": given["usage_weight"], **weights}
    )
    plugin = NodeUsage(windows, arguments)
    assert_close(plugin.order(0, place).tolist(), wanted["score"], vector)
    assert [given["usage_weight"] * score for score in usages.scores(plugin, place, "new").values()] == wanted["score"]


def estimator(vector: Vector) -> None:
    """Each number of the estimator, by what is asked for."""
    given, wanted = vector["inputs"], vector["expected"]
    weights = (given.get("cpu_weight", 0), given.get("memory_weight", 0))
    shares = np.array([[given.get("cpu", 0)], [given.get("mem", 0)]], dtype=float)
    found: float
    if "load" in wanted:
        found = weighted_load(shares[0], shares[1], weights)[0]
    elif "applied" in wanted:
        found = risk_factor(given["load"], given["risk_threshold"], given["risk_factor"])
    elif "score" in wanted:
        found = node_order(shares, weights, given["usage_weight"])[0]
    elif "composite" in wanted:
        real = np.array([given["real_percent"] / 100])
        found = composite(real, np.array([given["shadow"]], dtype=float), np.array([given["capacity"]]))[0]
    elif "configured" in given:
        found = best_effort_estimate(given["configured"], given["applied_risk_factor"])
    else:
        names = ("request", "limit", "request_ratio", "burst_ratio", "applied_risk_factor")
        found = estimate(*(given[name] for name in names))
    assert_close(found, next(iter(wanted.values())), vector)


def shadow(vector: Vector) -> None:
    """Whether a task's use is estimated."""
    given = vector["inputs"]
    found = is_shadowed(
        given["status"],
        has_node=given["has_node"],
        running_seconds=given["running_age_s"],
        delay_seconds=given["metrics_delay_s"],
    )
    assert found == vector["expected"]["tracked"]


def proposal(vector: Vector) -> None:
    """The design's table of factors, by our formula; its rows contradict each other, so they are fed one by one."""
    given, wanted = vector["inputs"], vector["expected"]
    nodes = [given["node1"], given["node2"]]
    pod_share = np.array([[given["pod_share"]["cpu"]] * 2, [given["pod_share"]["mem"]] * 2])
    shares = np.array([[row["dim"][name] / 100 for row in nodes] for name in ("cpu", "mem")])
    free = 1 - np.array([row["use"] for row in nodes]) / 100
    steadiness = 1 - np.array([row["fluct"] for row in nodes]) / 100
    weights = tuple(float(given["weights"][name]) for name in ("wu", "wf", "wd"))
    found = factor_score(free, steadiness, dimension_room(pod_share, shares), weights)  # type: ignore[arg-type]
    assert_close(found.tolist(), [wanted["node1"], wanted["node2"]], vector)
    assert ("node1", "node2")[int(found.argmax())] == wanted["preferred"]
