"""Whether moves may start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PodReference, Refusal


class Gate(Protocol):
    """May these moves start now? Asked on a fresh snapshot right before the evictions of a wave."""

    def permit(
        self,
        moves: Sequence[Move],
        cluster: Cluster,
        sent: Sequence[PodReference],
        ledger: Ledger = EMPTY_LEDGER,
    ) -> Sequence[Permit | Refusal]:
        """One answer for each move, in order.

        ``cluster``: read just now; its ``taken_at`` is the time of every window. ``sent``: pods of this plan whose
        eviction was sent already, in whatever wave, the outcome unknown included; each counts as missing until its
        workload is complete again. ``ledger``: as it stands, with the debts of other plans and processes.
        """
