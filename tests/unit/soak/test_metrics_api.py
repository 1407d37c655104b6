"""Each lie of the metrics API is noticed by what the product makes of it, and the truth is believed."""

from __future__ import annotations

from random import Random

import pytest
import yaml

from rescheduler.model.usage.trust import NodeTrust
from rescheduler.policy.fields.usage import UsagePolicy
from tests.builders import NOW, cluster, node, pod, workload
from tests.clocks import FakeClock
from tests.soak.policies import HEAD, policy_of
from tests.soak.world.lies import INTERVAL_SECONDS, LIES, USAGE, Lie
from tests.soak.world.metrics_api import MetricsApi, ProcessUsage

POLICY: UsagePolicy = policy_of(yaml.safe_dump({**HEAD, "objectives": [{"name": "MakeRoom"}]}) + USAGE).usage


class Measured:
    """Five nodes with two pods each, measured every half a minute."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOW)
        nodes = [node(f"n{number}") for number in range(5)]
        pods = [pod(f"web-{number}", f"{200 + 50 * number}m", node=f"n{number % 5}") for number in range(10)]
        seen = cluster(*nodes, *pods, workload("web", 10))
        self.api = MetricsApi(Random(1), lambda: seen, self.clock.now)
        self.usage = ProcessUsage(self.api, POLICY, lambda: seen, self.clock)

    def live(self, seconds: float) -> NodeTrust:
        """Let time pass; how far load is believed then."""
        for _ in range(int(seconds / INTERVAL_SECONDS)):
            self.clock.sleep(INTERVAL_SECONDS)
            self.usage.tick()
        return self.usage.load.trust()


def is_believed(trust: NodeTrust) -> bool:
    """Whether any move between two nodes may rest on it."""
    return not trust.freeze and sum(found.is_usable for found in trust.by_node.values()) > 1


def test_the_truth_is_believed() -> None:
    """Else nothing would be shown by lies that are not."""
    assert is_believed(Measured().live(600))


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: f"{lie.fault} {lie.name}")
def test_no_move_rests_on_a_lie(lie: Lie) -> None:
    """From when it has to be noticed on, and as long as it can be; afterwards the truth is believed again."""
    measured = Measured()
    measured.live(600)
    measured.api.begin(lie)
    measured.live(lie.noticed_after - INTERVAL_SECONDS)
    until = min(lie.until, 3600.0)
    for _ in range(int((until - lie.noticed_after) / INTERVAL_SECONDS)):
        assert not is_believed(measured.live(INTERVAL_SECONDS))
    measured.api.end()
    assert is_believed(measured.live(900))
