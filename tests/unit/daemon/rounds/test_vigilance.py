"""Since when the cluster's health forbids to act."""

from __future__ import annotations

from dataclasses import replace

from rescheduler.daemon.rounds.vigilance import Vigilance
from rescheduler.disruption.gate.health import Signals
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from rescheduler.policy.fields.daemon.safety import Health
from tests.builders import NOW, cluster, node
from tests.clocks import FakeClock


def test_a_freeze_is_remembered_from_its_first_sight_to_its_last() -> None:
    """Its reasons are the newest, and another policy's rules take it over."""
    signals, clock = [Signals(api_error_share=0.9)], FakeClock()
    rules = Health(settle=0.0, calm=0.0, pending_rising=0.0)
    found = Vigilance(rules, clock, lambda _: signals[0])
    seen = cluster(node("n1"), node("n2"), node("n3"))
    found.look(seen, EMPTY_LEDGER)
    found.look(replace(seen, taken_at=NOW + 60), EMPTY_LEDGER)
    assert found.freeze is not None
    assert found.freeze.since == NOW
    assert found.freeze.findings[0].field == "apiErrors"
    assert Vigilance(rules, clock, before=found).freeze == found.freeze
    signals[0] = Signals()
    found.look(replace(seen, taken_at=NOW + 120), EMPTY_LEDGER)
    assert found.freeze is None
