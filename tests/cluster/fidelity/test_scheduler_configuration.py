"""Configurations that we take or refuse, put before the real kube-scheduler: it takes and refuses the same ones."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from rescheduler.scheduling.configuration import ConfigurationError, read_configuration
from rescheduler.scheduling.configuration.known_plugins import OTHERS, is_removed, known_names, points_of, score_class
from tests.cluster.building.binaries import locate
from tests.paths import EXAMPLES

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
users: [{name: none, user: {}}]
"""
SCORES = (
    "TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
    "NodeResourcesBalancedAllocation", "ImageLocality", "VolumeBinding", "DynamicResources",
)  # fmt: skip
FILTERS = ("NodeName", "NodePorts", "NodeUnschedulable", "VolumeZone", *SCORES[:5])
PLUGINS = (*SCORES, *FILTERS[:4], "PrioritySort", "DefaultBinder", "SchedulingGates", "DefaultPreemption")
POINTS = (
    "multiPoint", "score", "filter", "preFilter", "queueSort", "bind", "postFilter", "preEnqueue", "preScore", "permit",
)  # fmt: skip
# In no version that can be asked.
GONE = ("SelectorSpread", "EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
IN_TREE = [
    name
    for name in known_names()
    if not (name in OTHERS or name in GONE or is_removed(name) or getattr(score_class(name), "goes_by_load", False))
]
# The queue is sorted by one plugin only.
_OFF = {"queueSort": ", disabled: [{name: '*'}]"}
WEIGHTS = (-3, -1, 0, 1, 2, 5, 2**31 - 1)


class Scheduler:
    """The real scheduler, asked to read a configuration and to write it out again; it needs no cluster for that."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder = program, folder
        (folder / "kubeconfig").write_text(KUBECONFIG)

    def written(self, text: str) -> str | None:
        """The configuration with every default, None where it is refused."""
        given, out = self.folder / "given.yaml", self.folder / "out.yaml"
        connection = f"clientConnection: {{kubeconfig: {self.folder / 'kubeconfig'}}}\n"
        given.write_text(f"{text}\n{connection}leaderElection: {{leaderElect: false}}\n")
        out.unlink(missing_ok=True)
        command = [str(self.program), f"--config={given}", f"--write-config-to={out}", "--secure-port=0"]
        subprocess.run(command, capture_output=True, timeout=60, check=False)
        return out.read_text() if out.exists() else None


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Scheduler:
    """The scheduler of the test cluster."""
    return Scheduler(locate()["kube-scheduler"], tmp_path_factory.mktemp("scheduler"))


def is_taken(text: str) -> bool:
    """Whether we take a configuration."""
    try:
        read_configuration(text, "given.yaml", scheduler_name=None)
    except ConfigurationError:
        return False
    return True


def plugins(chance: random.Random) -> str:
    """A profile with random changes of plugin sets, about a third of them good."""
    sets = []
    for point in chance.sample(POINTS, chance.randint(1, 3)):
        pool = {"score": SCORES, "filter": FILTERS}.get(point, PLUGINS)
        entries = []
        for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
            weight = f", weight: {chance.choice(WEIGHTS)}" if chance.random() < 0.4 else ""
            entries.append(f"{{name: {chance.choice(pool)}{weight}}}")
        off = [f"{{name: '{chance.choice((*pool, '*'))}'}}" for _ in range(chance.choice((0, 0, 1, 2)))]
        sets.append(f"{point}: {{enabled: [{', '.join(entries)}], disabled: [{', '.join(off)}]}}")
    return f"{HEAD}profiles: [{{plugins: {{{', '.join(sets)}}}}}]"


@pytest.mark.parametrize("seed", range(4))
def test_random_plugin_sets(scheduler: Scheduler, seed: int) -> None:
    """What one takes the other takes: points, doubled plugins, weights that overflow, no queue sort, no binding."""
    chance = random.Random(seed)
    for text in [plugins(chance) for _ in range(25)]:
        assert is_taken(text) == (scheduler.written(text) is not None), text


@pytest.mark.parametrize("plugin", IN_TREE)
def test_points_of_plugins(scheduler: Scheduler, plugin: str) -> None:
    """Each plugin stands at the points that we know, and at no other."""
    others = {"queueSort": "PrioritySort", "bind": "DefaultBinder"}
    for point in POINTS[1:]:
        sets = {point: plugin, **{at: name for at, name in others.items() if name == plugin and at != point}}
        written = ", ".join(f"{at}: {{enabled: [{{name: {name}}}]{_OFF.get(at, '')}}}" for at, name in sets.items())
        text = f"{HEAD}profiles: [{{plugins: {{multiPoint: {{disabled: [{{name: {plugin}}}]}}, {written}}}}}]"
        assert (point in (points_of(plugin) or ())) == (scheduler.written(text) is not None), point


def configured(plugin: str, arguments: str) -> str:
    """A profile that configures one plugin."""
    return f"{HEAD}profiles: [{{pluginConfig: [{{name: {plugin}, args: {arguments}}}]}}]"


def shaped(shape: str) -> str:
    """NodeResourcesFit by this shape."""
    ratio = f"requestedToCapacityRatio: {{shape: {shape}}}"
    resources = "resources: [{name: cpu, weight: 1}]"
    return configured(
        "NodeResourcesFit", f"{{scoringStrategy: {{type: RequestedToCapacityRatio, {resources}, {ratio}}}}}"
    )


def weighed(resources: str) -> str:
    """NodeResourcesFit by these weights."""
    return configured("NodeResourcesFit", f"{{scoringStrategy: {{type: MostAllocated, resources: {resources}}}}}")


def spread(constraint: str) -> str:
    """PodTopologySpread with one default constraint."""
    return configured("PodTopologySpread", f"{{defaultingType: List, defaultConstraints: [{constraint}]}}")


@pytest.mark.parametrize(
    "text",
    [
        shaped("[{utilization: 0, score: 0}, {utilization: 100, score: 10}]"),
        shaped("[{utilization: 100, score: 10}, {utilization: 0, score: 0}]"),
        shaped("[{utilization: 0, score: 11}]"),
        shaped("[{utilization: 0, score: '5'}]"),
        shaped("[{utilization: 5}]"),
        shaped("[]"),
        weighed("[{name: cpu, weight: 0}]"),
        weighed("[{name: cpu, weight: -1}]"),
        weighed("[{name: cpu, weight: 101}]"),
        weighed("[{name: cpu}, {name: cpu}]"),
        weighed("[{weight: 1}]"),
        configured("NodeResourcesFit", "{scoringStrategy: {}}"),
        configured("NodeResourcesFit", "{ignoredResources: ['a b']}"),
        configured("NodeResourcesFit", "{ignoredResourceGroups: [a.b/c]}"),
        configured("NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}]}"),
        configured("InterPodAffinity", "{hardPodAffinityWeight: 101}"),
        configured("InterPodAffinity", "{ignorePreferredTermsOfExistingPods: 'true'}"),
        configured("NodeAffinity", "{addedAffinity: {}}"),
        configured("NodeAffinity", "{kind: NodeAffinity}"),
        configured("PodTopologySpread", "{defaultConstraints: [{topologyKey: z, maxSkew: 1}]}"),
        spread("{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}"),
        spread("{topologyKey: z, maxSkew: 0, whenUnsatisfiable: DoNotSchedule}"),
        spread("{topologyKey: z, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}"),
        f"{HEAD}percentageOfNodesToScore: 101",
        f"{HEAD}percentageOfNodesToScore: 5.0",
        f"{HEAD}parallelism: 4\nparallelism: 4",
        f"{HEAD}enableProfiling: 'yes'",
        f"{HEAD}enableProfiling: yes",
        f"{HEAD}healthzBindAddress: ''",
        f"{HEAD}profiles: []",
        f"{HEAD}profiles: [{{schedulerName: a}}, {{}}]",
        f"{HEAD}extenders: [{{urlPrefix: 'http://x', prioritizeVerb: p}}]",
    ],
)
def test_values(scheduler: Scheduler, text: str) -> None:
    """Shapes, weights, types, names: taken by both or by none."""
    assert is_taken(text) == (scheduler.written(text) is not None)


def test_defaults_written_out(scheduler: Scheduler) -> None:
    """The scheduler's own account of our example says the same to us as the example does."""
    text = (EXAMPLES / "kube-scheduler.yaml").read_text()
    written = scheduler.written(text)
    assert written is not None
    read = [read_configuration(one, "file", scheduler_name=None).profiles for one in (text, written)]
    assert read[0] == read[1]
