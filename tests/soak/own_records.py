"""Where a process under test writes down what it does: the ledger in the cluster, and the log on its own disk."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rescheduler.execution.ledger.remembering_ledger import LedgerMemory
from rescheduler.extension_points import AuditLog, LedgerReading, LedgerStore, StoreError
from rescheduler.model.daemon.known_ledger import NOTHING_KNOWN, KnownLedger
from rescheduler.model.daemon.ledger import Ledger, LedgerEntry
from tests.soak.line.http_wire import HttpCall, HttpRequest, connection_of, status
from tests.soak.line.wire import HttpAnswer, Wire
from tests.soak.trace import LedgerWrite, Request
from tests.soak.world.ledger_object import NAME, LedgerObject, ledger_over


class ProcessLedger(LedgerStore):
    """One process's way to the ledger: the product's own adapter, over the wire."""

    def __init__(self, wire: Wire, ledger: LedgerObject) -> None:
        self._wire = wire
        self._object = ledger
        self._writing: tuple[Ledger, str] | None = None
        self._inner = ledger_over(connection_of(wire, self._routed))

    def read(self) -> LedgerReading:
        """As it stands."""
        return self._inner.read()

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Compare and swap."""
        self._writing = ledger, version
        return self._inner.write(ledger, version)

    def _routed(self, asked: HttpRequest) -> HttpCall:
        """The call that a request is."""
        if asked.method == "GET":
            request = Request(0.0, 0, self._wire.name, "get", "ledger" if not _is_shard(asked) else "ledger shard")
            return HttpCall("ledger read", request, lambda: self._object.answer(asked))
        if _is_shard(asked):
            request = Request(0.0, 0, self._wire.name, "update", "ledger shard")
            return HttpCall("ledger write", request, lambda: self._shard(asked, request))
        assert self._writing is not None
        ledger, version = self._writing
        request = Request(0.0, 0, self._wire.name, "update", "ledger", body=ledger, resource_version=version)
        return HttpCall("ledger write", request, lambda: self._swap(asked, request, ledger, version))

    def _shard(self, asked: HttpRequest, request: Request) -> HttpAnswer:
        if request.fault == "conflict":
            return status(409, "the object has been modified", meaning="conflict")
        return self._object.answer(asked)

    def _swap(self, asked: HttpRequest, request: Request, ledger: Ledger, version: str) -> HttpAnswer:
        if request.fault == "conflict":
            return status(409, "the object has been modified", meaning="conflict")
        wire = self._wire
        answer = self._object.answer(asked)
        is_written = answer.status < 300
        if is_written:  # whether or not the answer comes through: the next reading tells
            wire.plan = ledger.plan
        new = self._object.version if is_written else ""
        told = self._object.ledger if is_written else ledger
        size = len(json.dumps(asked.body, separators=(",", ":")))
        wire.trace.tell(LedgerWrite(wire.clock.monotonic(), wire.name, version, new, is_written, told, size))
        return answer if is_written else answer._replace(meaning="conflict")


def _is_shard(asked: HttpRequest) -> bool:
    name = asked.body["metadata"]["name"] if asked.method == "POST" else asked.path.rpartition("/")[2]
    return str(name).startswith(f"{NAME}-")


class ProcessMemory(LedgerMemory):
    """What one machine's disk remembers of the ledger."""

    def __init__(self) -> None:
        self._known = NOTHING_KNOWN

    def known(self, _name: str) -> KnownLedger:
        """As it was remembered last."""
        return self._known

    def remember(self, _name: str, known: KnownLedger) -> None:
        """From now on."""
        self._known = known


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
