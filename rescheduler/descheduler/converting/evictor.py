"""What becomes of DefaultEvictor's arguments: scope and disruption of our own policy."""

from __future__ import annotations

from math import ceil
from typing import Any, Final

from rescheduler.descheduler.arguments import Selector
from rescheduler.descheduler.converting.draft import PolicyDraft
from rescheduler.descheduler.evictor import ON_BY_DEFAULT, DefaultEvictorArguments, PriorityThreshold
from rescheduler.model.objects.workload import SYSTEM_CLASSES
from rescheduler.policy.fields.values import LONGEST_SECONDS, format_duration

DISABLED: Final = {
    "DaemonSetPods": "pods of DaemonSets are never moved: they would come back to the same node",
    "SystemCriticalPods": "pods of priority 2,000,000,000 and above are never moved",
    "FailedBarePods": "failed pods without an owner are no matter of placement; plan, apply and run with the file "
    "itself remove them",
}
"""Protections that cannot be switched off."""


def convert_evictor(draft: PolicyDraft, path: str, evictor: DefaultEvictorArguments) -> None:
    """Every argument that is set, and the defaults that differ from ours."""
    _convert_scope(draft, path, evictor)
    _convert_protections(draft, path, evictor)
    if evictor.node_selector:
        draft.nothing(f"{path}.nodeSelector", "destinations are the nodes that kube-scheduler may choose")
    if "node_fit" in evictor.model_fields_set:
        text = "always on: a pod moves only to a node that the scheduler is predicted to choose and that has room"
        draft.nothing(f"{path}.nodeFit", text)
    if "min_replicas" in evictor.model_fields_set and evictor.min_replicas > 1:
        text = f"{path}.minReplicas: {evictor.min_replicas}; here single replicas stay"
        if evictor.min_replicas > 2:
            text += ", and workloads of 2 and more lose one replica at a time (workloads.maxUnavailable)"
        draft.put("disruption", "singleReplicas", "Deny", text)
    else:
        text = "descheduler moves single replicas too; write Allow to do the same"
        draft.leave("disruption", "singleReplicas", f"singleReplicas: Deny, the default: {text}")
    if evictor.no_eviction_policy:
        text = "pods with the annotation prefer-no-eviction always stay"
        draft.nothing(f"{path}.noEvictionPolicy: {evictor.no_eviction_policy}", text)


def _convert_scope(draft: PolicyDraft, path: str, evictor: DefaultEvictorArguments) -> None:
    if evictor.label_selector is not None:
        draft.put_selector(rules_of(evictor.label_selector), f"{path}.labelSelector")
    if evictor.namespace_label_selector is not None:
        found = written(evictor.namespace_label_selector)
        draft.put("scope", "namespaceSelector", found, f"{path}.namespaceLabelSelector")
    if evictor.min_pod_age is not None and evictor.min_pod_age >= 0:
        age = min(ceil(evictor.min_pod_age * 1000) / 1000, LONGEST_SECONDS)
        longer = "; ten years at most can be written" if age < evictor.min_pod_age else ""
        text = f"{path}.minPodAge; there it counts from the start of the pod, here from its creation{longer}"
        draft.put("scope", "minimumAge", format_duration(age), text)
    if evictor.priority_threshold is not None:
        _convert_threshold(draft, f"{path}.priorityThreshold", evictor)


def _convert_threshold(draft: PolicyDraft, path: str, evictor: DefaultEvictorArguments) -> None:
    threshold = evictor.priority_threshold or PriorityThreshold()
    if "SystemCriticalPods" not in evictor.protections:
        draft.nothing(path, "has no effect while the protection SystemCriticalPods is off")
    elif threshold.name:
        known = {found.name: found.value for found in SYSTEM_CLASSES}
        text = f"{path}.name: {threshold.name}"
        if threshold.name not in known:
            text += (
                f": a policy takes the number. Write the value of PriorityClass {threshold.name} here; until then only "
                "pods of a priority below 0 may be moved"
            )
        draft.put_least("scope", "priorityBelow", known.get(threshold.name, 0), text)
    elif threshold.value is not None:
        draft.put_least("scope", "priorityBelow", threshold.value, f"{path}.value")


def _convert_protections(draft: PolicyDraft, path: str, evictor: DefaultEvictorArguments) -> None:
    inside = f"{path}.podProtections" if evictor.pod_protections.model_fields_set else path
    on = evictor.protections
    for name in ON_BY_DEFAULT:
        if name in on:
            continue
        if name == "PodsWithLocalStorage":
            draft.put("disruption", "localStorage", "Allow", f"{inside}: the protection {name} is off")
        else:
            draft.nothing(f"{inside}, {name} off", DISABLED[name])
    if "PodsWithPVC" in on:
        classes = _protected_classes(evictor)
        text = f"{inside}: PodsWithPVC"
        if classes:
            text += (
                f" of the storage classes {', '.join(classes)}. Here the classes are named that may move: write "
                "{storageClasses: [NAME]} to let pods with those move"
            )
        draft.put("disruption", "persistentVolumes", "Deny", text)
    else:
        text = "descheduler moves pods with persistent volumes; write Allow, or {storageClasses: [NAME]}"
        draft.leave("disruption", "persistentVolumes", f"persistentVolumes: Deny, the default: {text}")
    if "PodsWithoutPDB" in on:
        text = f"{inside}: PodsWithoutPDB (in descheduler 0.36.0 it protects every pod)"
        draft.put("disruption", "withoutBudget", "Deny", text)
    if "PodsWithResourceClaims" in on:
        draft.nothing(f"{inside}: PodsWithResourceClaims", "pods with resource claims are never moved")


def _protected_classes(evictor: DefaultEvictorArguments) -> list[str]:
    config = evictor.pod_protections.config
    found = None if config is None else config.pods_with_pvc
    return [] if found is None else [item.name for item in found.protected_storage_classes]


def rules_of(selector: Selector) -> list[dict[str, Any]]:
    """A selector as rules alone, so that several can be put together."""
    rules = [{"key": key, "operator": "In", "values": [value]} for key, value in selector.match_labels.items()]
    more: list[dict[str, Any]] = written(selector).get("matchExpressions", [])
    return [*rules, *more]


def written(selector: Selector) -> dict[str, Any]:
    """A selector as policies write it."""
    found: dict[str, Any] = selector.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return found
