"""Every interleaving of two processes over one ledger, with crashes, late effects and a clock that jumps.

The processes are a few lines each, written after the bookkeeper: read, write by compare-and-swap, ask the gate,
announce, send, note the answer. What they call is the real thing: the changes of the ledger, the proof of debts, the
fence and the gate. States are looked at breadth first, each once; ``explore`` tells how many there were, and what did
not hold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from msgspec import structs

from rescheduler.daemon.plugins import parse_policy
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.execution.ledger.ledger_rules import check_fence
from rescheduler.execution.ledger.open_evictions import settled
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState, Ledger, LedgerEntry
from rescheduler.model.daemon.ledger_changes import announced, debt_of, plan_begun, revised
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PodReference
from tests.builders import NOW, cluster, node, pod, workload

POLICY = parse_policy(
    """apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
mode: Execute
disruption:
  workloads: {maxUnavailable: 50%}
  budgets: [{rate: {maxEvictions: 3, window: 1h}}]
  rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited}
  rampUp: unlimited
""",
    "model.yaml",
)
PODS = ("a-0", "a-1", "b-0", "b-1")
MOST_OF_WORKLOAD, MOST_IN_WINDOW = 1, 3
STANDS, LEAVES, REPLACED = range(3)
STEP_SECONDS = 130.0
"""Once in a run so much time passes: replacements work, and doubts are over."""
JUMP_SECONDS = -600.0

IDLE, BEGINNING, PLANNED, PERMITTED, ANNOUNCING, ANNOUNCED, SENT, DONE = range(8)


class Process(NamedTuple):
    """``at``: what it does next; ``plan``, ``pod``, ``seen`` (version of the ledger) and ``view`` as it remembers them;
    ``base``: version and ledger of its reading; ``moved``: its sends. ``jumped``: its clock is wrong."""

    at: int = IDLE
    plan: int = 0
    pod: int = -1
    seen: int = -1
    view: tuple[int, ...] = ()
    base: tuple[int, int] = (-1, -1)
    entry_at: float = 0.0
    answer: str = ""
    moved: int = 0
    jumped: bool = False


class State(NamedTuple):
    """``ledger``: its number in the model's list; ``sends``: pods sent, with whether that took effect, in order;
    ``late``: pods whose eviction is under way."""

    ledger: int = 0
    version: int = 0
    pods: tuple[int, ...] = (STANDS,) * len(PODS)
    evicted: tuple[int, ...] = (0,) * len(PODS)
    late: tuple[int, ...] = ()
    processes: tuple[Process, ...] = (Process(), Process())
    crashes: int = 2
    jumps: int = 1
    is_later: bool = False


class Model:
    """Remembers ledgers by number, and what gate and proof said."""

    def __init__(self, moves_each: int = 1, crashes: int = 2, jumps: int = 1) -> None:
        self.start = State(crashes=crashes, jumps=jumps)
        self.moves_each = moves_each
        self._ledgers: list[Ledger] = [EMPTY_LEDGER]
        self._numbers: dict[bytes, int] = {msgspec.json.encode(EMPTY_LEDGER): 0}
        self._clusters: dict[tuple[tuple[int, ...], float], Cluster] = {}
        self._verdicts: dict[tuple[object, ...], bool] = {}
        self._settled: dict[tuple[object, ...], int] = {}

    def explore(self, most_states: int) -> tuple[int, list[str]]:
        """Number of states, and what did not hold in them (the first few). Raises if there are more states."""
        seen = {self.start}
        waiting = deque(seen)
        broken: list[str] = []
        while waiting and len(broken) < 5:
            for state in self.successors(waiting.popleft()):
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
                    broken += self.violations(state)
            if len(seen) > most_states:
                raise AssertionError(f"more than {most_states} states")
        return len(seen), broken

    def violations(self, state: State) -> Iterator[str]:
        """I1, I2 and I20 in one state."""
        for first in (0, 2):
            gone = sum(state.pods[index] == LEAVES for index in (first, first + 1))
            if gone > MOST_OF_WORKLOAD:
                yield f"I1: {gone} pods of one workload are gone: {state}"
        if sum(state.evicted) > MOST_IN_WINDOW:
            yield f"I2: {sum(state.evicted)} evictions within an hour: {state}"
        if max(state.evicted) > 1:
            yield f"I20: one pod was evicted twice: {state}"

    def successors(self, state: State) -> Iterator[State]:
        """Whatever may happen next."""
        for number, process in enumerate(state.processes):
            for changed, after in self._steps(process, state):
                yield _with(changed, number, after)
            if state.crashes and process.at not in (IDLE, DONE):
                yield _with(state._replace(crashes=state.crashes - 1), number, Process(jumped=process.jumped))
            if state.jumps and not process.jumped:
                yield _with(state._replace(jumps=state.jumps - 1), number, process._replace(jumped=True))
        for index in state.late:
            left = tuple(other for other in state.late if other != index)
            yield _evict(state, index)._replace(late=left)
        if not state.is_later and not state.late:
            pods = tuple(REPLACED if found == LEAVES else found for found in state.pods)
            yield state._replace(is_later=True, pods=pods)

    def _steps(self, process: Process, state: State) -> Iterator[tuple[State, Process]]:
        steps = {
            IDLE: self._read, BEGINNING: self._begin, PLANNED: self._choose, PERMITTED: self._look,
            ANNOUNCING: self._announce, ANNOUNCED: self._send, SENT: self._note,
        }  # fmt: skip
        if process.at in steps:
            yield from steps[process.at](process, state)

    def _read(self, process: Process, state: State) -> Iterator[tuple[State, Process]]:
        yield state, process._replace(at=BEGINNING, base=(state.version, state.ledger), view=state.pods)

    def _begin(self, process: Process, state: State) -> Iterator[tuple[State, Process]]:
        version, number = process.base
        if version != state.version:
            yield state, process._replace(at=IDLE, base=(-1, -1))
            return
        ledger = self._ledgers[self._settle(number, process, state)]
        begun = plan_begun(ledger, f"holder {ledger.plan}")
        after = process._replace(at=PLANNED, plan=begun.plan, base=(-1, -1))
        yield self._write(state, begun), after

    def _choose(self, process: Process, state: State) -> Iterator[tuple[State, Process]]:
        """A fresh snapshot, a fresh ledger, and the gate's word on one pod."""
        yield state, Process(at=DONE, jumped=process.jumped)
        if process.moved >= self.moves_each or not self._is_in_force(state.ledger, process.plan):
            return
        for index in self._choices(state):
            if self._permits(index, state.pods, state.ledger, process, state):
                yield state, process._replace(at=PERMITTED, pod=index, seen=state.version, view=state.pods)

    def _choices(self, state: State) -> Iterator[int]:
        """Pods that stand; of pods, and workloads, of which nobody has heard yet, one is as good as the other."""
        heard = {entry.pod.name for entry in self._ledgers[state.ledger].entries}
        heard |= {PODS[process.pod] for process in state.processes if process.pod >= 0}
        new = [PODS[index] not in heard and found == STANDS for index, found in enumerate(state.pods)]
        for index, found in enumerate(state.pods):
            is_twin = index % 2 == 1 and new[index] and new[index - 1]
            is_twin_workload = index >= 2 and all(new)
            if found == STANDS and not is_twin and not is_twin_workload:
                yield index

    def _look(self, process: Process, state: State) -> Iterator[tuple[State, Process]]:
        yield state, process._replace(at=ANNOUNCING, base=(state.version, state.ledger))

    def _announce(self, process: Process, state: State) -> Iterator[tuple[State, Process]]:
        version, number = process.base
        again = process._replace(at=PERMITTED, base=(-1, -1))
        ledger = self._ledgers[number]
        is_free = self._is_in_force(number, process.plan) and debt_of(ledger, _uid(process.pod)) is None
        if is_free and version != process.seen:
            is_free = self._permits(process.pod, process.view, number, process, state)
        if not is_free:
            yield state, Process(at=DONE, jumped=process.jumped)
        elif version != state.version:
            yield state, again
        else:
            entry = _entry(process, self._time(process, state))
            after = process._replace(at=ANNOUNCED, base=(-1, -1), entry_at=entry.at, view=())
            yield self._write(state, announced(ledger, entry)), after

    def _send(self, process: Process, state: State) -> Iterator[tuple[State, Process]]:
        """Accepted; or the answer is lost: with the effect, without it, or with the effect still to come."""
        after = process._replace(at=SENT, moved=process.moved + 1)
        if state.pods[process.pod] != STANDS:
            yield state, after._replace(answer="Conflict")
            return
        yield _evict(state, process.pod), after._replace(answer="Accepted")
        yield _evict(state, process.pod), after._replace(answer="Failed")
        yield state, after._replace(answer="Failed")
        if not state.is_later:
            yield state._replace(late=(*state.late, process.pod)), after._replace(answer="Failed")

    def _note(self, process: Process, state: State) -> Iterator[tuple[State, Process]]:
        """Read and written as often as it takes, which is the same as at once."""
        now = self._time(process, state)
        fields = {
            "Accepted": {"state": EntryState.OPEN, "ended_at": now},
            "Failed": {"state": EntryState.OPEN, "ended_at": now, "is_in_doubt": True},
            "Conflict": {"state": EntryState.REFUSED, "ended_at": now, "closed_at": now},
        }[process.answer]
        ledger = revised(self._ledgers[state.ledger], {(_uid(process.pod), process.entry_at): fields})
        following = PLANNED if process.answer == "Accepted" else DONE
        after = process._replace(at=following, pod=-1, seen=-1, entry_at=0.0, answer="")
        yield self._write(state, ledger), after

    def _write(self, state: State, ledger: Ledger) -> State:
        encoded = msgspec.json.encode(ledger)
        number = self._numbers.setdefault(encoded, len(self._ledgers))
        if number == len(self._ledgers):
            self._ledgers.append(ledger)
        return state._replace(ledger=number, version=state.version + 1)

    def _is_in_force(self, number: int, plan: int) -> bool:
        try:
            check_fence(self._ledgers[number], plan)
        except PlanStoppedError:
            return False
        return True

    def _permits(self, index: int, pods: tuple[int, ...], number: int, process: Process, state: State) -> bool:
        now = self._time(process, state)
        key = (index, pods, number, now)
        if key not in self._verdicts:
            gate = PolicyGate(POLICY)
            verdict = gate.permit([_move(index)], self._cluster(pods, now), (), self._ledgers[number])[0]
            self._verdicts[key] = isinstance(verdict, Permit)
        return self._verdicts[key]

    def _settle(self, number: int, process: Process, state: State) -> int:
        now = self._time(process, state)
        key = (number, state.pods, now)
        if key not in self._settled:
            found = self._cluster(state.pods, now)
            ledger = settled(self._ledgers[number], found, lambda pod: found.pod_by_key.get(pod.key))
            self._settled[key] = self._write(state, ledger).ledger
        return self._settled[key]

    def _time(self, process: Process, state: State) -> float:
        return NOW + STEP_SECONDS * state.is_later + JUMP_SECONDS * process.jumped

    def _cluster(self, pods: tuple[int, ...], now: float) -> Cluster:
        if (pods, now) not in self._clusters:
            shown = [_pod(index, found) for index, found in enumerate(pods)]
            self._clusters[pods, now] = cluster(
                node("n0"), node("n1"), *shown, workload("a", 2), workload("b", 2), taken_at=now
            )
        return self._clusters[pods, now]


def _with(state: State, number: int, process: Process) -> State:
    """Which of the two is which makes no difference."""
    others = [old for index, old in enumerate(state.processes) if index != number]
    return state._replace(processes=tuple(sorted([*others, process])))


def _evict(state: State, index: int) -> State:
    """An eviction takes effect, if the pod is still there: uid and version are preconditions."""
    if state.pods[index] != STANDS:
        return state
    pods = tuple(LEAVES if other == index else found for other, found in enumerate(state.pods))
    evicted = tuple(number + (other == index) for other, number in enumerate(state.evicted))
    return state._replace(pods=pods, evicted=evicted)


def _uid(index: int) -> str:
    return f"uid-default-{PODS[index]}"


def _pod(index: int, found: int) -> Pod:
    """As the API server shows it; a replacement has another name, and has worked for two minutes."""
    made = pod(PODS[index], node="n0", owner=PODS[index][0])
    if found == LEAVES:
        return structs.replace(made, deletion_at=NOW + 30.0)
    if found == REPLACED:
        born = NOW + 5.0
        return structs.replace(
            made, name=f"{made.name}-new", uid=f"{made.uid}-new", node_name="n1", created_at=born, started_at=born,
            ready_at=born + 5.0,
        )  # fmt: skip
    return made


def _move(index: int) -> Move:
    return Move(PodReference("default", PODS[index], _uid(index)), "n0", "n1", 1, "MakeRoom", "because")


def _entry(process: Process, now: float) -> LedgerEntry:
    name = PODS[process.pod][0]
    return LedgerEntry(
        number=0, plan=process.plan, pod=_move(process.pod).pod, from_node="n0", to_node="n1", at=now,
        workload=f"uid-default-{name}", workload_key=f"ReplicaSet default/{name}", desired=2, ready=2,
    )  # fmt: skip
