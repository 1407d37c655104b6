"""Draws DeschedulerPolicies with one or two things in them changed: a value, a name, something left out or too much."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any, Final

import yaml

WHOLE: Final = yaml.safe_load("""\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
nodeSelector: "kubernetes.io/os=linux,zone in (a,b)"
maxNoOfPodsToEvictTotal: 30
maxNoOfPodsToEvictPerNode: 5
maxNoOfPodsToEvictPerNamespace: 7
gracePeriodSeconds: 10
evictionFailureEventNotification: true
metricsProviders:
- {source: KubernetesMetrics}
- source: Prometheus
  prometheus: {url: "http://127.0.0.1:9", authToken: {secretReference: {namespace: default, name: token}}}
profiles:
- name: first
  pluginConfig:
  - name: DefaultEvictor
    args:
      nodeFit: true
      nodeSelector: "a=b"
      minReplicas: 2
      minPodAge: 1h
      priorityThreshold: {value: 5}
      labelSelector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: In, values: [front]}]}
      namespaceLabelSelector: {matchLabels: {team: x}}
      noEvictionPolicy: Preferred
      podProtections:
        extraEnabled: [PodsWithPVC]
        defaultDisabled: [DaemonSetPods]
        config: {PodsWithPVC: {protectedStorageClasses: [{name: fast}]}}
  - {name: RemovePodsViolatingNodeTaints, args: {excludedTaints: ["a=b"], namespaces: {exclude: [x]}}}
  - {name: RemovePodsViolatingInterPodAntiAffinity, args: {labelSelector: {matchLabels: {app: web}}}}
  - name: RemovePodsViolatingNodeAffinity
    args: {nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]}
  - {name: RemovePodsHavingTooManyRestarts, args: {podRestartThreshold: 3, states: [Running]}}
  - name: RemoveFailedPods
    args: {reasons: [Evicted], exitCodes: [1], excludeOwnerKinds: [Job], minPodLifetimeSeconds: 60}
  - name: PodLifeTime
    args:
      maxPodLifeTimeSeconds: 60
      states: [Running]
      ownerKinds: {include: [ReplicaSet]}
      conditions: [{type: Ready, status: "False", minTimeSinceLastTransitionSeconds: 5}]
  plugins:
    deschedule:
      enabled: [RemovePodsViolatingNodeTaints, RemovePodsViolatingInterPodAntiAffinity,
        RemovePodsViolatingNodeAffinity, RemovePodsHavingTooManyRestarts, RemoveFailedPods, PodLifeTime]
    filter: {enabled: [DefaultEvictor]}
- name: second
  pluginConfig:
  - {name: DefaultEvictor, args: {evictDaemonSetPods: true}}
  - {name: RemoveDuplicates, args: {excludeOwnerKinds: [Job], namespaces: {include: [a]}}}
  - name: RemovePodsViolatingTopologySpreadConstraint
    args: {constraints: [DoNotSchedule], topologyBalanceNodeFit: false}
  - name: LowNodeUtilization
    args:
      thresholds: {cpu: 20, memory: 20.5}
      targetThresholds: {cpu: 50, memory: 50}
      useDeviationThresholds: false
      numberOfNodes: 1
      evictionLimits: {node: 3}
      metricsUtilization: {source: KubernetesMetrics}
  - {name: HighNodeUtilization, args: {thresholds: {pods: 10}, evictionModes: [OnlyThresholdingResources]}}
  plugins:
    balance:
      enabled: [RemoveDuplicates, RemovePodsViolatingTopologySpreadConstraint, LowNodeUtilization,
        HighNodeUtilization]
""")
"""Every field that there is has a value that is right."""
VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 2, 101, 1.5, 100.0, 2**31, 2**32, 2**64, "", "a", "1", "true", "1h", "a b",
    "DefaultEvictor", "PodLifeTime", "Prometheus", [], ["a"], [None], {}, {"a": "b"}, {"name": "a"},
)  # fmt: skip
SPOILT: Final = 0.25
"""How often a file is changed once more."""


def drawn_file(seed: int) -> str:
    """The same text for the same seed. JSON is YAML."""
    random, data = Random(f"file {seed}"), copy.deepcopy(WHOLE)
    _change(random, data)
    if random.random() < SPOILT:
        _change(random, data)
    return json.dumps(data)


def _change(random: Random, data: Any) -> None:
    *above, last = random.choice([path for path in _paths(data) if path])
    level = data
    for step in above:
        level = level[step]
    how = random.choice(("value", "value", "value", "drop", "more", "name", "twice"))
    if how == "value":
        level[last] = random.choice(VALUES)
    elif how == "drop":
        del level[last]
    elif isinstance(level, list):
        level.append(random.choice(VALUES) if how == "more" else copy.deepcopy(level[last]))
    elif how == "more":
        level[random.choice(("nodeFit", "labelSelector", "states", "a"))] = random.choice(VALUES)
    else:
        level[random.choice((str(last).capitalize(), str(last).lower(), f"{last}s"))] = level.pop(last)


def _paths(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(found for key, value in below for found in _paths(value, (*path, key)))]
