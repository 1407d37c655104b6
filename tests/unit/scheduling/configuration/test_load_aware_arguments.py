"""Arguments of the load-aware plugins, as kube-scheduler's file gives them."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.configuration import Configuration
from rescheduler.scheduling.scores.best_fit_bin_pack import BestFitBinPackArguments
from rescheduler.scheduling.scores.load_variation_risk_balancing import LoadVariationRiskBalancingArguments
from rescheduler.scheduling.scores.low_risk_over_commitment import LowRiskOverCommitmentArguments, RiskLimitWeights
from rescheduler.scheduling.scores.target_load_packing import TargetLoadPackingArguments
from rescheduler.scheduling.scoring.usage_arguments import DefaultRequests
from tests.unit.scheduling.configuration.reading import argument, kube, only, read, refusal


def loaded(plugin: str, arguments: str = "{}") -> str:
    """A profile that runs one load-aware plugin with these arguments."""
    return kube(
        f"profiles:\n- plugins: {{multiPoint: {{enabled: [{{name: {plugin}, weight: 2}}]}}}}\n"
        f"  pluginConfig:\n  - name: {plugin}\n    args: {arguments}\n"
    )


def setting(plugin: str, arguments: str = "{}") -> object:
    """How the score is set."""
    return argument(only(loaded(plugin, arguments)), plugin)


def warnings(configuration: Configuration) -> str:
    """All warnings."""
    return "\n".join(configuration.warnings)


def test_target_load_packing() -> None:
    """All arguments arrive; the score is the one of the scheduler's own plugin."""
    found = setting(
        "TargetLoadPacking",
        '{targetUtilization: 70, defaultRequests: {cpu: 250m}, defaultRequestsMultiplier: "2", watcherAddress: http://w}',
    )
    assert found == TargetLoadPackingArguments(
        target_utilization=70.0,
        default_requests=DefaultRequests(cpu="250m"),
        default_requests_multiplier=2.0,
        upstream_compatible=True,
    )


def test_defaults_without_arguments() -> None:
    """A plugin that no pluginConfig names has its defaults."""
    text = kube("profiles: [{plugins: {score: {enabled: [{name: TargetLoadPacking}]}}}]")
    assert argument(only(text), "TargetLoadPacking") == TargetLoadPackingArguments(upstream_compatible=True)
    assert setting("TargetLoadPacking") == TargetLoadPackingArguments(upstream_compatible=True)


@pytest.mark.parametrize("target", [0, -5])
def test_a_target_that_becomes_the_default(target: int) -> None:
    """The scheduler goes by 40 for a target of 0 or less."""
    text = loaded("TargetLoadPacking", f"{{targetUtilization: {target}}}")
    assert getattr(argument(only(text), "TargetLoadPacking"), "target_utilization", None) == 40
    assert f"found {target}; the scheduler goes by its default, 40" in warnings(read(text))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{targetUtilization: 101}", "found 101; wanted 1 to 100"),
        ("{targetUtilization: '40'}", "found '40'; wanted a whole number"),
        ("{targetUtilization: .nan}", "found nan; wanted a whole number"),
        ("{defaultRequestsMultiplier: 1.5}", "found 1.5; wanted a text: put it in quotes"),
        ("{defaultRequestsMultiplier: fast}", 'found "fast"; wanted a number in quotes'),
        ("{defaultRequestsMultiplier: nan}", 'found "nan"; wanted a number in quotes'),
        ("{defaultRequests: {cpu: lots}}", "defaultRequests.cpu"),
        ("{metricProvider: {type: Prometeus}}", "did you mean Prometheus?"),
        ("{metricProvider: {insecureSkipVerify: 'true'}}", "found 'true'; wanted true or false, without quotes"),
        ("{targetUtilisation: 40}", "did you mean targetUtilization?"),
    ],
)
def test_target_load_packing_that_is_refused(arguments: str, said: str) -> None:
    """What the plugin would not start with, or would fail every pod with, is an error."""
    assert said in refusal(loaded("TargetLoadPacking", arguments))


@pytest.mark.parametrize(("written", "taken"), [("0", 0.001), ("-1", 0.001), ("5000", 1000.0)])
def test_a_multiplier_beyond_what_is_modelled(written: str, taken: float) -> None:
    """It is brought within what is modelled, with a warning."""
    text = loaded("TargetLoadPacking", f"{{defaultRequestsMultiplier: '{written}'}}")
    assert getattr(argument(only(text), "TargetLoadPacking"), "default_requests_multiplier", None) == taken
    assert f"found {written}; modelled from 0.001 to 1000 only" in warnings(read(text))


def test_load_variation_risk_balancing() -> None:
    """Margin and sensitivity arrive; negative ones become 1."""
    found = setting("LoadVariationRiskBalancing", "{safeVarianceMargin: 2, safeVarianceSensitivity: 0.5}")
    assert found == LoadVariationRiskBalancingArguments(
        safe_variance_margin=2.0, safe_variance_sensitivity=0.5, upstream_compatible=True
    )
    text = loaded("LoadVariationRiskBalancing", "{safeVarianceMargin: -1}")
    assert getattr(argument(only(text), "LoadVariationRiskBalancing"), "safe_variance_margin", None) == 1
    assert "found -1; the scheduler goes by its default, 1" in warnings(read(text))


def test_low_risk_over_commitment_by_resource() -> None:
    """Today's form has a weight for each resource; others are accepted and never used."""
    text = loaded("LowRiskOverCommitment", "{smoothingWindowSize: 9, riskLimitWeights: {cpu: 0.2, disk: 0.1}}")
    assert argument(only(text), "LowRiskOverCommitment") == LowRiskOverCommitmentArguments(
        smoothing_window_size=9, risk_limit_weights=RiskLimitWeights(cpu=0.2, memory=0.5), upstream_compatible=True
    )
    assert 'a weight for "disk" is accepted and never used' in warnings(read(text))


def test_low_risk_over_commitment_by_one_weight() -> None:
    """The design's one weight stands for both resources, and is named as what today's plugin refuses."""
    text = loaded("LowRiskOverCommitment", "{riskLimitWeight: 0.7}")
    wanted = LowRiskOverCommitmentArguments(
        risk_limit_weights=RiskLimitWeights(cpu=0.7, memory=0.7), upstream_compatible=True
    )
    assert argument(only(text), "LowRiskOverCommitment") == wanted
    assert "today's plugin wants riskLimitWeights, by resource" in warnings(read(text))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{riskLimitWeights: {cpu: 1.5}}", "found 1.5, not within 0 to 1; the scheduler goes by its default, 0.5"),
        ("{riskLimitWeight: -1}", "found -1, not within 0 to 1"),
        ("{smoothingWindowSize: 0}", "found 0; the scheduler goes by its default, 5"),
        ("{smoothingWindowSize: -3}", "found -3; the scheduler goes by its default, 5"),
    ],
)
def test_values_that_become_defaults(arguments: str, said: str) -> None:
    """What the scheduler corrects is a warning, and is read as corrected."""
    text = loaded("LowRiskOverCommitment", arguments)
    found = argument(only(text), "LowRiskOverCommitment")
    assert isinstance(found, LowRiskOverCommitmentArguments)
    assert (found.smoothing_window_size, found.weights) == (5, {"cpu": 0.5, "memory": 0.5})
    assert said in warnings(read(text))


def test_plugins_that_no_scheduler_ships() -> None:
    """They take the arguments of the score of that name."""
    found = setting("BestFitBinPack", "{targetUtilization: 60, form: General, combineWithSpread: false}")
    assert found == BestFitBinPackArguments(target_utilization=60.0, form="General", combine_with_spread=False)
    assert "an unknown field" in refusal(loaded("BestFitBinPack", "{target: 60}"))
    assert "found 200" in refusal(loaded("BestFitBinPack", "{targetUtilization: 200, form: General}"))
    assert "confidence" in refusal(loaded("SafeBalancing", "{confidence: .nan}"))


def test_where_load_is_read() -> None:
    """The source is kept in words, without its credentials."""
    arguments = "{metricProvider: {type: Prometheus, address: 'http://me:secret@prom:9090', token: hush}}"
    source = only(loaded("TargetLoadPacking", arguments)).load_source
    assert source == "Prometheus at http://prom:9090"
    assert (
        only(loaded("TargetLoadPacking", "{watcherAddress: http://w:2020}")).load_source
        == "a load watcher at http://w:2020"
    )
    assert only(loaded("TargetLoadPacking")).load_source == "KubernetesMetricsServer"
