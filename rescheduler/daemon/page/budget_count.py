"""Counts budgets in a thread beside, since they look at every pod, and no more often than that is worth."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final, NamedTuple

from rescheduler.daemon.page.budgets_left import BudgetLeft, budgets_left
from rescheduler.daemon.page.outlook import PageBasis
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from rescheduler.model.objects.cluster import Cluster

SHORTEST_SECONDS: Final = 5.0
COST_OF_COUNTING: Final = 0.05
"""The share of a processor that it may take, at most, while somebody looks at the page."""
PATIENCE_SECONDS: Final = 0.3
"""How long a page waits for a count; a small cluster's is there by then."""


class _Counted(NamedTuple):
    """``good_until``: on the clock that never jumps."""

    budgets: Sequence[BudgetLeft]
    good_until: float


class BudgetCount:
    """The newest count of a daemon's budgets. Asked from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._newest: _Counted | None = None
        self._worker: threading.Thread | None = None

    def latest(self, cluster: Cluster, basis: PageBasis) -> Sequence[BudgetLeft] | None:
        """What was counted last, a little old; None where nothing was yet."""
        with self._lock:
            newest, worker = self._newest, self._worker
            if worker is None and (newest is None or self._clock.monotonic() >= newest.good_until):
                worker = threading.Thread(target=self._count, args=(cluster, basis), name="page-budgets", daemon=True)
                self._worker = worker
                worker.start()
        if worker is not None:
            worker.join(PATIENCE_SECONDS)
        newest = self._newest
        return None if newest is None else newest.budgets

    def _count(self, cluster: Cluster, basis: PageBasis) -> None:
        began = self._clock.monotonic()
        try:
            found = budgets_left(cluster, basis.policy, basis.selection, basis.ledger or EMPTY_LEDGER)
            now = self._clock.monotonic()
            rest = max(SHORTEST_SECONDS, (now - began) / COST_OF_COUNTING)
            self._newest = _Counted(found, now + rest)
        finally:
            with self._lock:
                self._worker = None
