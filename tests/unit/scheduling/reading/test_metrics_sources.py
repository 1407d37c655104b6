"""Where schedulers read load, kept as data for an offer of providers."""

from __future__ import annotations

import pytest

from rescheduler.policy.fields.usage import Provider
from rescheduler.scheduling.reading.metrics_source import offer_of
from tests.unit.scheduling.configuration.reading import kube, only

VOLCANO = "actions: allocate\ntiers: [{plugins: [{name: usage, arguments: {thresholds: {cpu: 50}}}]}]\n"
PROM = {"address": "http://192.168.0.10:9090"}


@pytest.mark.parametrize(
    "block",
    [
        "type: prometheus\n  address: http://192.168.0.10:9090\n  tls: {insecureSkipVerify: 'false'}",
        "type: prometheus\n  address: http://192.168.0.10:9090\n  tls.insecureSkipVerify: 'false'",
        "address: http://192.168.0.10:9090\n  tls: {insecureSkipVerify: false}",
    ],
)
def test_volcanos_block_in_either_form(block: str) -> None:
    """Nested or flat, a truth value or its text: the same entry."""
    (found,) = only(f"{VOLCANO}metrics:\n  {block}\n  interval: 60s\n").metrics
    assert offer_of(found).providers == (Provider(name="Prometheus", args=PROM),)
    assert offer_of(found).interval_seconds == 60


def test_a_profile_that_goes_by_no_load_has_no_source() -> None:
    """A metrics block that no plugin looks at is not offered."""
    text = "actions: allocate\ntiers: [{plugins: [{name: gang}]}]\nmetrics: {type: prometheus, address: 'http://p'}\n"
    assert only(text).metrics == ()


def test_sources_of_load_aware_plugins_once_each() -> None:
    """Two plugins that read the same source make one."""
    plugins = ("TargetLoadPacking", "LoadVariationRiskBalancing")
    enabled = ", ".join(f"{{name: {plugin}}}" for plugin in plugins)
    entries = "".join(
        f"  - {{name: {plugin}, args: {{metricProvider: {{type: Prometheus, address: 'http://p:9090'}}}}}}\n"
        for plugin in plugins
    )
    text = kube(f"profiles:\n- plugins: {{multiPoint: {{enabled: [{enabled}]}}}}\n  pluginConfig:\n{entries}")
    (found,) = only(text).metrics
    assert offer_of(found).providers == (Provider(name="Prometheus", args={"address": "http://p:9090"}),)
