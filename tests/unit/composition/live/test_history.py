"""Whether a plan was begun is told by the ledger and the plan's own pods; nobody else is read for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.composition.live import history
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.execution.run.resuming import made_at
from rescheduler.extension_points import LedgerReading
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.policy.fields.policy import Policy
from tests.unit.adapters.api_objects import pod_object
from tests.unit.adapters.usage_stores import Told
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.execution.worlds import fragmented, two_moves

PLAN = two_moves(fragmented())
MADE = made_at(PLAN)
POD = PLAN.moves[0].pod


class Server:
    """Knows single pods, and what it was asked for; lists nothing."""

    server = "https://cluster"

    def __init__(self, *, stands: bool, now: float) -> None:
        self.server_time, self._stands = now, stands
        self.asked: list[str] = []

    def get(self, path: str, params: Mapping[str, str] | None = None) -> bytes:
        """A pod, where it stands."""
        assert params is None
        self.asked.append(path)
        if not self._stands:
            raise NotServedError("no such pod")
        found = pod_object(POD.name, "n0", namespace=POD.namespace)
        found["metadata"]["uid"] = POD.uid
        return msgspec.json.encode(found)


class Ledger:
    """One that is read once."""

    def __init__(self, *entries: LedgerEntry) -> None:
        self._entries = entries

    def read(self) -> LedgerReading:
        """As it stands."""
        return LedgerReading(ledger_of(*self._entries), "1")


def begun(monkeypatch: pytest.MonkeyPatch, server: Server, *entries: LedgerEntry) -> bool:
    """What is said of the plan, by this ledger."""
    answers: dict[str, Any] = {
        "connected": server, "cluster_identity": "cluster-1", "config_map_ledger": Ledger(*entries), "_from_here": []
    }  # fmt: skip
    for name, answer in answers.items():
        monkeypatch.setattr(history, name, lambda *_, answer=answer, **__: answer)
    return history.was_begun(PLAN, ClusterOptions(), Policy(), Told())


def of_plan(state: EntryState, **fields: Any) -> LedgerEntry:
    """An eviction of the plan's first pod, sent a moment after the plan was made."""
    return msgspec.structs.replace(entry(at=MADE + 5.0, state=state, ended_at=None), pod=POD, **fields)


@pytest.mark.parametrize("state", [EntryState.OPEN, EntryState.REPAID, EntryState.FAILED])
def test_a_pod_that_left_tells_it_without_another_look(monkeypatch: pytest.MonkeyPatch, state: EntryState) -> None:
    """Whether its replacement works makes no difference."""
    server = Server(stands=False, now=MADE + 3600.0)
    assert begun(monkeypatch, server, of_plan(state))
    assert server.asked == []


@pytest.mark.parametrize(
    ("stands", "seconds", "is_begun"), [(True, 3600.0, False), (True, 60.0, True), (False, 3600.0, True)]
)
def test_an_announcement_counts_unless_its_pod_still_stands(
    monkeypatch: pytest.MonkeyPatch, stands: bool, seconds: float, is_begun: bool
) -> None:
    """For so long that the eviction can take effect no more; that pod alone is read."""
    server = Server(stands=stands, now=MADE + seconds)
    assert begun(monkeypatch, server, of_plan(EntryState.INTENDED)) is is_begun
    assert server.asked == [f"/api/v1/namespaces/{POD.namespace}/pods/{POD.name}"]


def test_others_evictions_refusals_and_older_ones_begin_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is read for them."""
    others = [
        entry("other-0", at=MADE + 5.0, state=EntryState.INTENDED), of_plan(EntryState.REFUSED),
        of_plan(EntryState.NOT_EVICTED), of_plan(EntryState.OPEN, at=MADE - 100.0),
    ]  # fmt: skip
    server = Server(stands=True, now=MADE + 3600.0)
    assert not begun(monkeypatch, server, *others)
    assert server.asked == []
