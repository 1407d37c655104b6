"""The gate of one plan under one policy, as an executor meets it: it gathers what the gate looks at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rescheduler.disruption.budgets.workload_budgets import BereftWorkloads
from rescheduler.disruption.earlier.open_evictions import most_replicas, with_debts
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.eligibility_context import DEFAULT_SCHEDULERS, EVERYTHING
from rescheduler.disruption.gate.breaker import judge_breaker
from rescheduler.disruption.gate.gate import ALL_METHODS, EVICTIONS, Caution, GateContext, permit_wave
from rescheduler.disruption.gate.health import Finding, lacking_head_room, unhealthy
from rescheduler.disruption.gate.kill_switch import stop_mark
from rescheduler.disruption.replica_changes import Wanted, remember_wanted
from rescheduler.extension_points import Gate
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import Workload
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.disruption import Eligibility, Selection
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PodReference, Refusal
from rescheduler.model.usage.trust import NodeTrust
from rescheduler.policy.fields.policy import Mode, Permission, Policy, with_unready

Recheck = Callable[[Cluster, Sequence[Move]], Mapping[str, str]]
"""Asks the filters again: for each pod (by uid) whose destination does not take it any more, the reason."""
AskTrust = Callable[[], NodeTrust]
"""Asks how far measured use is believed right now."""
AskLenient = Callable[[Move], bool]
"""Whether the pod of a move was chosen for a state in which it is not Ready."""
AskHealth = Callable[[Cluster, Ledger], Sequence[Finding]]
"""Asks what speaks against acting now, beyond what one snapshot shows."""


class PolicyGate(Gate):
    """Remembers what no snapshot shows: from which node each move leaves, which workload it belongs to, how many
    replicas each workload wanted, and the most it ever saw of owners that are known by their pods alone (their wanted
    number would seem to fall while a pod is being replaced).

    ``is_confirmed``: a person said yes to this plan; otherwise only a policy with mode Execute lets pods go.

    ``is_daemon``: nobody watches, so health, breaker, back-off and ramp-up bind; ``health`` None: as the snapshot
    shows it. ``recheck`` asks the filters again; None: somebody else does (the executor's proof). ``trust`` is
    asked before each wave; None: the plan was not made by measured use (no provider, or requests stood in for it).
    ``stop``: the kill switch; ``fence``: whether the plan is the one in force. ``before``: the gate under another
    policy, of which it takes over what no snapshot shows. ``lenient``: whose pods need not be Ready.
    ``surges_of``: the run that moves pods by surge, by its id, as it stands on pods that it took out, and that has pods
    moved by their owners; None: all are evicted. A daemon, whose gate outlives its runs, says so of each (``surging``).
    """

    def __init__(
        self,
        policy: Policy,
        selection: Selection = EVERYTHING,
        *,
        is_confirmed: bool = True,
        is_daemon: bool = False,
        schedulers: frozenset[str] = DEFAULT_SCHEDULERS,
        recheck: Recheck | None = None,
        trust: AskTrust | None = None,
        stop: Callable[[], str | None] = lambda: None,
        fence: Callable[[Ledger], str | None] = lambda _: None,
        health: AskHealth | None = None,
        before: PolicyGate | None = None,
        lenient: AskLenient = lambda _: False,
        surges_of: str | None = None,
    ) -> None:
        self._policy = policy
        self._selection = selection
        self._may_execute = is_confirmed or policy.mode is Mode.EXECUTE
        self._is_daemon = is_daemon
        self._schedulers = schedulers
        self._recheck = recheck
        self._trust = trust
        is_ramping = is_daemon and policy.mode is Mode.EXECUTE  # under Approve a person has said yes to the whole
        self._granted: frozenset[str] | None = frozenset() if is_ramping else None
        self._stop = stop
        self._fence = fence
        self._lenient = lenient
        self._surges_of = surges_of
        self._health = health or self._seen_health
        self._earlier = NO_EARLIER_ATTEMPTS
        self._origins: dict[str, str] = {}
        self._workload_of: dict[str, str] = {}
        self._replicas: dict[str, int] = {} if before is None else before._replicas
        self._wanted: dict[str, Wanted] = {} if before is None else before._wanted
        self._seen: Sequence[Workload] | None = None

    def permit(
        self,
        moves: Sequence[Move],
        cluster: Cluster,
        sent: Sequence[PodReference],
        ledger: Ledger = EMPTY_LEDGER,
    ) -> tuple[Permit | Refusal, ...]:
        """One answer for each move; see ``permit_wave``."""
        self._remember(moves, cluster)
        # Each kind is counted with the other by ``sent``: the gate is asked anew, pod by pod, before each goes.
        groups = {need: [move for move in moves if self._lenient(move) is need] for need in (False, True)}
        found = {
            move.pod: verdict
            for need, group in groups.items()
            if group
            for move, verdict in zip(group, self._permit(group, cluster, sent, ledger, is_lenient=need), strict=True)
        }
        return tuple(found[move.pod] for move in moves)

    def _permit(
        self,
        moves: Sequence[Move],
        cluster: Cluster,
        sent: Sequence[PodReference],
        ledger: Ledger,
        *,
        is_lenient: bool,
    ) -> tuple[Permit | Refusal, ...]:
        gone = [*sent, *(entry.pod for entry in ledger.debts)]
        return permit_wave(
            moves,
            GateContext(
                cluster=cluster,
                eligibility=self._eligibility(moves, with_debts(cluster, gone), sent, ledger, is_lenient=is_lenient),
                may_execute=self._may_execute,
                sent={reference.uid: self._origins.get(reference.uid, "") for reference in sent},
                sent_namespaces=Counter(reference.namespace for reference in sent),
                obstacles=self._recheck(cluster, moves) if self._recheck is not None else {},
                trust=self._trust() if self._trust is not None else None,
                stop=self._stop() or stop_mark(cluster, self._policy),
                fence=self._fence(ledger),
                caution=self._caution(cluster, moves, ledger) if self._is_daemon else None,
                carried_out=EVICTIONS if self._surges_of is None else ALL_METHODS,
            ),
        )

    @property
    def wanted(self) -> Mapping[str, Wanted]:
        """How many replicas each workload was seen to want, by uid, so that a plan is made by what it is judged by."""
        return self._wanted

    @contextmanager
    def confirmed(self) -> Iterator[None]:
        """A person said yes to the plan that is carried out meanwhile."""
        before, self._may_execute = self._may_execute, True
        try:
            yield
        finally:
            self._may_execute = before

    @contextmanager
    def granting(self, pods: frozenset[str]) -> Iterator[None]:
        """The ramp-up lets these pods go, by uid, of the plan that is carried out meanwhile."""
        before, self._granted = self._granted, None if self._granted is None else pods
        try:
            yield
        finally:
            self._granted = before

    @contextmanager
    def surging(self, run_id: str | None) -> Iterator[None]:
        """The run with this id moves pods by surge meanwhile; see ``surges_of``."""
        before, self._surges_of = self._surges_of, run_id
        try:
            yield
        finally:
            self._surges_of = before

    @contextmanager
    def after(self, earlier: EarlierAttempts) -> Iterator[None]:
        """What is carried out meanwhile is what was left of these attempts. Whoever asks counts their pods as sent."""
        before, self._earlier = self._earlier, EarlierAttempts(since=earlier.since)
        self._origins.update((move.pod.uid, move.from_node) for move in earlier.sent)
        try:
            yield
        finally:
            self._earlier = before

    def look(self, cluster: Cluster) -> None:
        """Remember a snapshot of which nothing is asked: a daemon's gate knows only what it has seen."""
        self._remember((), cluster)

    def _remember(self, moves: Sequence[Move], cluster: Cluster) -> None:
        self._origins.update((move.pod.uid, move.from_node) for move in moves)
        self._replicas = most_replicas(self._replicas, cluster)
        # Where the policy asks for calm, a number that nobody has seen before may just have been changed.
        is_strict = self._is_daemon and self._policy.disruption.unsettled is Permission.DENY
        if cluster.workloads is not self._seen:
            self._wanted = remember_wanted(self._wanted, cluster, is_first_a_change=is_strict)
            self._seen = cluster.workloads
        for move in moves:
            pod = cluster.pod_by_key.get(move.pod.key)
            workload = None if pod is None else cluster.workload_of(pod)
            if workload is not None:
                self._workload_of[move.pod.uid] = workload.uid

    def _eligibility(
        self,
        moves: Sequence[Move],
        cluster: Cluster,
        sent: Sequence[PodReference],
        ledger: Ledger,
        *,
        is_lenient: bool,
    ) -> Eligibility:
        return decide_eligibility(
            cluster,
            with_unready(self._policy) if is_lenient else self._policy,
            self._selection,
            self._schedulers,
            remembered_replicas=self._replicas,
            ledger=ledger,
            is_daemon=self._is_daemon,
            wanted=self._wanted,
            sent=Counter(self._workload_of.get(reference.uid, "") for reference in sent),
            granted=self._granted,
            own_run=self._surges_of or "",
            only=frozenset(move.pod.key for move in moves),
            earlier=self._earlier,
        )

    def _caution(self, cluster: Cluster, moves: Sequence[Move], ledger: Ledger) -> Caution:
        lacking = lacking_head_room(cluster, moves, (), self._policy.health)
        findings = (*self._health(cluster, ledger), *(() if lacking is None else (lacking,)))
        rules = self._policy.disruption.breaker
        breaker = judge_breaker(ledger, rules, cluster.taken_at, BereftWorkloads(cluster))
        return Caution(findings, breaker, rules)

    def _seen_health(self, cluster: Cluster, ledger: Ledger) -> Sequence[Finding]:
        return unhealthy(cluster, self._policy.health, ledger=ledger)
