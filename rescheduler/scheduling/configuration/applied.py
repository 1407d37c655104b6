"""A snapshot as configured schedulers see it: what their profiles add to pods, and pods that nothing is known about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from msgspec.structs import replace as with_changes

from rescheduler.model.columns.columns import Columns, columns_of
from rescheduler.model.columns.spread import default_selector
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.resources import Resources, is_ignored
from rescheduler.scheduling.configuration.settings import ConfiguredProfile, Effect, NotModelled

_Interned: TypeAlias = dict[PodSpec, PodSpec]


def configured_cluster(cluster: Cluster, profiles: Mapping[str, ConfiguredProfile]) -> Cluster:
    """The cluster with what profiles say about their pods written into the pods.

    Constraints that hold by default and bind (DoNotSchedule) become the pod's own; resources that all who ask for
    them ignore are left out of requests; a pod that something unmodelled decides about is marked as such, so that it
    is never moved. A cluster that no profile changes comes back as it is.
    """
    ignored = _ignored_by_all(cluster, profiles)
    changes = {name: _change(profile, ignored) for name, profile in profiles.items()}
    if not any(changes.values()):
        return cluster
    columns = columns_of(cluster) if any(map(_binding, profiles.values())) else None
    kept: _Interned = {}
    pods = tuple(_changed(pod, changes.get(pod.spec.scheduler_name), columns, kept) for pod in cluster.pods)
    is_same = all(new is old for new, old in zip(pods, cluster.pods, strict=True))
    return cluster if is_same else replace(cluster, pods=pods)


_Change: TypeAlias = Callable[[Pod, Columns | None], PodSpec]


def _changed(pod: Pod, change: _Change | None, columns: Columns | None, kept: _Interned) -> Pod:
    if change is None:
        return pod
    spec = change(pod, columns)
    return pod if spec is pod.spec else with_changes(pod, spec=kept.setdefault(spec, spec))


def _change(profile: ConfiguredProfile, ignored: frozenset[str]) -> _Change | None:
    """What a profile does to a pod's specification; None where it does nothing to any pod."""
    unknown = [note for note in profile.not_modelled if note.effect is Effect.UNKNOWN]
    is_binding = _binding(profile)
    if not (unknown or is_binding or ignored):
        return None

    def change(pod: Pod, columns: Columns | None) -> PodSpec:
        spec = _marked(pod, unknown)
        if is_binding and columns is not None:
            spec = _constrained(pod, spec, profile, columns)
        return _without(spec, ignored) if ignored else spec

    return change


def _ignored_by_all(cluster: Cluster, profiles: Mapping[str, ConfiguredProfile]) -> frozenset[str]:
    """Resources that every pod asking for them may lack and no profile scores: nobody need count them.

    Others stay in the requests, since they take room from pods whose profile does look at them.
    """
    if not any(profile.ignored_resources or profile.ignored_resource_groups for profile in profiles.values()):
        return frozenset()
    weighed = {name for profile in profiles.values() for names in profile.weighed_resources.values() for name in names}
    asked = {
        (name, spec.scheduler_name)
        for spec in {id(pod.spec): pod.spec for pod in cluster.pods}.values()
        for name, amount in spec.requests
        if amount
    }
    counted = {name for name, scheduler in asked if not _ignores(profiles.get(scheduler), name)}
    return frozenset(name for name, _ in asked) - counted - weighed


def _ignores(profile: ConfiguredProfile | None, resource: str) -> bool:
    """Whether pods of a profile may lack a resource; only extended ones can be ignored."""
    return profile is not None and is_ignored(resource, profile.ignored_resources, profile.ignored_resource_groups)


def _binding(profile: ConfiguredProfile) -> bool:
    """Whether default constraints decide where pods fit."""
    return any(rule.when_unsatisfiable == "DoNotSchedule" for rule in profile.default_constraints)


def _marked(pod: Pod, notes: list[NotModelled]) -> PodSpec:
    names = tuple(note.name for note in notes if concerns(note, pod) and note.name not in pod.spec.unmodelled)
    return with_changes(pod.spec, unmodelled=(*pod.spec.unmodelled, *names)) if names else pod.spec


def concerns(note: NotModelled, pod: Pod) -> bool:
    """Whether a pod of the profile is one that a note is about."""
    if not (note.resources or note.pod_labels):
        return True
    asks = any(amount and name in note.resources for name, amount in pod.spec.requests)
    return asks or any(label in pod.labels for label in note.pod_labels)


def _constrained(pod: Pod, spec: PodSpec, profile: ConfiguredProfile, columns: Columns) -> PodSpec:
    """Default constraints as the pod's own: written by an operator, they mean the same."""
    selector = None if spec.topology_spread else default_selector(columns, pod)
    if selector is None:
        return spec
    own = tuple(with_changes(rule, selector=selector) for rule in profile.default_constraints)
    return with_changes(spec, topology_spread=own)


def _without(spec: PodSpec, ignored: frozenset[str]) -> PodSpec:
    kept = _kept(spec.requests, ignored)
    if len(kept) == len(spec.requests):
        return spec
    return with_changes(spec, requests=kept, scored_requests=_kept(spec.scored_requests, ignored))


def _kept(requests: Resources, ignored: frozenset[str]) -> Resources:
    return tuple((name, amount) for name, amount in requests if name not in ignored)
