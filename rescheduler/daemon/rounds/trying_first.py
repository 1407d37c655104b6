"""Rounds that may try a small rearrangement for pods that have just become unschedulable."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.daemon.rounds.first_try import NO_PLAN, cost_objection, lateness, refused_whole
from rescheduler.daemon.rounds.nominating import Nominating, nominations_of
from rescheduler.daemon.rounds.rounds import FAILURES_OF_PLANNERS, RoundRunner, StopWatch, told_failure
from rescheduler.daemon.rounds.world import RoundOutcome
from rescheduler.execution.run.executor import plan_id_of
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.daemon.rounds import Occasion
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS
from rescheduler.model.plan.plan import Plan, PlanResult


class TryingRunner(RoundRunner):
    """Rounds, and first tries between them."""

    def try_first(self, asked: Occasion) -> RoundOutcome:
        """Make room for these pods by a few moves, each nominated before anything else is done, or leave them alone.

        Never raises for what the cluster, the ledger or the planner did: the reason tells.
        """
        watch, began = StopWatch(self._world.clock), self._world.clock.monotonic()
        plan = NO_PLAN
        try:
            cluster, ledger = self._seen()
            ahead = cluster.taken_at - began

            def waited() -> float:
                return self._world.clock.monotonic() + ahead - asked.at

            watch.lap("look")
            reason = lateness(waited())
            if reason is None:
                assert self._plan_first is not None  # else nobody asks for a first try
                pods = frozenset(pod.uid for pod in asked.pods)
                plan = self._plan_first(cluster, ledger, self._gate.wanted, pods)
                watch.lap("plan")
                reason = self._objection_to_try(plan, cluster, ledger) or lateness(waited())
            if reason is not None:
                return RoundOutcome(plan, None, reason, None, watch.seconds)
            result, reason = self._tried(plan, cluster, ledger, waited)
        except FAILURES_OF_PLANNERS as error:
            return RoundOutcome(plan, None, told_failure(error), None, watch.seconds)
        return RoundOutcome(plan, result, reason, None, watch.lap("carryOut"))

    def _objection_to_try(self, plan: Plan, cluster: Cluster, ledger: Ledger) -> str | None:
        """Why a pod is not nominated: nothing helps it, or not everything may be done for it now."""
        if not plan.moves or not plan.placements:
            return "no rearrangement as small helps; left to the autoscaler"
        reason = self._objection(cluster, ledger, plan) or cost_objection(plan, cluster, self._policy)
        if reason is not None:
            return reason
        with self._gate.granting(self._granted(plan, cluster, ledger)):
            return refused_whole(self._gate.permit(plan.moves, cluster, (), ledger))

    def _tried(
        self, plan: Plan, cluster: Cluster, ledger: Ledger, waited: Callable[[], float]
    ) -> tuple[PlanResult | None, str]:
        """Nominate, see that it was early enough, and only then carry out; nothing stays nominated without its room."""
        now = cluster.taken_at
        with self._world.running(plan) as run_id:
            found = nominations_of(plan, cluster, run_id or plan_id_of(plan), now)
            nominating = Nominating(self._world, self._rules, found, now)
            trouble: str | None = None
            result: PlanResult | None = None
            try:
                nominating.begin()
                message = lateness(waited())
                if message is None:
                    seconds = found[0].expires_at - now
                    result, message = self._run_plan(plan, run_id, cluster, ledger, seconds, nominating.keep)
            finally:
                trouble = nominating.end()
        return result, "; ".join(part for part in (message, trouble) if part)

    def _run_plan(
        self,
        plan: Plan,
        run_id: str | None,
        cluster: Cluster,
        ledger: Ledger,
        seconds: float,
        keep: Callable[[], None],
    ) -> tuple[PlanResult, str]:
        """In ``seconds`` at most; ``keep`` is called in every wait. Raises ClusterError, StoreError."""
        with self._gate.granting(self._granted(plan, cluster, ledger)), self._gate.surging(run_id):
            result = self._executor(run_id, ledger, plan, NO_EARLIER_ATTEMPTS, seconds, keep).carry_out(plan)
        return result, result.message
