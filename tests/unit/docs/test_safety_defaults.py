"""The page about safety says each careful default as it is."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.policy.fields.policy import Policy
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")
RAMP_UP = "`disruption.rampUp: {start: 1, window: 1h, doubleEvery: 24h}`, which is the default"
TOLD = {
    "mode": "| `mode` | `DryRun` |",
    "limits.maxEvictions": "| `limits.maxEvictions` | 20 |",
    "limits.inFlight": "| `limits.inFlight` | 10 |",
    "disruption.workloads.maxUnavailable": "| `disruption.workloads.maxUnavailable` | 10% |",
    "disruption.ownerKinds": "| `disruption.ownerKinds` | `[]` |",
    "disruption.singleReplicas": "| `disruption.singleReplicas`, `ownerless`, `localStorage`, `persistentVolumes`,",
    "disruption.ownerless": "`persistentVolumes`, `notReady` | `Deny` |",
    "disruption.localStorage": "`persistentVolumes`, `notReady` | `Deny` |",
    "disruption.notReady": "`persistentVolumes`, `notReady` | `Deny` |",
    "disruption.withoutBudget": "| `disruption.withoutBudget` | `Allow` |",
    "disruption.unsettled": "| `disruption.unsettled` | `Allow` |",
    "scope.systemNamespaces": "| `scope.systemNamespaces` | `Deny` |",
    "scope.minimumAge": "| `scope.minimumAge` | pods younger than 5m stay",
    "disruption.rates.perHour": "| 20 evictions an hour, 100 a day, 2 an hour of one workload",
    "disruption.rates.perDay": "| 20 evictions an hour, 100 a day, 2 an hour of one workload",
    "disruption.rates.perWorkloadPerHour": "| 20 evictions an hour, 100 a day, 2 an hour of one workload",
    "disruption.rampUp.start": RAMP_UP,
    "disruption.rampUp.window": RAMP_UP,
    "disruption.rampUp.doubleEvery": RAMP_UP,
    "health.settle": "| `settle`, `changedNodes` * | 5m, 10% |",
    "health.headRoom": "| `headRoom` * | 5% |",
    "disruption.breaker.failures": "`disruption.breaker.failures` (2) of the last `of` (10)",
    "disruption.backOff.first": "`disruption.backOff.first` (1h), then 2h, 4h, up to `longest` (24h)",
    "disruption.backOff.rest": "rests for `rest` (6h)",
}
VALUES: dict[str, Any] = {
    "mode": "DryRun", "limits.maxEvictions": 20, "limits.inFlight": 10, "disruption.workloads.maxUnavailable": "10%",
    "disruption.ownerKinds": [], "disruption.singleReplicas": "Deny", "disruption.ownerless": "Deny",
    "disruption.localStorage": "Deny", "disruption.notReady": "Deny", "disruption.withoutBudget": "Allow",
    "disruption.unsettled": "Allow", "scope.systemNamespaces": "Deny", "scope.minimumAge": "5m",
    "disruption.rates.perHour": 20, "disruption.rates.perDay": 100, "disruption.rates.perWorkloadPerHour": 2,
    "disruption.rampUp.start": 1, "disruption.rampUp.window": "1h", "disruption.rampUp.doubleEvery": "24h",
    "health.settle": "5m", "health.headRoom": 0.05, "disruption.breaker.failures": 2, "disruption.backOff.first": "1h",
    "disruption.backOff.rest": "6h",
}  # fmt: skip


@pytest.mark.parametrize("field", TOLD)
def test_the_page_says_the_default_that_is(field: str) -> None:
    """Words on the page, and the value in the policy that says nothing."""
    value: Any = Policy().model_dump(mode="json", by_alias=True)
    for step in field.split("."):
        value = value[step]
    assert value == VALUES[field]
    assert TOLD[field] in PAGE
