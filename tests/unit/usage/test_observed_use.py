"""What nodes and pods use as planning sees it: shared out, scaled, predicted, or unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import Usage, UsageWindows
from rescheduler.model.usage.usage_readings import Reading, usage_of
from rescheduler.usage.observed_use import NO_USAGE, observed_use
from tests.builders import NOW, cluster, node, pod

GIB = 2**30


def readings(**values: float) -> list[Reading]:
    """Such as ``cpu_avg=50, memory_std=3``, in percent."""
    return [Reading(kind.upper(), operator.upper(), value) for key, value in values.items()
            for kind, operator in [key.split("_")]]  # fmt: skip


def usage(
    subject: Cluster,
    of_nodes: Mapping[str, Sequence[Reading]],
    *,
    end: float = NOW - 30,
    pods: Mapping[str, float] = {},
) -> Usage:
    """A usage over 15 minutes; ``pods``: cores by pod name."""
    found = usage_of([item.name for item in subject.nodes], of_nodes, end, 900.0)
    cores = np.array([1000 * pods.get(item.name, math.nan) for item in subject.pods])
    return replace(found, pod_use={"cpu": cores} if pods else {})


def observe(subject: Cluster, found: Usage | None, statistic: str = "mean", *resources: str) -> ObservedUse:
    """What is observed of cpu, or of the resources named."""
    windows = None if found is None else UsageWindows({900.0: found})
    return observed_use(columns_of(subject), windows, statistic, resources or ("cpu",))


def cores(subject: Cluster, observed: ObservedUse) -> dict[str, float]:
    """Use of each pod in cores, by name."""
    return {item.name: round(float(use) / 1000, 6) for item, use in zip(subject.pods, observed.of_pods[0], strict=True)}


TWO = cluster(
    node("n1", cpu="10"),
    node("n2", cpu="10"),
    pod("a", "1", node="n1"),
    pod("b", "3", node="n1"),
    pod("c", "2", node="n2"),
)


def test_without_a_provider_requests_stand_in_and_the_notes_say_so() -> None:
    """Every pod uses what it requests, every node is known."""
    observed = observe(TWO, None, "mean", "cpu", "memory")
    assert observed.of_pods.tolist() == [[1000, 3000, 2000], [GIB, GIB, GIB]]
    assert observed.is_known.all()
    assert not observed.of_rest.any()
    assert observed.notes == (NO_USAGE,)


def test_a_nodes_use_is_shared_out_by_requests_where_only_nodes_are_measured() -> None:
    """8 of 10 cores on n1 go to pods that request 1 and 3; nothing is left over."""
    observed = observe(TWO, usage(TWO, {"n1": readings(cpu_avg=80), "n2": readings(cpu_avg=5)}))
    assert cores(TWO, observed) == {"a": 2.0, "b": 6.0, "c": 0.5}
    assert not observed.of_rest.any()


def test_measured_pods_keep_their_use_and_the_node_keeps_the_rest() -> None:
    """Pods use 2 and 3 of 8 cores; the other 3 are the node's own."""
    observed = observe(
        TWO, usage(TWO, {"n1": readings(cpu_avg=80), "n2": readings(cpu_avg=20)}, pods={"a": 2, "b": 3, "c": 1})
    )
    assert cores(TWO, observed) == {"a": 2.0, "b": 3.0, "c": 1.0}
    assert observed.of_rest[0].tolist() == pytest.approx([3000, 1000])


def test_pods_that_use_more_than_their_node_are_scaled() -> None:
    """6 and 4 cores on a node that uses 5 become 3 and 2."""
    observed = observe(
        TWO, usage(TWO, {"n1": readings(cpu_avg=50), "n2": readings(cpu_avg=20)}, pods={"a": 6, "b": 4, "c": 1})
    )
    assert cores(TWO, observed) == {"a": 3.0, "b": 2.0, "c": 1.0}
    assert observed.of_rest[0][0] == pytest.approx(0)


def test_a_pod_that_is_not_measured_beside_others_gets_no_more_than_it_requests() -> None:
    """3 of 8 cores are measured; of the 5 left, b gets the 3 it requests and the system the rest."""
    observed = observe(TWO, usage(TWO, {"n1": readings(cpu_avg=80), "n2": readings(cpu_avg=20)}, pods={"a": 3}))
    assert cores(TWO, observed)["b"] == 3.0
    assert observed.of_rest[0][0] == pytest.approx(2000)


def test_a_margin_raises_nodes_and_their_pods_alike() -> None:
    """Mean 40 % and deviation 10 % judged by mean+2*std are 60 %: pods use half as much again."""
    found = usage(
        TWO,
        {"n1": readings(cpu_avg=40, cpu_std=10), "n2": readings(cpu_avg=10, cpu_std=0)},
        pods={"a": 1, "b": 2, "c": 1},
    )
    observed = observe(TWO, found, "mean+2*std")
    assert cores(TWO, observed) == {"a": 1.5, "b": 3.0, "c": 1.0}
    assert observed.of_rest[0][0] == pytest.approx(1500)


def test_a_margin_may_exceed_the_node() -> None:
    """It is a measure of risk: 90 % and twice 10 % are 110 %."""
    found = usage(TWO, {"n1": readings(cpu_avg=90, cpu_std=10), "n2": readings(cpu_avg=10, cpu_std=0)})
    assert sum(observe(TWO, found, "mean+2*std").of_pods[0][:2]) == pytest.approx(11000)


def test_a_percentile_is_taken_as_measured_or_estimated_and_told() -> None:
    """Where the source gives none, mean and deviation stand in and the notes say so, within the maximum."""
    found = usage(TWO, {"n1": readings(cpu_avg=40, cpu_std=10, cpu_max=50), "n2": readings(cpu_avg=10)})
    observed = observe(TWO, found, "p95")
    assert sum(observed.of_pods[0][:2]) == pytest.approx(5000)
    assert any("estimated" in note for note in observed.notes)
    exact = found.statistics["cpu"]
    measured = replace(found, statistics={**found.statistics, "cpu": replace(exact, p95=np.array([70.0, 20.0]))})
    assert sum(observe(TWO, measured, "p95").of_pods[0][:2]) == pytest.approx(7000)


@pytest.mark.parametrize("value", [math.nan, math.inf, -5.0])
def test_an_impossible_value_makes_a_node_unknown_never_idle(value: float) -> None:
    """The other node stays known, and the notes name the one that is left out."""
    observed = observe(TWO, usage(TWO, {"n1": readings(cpu_avg=value), "n2": readings(cpu_avg=20)}))
    assert observed.is_known.tolist() == [False, True]
    assert any("n1" in note for note in observed.notes)


def test_a_value_above_100_percent_counts_as_100() -> None:
    """A node cannot use more than it has."""
    observed = observe(TWO, usage(TWO, {"n1": readings(cpu_avg=250), "n2": readings(cpu_avg=20)}))
    assert sum(observed.of_pods[0][:2]) == pytest.approx(10000)


def test_a_window_that_ended_long_ago_makes_all_unknown() -> None:
    """Requests must not stand in for a provider that is late."""
    observed = observe(TWO, usage(TWO, {"n1": readings(cpu_avg=80), "n2": readings(cpu_avg=20)}, end=NOW - 900))
    assert not observed.is_known.any()


def test_a_resource_that_nobody_measures_counts_as_requested() -> None:
    """Cpu is measured, memory is not; the notes say which."""
    observed = observe(
        TWO, usage(TWO, {"n1": readings(cpu_avg=80), "n2": readings(cpu_avg=20)}), "mean", "cpu", "memory"
    )
    assert observed.of_pods[1].tolist() == [GIB, GIB, GIB]
    assert observed.is_known.all()
    assert any("memory is not measured" in note for note in observed.notes)


def test_a_resource_that_no_node_offers_is_left_out() -> None:
    """With a note, not an error."""
    observed = observe(TWO, None, "mean", "cpu", "example.com/foo")
    assert observed.resources == ("cpu",)
    assert any("example.com/foo" in note for note in observed.notes)


def test_trust_decides_where_load_was_assessed() -> None:
    """A settling node is measured well and still must not be judged."""
    found = usage(TWO, {"n1": readings(cpu_avg=80), "n2": readings(cpu_avg=20)})
    states = (Trust(TrustState.SETTLING, "a move touched it"), Trust(TrustState.TRUSTED))
    observed = observe(TWO, replace(found, assessment=Assessment(states)))
    assert observed.is_known.tolist() == [False, True]
    assert any("Settling" in note for note in observed.notes)


def test_a_freeze_forbids_everything() -> None:
    """Whatever the single nodes' trust."""
    found = usage(TWO, {"n1": readings(cpu_avg=80), "n2": readings(cpu_avg=20)})
    states = (Trust(TrustState.TRUSTED), Trust(TrustState.TRUSTED))
    observed = observe(TWO, replace(found, assessment=Assessment(states, freeze="load fell everywhere")))
    assert not observed.is_known.any()
    assert any("load fell everywhere" in note for note in observed.notes)


def test_requests_stand_in_where_the_provider_fell_back() -> None:
    """Every node is known then, and the notes say why."""
    found = usage(TWO, {"n1": readings(cpu_avg=80)})
    states = (Trust(TrustState.TRUSTED), Trust(TrustState.MISSING))
    observed = observe(TWO, replace(found, assessment=Assessment(states, freeze="x", falls_back=True)))
    assert cores(TWO, observed) == {"a": 1.0, "b": 3.0, "c": 2.0}
    assert observed.is_known.all()


def test_the_longest_window_that_may_be_trusted_counts_node_by_node() -> None:
    """n1 is new to the long window, so that the short one tells of it."""
    states = {"new": Trust(TrustState.NEW), "good": Trust(TrustState.TRUSTED)}
    long = replace(
        usage(TWO, {"n1": readings(cpu_avg=10), "n2": readings(cpu_avg=20)}),
        assessment=Assessment((states["new"], states["good"])),
    )
    short = replace(
        usage(TWO, {"n1": readings(cpu_avg=40), "n2": readings(cpu_avg=90)}),
        assessment=Assessment((states["good"], states["good"])),
    )
    observed = observed_use(columns_of(TWO), UsageWindows({300.0: short, 900.0: long}), "mean", ("cpu",))
    assert observed.is_known.all()
    assert cores(TWO, observed) == {"a": 1.0, "b": 3.0, "c": 2.0}


def test_a_pod_bound_after_the_window_is_predicted_on_top() -> None:
    """The node's load does not show it yet: 1.5 times its request is added."""
    late = cluster(node("n1", cpu="10"), pod("a", "2", node="n1"), pod("z", "1", node="n1", scheduled_at=NOW - 10))
    observed = observe(late, usage(late, {"n1": readings(cpu_avg=40)}, end=NOW - 20))
    assert cores(late, observed) == {"a": 4.0, "z": 1.5}


def test_a_node_that_holds_only_new_pods_but_is_busy_shows_them_already() -> None:
    """Else its load would count twice."""
    late = cluster(
        node("n1", cpu="10"),
        pod("a", "2", node="n1", scheduled_at=NOW - 10),
        pod("b", "2", node="n1", scheduled_at=NOW - 10),
    )
    observed = observe(late, usage(late, {"n1": readings(cpu_avg=80)}, end=NOW - 20))
    assert cores(late, observed) == {"a": 4.0, "b": 4.0}


def test_a_node_younger_than_the_window_is_idle_not_unknown() -> None:
    """Newly added nodes are what load is to be spread over."""
    grown = cluster(node("n1", cpu="10"), replace_created(node("n2", cpu="10"), NOW - 60), pod("a", "2", node="n1"))
    observed = observe(grown, usage(grown, {"n1": readings(cpu_avg=80)}))
    assert observed.is_known.tolist() == [True, True]
    assert observed.of_rest[0].tolist() == pytest.approx([0, 0])


def replace_created(item: object, created_at: float) -> object:
    """A node created at another time."""
    from msgspec.structs import replace as with_changes

    return with_changes(item, created_at=created_at)


def test_virtual_and_broken_nodes_are_never_known() -> None:
    """They are neither source nor target."""
    odd = cluster(node("n1"), node("n2", labels={"type": "virtual-kubelet"}), node("n3", problem="no allocatable"))
    assert observe(odd, None).is_known.tolist() == [True, False, False]


def test_another_statistic_is_refused_with_the_choices() -> None:
    """The message names what was found and wanted."""
    with pytest.raises(ValueError, match=r"found 'p42', wanted mean, mean\+K\*std, p50"):
        observe(TWO, None, "p42")


def test_a_cluster_without_nodes_or_pods_is_no_error() -> None:
    """Shapes stay those of the cluster."""
    empty = cluster()
    assert observe(empty, None).of_pods.shape == (1, 0)
    assert observe(empty, usage(empty, {})).of_pods.shape == (1, 0)


@given(
    st.lists(st.floats(0, 100), min_size=2, max_size=2),
    st.lists(st.one_of(st.none(), st.floats(0, 12)), min_size=3, max_size=3),
    st.sampled_from(["mean", "mean+1.5*std", "p90"]),
)
def test_pods_and_rest_together_are_what_the_node_uses(
    percents: list[float], of_pods: list[float | None], statistic: str
) -> None:
    """Whatever is measured of the pods, nothing is lost, doubled or negative."""
    names = dict(zip("abc", of_pods, strict=True))
    found = usage(
        TWO,
        {f"n{n}": readings(cpu_avg=value, cpu_std=value / 10) for n, value in enumerate(percents, start=1)},
        pods={name: value for name, value in names.items() if value is not None},
    )
    observed = observe(TWO, found, statistic)
    factor = {"mean": 1.0, "mean+1.5*std": 1.15, "p90": 1.12816}[statistic]
    total = observed.of_rest[0] + [observed.of_pods[0][:2].sum(), observed.of_pods[0][2]]
    wanted = [min(value * factor, 100.0 if statistic == "p90" else math.inf) * 100 for value in percents]
    assert total.tolist() == pytest.approx(wanted, abs=1e-6)
    assert (observed.of_pods >= 0).all()
    assert (observed.of_rest >= 0).all()
