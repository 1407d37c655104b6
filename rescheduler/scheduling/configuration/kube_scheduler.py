"""KubeSchedulerConfiguration: v1 and the betas and alphas before it, read as kube-scheduler reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from rescheduler.scheduling.configuration.extenders import ExtenderSettings, read_extenders
from rescheduler.scheduling.configuration.kube_profile import read_profile
from rescheduler.scheduling.configuration.settings import Configuration, ConfiguredProfile, ConfiguredScore
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER
from rescheduler.scheduling.reading.documents import ReadDocument
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import Findings, choices, quoted

GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
_VERSIONS = ["v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1"]
# The first minor version of Kubernetes 1 that refuses each.
_REFUSED_SINCE = {"v1beta3": 29, "v1beta2": 28, "v1beta1": 23, "v1alpha2": 20, "v1alpha1": 19}
_BOOLEANS = ("enableProfiling", "enableContentionProfiling", "delayCacheUntilActive")
_EARLIER_BOOLEANS = ("disablePreemption",)
_ADDRESSES = ("healthzBindAddress", "metricsBindAddress")
_ELECTION = ("leaseDuration", "renewDeadline", "retryPeriod", "resourceLock", "resourceName", "resourceNamespace")
_PROVIDERS = ["DefaultProvider", "ClusterAutoscalerProvider"]
_CONNECTION = ("kubeconfig", "acceptContentTypes", "contentType")


def read_kube_scheduler(document: ReadDocument, scheduler_name: str | None) -> Configuration:
    """Raises ConfigurationError for what kube-scheduler would not start with."""
    findings = Findings(document)
    fields = Fields(findings, (), document.data)
    version = _version(fields)
    findings.note_doubled(is_refused=True, reader="kube-scheduler")
    share = fields.integer("percentageOfNodesToScore", 0, 0, 100)
    _irrelevant(fields, version)
    if version == "v1alpha1":
        profiles = _first_alpha(fields, share, scheduler_name)
    else:
        profiles = _profiles(fields, version, share, read_extenders(fields), scheduler_name)
    fields.refuse_unread()
    findings.raise_problems()
    return Configuration(f"{KIND} {version}", profiles, findings.warning_lines())


def _version(fields: Fields) -> str:
    kind, text = fields.text("kind"), fields.text("apiVersion")
    group, _, version = text.rpartition("/")
    if kind != KIND:
        fields.findings.refuse(fields.at("kind"), f"found {quoted(kind)}; wanted {KIND}")
    if group != GROUP or version not in _VERSIONS:
        known = [f"{GROUP}/{name}" for name in _VERSIONS]
        fields.findings.refuse(fields.at("apiVersion"), f"found {quoted(text)}; {choices(text, known)}")
        return "v1"
    if version in _REFUSED_SINCE:
        text = f"kube-scheduler 1.{_REFUSED_SINCE[version]} and newer refuse {version}; write {GROUP}/v1"
        fields.findings.warn(fields.at("apiVersion"), text)
    return version


def _irrelevant(fields: Fields, version: str) -> None:
    """Fields that decide nothing here, except that kube-scheduler refuses some values and names of them."""
    fields.integer("parallelism", 16, low=1)
    initial = fields.integer("podInitialBackoffSeconds", 1, low=1)
    if fields.integer("podMaxBackoffSeconds", 10) < initial:
        text = f"less than podInitialBackoffSeconds, which is {initial}"
        fields.findings.refuse(fields.at("podMaxBackoffSeconds"), text)
    election, connection = fields.child("leaderElection"), fields.child("clientConnection")
    election.boolean("leaderElect", default=True)
    connection.integer("burst", 100)
    connection.number("qps", 50.0)
    for below, names in ((election, _ELECTION), (connection, _CONNECTION)):
        for name in names:
            below.text(name)
        below.refuse_unread()
    for name in _BOOLEANS if version not in ("v1alpha1", "v1alpha2") else (*_BOOLEANS, *_EARLIER_BOOLEANS):
        fields.boolean(name, default=False)
    if version not in ("v1", "v1beta3"):
        for name in _ADDRESSES:
            fields.text(name)
    if version in ("v1alpha1", "v1alpha2"):
        fields.integer("bindTimeoutSeconds", 600)


def _profiles(
    fields: Fields, version: str, share: int, extenders: ExtenderSettings, scheduler_name: str | None
) -> Mapping[str, ConfiguredProfile]:
    entries = fields.children("profiles") or [Fields(fields.findings, ("profiles", 0), {})]
    found: dict[str, ConfiguredProfile] = {}
    queues = []
    for number, entry in enumerate(entries):
        name = _name(entry, scheduler_name if len(entries) == 1 else None, is_only=len(entries) == 1)
        profile, queue = read_profile(entry, name, version, share, extenders)
        queues.append(queue)
        if name in found:
            entry.findings.refuse(entry.at("schedulerName"), f"a second profile named {quoted(name)}; keep one")
        if queue != queues[0]:
            text = f"profiles[{number}] and profiles[0] sort the queue differently; kube-scheduler refuses that"
            entry.findings.refuse(entry.at("plugins"), text)
        found[name] = profile
    if scheduler_name is not None and scheduler_name not in found:
        text = f"the file names its schedulers itself: {', '.join(found)}; leave schedulerName {scheduler_name} out"
        fields.findings.refuse(("profiles",), text)
    return found


def _name(entry: Fields, given: str | None, *, is_only: bool) -> str:
    written = entry.raw("schedulerName")
    name = entry.text("schedulerName")
    if written is None and is_only:
        return given or DEFAULT_SCHEDULER
    if not name:
        entry.findings.refuse(entry.path, "schedulerName is missing; each of several profiles needs one")
    return name


def _first_alpha(fields: Fields, share: int, given_name: str | None) -> Mapping[str, ConfiguredProfile]:
    """The one profile of v1alpha1: plugins at the top level, the algorithm by name.

    A policy that it points at is another file and not read.
    """
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
        most = replace(cast(Any, score.score), strategy="MostAllocated")
        return ConfiguredScore("NodeResourcesMostAllocated", score.weight, most)
    return replace(score, score=score.score.with_hard_affinity(weight))
