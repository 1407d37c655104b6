"""A plan told to people: gain, price, proof, nodes, moves with reasons, refusals with rules."""

from __future__ import annotations

from msgspec.structs import replace

from rescheduler.model.plan.plan import OutcomeKind, Refusal, Status
from rescheduler.report.plan.table import plan_report
from tests.unit.report.plans import HOSTILE, objective, reference, small_cluster, small_plan, small_result
from tests.unit.report.rendering import rendered


def test_a_plan_says_gain_price_and_proof_first() -> None:
    """How many pods are helped, by how many evictions, and that fewer cannot do."""
    first = rendered(plan_report(small_plan(), small_cluster())).splitlines()[0]
    assert first.startswith("OPTIMAL")
    assert "1 of 1 pending pod gets a place, by 1 eviction (proven: no plan needs fewer; 0.25 s)" in first


def test_nodes_moves_places_and_refusals_are_shown() -> None:
    """Each move with its reason, each refusal with its rule, nodes before and after."""
    text = rendered(plan_report(small_plan(), small_cluster()))
    for piece in (
        "2 -> 4 of 4", "3 -> 4 of 4", "2Gi of 16Gi", "2 of 110",
        "default/web-1", "n1", "n2", "makes room for default/big-1",
        "default/big-1", "after wave 1",
        "SingleReplica", "pod default/db-1  is the only replica",
        "from test, taken at 2027-01-15T08:00:00Z",
    ):  # fmt: skip
        assert piece in text


def test_the_distance_from_the_bound_is_told_where_nothing_is_proven() -> None:
    """A feasible plan says what is proven: at least so many."""
    plan = small_plan(objectives=(objective(status=Status.FEASIBLE, value=4, bound=3, gap=1 / 3),))
    assert "by 4 evictions (proven: at least 3, gap 33%" in rendered(plan_report(plan))


def test_an_answer_that_nothing_helps_tells_the_planners_reason() -> None:
    """INFEASIBLE comes with the certificate in words, and without moves."""
    answer = objective(status=Status.INFEASIBLE, value=0, bound=0, helped=0, message="a node of 3 cores must be added")
    text = rendered(plan_report(small_plan(objectives=(answer,), moves=(), placements=())))
    assert "0 of 1 pending pod gets a place" in text
    assert "a node of 3 cores must be added" in text
    assert "Moves" not in text


def test_many_refusals_are_counted_by_rule_and_listed_when_wide() -> None:
    """A thousand refusals do not bury the plan; -o wide holds every one."""
    refusals = tuple(Refusal("DaemonSet", f"agent-{n} is a daemon's", pod=reference(f"agent-{n}")) for n in range(1000))
    narrow = rendered(plan_report(small_plan(refusals=refusals)))
    assert "1000" in narrow
    assert narrow.count("DaemonSet") == 1
    assert rendered(plan_report(small_plan(refusals=refusals), wide=True)).count("DaemonSet") == 1000


def test_guidance_is_marked_in_every_width() -> None:
    """A move that the scheduler would not choose by itself says so."""
    moves = tuple(type(move)(**{**vars_of(move), "needs_guidance": True}) for move in small_plan().moves)
    assert "needs guidance" in rendered(plan_report(small_plan(moves=moves)))
    assert "needed" in rendered(plan_report(small_plan(moves=moves), wide=True))


def vars_of(move: object) -> dict[str, object]:
    """Fields of a struct."""
    return {name: getattr(move, name) for name in move.__struct_fields__}  # type: ignore[attr-defined]


def test_a_result_tells_outcomes_and_its_message() -> None:
    """Where each pod ended, and why the plan stopped."""
    text = rendered(plan_report(small_result(OutcomeKind.REFUSED, "stopped after wave 1"), small_cluster()))
    assert "Refused" in text
    assert "stopped after wave 1" in text


def test_names_cannot_play_with_terminal_or_markup() -> None:
    """Escapes of control characters and direction marks, brackets as they are, no line of their own."""
    plan = small_plan(refusals=(Refusal(HOSTILE, HOSTILE, node=HOSTILE),), warnings=(HOSTILE,))
    text = rendered(plan_report(plan))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"x\x1b[31m[red]<b>" in text


def test_nothing_is_lost_at_forty_columns() -> None:
    """A narrow terminal folds; every name is still there."""
    text = rendered(plan_report(small_plan(), small_cluster(), wide=True), width=40)
    together = "".join(text.split())
    for piece in ("web-1", "big-1", "SingleReplica", "db-1"):
        assert piece in together
    assert max(map(len, text.splitlines())) <= 40


def test_a_wide_plan_is_a_table_on_a_screen_of_120_columns() -> None:
    """Its heading stands in one line, and nothing is cut off."""
    moves = tuple(replace(move, reason="makes room for analytics/forecast-wvdhhp25d-6584m on worker-2: frees 1 cpu",
                          pod=replace(move.pod, name="web-xpzsvmhcc-vscnv", uid="7f458ff6-1fcf-4b4e-866b-24d371a538e8"))
                  for move in small_plan().moves)  # fmt: skip
    text = rendered(plan_report(small_plan(moves=moves), wide=True), width=120)
    [heading] = [line for line in text.splitlines() if line.startswith("WAVE  POD")]
    assert heading.split() == ["WAVE", "POD", "FROM", "TO", "REASON", "OBJECTIVE", "GUIDANCE", "UID"]
    assert max(map(len, text.splitlines())) <= 120
    assert "default/web-xpzsvmhcc-vscnv" in text
