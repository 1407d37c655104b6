"""Pods that move by surge: who goes too early, who stays out, and whose owner is not heard."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.plan.detachment import Detachment, given_back, taken_out
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.invariants.surges import NothingOut, OwnersWin, SurgeFloor
from tests.soak.line.request import DETACH, GIVE_BACK
from tests.soak.trace import Effect, RoundEvent
from tests.unit.soak.story import Story

MARK = Detachment("pod-template-hash", "h1", "run-1", "2027-01-15T09:00:00Z")


def story_of(checker: Callable[[History], Checker]) -> Story:
    """One process in a world with surges."""
    story = Story(checker)
    story.truth.run = SimpleNamespace(has_surges=True, processes=1, has_proof=True, is_measured=False)
    return story


def patch(story: Story, name: str, body: str, change: Callable[[Any], Any], fault: str = "") -> Story:
    """A pod is patched, and whoever asked for it is told so, unless a fault is in the way."""
    before = story.pod(name)
    workload = story.truth.workload_of(before)
    ready, desired = story.truth.ready(workload), story.truth.desired(workload)
    request = story.ask("patch", "pods", namespace="default", name=name, uid=before.uid, body=body, fault=fault)
    if not fault:
        story.store.put_pod(change(before))
        request.effect, request.effect_at = "now", story.t
        story.trace.tell(Effect(story.t, request, before, workload, ready, desired))
    return story.answer(request, fault or "ok")


def take_out(story: Story, name: str = "web-0") -> Story:
    """A pod is out of its ReplicaSet, and written down as such."""
    story.intend(name, "n3", state=EntryState.SURGING)
    return patch(story, name, DETACH, lambda pod: taken_out(pod, MARK))


def bring_back(story: Story, name: str = "web-0", **fields: Any) -> Story:
    """A pod is given back; ``fields``: what is written besides."""
    return patch(story, name, GIVE_BACK, lambda pod: structs.replace(given_back(pod), **fields))


def evict(story: Story, name: str = "web-0", *, without: tuple[str, ...] = (), **fields: Any) -> list[str]:
    """The last step of its surge."""
    story.send(name, without={"intent", *without}, is_last_step=True, **fields)
    return story.found


def test_a_pod_goes_when_another_one_works_in_its_place() -> None:
    """As many as before work without it."""
    story = take_out(story_of(SurgeFloor)).come("web-9", "n3")
    assert evict(story) == []
    assert story.guard > 0


@pytest.mark.parametrize("is_there", [False, True])
def test_a_pod_that_goes_before_another_one_works_is_found(is_there: bool) -> None:
    """Be that one not Ready yet, or not there at all."""
    story = take_out(story_of(SurgeFloor))
    if is_there:
        story.come("web-9", "n3", is_ready=False)
    assert any("was evicted while 3 others" in text for text in evict(story))


def test_what_others_lost_meanwhile_is_no_fault() -> None:
    """One of the pods that were there when it was taken out; a new one that fell ill long ago is no excuse."""
    story = take_out(story_of(SurgeFloor)).come("web-9", "n3")
    story.set_pod("web-1", is_ready=False).sleep(60.0)
    assert evict(story) == []
    story = take_out(story_of(SurgeFloor)).come("web-9", "n3")
    story.set_pod("web-9", is_ready=False).sleep(60.0)
    assert len(evict(story)) == 1


@pytest.mark.parametrize("missing", ["gate", "age", "plan", "entry"])
def test_the_last_step_needs_all_that_lets_pods_go(missing: str) -> None:
    """The gate's leave, a young one; the newest plan; and an entry of its own."""
    story = take_out(story_of(SurgeFloor)).come("web-9", "n3")
    if missing == "entry":
        story.close("web-0", EntryState.NOT_EVICTED)
    if missing == "age":
        story.gate("web-0", "n3").sleep(10.0)
    fields: dict[str, Any] = {"plan": 0} if missing == "plan" else {}
    without = ("gate", "around") if missing in ("gate", "age") else ()
    assert len(evict(story, without=without, **fields)) == 1


def round_ends(story: Story) -> list[str]:
    """The process comes to the end of a round."""
    story.trace.tell(RoundEvent(story.t, "p0", None, ""))
    return story.found


def test_what_is_out_after_a_round_is_found() -> None:
    """Not what was given back, nor what has gone."""
    story = take_out(story_of(NothingOut))
    assert len(round_ends(story)) == 1
    assert round_ends(bring_back(take_out(story_of(NothingOut)))) == []
    assert round_ends(take_out(story_of(NothingOut)).go("web-0")) == []


def test_a_call_that_failed_excuses_one_round() -> None:
    """The next one has to see to it."""
    story = patch(take_out(story_of(NothingOut)), "web-0", GIVE_BACK, given_back, fault="timeout before")
    assert round_ends(story) == []
    assert len(round_ends(story)) == 1


def test_what_a_dead_process_took_out_is_the_next_ones() -> None:
    """By the Lease that both lead by."""
    story = take_out(story_of(NothingOut)).process("kill").start("p0")
    assert len(round_ends(story)) == 1


def test_what_is_out_at_the_end_is_found() -> None:
    """Whoever may have lived meanwhile."""
    assert len(take_out(story_of(NothingOut)).process("kill").sleep(3600.0).end()) == 1
    assert bring_back(take_out(story_of(NothingOut))).end() == []


@pytest.mark.parametrize(("seconds", "is_right"), [(5.0, True), (20.0, False)])
def test_who_changes_his_mind_is_to_be_heard(seconds: float, is_right: bool) -> None:
    """Within ten seconds."""
    story = take_out(story_of(OwnersWin)).come("web-9", "n3")
    story.scale("web", 5).sleep(seconds)
    assert (evict(story) == []) is is_right


def test_giving_back_changes_nothing_else() -> None:
    """What somebody wrote meanwhile stays."""
    story = take_out(story_of(OwnersWin))
    story.set_pod("web-0", labels={**story.pod("web-0").labels, "user/note": "1"})
    assert bring_back(story).found == []
    story = take_out(story_of(OwnersWin))
    story.set_pod("web-0", labels={**story.pod("web-0").labels, "user/note": "1"})
    assert len(bring_back(story, labels={"app": "web"}).found) == 1
