"""One round of a history in the embedded cluster, under the rules of ``run``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from msgspec import structs

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.batch.backtest.counted_clock import CountedClock
from rescheduler.batch.backtest.replay.history import Stay
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.past_states import PastStates
from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.daemon.rounds.world import RoundContext
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.execution.ledger.open_evictions import READY_SECONDS, settled
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan, PodReference
from rescheduler.policy.fields.policy import Mode, Policy
from rescheduler.scheduling.schedulers import Schedulers

CALL_SECONDS = 0.0
"""Calls to the ledger take no time, so that a round plans at the snapshot's own."""
_REPLACES = " replaces "


class Outcome(NamedTuple):
    """What a round did. ``stays``: where each pod of the archive stands afterwards, by uid; ``evicted``: uids in the
    order in which they went; ``after``: the embedded cluster then.
    """

    plan: Plan | None
    stays: Mapping[str, Stay]
    evicted: tuple[str, ...]
    after: Cluster


@dataclass
class Rounds:
    """The rounds of one history: what is to be remembered between them stands in ``ledger`` and ``before``."""

    policy: Policy | None
    selection: Selection
    seed: int
    ledger: Ledger = EMPTY_LEDGER
    before: RoundRunner | None = None

    def run(self, cluster: Cluster, schedulers: Schedulers, *, recounts: bool, until: float = math.inf) -> Outcome:
        """Plan on a cluster and carry the plan out. ``recounts``: its budgets are counted anew first.

        ``until``: when the next snapshot comes. What takes longer is carried out all the same, and counts as done by
        then: a round must not find times that lie ahead of it.
        """
        world = SimulatedCluster(cluster, seed=self.seed, schedulers=schedulers, clock=SimulatedClock(cluster.taken_at))
        if recounts:
            world.recount_budgets()
        plan = None
        if self.policy is not None:
            plan = self._carried_out(world, schedulers, self.policy, until)
        after = world.read()
        return Outcome(plan, *_traced(world, cluster, after, until), after)

    def _carried_out(
        self, world: SimulatedCluster, schedulers: Schedulers, policy: Policy, until: float
    ) -> Plan | None:
        acting = policy.model_copy(update={"mode": Mode.EXECUTE})
        store = SimulatedLedger(world.clock, _proven(self.ledger, world, world.clock.now()), call_seconds=CALL_SECONDS)

        def plan(
            cluster: Cluster,
            ledger: Ledger,
            wanted: Mapping[str, Wanted],
            earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
        ) -> Plan:
            options = CycleOptions(
                CountedClock(cluster.taken_at), schedulers, self.selection, seed=self.seed, ledger=ledger,
                is_daemon=True, wanted=wanted, earlier=earlier,
            )  # fmt: skip
            return make_plan(cluster, acting, options)

        # Each step has an API server of its own, in which uids come again.
        runner = RoundRunner(
            RoundContext(world, store, world.clock), acting, plan, schedulers=schedulers, selection=self.selection,
            before=self.before, past=PastStates(), again=plan,
        )  # fmt: skip
        outcome = runner.run_once()
        world.settle()
        world.clock.sleep(min(READY_SECONDS + 1.0, until - world.clock.now()))
        ledger = _proven(store.ledger, world, min(world.clock.now(), until))
        self.ledger = _not_ahead(_of_former_pods(ledger), until)
        self.before = runner
        return outcome.plan


def _proven(ledger: Ledger, world: SimulatedCluster, now: float) -> Ledger:
    """The ledger with every debt closed that is over. Unlike in any recording, what a history holds no more is gone."""
    cluster = replace(world.read(), taken_at=now, is_recording=False)
    return settled(ledger, cluster, lambda pod: world.read_pod(pod.namespace, pod.name))


def _of_former_pods(ledger: Ledger) -> Ledger:
    """Open evictions are of pods that are gone: what replaces one has its uid in the history, and is another."""
    entries = tuple(
        structs.replace(entry, pod=PodReference(entry.pod.namespace, entry.pod.name, f"{entry.pod.uid} before"))
        if entry.is_debt and not entry.pod.uid.endswith(" before")
        else entry
        for entry in ledger.entries
    )
    return structs.replace(ledger, entries=entries)


def _not_ahead(ledger: Ledger, until: float) -> Ledger:
    """A ledger of which nothing is later than a time."""
    entries = tuple(
        structs.replace(
            entry, at=min(entry.at, until), ended_at=_by(entry.ended_at, until), closed_at=_by(entry.closed_at, until)
        )
        for entry in ledger.entries
    )
    breaker = structs.replace(
        ledger.breaker, opened_at=_by(ledger.breaker.opened_at, until), since=min(ledger.breaker.since, until)
    )
    return structs.replace(ledger, entries=entries, breaker=breaker, clean_since=_by(ledger.clean_since, until))


def _by(time: float | None, until: float) -> float | None:
    return None if time is None else min(time, until)


def _traced(
    world: SimulatedCluster, before: Cluster, after: Cluster, until: float
) -> tuple[dict[str, Stay], tuple[str, ...]]:
    """Where the pods of ``before`` are now, through whatever replaced them; and which were evicted."""
    evicted = tuple(dict.fromkeys(write.detail for write in world.writes if write.resource == "pods/eviction"))
    came_from = {}
    for event in world.events:
        if event.reason == "SuccessfulCreate":
            namespace = event.pod.partition("/")[0]
            came_from[event.pod] = f"{namespace}/{event.message.rpartition(_REPLACES)[2]}"
    by_uid = {pod.uid: pod for pod in after.pods}
    successor = {_first(key, came_from, before): after.pod_by_key[key] for key in came_from if key in after.pod_by_key}
    stays = {}
    for pod in before.pods:
        now = by_uid.get(pod.uid)
        if now is not None:
            stays[pod.uid] = _stay(pod, now, until)
        elif pod.key in successor:
            stays[pod.uid] = _stay(pod, successor[pod.key], until)
        elif not pod.is_terminating:
            stays[pod.uid] = Stay(None)
    return stays, evicted


def _first(key: str, came_from: Mapping[str, str], before: Cluster) -> str:
    """The pod at the beginning of a chain of replacements."""
    seen: set[str] = set()
    while key in came_from and key not in seen and not (seen and key in before.pod_by_key):
        seen.add(key)
        key = came_from[key]
    return key


def _stay(before: Pod, now: Pod, until: float) -> Stay:
    is_same = before.uid == now.uid and before.node_name == now.node_name
    created, started, scheduled, ready = (
        _by(time, until) for time in (now.created_at, now.started_at, now.scheduled_at, now.ready_at)
    )
    uid = None if before.uid == now.uid else _new_uid(before, now)
    return Stay(now.node_name, is_same, created, started, scheduled, ready, uid)


def _new_uid(before: Pod, now: Pod) -> str:
    """Drawn, since each step's embedded cluster draws the same ones again."""
    return hashlib.sha256(f"{before.uid} {now.uid} {now.created_at}".encode()).hexdigest()
