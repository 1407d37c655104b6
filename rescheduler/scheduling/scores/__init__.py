"""Scores, 0 to 100, one a file: they tell where a pod's scheduler would put it. Volcano's names are in lower case."""

from typing import Final

from rescheduler.extension_points.plugin_list import PluginList
from rescheduler.scheduling.plugin import SchedulerScore

_HERE = "rescheduler.scheduling.scores"
SCORES: Final[PluginList[SchedulerScore]] = PluginList(
    "rescheduler.scores",
    own={
        "NodeResourcesFit": f"{_HERE}.node_resources_fit:NodeResourcesFit",
        "NodeResourcesLeastAllocated": f"{_HERE}.node_resources_fit:NodeResourcesLeastAllocated",
        "NodeResourcesMostAllocated": f"{_HERE}.node_resources_fit:NodeResourcesMostAllocated",
        "RequestedToCapacityRatio": f"{_HERE}.requested_to_capacity_ratio:RequestedToCapacityRatio",
        "NodeAffinity": f"{_HERE}.node_affinity:NodeAffinity",
        "InterPodAffinity": f"{_HERE}.inter_pod_affinity:InterPodAffinity",
        "NodeResourcesBalancedAllocation": (
            f"{_HERE}.node_resources_balanced_allocation:NodeResourcesBalancedAllocation"
        ),
        "TaintToleration": f"{_HERE}.taint_toleration:TaintToleration",
        "ImageLocality": f"{_HERE}.image_locality:ImageLocality",
        "PodTopologySpread": f"{_HERE}.pod_topology_spread:PodTopologySpread",
        "VolumeBinding": f"{_HERE}.volume_binding:VolumeBinding",
        "TargetLoadPacking": f"{_HERE}.target_load_packing:TargetLoadPacking",
        "LoadVariationRiskBalancing": f"{_HERE}.load_variation_risk_balancing:LoadVariationRiskBalancing",
        "LowRiskOverCommitment": f"{_HERE}.low_risk_over_commitment:LowRiskOverCommitment",
        "BestFitBinPack": f"{_HERE}.best_fit_bin_pack:BestFitBinPack",
        "SafeBalancing": f"{_HERE}.safe_balancing:SafeBalancing",
        "binpack": f"{_HERE}.bin_packing:BinPacking",
        "usage": f"{_HERE}.node_usage:NodeUsage",
    },
    wanted=("name", "score", "explain"),
)
