"""Scores, 0 to 100, one a file: they tell where kube-scheduler would put a pod."""

from rescheduler.scheduling.scores.best_fit_bin_pack import BestFitBinPack as BestFitBinPack
from rescheduler.scheduling.scores.bin_packing import BinPacking as BinPacking
from rescheduler.scheduling.scores.image_locality import ImageLocality as ImageLocality
from rescheduler.scheduling.scores.inter_pod_affinity import InterPodAffinity as InterPodAffinity
from rescheduler.scheduling.scores.load_variation_risk_balancing import (
    LoadVariationRiskBalancing as LoadVariationRiskBalancing,
)
from rescheduler.scheduling.scores.low_risk_over_commitment import LowRiskOverCommitment as LowRiskOverCommitment
from rescheduler.scheduling.scores.node_affinity import AddedNodeAffinity as AddedNodeAffinity
from rescheduler.scheduling.scores.node_affinity import NodeAffinity as NodeAffinity
from rescheduler.scheduling.scores.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation as NodeResourcesBalancedAllocation,
)
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit as NodeResourcesFit
from rescheduler.scheduling.scores.node_usage import NodeUsage as NodeUsage
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread as PodTopologySpread
from rescheduler.scheduling.scores.safe_balancing import SafeBalancing as SafeBalancing
from rescheduler.scheduling.scores.taint_toleration import TaintToleration as TaintToleration
from rescheduler.scheduling.scores.target_load_packing import TargetLoadPacking as TargetLoadPacking
