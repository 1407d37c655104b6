"""InfluxDB, Elasticsearch, SignalFx and Datadog as entries of a policy's usage.providers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.registration import provider_of
from rescheduler.policy.fields.usage import Provider
from rescheduler.policy.reading.errors import PolicyError

KEY = {"secret": "monitoring/keys/token"}
LEAST = {
    "InfluxDB": {"address": "http://influx:8086"},
    "Elasticsearch": {"address": "http://search:9200"},
    "SignalFx": {"token": KEY},
    "Datadog": {"apiKey": KEY, "applicationKey": KEY},
}


@pytest.mark.parametrize("name", LEAST)
def test_the_least_that_must_be_said(name: str) -> None:
    """It makes the provider of that name, and each part of it is needed."""
    entry = Provider.model_validate({"name": name, "args": LEAST[name]})
    assert provider_of(entry, ProviderContext(read_secret=lambda _: "x")).name == name
    for left_out in LEAST[name]:
        args = {key: value for key, value in LEAST[name].items() if key != left_out}
        with pytest.raises(PolicyError, match=f"{left_out}: missing"):
            provider_of(Provider.model_validate({"name": name, "args": args}), ProviderContext())


@pytest.mark.parametrize(
    ("name", "args", "place", "text"),
    [
        ("InfluxDB", {"flux": True}, "", "org and bucket"),
        ("InfluxDB", {"token": "abc"}, "token", "the secret itself is refused"),
        ("InfluxDB", {"token": KEY, "bearerToken": KEY}, "", "keep one"),
        ("InfluxDB", {"cpu": {"measurement": "cpu"}}, "cpu.field", "missing"),
        ("InfluxDB", {"cpu": {"measurement": "a\nb", "field": "x"}}, "cpu.measurement", "without line breaks"),
        ("InfluxDB", {"network": {"measurement": "n", "fields": [], "deviceTag": "d"}}, "network.fields", "1 to 8"),
        ("InfluxDB", {"lookback": "0"}, "lookback", "no time at all"),
        ("InfluxDB", {"hostPattern": "("}, "hostPattern", "no regular expression"),
        ("Elasticsearch", {"index": "a/_delete"}, "index", "names of indices"),
        ("Elasticsearch", {"index": "a?b"}, "index", "names of indices"),
        ("Elasticsearch", {"hostField": "host name"}, "hostField", "a field by its whole name"),
        ("Elasticsearch", {"cpuFields": []}, "cpuFields", "1 to 8"),
        ("Elasticsearch", {"disk": {"counters": ["a"], "device": "b", "exclude": "["}}, "disk.exclude", "no regular"),
        ("Elasticsearch", {"apiKey": KEY, "basicAuth": {"username": "u", "password": KEY}}, "", "keep one"),
        ("SignalFx", {"clusterName": 'a" OR "b'}, "clusterName", "letters, digits"),
        ("SignalFx", {"hostNameSuffix": ".x AND y"}, "hostNameSuffix", "letters, digits"),
        ("Datadog", {"site": "evil.example/path"}, "site", "datadoghq.eu"),
        ("Datadog", {"cpu": {"metric": "a{b}"}}, "cpu.metric", "letters, digits"),
        ("Datadog", {"headers": {"DD-Application-Key": "x"}}, "headers", "must not carry"),
    ],
)
def test_wrong_arguments_are_told_with_their_place(name: str, args: dict[str, object], place: str, text: str) -> None:
    """What was found, what was wanted, where."""
    entry = Provider.model_validate({"name": name, "args": {**LEAST[name], **args}})
    with pytest.raises(PolicyError) as caught:
        provider_of(entry, ProviderContext(), at=1)
    line = next(line for line in str(caught.value).splitlines() if text in line)
    assert line.startswith(f"usage.providers[1].args{'.' if place else ''}{place}: ")


def test_a_folder_of_the_policy_is_where_files_stand(tmp_path: Path) -> None:
    """A relative credential file is the policy's, not the working directory's."""
    entry = Provider.model_validate({"name": "SignalFx", "args": {"token": {"file": "token"}}})
    assert provider_of(entry, ProviderContext(folder=tmp_path)).name == "SignalFx"


def test_insecure_tls_is_warned_of() -> None:
    """Once, when the provider is made."""
    told: list[str] = []
    args = {**LEAST["Elasticsearch"], "tls": {"insecureSkipVerify": True}}
    provider_of(Provider.model_validate({"name": "Elasticsearch", "args": args}), ProviderContext(warn=told.append))
    assert len(told) == 1
    assert "ANY certificate" in told[0]


def test_nobody_pays_for_providers_that_are_not_used() -> None:
    """The registry alone loads none of their code."""
    code = (
        "import sys, rescheduler.adapters.metrics.registration, rescheduler.adapters.metrics as p; "
        "lazy = ('influxdb.influxdb', 'elasticsearch.elasticsearch', 'signalfx', 'datadog'); "
        "print([m for m in lazy if f'{p.__name__}.{m}' in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout.strip() == "[]"
