"""Puts a daemon together for a live cluster, starts its parts in order, and stops them in the opposite one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from rescheduler import __version__
from rescheduler.adapters.kubernetes.identity import own_identity
from rescheduler.adapters.telemetry.eviction_news import EvictionNews
from rescheduler.adapters.telemetry.listeners import Listeners
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.load.daemon_load import DaemonLoad
from rescheduler.daemon.cluster_access import ClusterAccess
from rescheduler.daemon.leadership.leading import Leading
from rescheduler.daemon.loop import Loop, Parts
from rescheduler.daemon.policies.policy_files import PolicyFiles
from rescheduler.daemon.policies.policy_in_force import PolicyInForce
from rescheduler.daemon.policies.policy_runtime import PolicyRuntime, RuntimeParts, make_runtime
from rescheduler.daemon.policies.with_descheduler import load_run_policy
from rescheduler.daemon.recording.archive_keeper import ArchiveKeeper
from rescheduler.daemon.rounds.live_world import Ground
from rescheduler.daemon.rounds.once import Once
from rescheduler.daemon.steering.controls import Controls
from rescheduler.daemon.steering.inbox import Inbox
from rescheduler.daemon.steering.objections import timed_objection
from rescheduler.daemon.steering.steering_errors import ObjectionError
from rescheduler.daemon.steering.stopping import Orders
from rescheduler.daemon.steering.told_ledger import told_ledger
from rescheduler.extension_points import Clock, ClusterError, Listener, Progress, ReschedulerError
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.daemon.notices import DefaultsBind, Fault, Notice, ServerLacks, Started, Stopping
from rescheduler.model.daemon.rounds import Occasion, RoundRequest
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan
from rescheduler.model.usage.trust import NodeTrust
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.emptied_scope import refuse_emptied_scope
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.policy.telling.numbers_in_force import newly_binding

SYNC_SECONDS: Final = 2.0
"""How often it is asked, at the start, whether the cluster is known yet."""


@dataclass(frozen=True)
class DaemonOptions:
    """What the command line says. ``is_once``: one round at once, and no more.

    ``descheduling_interval``: seconds between two cycles of a DeschedulerPolicy, None: as the triggers say.
    """

    where: ClusterOptions
    policy_files: tuple[str, ...] = ()
    seed: int = 0
    is_once: bool = False
    descheduling_interval: float | None = None


class Daemon:
    """All parts, made but not started. Raises PolicyError for the policy, ClusterError for a cluster without a name."""

    def __init__(self, options: DaemonOptions, clock: Clock, *, beat: Callable[[], None], progress: Progress) -> None:
        """``beat`` is called by the loop wherever it shows that it lives, ``progress`` in long work."""
        self.options = options
        self.clock = clock
        self.selection = Selection(own=own_identity())
        self._show_life = beat
        self._show_progress = progress
        self._listeners: Listener = Listeners(())
        self._tells: set[str] = set()
        self._news = EvictionNews(self.hear, clock)
        self._once = Once(clock, is_once=options.is_once)
        self.orders = Orders(clock)
        self.inbox = Inbox(self.orders.wake.set)
        self.policies = PolicyInForce(PolicyFiles(options.policy_files, self._load_policy, clock), clock, self.hear)
        self.leading = Leading(options.where, self.policy, clock, self.hear)
        self.access = ClusterAccess(
            options.where, clock, self.hear, stirred=self.orders.wake.stir, fence=self.leading.fence
        )
        self.controls = Controls(
            clock,
            self.hear,
            expires=lambda: self.policy.approval.expires,
            read_mark=lambda: self.access.approval_mark(self.policy),
            objection=self._objection,
            acknowledge=self._acknowledge,
            is_elected=self.leading.is_elected,
            inbox=self.inbox,
        )
        self.loop: Loop | None = None
        self._load: DaemonLoad | None = None

    @property
    def policy(self) -> Policy:
        """What is in force."""
        return self.policies.reading.policy

    @property
    def ledger(self) -> Ledger | None:
        """As last read, with what was told of our own evictions since; None while another one leads, who keeps it."""
        if self.loop is None or not self.leading.is_leader:
            return None
        runtime = self.loop.runtime
        return told_ledger(runtime.rounds.ledger, self.controls.state().evictions, runtime.policy.disruption.breaker)

    def _load_policy(self, files: Sequence[str]) -> Policy:
        policy = load_run_policy(files, self.options.descheduling_interval)
        refuse_emptied_scope(policy, self.selection.own.namespace, files)
        return policy

    def listen(self, listeners: Sequence[Listener]) -> None:
        """From now on these hear what is told, after our own."""
        self._listeners = Listeners((self.controls, self._news, *listeners))

    def hear(self, notice: Notice) -> None:
        """Tell everybody."""
        self._listeners.hear(notice)
        load = self._load
        if load is not None:
            load.own_moves.hear(notice)

    def run(self) -> str:
        """Start everything, work until asked to stop, stop everything; why it ended.

        Raises ReschedulerError or PolicyError where the start fails for good, or the one round that was asked for.
        """
        with ExitStack() as stack:
            stack.callback(self.orders.install())
            self.access.start(stack)
            self._wait_until_synced()
            if self.orders.stopping is not None:
                return self._ended(self.orders.stopping)
            self._check_rights(self.policy)
            self.leading.start()
            stack.callback(self.leading.stop)
            self._start_archive(stack)
            reading = self.policies.reading
            self.hear(Started(self.clock.now(), __version__, reading.policy.mode.value, reading.policy_id))
            words = tuple(newly_binding(reading.policy))
            if words:
                self.hear(DefaultsBind(self.clock.now(), reading.policy_id, words))
            if lacks := self.access.server_lacks(reading.policy):
                self.hear(ServerLacks(self.clock.now(), reading.policy_id, lacks))
            runtime = make_runtime(self._runtime_parts(), reading.policy, reading.policy_id)
            self.loop = Loop(self._loop_parts(), runtime, only=self._only())
            stack.callback(self._end_runtime)
            reason = self._ended(self.loop.run())
            self._once.judge(self.loop.last)
            return reason

    def _end_runtime(self) -> None:
        if self.loop is not None:
            self.loop.runtime.end()

    def _start_archive(self, stack: ExitStack) -> None:
        """Record from now on, where the policy in force says so."""
        if not self.options.is_once:
            archive = ArchiveKeeper(
                self.options.where, lambda: self.policy, lambda: self.leading.is_leader, self.clock, self._tell_again
            )
            archive.start()
            stack.callback(archive.stop)

    def _beat(self) -> None:
        """The loop lives, and has a moment for those who ask."""
        self._show_life()
        self.inbox.answer()

    def _progress(self, step: str, done: int = 0, total: int | None = None) -> None:
        """Long work goes on; who asks meanwhile need not wait for its end."""
        self._show_progress(step, done, total)
        self.inbox.answer()

    def usage_age(self) -> float | None:
        """Seconds since load was last collected; None where it never was."""
        return None if self._load is None else self._load.age_seconds(self.clock.now())

    def load_trust(self) -> NodeTrust | None:
        """How far each node's load is believed; None where nothing is measured."""
        return None if self._load is None else self._load.trust()

    def _ended(self, reason: str) -> str:
        self.hear(Stopping(self.clock.now(), reason))
        return reason

    def _only(self) -> Occasion | None:
        if not self.options.is_once:
            return None
        return Occasion("OnDemand", "asked for by --once", self.clock.now())

    def _check_rights(self, policy: Policy) -> None:
        for warning in self.access.rights_warnings(policy):
            self._tell(warning)

    def _wait_until_synced(self) -> None:
        while self.orders.stopping is None and not self.access.mirror.wait_synced(SYNC_SECONDS):
            self._beat()
            self._once.check(self.access.mirror.kinds_out_of_sync)

    def _stopping(self) -> str | None:
        if self.loop is not None and self.loop.last is None:
            self._once.check(self.access.mirror.kinds_out_of_sync, leads=self.leading.is_leader)
        return self.orders.stopping

    def _runtime_parts(self) -> RuntimeParts:
        access = self.access
        ground = Ground(
            where=self.options.where,
            clock=self.clock,
            connection_for=lambda is_dry: access.connection(is_dry=is_dry),
            mirror=access.mirror,
            signals=access.signals,
            asked=access.record.sent,
            fence=self.leading.fence,
            stopped=lambda: self.orders.stopping or self.controls.paused(),
            ending=lambda: self.orders.stopping,
            news=self._news,
            tell=self._tell,
            hear=self.hear,
            progress=self._progress,
        )
        return RuntimeParts(
            ground=ground,
            policy_files=self.options.policy_files,
            contents=lambda: self.policies.reading.contents,
            seed=self.options.seed,
            tell=self.hear,
            read_config_maps=access.config_maps,
            use_load=self._use_load,
            use_schedulers=access.watch_schedulers,
            capacity=access.capacity,
            selection=self.selection,
        )

    def _loop_parts(self) -> Parts:
        return Parts(
            kept=self.access.mirror,
            steering=self.controls,
            listener=self,
            clock=self.clock,
            stopping=self._stopping,
            wait=self._wait,
            beat=self._beat,
            leads=lambda: self.leading.is_leader,
            requests=self._requests,
            notices=self.access.autoscaler.take,
            changed=self._changed,
            stirred_at=self.orders.wake.stirred_at,
        )

    def _wait(self, longest: float, rest: float) -> None:
        self.orders.wake.sleep(longest, rest)
        self.inbox.answer()

    def _requests(self) -> tuple[RoundRequest, ...]:
        return (*self.orders.take_requests(), *self.controls.take_requests())

    def _changed(self, runtime: PolicyRuntime) -> PolicyRuntime | None:
        """A runtime under another policy, where one has come in force and can be used."""
        found = self.policies.poll(
            self.access.known, schedulers=runtime.schedulers.names, at_once=self.orders.take_reload()
        )
        if found is None:
            return None
        try:
            self._check_rights(found.policy)
            self.leading.under(found.policy)
            return make_runtime(self._runtime_parts(), found.policy, found.policy_id, runtime)
        except (ReschedulerError, PolicyError, ValueError) as error:
            self.leading.under(runtime.policy)
            self.policies.revert(str(error), try_again=isinstance(error, ClusterError))
            return None

    def _objection(self, plan: Plan) -> ObjectionError | None:
        """What forbids carrying a plan out now."""
        self.inbox.require_owner()
        if self.loop is None:
            return ObjectionError("the daemon is starting")
        rounds, cluster = self.loop.runtime.rounds, self.access.snapshot()
        timed = timed_objection(plan, self.policy, cluster, rounds.ledger)
        if timed is not None:
            return timed
        reason = rounds.objection_to(plan, cluster)
        return None if reason is None else ObjectionError(reason)

    def _acknowledge(self, held_id: str, who: str) -> None:
        self.inbox.require_owner()
        self.policies.acknowledge(held_id, who)

    def _use_load(self, load: DaemonLoad | None) -> None:
        self._load = load

    def _tell(self, text: str) -> None:
        """What goes wrong beside rounds; the same words once."""
        if text not in self._tells:
            self._tells.add(text)
            self._tell_again(text)

    def _tell_again(self, text: str) -> None:
        self.hear(Fault(self.clock.now(), "surroundings", text))
