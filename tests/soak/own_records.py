"""Where a process under test writes down what it does: the ledger in the cluster, and the log on its own disk."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError
from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.extension_points import (
    AuditLog,
    ClusterError,
    LedgerDeniedError,
    LedgerReading,
    LedgerStore,
    StoreError,
)
from rescheduler.model.daemon.ledger import Ledger, LedgerEntry
from tests.soak.trace import LedgerWrite, Request
from tests.soak.wire import Struck, Wire


class ProcessLedger(LedgerStore):
    """One process's way to the ledger."""

    def __init__(self, wire: Wire, ledger: SimulatedLedger) -> None:
        self._wire = wire
        self._ledger = ledger

    def read(self) -> LedgerReading:
        """As it stands."""
        request = Request(0.0, 0, self._wire.name, "get", "ledger")
        try:
            reading = self._wire.call("ledger read", request, self._ledger.read)
        except Struck as struck:
            raise _ledger_error(struck) from None
        return reading

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Compare and swap."""
        wire = self._wire
        request = Request(0.0, 0, wire.name, "update", "ledger", body=ledger, resource_version=version)

        def swap() -> str | None:
            if request.fault == "conflict":
                return None
            written = self._ledger.write(ledger, version)
            if written is not None:  # whether or not the answer comes through: the next reading tells
                wire.plan = ledger.plan
            now = wire.clock.monotonic()
            wire.trace.tell(LedgerWrite(now, wire.name, version, written or "", written is not None, ledger))
            return written

        try:
            written = wire.call("ledger write", request, swap)
        except Struck as struck:
            if struck.is_known:
                raise _ledger_error(struck) from None
            raise OutcomeUnknownError(struck.fault.kind) from None
        if written is None:
            request.answer = "conflict"
        return written


class ProcessAudit(AuditLog):
    """The audit log on one machine's disk; ``lines`` outlive the process."""

    def __init__(self, wire: Wire, lines: list[LedgerEntry]) -> None:
        self._wire = wire
        self._lines = lines

    def note(self, entries: Sequence[LedgerEntry]) -> None:
        """Write down entries."""
        wire = self._wire
        wire.check()
        fault = wire.faults.draw("audit")
        kind = "" if fault is None else fault.kind
        if kind == "kill before":
            wire.die()
        if fault is not None and kind == "pause":
            wire.pause(fault.seconds)
        if kind == "disk":
            raise StoreError(wire.random.choice(("disk full", "read-only file system", "input/output error")))
        self._lines.extend(entries)
        wire.audited(entries)
        if kind in ("kill in", "kill after"):
            wire.die()


def _ledger_error(struck: Struck) -> ClusterError:
    text = f"{struck.fault.kind} ({struck.fault.status})"
    is_denied = struck.fault.kind == "refused" and struck.fault.status == 403
    return LedgerDeniedError(text) if is_denied else ClusterError(text)
