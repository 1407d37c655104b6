"""descheduler's ten plugins, each a function of its turn in a cycle; this is the list of them.

Where upstream walks a map, whose order is another each time, these walk by name.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from rescheduler.descheduler.arguments import DeschedulerArguments
from rescheduler.descheduler.plugins.duplicates import RemoveDuplicatesArguments, remove_duplicates
from rescheduler.descheduler.plugins.inter_pod_anti_affinity import InterPodAntiAffinityArguments, remove_repelled_pods
from rescheduler.descheduler.plugins.node_rules import (
    NodeAffinityArguments,
    NodeTaintsArguments,
    remove_misplaced_pods,
    remove_untolerating_pods,
)
from rescheduler.descheduler.plugins.node_utilization import (
    HighNodeUtilizationArguments,
    LowNodeUtilizationArguments,
    relieve_high_nodes,
    vacate_low_nodes,
)
from rescheduler.descheduler.plugins.pod_states import (
    FailedPodsArguments,
    PodLifeTimeArguments,
    TooManyRestartsArguments,
    remove_failed_pods,
    remove_old_pods,
    remove_restarting_pods,
)
from rescheduler.descheduler.plugins.topology_spread import TopologySpreadArguments, balance_topology_spread


class PluginKind(NamedTuple):
    """A plugin: where it may stand (``deschedule`` or ``balance``), its arguments, and its function."""

    point: str
    arguments: type[DeschedulerArguments]
    run: Any


PLUGINS: Final = {
    "HighNodeUtilization": PluginKind("balance", HighNodeUtilizationArguments, vacate_low_nodes),
    "LowNodeUtilization": PluginKind("balance", LowNodeUtilizationArguments, relieve_high_nodes),
    "PodLifeTime": PluginKind("deschedule", PodLifeTimeArguments, remove_old_pods),
    "RemoveDuplicates": PluginKind("balance", RemoveDuplicatesArguments, remove_duplicates),
    "RemoveFailedPods": PluginKind("deschedule", FailedPodsArguments, remove_failed_pods),
    "RemovePodsHavingTooManyRestarts": PluginKind("deschedule", TooManyRestartsArguments, remove_restarting_pods),
    "RemovePodsViolatingInterPodAntiAffinity": PluginKind(
        "deschedule", InterPodAntiAffinityArguments, remove_repelled_pods
    ),
    "RemovePodsViolatingNodeAffinity": PluginKind("deschedule", NodeAffinityArguments, remove_misplaced_pods),
    "RemovePodsViolatingNodeTaints": PluginKind("deschedule", NodeTaintsArguments, remove_untolerating_pods),
    "RemovePodsViolatingTopologySpreadConstraint": PluginKind(
        "balance", TopologySpreadArguments, balance_topology_spread
    ),
}
