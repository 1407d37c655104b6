"""Replicas of which a node has more than its even share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from rescheduler.descheduler.arguments import (
    DeschedulerArguments,
    NamespaceChoice,
)
from rescheduler.descheduler.cycle import PluginTurn, Reply
from rescheduler.descheduler.fitting import tolerates_hard
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod


class RemoveDuplicatesArguments(DeschedulerArguments):
    """Evict replicas of which a node has more than its share."""

    namespaces: NamespaceChoice = NamespaceChoice()
    exclude_owner_kinds: tuple[str, ...] = ()


Key: TypeAlias = tuple[str, str, str, tuple[str, ...]]
"""Namespace, kind and name of an owner, and the images of all containers."""


class Crowd(NamedTuple):
    """Pods of one identity by node, in the order in which they are met; ``share``: as many stay on each."""

    by_node: Mapping[str, Sequence[Pod]]
    share: int


def crowds_of(step: PluginTurn, arguments: RemoveDuplicatesArguments) -> dict[Key, Crowd]:
    """By identity, those of which some node has two, and for which two nodes could be targets."""
    found: dict[Key, dict[str, list[Pod]]] = defaultdict(lambda: defaultdict(list))
    for node in step.nodes:
        for pod in step.pods_on(node):
            if not arguments.namespaces.let_in(pod.namespace) or not step.evictor.allows(pod):
                continue
            if not pod.owners or any(owner.kind in arguments.exclude_owner_kinds for owner in pod.owners):
                continue
            for key in _keys(step, pod):
                found[key][node.name].append(pod)
    crowds = {}
    for key in sorted(found):
        # The first of a node is no duplicate.
        duplicates = [pod for pods in found[key].values() for pod in pods[1:]]
        targets = [node for node in step.nodes if any(_may_go_to(step, pod, node) for pod in duplicates)]
        if len(targets) >= 2:
            total = sum(map(len, found[key].values()))
            crowds[key] = Crowd(found[key], -(-total // len(targets)))
    return crowds


def remove_duplicates(step: PluginTurn, arguments: RemoveDuplicatesArguments) -> str:
    """Key by key: on each node as many stay as each of the nodes that could take them would have."""
    for key, crowd in crowds_of(step, arguments).items():
        if not _evict_above_share(step, key, crowd):
            break
    return ""


def _keys(step: PluginTurn, pod: Pod) -> list[Key]:
    images = tuple(sorted(step.detail(pod).images))
    return [(pod.namespace, owner.kind, owner.name, images) for owner in pod.owners]


def _evict_above_share(step: PluginTurn, key: Key, crowd: Crowd) -> bool:
    """False: the limit of the cycle is reached."""
    for name in sorted(crowd.by_node):
        for pod in crowd.by_node[name][crowd.share :]:
            if pod.key in step.cycle.evicted:  # as a pod of another owner of its
                continue
            answer = step.evict(pod, f"{key[1]} {key[0]}/{key[2]} has more than {crowd.share} pods on {name}")
            if answer is Reply.TOTAL_LIMIT:
                return False
            if answer is Reply.NODE_LIMIT:
                break
    return True


def _may_go_to(step: PluginTurn, pod: Pod, node: Node) -> bool:
    return step.fitting.matches(pod, node) and tolerates_hard(pod.spec.tolerations, node.taints)
