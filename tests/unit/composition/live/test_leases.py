"""The lease of a live cluster as the composition makes it: who we are, and how long a request for it may take."""

from __future__ import annotations

import os

import pytest

from rescheduler.composition.live.leases import own_identity, request_seconds
from rescheduler.policy.fields.daemon.leader_election import LeaderElectionPolicy


def test_each_process_has_a_name_of_its_own() -> None:
    """Even the same process, started again under the same number on the same machine."""
    names = {own_identity() for _ in range(100)}
    assert len(names) == 100
    assert all(f"_{os.getpid()}_" in name for name in names)


@pytest.mark.parametrize(("renew", "seconds"), [(10.0, 2.5), (40.0, 10.0), (1.0, 0.5)])
def test_several_requests_fit_into_a_deadline(renew: float, seconds: float) -> None:
    """One that hangs costs a quarter of it, and very short leases still leave half a second."""
    rules = LeaderElectionPolicy(lease_duration=renew * 2, renew_deadline=renew, retry_period=renew / 5)
    assert request_seconds(rules) == seconds
