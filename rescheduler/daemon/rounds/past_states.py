"""Notices when the API server shows an older state of the cluster than it has shown before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resource_version import number_of

_BLOCK: Final = 1024
"""Pods that are compared at once: snapshots share what did not change, and tuples compare the very same at once."""


RESTORED_SECONDS: Final = 900.0
"""What has been shown for so long is no replica that lags, but a backup that was restored."""
MOST_GONE: Final = 20_000
"""So many pods that are gone are remembered, the last ones."""


class PastStates:
    """Remembers at which version each pod was seen last, and which are gone.

    A pod's version only rises, and a uid never comes back. Placeholders are left out: who carries plans out takes them
    out of what it reads.
    """

    def __init__(self) -> None:
        self._pods: Sequence[Pod] = ()
        self._seen: dict[str, int] = {}
        self._gone: dict[str, None] = {}
        self._older_since: float | None = None

    def refuse_older(self, cluster: Cluster) -> Cluster:
        """The very same, if it is not older than what was given before. Raises ClusterError."""
        before, after = changed_pods(self._pods, cluster.pods)
        pods = [pod for pod in after if pod.labels.get(MANAGED_BY) != OURS]
        numbers = [number_of(pod.resource_version) or 0 for pod in pods]
        older = next(filter(None, map(self._objection, pods, numbers)), None)
        if older is not None and not self._is_restored(cluster.taken_at):
            raise ClusterError(
                f"the API server shows an older state than before: {older}. Nothing is decided on it; if the cluster "
                f"was restored from a backup, it is believed after {RESTORED_SECONDS / 60:.0f} minutes"
            )
        if older is not None:
            self._gone = {}
        self._older_since = None
        now = {pod.uid: number for pod, number in zip(pods, numbers, strict=True)}
        left = [pod.uid for pod in before if pod.uid not in now and self._seen.pop(pod.uid, None) is not None]
        self._gone.update(dict.fromkeys(left))
        for uid in [*islice(self._gone, max(0, len(self._gone) - MOST_GONE))]:
            del self._gone[uid]
        self._seen.update(now)
        self._pods = cluster.pods
        return cluster

    def _is_restored(self, now: float) -> bool:
        """Whether nothing but the past was shown for long."""
        if self._older_since is None:
            self._older_since = now
        return now - self._older_since >= RESTORED_SECONDS

    def _objection(self, pod: Pod, now: int) -> str | None:
        """What of a pod is of the past."""
        if pod.uid in self._gone:
            return f"pod {pod.key} ({pod.uid}), which was gone"
        before = self._seen.get(pod.uid, 0)
        if 0 < now < before:
            return f"pod {pod.key} at version {now}, which was at {before}"
        return None


def changed_pods(before: Sequence[Pod], after: Sequence[Pod]) -> tuple[list[Pod], list[Pod]]:
    """Pods of the first that are not as they are in the second, and the other way round; both by namespace and name.

    A pod that changed is in both. In sequences of another order some that did not change are, too.
    """
    old: list[Pod] = []
    new: list[Pod] = []
    here = there = 0
    while here < len(before) and there < len(after):
        if before[here : here + _BLOCK] == after[there : there + _BLOCK]:
            here, there = here + _BLOCK, there + _BLOCK
            continue
        for _ in range(_BLOCK):
            if here >= len(before) or there >= len(after):
                break
            mine, theirs = before[here], after[there]
            names = (mine.namespace, mine.name), (theirs.namespace, theirs.name)
            if names[0] <= names[1]:
                here += 1
            if names[1] <= names[0]:
                there += 1
            if mine is not theirs and mine != theirs:
                old += [mine] if names[0] <= names[1] else []
                new += [theirs] if names[1] <= names[0] else []
    return [*old, *before[here:]], [*new, *after[there:]]
