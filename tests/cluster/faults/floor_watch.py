"""Watches a workload's ready pods all the time, to tell afterwards how few there ever were."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import urllib3

from tests.cluster.api import Api, ApiError, Manifest
from tests.cluster.cluster import condition

PAUSE_SECONDS = 0.03


class FloorWatch:
    """``fewest``: the smallest number of ready pods seen of one label value; ``looks``: how often it was counted."""

    def __init__(self, api: Api, labels: str) -> None:
        self.fewest = 1_000_000
        self.looks = 0
        self._api = api
        self._labels = labels
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_over.wait(PAUSE_SECONDS):
            try:
                pods = self._api.list("pods", "default", labels=self._labels)
            except (ApiError, urllib3.exceptions.HTTPError):  # the server may be down on purpose
                continue
            self.looks += 1
            self.fewest = min(self.fewest, sum(map(is_serving, pods)))


def is_serving(pod: Manifest) -> bool:
    """Whether a pod is ready and not on its way out."""
    return condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


@contextmanager
def floor_watch(api: Api, labels: str) -> Iterator[FloorWatch]:
    """Watch until the block ends."""
    watch = FloorWatch(api, labels)
    watch.start()
    try:
        yield watch
    finally:
        watch.stop()
