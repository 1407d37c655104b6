"""YoungNode prefers nodes that were made lately."""

from __future__ import annotations

import numpy as np
from example_plugins.young_node import DAY_SECONDS, YoungNode, YoungNodeArguments

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node

NOW = 1_800_000_000.0


def test_a_score_falls_with_the_days() -> None:
    """To 0 and no further; a node of unknown age counts as new."""
    ages = {"a": 0, "b": 3, "c": 9, "d": 40}
    nodes = [Node(name, created_at=NOW - days * DAY_SECONDS) for name, days in ages.items()]
    placement = Placement(columns_of(Cluster(nodes=(*nodes, Node("e")), taken_at=NOW)))
    young = YoungNode(YoungNodeArguments(days=10))
    every = np.ones(5, dtype=np.bool_)
    assert young.score(0, placement, every).tolist() == [100, 70, 10, 0, 100]
    assert young.explain(0, [1], placement, every) == ["3 of 10 days old: 70"]
