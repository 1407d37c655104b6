"""A verdict that rests on the watches is had in its second, however slow ledger, gate and proofs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.vicinity import read_vicinity
from rescheduler.execution.eviction.own_verdict import OLDEST_LOOK_SECONDS, OwnVerdict
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity
from tests.unit.adapters.kubernetes.watch.test_freshness import NODES, PODS
from tests.unit.adapters.kubernetes.watch.test_watched_reads import BUDGETS, MOVE, OTHER, Watched


class Verdicts(Watched):
    """The verdicts of one plan: each reading of its ledger takes ``ledger`` seconds, the gate ``gate``, and what the
    server is asked in place of the watches ``answer_seconds``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ledger: float = 0.6, gate: float = 0.2) -> None:
        super().__init__(monkeypatch)
        self.ledger_seconds, self.gate_seconds = ledger, gate
        self.answer_seconds = 0.0
        self.ledger = EMPTY_LEDGER
        self.fresh = FreshCluster(self, self.clock, lambda cluster: cluster)  # type: ignore[arg-type]
        self.fresh.read()
        self.verdict = OwnVerdict(self, self.fresh, self, self, ())  # type: ignore[arg-type]

    # Stands in for what reads the cluster, for the gate, for the ledger's session and for who waits.

    def read(self) -> Cluster:
        """As the watches have told it."""
        return self.mirror.snapshot()

    def read_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """From the watches."""
        return self.reads.read_vicinity(move, cluster)

    def permit(
        self, moves: Sequence[Move], cluster: Cluster, sent: Sequence[PodReference], ledger: Ledger
    ) -> list[Permit]:
        """Everything may go."""
        del cluster, sent, ledger
        self.clock.sleep(self.gate_seconds)
        return [Permit(move, "1") for move in moves]

    def know(self) -> Ledger:
        """Twenty thousand entries."""
        self.clock.sleep(self.ledger_seconds)
        return self.ledger

    def check(self) -> None:
        """Nobody has stopped us."""

    @property
    def now(self) -> float:
        """For whoever waits."""
        return self.clock.monotonic()

    def objection(self, move: Move) -> str | None:
        """What speaks against a move; where nothing does, what its verdict rests on is young."""
        found = self.verdict.objection(move, ())
        assert found is not None or self.fresh.look_age_seconds <= OLDEST_LOOK_SECONDS
        return found

    def _from_server(self, *asked: Any) -> Any:
        self.asked += 1
        self.clock.sleep(self.answer_seconds)
        return read_vicinity(self.reads._told, *asked)


@pytest.mark.parametrize("path", [NODES, BUDGETS])
def test_proofs_of_half_a_second_beside_a_slow_ledger(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """They leave the gate the other half."""
    scene = Verdicts(monkeypatch)
    scene.slow(0.52, path)
    assert [scene.objection(move) for move in (MOVE, OTHER, MOVE)] == [None] * 3


@settings(max_examples=80, deadline=None)
@given(
    proof=st.floats(0.0, 3.0),
    answer=st.floats(0.0, 0.45),
    gate=st.floats(0.0, 3.0),
    ledger=st.floats(0.0, 3.0),
    pauses=st.lists(st.floats(0.0, 1.5), min_size=1, max_size=4),
    path=st.sampled_from([NODES, PODS, BUDGETS]),
)
def test_where_the_server_answers_in_time_there_is_a_verdict_in_time(
    proof: float, answer: float, gate: float, ledger: float, pauses: list[float], path: str
) -> None:
    """However long proofs, gate and ledger take, and however old what other moves paid for is by then."""
    with pytest.MonkeyPatch.context() as patch:
        scene = Verdicts(patch, ledger, gate)
        scene.answer_seconds = answer
        scene.slow(proof, path)
        for number, pause in enumerate(pauses):
            assert scene.objection((MOVE, OTHER)[number % 2]) is None
            scene.clock.sleep(pause)


def test_proofs_that_are_held_back_cost_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is asked in their place, and again for the next."""
    scene = Verdicts(monkeypatch)
    scene.slow(2.0)
    assert [scene.objection(move) for move in (MOVE, OTHER)] == [None] * 2
    assert scene.asked == 2


def test_a_watch_that_lags_behind_costs_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second is waited for it; the server's answer counts from after that."""
    scene = Verdicts(monkeypatch, gate=0.3)
    scene.slow(0.4)
    scene.server.put(NODES, {**scene.server.objects[NODES]["", "n2"], "spec": {"unschedulable": True}})
    assert scene.objection(MOVE) is None
    assert scene.asked == 1
