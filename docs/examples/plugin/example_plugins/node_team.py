"""NodeTeam: a node that one team has paid for takes pods of that team only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import SchedulerFilter

TEAM = "example.com/team"


@dataclass(frozen=True)
class NodeTeam(SchedulerFilter):
    """Teams by the label of nodes and pods; a node without one takes everybody."""

    name = "NodeTeam"
    is_static = True  # where other pods sit does not matter

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes of other teams."""
        columns = placement.columns
        own = columns.cluster.pods[pod].labels.get(TEAM, "")
        teams = columns.facts(teams_of_nodes)
        return (Rejection("node(s) belonged to another team", (teams != "") & (teams != own)),)


def teams_of_nodes(columns: Columns) -> np.ndarray:
    """The team of each node, "" for nobody's."""
    return np.array([node.labels.get(TEAM, "") for node in columns.cluster.nodes], dtype=np.str_)
