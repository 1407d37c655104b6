"""Configured schedulers together with measured load: what they make of a snapshot, and the same as data."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.model.usage.usage_readings import Reading, usage_of
from rescheduler.scheduling.configuration import combined
from rescheduler.scheduling.schedulers import DEFAULTS, MeasuredLoad, Schedulers
from tests.builders import NOW, cluster, node, pod, taint
from tests.unit.scheduling.configuration.reading import kube, read

VOLCANO = """\
actions: "allocate"
tiers: [{plugins: [{name: predicates}, {name: usage, arguments: {thresholds: {cpu: 60, mem: 70}}}]}]
metrics: {type: prometheus, address: "http://x", interval: 30s}
"""
POOL = kube("""\
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: Exists}]}]
  - {name: NodeResourcesFit, args: {ignoredResources: [a.b/gpu], ignoredResourceGroups: [c.d]}}
  plugins: {filter: {disabled: [{name: TaintToleration}, {name: NodeResourcesFit}, {name: NodePorts}]}}
""")


class Hot(MeasuredLoad):
    """Node a is hot."""

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """Ninety percent of a's cpu."""
        names = [item.name for item in cluster.nodes]
        return UsageWindows({600.0: usage_of(names, {"a": (Reading("CPU", "AVG", 90.0),)}, NOW, 600.0)})

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """One."""
        return [f"{len(cluster.nodes)} nodes"]


def schedulers(*texts: str, load: MeasuredLoad | None = None) -> Schedulers:
    """The schedulers that texts configure."""
    configuration = combined((str(number), read(text)) for number, text in enumerate(texts))
    return Schedulers(configuration, load) if load else Schedulers(configuration)


def open_nodes(found: Schedulers, world: Cluster, name: str, *, is_for_planning: bool = False) -> list[str]:
    """Nodes that take the pod."""
    model = found.model(found.configured(world), is_for_planning=is_for_planning)
    mask = model.feasible(model.columns.pod_index[f"default/{name}"], Placement(model.columns))
    return [item.name for item, is_open in zip(world.nodes, mask, strict=True) if is_open]


def test_by_default_there_is_one_scheduler_and_no_load() -> None:
    """kube-scheduler as it comes; a cluster stays the very same object."""
    world = cluster(node("a"), pod("p"))
    assert DEFAULTS.names == {"default-scheduler"}
    assert DEFAULTS.configured(world) is world
    assert DEFAULTS.warnings(world) == ()
    rules = DEFAULTS.rules(world)
    assert (rules.windows, rules.of("default-scheduler").load_limits) == (None, ())


def test_thresholds_close_nodes_to_one_scheduler_in_prediction_and_proof() -> None:
    """The same limits stand in the filter and in the data for the proof."""
    world = cluster(node("a"), node("b"), pod("p"), pod("v", scheduler_name="volcano"))
    found = schedulers(VOLCANO, load=Hot())
    assert (open_nodes(found, world, "p"), open_nodes(found, world, "v")) == (["a", "b"], ["b"])
    limits = found.rules(world).of("volcano").load_limits
    assert [(item.resource, item.percent) for item in limits] == [("cpu", 60.0), ("memory", 70.0)]
    assert found.rules(world).windows is not None
    assert found.warnings(world)[-1] == "2 nodes"


def test_filters_left_out_are_open_but_what_kubelets_refuse_is_closed_to_plans() -> None:
    """The scheduler would bind to a full or tainted node; a plan counts on the tainted one only."""
    full = node("full", "1", labels={"pool": "x"})
    tainted = node("tainted", labels={"pool": "x"}, taints=[taint("t")])
    world = cluster(full, tainted, node("other"), pod("w", node="full"), pod("p"))
    found = schedulers(POOL)
    assert open_nodes(found, world, "p") == ["full", "tainted"]
    assert open_nodes(found, world, "p", is_for_planning=True) == ["tainted"]
    rules = found.rules(world).of("default-scheduler")
    assert rules.filters is not None
    assert {"NodeResourcesFit", "NodePorts", "NodeAffinity"} <= rules.filters
    assert "TaintToleration" not in rules.filters
    assert rules.required_affinity is not None
    assert (rules.ignores("a.b/gpu"), rules.ignores("c.d/x"), rules.ignores("cpu")) == (True, True, False)


@pytest.mark.parametrize(("nodes", "told"), [((node("a"),), 1), ((), 0)])
def test_weighed_resources_that_no_node_offers_are_told(nodes: tuple[object, ...], told: int) -> None:
    """One warning; none where there are no nodes to speak of."""
    strategy = "{type: MostAllocated, resources: [{name: x.y/z, weight: 1}]}"
    text = kube(f"profiles: [{{pluginConfig: [{{name: NodeResourcesFit, args: {{scoringStrategy: {strategy}}}}}]}}]\n")
    warnings = schedulers(text).warnings(cluster(*nodes))  # type: ignore[arg-type]
    assert sum('weighs "x.y/z", which no node offers' in warning for warning in warnings) == told


def test_says_where_load_could_be_read_but_connects_nothing():
    """A configuration that names a source of load offers it, in the policy's own words, as long as none is measured."""
    world = cluster(node("a"))
    told = [text for text in schedulers(VOLCANO).warnings(world) if "requests stand in" in text]
    assert len(told) == 1
    assert 'usage: {providers: [{"name": "Prometheus", "args": {"address": "http://x"}}]' in told[0]
    assert not [text for text in schedulers(VOLCANO, load=Hot()).warnings(world) if "requests stand in" in text]
