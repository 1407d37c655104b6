"""Scores, 0 to 100, one a file: they tell where kube-scheduler would put a pod."""

from rescheduler.plugins.scores.image_locality import ImageLocality as ImageLocality
from rescheduler.plugins.scores.inter_pod_affinity import InterPodAffinity as InterPodAffinity
from rescheduler.plugins.scores.node_affinity import NodeAffinity as NodeAffinity
from rescheduler.plugins.scores.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation as NodeResourcesBalancedAllocation,
)
from rescheduler.plugins.scores.node_resources_fit import NodeResourcesFit as NodeResourcesFit
from rescheduler.plugins.scores.pod_topology_spread import PodTopologySpread as PodTopologySpread
from rescheduler.plugins.scores.taint_toleration import TaintToleration as TaintToleration
