"""Policies that runs are made under: careful ones, each a little different by its seed, defaults, and careless ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

import yaml

from rescheduler.daemon.plugins import parse_policy
from rescheduler.policy.fields.policy import Policy
from tests.paths import ROOT
from tests.soak.world.events.odd_pods import CUSTOM

HEAD: Final = {"apiVersion": "rescheduler/v1alpha1", "kind": "ReschedulerPolicy", "mode": "Execute"}
CHART: Final = ROOT / "deploy/chart/rescheduler/values.yaml"

HEALTH = (
    "{settle: 5m, headRoom: 5%}",
    "{settle: 1m, pendingRising: 5m, calm: 2m}",
    "{settle: 0s, pendingRising: 0s, calm: 0s, headRoom: 0%}",
    "{settle: 0s, pendingRising: 0s, calm: 1m, changedNodes: 0%}",
)
"""Without the waits nearly everything would be refused for the cluster's health, and no other question be asked."""


def policy_text(random: Random, guidance: str | None = None) -> str:
    """Most are careful by what they write; the others leave it to the defaults, or to nothing, or allow much."""
    careful = _careful(random, guidance)
    kind = random.choices(tuple(OTHERS), (6, 1, 1, 1, 2))[0]
    given = yaml.safe_load(careful)
    kept = {name: given[name] for name in ("objectives", "guidance", "hold", "health")}
    other = OTHERS[kind]
    return careful if other is None else yaml.safe_dump({**HEAD, **kept, **other(random)}, sort_keys=False)


def _careful(random: Random, guidance: str | None) -> str:
    """The usual limits, or stricter ones, with the rest drawn. ``guidance`` None: drawn too."""
    at_once = random.choice((10, 5, 3))
    per_hour = random.choice((20, 20, 10))
    drawn = random.choices(("Predict", "Hold", "Guide", "Taint"), (30, 45, 15, 10))[0]
    guidance = guidance or drawn
    return f"""\
apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
metadata: {{name: soak}}
mode: Execute
objectives:
- name: MakeRoom
{random.choice(("", "- name: EmptyNodes", "- name: SchedulerScore"))}
scope:
  namespaces: {random.choice(("{}", "{exclude: [kube-system]}", "{exclude: [search]}"))}
  minimumAge: {random.choice(("10m", "5m", "1m"))}
limits:
  maxEvictions: {random.choice((20, 10, 5))}
  deadline: 10s
disruption:
  workloads: {{maxUnavailable: {random.choice(("10%", "10%", "1", "25%"))}}}
  unsettled: Deny
  quiet: 5m
  budgets:
  - {{name: at once, maxMoving: {at_once}, rate: {{maxEvictions: {per_hour}, window: 1h}}}}
  - {{name: a day, rate: {{maxEvictions: 100, window: 24h}}}}
  - {{name: workload, per: Workload, rate: {{maxEvictions: 2, window: 1h}}}}
  - {{name: node, per: Node, maxMoving: 2}}
  - {{name: namespace, per: Namespace, maxMoving: 5}}
{_zone_budget(random)}
  breaker: {{failures: {random.choice((2, 2, 8))}, of: 10, repayWithin: 5m, oldest: 15m, rest: 1h}}
  backOff: {{first: 1h, longest: 24h, rest: {random.choice(("6h", "1h", "10m"))}}}
{_ramp_up(random)}
health: {random.choice(HEALTH)}
guidance: {guidance}
hold: {{deadline: {random.choice(("60s", "120s"))}}}
"""


def _zone_budget(random: Random) -> str:
    return random.choice(("", "  - {name: shop, labelSelector: {matchLabels: {app: a1}}, maxMoving: 1}"))


def _ramp_up(random: Random) -> str:
    slow = "  rampUp: {start: 5, window: 1h, doubleEvery: 24h}"
    return random.choice((*["  rampUp: unlimited"] * 4, slow))


def _of_the_chart(_: Random) -> Mapping[str, object]:
    """As its values have it, carried out."""
    found: dict[str, object] = yaml.safe_load(CHART.read_text(encoding="utf-8"))["policy"]
    return {**found, "metadata": {"name": "chart"}}


CARELESS: Final[Mapping[str, Any]] = {
    "metadata": {"name": "careless"},
    "scope": {"minimumAge": "0s"},
    "limits": {"maxEvictions": 50},
    "disruption": {
        "workloads": {"maxUnavailable": "50%"},
        "singleReplicas": "Allow",
        "localStorage": "Allow",
        "rates": {"perHour": "unlimited", "perDay": "unlimited", "perWorkloadPerHour": "unlimited"},
        "rampUp": "unlimited",
        "breaker": {"failures": 0},
        "backOff": {"first": "1s", "longest": "1s", "rest": "0s", "perDay": 0},
    },
}
WIDE_SCOPE: Final = {"systemNamespaces": "Allow"}
WIDE: Final[Mapping[str, object]] = {
    "ownerKinds": [{"group": group, "kind": kind} for group, kind in (*CUSTOM, ("batch.example.com", "Workflow"))],
    "notReady": "Allow",
    "persistentVolumes": "Allow",
    "localStorage": "Allow",
    "ownerless": "Allow",
    "withoutBudget": "Deny",
}
"""What makes pods eligible that no policy should reach without a reason; of ``withoutBudget`` Allow is the default."""


def _wide(random: Random) -> Mapping[str, object]:
    """Careless in who may be moved: any of these, under limits that are the defaults, or that are none."""
    disruption = {name: value for name, value in WIDE.items() if random.random() < (0.15 if value == "Deny" else 0.6)}
    scope = {"minimumAge": "1m", **(WIDE_SCOPE if random.random() < 0.6 else {})}
    limits = CARELESS["disruption"] if random.random() < 0.5 else {"rampUp": "unlimited"}
    return {"metadata": {"name": "wide"}, "scope": scope, "disruption": {**limits, **disruption}}


OTHERS: Final[Mapping[str, Callable[[Random], Mapping[str, object]] | None]] = {
    "careful": None,
    "defaults": lambda _: {"metadata": {"name": "defaults"}},
    "chart": _of_the_chart,
    "careless": lambda _: CARELESS,
    "wide": _wide,
}


def policy_of(text: str) -> Policy:
    """The policy that a text means."""
    return parse_policy(text, "soak.yaml")
