"""Every row of what descheduler accepts in silence, fails on in each cycle, or refuses: accepted, warned or refused."""

from __future__ import annotations

import pytest

from tests.unit.descheduler.reading.test_policy_file import TAINTS, TAINTS_ON, evictor, findings, profile, read, refusal

LOW = "thresholds: {cpu: 10}, targetThresholds: {cpu: 20}"
BALANCE = "{balance: {enabled: [LowNodeUtilization]}}"


def low(arguments: str, more: str = "") -> str:
    """LowNodeUtilization, enabled."""
    return profile(f"- {{name: LowNodeUtilization, args: {{{arguments}}}}}", BALANCE, more)


METRICS = "\nmetricsProviders: [{source: KubernetesMetrics}]"
MEASURED = "metricsUtilization: {source: KubernetesMetrics}"
AFFINITY = "- {name: RemovePodsViolatingNodeAffinity, args: {nodeAffinityType: [requiredAlways]}}"

WARNED = {
    "top level": (profile(TAINTS, TAINTS_ON, "tracing: {}"), "tracing: is no field here"),
    "mis-cased at the top": (profile(TAINTS, TAINTS_ON, "maxNoOfPodsToEvictPernode: 1"), "PerNode is meant"),
    "profile": ("profiles: [{name: p, nodeFit: true}]", "profiles[0].nodeFit: is no field here"),
    "pluginConfig entry": (
        profile("- {name: RemovePodsViolatingNodeTaints, nodeFit: true}", TAINTS_ON),
        "profiles[0].pluginConfig[0].nodeFit: is no field here",
    ),
    "preEvictionFilter": (profile(TAINTS, "{preEvictionFilter: {enabled: [x]}}"), "preevictionfilter is meant"),
    "a point's set": (profile(TAINTS, "{deschedule: {Enabled: [x]}}"), "Enabled: is no field here"),
    "presort": (profile(TAINTS, "{presort: {enabled: [x]}}"), "plugins.presort: is read and not used"),
    "disabled at filter": (profile(TAINTS, "{filter: {disabled: [x]}}"), "filter.disabled: is read and not used"),
    "disabled at sort": (profile(TAINTS, "{sort: {disabled: [x]}}"), "sort.disabled: is read and not used"),
    "nodeAffinityType that is none": (
        profile(AFFINITY, "{deschedule: {enabled: [RemovePodsViolatingNodeAffinity]}}"),
        "nodeAffinityType[0]: 'requiredAlways' is no type of node affinity",
    ),
    "config without extraEnabled": (
        evictor("{podProtections: {config: {PodsWithPVC: {protectedStorageClasses: [{name: a}]}}}}"),
        "podProtections.config: has no effect without extraEnabled",
    ),
    "metricsServer": (low(f"{LOW}, metricsUtilization: {{metricsServer: true}}", METRICS), "metricsServer: deprecated"),
    "every deprecated boolean": (evictor("{ignorePodsWithoutPDB: true}"), "ignorePodsWithoutPDB: deprecated"),
    "a source that is none": (
        low(f"{LOW}, metricsUtilization: {{source: Graphite}}", "\nmetricsProviders: [{source: Graphite}]"),
        "no source 'Graphite'; there are KubernetesMetrics, Prometheus: it ends with an error in every cycle",
    ),
    "a provider without source": ("metricsProviders: [{}]", "no plugin asks '' for usage"),
    "the evictor's nodeSelector is none": (
        evictor("{nodeSelector: 'a in b', nodeFit: true}"), "with nodeFit nobody is evicted",
    ),
    "a second document": ("maxNoOfPodsToEvictTotal: 3\n---\na: [", "a second document, and is read over"),
    "no source": (low(f"{LOW}, metricsUtilization: {{}}"), "metricsUtilization names no source: it ends with an error"),
    "another key with KubernetesMetrics": (
        low(
            "thresholds: {example.com/gpu: 1}, targetThresholds: {example.com/gpu: 2}, " + MEASURED, METRICS
        ),
        "example.com/gpu: KubernetesMetrics measures cpu, memory and pods alone: it ends with an error in every cycle",
    ),
}  # fmt: skip

REFUSED = {
    "arguments of a plugin that no point enables": (profile("- {name: PodLifeTime, args: {states: [X]}}"), "no state"),
    "a second entry": (
        profile(f"{TAINTS}\n- {{name: RemovePodsViolatingNodeTaints, args: {{a: 1}}}}", TAINTS_ON),
        "unknown argument",
    ),
    "target with other keys": (low("thresholds: {cpu: 1}, targetThresholds: {memory: 2}"), "other resources"),
    "below 0": (low("thresholds: {cpu: -1}, targetThresholds: {cpu: 2}"), "is no percentage"),
    "evictableNamespaces.include": (low(f"{LOW}, evictableNamespaces: {{include: [a]}}"), "only exclude"),
    "mode": (
        profile("- {name: HighNodeUtilization, args: {thresholds: {cpu: 1}, evictionModes: [No]}}"), "evictionModes",
    ),
    "constraint": (
        profile("- {name: RemovePodsViolatingTopologySpreadConstraint, args: {constraints: [Never]}}"), "constraints",
    ),
    "protection": (evictor("{podProtections: {extraEnabled: [Pods]}}"), "extraEnabled"),
    "protection twice": (evictor("{podProtections: {defaultDisabled: [DaemonSetPods, DaemonSetPods]}}"), "twice"),
    "state of restarts": (
        profile("- {name: RemovePodsHavingTooManyRestarts, args: {podRestartThreshold: 1, states: [Pending]}}"),
        "states",
    ),
    "a limit that is negative": (low(f"{LOW}, evictionLimits: {{node: -1}}"), "0 or more"),
    "metricsCollector with a provider": (
        "metricsCollector: {enabled: true}\nmetricsProviders: [{source: KubernetesMetrics}]", "together",
    ),
    "Prometheus with another key": (
        low(f"{LOW}, metricsUtilization: {{source: Prometheus, prometheus: {{query: q}}}}"), "MetricResource",
    ),
    "both source and metricsServer": (
        low(f"{LOW}, metricsUtilization: {{source: KubernetesMetrics, metricsServer: true}}", METRICS), "write source",
    ),
    "a query for KubernetesMetrics": (
        low(f"{LOW}, metricsUtilization: {{source: KubernetesMetrics, prometheus: {{query: q}}}}", METRICS), "leave it",
    ),
    "Prometheus without query": (
        low("thresholds: {MetricResource: 1}, targetThresholds: {MetricResource: 2}, "
            "metricsUtilization: {source: Prometheus}"), "prometheus.query: missing",
    ),
    "a storage class without name": (
        evictor(
            "{podProtections: {extraEnabled: [PodsWithPVC], config: {PodsWithPVC: {protectedStorageClasses: [{}]}}}}"
        ),
        "a class without name",
    ),
    "a condition that asks nothing": (
        profile("- {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 1, conditions: [{type: ''}]}}"), "empty; write",
    ),
    "an exit code above 32 bits": (profile("- {name: RemoveFailedPods, args: {exitCodes: [2147483648]}}"), "or less"),
    "an address that Go does not parse": (
        "metricsProviders: [{source: Prometheus, prometheus: {url: '127.0.0.1:9090'}}]", "has no scheme",
    ),
    "a token without reference": (
        "metricsProviders: [{source: Prometheus, prometheus: {url: x, authToken: {}}}]", "half a reference",
    ),
    "metricsUtilization of HighNodeUtilization": (
        profile("- {name: HighNodeUtilization, args: {thresholds: {cpu: 1}, metricsUtilization: {}}}"), "unknown",
    ),
    "an age above what Go counts": (evictor("{minPodAge: 9999999h}"), "longer than a Go duration"),
    "a word of YAML 1.1 as a name": (profile("- {name: PodLifeTime, args: {states: [No]}}"), "found false"),
    "nothing in a list of plugins": ("profiles: [{name: p, plugins: {balance: {enabled: [null]}}}]", "no plugin ''"),
    "a pluginConfig without name": ("profiles: [{name: p, pluginConfig: [{args: {}}]}]", "no plugin ''"),
    "mis-cased argument": (low(f"{LOW}, NumberOfNodes: 1"), "unknown argument"),
}  # fmt: skip

ACCEPTED = {
    "low above target, by deviation": low(
        "thresholds: {cpu: 30}, targetThresholds: {cpu: 20}, useDeviationThresholds: true"
    ),
    "args may be absent": profile(TAINTS, TAINTS_ON),
    "DefaultEvictor needs no entry": profile(
        TAINTS, TAINTS_ON.replace("{desch", "{filter: {enabled: [DefaultEvictor]}, desch")
    ),
    "an extended resource": low("thresholds: {example.com/gpu: 1.5}, targetThresholds: {example.com/gpu: 2}"),
    "no profile": "",
    "apiVersion and kind of arguments": evictor("{apiVersion: descheduler/v1alpha2, kind: DefaultEvictorArgs}"),
    "words and numbers of YAML 1.1": evictor("{nodeFit: on, minReplicas: 010}") + "maxNoOfPodsToEvictTotal: 1_000",
    "a float that is whole": profile(
        "- {name: RemovePodsHavingTooManyRestarts, args: {podRestartThreshold: 100.0}}",
        "{deschedule: {enabled: [RemovePodsHavingTooManyRestarts]}}",
    ),
    "fields that are set to nothing": "profiles: null\nmaxNoOfPodsToEvictTotal: null\nnodeSelector: null",
    "nothing as a profile": "profiles: [null]",
    "a limit above 32 bits": "maxNoOfPodsToEvictTotal: 18446744073709551615",
    "a map merged into another": "profiles: [&a {name: p}, {<<: *a}]",
    "a selector that compares": "nodeSelector: 'size>5'",
}  # fmt: skip


@pytest.mark.parametrize("row", WARNED)
def test_what_is_read_over_or_fails_in_each_cycle_is_warned_of(row: str) -> None:
    """The file is read; path and what is meant are named."""
    body, said = WARNED[row]
    assert said in findings(body)


@pytest.mark.parametrize("row", REFUSED)
def test_what_descheduler_would_not_start_with_is_refused(row: str) -> None:
    """With its place."""
    body, said = REFUSED[row]
    assert said in refusal(body)


@pytest.mark.parametrize("row", ACCEPTED)
def test_what_is_right_is_read_without_a_word(row: str) -> None:
    """No warning for what works."""
    assert read(ACCEPTED[row]).findings == ()
