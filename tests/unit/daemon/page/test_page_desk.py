"""Pages stay small, are made once a second, and show hostile texts as texts."""

from __future__ import annotations

import threading

import pytest

from rescheduler.daemon.page import page_desk
from rescheduler.daemon.page.outlook import PageBasis
from rescheduler.daemon.page.page_desk import LARGEST_BYTES
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.pausing import Pause, Switch
from rescheduler.model.daemon.notices import Fault, PolicyKept
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.daemon.page.looks import ALL, VIEWER, desk, large, rounds, shown, state
from tests.unit.report.plans import HOSTILE


@pytest.fixture(scope="module")
def giant() -> DaemonState:
    """Five thousand nodes, 150,000 pods, 200 rounds."""
    return large()


def test_a_page_of_5000_nodes_is_below_a_megabyte(giant: DaemonState) -> None:
    """And shows the newest round, and how many pods wait."""
    page = desk(giant).page(ALL)
    assert len(page) <= LARGEST_BYTES
    text = shown(page)
    assert "5000 nodes, 150000 pods, 500 pending" in text
    assert "Pods without a node: 500" in text
    assert "and 2800 more" in text


def test_endless_texts_leave_room_for_fewer_rows() -> None:
    """Each is cut, and where all are as long as they may be there are fewer of them: never more than a megabyte."""
    page = desk(large("\U0001f600" * 3000, nodes=50, pods=2000)).page(ALL)
    assert len(page) <= LARGEST_BYTES
    assert "Rounds, the newest first" in page


def test_a_page_is_made_once_a_second_for_all_who_may_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred polls a second cost one; what a person presses is seen at once."""
    made: list[int] = []
    real = page_desk.daemon_page
    monkeypatch.setattr(page_desk, "daemon_page", lambda view: made.append(1) or real(view))  # type: ignore[func-returns-value]
    clock, seen, policy = FakeClock(), [state()], Policy()
    found = page_desk.PageDesk(lambda: seen[0], lambda: PageBasis(policy), clock)
    threads = [threading.Thread(target=found.page, args=(ALL,)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    found.page(VIEWER)
    assert len(made) == 2
    clock.time += 1.5
    found.page(ALL)
    assert len(made) == 3
    seen[0] = state(switch=Switch(Pause("jane", "lunch", NOW), 1))
    assert "paused by jane" in shown(found.page(ALL))


def test_hostile_names_are_texts() -> None:
    """No mark of theirs is one of the page, and nothing that does not print stands in it."""
    evil = f"<script>alert(1)</script>{HOSTILE}"
    seen = cluster(node("n1"), pod(evil, namespace=evil))
    found = state(
        *rounds(range(1, 4), evil), Fault(NOW, evil, evil), PolicyKept(NOW, "p1", evil), seen=seen,
        switch=Switch(Pause(evil, evil, NOW)),
    )  # fmt: skip
    page = desk(found).page(ALL)
    assert page.count("<script>") == page.count("</script>") == 1
    assert page.isascii()
    assert "\x1b" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_clocks_that_differ_are_told_as_they_are() -> None:
    """A snapshot from the future is in the future, and no fault."""
    seen = cluster(node("n1"), taken_at=NOW + 300)
    assert "(in 5m)" in shown(desk(state(seen=seen)).page(ALL))


def test_only_the_page_of_a_leader_has_buttons() -> None:
    """Paused, it resumes; who may not press is told the right that is missing."""
    assert ">Pause</button>" in desk(state()).page(ALL)
    paused = desk(state(switch=Switch(Pause("jane", "lunch", NOW), 3))).page(ALL)
    assert ">Resume</button>" in paused
    assert 'data-match="switch-3"' in paused
    assert ">Pause</button>" not in paused
    follower = desk(state(is_leader=False, holder="pod-b")).page(ALL)
    assert "<button" not in follower
    assert "Only the replica that leads obeys: pod-b" in follower
    assert "Your account may not update switch in API group rescheduler.dev." in desk(state()).page(VIEWER)
