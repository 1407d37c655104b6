"""Which changes wake whoever asks the triggers, and which wait for his next look."""

from __future__ import annotations

from msgspec.structs import replace

from rescheduler.adapters.kubernetes.watch.urgency import is_urgent
from rescheduler.model.objects.pod import Pod
from tests.builders import node, pod


def _waiting(**changes: object) -> Pod:
    found = replace(pod("big"), node_name=None, unscheduled="Unschedulable", unscheduled_at=100.0)
    return replace(found, **changes) if changes else found


def test_a_pod_that_becomes_unschedulable_is() -> None:
    """New, or known before as one that its scheduler had not looked at, or nominated it, or was waiting for."""
    untried = _waiting(unscheduled="", unscheduled_at=None)
    assert is_urgent(None, _waiting())
    assert is_urgent(untried, _waiting())
    assert is_urgent(_waiting(nominated_node="a"), _waiting())
    assert is_urgent(_waiting(scheduling_gates=("g",)), _waiting())
    assert is_urgent(_waiting(uid="before"), _waiting(uid="after")), "another pod of the same name"


def test_a_pod_that_has_nothing_new_to_tell_is_not() -> None:
    """One that is tried again in vain, that is not tried yet, that has a place, or that leaves."""
    assert not is_urgent(_waiting(), _waiting(resource_version="7"))
    assert not is_urgent(None, _waiting(unscheduled=""))
    assert not is_urgent(_waiting(), replace(pod("big"), node_name="a"))
    assert not is_urgent(None, _waiting(deletion_at=1.0))


def test_a_node_that_comes_or_changes_is() -> None:
    """Heartbeats do not show in a node as it is kept."""
    assert is_urgent(None, node("a"))
    assert is_urgent(replace(node("a"), is_ready=False), node("a"))
    assert not is_urgent(node("a"), node("a"))


def test_other_kinds_are_not() -> None:
    """They are looked at with the next beat."""
    assert not is_urgent(None, object())
