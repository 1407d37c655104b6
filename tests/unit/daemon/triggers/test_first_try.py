"""FirstTry: which pods it asks for, once each, and how early they are known to be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rescheduler.daemon.triggers import make_triggers
from rescheduler.extension_points import Trigger
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.daemon.autoscaler import AutoscalerPolicy, FirstTry
from rescheduler.policy.fields.policy import Mode, Policy
from tests.builders import NOW, node, pod
from tests.unit.daemon.triggers.sights import sight

NODE = node("n1")
ON = AutoscalerPolicy(first_try=FirstTry.ON)


def asking(mode: Mode = Mode.EXECUTE, rules: AutoscalerPolicy = ON) -> list[Trigger]:
    """The triggers of that name, under a policy that names none itself, after a first look at nothing."""
    made = make_triggers(Policy(mode=mode, autoscaler=rules), 0, NOW)
    found = [trigger for trigger in made if trigger.name == "FirstTry"]
    for trigger in found:
        assert trigger.look(sight(0, NODE)) is None
    return found


def stuck(name: str = "web-1", at: float = 1.0, **fields: Any) -> Pod:
    """A pod that its scheduler has found no place for; such times are whole seconds, cut off."""
    told = {"created_at": NOW, "unscheduled": "Unschedulable", "unscheduled_at": NOW + int(at)}
    return pod(name, **{**told, **fields})


@pytest.mark.parametrize(
    ("mode", "rules", "number"),
    [(Mode.EXECUTE, ON, 1), (Mode.APPROVE, ON, 0), (Mode.DRY_RUN, ON, 0), (Mode.EXECUTE, AutoscalerPolicy(), 0)],
)
def test_it_is_there_where_it_was_asked_for_and_nobody_has_to_be_asked(
    mode: Mode, rules: AutoscalerPolicy, number: int
) -> None:
    """A person could not say yes in a second."""
    assert len(asking(mode, rules)) == number


def test_each_pod_is_asked_for_once_in_the_look_that_shows_it() -> None:
    """Also where it was nominated for a while: its nomination was taken off again, and the autoscaler goes on."""
    (trigger,) = asking()
    occasion = trigger.look(sight(1.3, NODE, stuck()))
    assert occasion is not None
    assert [one.name for one in occasion.pods] == ["web-1"]
    assert occasion.reason == "1 pod is unschedulable since a moment ago: default/web-1"
    assert trigger.look(sight(1.4, NODE, stuck())) is None
    assert trigger.look(sight(1.5, NODE, stuck(nominated_node="n1"))) is None
    assert trigger.look(sight(1.6, NODE, stuck())) is None
    again = trigger.look(sight(1.7, NODE, stuck(), stuck("web-2")))
    assert again is not None
    assert [one.name for one in again.pods] == ["web-2"]


def test_who_waited_before_the_process_began_is_left_alone() -> None:
    """An autoscaler has seen it long ago."""
    (trigger,) = (
        one for one in make_triggers(Policy(mode=Mode.EXECUTE, autoscaler=ON), 0, NOW) if one.name == "FirstTry"
    )
    assert trigger.look(sight(1.3, NODE, stuck())) is None
    assert trigger.look(sight(1.4, NODE, stuck())) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"node": "n1"},
        {"unscheduled": "SchedulingGated", "scheduling_gates": ("wait",)},
        {"unscheduled": "", "unscheduled_at": None},
        {"nominated_node": "n1"},
        {"labels": {"app.kubernetes.io/managed-by": "rescheduler"}},
        {"scheduler_name": "somebody-else"},
        {"unmodelled": ("resource claims",)},
    ],
)
def test_pods_that_wait_for_something_else_are_not_asked_for(fields: dict[str, Any]) -> None:
    """Or that we cannot place."""
    (trigger,) = asking()
    assert trigger.look(sight(1.3, NODE, stuck(**fields))) is None


@pytest.mark.parametrize(("unseen_for", "since"), [(0.2, 1.7), (5.0, 1.0), (float("inf"), 1.0)])
def test_how_long_it_may_have_waited_is_told_by_the_look_before_and_by_its_own_time(
    unseen_for: float, since: float
) -> None:
    """Whichever is later: a pod's own time is cut off to the second, and a look may have been long ago."""
    (trigger,) = asking()
    occasion = trigger.look(replace(sight(1.9, NODE, stuck()), unseen_for=unseen_for))
    assert occasion is not None
    assert occasion.at == pytest.approx(NOW + since, abs=1e-3)
