"""Who has no node, looked at all the time: how long pods waited, and for how much of that steps ended over them."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from tests.cluster.api import Api

LOOK_SECONDS: Final = 0.4


class Look(NamedTuple):
    """The uids of pods without a node at a time, in seconds of the monotonic clock."""

    at: float
    waiting: frozenset[str]


class Waits(NamedTuple):
    """Pod-minutes. ``in_all``: without a node; ``whole_steps``: of pods that waited when a step was over, each counted
    for all of it, as a replay counts; ``ended``: how many waits came to an end within their step.
    """

    in_all: float
    whole_steps: float
    ended: int

    @property
    def latency_seconds(self) -> float:
        """Of a wait that ended within its step, in the mean: what a control plane takes, and a replay does not."""
        return 60 * max(0.0, self.in_all - self.whole_steps) / max(1, self.ended)


class WaitWatch(threading.Thread):
    """Looks until it is told to stop."""

    def __init__(self, api: Api) -> None:
        super().__init__(daemon=True)
        self.looks: list[Look] = []
        self._api = api
        self._is_over = threading.Event()

    def run(self) -> None:
        """Ask for pods without a node, again and again."""
        while not self._is_over.is_set():
            pods = self._api.list("pods", "default", fields="spec.nodeName=")
            waiting = frozenset(pod["metadata"]["uid"] for pod in pods if "deletionTimestamp" not in pod["metadata"])
            self.looks.append(Look(time.monotonic(), waiting))
            self._is_over.wait(LOOK_SECONDS)

    def stop(self) -> list[Look]:
        """All that was seen."""
        self._is_over.set()
        self.join()
        return self.looks


def waits(looks: Sequence[Look], ends: Sequence[float]) -> Waits:
    """What looks say of steps that begin at ``ends[0]`` and then where the one before ended."""
    in_all = whole = 0.0
    ended = 0
    for begin, end in pairwise(ends):
        inside = [look for look in looks if begin <= look.at < end]
        at_end = inside[-1].waiting if inside else frozenset()
        times = [*(look.at for look in inside), end]
        in_all += sum(len(look.waiting) * (after - look.at) for look, after in zip(inside, times[1:], strict=True))
        whole += len(at_end) * (end - begin)
        ended += len(frozenset().union(*(look.waiting for look in inside)) - at_end)
    return Waits(in_all / 60, whole / 60, ended)
