"""Two processes, two workloads, four pods: no interleaving of theirs breaks a floor, a rate, or evicts a pod twice."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.daemon.ledger import EntryState, Ledger
from rescheduler.model.daemon.ledger_changes import announced
from tests.soak import small_model
from tests.soak.small_model import Model


def test_no_order_of_steps_breaks_anything() -> None:
    """Every state with one crash at any point, late effects, and two moves where nothing crashes."""
    for model in (Model(moves_each=1, crashes=1, jumps=0), Model(moves_each=2, crashes=0, jumps=0)):
        states, broken = model.explore(most_states=400_000)
        assert broken == []
        assert states > 10_000


@pytest.mark.e2e
@pytest.mark.timeout(1800)
def test_no_two_crashes_break_anything() -> None:
    """Two crashes, at any points of either process."""
    states, broken = Model(moves_each=1, crashes=2, jumps=0).explore(most_states=3_000_000)
    assert broken == []
    assert states > 100_000


@pytest.mark.xfail(strict=True, reason="a debt in doubt is closed by comparing the clocks of two machines")
def test_no_clock_that_is_behind_breaks_anything() -> None:
    """One of the processes has a clock that is ten minutes late from some point on."""
    assert Model(moves_each=1, crashes=0, jumps=1).explore(most_states=400_000)[1] == []


def _all_repaid(ledger: Ledger, *_: object) -> Ledger:
    entries = tuple(structs.replace(entry, state=EntryState.REPAID) for entry in ledger.entries)
    return structs.replace(ledger, entries=entries)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("settled", _all_repaid),
        ("announced", lambda ledger, _: ledger),
        ("announced", lambda ledger, entry: announced(structs.replace(ledger, entries=()), entry)),
    ],
    ids=["debts closed without proof", "no intent", "others' entries dropped"],
)
def test_a_wrong_step_is_found(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the model would prove nothing."""
    monkeypatch.setattr(small_model, name, wrong)
    assert Model(moves_each=2, crashes=0, jumps=0).explore(400_000)[1]
