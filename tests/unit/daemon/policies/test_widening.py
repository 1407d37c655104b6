"""Whether a policy may reach further than another: field by field, and by the pods of a cluster."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.daemon.plugins import parse_policy
from rescheduler.daemon.policies.directions import DIRECTIONS
from rescheduler.daemon.policies.widening import more_movable, widenings
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.eligibility_context import DEFAULT_SCHEDULERS
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.known_fields import fields_of
from tests.builders import cluster, node, pod, workload

HEAD = {"apiVersion": "rescheduler/v1alpha1", "kind": "ReschedulerPolicy", "mode": "Execute"}


def policy(text: str = "", **fields: Any) -> Policy:
    """An executing policy with these fields."""
    return parse_policy(yaml.safe_dump({**HEAD, **(yaml.safe_load(text) or {}), **fields}))


def is_wider(old: str, new: str) -> bool:
    """Whether the change counts as reaching further."""
    return bool(widenings(policy(old), policy(new)))


TIGHTER = [
    ("mode: Execute", "mode: Approve"),
    ("mode: Approve", "mode: DryRun"),
    ("guidance: Guide", "guidance: Hold"),
    ("guidance: Taint", "guidance: Hold"),
    ("limits: {maxEvictions: 20}", "limits: {maxEvictions: 19}"),
    ("{}", "limits: {maxEvictionsPerNode: 5}"),
    ("limits: {maxEvictionsPerNamespace: 5}", "limits: {maxEvictionsPerNamespace: 4}"),
    ("limits: {margin: 0.1}", "limits: {margin: 0.2}"),
    ("scope: {priorityBelow: 100}", "scope: {priorityBelow: 99}"),
    ("{}", "scope: {priorityBelow: 100}"),
    ("scope: {minimumAge: 5m}", "scope: {minimumAge: 10m}"),
    ("{}", "scope: {namespaces: {exclude: [kube-system, prod]}}"),
    ("{}", "scope: {namespaces: {include: [dev]}}"),
    ("scope: {namespaces: {include: [dev, test]}}", "scope: {namespaces: {include: [test]}}"),
    ("scope: {labelSelector: {matchLabels: {a: b}}}", "scope: {labelSelector: {matchLabels: {a: b, c: d}}}"),
    ("scope: {labelSelector: {matchExpressions: [{key: a, operator: Exists}]}}",
     "scope: {labelSelector: {matchLabels: {a: b}}}"),
    ("scope: {labelSelector: {matchExpressions: [{key: a, operator: In, values: [x, y]}]}}",
     "scope: {labelSelector: {matchExpressions: [{key: a, operator: In, values: [y]}]}}"),
    ("scope: {labelSelector: {matchExpressions: [{key: a, operator: NotIn, values: [x]}]}}",
     "scope: {labelSelector: {matchExpressions: [{key: a, operator: NotIn, values: [x, y]}]}}"),
    ("scope: {labelSelector: {matchExpressions: [{key: a, operator: NotIn, values: [x]}]}}",
     "scope: {labelSelector: {matchLabels: {a: y}}}"),
    ("{}", "scope: {nodeSelector: {pool: a}}"),
    ("{}", "scope: {namespaceSelector: {matchLabels: {team: a}}}"),
    ("scope: {systemNamespaces: Allow}", "{}"),
    ("disruption: {notReady: Allow}", "disruption: {notReady: Deny}"),
    ("{}", "disruption: {withoutBudget: Deny}"),
    ("disruption: {ownerKinds: [{group: a.io, kind: A}, {group: b.io, kind: B}]}",
     "disruption: {ownerKinds: [{group: b.io, kind: B}]}"),
    ("disruption: {persistentVolumes: Allow}", "disruption: {persistentVolumes: {storageClasses: [a]}}"),
    ("disruption: {persistentVolumes: {storageClasses: [a, b]}}",
     "disruption: {persistentVolumes: {storageClasses: [b]}}"),
    ("disruption: {persistentVolumes: {storageClasses: [a]}}", "disruption: {persistentVolumes: Deny}"),
    ("disruption: {singleReplicas: Allow}", "disruption: {singleReplicas: Deny}"),
    ("disruption: {workloads: {maxUnavailable: 20%}}", "disruption: {workloads: {maxUnavailable: 10%}}"),
    ("disruption: {workloads: {maxUnavailable: 20%}}", "disruption: {workloads: {maxUnavailable: 0}}"),
    ("disruption: {workloads: {maxUnavailable: 2}}", "disruption: {workloads: {maxUnavailable: 1}}"),
    ("{}", "disruption: {budgets: [{name: a, maxMoving: 1}]}"),
    ("disruption: {budgets: [{maxMoving: 5}]}",
     "disruption: {budgets: [{name: new, rate: {maxEvictions: 1, window: 1h}}, {maxMoving: 4}]}"),
    ("disruption: {budgets: [{rate: {maxEvictions: 9, window: 1h}}]}",
     "disruption: {budgets: [{rate: {maxEvictions: 8, window: 2h}}]}"),
    ("disruption: {breaker: {failures: 3}}", "disruption: {breaker: {failures: 2}}"),
    ("disruption: {breaker: {failures: 0}}", "disruption: {breaker: {failures: 5}}"),
    ("disruption: {backOff: {perDay: 0}}", "disruption: {backOff: {perDay: 9}}"),
    ("disruption: {rampUp: unlimited}", "disruption: {rampUp: {start: 5}}"),
    ("disruption: {rampUp: unlimited}", "{}"),
    ("disruption: {rampUp: {start: 5}}", "disruption: {rampUp: }"),
    ("scope: {minimumAge: 0s}", "{}"),
    ("disruption: {rates: {perHour: unlimited}}", "disruption: {rates: {perHour: 1000}}"),
    ("disruption: {rates: {perHour: 1000}}", "disruption: {rates: {perHour: }}"),
    ("disruption: {rates: {perDay: unlimited}}", "{}"),
    ("{}", "disruption: {rates: {perDay: 99}}"),
    ("disruption: {rates: {perWorkloadPerHour: 3}}", "disruption: {rates: {}}"),
    ("disruption: {rampUp: {start: 5}}", "disruption: {rampUp: {start: 4, window: 2h}}"),
    ("health: {settle: 0}", "health: {settle: 1m}"),
    ("health: {apiErrors: 0}", "health: {apiErrors: 0.5}"),
    ("health: {apiErrors: 0.5}", "health: {apiErrors: 0.4}"),
    ("health: {headRoom: 5%}", "health: {headRoom: 10%}"),
    ("{}", "stop: {file: /stop}"),
    ("leaderElection: {enabled: false}", "leaderElection: {enabled: true}"),
    ("leaderElection: {enabled: false}", "{}"),
    ("objectives: [{name: MakeRoom}, {name: FaultDomains}]", "objectives: [{name: MakeRoom}]"),
    ("objectives: [{name: MakeRoom}]", "objectives: [{name: MakeRoom, moveCost: 2}]"),
    ("triggers: [{name: OnDemand}, {name: Schedule, args: {every: 1m}}]", "triggers: [{name: OnDemand}]"),
    ("{}", "usage: {trust: {maximumAge: 1m}}"),
    ("autoscaler: {scaleUp: Placeholders}", "autoscaler: {scaleUp: Leave}"),
    ("approval: {expires: 2h}", "approval: {expires: 1h}"),
]  # fmt: skip


@pytest.mark.parametrize(("loose", "tight"), TIGHTER)
def test_one_way_is_free_and_the_other_one_is_not(loose: str, tight: str) -> None:
    """To the tighter policy no word is needed, to the looser one it is."""
    assert not is_wider(loose, tight)
    assert is_wider(tight, loose)


NEITHER = [
    ("guidance: Hold", "guidance: Predict"),
    ("guidance: Guide", "guidance: Taint"),
    ("disruption: {workloads: {maxUnavailable: 1}}", "disruption: {workloads: {maxUnavailable: 1%}}"),
    ("disruption: {budgets: [{namespaces: [a], maxMoving: 1}]}",
     "disruption: {budgets: [{namespaces: [b], maxMoving: 1}]}"),
    ("disruption: {budgets: [{maxMoving: 1, per: Node}]}", "disruption: {budgets: [{maxMoving: 1}]}"),
    ("disruption: {budgets: [{maxMoving: 1}]}", "disruption: {budgets: [{maxUnavailable: 1}]}"),
    ("disruption: {budgets: [{schedule: 0 1 * * *, duration: 1h, timeZone: UTC}]}",
     "disruption: {budgets: [{schedule: 0 2 * * *, duration: 1h, timeZone: UTC}]}"),
    ("disruption: {rampUp: {start: 5, window: 1h}}", "disruption: {rampUp: {start: 4, window: 30m}}"),
    ("objectives: [{name: MakeRoom}, {name: FaultDomains}]", "objectives: [{name: FaultDomains}, {name: MakeRoom}]"),
    ("objectives: [{name: MakeRoom}]", "objectives: [{name: FaultDomains}]"),
    ("triggers: [{name: OnDemand}]", "triggers: [{name: NodesAdded}]"),
    ("hold: {namespace: a}", "hold: {namespace: b}"),
    ("ledger: {name: a}", "ledger: {name: b}"),
    ("leaderElection: {name: a}", "leaderElection: {name: b}"),
    ("stop: {file: /a}", "stop: {file: /b}"),
    ("schedulers: [{schedulerName: a}]", "schedulers: [{schedulerName: b}]"),
    ("scope: {labelSelector: {matchLabels: {a: b}}}", "scope: {labelSelector: {matchLabels: {a: c}}}"),
    ("scope: {namespaces: {include: [a]}}", "scope: {namespaces: {include: [b]}}"),
    ("disruption: {moveTogether: a}", "{}"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), NEITHER)
def test_what_cannot_be_compared_needs_a_word_both_ways(one: str, other: str) -> None:
    """Not known to be tighter counts as looser."""
    assert is_wider(one, other)
    assert is_wider(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{}", "metadata: {name: other}"),
        ("{}", 'metadata: {acknowledged: "0123456789ab"}'),
        ("{}", "limits: {deadline: 30s}"),
        ("{}", "leaderElection: {leaseDuration: 60s, renewDeadline: 40s, retryPeriod: 5s}"),
        ("{}", 'telemetry: {address: "0.0.0.0:8080"}'),
    ],
)
def test_what_moves_no_pod_is_free_both_ways(one: str, other: str) -> None:
    """Names, planning time, addresses."""
    assert not is_wider(one, other)
    assert not is_wider(other, one)


def test_a_dry_run_reaches_nothing() -> None:
    """Whatever else it says: to make everything stop needs nobody's yes."""
    assert not is_wider("mode: Execute", "{mode: DryRun, limits: {maxEvictions: 1000}}")
    assert is_wider("{mode: DryRun, limits: {maxEvictions: 1000}}", "{mode: Execute, limits: {maxEvictions: 1000}}")


def test_the_words_name_field_and_both_values() -> None:
    """As a file would have them, and all at once."""
    words = widenings(
        policy("{}"), policy("{limits: {maxEvictions: 50}, scope: {minimumAge: 5m}, hold: {deadline: 2m}}")
    )
    assert words == ("limits.maxEvictions from 20 to 50", "hold.deadline from 60s to 2m")
    words = widenings(policy("limits: {maxEvictionsPerNode: 2}"), policy("{}"))
    assert words == ("limits.maxEvictionsPerNode from 2 to none",)
    words = widenings(policy("{}"), policy("disruption: {rates: {perHour: unlimited}, rampUp: unlimited}"))
    ramp_up = '{"start": 1, "window": "1h", "doubleEvery": "24h"}'
    assert words == (
        "disruption.rates.perHour from 20 to unlimited", f"disruption.rampUp from {ramp_up} to unlimited"
    )  # fmt: skip


def test_a_changed_file_that_the_policy_names_is_told() -> None:
    """What it means is not known; that it was not named before is told by the field."""
    same = policy("schedulers: [{file: /a.yaml}]")
    assert widenings(same, same, files=({"/a.yaml": b"1"}, {"/a.yaml": b"1"})) == ()
    words = widenings(same, same, files=({"/a.yaml": b"1"}, {"/a.yaml": b"2"}))
    assert words == ("schedulers: the content of /a.yaml has changed",)


OWNERS = (("a", "dev"), ("b", "prod"), ("c", "kube-system"))
CLUSTER = cluster(
    node("n1", "16"), node("n2", "16"),
    *[pod(f"{name}-{i}", "1", node="n1", owner=name, namespace=namespace)
      for name, namespace in OWNERS for i in range(2)],
    *[workload(name, 2, namespace=namespace) for name, namespace in OWNERS],
)  # fmt: skip


def test_pods_are_counted_by_namespace() -> None:
    """Those that may be moved now and could not before."""
    narrow, wide = policy("scope: {namespaces: {include: [dev]}}"), policy("scope: {systemNamespaces: Allow}")
    assert more_movable(narrow, wide, CLUSTER, DEFAULT_SCHEDULERS) == {"prod": 2, "kube-system": 2}
    words = widenings(narrow, wide, cluster=CLUSTER)
    assert words[0] == "+4 pods in 2 namespaces (2 in kube-system, 2 in prod)"
    assert widenings(wide, narrow, cluster=CLUSTER) == ()


def test_out_of_a_dry_run_all_pods_are_more() -> None:
    """It moved none."""
    words = widenings(policy("mode: DryRun"), policy("{}"), cluster=CLUSTER)
    assert words[0] == "+4 pods in 2 namespaces (2 in dev, 2 in prod)"
    assert words[1] == "mode from DryRun to Execute"


def test_a_closed_window_does_not_hide_pods() -> None:
    """What is forbidden just now is within reach all the same, under both policies."""
    closed = "{schedule: 0 0 29 2 *, duration: 1h, timeZone: UTC}"
    narrow = policy(f"{{scope: {{namespaces: {{include: [dev]}}}}, disruption: {{budgets: [{closed}]}}}}")
    wide = policy(f"{{scope: {{systemNamespaces: Allow}}, disruption: {{budgets: [{closed}]}}}}")
    assert more_movable(narrow, wide, CLUSTER, DEFAULT_SCHEDULERS).total() == 4


def test_every_direction_is_that_of_a_field() -> None:
    """A field that is renamed would otherwise silently count as unknown."""
    known = {".".join(map(str, path)) for path, _ in fields_of(Policy)}
    levels = {name.rsplit(".", depth)[0] for name in known for depth in range(1, name.count(".") + 1)}
    assert set(DIRECTIONS) <= known | levels


NAMESPACES = st.lists(st.sampled_from(["dev", "prod", "kube-system"]), unique=True, max_size=3)
CHOICES = st.one_of(
    st.builds(lambda names: {"exclude": names}, NAMESPACES),
    st.builds(lambda names: {"include": names}, NAMESPACES.filter(bool)),
)
SCOPES = st.fixed_dictionaries(
    {},
    optional={
        "namespaces": CHOICES,
        "systemNamespaces": st.sampled_from(["Deny", "Allow"]),
        "namespaceSelector": st.sampled_from(
            [{"matchLabels": {"kubernetes.io/metadata.name": "dev"}}, {"matchLabels": {"team": "a"}}]
        ),
        "minimumAge": st.sampled_from(["0s", "1m", "24h"]),
        "priorityBelow": st.sampled_from([0, 1, 1000]),
        "labelSelector": st.sampled_from(
            [{"matchLabels": {"app": "a"}}, {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
             {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}]
        ),
    },
).filter(lambda scope: scope.get("namespaces") != {"include": ["kube-system"]})  # fmt: skip
"""A scope with an include of kube-system alone leaves nothing, and is refused."""


@given(old=SCOPES, new=SCOPES)
def test_what_passes_without_a_word_moves_no_pod_more(old: dict[str, Any], new: dict[str, Any]) -> None:
    """The words and the count are two ways to ask: where no field says so, no pod may say otherwise."""
    before, after = policy(scope=old), policy(scope=new)
    if not widenings(before, after):
        assert not more_movable(before, after, CLUSTER, DEFAULT_SCHEDULERS)
        movable = decide_eligibility(CLUSTER, after, is_daemon=True).movable
        assert set(movable) <= set(decide_eligibility(CLUSTER, before, is_daemon=True).movable)
