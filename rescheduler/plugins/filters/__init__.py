"""Hard predicates, one a file, in the order in which kube-scheduler runs them; ours beside its own comes last."""

from rescheduler.extension_points import Filter
from rescheduler.plugins.filters.inter_pod_affinity import InterPodAffinity
from rescheduler.plugins.filters.node_affinity import NodeAffinity
from rescheduler.plugins.filters.node_name import NodeName
from rescheduler.plugins.filters.node_ports import NodePorts
from rescheduler.plugins.filters.node_ready import NodeReady
from rescheduler.plugins.filters.node_resources_fit import NodeResourcesFit
from rescheduler.plugins.filters.node_unschedulable import NodeUnschedulable
from rescheduler.plugins.filters.node_volume_limits import NodeVolumeLimits
from rescheduler.plugins.filters.pod_topology_spread import PodTopologySpread
from rescheduler.plugins.filters.scheduling_gates import SchedulingGates
from rescheduler.plugins.filters.taint_toleration import TaintToleration
from rescheduler.plugins.filters.volume_binding import VolumeBinding
from rescheduler.plugins.filters.volume_restrictions import VolumeRestrictions
from rescheduler.plugins.filters.volume_zone import VolumeZone

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
