"""Scores, 0 to 100, one a file: they tell where kube-scheduler would put a pod."""

from rescheduler.plugins.scores.added_node_affinity import AddedNodeAffinity as AddedNodeAffinity
from rescheduler.plugins.scores.best_fit_bin_pack import BestFitBinPack as BestFitBinPack
from rescheduler.plugins.scores.bin_packing import BinPacking as BinPacking
from rescheduler.plugins.scores.image_locality import ImageLocality as ImageLocality
from rescheduler.plugins.scores.inter_pod_affinity import InterPodAffinity as InterPodAffinity
from rescheduler.plugins.scores.load_variation_risk_balancing import (
    LoadVariationRiskBalancing as LoadVariationRiskBalancing,
)
from rescheduler.plugins.scores.low_risk_over_commitment import LowRiskOverCommitment as LowRiskOverCommitment
from rescheduler.plugins.scores.node_affinity import NodeAffinity as NodeAffinity
from rescheduler.plugins.scores.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation as NodeResourcesBalancedAllocation,
)
from rescheduler.plugins.scores.node_resources_fit import NodeResourcesFit as NodeResourcesFit
from rescheduler.plugins.scores.node_usage import NodeUsage as NodeUsage
from rescheduler.plugins.scores.pod_topology_spread import PodTopologySpread as PodTopologySpread
from rescheduler.plugins.scores.safe_balancing import SafeBalancing as SafeBalancing
from rescheduler.plugins.scores.taint_toleration import TaintToleration as TaintToleration
from rescheduler.plugins.scores.target_load_packing import TargetLoadPacking as TargetLoadPacking
