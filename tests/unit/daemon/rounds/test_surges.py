"""A daemon moves pods by surge, whoever dies meanwhile: nobody is missing, and whoever leads next gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.execution.surge.giving_back import give_back
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.ledger import EntryState, Ledger
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.detachment import Detachment, detachment_of
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan, reference_to
from rescheduler.policy.fields.policy import Mode
from tests.builders import pod
from tests.unit.daemon.rounds.test_rounds import surroundings
from tests.unit.disruption.cases import policy
from tests.unit.execution.surge.scenes import ReadyWatch, left_behind, shop
from tests.unit.execution.worlds import World

AT_ONCE: dict[str, Any] = {"rates": {"perHour": "unlimited", "perDay": "unlimited", "perWorkloadPerHour": "unlimited"}}
LEASE = "rescheduler-system/rescheduler"


@contextmanager
def running(_plan: Plan) -> Iterator[str]:
    """The id of the run."""
    yield "run-1"


def rounds(world: World, mode: Mode = Mode.EXECUTE, method: str = "Surge", **around: Any) -> RoundRunner:
    """Rounds that empty nodes, by surge what is of the namespace default."""
    rules = {
        "moveBy": [{"method": method}], "rampUp": "unlimited", "quiet": "0s", **AT_ONCE,
        "surge": {"readyWithin": "30s", "settle": "1s"}, "migration": {"within": "2m"},
    }  # fmt: skip
    by = policy(
        mode=mode.value,
        guidance="Guide",
        objectives=[{"name": "EmptyNodes"}],
        disruption=rules,
        health={"settle": "0s", "calm": "0s", "headRoom": "0%"},
        scope={"minimumAge": "0s"},
    )
    given = {"running": running, "surges_under": LEASE, **around}

    def plan(cluster: Cluster, ledger: Ledger, wanted: Mapping[str, Wanted]) -> Plan:
        return make_plan(cluster, by, CycleOptions(world.clock, is_daemon=True, wanted=wanted, ledger=ledger))

    return RoundRunner(surroundings(world, **given), by, plan)


def world(**settings: Any) -> World:
    """A single replica under a budget that allows nothing, and a node that would take it."""
    return World(shop(1, pod("filler", owner="", node="n1"), network_policies=()), **settings)


def never_ready(item: Pod) -> float | None:
    """Replacements run and do not get ready."""
    return None if item.name != "web-0" else 1.0


@pytest.mark.parametrize("mode", [Mode.EXECUTE, Mode.APPROVE])
def test_the_only_replica_moves_and_is_never_missing(mode: Mode) -> None:
    """In Execute by itself, and in Approve when a person says yes."""
    where = world()
    watch, ledger = ReadyWatch(where), SimulatedLedger(where.clock)
    runner = rounds(where, mode, ledger=ledger)
    outcome = runner.run_once()
    assert outcome.plan is not None
    assert [move.method for move in outcome.plan.moves] == [MoveMethod.SURGE]
    if mode is Mode.APPROVE:
        assert (outcome.result, where.evicted) == (None, [])
        assert runner.objection_to(outcome.plan, where.read()) is None
        outcome = runner.carry_out_approved(outcome.plan)
    assert outcome.reason == ""
    assert where.evicted == ["web-0"]
    where.settle()
    assert watch.fewest == 1
    assert {item.node_name for item in where.read().pods} == {"n1"}
    assert left_behind(where) == []
    (entry,) = ledger.ledger.entries
    assert (entry.method, entry.state) == (MoveMethod.SURGE, EntryState.REPAID)


@pytest.mark.parametrize("mode", [Mode.EXECUTE, Mode.APPROVE])
def test_a_missing_right_is_told_and_nothing_is_done(mode: Mode) -> None:
    """Before anything is written; no pod is evicted instead. So is where nobody can tell."""

    def unknown() -> str:
        raise ClusterError("the API server does not say")

    for lacks, told in ((lambda: "we may not patch pods", "we may not patch pods"), (unknown, "does not say")):
        where = world()
        runner = rounds(where, mode, why_no_surges=lacks)
        outcome = runner.run_once()
        assert outcome.plan is not None
        if mode is Mode.APPROVE:
            assert told in (runner.objection_to(outcome.plan, where.read()) or "")
            outcome = runner.carry_out_approved(outcome.plan)
        assert outcome.reason.startswith("nothing is moved: moves by surge are not possible here")
        assert told in outcome.reason
        assert outcome.result is None
        assert [write for write in where.writes if write.resource == "pods"] == []


def test_a_run_without_an_id_takes_nothing_out() -> None:
    """Whose such a pod is stands on it."""
    where = world()
    outcome = rounds(where, running=surroundings(where).running).run_once()
    assert "by surge" in outcome.reason
    assert [write for write in where.writes if write.resource == "pods"] == []


def out_of(where: World, lease: str, expires: str = "2100-01-01T00:00:00Z") -> Pod:
    """The shop's pod, taken out by somebody who is gone."""
    before = where.pod("web-0")
    note = Detachment("pod-template-hash", "h1", "run-0", expires, lease)
    assert where.detach(reference_to(before), before.resource_version, note)
    return before


def test_whoever_leads_next_gives_back_at_once() -> None:
    """What was taken out under the same Lease, before any round; what somebody else has out, when its time is over."""
    for lease, is_back in ((LEASE, True), ("other/rescheduler", False), ("", False)):
        where = world(startup_seconds=30.0)
        watch = ReadyWatch(where)
        out_of(where, lease)
        rounds(where).clear_up(where.read())
        assert (detachment_of(where.pod("web-0")) is None) is is_back
        rounds(where).clear_up(where.read())
        where.settle()
        assert watch.fewest == 1
        if is_back:
            assert [item.name for item in where.read().pods if item.name.startswith("web")] == ["web-0"]
            assert left_behind(where) == []


def test_a_round_gives_back_before_it_plans() -> None:
    """And moves the pod in its own name once its owner is at rest."""
    where = world(startup_seconds=5.0)
    watch = ReadyWatch(where)
    out_of(where, LEASE)
    runner = rounds(where)
    assert runner.run_once().reason == "the plan is empty"
    assert detachment_of(where.pod("web-0")) is None
    where.settle()
    assert runner.run_once().reason == ""
    assert where.evicted == ["web-0"]
    where.settle()
    assert watch.fewest == 1
    assert left_behind(where) == []


def test_a_dry_run_gives_nothing_back() -> None:
    """It writes nothing, whatever it sees."""
    where = world()
    out_of(where, LEASE)
    count = len(where.writes)
    runner = rounds(where, Mode.DRY_RUN)
    runner.clear_up(where.read())
    runner.run_once()
    assert len(where.writes) == count


def test_giving_back_twice_harms_nobody() -> None:
    """Whoever dies and whoever leads next may both do it, also after the pod has gone its way."""
    where = world(startup_seconds=5.0)
    watch = ReadyWatch(where)
    pod_ = out_of(where, LEASE)
    for _ in range(2):
        assert give_back([reference_to(pod_)], where, where.clock, None) is None
    rounds(where).clear_up(where.read())
    where.settle()
    assert watch.fewest == 1
    assert left_behind(where) == []


@pytest.mark.parametrize("what", ["ending", "stopped", "fence"])
def test_whatever_stops_the_daemon_gives_the_open_surge_back(what: str) -> None:
    """SIGTERM, the kill switch and a lost Lease, while its replacement starts: same pod as before, nothing left."""
    where = world(startup_seconds=20.0)
    watch = ReadyWatch(where)
    before = where.pod("web-0").uid

    def told() -> str | None:
        return "told to" if SURGE in where.pod("web-0").annotations and where.clock.now() > began + 5 else None

    began = where.clock.now()
    outcome = rounds(where, **{what: told}).run_once()
    assert "told to" in outcome.reason
    assert outcome.result is not None
    assert [move.outcome.value for move in outcome.result.moves] == ["Undone"]
    where.settle()
    assert where.evicted == []
    assert where.pod("web-0").uid == before
    assert watch.fewest == 1
    assert left_behind(where) == []


def test_a_surge_in_vain_is_not_tried_again_at_once() -> None:
    """Its workload is left alone for ``backOff.first``: else each round would begin anew."""
    where = world(startup_seconds=never_ready)
    runner = rounds(where)
    first = runner.run_once()
    assert first.result is not None
    assert [move.outcome.value for move in first.result.moves] == ["Undone"]
    again = runner.run_once()
    assert again.reason == "the plan is empty"
    assert again.plan is not None
    assert any("moved by surge in vain" in one.message for one in again.plan.refusals), again.plan.refusals
    where.clock.sleep(3700.0)
    assert runner.run_once().result is not None


def test_while_a_surge_is_open_the_daemon_shows_that_it_lives() -> None:
    """Else its kubelet would end it, and nobody who asks it to pause would be heard."""
    where = world(startup_seconds=20.0)
    seen: list[float] = []
    rounds(where, progress=lambda *_: seen.append(where.clock.now())).run_once()
    assert max(after - before for before, after in pairwise(seen)) < 5.0
