"""Arguments of the load-aware plugins, as kube-scheduler's file gives them, and as this project's own form does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from rescheduler.model.objects.resources import CPU, QuantityError, requested_amount
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import choices, quoted, shown, without_credentials
from rescheduler.scheduling.configuration.metrics_source import ForeignMetrics, trimaran_metrics
from rescheduler.scheduling.scores.best_fit_bin_pack import BestFitBinPackArguments
from rescheduler.scheduling.scores.load_variation_risk_balancing import LoadVariationRiskBalancingArguments
from rescheduler.scheduling.scores.low_risk_over_commitment import LowRiskOverCommitmentArguments, RiskLimitWeights
from rescheduler.scheduling.scores.safe_balancing import SafeBalancingArguments
from rescheduler.scheduling.scores.target_load_packing import TargetLoadPackingArguments
from rescheduler.scheduling.scoring.usage_arguments import DefaultRequests

_PROVIDERS = ["KubernetesMetricsServer", "Prometheus", "SignalFx"]
_DEFAULT_TARGET, _DEFAULT_MULTIPLIER, _DEFAULT_WINDOW, _DEFAULT_CPU = 40, 1.5, 5, "1000m"
_FACTOR = re.compile(r"[-+]?[0-9]{1,9}(\.[0-9]{0,18})?([eE][-+]?[0-9]{1,2})?")
_LARGEST_VARIANCE = 100.0
_LARGEST_WINDOW = 1_000_000
DEFAULTS: Final[Mapping[str, PolicyModel]] = {
    "TargetLoadPacking": TargetLoadPackingArguments(upstream_compatible=True),
    "LoadVariationRiskBalancing": LoadVariationRiskBalancingArguments(upstream_compatible=True),
    "LowRiskOverCommitment": LowRiskOverCommitmentArguments(upstream_compatible=True),
    "BestFitBinPack": BestFitBinPackArguments(),
    "SafeBalancing": SafeBalancingArguments(),
}
"""Arguments of plugins that a file does not configure."""


def read_load_aware(fields: Fields, plugin: str) -> PolicyModel:
    """Arguments of one load-aware plugin; those that no scheduler ships take the form of the score of that name."""
    if plugin == "TargetLoadPacking":
        return target_load_packing(fields)
    if plugin == "LoadVariationRiskBalancing":
        return load_variation_risk_balancing(fields)
    if plugin == "LowRiskOverCommitment":
        return low_risk_over_commitment(fields)
    return own_form(fields, type(DEFAULTS[plugin]))


def load_metrics(fields: Fields) -> ForeignMetrics:
    """Where the plugin reads load, as data for an offer of providers."""
    return trimaran_metrics(fields.child("metricProvider").data, fields.raw("watcherAddress"))


def load_source(fields: Fields) -> str:
    """Where the plugin reads load, in words; credentials are never repeated."""
    address = fields.text("watcherAddress")
    provider = fields.child("metricProvider")
    kind = provider.text("type")
    if kind and kind not in _PROVIDERS:
        provider.findings.refuse(provider.at("type"), f"found {quoted(kind)}; {choices(kind, _PROVIDERS)}")
    where = without_credentials(provider.text("address"))
    provider.has("token")
    provider.boolean("insecureSkipVerify", default=True)
    provider.refuse_unread()
    if address:
        return f"a load watcher at {without_credentials(address)}"
    return f"{kind or _PROVIDERS[0]}{f' at {where}' if where else ''}"


def target_load_packing(fields: Fields) -> TargetLoadPackingArguments:
    """A target of 0 or less becomes the default; one above 100 would fail every pod."""
    target = fields.integer("targetUtilization", _DEFAULT_TARGET)
    findings, path = fields.findings, fields.at("targetUtilization")
    if target <= 0:
        findings.warn(path, f"found {target}; the scheduler goes by its default, {_DEFAULT_TARGET}")
        target = _DEFAULT_TARGET
    elif target > 100:
        findings.refuse(
            path, f"found {target}; wanted 1 to 100, beyond that scores leave 0 to 100 and no pod is placed"
        )
        target = _DEFAULT_TARGET
    found = TargetLoadPackingArguments(
        target_utilization=float(target),
        default_requests=DefaultRequests(cpu=_default_cpu(fields)),
        default_requests_multiplier=_multiplier(fields),
        upstream_compatible=True,
    )
    fields.refuse_unread()
    return found


def load_variation_risk_balancing(fields: Fields) -> LoadVariationRiskBalancingArguments:
    """Negative values become the defaults."""
    found = LoadVariationRiskBalancingArguments(
        safe_variance_margin=_variance(fields, "safeVarianceMargin"),
        safe_variance_sensitivity=_variance(fields, "safeVarianceSensitivity"),
        upstream_compatible=True,
    )
    fields.refuse_unread()
    return found


def low_risk_over_commitment(fields: Fields) -> LowRiskOverCommitmentArguments:
    """Weights by resource as today's plugin reads them, or the one weight of its design."""
    window = fields.integer("smoothingWindowSize", _DEFAULT_WINDOW)
    if not 0 < window <= _LARGEST_WINDOW:
        text = f"found {window}; the scheduler goes by its default, {_DEFAULT_WINDOW}"
        fields.findings.warn(fields.at("smoothingWindowSize"), text)
        window = _DEFAULT_WINDOW
    weights = _risk_weights(fields)
    fields.refuse_unread()
    return LowRiskOverCommitmentArguments(
        smoothing_window_size=window, risk_limit_weights=weights, upstream_compatible=True
    )


def own_form(fields: Fields, model: type[PolicyModel]) -> PolicyModel:
    """Arguments in the form of this project's own plugin of that name."""
    data = {key: value for key, value in fields.data.items() if key not in fields.asked and value is not None}
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        for one in error.errors(include_url=False):
            message = str(one["msg"]).removeprefix("Value error, ")
            text = "an unknown field" if one["type"] == "extra_forbidden" else f"found {shown(one['input'])}: {message}"
            fields.findings.refuse((*fields.path, *one["loc"]), text)
        return model()


def _risk_weights(fields: Fields) -> RiskLimitWeights:
    if fields.has("riskLimitWeight"):
        weight = _share(fields, "riskLimitWeight")
        fields.findings.warn(
            fields.at("riskLimitWeight"),
            f"read as {weight:g} for cpu and memory, as in KEP-357; today's plugin wants riskLimitWeights, by resource",
        )
        if not fields.has("riskLimitWeights"):
            return RiskLimitWeights(cpu=weight, memory=weight)
    below = fields.child("riskLimitWeights")
    found = RiskLimitWeights(cpu=_share(below, "cpu"), memory=_share(below, "memory"))
    for name in list(below.unread()):
        below.findings.warn(below.at(name), f"a weight for {quoted(name)} is accepted and never used", at_key=True)
    return found


def _share(fields: Fields, name: str) -> float:
    value = fields.number(name, 0.5)
    if 0 <= value <= 1:
        return value
    fields.findings.warn(fields.at(name), f"found {value:g}, not within 0 to 1; the scheduler goes by its default, 0.5")
    return 0.5


def _variance(fields: Fields, name: str) -> float:
    value = fields.number(name, 1.0)
    if value < 0:
        fields.findings.warn(fields.at(name), f"found {value:g}; the scheduler goes by its default, 1")
        return 1.0
    if value > _LARGEST_VARIANCE:
        fields.findings.warn(fields.at(name), f"found {value:g}; modelled up to {_LARGEST_VARIANCE:g} only")
    return min(value, _LARGEST_VARIANCE)


def _multiplier(fields: Fields) -> float:
    text = fields.text("defaultRequestsMultiplier", str(_DEFAULT_MULTIPLIER))
    path = fields.at("defaultRequestsMultiplier")
    if _FACTOR.fullmatch(text) is None:
        fields.findings.refuse(path, f"found {quoted(text)}; wanted a number in quotes such as {_DEFAULT_MULTIPLIER}")
        return _DEFAULT_MULTIPLIER
    value = float(text)
    if not 0 < value <= 1000:
        taken = min(max(value, 0.001), 1000.0)
        fields.findings.warn(path, f"found {text}; modelled from 0.001 to 1000 only, read as {taken:g}")
        return taken
    return value


def _default_cpu(fields: Fields) -> str:
    """``defaultRequests.cpu``; without cpu in it nothing is assumed of a container that asks for nothing."""
    requests = fields.child("defaultRequests")
    if not fields.has("defaultRequests"):
        return _DEFAULT_CPU
    found = requests.raw(CPU)
    text = "0" if found is None else str(found)
    for _ in list(requests.unread()):
        requests.findings.warn(requests.path, "only cpu is used")
        break
    try:
        requested_amount(CPU, text)
    except QuantityError as error:
        requests.findings.refuse(requests.at(CPU), str(error))
        return _DEFAULT_CPU
    return text
