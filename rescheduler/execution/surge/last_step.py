"""The last step of a surge: the gate once more, then the Eviction API, for a pod whose replacement has taken over."""

from __future__ import annotations

from typing import Final, NamedTuple

from rescheduler.execution.eviction.evicting import LIVE_SECONDS, is_leaving
from rescheduler.execution.eviction.own_verdict import OF_ALL
from rescheduler.execution.fresh_cluster import OLDEST_SNAPSHOT_SECONDS
from rescheduler.execution.run.segment_run import AT_ONCE, Tools
from rescheduler.execution.surge.surge_core import TRY_LATER
from rescheduler.model.plan.plan import Move

PASSING: Final = AT_ONCE | {"Rollout"}
"""Rules whose objection may pass. An owner's status lags behind a pod that was just taken out; a rollout of somebody
else's is seen by the owner itself, which then ends the surge."""


OLDEST_SIGHT_SECONDS: Final = 5.0
"""What an owner wants, and that a replacement works, was looked for no longer ago than this when the old pod goes."""


class NotLet(NamedTuple):
    """Why a pod was not evicted. ``is_final``: asking again changes nothing; ``is_of_all``: nor would it for others."""

    why: str
    is_final: bool
    is_of_all: bool = False


class LastStep:
    """Asks for one pod at a time."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def take(self, move: Move, seen_at: float) -> NotLet | None:
        """Evict the pod; None: it leaves. Raises PlanStoppedError where nothing may be evicted any more, ClusterError.

        Its ledger entry, which stands since it was taken out, does not count against it. ``seen_at``: since when it is
        known what its owner wants, and that its replacement works; what took too long by now is to be seen anew.
        """
        tools = self._tools
        if tools.fresh.age_seconds > OLDEST_SNAPSHOT_SECONDS:
            tools.fresh.read()
            tools.fresh.require_fast()
        tools.session.look()
        with tools.session.set_aside(move):
            objection = tools.verdict.ask(move)
        if objection is not None:
            rule = tools.verdict.rule
            return NotLet(objection, is_final=rule not in PASSING, is_of_all=rule in OF_ALL)
        asked_at = tools.waiter.now
        live = tools.target.read_pod(move.pod.namespace, move.pod.name)
        if live is None or is_leaving(live, move):
            return None
        now = tools.waiter.now
        if now - asked_at > LIVE_SECONDS or now - seen_at > OLDEST_SIGHT_SECONDS:
            return NotLet("the API server took too long for a last look", is_final=False)
        tools.session.check_switch()
        answer = tools.evictor.request(move, live)
        tools.evictor.in_flight = None
        if answer.kind in ("Accepted", "Gone"):
            return None
        return NotLet(f"{answer.kind}: {answer.message}", is_final=answer.kind not in TRY_LATER)
