"""However the API server and the network answer, two processes never lead at one moment, and one does in the end."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import Connection
from tests.soak.leases import Election

SECONDS = 1200.0


@pytest.mark.parametrize("seed", range(4))
def test_two_never_lead_at_one_moment(seed: int) -> None:
    """With lost, late, garbled and refused answers, kills and pauses amid calls, and a lease that people delete."""
    election = Election(seed, 3, 0.15, kills=6.0)
    election.live(SECONDS)
    assert election.most == 1
    assert len(election.leaders) > 1, "the lease changed hands"
    assert sum(election.faults.struck.values()) > 50
    election.faults.is_on = False
    election.live(120.0)
    assert len(election.leading) == 1
    assert election.most == 1


def test_one_leads_for_good_where_nothing_goes_wrong() -> None:
    """It is elected within the duration of a lease, and nobody else ever is."""
    election = Election(1, 3, 0.0)
    election.live(20.0)
    first = election.leading
    election.live(SECONDS)
    assert election.leading == first == election.leaders
    assert len(first) == election.most == 1


def test_a_lease_that_is_written_unconditionally_has_two_leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the first test would find it."""
    original = Connection.send

    def send(self: Connection, method: str, path: str, body: Any = None, **named: Any) -> Any:
        if method == "PUT":
            metadata = {key: value for key, value in body["metadata"].items() if key not in ("resourceVersion", "uid")}
            body = {**body, "metadata": metadata}
        return original(self, method, path, body, **named)

    monkeypatch.setattr(Connection, "send", send)
    found = []
    for seed in range(10):
        election = Election(seed, 3, 0.15)
        election.live(SECONDS)
        found.append(election.most)
        if election.most > 1:
            break
    assert max(found) > 1
