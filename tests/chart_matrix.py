"""Values of the chart in which every two settings meet."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.chart import Values

SEED = 8
CANDIDATES = 40
"""Rows that are tried for each row of the matrix; the one that covers most new pairs is taken."""

FORMS = {
    "kind": ("Deployment", "CronJob", "Job"),
    "mode": ("DryRun", "Approve", "Execute"),
    "guidance": ("Predict", "Hold", "Guide", "Taint"),
}
OPTIONS: Mapping[str, Sequence[Values]] = {
    "policy": (
        {},
        {"existingPolicy": {"configMap": "our-policy", "key": "p.yaml"}},
        {"policy": {"usage": {"providers": [{"name": "MetricsServer"}, {"name": "CustomMetrics"}]},
                    "schedulers": [{"configMap": "kube-system/volcano", "schedulerName": "volcano"}]}},
        {"policy": {"disruption": {"moveBy": [{"namespaces": ["shop"], "method": "Surge"}]}}},
    ),
    "scope": ({}, {"executeNamespaces": ["shop", "web"]}),
    "names": ({}, {"nameOverride": "mover", "commonLabels": {"team": "a"}, "commonAnnotations": {"note": "b"}},
              {"fullnameOverride": "the-mover", "holds": {"namespace": "rooms"}, "ledgerName": "book"}),
    "account": ({}, {"serviceAccount": {"name": "mover", "annotations": {"a": "b"}}},
                {"serviceAccount": {"create": False, "name": "given"}}, {"rbac": {"create": False}}),
    "replicas": ({}, {"replicas": 3}, {"leaderElection": {"enabled": True}}),
    "files": ({}, {"persistence": {"enabled": True, "accessModes": ["ReadWriteMany"], "storageClassName": "fast"}},
              {"persistence": {"enabled": True, "existingClaim": "ours", "accessModes": ["ReadWriteMany"]}}),
    "api": ({}, {"api": {"enabled": True, "viewerAccount": {"create": True}}},
            {"api": {"enabled": True, "address": "0.0.0.0:2021", "tlsSecret": "tls",
                     "viewers": [{"kind": "Group", "name": "dev"}], "approvers": [{"kind": "User", "name": "jane"}]},
             "telemetry": {"address": "[::]:9090"}}),
    "watched": ({}, {"serviceMonitor": {"enabled": True, "labels": {"release": "p"}},
                     "prometheusRule": {"enabled": True}, "grafanaDashboard": {"enabled": True}}),
    "network": ({}, {"networkPolicy": {"enabled": True}},
                {"networkPolicy": {"enabled": True, "from": [{"namespaceSelector": {}}],
                                   "apiServer": [{"ipBlock": {"cidr": "10.0.0.1/32"}}],
                                   "egress": [{"to": [{"podSelector": {}}]}]},
                 "podDisruptionBudget": {"enabled": True}}),
    "pods": ({}, {
        "image": {"digest": "sha256:" + "0" * 64}, "imagePullSecrets": [{"name": "pull"}],
        "priorityClassName": "normal", "nodeSelector": {"disk": "ssd"}, "tolerations": [{"operator": "Exists"}],
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
                                       "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}],
        "affinity": {"nodeAffinity": {}}, "podLabels": {"x": "y"}, "podAnnotations": {"x": "y"},
        "credentials": {"existingSecret": "prometheus"}, "extraArgs": ["--seed", "7"],
        "extraEnv": [{"name": "NO_COLOR", "value": "1"}], "extraVolumes": [{"name": "more", "emptyDir": {}}],
        "extraVolumeMounts": [{"name": "more", "mountPath": "/more"}],
    }),
    "guards": ({}, {name: {"create": False} for name in ("evictionGuard", "writeGuard", "guide", "nodeGuard")}),
    "autoscaler": ({}, {"autoscaler": {"scaleUp": "ProvisioningRequest", "scaleDown": "Annotate"}},
                   {"autoscaler": {"scaleUp": "CapacityBuffer", "scaleDown": "Taint"}},
                   {"autoscaler": {"scaleUp": "Placeholders"}}),
}  # fmt: skip
"""What is varied besides kind, mode and guidance; the first of each is the default."""

Setting = tuple[str, Any]
REFUSED: frozenset[frozenset[Setting]] = frozenset(
    {frozenset({("kind", kind), ("mode", "Approve")}) for kind in ("CronJob", "Job")}
    | {frozenset({("guidance", "Predict"), ("autoscaler", choice)}) for choice in (1, 2, 3)}
    | {frozenset({("guidance", "Predict"), ("policy", 3)})}
)
"""Settings that do not go together: nobody approves a Job, and Predict writes nothing but evictions."""


def matrix(per_form: int = 3) -> list[tuple[str, Values]]:
    """Named values: every kind, mode and guidance that go together, each with options that cover all pairs."""
    generator = random.Random(SEED)
    left, rows = _pairs(), []
    for form in _forms():
        for _ in range(per_form):
            best = max(_tried(form, generator), key=lambda row: len(left & _pairs_of(row)))
            left -= _pairs_of(best)
            rows.append(best)
    assert not left, f"pairs that no row has: {sorted(map(str, left))}"
    return [(_name(row), _values(row)) for row in rows]


def _forms() -> Iterator[dict[str, Any]]:
    for kind, mode, guidance in itertools.product(*FORMS.values()):
        form = {"kind": kind, "mode": mode, "guidance": guidance}
        if not _pairs_of(form) & REFUSED:
            yield form


def _tried(form: dict[str, Any], generator: random.Random) -> Iterator[dict[str, Any]]:
    """Some allowed choices of the options beside a form."""
    for _ in range(CANDIDATES):
        row = {**form, **{name: generator.randrange(len(some)) for name, some in OPTIONS.items()}}
        if not _pairs_of(row) & REFUSED:
            yield row


def _pairs() -> set[frozenset[Setting]]:
    """All pairs of two settings of different names, but for those that are refused."""
    choices: dict[str, Sequence[Any]] = {**FORMS, **{name: range(len(some)) for name, some in OPTIONS.items()}}
    return {
        frozenset(((one, a), (other, b)))
        for one, other in itertools.combinations(choices, 2)
        for a in choices[one]
        for b in choices[other]
    } - REFUSED


def _pairs_of(row: Mapping[str, Any]) -> set[frozenset[Setting]]:
    return set(map(frozenset, itertools.combinations(row.items(), 2)))


def _name(row: Mapping[str, Any]) -> str:
    options = "".join(str(row[name]) for name in OPTIONS)
    return f"{row['kind']}-{row['mode']}-{row['guidance']}-{options}"


def _values(row: Mapping[str, Any]) -> Values:
    values: Values = {name: row[name] for name in FORMS}
    for name, some in OPTIONS.items():
        values |= some[row[name]]
    return values
