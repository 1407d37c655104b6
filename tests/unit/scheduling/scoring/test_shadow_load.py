"""Estimates of pods that a node's metrics cannot show yet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects.pod import ContainerResources, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.scheduling.scoring.shadow_load import Estimator, ShadowLoad, estimate, is_shadowed, risk_factor
from tests.builders import pod

MIB = 1 << 20


@pytest.mark.parametrize(
    ("status", "running_seconds", "tracked"),
    [
        ("Pending", None, False), ("Allocated", None, True), ("Binding", None, True), ("Bound", None, True),
        ("Running", 29.0, True), ("Running", 30.0, False), ("Running", None, True), ("Succeeded", None, False),
    ],
)  # fmt: skip
def test_which_tasks_are_estimated(status: str, running_seconds: float | None, tracked: bool) -> None:
    """Those on their way and those that run for less than metrics are late; never one without a node."""
    found = [
        is_shadowed(status, has_node=has_node, running_seconds=running_seconds, delay_seconds=30.0)
        for has_node in (True, False)
    ]
    assert found == [tracked, False]


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [
        ((500, 2000, 1.0, 0.0, 1.0), 500), ((500, 2000, 0.0, 0.0, 1.0), 0), ((500, 2000, 1.0, 1.0, 1.0), 2000),
        ((500, 2000, 0.5, 0.2, 1.0), 550), ((500, 600, 1.0, 0.0, 1.2), 600), ((500, 0, 1.0, 1.0, 1.2), 500),
        ((500, 400, 1.0, 1.0, 1.2), 500),
    ],
)  # fmt: skip
def test_an_estimate_lies_between_request_and_limit(numbers: tuple[float, ...], wanted: float) -> None:
    """By the ratios; a limit below the request is none, and nothing is above the limit."""
    assert estimate(*numbers) == pytest.approx(wanted)


def test_estimates_are_raised_from_the_threshold_on() -> None:
    """And never lowered."""
    assert [risk_factor(load, 0.6, 1.2) for load in (0.59, 0.6, 0.9)] == [1.0, 1.2, 1.2]
    assert risk_factor(0.9, 0.6, 0.8) == 1.0


def test_a_pod_that_asks_for_nothing_is_taken_for_a_constant() -> None:
    """A limit alone makes it no such pod: it is then estimated by its ratios."""
    assert Estimator().of(PodSpec(), 1.2) == pytest.approx((300, 240 * MIB))
    limited = PodSpec(containers=(ContainerResources((), ((CPU, 1000),)),))
    assert Estimator(burst_ratio=0.5).of(limited, 1.0) == (500.0, 0.0)


def ledger(real: float) -> ShadowLoad:
    """Two nodes of 4 cores and 4 GiB, the first with this measured share of both."""
    capacity = np.array([[4000, 4000], [4096 * MIB, 4096 * MIB]])
    return ShadowLoad(Estimator(), np.array([[real, 0.0]] * 2), capacity, (1.0, 1.0))


SPEC = pod("p", cpu="1", memory="1Gi").spec


def test_each_estimate_sees_the_load_before_it_was_added() -> None:
    """The third pod finds the node above the threshold and is raised by a fifth."""
    shadow = ledger(0.3)
    for number in range(3):
        shadow.add(number, 0, SPEC)
    assert shadow.amount[0].tolist() == pytest.approx([700 + 700 + 840, 0])
    assert shadow.composites()[:, 0].tolist() == pytest.approx([0.3 + 2240 / 4000] * 2)


@given(order=st.permutations(range(3)), real=st.sampled_from((0.0, 0.55, 0.7)))
def test_exactly_what_was_added_is_taken_off(order: list[int], real: float) -> None:
    """In whatever order pods go, the other pods' estimates stay."""
    shadow = ledger(real)
    for number in range(3):
        shadow.add(number, 0, SPEC)
    copy = shadow.copy()
    for number in order:
        assert shadow.counts(number, 0)
        shadow.remove(number, 0)
        shadow.remove(number, 0)
    assert np.allclose(shadow.amount, 0, atol=1e-3)
    assert copy.amount[0, 0] > 0
    assert copy.counts(0, 0)


def test_a_pod_counts_at_both_ends_of_a_move_and_once_at_each() -> None:
    """Adding it again replaces what was added there."""
    shadow = ledger(0.0)
    for node in (0, 1, 1):
        shadow.add(7, node, SPEC)
    assert shadow.amount[0].tolist() == [700.0, 700.0]
    assert dict(SPEC.requests)[MEMORY] * 0.7 == pytest.approx(shadow.amount[1, 1])
