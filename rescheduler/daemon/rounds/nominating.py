"""Pods that are led to room before it is made: written down first, nominated, kept so, and let go where it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from rescheduler.daemon.rounds.world import RoundContext
from rescheduler.execution.ledger.ledger_rules import LedgerRules
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ClusterError, StoreError
from rescheduler.model.daemon.ledger import Ledger, Nomination
from rescheduler.model.daemon.ledger_changes import nominated, without_nominations
from rescheduler.model.daemon.notices import NominationsFound
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan

LASTS_SECONDS: Final = 60.0
"""A nomination outlives its run by this and the longest grace period of a pod that is to go, at most."""
LOOK_SECONDS: Final = 0.5
"""How often it is looked whether the nominations still stand: a scheduling attempt in vain may take one off."""


class Nominating:
    """The nominations of one plan, from the ledger on."""

    def __init__(self, world: RoundContext, rules: LedgerRules, found: Sequence[Nomination], now: float) -> None:
        self._world = world
        self._rules = rules
        self._found = found
        self._now = now
        self._standing: list[Nomination] = []
        self._looked_at = world.clock.monotonic()

    def begin(self) -> None:
        """Write all of them down, then nominate. Raises ClusterError, StoreError, PlanStoppedError.

        What was nominated until then is the caller's to ``end``.
        """
        self._write(lambda ledger: nominated(ledger, self._found), lambda ledger: _holds(ledger, self._found))
        for item in self._found:
            self._standing.append(item)  # first: it may stand although the answer is lost
            if not self._world.target.nominate(item.pod, item.node):
                raise PlanStoppedError(f"{item.pod.key} could not be nominated to {item.node}: gone, or bound already")

    def keep(self) -> None:
        """Nominate anew whom a scheduling attempt has taken it from: Karpenter would buy for it. Raises nothing."""
        now = self._world.clock.monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        for item in self._standing:
            with suppress(ClusterError):
                pod = self._world.target.read_pod(item.pod.namespace, item.pod.name)
                if pod is not None and pod.uid == item.pod.uid and pod.is_pending and not pod.nominated_node:
                    self._world.target.nominate(item.pod, item.node)

    def end(self) -> str | None:
        """Take off what still stands, since its room is not there, and strike it from the ledger; what went wrong.

        What cannot be taken off stays in the ledger, by which others find it when it has run out.
        """
        over, trouble = list(self._found), None
        for item in self._standing:
            try:
                self._world.target.withdraw_nomination(item.pod, item.node)
            except ClusterError as error:
                over.remove(item)
                trouble = f"the nomination of {item.pod.key} could not be taken off: {error}"
        try:
            self._write(lambda ledger: without_nominations(ledger, over), lambda _: False)
        except (ClusterError, StoreError, PlanStoppedError) as error:
            trouble = trouble or f"nominations that are over could not be struck from the ledger: {error}"
        return trouble

    def _write(self, change: Callable[[Ledger], Ledger], is_done: Callable[[Ledger], bool]) -> None:
        write(self._world, self._rules, self._now, change, is_done)


def write(
    world: RoundContext,
    rules: LedgerRules,
    now: float,
    change: Callable[[Ledger], Ledger],
    is_done: Callable[[Ledger], bool] = lambda _: False,
) -> None:
    """Change the ledger, unless there is nothing to change. Raises ClusterError, StoreError, PlanStoppedError."""

    def changed(ledger: Ledger) -> Ledger | None:
        new = change(ledger)
        return None if new == ledger else new

    rules.writer(world.ledger, world.clock).update(changed, is_done, now)


def prepare_ledger(world: RoundContext, rules: LedgerRules, now: float) -> None:
    """Make the ledger where there is none yet, with its namespace: a first try has no time for that.

    Raises ClusterError, StoreError, PlanStoppedError.
    """
    if not world.ledger.read().version:
        rules.writer(world.ledger, world.clock).update(lambda ledger: ledger, lambda _: False, now)


def nominations_of(plan: Plan, cluster: Cluster, run_id: str, now: float) -> tuple[Nomination, ...]:
    """Of each pod that the plan helps, as they are to be written down."""
    grace = max((cluster.pod_by_key[move.pod.key].spec.termination_grace_seconds for move in plan.moves), default=0)
    at, until = round(now, 3), round(now + grace + LASTS_SECONDS, 3)
    return tuple(Nomination(item.pod, item.node, at, until, run_id) for item in plan.placements)


def clear_nominations(
    world: RoundContext, rules: LedgerRules, ledger: Ledger, cluster: Cluster
) -> NominationsFound | None:
    """Between rounds: those of the ledger belong to no plan that runs. What has run out is taken off, and struck.

    What was found; None: nothing. Raises ClusterError, StoreError, PlanStoppedError.
    """
    now = cluster.taken_at
    standing = [item for item in ledger.nominations if _stands(item, cluster)]
    expired = [item for item in ledger.nominations if now > item.expires_at]
    cleared = [item for item in expired if world.target.withdraw_nomination(item.pod, item.node)]
    # A pod that is gone, bound or another by now needs no nomination, whenever it would run out.
    settled = [item for item in ledger.nominations if not _waits(item, cluster)]
    over = [*expired, *settled]
    if over:
        write(world, rules, now, lambda found: without_nominations(found, over))
    return NominationsFound(now, tuple(standing), tuple(cleared)) if standing or cleared else None


def _waits(item: Nomination, cluster: Cluster) -> bool:
    pod = cluster.pod_by_key.get(item.pod.key)
    return pod is not None and pod.uid == item.pod.uid and pod.is_pending


def _stands(item: Nomination, cluster: Cluster) -> bool:
    return _waits(item, cluster) and cluster.pod_by_key[item.pod.key].nominated_node == item.node


def _holds(ledger: Ledger, found: Iterable[Nomination]) -> bool:
    return all(item in ledger.nominations for item in found)
