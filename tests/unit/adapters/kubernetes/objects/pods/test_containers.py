"""Effective requests: sums, init containers, sidecars, pod level and overhead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.objects.pods.containers import (
    ContainerNeeds,
    PodNeeds,
    effective_requests,
    scored_requests,
)
from rescheduler.model.objects.resources import DEFAULT_MEMORY_BYTES, DEFAULT_MILLICORES
from tests.unit.adapters.api_objects import container, pod_object, read_pod

AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", "x/y"]), st.integers(0, 100))
CONTAINERS = st.lists(st.builds(ContainerNeeds, AMOUNTS, st.booleans()), max_size=5)


def needs(cpu: int, *, is_sidecar: bool = False) -> ContainerNeeds:
    """A container that asks for cpu alone."""
    return ContainerNeeds({"cpu": cpu}, is_sidecar)


@pytest.mark.parametrize(
    ("containers", "init_containers", "cpu"),
    [
        ([2, 3], [], 5),
        ([2], [7], 7),
        ([2], [7, 4], 7),
        ([5], [(3, True)], 8),
        ([1], [(3, True), 4], 7),  # the init container runs beside the sidecar before it
        ([1], [4, (3, True)], 4),  # and not beside the one after it
        ([1], [(2, True), 4, (3, True), 1], 6),
        ([9], [(1, True), 4], 10),
    ],
)
def test_sums_and_peaks(containers: list[int], init_containers: list[int | tuple[int, bool]], cpu: int) -> None:
    """The larger of what runs in the end and of what runs while starting."""
    init = [needs(item) if isinstance(item, int) else needs(item[0], is_sidecar=item[1]) for item in init_containers]
    assert effective_requests(PodNeeds([needs(item) for item in containers], init)) == {"cpu": cpu}


def test_pod_level_requests_replace_and_overhead_adds() -> None:
    """Pod-level requests win for cpu, memory and huge pages only; overhead comes on top."""
    found = effective_requests(
        PodNeeds(
            [ContainerNeeds({"cpu": 100, "memory": 10, "nvidia.com/gpu": 1})],
            pod_requests={"cpu": 50, "hugepages-2Mi": 4, "nvidia.com/gpu": 8},
            pod_limits={"memory": 99, "hugepages-1Gi": 7},
            overhead={"cpu": 5, "ephemeral-storage": 3},
        )
    )
    assert found == {
        "cpu": 55, "memory": 10, "nvidia.com/gpu": 1, "hugepages-2Mi": 4, "hugepages-1Gi": 7, "ephemeral-storage": 3
    }  # fmt: skip


def test_scores_count_missing_requests_with_defaults() -> None:
    """Each container without a request counts; an explicit zero stays zero."""
    found = scored_requests(PodNeeds([ContainerNeeds({}), ContainerNeeds({"cpu": 0, "memory": 7})]))
    assert found == {"cpu": DEFAULT_MILLICORES, "memory": DEFAULT_MEMORY_BYTES + 7}


@given(CONTAINERS, CONTAINERS)
def test_never_less_than_any_moment_of_the_pod(containers: list[ContainerNeeds], init: list[ContainerNeeds]) -> None:
    """Whatever runs at one time fits into the effective requests."""
    running = [item._replace(is_sidecar=False) for item in containers]
    total = effective_requests(PodNeeds(running, init))
    moments = []
    started: list[ContainerNeeds] = []
    for item in init:
        moments.append([*started, item])
        if item.is_sidecar:
            started.append(item)
    moments.append([*started, *running])
    for moment in moments:
        for name in ("cpu", "memory", "x/y"):
            assert sum(item.requests.get(name, 0) for item in moment) <= total.get(name, 0)
    assert all(
        any(sum(item.requests.get(name, 0) for item in moment) == amount for moment in moments)
        for name, amount in total.items()
    )


def test_a_limit_alone_is_a_request() -> None:
    """As the API server fills it in, resource by resource."""
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"memory": "512Mi"}}
    pod = read_pod(pod_object(containers=[{"name": "c", "resources": resources}]))
    assert dict(pod.spec.requests) == {"cpu": 2000, "memory": 512 * 2**20}


def test_fractions_are_rounded_up() -> None:
    """A request never shrinks: half a millicore is one."""
    pod = read_pod(
        pod_object(containers=[{"name": "c", "resources": {"requests": {"cpu": "0.0005", "memory": "1.5"}}}])
    )
    assert dict(pod.spec.requests) == {"cpu": 1, "memory": 2}


def test_numbers_may_stand_for_quantities() -> None:
    """``cpu: 2`` and ``cpu: 0.5`` without quotes are accepted as the API does."""
    numbers = {"requests": {"cpu": 0.5, "memory": 1024}}
    assert dict(read_pod(pod_object(containers=[{"name": "c", "resources": numbers}])).spec.requests) == {
        "cpu": 500,
        "memory": 1024,
    }


def test_scored_requests_of_a_pod_without_any() -> None:
    """Filters see nothing, scores see the defaults."""
    pod = read_pod(pod_object(containers=[container(cpu=None)]))
    assert pod.spec.requests == ()
    assert dict(pod.spec.scored_requests) == {"cpu": DEFAULT_MILLICORES, "memory": DEFAULT_MEMORY_BYTES}


def test_pod_level_requests_do_not_count_for_the_score_of_a_pod_on_its_way() -> None:
    """There its containers count with their defaults; once it stands somewhere, what it asks for as a whole does."""
    whole = {"requests": {"cpu": "2", "memory": "7"}}
    spec = read_pod(pod_object(containers=[container(cpu=None), container(cpu="3")], resources=whole)).spec
    assert dict(spec.scored_requests) == dict(spec.requests) == {"cpu": 2000, "memory": 7}
    assert spec.arriving_requests is not None
    assert dict(spec.arriving_requests)["cpu"] == DEFAULT_MILLICORES + 3000
    assert read_pod(pod_object(containers=[container(cpu="3")])).spec.arriving_requests is None
