"""Our answer: the live cluster through our own reader, the scheduler's own configuration text, our model."""

from __future__ import annotations

from dataclasses import replace

from msgspec.structs import replace as with_changes

from benchmarks.fidelity.comparison import Foretold
from benchmarks.fidelity.pods import GATE
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.scheduling.configuration import (
    combined,
    configured_cluster,
    read_configuration,
    scheduling_profiles,
)
from rescheduler.scheduling.scheduler_model import SchedulerModel


class Oracle:
    """Foretells where pods of one cluster go, one after another; each answer can be followed by what was seen."""

    def __init__(self, reader: LiveReader, configuration: str) -> None:
        """``configuration``: the text that the scheduler was started with. Raises ConfigurationError."""
        self._reader = reader
        read = read_configuration(configuration, "the scheduler's configuration", scheduler_name=None)
        self._configuration = combined([("the scheduler's configuration", read)])
        self.look()

    def look(self) -> None:
        """Read the cluster afresh; gated pods of ours are taken as if their gate were gone."""
        found = self._reader.read()
        self.cluster = self._configured(replace(found, pods=tuple(map(_without_gate, found.pods))))
        columns = columns_of(self.cluster)
        profiles = scheduling_profiles(
            self._configuration,
            server_version=self.cluster.server_version,
            windows=None,
            node_count=columns.node_count,
        )
        self.model = SchedulerModel(columns, profiles, counts_nominated=True)
        self.placement = Placement(columns)

    def foretell(self, key: str) -> Foretold:
        """The answer for a pod by NAMESPACE/NAME."""
        pod = self.model.columns.pod_index[key]
        verdict = self.model.verdict(pod, self.placement)
        names = tuple(self.cluster.nodes[node].name for node in verdict.best)
        return Foretold(names, int(verdict.feasible.sum()), verdict.message)

    def table(self, name: str) -> dict[str, dict[str, object]]:
        """Reasons, scores and total of each node for a pod by its name alone."""
        pod = next(number for number, item in enumerate(self.cluster.pods) if item.name == name)
        verdict = self.model.verdict(pod, self.placement)
        return {
            node.name: {
                "reasons": verdict.reasons(number),
                "scores": {plugin: int(scores[number]) for plugin, scores in verdict.scores.items()},
                "total": int(verdict.total[number]),
            }
            for number, node in enumerate(self.cluster.nodes)
        }

    def follow(self, key: str, node: str) -> None:
        """Take the pod as placed on a node."""
        columns = self.model.columns
        self.placement.assume(columns.pod_index[key], columns.node_index[node])

    def _configured(self, cluster: Cluster) -> Cluster:
        return configured_cluster(cluster, self._configuration.profiles)


def _without_gate(pod: Pod) -> Pod:
    """Pods that are nominated keep their gate: nobody asks about them."""
    is_case = pod.scheduling_gates == (GATE,) and pod.nominated_node is None
    return with_changes(pod, scheduling_gates=()) if is_case else pod
