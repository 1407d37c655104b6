"""What one policy makes of the daemon; put together anew when another policy comes in force."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from rescheduler.composition.live.descheduling import ChosenVictims, round_plan, ways_of
from rescheduler.composition.live.executors import OWN_WAYS
from rescheduler.composition.load.daemon_load import DaemonLoad
from rescheduler.composition.load.smoothed_use import SmoothedUse
from rescheduler.composition.objective_values import objective_values
from rescheduler.composition.scheduler_sources import predictions_by
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.autoscaler.handing_over import HandOver
from rescheduler.daemon.policies.with_descheduler import descheduler_policy_in
from rescheduler.daemon.rounds.descheduling_world import smoothed_use, world_of_victims
from rescheduler.daemon.rounds.first_try import PlanFirstTry, policy_of_try
from rescheduler.daemon.rounds.last_plan import LastPlan
from rescheduler.daemon.rounds.live_world import Ground, live_world
from rescheduler.daemon.rounds.rehearsal import rehearse
from rescheduler.daemon.rounds.rounds import MakePlan, PlanAfter
from rescheduler.daemon.rounds.scheduler_watch import SchedulerWatch
from rescheduler.daemon.rounds.trying_first import TryingRunner
from rescheduler.daemon.triggers import make_triggers, watched_objectives
from rescheduler.daemon.triggers.asking import Asking
from rescheduler.disruption.eligibility_context import EVERYTHING
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.extension_points import CapacityTarget
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.daemon.notices import Notice
from rescheduler.model.daemon.rounds import AutoscalerNotice, Occasion, RoundReport, Sight
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.policy.fields.policy import Policy, may_migrate, may_surge, tries_first
from rescheduler.scheduling.schedulers import NothingMeasured, Schedulers


class Asks(Protocol):
    """All triggers of a policy."""

    def look(self, sight: Sight, now: float | None = None) -> Sequence[Occasion]:
        """What the triggers ask for; ``now``: by the loop's clock, which need not be the server's."""

    def wake_at(self, now: float) -> float | None:
        """When one of them wants to be asked though nothing changes."""

    def answered(self, report: RoundReport) -> None:
        """What became of a round."""


class HandsOver(Protocol):
    """What is left to an autoscaler."""

    def look(self, cluster: Cluster, notices: Sequence[AutoscalerNotice] = ()) -> None:
        """Take in a snapshot and what the autoscaler has said."""

    def keep(self) -> None:
        """Renew what would run out."""

    def end(self) -> None:
        """Let go of what ends with the process."""

    def after(self, report: RoundReport, cluster: Cluster) -> None:
        """Ask for room where no rearrangement helps; offer nodes that were emptied."""


class Measures(Protocol):
    """Measured load while the daemon runs."""

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """Load of a snapshot's nodes and pods; None where nothing is measured."""

    def stop(self) -> None:
        """Collect no more."""


class Values(Protocol):
    """What the policy's objectives are worth."""

    def __call__(self, cluster: Cluster) -> Mapping[str, float]:
        """Each objective's value as a snapshot stands, lower is better."""


@dataclass(frozen=True)
class PolicyRuntime:
    """Everything that depends on the policy. ``policy_id``: the beginning of its sha256.

    ``smoothed``: use of nodes for a DeschedulerPolicy that goes by it; None: none does.
    """

    policy: Policy
    policy_id: str
    schedulers: Schedulers
    rounds: TryingRunner
    asking: Asks
    hand_over: HandsOver
    load: Measures
    values: Values
    smoothed: SmoothedUse | None = None

    def end(self) -> None:
        """Collect and sample no more."""
        self.load.stop()
        if self.smoothed is not None:
            self.smoothed.stop()


# Puts together what a policy makes of the daemon, at the start and whenever another policy comes in force.

REPAYMENTS_IN_A_PLAN: Final = 2.0
"""A plan may take as long as so many replacements; nothing else is planned meanwhile, so that it must end."""
SHORTEST_PLAN_SECONDS: Final = 60.0
OTHER_TRY: Final = "is not among the pods that this try is for (policy: autoscaler.firstTry)"
"""Of pending pods, as the rest of a sentence."""


@dataclass(frozen=True)
class RuntimeParts:
    """What runtimes are made with. ``policy_files``: named in messages; ``capacity``: how room is asked for, None: not;
    ``selection``: all pods but the daemon's own; ``contents``: of the files that are in force, a DeschedulerPolicy
    among them.

    ``read_config_maps``: those that schedulers are configured by; raises ClusterError. ``use_load`` is given each new
    collector of load, so that somebody tells it of evictions, and ``use_schedulers`` each new watch over schedulers.
    """

    ground: Ground
    policy_files: Sequence[str]
    seed: int
    tell: Callable[[Notice], None]
    read_config_maps: Callable[[Sequence[str]], Mapping[str, Mapping[str, str]]]
    use_load: Callable[[DaemonLoad | None], None]
    use_schedulers: Callable[[SchedulerWatch], None]
    capacity: Callable[[Policy], CapacityTarget | None]
    contents: Callable[[], Mapping[str, bytes]] = dict
    selection: Selection = EVERYTHING


class NoLoad(NothingMeasured):
    """Nothing is measured: requests stand in for usage."""

    def start(self) -> None:
        """Nothing is to be collected."""

    def stop(self) -> None:
        """Nothing was started."""


def _plan_seconds(policy: Policy) -> float:
    """How long a plan may be carried out."""
    disruption = policy.disruption
    surge = disruption.surge.ready_within + disruption.surge.settle if may_surge(policy) else 0.0
    migration = disruption.migration.within if may_migrate(policy) else 0.0
    return max(SHORTEST_PLAN_SECONDS, REPAYMENTS_IN_A_PLAN * max(disruption.breaker.repay_within, surge, migration))


def make_runtime(
    parts: RuntimeParts, policy: Policy, policy_id: str, before: PolicyRuntime | None = None
) -> PolicyRuntime:
    """A runtime, its collector of load running. Raises PolicyError, ConfigurationError, SnapshotError, ClusterError."""
    ground = parts.ground
    cluster = ground.snapshot()
    load = _load(ground, policy)
    schedulers = _schedulers(parts, policy, load, cluster)
    hand_over = _hand_over(parts, policy, None if before is None else before.hand_over)
    world = live_world(ground, policy, load if isinstance(load, DaemonLoad) else None)
    own, ways = _planner(parts, policy, schedulers, hand_over), OWN_WAYS
    planner: MakePlan = own
    again: PlanAfter | None = own
    written, smoothed = descheduler_policy_in(parts.contents()), None
    if written is not None:
        smoothed = smoothed_use(ground, written, None if before is None else before.smoothed)
        chosen = ChosenVictims(written, policy, parts.selection, schedulers)
        planner, ways, again = _foreteller(parts, chosen), ways_of(chosen), None
        world = world_of_victims(world, ground, policy, written, smoothed)
    first = _first_planner(parts, policy, schedulers, hand_over) if tries_first(policy) else None
    rounds = TryingRunner(
        world, policy, planner, schedulers=schedulers, selection=parts.selection,
        timeout_seconds=_plan_seconds(policy), before=None if before is None else before.rounds, ways=ways,
        again=again, plan_first=first,
    )  # fmt: skip
    triggers = make_triggers(policy, parts.seed, cluster.taken_at, schedulers.names)
    watched = watched_objectives(triggers)
    _relieve(before, load, smoothed, parts)
    parts.use_schedulers(SchedulerWatch(schedulers.names))

    def values(cluster: Cluster) -> Mapping[str, float]:
        return objective_values(cluster, policy, schedulers, load.windows(cluster), watched)

    return PolicyRuntime(
        policy, policy_id, schedulers, rounds, Asking(triggers, parts.tell), hand_over, load, values, smoothed
    )


def _relieve(
    before: PolicyRuntime | None, load: NoLoad | DaemonLoad, smoothed: SmoothedUse | None, parts: RuntimeParts
) -> None:
    """Collect in place of the runtime before, when nothing can fail any more: nobody would stop it."""
    if before is not None:
        before.end()
    load.start()
    if smoothed is not None:
        smoothed.start()
    parts.use_load(load if isinstance(load, DaemonLoad) else None)


def _load(ground: Ground, policy: Policy) -> NoLoad | DaemonLoad:
    if not policy.usage.providers:
        return NoLoad()
    return DaemonLoad(policy, ground.where, ground.clock, ground.snapshot, ground.tell)


def _schedulers(parts: RuntimeParts, policy: Policy, load: NoLoad | DaemonLoad, cluster: Cluster) -> Schedulers:
    """The cluster's schedulers as they are configured now, and the load they go by."""
    found = predictions_by(load, policy, parts.policy_files)
    if found.config_maps:
        cluster = replace(cluster, config_maps=parts.read_config_maps(found.config_maps))
    return found.schedulers(cluster)


def _hand_over(parts: RuntimeParts, policy: Policy, before: HandsOver | None) -> HandOver:
    ground = parts.ground
    return HandOver(
        parts.capacity(policy),
        policy,
        ground.clock,
        parts.tell,
        stopped=lambda: ground.fence() or ground.stopped(),
        before=before if isinstance(before, HandOver) else None,
    )


def _foreteller(parts: RuntimeParts, chosen: ChosenVictims) -> MakePlan:
    def plan(cluster: Cluster, ledger: Ledger, wanted: Mapping[str, Wanted]) -> Plan:
        return round_plan(cluster, chosen, ledger, wanted, parts.ground.stopped())

    return plan


def _asked(parts: RuntimeParts, schedulers: Schedulers, ledger: Ledger, wanted: Mapping[str, Wanted]) -> CycleOptions:
    """What a daemon asks of each plan."""
    return CycleOptions(
        parts.ground.clock, schedulers, parts.selection, seed=parts.seed, ledger=ledger, is_daemon=True, wanted=wanted
    )


def _first_planner(parts: RuntimeParts, policy: Policy, schedulers: Schedulers, hand_over: HandOver) -> PlanFirstTry:
    """Helps the pods in question and nobody else; takes as long as loading the solver does."""
    rehearse(parts.ground.clock)
    narrow = policy_of_try(policy)

    def plan(cluster: Cluster, ledger: Ledger, wanted: Mapping[str, Wanted], pods: frozenset[str]) -> Plan:
        others = {pod.uid: OTHER_TRY for pod in cluster.pending_pods if pod.uid not in pods}
        asked = _asked(parts, schedulers, ledger, wanted)
        options = replace(asked, left={**others, **hand_over.left_to_autoscaler(cluster)})
        return make_plan(hand_over.marked(cluster), narrow, options)

    return plan


class Planner(Protocol):
    """Plans for a round, and again for what is left of its plan."""

    def __call__(
        self,
        cluster: Cluster,
        ledger: Ledger,
        wanted: Mapping[str, Wanted],
        earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
        /,
    ) -> Plan:
        """As ``MakePlan`` and ``PlanAfter``."""


def _planner(parts: RuntimeParts, policy: Policy, schedulers: Schedulers, hand_over: HandOver) -> Planner:
    last = LastPlan()

    def plan(
        cluster: Cluster,
        ledger: Ledger,
        wanted: Mapping[str, Wanted],
        earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
    ) -> Plan:
        options = replace(
            _asked(parts, schedulers, ledger, wanted),
            progress=parts.ground.progress,
            left=hand_over.left_to_autoscaler(cluster),
            waiting=hand_over.waiting(cluster),
            start=last.standing(cluster),
            earlier=earlier,
        )
        return last.keep(make_plan(hand_over.marked(cluster), policy, options))

    return plan
