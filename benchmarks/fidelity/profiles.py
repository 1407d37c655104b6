"""The configuration of the scheduler under test: one text, read by kube-scheduler and by us."""

from __future__ import annotations

PROBE = "probe"
"""Profile of the pods that find out whether the scheduler has seen a world; it looks at node labels and claims only."""
MEASURED = (
    "default-scheduler", "least-allocated", "most-allocated", "capacity-ratio", "changed-weights", "few-plugins",
    "added-affinity", "hard-affinity", "own-wishes-only", "default-spread", "ignored-resources",
)  # fmt: skip

TEXT = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: least-allocated
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: LeastAllocated
        resources: [{name: cpu, weight: 3}, {name: memory, weight: 1}, {name: example.com/gpu, weight: 5}]
- schedulerName: most-allocated
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}, {name: memory, weight: 2}, {name: ephemeral-storage, weight: 1}]
  - name: NodeResourcesBalancedAllocation
    args:
      resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}, {name: example.com/gpu, weight: 1}]
- schedulerName: capacity-ratio
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: example.com/gpu, weight: 5}, {name: cpu, weight: 1}, {name: memory, weight: 2}]
        requestedToCapacityRatio:
          shape: [{utilization: 0, score: 2}, {utilization: 35, score: 0}, {utilization: 100, score: 10}]
  plugins:
    score: {disabled: [{name: ImageLocality}]}
- schedulerName: changed-weights
  plugins:
    multiPoint: {enabled: [{name: ImageLocality, weight: 7}, {name: TaintToleration, weight: 1}]}
    score:
      disabled: [{name: InterPodAffinity}, {name: NodeAffinity}]
      enabled: [{name: InterPodAffinity, weight: 5}, {name: NodeAffinity, weight: 11}]
- schedulerName: few-plugins
  plugins:
    filter: {disabled: [{name: TaintToleration}, {name: NodeUnschedulable}, {name: NodePorts}]}
    score: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity, weight: 3}, {name: ImageLocality, weight: 2}]}
- schedulerName: added-affinity
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: Exists}]}]
        preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 40, preference: {matchExpressions: [{key: example.com/rack, operator: In, values: ['1']}]}}
        - {weight: 20, preference: {matchExpressions: [{key: example.com/rack, operator: Gt, values: ['1']}]}}
- schedulerName: hard-affinity
  pluginConfig:
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 100}
- schedulerName: own-wishes-only
  pluginConfig:
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}
- schedulerName: default-spread
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}
      - {topologyKey: kubernetes.io/hostname, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}
- schedulerName: ignored-resources
  pluginConfig:
  - name: NodeResourcesFit
    args: {ignoredResources: [example.com/gpu], ignoredResourceGroups: [devices.example.com]}
- schedulerName: probe
  plugins:
    filter: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity}, {name: VolumeBinding}]}
    score: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity}]}
"""
