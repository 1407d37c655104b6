"""Waves become steps: each wave is in one of them, however many waves there are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.report.html.steps import MOST_STEPS, steps_of
from rescheduler.report.plan.flows import Flow
from tests.unit.report.plans import reference


def flow(wave: int) -> Flow:
    """A pod that moves in a wave."""
    return Flow(reference(f"p{wave}"), "n1", "n2", wave)


def test_each_wave_is_a_step_with_its_number() -> None:
    """Wave 0 are pods that fit already."""
    steps = steps_of([flow(0), flow(1), flow(1), flow(4)])
    assert [(step.label, len(step.flows)) for step in steps] == [("Fits already", 1), ("Wave 1", 2), ("Wave 4", 1)]


def test_a_plan_of_one_wave_has_no_steps() -> None:
    """The whole plan is all there is to see."""
    assert steps_of([flow(1), flow(1)]) == ()
    assert steps_of([]) == ()


@given(st.lists(st.integers(0, 500), min_size=2, unique=True))
def test_many_waves_share_steps_and_none_is_lost(waves: list[int]) -> None:
    """At most so many steps, in the order of the waves."""
    flows = [flow(wave) for wave in sorted(waves)]
    steps = steps_of(flows)
    assert len(steps) <= MOST_STEPS
    assert [one for step in steps for one in step.flows] == flows


def test_a_step_of_several_waves_names_the_first_and_the_last() -> None:
    """In words, and in few letters."""
    first, *_, last = steps_of([flow(wave) for wave in range(1, 101)])
    assert (first.label, first.short) == ("Waves 1 to 3", "1-3")
    assert (last.label, last.short) == ("Wave 100", "100")
    assert steps_of([flow(wave) for wave in range(100)])[0].label == "Up to wave 2"
