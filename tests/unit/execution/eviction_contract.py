"""What the API server's eviction handler does, as a table: the simulated cluster and a real one pass the same rows.

Not among the rows, since a real server cannot be brought to it on purpose: a budget whose selector cannot be read and
a negative allowance (both are refused when written), and twenty conflicts in a row on one budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import pytest

from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget
from rescheduler.model.plan.plan import PodReference
from tests.unit.execution.target_contract import reference

MOST_UNCONFIRMED = 2000
"""So many pods may be booked as disrupted before the handler refuses all."""


class BudgetShape(NamedTuple):
    """A PodDisruptionBudget of ``minAvailable``. ``app``: whose pods; "": all of the namespace, None: nobody's."""

    name: str
    minimum: int
    app: str | None = "web"
    unready: str = "IfHealthyBudget"


class EvictionStage(Protocol):
    """A cluster with one node ``n0`` of 4 CPU and a disruption controller that can be stopped."""

    target: ExecutionTarget

    def pods(self, state: str, count: int) -> Sequence[Pod]:
        """Make pods labelled ``app: web`` without an owner, in one state.

        Ready, Lingering (ready, and takes long to end), Unready, Waiting for a node, Finished or Leaving.
        """

    def protect(self, budgets: Sequence[BudgetShape]) -> None:
        """Create budgets and wait until the disruption controller has counted them."""

    def stop_counting(self) -> None:
        """From now on the status of budgets changes with evictions alone."""

    def protect_uncounted(self, budget: BudgetShape) -> None:
        """Create a budget that the disruption controller has not looked at."""

    def book(self, name: str, pods: Sequence[str]) -> None:
        """Let a budget's status name so many pods as disrupted."""

    def budget(self, name: str) -> DisruptionBudget:
        """A budget as it stands now."""


class Row(NamedTuple):
    """Evict one of ``count`` pods of this state under these budgets."""

    state: str
    budgets: tuple[BudgetShape, ...]
    kind: str
    count: int = 1
    is_charged: bool = False
    """Whether the first budget allows one less afterwards."""


SPARE = BudgetShape("web", 1)
FULL = BudgetShape("web", 2)
ROWS = {
    "nobody protects it": Row("Ready", (), "Accepted"),
    "the budget has one to spare": Row("Ready", (SPARE,), "Accepted", count=2, is_charged=True),
    "the budget has none to spare": Row("Ready", (FULL,), "BudgetExhausted", count=2),
    "two budgets": Row("Ready", (SPARE, BudgetShape("too", 0)), "TwoBudgets", count=2),
    "two budgets, both without allowance": Row("Ready", (FULL, BudgetShape("too", 2)), "TwoBudgets", count=2),
    "an empty selector covers the namespace": Row("Ready", (BudgetShape("all", 2, ""),), "BudgetExhausted", count=2),
    "no selector covers nobody": Row("Ready", (BudgetShape("none", 2, None),), "Accepted", count=2),
    "another workload's budget": Row("Ready", (BudgetShape("other", 2, "side"),), "Accepted", count=2),
    "it waits for a node": Row("Waiting", (FULL,), "Accepted"),
    "it has ended": Row("Finished", (FULL,), "Accepted"),
    "it is leaving already": Row("Leaving", (FULL,), "Accepted"),
    "it is leaving, two budgets": Row("Leaving", (FULL, BudgetShape("too", 2)), "Accepted"),
    "unready, and too few are healthy": Row("Unready", (FULL,), "BudgetExhausted"),
    "unready, and none is wanted healthy": Row("Unready", (BudgetShape("web", 0),), "BudgetExhausted"),
    "unready, and such pods always go": Row("Unready", (BudgetShape("web", 2, unready="AlwaysAllow"),), "Accepted"),
}


class EvictionContract:
    """Inherit and give a fixture ``eviction_stage``."""

    @pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in ROWS.items()])
    def test_what_the_handler_answers(self, eviction_stage: EvictionStage, row: Row) -> None:
        """A dry run says the same and costs nothing; the act costs the budget one exactly where it is asked."""
        pod = eviction_stage.pods(row.state, row.count)[0]
        eviction_stage.protect(row.budgets)
        eviction_stage.stop_counting()
        before = [eviction_stage.budget(shape.name).disruptions_allowed for shape in row.budgets]
        assert _evict(eviction_stage, pod, dry_run=True) == row.kind
        assert [eviction_stage.budget(shape.name).disruptions_allowed for shape in row.budgets] == before
        assert _evict(eviction_stage, pod, dry_run=False) == row.kind
        after = [eviction_stage.budget(shape.name).disruptions_allowed for shape in row.budgets]
        assert after == [number - (row.is_charged and index == 0) for index, number in enumerate(before)]

    def test_an_unready_pod_costs_a_met_budget_nothing(self, eviction_stage: EvictionStage) -> None:
        """Its eviction is let through though none is allowed, since no healthy pod is lost."""
        eviction_stage.pods("Ready", 1)
        unready = eviction_stage.pods("Unready", 1)[0]
        eviction_stage.protect([SPARE])
        eviction_stage.stop_counting()
        assert eviction_stage.budget("web").disruptions_allowed == 0
        assert _evict(eviction_stage, unready, dry_run=False) == "Accepted"
        assert eviction_stage.budget("web").disrupted_pods == ()

    def test_a_budget_that_nobody_counted_yet_asks_for_patience(self, eviction_stage: EvictionStage) -> None:
        """Refused with the wish to come back in ten seconds, unlike one that is exhausted."""
        pod = eviction_stage.pods("Ready", 1)[0]
        eviction_stage.stop_counting()
        eviction_stage.protect_uncounted(BudgetShape("web", 0))
        answer = eviction_stage.target.evict(reference(pod), _version(eviction_stage, pod), dry_run=False)
        assert (answer.kind, answer.retry_after_seconds) == ("BudgetNotObserved", 10.0)

    def test_an_exhausted_budget_asks_for_nothing(self, eviction_stage: EvictionStage) -> None:
        """No Retry-After: nobody knows when."""
        pod = eviction_stage.pods("Ready", 1)[0]
        eviction_stage.protect([SPARE])
        answer = eviction_stage.target.evict(reference(pod), _version(eviction_stage, pod), dry_run=False)
        assert (answer.kind, answer.retry_after_seconds) == ("BudgetExhausted", None)

    @pytest.mark.parametrize(("booked", "kind"), [(MOST_UNCONFIRMED, "Accepted"), (MOST_UNCONFIRMED + 1, "Forbidden")])
    def test_too_many_unconfirmed_disruptions_close_a_budget(
        self, eviction_stage: EvictionStage, booked: int, kind: str
    ) -> None:
        """A definite refusal, not one to be asked again soon."""
        pod = eviction_stage.pods("Ready", 2)[0]
        eviction_stage.protect([SPARE])
        eviction_stage.stop_counting()
        eviction_stage.book("web", [f"gone-{number}" for number in range(booked)])
        assert _evict(eviction_stage, pod, dry_run=False) == kind

    @pytest.mark.parametrize("wrong", ["uid", "version"])
    def test_a_failed_precondition_costs_the_budget(self, eviction_stage: EvictionStage, wrong: str) -> None:
        """The budget is spent before uid and version are looked at; a dry run of the same spends nothing."""
        pod = eviction_stage.pods("Ready", 2)[0]
        eviction_stage.protect([SPARE])
        eviction_stage.stop_counting()
        version = "1" if wrong == "version" else _version(eviction_stage, pod)
        uid = "11111111-2222-3333-4444-555555555555" if wrong == "uid" else pod.uid
        aimed = PodReference(pod.namespace, pod.name, uid)
        assert eviction_stage.target.evict(aimed, version, dry_run=True).kind == "Conflict"
        assert eviction_stage.budget("web").disruptions_allowed == 1
        assert eviction_stage.target.evict(aimed, version, dry_run=False).kind == "Conflict"
        after = eviction_stage.budget("web")
        assert (after.disruptions_allowed, after.disrupted_pods) == (0, (pod.name,))
        standing = eviction_stage.target.read_pod(pod.namespace, pod.name)
        assert standing is not None
        assert not standing.is_terminating

    def test_accepted_means_that_the_deletion_has_begun(self, eviction_stage: EvictionStage) -> None:
        """The pod stands on with its grace ahead, marked; asked again, nothing more is charged."""
        pod = eviction_stage.pods("Lingering", 3)[0]
        eviction_stage.protect([SPARE])
        eviction_stage.stop_counting()
        assert _evict(eviction_stage, pod, dry_run=False) == "Accepted"
        leaving = eviction_stage.target.read_pod(pod.namespace, pod.name)
        assert leaving is not None
        assert leaving.is_terminating
        assert _evict(eviction_stage, pod, dry_run=False) == "Accepted"
        assert eviction_stage.budget("web").disruptions_allowed == 1


def _version(stage: EvictionStage, pod: Pod) -> str:
    live = stage.target.read_pod(pod.namespace, pod.name)
    return pod.resource_version if live is None else live.resource_version


def _evict(stage: EvictionStage, pod: Pod, *, dry_run: bool) -> str:
    return stage.target.evict(reference(pod), _version(stage, pod), dry_run=dry_run).kind
