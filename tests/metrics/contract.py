"""What every metrics provider promises: one suite, run on each of them in a small world of its own."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NODE_METRICS, MetricsSample, NodeSamples, PodKey
from tests.builders import node
from tests.loopback_server import CUT_OFF, DRIPPING, RESET, SILENT, Answer, loopback_server
from tests.metrics.scenes import SECRET, STEP, TIMEOUT_SECONDS, Load, PodLoad, Scene, World, steady, times


def column(samples: NodeSamples, metric: str, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The values of one node, float64[T]."""
    return samples.values[metric][:, samples.nodes.index(name)]


class ProviderContract:
    """Inherited by one test class for each provider, which gives the fixture ``world``."""

    def sample(self, world: World, scene: Scene, *names: str, with_pods: bool = False) -> MetricsSample:
        """A sample of the nodes of these names."""
        known = [node(name) for name in {**dict.fromkeys(scene.hosts), **dict.fromkeys(names)}]
        asked = [one for name in names for one in known if one.name == name]
        return world.provider(scene, known).sample(asked, now=world.now, with_pods=with_pods)

    def test_values_are_fractions_of_capacity_in_the_order_asked_for(self, world: World) -> None:
        """Whatever the source's units: 0.25 of a node's cpu is 0.25."""
        hosts = {"n1": steady(world.now, 0.25, 0.5), "n2": steady(world.now, 0.75, 0.125)}
        found = self.sample(world, Scene(hosts), "n2", "n1").nodes
        assert found.nodes == ("n2", "n1")
        assert found.times.tolist() == [world.now]
        assert found.values[CPU][0] == pytest.approx([0.75, 0.25], rel=world.tolerance)
        assert found.values[MEMORY][0] == pytest.approx([0.125, 0.5], rel=world.tolerance)
        assert set(found.values) == set(NODE_METRICS)

    def test_a_node_without_data_is_unknown_and_never_idle(self, world: World) -> None:
        """Missing is NaN in every metric and in the time, beside nodes that are known."""
        found = self.sample(world, Scene({"n1": steady(world.now, 0.25, 0.5)}), "n1", "silent").nodes
        assert np.isfinite(column(found, CPU, "n1")).all()
        assert all(np.isnan(column(found, metric, "silent")).all() for metric in NODE_METRICS)
        assert np.isnan(found.measured_at[0, 1])

    def test_an_idle_node_is_not_a_missing_one(self, world: World) -> None:
        """A measured 0 stays 0."""
        found = self.sample(world, Scene({"n1": steady(world.now, 0.0, 0.5)}), "n1").nodes
        assert column(found, CPU, "n1") == pytest.approx([0.0], abs=1e-6)

    def test_the_time_is_the_sources_own(self, world: World) -> None:
        """Not the time of asking: a sample of half a minute ago says so."""
        found = self.sample(world, Scene({"n1": steady(world.now, 0.25, 0.5, age=30)}), "n1").nodes
        assert found.measured_at[0, 0] == pytest.approx(world.now - 30, abs=world.lag)

    def test_a_source_that_has_stopped_never_looks_fresh(self, world: World) -> None:
        """Four minutes after a node's last point it is unknown, or as old as that point."""
        hosts = {"n1": steady(world.now, 0.25, 0.5, age=240), "n2": steady(world.now, 0.25, 0.5)}
        found = self.sample(world, Scene(hosts), "n1", "n2").nodes
        assert np.isnan(found.measured_at[0, 0]) or found.measured_at[0, 0] <= world.now - 240 + world.lag
        assert found.measured_at[0, 1] >= world.now - world.lag

    def test_hosts_that_are_no_node_are_passed_over(self, world: World) -> None:
        """More hosts than nodes is no error, and changes nothing."""
        hosts = {name: steady(world.now, 0.25, 0.5) for name in ("stranger", "n1", "n10")}
        found = self.sample(world, Scene(hosts), "n1")
        assert found.nodes.nodes == ("n1",)
        assert column(found.nodes, CPU, "n1") == pytest.approx([0.25], rel=world.tolerance)
        assert found.unusable == {}

    def test_two_series_that_contradict_each_other_are_unusable(self, world: World) -> None:
        """Neither is taken for the truth; the reason is given; other nodes are untouched."""
        if not world.has_rivals:
            pytest.skip("this source holds one series for a host")
        hosts = {name: steady(world.now, 0.25, 0.25) for name in ("n1", "n2")}
        found = self.sample(world, Scene(hosts, rivals={"n1": steady(world.now, 0.875, 0.875)}), "n1", "n2")
        assert set(found.unusable) == {"n1"}
        assert found.unusable["n1"]
        assert all(np.isnan(column(found.nodes, metric, "n1")).all() for metric in NODE_METRICS)
        assert column(found.nodes, CPU, "n2") == pytest.approx([0.25], rel=world.tolerance)

    def test_no_node_is_no_error(self, world: World) -> None:
        """An empty cluster gets an empty sample."""
        found = self.sample(world, Scene({"n1": steady(world.now, 0.25, 0.5)})).nodes
        assert found.nodes == ()
        assert found.values[CPU].shape == (1, 0)

    def test_pods_are_in_millicores_and_bytes(self, world: World) -> None:
        """And only there when they are asked for."""
        if not world.has_pods:
            pytest.skip("this source has no pods")
        key = PodKey("shop", "web-1")
        scene = Scene(
            {"n1": steady(world.now, 0.25, 0.5)},
            pods={key: [PodLoad(at, 250.0, 64e6) for at in times(world.now)]},
        )
        found = self.sample(world, scene, "n1", with_pods=True).pods
        assert found is not None
        assert found.pods == (key,)
        assert found.values[CPU] == pytest.approx([250.0], rel=world.tolerance)
        assert found.values[MEMORY] == pytest.approx([64e6], rel=world.tolerance)
        assert found.measured_at == pytest.approx([world.now], abs=world.lag)
        assert self.sample(world, scene, "n1").pods is None

    def test_history_is_regular_and_says_what_was_when(self, world: World) -> None:
        """Times rise by the step within what was asked for; values belong to their times; unknown nodes are NaN."""
        if not world.has_history:
            pytest.skip("this source keeps no history")
        change = world.now - 600
        loads = [Load(at, 0.25 if at <= change else 0.75, 0.5) for at in times(world.now)]
        known = [node("n1"), node("silent")]
        found = world.provider(Scene({"n1": loads}), known[:1]).history(
            known, start=world.now - 900, end=world.now, step_seconds=60
        )
        assert found is not None
        assert np.diff(found.times) == pytest.approx(60.0)
        assert world.now - 900 <= found.times[0] <= world.now - 840
        assert world.now - 60 <= found.times[-1] <= world.now
        cpu = column(found, CPU, "n1")
        before, after = found.times <= change, found.times > change + 300  # a rate looks back
        assert cpu[before] == pytest.approx(0.25, rel=world.tolerance)
        assert cpu[after] == pytest.approx(0.75, rel=world.tolerance)
        assert np.isnan(column(found, CPU, "silent")).all()
        age = found.times - found.measured_at[:, 0]
        assert (age >= -world.lag).all()
        assert (age <= STEP + world.lag).all()

    def test_history_has_gaps_where_the_source_has(self, world: World) -> None:
        """Nothing is carried on over minutes without data as if it were new."""
        if not world.has_history:
            pytest.skip("this source keeps no history")
        loads = [one for one in steady(world.now, 0.25, 0.5) if abs(one.at - (world.now - 600)) > 240]
        known = [node("n1")]
        found = world.provider(Scene({"n1": loads}), known).history(
            known, start=world.now - 900, end=world.now, step_seconds=60
        )
        assert found is not None
        middle = int(np.argmin(np.abs(found.times - (world.now - 660))))  # three minutes after the last point
        age = found.times[middle] - found.measured_at[middle, 0]
        assert np.isnan(age) or age >= 180 - 60 - world.lag
        assert np.isfinite(column(found, CPU, "n1")[-1])

    @pytest.mark.parametrize(
        "answer",
        [
            Answer(fault=RESET),
            Answer(fault=SILENT),
            Answer(b"{", fault=DRIPPING),
            Answer(b'{"status": "success"', fault=CUT_OFF),
            Answer(b'{"error": "internal"}', 500),
            Answer(f'{{"message": "bad token {SECRET}"}}'.encode(), 401),
            Answer(b"<html>Sign in</html>", headers={"Content-Type": "text/html"}),
            Answer(b"null"),
            Answer(b"[]"),
            Answer(b'{"status": "success", "data": {"resultType": "vector", "result": [{"metric": 7}]}}'),
        ],
        ids=lambda answer: answer.fault or f"{answer.status} {answer.body[:12].decode()}",
    )
    def test_a_source_that_fails_is_an_error_in_time(self, world: World, answer: Answer) -> None:
        """A MetricsError, never another; it names the provider, and nothing of the credential."""
        with loopback_server(lambda _: answer) as server:
            provider = world.reaching(server.address)
            if provider is None:
                pytest.skip("this source is asked at no address")
            before = time.monotonic()
            with pytest.raises(MetricsError) as caught:
                provider.sample([node("n1")], now=world.now, with_pods=True)
            assert time.monotonic() - before < 10 * TIMEOUT_SECONDS
        assert provider.name in str(caught.value)
        assert SECRET not in str(caught.value)

    def test_nobody_there_is_an_error_in_time(self, world: World) -> None:
        """A closed port too."""
        with loopback_server(lambda _: Answer()) as server:
            address = server.address
        provider = world.reaching(address)
        if provider is None:
            pytest.skip("this source is asked at no address")
        with pytest.raises(MetricsError, match=provider.name):
            provider.sample([node("n1")], now=world.now, with_pods=True)
