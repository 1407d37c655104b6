"""The daemon's metrics as a Prometheus would scrape them: all that the table names, nothing else, and few series."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs
from prometheus_client.parser import text_string_to_metric_families

from rescheduler.adapters.kubernetes.client.request_record import RequestCount
from rescheduler.adapters.telemetry.metrics.figures import FIGURES
from rescheduler.adapters.telemetry.metrics.label_values import OTHER, LabelValues
from rescheduler.adapters.telemetry.metrics.metrics import Metrics
from rescheduler.adapters.telemetry.metrics.sources import Sources
from rescheduler.model.daemon.ledger import Breaker, EntryState, Nomination
from rescheduler.model.daemon.notices import (
    ApprovalEnded,
    ApprovalGiven,
    ApprovalWanted,
    EvictionNoted,
    Fault,
    LeadershipChanged,
    MoveChanged,
    NominationsFound,
    Notice,
    Paused,
    PolicyHeld,
    PolicyKept,
    PolicyLoaded,
    Resumed,
    RoundEnded,
    Started,
    SyncChanged,
    TriggerFired,
)
from rescheduler.model.daemon.rounds import Occasion
from rescheduler.model.plan.move_change import MoveChange, MoveState
from rescheduler.model.plan.plan import OutcomeKind, PlanResult, PodReference, Refusal, Status
from tests.builders import NOW, cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.adapters.telemetry.daemon_notices import (
    SUMMARY,
    all_notices,
    dry_round,
    objective,
    plan,
    report,
    result,
)
from tests.unit.execution.entries import entry, ledger_of

Scraped = dict[tuple[str, tuple[tuple[str, str], ...]], float]
FULL = Sources(
    ledger=lambda: ledger_of(entry()),
    snapshot=lambda: cluster(node("n1"), pod("web-0", node="n1"), pod("big-0"), taken_at=NOW - 3),
    watch_age=lambda: 1.5,
    usage_age=lambda: 20.0,
    heartbeat_age=lambda: 0.25,
    requests=lambda: {RequestCount("GET", "pods", "200"): 4, RequestCount("POST", "eviction", "429"): 1},
    leads=lambda: True,
    out_of_sync=lambda: ("Pod",),
    frozen=lambda: True,
    triggers=lambda: ("PendingPods", "Schedule"),
)


def scrape(metrics: Metrics) -> Scraped:
    """Values by name and labels."""
    families = text_string_to_metric_families(metrics.text().decode())
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def told(*notices: Notice, sources: Sources | None = None, now: float = NOW) -> Callable[..., float | None]:
    """Metrics after these notices, by name (without the prefix) and labels; None where there is none."""
    metrics = Metrics(FakeClock(now), sources or Sources())
    for notice in notices:
        metrics.hear(notice)
    found = scrape(metrics)
    return lambda name, **labels: found.get((f"rescheduler_{name}", tuple(sorted(labels.items()))))


def test_the_table_and_the_registry_are_the_same() -> None:
    """Every metric of the table is told once something is known, and none besides but the process's own."""
    metrics = Metrics(FakeClock(), FULL)
    for notice in (*all_notices(), ApprovalWanted(NOW, "p-9", plan(), NOW + 60)):
        metrics.hear(notice)
    families = list(text_string_to_metric_families(metrics.text().decode()))
    ours = {family.name: family for family in families if family.name.startswith("rescheduler_")}
    assert set(ours) == {figure.full_name.removesuffix("_total") for figure in FIGURES}
    for figure in FIGURES:
        family = ours[figure.full_name.removesuffix("_total")]
        assert family.type == figure.kind, figure.name
        assert family.documentation == figure.meaning
        labels = {key for sample in family.samples for key in sample.labels} - {"le"}
        assert labels == set(figure.labels), figure.name
    assert {family.name.partition("_")[0] for family in families} == {"rescheduler", "process"}


def test_before_anything_is_known_it_is_absent() -> None:
    """No age, no policy and no round of zero; counters of evictions begin at zero, so that the first is a rise."""
    value = told()
    for name in ("last_round_timestamp_seconds", "dry_run", "ledger_debts", "watch_age_seconds", "usage_age_seconds"):
        assert value(name) is None, name
    assert value("evictions_total", outcome="sent") == 0
    assert (value("policy_valid"), value("policy_held"), value("paused")) == (1, 0, 0)


def test_counters_whose_values_are_known_begin_at_zero() -> None:
    """A series that appears with a 1 never rises: a first fault or failed round would be seen by no alert."""
    found = told(Started(NOW, "1", "Execute", "abc"), RoundEnded(NOW, report(plan=None, result=None)), sources=FULL)
    assert found("rounds_total", trigger="PendingPods", outcome="failed", dry_run="false") == 0
    assert found("rounds_total", trigger="Schedule", outcome="failed", dry_run="false") == 1
    assert found("rounds_total", trigger="Schedule", outcome="failed", dry_run="true") is None
    assert (found("triggers_fired_total", trigger="Schedule"), found("faults_total", part="loop")) == (0, 0)
    assert [found("moves_total", outcome=kind.value) for kind in OutcomeKind] == [0] * len(OutcomeKind)
    assert found("capacity_requests_total", how="CapacityBuffer") == found("nodes_offered_total", how="Leave") == 0


def test_a_round_is_counted_by_its_first_trigger_and_how_it_ended() -> None:
    """With its times, its plan, and what was left alone."""
    both = (Occasion("PendingPods", "", NOW), Occasion("Schedule", "", NOW))
    refusals = tuple(Refusal(rule, "", node="n") for rule in ("Namespace", "Namespace", "Namespace", "Age"))
    found = told(RoundEnded(NOW, report(occasions=both, plan=plan(refusals=refusals))))
    assert found("rounds_total", trigger="PendingPods", outcome="done", dry_run="false") == 1
    assert (found("round_seconds_sum"), found("planning_seconds_sum"), found("planning_seconds_count")) == (2.5, 1, 1)
    assert found("last_round_timestamp_seconds") == NOW + 2.5
    assert found("last_round_seconds", step="carryOut") == 1.0
    assert (found("refusals", rule="Namespace"), found("refusals", rule="Age")) == (3, 1)
    assert found("planned_moves_total", objective="MakeRoom", dry_run="false") == 1
    assert found("moves_total", outcome="Landed") == 1
    assert (found("pending_pods_wanted"), found("pending_pods_helped")) == (1, 1)


def test_planning_again_is_counted_with_the_moves_that_it_dropped() -> None:
    """The first attempt is none of them; a move that was planned again is not dropped, however it ends."""
    (left,) = result(OutcomeKind.NOT_ATTEMPTED).moves
    db = structs.replace(left, pod=PodReference("shop", "db-0", "uid-db-0"))
    once = report(result=PlanResult(SUMMARY, moves=(left, db)))
    again = report(result=PlanResult(SUMMARY, moves=(left, db, structs.replace(left, attempt=2))))
    found = told(RoundEnded(NOW, once))
    assert (found("plans_again_total"), found("moves_dropped_total")) == (0, 0)
    found = told(RoundEnded(NOW, once), RoundEnded(NOW, again))
    assert (found("plans_again_total"), found("moves_dropped_total")) == (1, 1)


def test_gauges_are_those_of_the_last_round_alone() -> None:
    """A rule that refuses nothing any more has no series; a round without a plan has none of a plan."""
    first = report(plan=plan(refusals=(Refusal("Age", "", node="n"),)))
    later = report(plan=plan(refusals=(), objectives=(objective("EmptyNodes", value=4, bound=5, gap=0.2),)))
    found = told(RoundEnded(NOW, first), RoundEnded(NOW, later))
    assert found("refusals", rule="Age") is None
    assert found("objective_value", objective="MakeRoom") is None
    assert found("objective_bound", objective="EmptyNodes") == 5
    assert found("objective_gap_ratio", objective="EmptyNodes") == 0.2
    found = told(RoundEnded(NOW, first), RoundEnded(NOW, report(plan=None, result=None)))
    assert found("refusals", rule="Age") is None
    assert found("last_round_timestamp_seconds") == NOW + 2.5


def test_nothing_is_told_of_a_bound_that_is_not_known() -> None:
    """UNKNOWN has neither value nor bound, which is not zero."""
    unknown = objective(status=Status.UNKNOWN, value=None, bound=None, gap=None)
    found = told(RoundEnded(NOW, report(plan=plan(objectives=(unknown,)))))
    assert found("objective_value", objective="MakeRoom") is None


def test_a_dry_run_is_told_apart() -> None:
    """What was planned in it is not what was planned for real; and nothing counts as moved."""
    found = told(Started(NOW, "1", "DryRun", "abc"), dry_round())
    assert found("dry_run") == 1
    assert found("rounds_total", trigger="Schedule", outcome="planned", dry_run="true") == 1
    assert found("planned_moves_total", objective="MakeRoom", dry_run="true") == 1
    assert found("planned_moves_total", objective="MakeRoom", dry_run="false") is None
    assert found("moves_total", outcome="Landed") == 0


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({}, "done"),
        ({"reason": "stopped: SIGTERM", "result": result(OutcomeKind.NOT_ATTEMPTED)}, "stopped"),
        ({"result": None, "reason": "frozen"}, "planned"),
        ({"result": None, "plan": plan(moves=(), placements=())}, "nothing"),
        ({"result": None, "plan": None}, "failed"),
    ],
)
def test_each_end_of_a_round_has_its_word(fields: dict[str, Any], outcome: str) -> None:
    """Five of them."""
    found = told(RoundEnded(NOW, report(**fields)))
    assert found("rounds_total", trigger="Schedule", outcome=outcome, dry_run="false") == 1


def test_an_eviction_counts_once_under_each_state_that_it_reaches() -> None:
    """Whatever is told how often; one whose replacement is known was sent, though nobody said so."""
    noted = [
        EvictionNoted(NOW, one)
        for one in (
            entry(state=EntryState.INTENDED), entry(), entry(is_in_doubt=True), entry(landed_on="n1"),
            entry(state=EntryState.REPAID, closed_at=NOW + 42.1), entry(state=EntryState.REPAID, closed_at=NOW + 42.1),
            entry("web-1", state=EntryState.FAILED), entry("web-2", state=EntryState.REFUSED),
            entry("web-3", state=EntryState.NOT_EVICTED),
        )
    ]  # fmt: skip
    found = told(*noted)
    counts = {
        "announced": 1, "sent": 2, "in_doubt": 1, "landed": 1, "refused": 1, "not_carried_out": 1, "failing": 0,
        "repaid": 1, "failed": 1,
    }  # fmt: skip
    assert {outcome: found("evictions_total", outcome=outcome) for outcome in counts} == counts
    assert found("eviction_repaid_seconds_count") == 1
    assert found("eviction_repaid_seconds_sum") == pytest.approx(42.0)


def test_a_pod_that_stays_nominated_without_a_plan_counts_once() -> None:
    """However often it is found until it has run out; the next one counts again."""
    metrics = Metrics(FakeClock())
    first = Nomination(PodReference("shop", "big-0", "u-0"), "n1", NOW, NOW + 90)
    second = Nomination(PodReference("shop", "big-1", "u-1"), "n1", NOW + 1, NOW + 91)
    for found in (
        NominationsFound(NOW + 5, (first,), ()),
        NominationsFound(NOW + 15, (first, second), ()),
        NominationsFound(NOW + 95, (first, second), (first, second)),
    ):
        metrics.hear(found)
    assert scrape(metrics)["rescheduler_lost_nominations_total", ()] == 2


def test_policy_leadership_pause_and_approvals_follow_the_notices() -> None:
    """As they stand now; what expires by itself is over by itself."""
    found = told(
        PolicyLoaded(NOW, "abc", "one", "Execute"), PolicyLoaded(NOW, "abd", "two", "Approve"),
        PolicyHeld(NOW, "abd", "abe", ("more",)), LeadershipChanged(NOW, False, "other"),
        LeadershipChanged(NOW, False, "another"), Paused(NOW, "jane", "x"), ApprovalWanted(NOW, "p1", plan(), NOW + 60),
        ApprovalWanted(NOW, "p2", plan(), NOW + 90), ApprovalGiven(NOW, "p1", "jane", "REST"),
    )  # fmt: skip
    assert found("policy_info", policy="two", policy_id="abd", mode="Approve") == 1
    assert found("policy_info", policy="one", policy_id="abc", mode="Execute") is None
    assert (found("policy_held"), found("policy_valid"), found("dry_run")) == (1, 1, 0)
    assert (found("is_leader"), found("leadership_changes_total")) == (0, 1)
    assert (found("paused"), found("plans_waiting_approval")) == (1, 1)
    assert found("approval_expires_timestamp_seconds") == NOW + 90
    assert found("approvals_total", outcome="wanted") == 2


def test_what_has_ended_is_over() -> None:
    """A pause with an end, a plan that expired, was taken back or approved, a policy that can be read again."""
    until = Paused(NOW, "jane", "x", NOW + 10)
    assert told(until, now=NOW + 9)("paused") == 1
    assert told(until, now=NOW + 10)("paused") == 0
    assert told(Paused(NOW, "jane", "x"), Resumed(NOW, "jane"))("paused") == 0
    wanted = ApprovalWanted(NOW, "p1", plan(), NOW + 60)
    assert told(wanted, now=NOW + 61)("plans_waiting_approval") == 0
    assert told(wanted, ApprovalEnded(NOW, "p1", "superseded"))("plans_waiting_approval") == 0
    broken = PolicyKept(NOW, "abc", "not YAML")
    assert told(broken)("policy_valid") == 0
    assert told(PolicyHeld(NOW, "abc", "abd", ("more",)), broken)("policy_held") == 0
    assert told(broken, PolicyLoaded(NOW, "abd", "p", "DryRun"))("policy_valid") == 1


def test_what_the_process_knows_is_asked_when_scraped() -> None:
    """Ledger, breaker, snapshot, watches, requests; whoever knows who leads is believed before notices."""
    found = told(LeadershipChanged(NOW, False, "x"), SyncChanged(NOW, "Node", True), sources=FULL)
    assert (found("ledger_debts"), found("breaker_open"), found("is_leader")) == (1, 0, 1)
    assert [found(f"snapshot_{name}") for name in ("nodes", "pods", "pending_pods", "age_seconds")] == [1, 2, 1, 3]
    assert found("api_requests_total", verb="POST", kind="eviction", outcome="429") == 1
    assert (found("frozen"), told()("frozen")) == (1, None)
    assert (found("kinds_out_of_sync"), found("watch_in_sync", kind="Pod"), found("watch_in_sync", kind="Node")) == (
        1, 0, 1,
    )  # fmt: skip
    opened = ledger_of()
    broken = Sources(ledger=lambda: type(opened)(breaker=Breaker(opened_at=NOW, openings=2)))
    assert (told(sources=broken)("breaker_open"), told(sources=broken)("breaker_openings")) == (1, 2)


def test_a_source_that_fails_leaves_out_its_own_metrics_only() -> None:
    """A scrape always tells what it can."""

    def fails() -> Any:
        raise RuntimeError("broken")

    found = told(sources=Sources(ledger=fails, snapshot=fails, requests=fails, leads=fails, watch_age=lambda: 2.0))
    assert found("ledger_debts") is None
    assert (found("watch_age_seconds"), found("is_leader")) == (2.0, 1)


def test_the_number_of_series_does_not_grow_with_the_cluster() -> None:
    """However many names are told; no pod, node or namespace stands in a label."""
    metrics = Metrics(FakeClock(), FULL)
    for notice in all_notices():
        metrics.hear(notice)
    before = len(scrape(metrics))
    for number in range(2000):
        name = f"unheard-of-{number}"
        metrics.hear(EvictionNoted(NOW, entry(name, at=NOW + number)))
        metrics.hear(TriggerFired(NOW, Occasion(name, name, NOW)))
        metrics.hear(Fault(NOW, name, name))
        metrics.hear(SyncChanged(NOW, name, False))
        refusals = (Refusal(name, name, node=name),)
        objectives = (objective(name),)
        metrics.hear(RoundEnded(NOW, report(plan=plan(refusals=refusals, objectives=objectives))))
    found = scrape(metrics)
    assert len(found) < before + 4 * 66
    values = {value for _, labels in found for _, value in labels}
    assert OTHER in values
    assert not values & {"default", "web-0", "default/web-0", "n1", "n2"}


def test_label_values_print_and_are_short() -> None:
    """A trigger's name may come from anywhere."""
    few = LabelValues(most=2)
    assert [few.of(""), few.of("a\nb\x1b"), few.of("x"), few.of("")] == ["none", "a\\nb\\x1b", OTHER, "none"]
    assert len(LabelValues().of("x" * 1000)) < 100


def test_moves_are_counted_by_how_far_they_have_come() -> None:
    """Each in one state, all states from the start."""
    metrics = Metrics(FakeClock())
    assert b'rescheduler_moves_by_state{state="planned"} 0.0' in metrics.text()
    for state in (MoveState.PLANNED, MoveState.BOUND):
        metrics.hear(MoveChanged(NOW, "r-1", MoveChange("", PodReference("default", "a", "u"), state, "n1", "n2")))
    assert b'rescheduler_moves_by_state{state="planned"} 0.0' in metrics.text()
    assert b'rescheduler_moves_by_state{state="bound"} 1.0' in metrics.text()
