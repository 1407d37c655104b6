"""Pods that most rules cannot tell apart, so that they are asked once for each kind and not for each pod."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.selectors import same_labels
from rescheduler.model.objects.pod import Pod


class PodKinds:
    """Pods in kinds: same namespace, specification, labels, annotations, owners, volumes, phase,
    readiness and trouble.

    ``kind_of``: the kind of each pod, NOWHERE of one that was not asked about; ``examples``: one pod of each kind;
    ``sizes``: pods of each kind.
    """

    def __init__(self, pods: Sequence[Pod], only: Collection[int] | None = None) -> None:
        """Sort pods into kinds, those at these places or all; O(pods), quick where replicas share specification and
        labels as one object."""
        self.kind_of: list[int] = [NOWHERE] * len(pods)
        self.examples: list[Pod] = []
        self.sizes: list[int] = []
        maps = _Maps()
        numbers: dict[Hashable, int] = {}
        for place in range(len(pods)) if only is None else only:
            pod = pods[place]
            key = (
                pod.namespace,
                id(pod.spec),
                maps.number(pod.labels),
                maps.number(pod.annotations),
                pod.owners,
                pod.volumes,
                pod.phase,
                counts_as_ready(pod),
                pod.is_terminating,
                pod.trouble,
            )
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(self.examples)
                self.examples.append(pod)
                self.sizes.append(0)
            self.sizes[number] += 1
            self.kind_of[place] = number


def counts_as_ready(pod: Pod) -> bool:
    """True for a pod that serves now: on a node, Ready, and not about to go."""
    return pod.is_ready and pod.node_name is not None and pod.deletion_at is None and not pod.is_finished


class _Maps:
    """Numbers for equal maps; one that is the very same object is looked at only once."""

    def __init__(self) -> None:
        self._by_id: dict[int, int] = {}
        self._by_value: dict[Hashable, int] = {}

    def number(self, labels: Mapping[str, str]) -> int:
        number = self._by_id.get(id(labels))
        if number is None:
            number = self._by_value.setdefault(same_labels(labels), len(self._by_value))
            self._by_id[id(labels)] = number
        return number
