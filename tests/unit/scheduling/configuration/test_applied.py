"""Snapshots as configured schedulers see them."""

from __future__ import annotations

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload
from rescheduler.scheduling.configuration import configured_cluster, scheduling_profiles
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod, selector, workload
from tests.unit.scheduling.configuration.reading import configured, kube, read, with_plugins

NODES = (node("a", zone="z1"), node("b", zone="z2"))


def applied(text: str, *objects: Pod | Workload) -> Cluster:
    """A cluster of two nodes as the configured schedulers see it."""
    return configured_cluster(cluster(*NODES, *objects), read(text).profiles)


def unmodelled(text: str, *pods: Pod) -> list[tuple[str, ...]]:
    """What is not modelled about each pod."""
    return [one.spec.unmodelled for one in applied(text, *pods).pods]


def test_nothing_to_apply() -> None:
    """A cluster that no profile changes comes back itself."""
    given = cluster(*NODES, pod("p"))
    assert configured_cluster(given, read(kube("")).profiles) is given
    text = with_plugins("filter:\n  enabled: [{name: Mine}]")
    other = cluster(*NODES, pod("p", scheduler_name="another"))
    assert configured_cluster(other, read(text).profiles) is other


def test_an_unknown_filter_marks_every_pod_of_its_scheduler() -> None:
    """Such pods are never moved and nothing is foretold about them; others stay as they are."""
    text = with_plugins("filter:\n  enabled: [{name: Mine}]")
    assert unmodelled(text, pod("p"), pod("q", scheduler_name="another")) == [("Mine",), ()]


def test_an_unknown_filter_marks_a_pod_once() -> None:
    """Applying a configuration twice changes nothing more."""
    text = with_plugins("filter:\n  enabled: [{name: Mine}]")
    once = applied(text, pod("p", unmodelled=("resourceClaims",)))
    assert once.pods[0].spec.unmodelled == ("resourceClaims", "Mine")
    assert configured_cluster(once, read(text).profiles) is once


def test_an_unknown_score_marks_nothing() -> None:
    """A pod's feasibility is known all the same."""
    assert unmodelled(with_plugins("score:\n  enabled: [{name: Mine}]"), pod("p")) == [()]


EXTENDER = """\
extenders:
- urlPrefix: http://gpu
  filterVerb: f
  managedResources: [{name: a.b/gpu, ignoredByScheduler: true}]
"""


def test_an_extender_marks_pods_that_ask_for_what_it_manages() -> None:
    """Other pods are foretold as ever."""
    asking = pod("p", extended={"a.b/gpu": "1"})
    assert unmodelled(kube(EXTENDER), asking, pod("q")) == [("extender http://gpu",), ()]


def test_coscheduling_marks_members_of_groups() -> None:
    """Pods without the group's label are foretold as ever."""
    text = with_plugins(
        "multiPoint:\n  enabled: [{name: Coscheduling}]\nqueueSort:\n  disabled: [{name: PrioritySort}]"
    )
    member = pod("p", labels={"scheduling.x-k8s.io/pod-group": "g"})
    assert unmodelled(text, member, pod("q")) == [("Coscheduling",), ()]


def feasible(text: str, *objects: Pod | Workload) -> list[bool]:
    """Nodes that suit the first pod."""
    columns = columns_of(applied(text, *objects))
    profiles = scheduling_profiles(read(text), server_version=None, windows=None, node_count=2)
    return SchedulerModel(columns, profiles).feasible(0, Placement(columns)).tolist()


def test_ignored_resources() -> None:
    """The filter does not look at them, by name or by group; cpu cannot be ignored."""
    asking = pod("p", extended={"a.b/gpu": "1"})
    assert feasible(kube(""), asking) == [False, False]
    assert feasible(configured("NodeResourcesFit", "ignoredResources: [a.b/gpu]"), asking) == [True, True]
    assert feasible(configured("NodeResourcesFit", "ignoredResourceGroups: [a.b]"), asking) == [True, True]
    assert feasible(configured("NodeResourcesFit", "ignoredResources: [a.b/g, cpu]"), asking) == [False, False]
    assert feasible(configured("NodeResourcesFit", "ignoredResources: [cpu]"), pod("p", "100")) == [False, False]


IGNORING = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: careless
  pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [a.b/gpu]}}]
"""


def test_resources_ignored_by_one_profile_are_still_held() -> None:
    """A pod that may lack a device takes it from others all the same, who look at it."""
    careless = pod("q", node="a", extended={"a.b/gpu": "1"}, scheduler_name="careless")
    nodes = (node("a", extended={"a.b/gpu": "1"}), node("b", extended={"a.b/gpu": "1"}))
    world = configured_cluster(cluster(*nodes, pod("p", extended={"a.b/gpu": "1"}), careless), read(IGNORING).profiles)
    columns = columns_of(world)
    profiles = scheduling_profiles(read(IGNORING), server_version=None, windows=None, node_count=2)
    model, placement = SchedulerModel(columns, profiles), Placement(columns)
    assert model.feasible(columns.pod_index["default/p"], placement).tolist() == [False, True]
    placement.assume(columns.pod_index["default/p"], 1)
    assert model.feasible(columns.pod_index["default/q"], placement).tolist() == [True, True]


HARD = """\
defaultingType: List
defaultConstraints:
- {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}
"""


def test_default_constraints_that_bind() -> None:
    """They become the pod's own, with the selector of its owner, for a pod that has none of its own."""
    owner = workload("web", 3, selector=selector(app="web"))
    pods = (pod("web-1", owner="web"), pod("web-2", owner="web", node="a"))
    assert feasible(configured("PodTopologySpread", HARD), owner, *pods) == [False, True]
    assert feasible(configured("PodTopologySpread", HARD.replace("DoNotSchedule", "ScheduleAnyway")), owner, *pods) == [
        True,
        True,
    ]


def test_default_constraints_need_a_selector() -> None:
    """A pod without Service and owner has none, as in kube-scheduler."""
    found = applied(configured("PodTopologySpread", HARD), pod("p", owner=None))
    assert found.pods[0].spec.topology_spread == ()


def test_replicas_go_on_sharing_a_specification() -> None:
    """Equal specifications are one object, so that shapes stay few."""
    text = with_plugins("filter:\n  enabled: [{name: Mine}]")
    one, other = applied(text, pod("web-1", owner="web"), pod("web-2", owner="web")).pods
    assert one.spec is other.spec
