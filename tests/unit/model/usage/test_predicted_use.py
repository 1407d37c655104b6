"""What a pod will use, and which pods metrics cannot show."""

from __future__ import annotations

from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects.pod import APP, INIT, SIDECAR, ContainerResources, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.predicted_use import UsePredictor, bound_at, is_missing, retained
from tests.builders import pod

amounts = st.one_of(st.none(), st.integers(0, 9999))


@given(
    rows=st.lists(st.tuples(amounts, amounts, st.sampled_from((APP, INIT, SIDECAR))), min_size=1, max_size=4),
    overhead=st.integers(0, 100),
    uses_limits=st.booleans(),
)
def test_a_pod_is_the_sum_of_its_running_containers(
    rows: list[tuple[int | None, int | None, str]], overhead: int, uses_limits: bool
) -> None:
    """Limit, request and default in the order asked for; a limit of zero is a limit."""
    made, wanted = [], overhead
    for request, limit, kind in rows:
        requests = () if request is None else ((CPU, request),)
        made.append(ContainerResources(requests, () if limit is None else ((CPU, limit),), kind))
        if kind == APP:
            from_request = None if request is None else floor(request * 1.5 + 0.5)
            order = (limit, from_request) if uses_limits else (from_request, limit)
            wanted += next((value for value in order if value is not None), 1000)
    spec = PodSpec(requests=((MEMORY, 5),), containers=tuple(made), overhead=((CPU, overhead),))
    assert UsePredictor(uses_limits=uses_limits).millicores(spec) == wanted


def test_without_containers_the_pods_requests_predict() -> None:
    """Best-effort containers count one by one."""
    assert UsePredictor().millicores(PodSpec(requests=((CPU, 200),))) == 300
    assert UsePredictor(default_millicores=1).millicores(PodSpec(container_count=3)) == 3


@pytest.mark.parametrize(
    ("bound", "missing"), [(1001, True), (1000, True), (941, True), (940, False), (-np.inf, False)]
)
def test_a_change_is_missing_for_one_reporting_interval(bound: float, missing: bool) -> None:
    """And where there is no window nothing is known to be missing."""
    assert is_missing(np.array([bound]), np.array([1000.0])).tolist() == [missing]
    assert is_missing(np.array([bound]), np.array([np.nan])).tolist() == [False]


def test_when_a_pod_was_bound() -> None:
    """By its condition, else its start, else its creation; unknown is long ago."""
    assert bound_at(pod("a", scheduled_at=3.0, started_at=2.0)) == 3.0
    assert bound_at(pod("a", scheduled_at=None, started_at=2.0, created_at=1.0)) == 2.0
    assert bound_at(pod("a", scheduled_at=None, started_at=None, created_at=1.0)) == 1.0
    assert bound_at(pod("a", scheduled_at=None, started_at=None, created_at=None)) == -np.inf


def test_old_changes_are_forgotten() -> None:
    """All of them too, where Trimaran's cache would keep them."""
    assert retained([300, 60, 59, 5]) == [59, 5]
    assert retained([300, 200]) == []
    assert retained([300, 200], is_upstream=True) == [300, 200]
