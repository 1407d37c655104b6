"""GET /trust: what is believed of each node, and why not."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.collecting.provider_health import ProviderHealth
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import asked
from tests.unit.daemon.api.records import NAN, NOW, SetSource, collected

KNOWN = collected(
    trust={"n2": Trust(TrustState.FROZEN, "60.5% of cpu in 3 samples")},
    assessment={"freeze": "only 50% of nodes are trusted", "falls_back": False},
    measured_at=np.array([NOW - 12.5, NAN]),
    providers=(ProviderHealth("Prometheus", warnings=("partial",)), ProviderHealth("Datadog", error="time-out")),
)


def test_every_node_has_its_state_reason_and_age() -> None:
    """The ones that are not told to others too; an age counts up to the moment of asking."""
    answer = asked(SetSource(KNOWN), "/trust", clock=FakeClock(NOW + 1))
    assert (answer.status, answer.type) == (200, "application/json")
    assert answer.json == {
        "timestamp": NOW,
        "source": "Prometheus",
        "freeze": "only 50% of nodes are trusted",
        "fallsBack": False,
        "states": {"Frozen": 1, "Trusted": 1},
        "warnings": ["Prometheus: partial", "time-out"],
        "nodes": {
            "n1": {"state": "Trusted", "reason": "", "ageSeconds": 13.5},
            "n2": {"state": "Frozen", "reason": "60.5% of cpu in 3 samples", "ageSeconds": None},
        },
    }


def test_one_node() -> None:
    """With the whole cluster's counts."""
    found = asked(SetSource(KNOWN), "/trust?host=n2").json
    assert (list(found["nodes"]), found["states"]) == (["n2"], {"Frozen": 1, "Trusted": 1})


def test_nothing_known_is_404() -> None:
    """Before the first tick, and for a node that does not exist."""
    assert asked(SetSource(), "/trust").status == 404
    answer = asked(SetSource(KNOWN), "/trust?host=n3")
    assert (answer.status, answer.text) == (404, "there is no node 'n3'\n")


def test_an_old_record_is_still_explained() -> None:
    """What /watcher no longer tells, people may look at."""
    assert asked(SetSource(KNOWN), "/trust", clock=FakeClock(NOW + 9000)).status == 200
