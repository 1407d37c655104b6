"""Files are read as leniently as upstream reads them, and what it reads over is named."""

from __future__ import annotations

import json
from contextlib import suppress
from textwrap import dedent, indent

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rescheduler.composition.given_policies import is_theirs
from rescheduler.descheduler.plugins.node_rules import NodeTaintsArguments
from rescheduler.descheduler.plugins.pod_states import PodLifeTimeArguments
from rescheduler.descheduler.reading.file_fields import PolicyFields
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, read_descheduler_policy
from rescheduler.policy.reading.errors import PolicyError

HEAD = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n"


def read(body: str) -> DeschedulerPolicy:
    """A file with this body."""
    return read_descheduler_policy(HEAD + dedent(body), "d.yaml")


def profile(config: str, plugins: str = "{}", more: str = "") -> str:
    """One profile with these entries of pluginConfig."""
    entries = indent(dedent(config).strip(), "  ")
    return f"profiles:\n- name: p\n  pluginConfig:\n{entries}\n  plugins: {plugins}\n{more}"


def evictor(arguments: str) -> str:
    """One profile with these arguments of DefaultEvictor."""
    return profile(f"- {{name: DefaultEvictor, args: {arguments}}}")


def findings(body: str) -> str:
    """What is named of a file that is read."""
    return "\n".join(map(str, read(body).findings))


def refusal(body: str) -> str:
    """What is said of a file that is not."""
    with pytest.raises(PolicyError) as caught:
        read(body)
    return str(caught.value)


TAINTS = "- {name: RemovePodsViolatingNodeTaints}"
TWICE = "maxNoOfPodsToEvictTotal: 1\nmaxNoOfPodsToEvictTotal: 2"
TAINTS_ON = "{deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}"


def test_a_policy_of_two_plugins() -> None:
    """Arguments with their defaults, in the order in which plugins run, and limits."""
    policy = read(
        profile(
            """
            - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 60}}
            - name: RemovePodsViolatingNodeTaints
            """,
            "{deschedule: {enabled: [RemovePodsViolatingNodeTaints, PodLifeTime]}}",
            "maxNoOfPodsToEvictTotal: 7",
        )
    )
    (only,) = policy.profiles
    assert [name for name, _ in only.deschedule] == ["RemovePodsViolatingNodeTaints", "PodLifeTime"]
    assert isinstance(only.deschedule[0][1], NodeTaintsArguments)
    lifetime = only.deschedule[1][1]
    assert isinstance(lifetime, PodLifeTimeArguments)
    assert lifetime.max_pod_life_time_seconds == 60
    assert policy.fields.max_no_of_pods_to_evict_total == 7
    assert policy.findings == ()


def test_a_config_map_that_holds_a_policy_is_read_as_that_policy() -> None:
    """As the chart of upstream writes it."""
    inner = indent(HEAD + profile(TAINTS, TAINTS_ON), "    ")
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: d}}\ndata:\n  policy.yaml: |\n{inner}"
    assert len(read_descheduler_policy(text, "d.yaml").profiles) == 1
    assert is_theirs(text.encode())


def test_a_config_map_without_one_is_refused() -> None:
    """It says how many it holds."""
    with pytest.raises(PolicyError, match="holds 0 texts of kind DeschedulerPolicy"):
        read_descheduler_policy("kind: ConfigMap\ndata: {a: b}", "d.yaml")


READ_OVER = [
    (profile(TAINTS, TAINTS_ON, "nodeFit: true"), "nodeFit: is no field here, and is read over"),
    (profile(TAINTS, TAINTS_ON, "NodeSelector: a=b"), "read over; nodeSelector is meant"),
    (profile(TAINTS, "{evict: {enabled: [x]}}"), "plugins.evict: is no field here"),
    (profile(TAINTS, "{sort: {enabled: [x]}}"), "plugins.sort: is read and not used"),
    (profile(TAINTS, TAINTS_ON.replace("}}", ", disabled: [x]}}")), "disabled: is read and not used"),
    (profile(TAINTS), "no extension point enables RemovePodsViolatingNodeTaints: it does not run"),
    (profile(f"{TAINTS}\n{TAINTS}", TAINTS_ON), "a second entry of RemovePodsViolatingNodeTaints; only the first"),
    (
        profile(TAINTS, "{deschedule: {enabled: [RemovePodsViolatingNodeTaints, RemovePodsViolatingNodeTaints]}}"),
        "stands twice, so it runs twice",
    ),
    (profile(TAINTS, TAINTS_ON, TWICE), "stands twice; only the last one counts"),
    (evictor("{minReplicas: 1}"), "minReplicas: 1 has no effect"),
    (evictor("{nodeSelector: a=b}"), "has no effect without nodeFit: true"),
    (evictor("{evictDaemonSetPods: true}"), "deprecated; podProtections replaces it"),
    (
        evictor("{priorityThreshold: {value: 1}, evictSystemCriticalPods: true}"),
        "priorityThreshold: has no effect while the protection SystemCriticalPods is off",
    ),
    (
        evictor("{podProtections: {extraEnabled: [PodsWithoutPDB]}}"),
        "protects every pod",
    ),
    (
        profile(TAINTS, TAINTS_ON, "metricsProviders: [{source: KubernetesMetrics}]"),
        "no plugin asks KubernetesMetrics for usage",
    ),
    ("metricsProviders: [{source: Graphite}]", "no plugin asks Graphite for usage"),
    (profile(TAINTS, TAINTS_ON, "metricsCollector: {enabled: true}"), "metricsCollector: deprecated"),
    (
        profile(
            "- {name: LowNodeUtilization, args: {thresholds: {cpu: 1}, targetThresholds: {cpu: 2}, "
            "metricsUtilization: {source: KubernetesMetrics}}}",
            "{balance: {enabled: [LowNodeUtilization]}}",
        ),
        "asks KubernetesMetrics for usage, which no provider gives",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said"), READ_OVER)
def test_what_upstream_reads_over_is_accepted_and_named(body: str, said: str) -> None:
    """Each with its path; the file is read all the same."""
    assert said in findings(body)


def test_the_last_of_a_doubled_key_counts_and_the_first_entry_of_a_plugin() -> None:
    """As upstream's libraries do."""
    policy = read(
        profile(
            """
            - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 1}}
            - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 2}}
            """,
            "{deschedule: {enabled: [PodLifeTime]}}",
            TWICE,
        )
    )
    arguments = policy.profiles[0].deschedule[0][1]
    assert isinstance(arguments, PodLifeTimeArguments)
    assert (arguments.max_pod_life_time_seconds, policy.fields.max_no_of_pods_to_evict_total) == (1, 2)


REFUSED = [
    ("profiles: {}", "profiles"),
    ("maxNoOfPodsToEvictTotal: '1'", "maxNoOfPodsToEvictTotal"),
    ("maxNoOfPodsToEvictTotal: -1", "0 or more"),
    ("maxNoOfPodsToEvictTotal: 1.5", "a whole number"),
    ("nodeSelector: {a: b}", "nodeSelector"),
    ("nodeSelector: 'a in b'", "nodeSelector"),
    (profile("- {name: Nothing}"), "no plugin 'Nothing'; there are DefaultEvictor, HighNodeUtilization"),
    (profile(TAINTS, "{balance: {enabled: [RemovePodsViolatingNodeTaints]}}"), "it stands at deschedule"),
    (profile(TAINTS, "{deschedule: {enabled: RemovePodsViolatingNodeTaints}}"), "enabled"),
    (profile(TAINTS, "{deschedule: {enabled: [PodLifeTime]}}"), "PodLifeTime has no entry in pluginConfig"),
    (profile(TAINTS, "{filter: {enabled: [PodLifeTime]}}"), "PodLifeTime does not stand at filter"),
    (profile("- {name: RemovePodsViolatingNodeTaints, args: {IncludedTaints: [a]}}"), "unknown argument"),
    (profile("- {name: RemovePodsViolatingNodeTaints, args: {namespaces: {include: [a], exclude: [b]}}}"), "both"),
    (profile("- {name: RemovePodsViolatingNodeTaints, args: {includedTaints: [a], excludedTaints: [b]}}"), "both"),
    (profile("- {name: LowNodeUtilization, args: {thresholds: {cpu: 20}}}"), "other resources"),
    (profile("- {name: LowNodeUtilization}"), "thresholds: missing"),
    (profile("- {name: HighNodeUtilization, args: {thresholds: {cpu: 120}}}"), "no percentage"),
    (profile("- {name: HighNodeUtilization, args: {thresholds: {cpu: '20'}}}"), "not a number"),
    (profile("- {name: LowNodeUtilization, args: {thresholds: {cpu: 60}, targetThresholds: {cpu: 50}}}"), "above"),
    (profile("- {name: PodLifeTime, args: {}}"), "no criterion"),
    (profile("- {name: PodLifeTime, args: {states: [Sleeping]}}"), "no state 'Sleeping'"),
    (profile("- {name: RemovePodsHavingTooManyRestarts, args: {podRestartThreshold: 0}}"), "1 or more"),
    (profile("- {name: RemovePodsHavingTooManyRestarts}"), "podRestartThreshold"),
    (profile("- {name: RemovePodsViolatingNodeAffinity}"), "nodeAffinityType"),
    (evictor("{minPodAge: 5}"), "not a duration"),
    (evictor("{minPodAge: 5 minutes}"), "not a Go duration"),
    (evictor("{priorityThreshold: {value: 2000000001}}"), "above 2000000000"),
    (evictor("{priorityThreshold: {value: 1, name: a}}"), "both value and name"),
    (evictor("{labelSelector: {matchExpressions: [{key: a, operator: Has}]}}"), "'Has'"),
    (evictor("{labelSelector: {matchExpressions: [{key: a, operator: In}]}}"), "In with 0"),
    (evictor("{noEvictionPolicy: Never}"), "noEvictionPolicy"),
    (
        evictor("{ignorePvcPods: true, podProtections: {extraEnabled: [PodsWithPVC]}}"),
        "podProtections and ignorePvcPods together",
    ),
    ("metricsProviders: [{source: Prometheus}]", "needs the server's address"),
    ("metricsProviders: [{source: KubernetesMetrics}, {source: KubernetesMetrics}]", "stands in the list already"),
    (
        "metricsProviders: [{source: Prometheus, prometheus: {url: x, authToken: {secretReference: {name: a}}}}]",
        "half a reference",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said"), REFUSED)
def test_what_upstream_refuses_is_refused_with_its_place(body: str, said: str) -> None:
    """File, line and path, and what is wanted."""
    told = refusal(body)
    assert said in told
    assert told.startswith("d.yaml:")


@pytest.mark.parametrize(
    "text", ["", "[]", "a: [", "apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy", "&a [*a]"]
)
def test_no_policy_at_all_is_an_error(text: str) -> None:
    """Never a traceback."""
    with pytest.raises(PolicyError):
        read_descheduler_policy(text, "d.yaml")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(
    st.sampled_from([str(field.alias) for field in PolicyFields.model_fields.values()]), json_values, max_size=5
)


@given(fields)
@example({"profiles": [{"pluginConfig": [{"name": None, "args": {"a": None}}], "plugins": {"balance": {}}}]})
@example({"profiles": [None]})
def test_whatever_a_field_holds_the_file_is_read_or_refused(found: dict[str, object]) -> None:
    """No other exception leaves the reader."""
    text = {**found, "apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}  # JSON is YAML
    with suppress(PolicyError):
        read_descheduler_policy(json.dumps(text), "d.yaml")
