"""Replicas of which a node has more than its even share."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

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


def remove_duplicates(step: PluginTurn, arguments: RemoveDuplicatesArguments) -> str:
    """Key by key: on each node as many stay as each of the nodes that could take them would have."""
    total: dict[Key, int] = defaultdict(int)
    duplicates: dict[Key, dict[str, list[Pod]]] = defaultdict(lambda: defaultdict(list))
    for node in step.nodes:
        first: set[Key] = set()
        for pod in step.pods_on(node):
            if not arguments.namespaces.let_in(pod.namespace) or not step.evictor.allows(pod):
                continue
            if not pod.owners or any(owner.kind in arguments.exclude_owner_kinds for owner in pod.owners):
                continue
            for key in _keys(step, pod):
                total[key] += 1
                if key in first:
                    duplicates[key][node.name].append(pod)
                first.add(key)
    for key in sorted(duplicates):
        if not _evict_above_share(step, key, total[key], duplicates[key]):
            break
    return ""


def _keys(step: PluginTurn, pod: Pod) -> list[Key]:
    images = tuple(sorted(step.detail(pod).images))
    return [(pod.namespace, owner.kind, owner.name, images) for owner in pod.owners]


def _evict_above_share(step: PluginTurn, key: Key, total: int, by_node: dict[str, list[Pod]]) -> bool:
    """False: the limit of the cycle is reached."""
    pods = [pod for found in by_node.values() for pod in found]
    targets = [node for node in step.nodes if any(_may_go_to(step, pod, node) for pod in pods)]
    if len(targets) < 2:
        return True
    share = -(-total // len(targets))
    for name in sorted(by_node):
        # The first of them, which is no duplicate, stays besides.
        for pod in by_node[name][share - 1 :]:
            if pod.key in step.cycle.evicted:  # as a pod of another owner of its
                continue
            answer = step.evict(pod, f"{key[1]} {key[0]}/{key[2]} has more than {share} pods on {name}")
            if answer is Reply.TOTAL_LIMIT:
                return False
            if answer is Reply.NODE_LIMIT:
                break
    return True


def _may_go_to(step: PluginTurn, pod: Pod, node: Node) -> bool:
    return step.fitting.matches(pod, node) and tolerates_hard(pod.spec.tolerations, node.taints)
