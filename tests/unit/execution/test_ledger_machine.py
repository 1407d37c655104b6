"""Any number of processes in any order of steps, pauses and kills: one pod at a time, and nobody evicted twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.ledger.ledger_rules import LedgerRules, LedgerSettings
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.stopping import PlanStoppedError, Waiter
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, Plan, PodReference, SnapshotSummary
from tests.unit.execution.worlds import World, fragmented

NO_SUMMARY = SnapshotSummary(None, 0, 0, 0, "test")
REPLICAS = 12
WHO = st.integers(0, 1)


class Worker:
    """One process: its ledger session, and the eviction that it has announced and not sent yet."""

    def __init__(self, world: World, ledger: SimulatedLedger, name: str) -> None:
        self.fresh = FreshCluster(world, world.clock, lambda cluster: cluster)
        self.fresh.read()
        waiter = Waiter(world.clock, 1e9)
        settings = LedgerSettings(ledger, None, lambda: None, LedgerRules(name, waits_until_repaid=True))
        self.keeper = LedgerSession(settings, world, self.fresh, waiter, world.clock)
        self.announced: tuple[Move, Pod] | None = None
        self.may_go_on = False


class Processes(RuleBasedStateMachine):
    """Two processes may live at once; each step is one of those between which a real one can be paused or killed."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(fragmented(), startup_seconds=3.0)
        self.ledger = SimulatedLedger(self.world.clock)
        self.workers: dict[int, Worker] = {}
        self.births = 0

    @rule(who=WHO)
    def start(self, who: int) -> None:
        """A new process begins a plan; the one that it replaces was killed where it stood."""
        self.births += 1
        worker = self.workers[who] = Worker(self.world, self.ledger, f"worker {self.births}")
        worker.keeper.open([])
        worker.keeper.begin(Plan(NO_SUMMARY))

    @precondition(lambda self: self.workers)
    @rule(who=WHO)
    def look(self, who: int) -> None:
        """It reads cluster and ledger, and asks its gate."""
        worker = self.workers.get(who)
        if worker is not None and worker.announced is None:
            worker.fresh.read()
            with self._may_stop(who):
                worker.keeper.look()
                worker.may_go_on = self._refusal(worker) is None

    @precondition(lambda self: any(worker.may_go_on for worker in self.workers.values()))
    @rule(who=WHO, number=st.integers(0, REPLICAS - 1))
    def announce(self, who: int, number: int) -> None:
        """It writes the intent to evict a pod that it reads just now."""
        worker = self.workers.get(who)
        if worker is None or not worker.may_go_on:
            return
        worker.may_go_on = False
        pods = [pod for pod in self.world.read_pods("default", None) if pod.name.startswith("web-") and pod.node_name]
        pod = pods[number % len(pods)]
        move = Move(PodReference("default", pod.name, pod.uid), pod.node_name or "", "n3", 1, "MakeRoom", "because")
        with self._may_stop(who):
            objection = worker.keeper.announce(move, pod, lambda: self._refusal(worker))
            worker.announced = (move, pod) if objection is None else None

    @precondition(lambda self: any(worker.announced for worker in self.workers.values()))
    @rule(who=WHO, is_answer_noted=st.booleans())
    def send(self, who: int, is_answer_noted: bool) -> None:
        """It sends what it announced, maybe long ago, and is killed before or after it notes the answer."""
        worker = self.workers.get(who)
        if worker is None or worker.announced is None:
            return
        move, pod = worker.announced
        worker.announced = None
        with self._may_stop(who):
            objection = worker.keeper.last_look(move)
            if objection is not None:
                worker.keeper.not_sent(move, objection)
                return
        if who not in self.workers:
            return
        answer = self.world.evict(move.pod, pod.resource_version, dry_run=False)
        if is_answer_noted:
            worker.keeper.answered(move, answer)
        else:
            del self.workers[who]

    @rule(seconds=st.sampled_from([0.1, 5.0, 40.0, 150.0]))
    def wait(self, seconds: float) -> None:
        """Time passes; a process that has announced something for longer than that would have given up."""
        self.world.clock.sleep(seconds)
        if seconds > 5.0:
            self.workers = {who: worker for who, worker in self.workers.items() if worker.announced is None}

    @invariant()
    def one_pod_at_a_time(self) -> None:
        """Whoever evicts, the workload never lacks more than one."""
        pods = [pod for pod in self.world.read_pods("default", None) if pod.name.startswith("web-")]
        standing = [pod for pod in pods if pod.is_ready and not pod.is_terminating]
        assert len(standing) >= REPLICAS - 1

    @invariant()
    def nobody_twice(self) -> None:
        """By name, which a ReplicaSet never gives twice."""
        assert max(Counter(self.world.evicted).values(), default=0) <= 1

    @invariant()
    def numbers_rise(self) -> None:
        """Whoever wrote them; and what was evicted was announced."""
        numbers = [entry.number for entry in self.ledger.ledger.entries]
        assert numbers == sorted(set(numbers))
        assert set(self.world.evicted) <= {entry.pod.name for entry in self.ledger.ledger.entries}

    @contextmanager
    def _may_stop(self, who: int) -> Iterator[None]:
        """A process that another one has overtaken ends."""
        try:
            yield
        except PlanStoppedError:
            del self.workers[who]

    @staticmethod
    def _refusal(worker: Worker) -> str | None:
        return "one pod moves at a time" if worker.keeper.ledger.debts else None


TestProcesses = Processes.TestCase
TestProcesses.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
