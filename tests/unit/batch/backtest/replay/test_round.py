"""What one round leaves behind for the next one."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from rescheduler.batch.backtest.replay.round import Rounds
from rescheduler.daemon.plugins import parse_policy
from rescheduler.disruption.eligibility_context import EVERYTHING
from rescheduler.policy.fields.policy import API_VERSION
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import cluster, node, pod, workload

BOLD = f"""\
apiVersion: {API_VERSION}
kind: ReschedulerPolicy
objectives: [{{name: EmptyNodes}}]
scope: {{minimumAge: 0s}}
disruption: {{rampUp: unlimited, quiet: 0s, workloads: {{maxUnavailable: 1}}}}
limits: {{maxEvictions: 1}}
"""


@pytest.mark.parametrize(("seconds", "debts"), [(5, 1), (60, 0), (inf, 0)])
def test_a_replacement_is_owed_until_it_has_been_ready_for_long_enough(seconds: float, debts: int) -> None:
    """At the next snapshot as in ``run``; and nothing lies ahead of that."""
    pods = (pod(f"web-{name}", "1", node=name, owner="web") for name in "ab")
    start = cluster(node("a", "4"), node("b", "4"), *pods, workload("web", 2))
    some, until = Rounds(parse_policy(BOLD, "bold"), EVERYTHING, 0), start.taken_at + seconds
    outcome = some.run(start, DEFAULTS, recounts=False, until=until)
    assert len(outcome.evicted) == 1
    assert len(some.ledger.debts) == debts
    times = [at for entry in some.ledger.entries for at in (entry.at, entry.ended_at, entry.closed_at)]
    times += [at for stay in outcome.stays.values() for at in stay[2:6]]
    assert max(at for at in times if at is not None) <= until


def test_what_replaces_a_pod_has_another_uid_each_time() -> None:
    """Though each step's embedded cluster draws the same; a pod that is left alone keeps its own."""
    pods = (pod(f"web-{name}", "1", node=name, owner="web") for name in "ab")
    start = cluster(node("a", "4"), node("b", "4"), *pods, workload("web", 2))
    found = [
        Rounds(parse_policy(BOLD, "bold"), EVERYTHING, 0).run(replace(start, taken_at=at), DEFAULTS, recounts=False)
        for at in (start.taken_at, start.taken_at + 60.0)
    ]
    [moved] = {uid for one in found for uid in one.evicted}
    uids = {one.stays[moved].uid for one in found}
    assert None not in uids
    assert len(uids) == 2
    assert {stay.uid for one in found for uid, stay in one.stays.items() if uid != moved} == {None}
