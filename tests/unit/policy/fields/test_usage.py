"""What a policy says about measured load: providers, store, trust and the REST server."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.daemon.plugins import load_policy, policy_sentences
from rescheduler.policy.fields.metrics_access import Credential
from tests.unit.policy.policies import HEAD, policy, problem


def test_every_field_is_read() -> None:
    """Each field ends where it belongs, durations in seconds."""
    read = policy("""
        usage:
          providers: [{name: Prometheus, args: {address: "http://127.0.0.1:9090"}}, {name: MetricsServer}]
          interval: 30s
          podInterval: 2m
          windows: [5m, 1h]
          store: {path: /var/usage.sqlite, keep: 2h}
          trust: {maximumAge: 1m, minimumSamples: 5, coverage: 0.5, disagreement: 0.1}
          api: {address: "10.0.0.1:2020", bearerToken: {file: /token}}
    """).usage
    assert [(one.name, one.args) for one in read.providers] == [
        ("Prometheus", {"address": "http://127.0.0.1:9090"}),
        ("MetricsServer", {}),
    ]
    assert (read.interval, read.pod_interval, read.windows) == (30.0, 120.0, (300.0, 3600.0))
    assert read.store is not None
    assert (read.store.path, read.store.keep) == ("/var/usage.sqlite", 7200.0)
    assert (read.trust.maximum_age, read.trust.minimum_samples, read.trust.coverage) == (60.0, 5, 0.5)
    assert (read.api.address, read.api.bearer_token) == ("10.0.0.1:2020", Credential(file="/token"))


def test_without_it_nothing_is_measured_and_nobody_is_let_in() -> None:
    """No provider, no store, and a server that listens on this machine alone."""
    defaults = policy().usage
    assert (defaults.providers, defaults.store, defaults.windows) == ((), None, (300.0, 600.0, 900.0))
    assert (defaults.api.address, defaults.api.bearer_token, defaults.api.tls) == ("127.0.0.1:2020", None, None)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("usage: {providers: [{name: Promtheus}]}", "usage.providers[0].name: found 'Promtheus'; there are "),
        ("usage: {providers: [{}]}", "usage.providers[0].name: missing; write name"),
        ("usage: {providers: [" + "{name: MetricsServer}, " * 9 + "]}", ("usage.providers: found 9 entries; "
         "wanted 8 or fewer")),
        ("usage: {intervall: 5s}", "usage.intervall: unknown field; did you mean interval?"),
        ("usage: {interval: 20m}", "usage: interval 20m is longer than the shortest window, 5m"),
        ("usage: {windows: []}", "usage.windows: empty; write at least one"),
        ("usage: {windows: [25h]}", "usage: the window 25h is longer than 24h"),
        ("usage: {windows: [24h], interval: 10s}", "holds more than 8000 samples; keep it shorter"),
        ("usage: {windows: [24h], podInterval: 1s}", "usage: the window 24h holds more than 8000 samples"),
        ("usage: {windows: [5]}", "usage.windows[0]: 5 is not a duration"),
        ("usage: {store: {}}", "usage.store.path: missing; write path"),
        ("usage: {store: {path: a, keep: 1m}}", "usage: store.keep 60s is shorter than the longest window, 15m"),
        ("usage: {windows: [5m, 10m, 300s]}", "usage: windows names one length twice; write each once"),
        ('usage: {store: {path: "a\\0b"}}', "usage.store.path: found 'a\\\\x00b'; wanted the name of a file"),
        ('usage: {api: {address: "127.0.0.1:65536"}}', "usage.api.address: found '127.0.0.1:65536'; wanted a port of"),
        ("usage: {trust: {coverage: 90%}}", "usage.trust.coverage: found '90%'; wanted a number"),
        ("usage: {trust: {coverage: 2}}", "usage.trust.coverage: found 2; wanted 1 or less"),
        ("usage: {api: {address: localhost}}", ("usage.api.address: found 'localhost'; wanted HOST:PORT, such as "
         "127.0.0.1:2020")),
        ("usage: {api: {bearerToken: {}}}", "usage.api.bearerToken: write either file or secret"),
        ("usage: {api: {bearerToken: {secret: a}}}", ("usage.api.bearerToken.secret: found 'a'; wanted "
         "NAMESPACE/NAME/KEY")),
        ("usage: {api: {tls: {certFile: a}}}", "usage.api.tls: certFile and keyFile belong together"),
    ],
)  # fmt: skip
def test_each_mistake_is_told_with_its_place_and_what_to_write(body: str, text: str) -> None:
    """As everywhere in a policy."""
    assert text in problem(body)


def test_a_secret_in_the_policy_is_refused_and_not_repeated() -> None:
    """The way out is named; what stands there might be logged, so it is not shown."""
    found = problem("usage: {api: {bearerToken: hunter2}}")
    assert "usage.api.bearerToken: the secret itself is refused" in found
    assert "bearerToken.file: PATH" in found
    assert "hunter2" not in found


def test_files_are_relative_to_the_policy(tmp_path: Path) -> None:
    """Store, credentials, certificates and recordings are looked for beside the policy that names them."""
    file = tmp_path / "p.yaml"
    file.write_text(
        HEAD
        + """
usage:
  store: {path: usage.sqlite}
  api: {bearerToken: {file: token}, tls: {certFile: a.pem, keyFile: /b.pem, caFile: ../c.pem}}
  providers:
  - {name: Recorded, args: {file: load.json}}
  - name: Prometheus
    args: {address: "http://x", basicAuth: {username: u, password: {file: p}}, tls: {caFile: d.pem},
           headers: {file: kept}, path: kept}
"""
    )
    usage = load_policy([file]).usage
    assert usage.store is not None
    assert usage.store.path == f"{tmp_path}/usage.sqlite"
    assert usage.api.bearer_token == Credential(file=f"{tmp_path}/token")
    assert usage.api.tls is not None
    assert (usage.api.tls.cert_file, usage.api.tls.key_file) == (f"{tmp_path}/a.pem", "/b.pem")
    assert usage.api.tls.ca_file == f"{tmp_path}/../c.pem"
    recorded, prometheus = (provider.args for provider in usage.providers)
    assert recorded == {"file": f"{tmp_path}/load.json"}
    assert prometheus["basicAuth"]["password"] == {"file": f"{tmp_path}/p"}
    assert prometheus["tls"] == {"caFile": f"{tmp_path}/d.pem"}
    assert (prometheus["headers"], prometheus["path"]) == ({"file": "kept"}, "kept")


@pytest.mark.parametrize("body", ["usage: 5", "usage: [1]", "usage: {store: 5}", "usage: {store: {path: [a]}}",
                                  "usage: {providers: 5}", "usage: {api: {bearerToken: {file: 5}}}"])  # fmt: skip
def test_what_has_no_file_name_is_left_for_the_validation(body: str) -> None:
    """A mistake of form is told once, with its place."""
    assert problem(body).startswith("p.yaml:3:")


def test_check_says_where_load_comes_from() -> None:
    """Only where a policy names a provider."""
    body = "usage: {providers: [{name: Prometheus}, {name: Datadog}], store: {path: /u.sqlite}}"
    wanted = "asks Prometheus and Datadog for measured load, every 15s while it runs, keeping samples in /u.sqlite"
    assert wanted in list(policy_sentences(policy(body)))
    assert not any("measured load" in sentence for sentence in policy_sentences(policy()))
