"""Hard predicates, one a file, in the order in which kube-scheduler runs them; ours beside its own comes last."""

from typing import Final

from rescheduler.extension_points.plugin_list import PluginList
from rescheduler.scheduling.plugin import SchedulerFilter

_HERE = "rescheduler.scheduling.filters"
FILTERS: Final[PluginList[SchedulerFilter]] = PluginList(
    "rescheduler.filters",
    own={
        "SchedulingGates": f"{_HERE}.scheduling_gates:SchedulingGates",
        "NodeUnschedulable": f"{_HERE}.node_unschedulable:NodeUnschedulable",
        "NodeName": f"{_HERE}.node_name:NodeName",
        "TaintToleration": f"{_HERE}.taint_toleration:TaintToleration",
        "NodeAffinity": f"{_HERE}.node_affinity:NodeAffinity",
        "NodePorts": f"{_HERE}.node_ports:NodePorts",
        "NodeResourcesFit": f"{_HERE}.node_resources_fit:NodeResourcesFit",
        "VolumeRestrictions": f"{_HERE}.volume_restrictions:VolumeRestrictions",
        "NodeVolumeLimits": f"{_HERE}.node_volume_limits:NodeVolumeLimits",
        "VolumeBinding": f"{_HERE}.volume_binding:VolumeBinding",
        "VolumeZone": f"{_HERE}.volume_zone:VolumeZone",
        "PodTopologySpread": f"{_HERE}.pod_topology_spread:PodTopologySpread",
        "InterPodAffinity": f"{_HERE}.inter_pod_affinity:InterPodAffinity",
        "NodeReady": f"{_HERE}.node_ready:NodeReady",
    },
    wanted=("name", "is_static", "reject"),
)

DEFAULT_FILTERS: Final = tuple(FILTERS.get(name).of() for name in FILTERS.own)
