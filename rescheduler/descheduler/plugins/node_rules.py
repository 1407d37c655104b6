"""Pods whose node would not take them now: by a taint that they do not tolerate, or by their node affinity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import field_validator, model_validator

from rescheduler.descheduler.arguments import (
    PodArguments,
    refused,
)
from rescheduler.descheduler.cycle import PluginTurn
from rescheduler.descheduler.fitting import SOFT, tolerates_all
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod


class NodeAffinityArguments(PodArguments):
    """Evict pods from nodes that they would not be put on now."""

    node_affinity_type: tuple[str, ...]

    @field_validator("node_affinity_type")
    @classmethod
    def _is_given(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        if not types:
            raise refused("empty; write requiredDuringSchedulingIgnoredDuringExecution, or the preferred one")
        return types


class NodeTaintsArguments(PodArguments):
    """Evict pods that do not tolerate a taint of their node."""

    include_prefer_no_schedule: bool = False
    excluded_taints: tuple[str, ...] = ()
    included_taints: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_one(self) -> Any:
        if self.excluded_taints and self.included_taints:
            raise refused("both excludedTaints and includedTaints; write one of them")
        return self


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def remove_untolerating_pods(step: PluginTurn, arguments: NodeTaintsArguments) -> str:
    """Pods that do not tolerate a NoSchedule taint of their node; never NoExecute, which others see to."""
    for node in step.nodes:
        victims = (
            (pod, f"does not tolerate a taint of {node.name}")
            for pod in step.wanted(node, arguments)
            if is_untolerated(node, pod, arguments)
        )
        if not step.evict_each(victims):
            break
    return ""


def is_untolerated(node: Node, pod: Pod, arguments: NodeTaintsArguments) -> bool:
    """Whether the pod does not tolerate a taint of a node that the plugin looks at."""
    effects = ("NoSchedule", SOFT) if arguments.include_prefer_no_schedule else ("NoSchedule",)
    taints = [taint for taint in node.taints if taint.effect in effects and _is_looked_at(taint, arguments)]
    return not tolerates_all(pod.spec.tolerations, taints)


def _is_looked_at(taint: Taint, arguments: NodeTaintsArguments) -> bool:
    """By ``key`` or ``key=value``."""
    names = {taint.key, f"{taint.key}={taint.value}"}
    if arguments.included_taints:
        return bool(names.intersection(arguments.included_taints))
    return not names.intersection(arguments.excluded_taints)


def remove_misplaced_pods(step: PluginTurn, arguments: NodeAffinityArguments) -> str:
    """Pods on nodes that their node affinity does not let them on, or likes less than another; type by type."""
    unknown = [kind for kind in arguments.node_affinity_type if kind not in (REQUIRED, PREFERRED)]
    for kind in arguments.node_affinity_type:
        for node in step.nodes:
            chosen = {REQUIRED: _not_let_on, PREFERRED: _not_liked_best}.get(kind)
            if chosen is not None and not step.evict_each(chosen(step, node, arguments)):
                break
    return f"nodeAffinityType {unknown[0]!r} is none" if unknown else ""


def _not_let_on(step: PluginTurn, node: Node, arguments: NodeAffinityArguments) -> Iterator[tuple[Pod, str]]:
    for pod in step.wanted(node, arguments):
        if not has_required(pod) or step.fitting.matches(pod, node):
            continue
        if step.fitting.fits_any(pod, step.nodes):
            yield pod, f"its node affinity does not let it on {node.name}"


def has_required(pod: Pod) -> bool:
    """Whether it has required node affinity; a node selector alone does not count."""
    rules = pod.spec.node_affinity
    return rules is not None and rules.required is not None


def _not_liked_best(step: PluginTurn, node: Node, arguments: NodeAffinityArguments) -> Iterator[tuple[Pod, str]]:
    for pod in step.wanted(node, arguments):
        if is_liked_less(step, pod, node) and step.fitting.fits_any(pod, step.nodes):
            yield pod, f"its node affinity likes another node better than {node.name}"


def is_liked_less(step: PluginTurn, pod: Pod, node: Node) -> bool:
    """Whether a pod's preferred node affinity likes another node of the cycle better."""
    rules = pod.spec.node_affinity
    if rules is None or not rules.preferred:
        return False
    best = max(step.fitting.preference(pod, other) for other in step.nodes)
    return best > step.fitting.preference(pod, node)
