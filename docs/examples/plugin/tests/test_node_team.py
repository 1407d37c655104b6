"""NodeTeam keeps pods off nodes of other teams."""

from __future__ import annotations

import numpy as np
from example_plugins.node_team import TEAM, NodeTeam

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod, PodSpec


def test_pods_stay_off_other_teams_nodes() -> None:
    """A node without a team takes everybody."""
    nodes = (Node("anybodys"), Node("blues", labels={TEAM: "blue"}), Node("reds", labels={TEAM: "red"}))
    pods = (Pod("default", "a", "", PodSpec(), labels={TEAM: "red"}), Pod("default", "b", "", PodSpec()))
    placement = Placement(columns_of(Cluster(nodes=nodes, pods=pods)))

    def refused(pod: int) -> list[str]:
        (rejection,) = NodeTeam().reject(pod, placement)
        return [nodes[index].name for index in np.flatnonzero(rejection.nodes)]

    assert refused(0) == ["blues"]
    assert refused(1) == ["blues", "reds"]
