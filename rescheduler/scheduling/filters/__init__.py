"""Hard predicates, one a file, in the order in which kube-scheduler runs them; ours beside its own comes last."""

from rescheduler.extension_points import Filter
from rescheduler.scheduling.filters.enforced_node_affinity import EnforcedNodeAffinity as EnforcedNodeAffinity
from rescheduler.scheduling.filters.inter_pod_affinity import InterPodAffinity as InterPodAffinity
from rescheduler.scheduling.filters.marked_node import MarkedNode as MarkedNode
from rescheduler.scheduling.filters.node_affinity import NodeAffinity as NodeAffinity
from rescheduler.scheduling.filters.node_name import NodeName as NodeName
from rescheduler.scheduling.filters.node_ports import NodePorts as NodePorts
from rescheduler.scheduling.filters.node_ready import NodeReady as NodeReady
from rescheduler.scheduling.filters.node_resources_fit import NodeResourcesFit as NodeResourcesFit
from rescheduler.scheduling.filters.node_unschedulable import NodeUnschedulable as NodeUnschedulable
from rescheduler.scheduling.filters.node_usage import NodeUsage as NodeUsage
from rescheduler.scheduling.filters.node_volume_limits import NodeVolumeLimits as NodeVolumeLimits
from rescheduler.scheduling.filters.pod_topology_spread import PodTopologySpread as PodTopologySpread
from rescheduler.scheduling.filters.scheduling_gates import SchedulingGates as SchedulingGates
from rescheduler.scheduling.filters.taint_toleration import TaintToleration as TaintToleration
from rescheduler.scheduling.filters.volume_binding import VolumeBinding as VolumeBinding
from rescheduler.scheduling.filters.volume_restrictions import VolumeRestrictions as VolumeRestrictions
from rescheduler.scheduling.filters.volume_zone import VolumeZone as VolumeZone

DEFAULT_FILTERS: tuple[Filter, ...] = (
    SchedulingGates(),
    NodeUnschedulable(),
    NodeName(),
    TaintToleration(),
    NodeAffinity(),
    NodePorts(),
    NodeResourcesFit(),
    VolumeRestrictions(),
    NodeVolumeLimits(),
    VolumeBinding(),
    VolumeZone(),
    PodTopologySpread(),
    InterPodAffinity(),
    NodeReady(),
)
