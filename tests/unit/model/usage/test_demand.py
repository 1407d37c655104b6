"""Requests and limits of whole pods."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.objects.pods.containers import ContainerNeeds, PodNeeds, effective_requests
from rescheduler.model.objects.pod import APP, INIT, SIDECAR, ContainerResources, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.demand import effective_limit, trimaran_demand

rows = st.lists(st.tuples(st.sampled_from((INIT, SIDECAR)), st.integers(1, 50)), max_size=5)


def limited(limit: int, kind: str = APP, request: int = 0) -> ContainerResources:
    """A container with a limit of cpu."""
    return ContainerResources(((CPU, request),), ((CPU, limit),), kind)


@given(first=rows, running=st.lists(st.integers(1, 50), min_size=1, max_size=3), overhead=st.integers(0, 9))
def test_limits_add_up_as_requests_do(first: list[tuple[str, int]], running: list[int], overhead: int) -> None:
    """Sidecars keep running beside what starts later; overhead comes on top."""
    made = [limited(amount, kind) for kind, amount in first] + [limited(amount) for amount in running]
    needs = PodNeeds(
        [ContainerNeeds({CPU: amount}) for amount in running],
        [ContainerNeeds({CPU: amount}, kind == SIDECAR) for kind, amount in first],
        overhead={CPU: overhead},
    )
    spec = PodSpec(containers=tuple(made), overhead=((CPU, overhead),))
    assert effective_limit(spec, CPU) == effective_requests(needs)[CPU]
    assert effective_limit(spec, MEMORY) == 0


def test_overhead_alone_is_no_limit() -> None:
    """A pod without limits has none, whatever its overhead."""
    assert effective_limit(PodSpec(containers=(ContainerResources(),), overhead=((CPU, 10),)), CPU) == 0


def test_trimaran_counts_sidecars_as_what_runs_before() -> None:
    """The largest of them against the sum of the others; a limit below the request becomes the request."""
    spec = PodSpec(containers=(limited(100, SIDECAR, 70), limited(30, APP, 40), limited(0, APP, 20)))
    demand = trimaran_demand(spec)
    assert demand.requests == (70, 0)
    assert demand.limits == (100, 0)
    assert not demand.is_best_effort
    assert trimaran_demand(PodSpec(containers=(limited(10, APP, 40),))).limits == (40, 0)


def test_without_containers_the_pods_own_requests_count() -> None:
    """Their split is unknown, their limits are none."""
    demand = trimaran_demand(PodSpec(requests=((CPU, 500), (MEMORY, 7))))
    assert demand.requests == demand.limits == (500, 7)
    assert trimaran_demand(PodSpec()).is_best_effort
