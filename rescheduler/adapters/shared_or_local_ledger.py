"""The ledger on the cluster where we may write it, else the one on this machine."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.extension_points import LedgerDeniedError, LedgerReading, LedgerStore
from rescheduler.model.ledger import Ledger


class SharedOrLocalLedger(LedgerStore):
    """Goes over to the local ledger, once and for all, when the shared one is denied; its stop mark counts as before.

    ``is_local``: nothing may be written on the cluster, so it begins so. ``is_needed``: the policy has budgets that
    several runs can only keep together; then it does not go over. ``tell`` is told when it does.
    """

    def __init__(
        self,
        shared: LedgerStore,
        local: LedgerStore,
        *,
        is_local: bool,
        is_needed: bool,
        tell: Callable[[str], None],
    ) -> None:
        self._shared = shared
        self._local = local
        self._is_local = is_local
        self._is_needed = is_needed
        self._tell = tell

    def read(self) -> LedgerReading:
        """The ledger in use. Raises LedgerDeniedError where it must be the shared one, ClusterError, StoreError."""
        if not self._is_local:
            try:
                return self._shared.read()
            except LedgerDeniedError as error:
                self._go_over(error)
        return self._local.read()._replace(stop=self._stop())

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace the ledger that is in use; None also when that has just become another one: read again."""
        if self._is_local:
            return self._local.write(ledger, version)
        try:
            return self._shared.write(ledger, version)
        except LedgerDeniedError as error:
            self._go_over(error)
        return None

    def _go_over(self, error: LedgerDeniedError) -> None:
        if self._is_needed:
            raise LedgerDeniedError(
                f"{error}; the policy has budgets with rate or maxMoving, which can only be kept with it, so nothing "
                "is evicted"
            ) from error
        self._is_local = True
        self._tell(f"{error}; evictions are written down on this machine alone, and other processes do not see them")

    def _stop(self) -> str | None:
        """Whether the shared ledger, or its namespace, carries the mark, as far as we may look."""
        try:
            return self._shared.read().stop
        except LedgerDeniedError:
            return None
