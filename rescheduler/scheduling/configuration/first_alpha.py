"""KubeSchedulerConfiguration v1alpha1: one scheduler, its plugins at the top level, its algorithm by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rescheduler.scheduling.configuration.extenders import ExtenderSettings
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import choices, quoted
from rescheduler.scheduling.configuration.kube_profile import read_profile
from rescheduler.scheduling.configuration.settings import ConfiguredProfile, ConfiguredScore
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER
from rescheduler.scheduling.scores import InterPodAffinity

_PROVIDERS = ["DefaultProvider", "ClusterAutoscalerProvider"]


def read_first_alpha(fields: Fields, share: int, given_name: str | None) -> Mapping[str, ConfiguredProfile]:
    """The one profile of such a file; a policy that it points at is another file and not read."""
    name = fields.text("schedulerName") or given_name or DEFAULT_SCHEDULER
    weight = fields.integer("hardPodAffinitySymmetricWeight", 1, 0, 100)
    provider = _provider(fields.child("algorithmSource"))
    plugins = {key: fields.raw(key) for key in ("plugins", "pluginConfig") if fields.has(key)}
    profile, _ = read_profile(Fields(fields.findings, (), plugins), name, "v1alpha1", share, ExtenderSettings())
    scores = tuple(_changed(score, provider, weight) for score in profile.scores)
    return {name: replace(profile, scores=scores)}


def _provider(fields: Fields) -> str:
    name = fields.text("provider", _PROVIDERS[0])
    if fields.has("policy"):
        text = "the policy it points at is another file; name that file in the policy's schedulers instead"
        fields.findings.refuse(fields.at("policy"), text, at_key=True)
    if name not in _PROVIDERS:
        fields.findings.refuse(fields.at("provider"), f"found {quoted(name)}; {choices(name, _PROVIDERS)}")
    fields.refuse_unread()
    return name


def _changed(score: ConfiguredScore, provider: str, weight: int) -> ConfiguredScore:
    if score.plugin == "NodeResourcesLeastAllocated" and provider == "ClusterAutoscalerProvider":
        most = replace(score.arguments, strategy="MostAllocated")  # type: ignore[type-var]
        return ConfiguredScore("NodeResourcesMostAllocated", score.weight, most)
    if isinstance(score.arguments, InterPodAffinity):
        return replace(score, arguments=replace(score.arguments, hard_weight=weight))
    return score
