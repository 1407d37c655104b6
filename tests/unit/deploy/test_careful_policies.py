"""What is deployed is as careful as what a policy that says nothing gets."""

from __future__ import annotations

import pytest
import yaml

from rescheduler.daemon.plugins import load_policy, parse_policy
from rescheduler.policy.fields.policy import Policy
from tests.paths import ROOT

HEAD = {"apiVersion": "rescheduler/v1alpha1", "kind": "ReschedulerPolicy"}


def of_the_chart() -> Policy:
    """The policy of its values."""
    values = yaml.safe_load((ROOT / "deploy/chart/rescheduler/values.yaml").read_text(encoding="utf-8"))
    return parse_policy(yaml.safe_dump({**HEAD, **values["policy"]}))


def of_the_manifests() -> Policy:
    """The policy of the daemon's folder with the mode that wins."""
    return load_policy([ROOT / "deploy/daemon/policy.yaml", ROOT / "deploy/daemon/mode.yaml"])


@pytest.mark.parametrize("read", [of_the_chart, of_the_manifests])
def test_chart_and_manifests_are_as_careful_as_the_defaults(read: object) -> None:
    """Rates, ages and the ramp-up; rates and ages are written, so that a round by ``plan`` keeps them too."""
    assert callable(read)
    found, default = read(), Policy()
    assert found.disruption.rates == default.disruption.rates
    assert found.disruption.rates.model_fields_set == set(type(default.disruption.rates).model_fields)
    assert found.disruption.ramp_up == default.disruption.ramp_up
    assert found.scope.minimum_age == default.scope.minimum_age
    assert "minimum_age" in found.scope.model_fields_set
    assert found.limits.max_evictions <= default.limits.max_evictions
    assert found.health == default.health
    assert found.mode is default.mode


@pytest.mark.parametrize("file", sorted(path.name for path in (ROOT / "policies").glob("*.yaml")))
def test_no_shipped_policy_turns_the_hourly_or_daily_rate_off(file: str) -> None:
    """Nor the age, nor the careful start; a job that moves whole needs more of one workload."""
    found = load_policy([ROOT / "policies" / file])
    assert found.disruption.rates.per_hour == 20
    assert found.disruption.rates.per_day == 100
    assert (found.disruption.rates.per_workload_per_hour is None) == (file == "volcano.yaml")
    assert found.disruption.ramp_up is not None
    assert found.scope.minimum_age >= 300
