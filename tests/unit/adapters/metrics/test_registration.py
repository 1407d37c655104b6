"""Providers from a policy's entries: made of checked arguments, or refused in the policy's own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.metrics import PROVIDERS
from rescheduler.adapters.metrics.custom_metrics import CustomMetricsProvider
from rescheduler.adapters.metrics.metrics_server import MetricsServerProvider
from rescheduler.adapters.metrics.prometheus.prometheus import PrometheusProvider
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.recorded import RecordedProvider
from rescheduler.adapters.metrics.registration import provider_of
from rescheduler.extension_points import MetricsError
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.usage import Provider
from rescheduler.policy.plugins import arguments_model
from rescheduler.policy.reading.errors import PolicyError
from tests.plugins import installed
from tests.unit.adapters.metrics.kubernetes_worlds import connection_to

ADDRESS = {"address": "http://127.0.0.1:9090"}


def problem_of(name: str, **args: Any) -> str:
    """Why an entry, the third of its list, is refused."""
    with pytest.raises(PolicyError) as caught:
        provider_of(Provider(name=name, args=args), ProviderContext(), at=2)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize("name", PROVIDERS.own)
def test_every_argument_is_described(name: str) -> None:
    """People read the texts under the fields."""
    model = arguments_model(PROVIDERS, name)
    assert all(field.description for field in model.model_fields.values())


def test_providers_are_made_of_their_entries(tmp_path: Path) -> None:
    """Nothing is sent yet."""
    connection = connection_to("http://127.0.0.1:1", tmp_path)
    context = ProviderContext(connection=lambda: connection, folder=tmp_path)
    made = {
        "Prometheus": (ADDRESS, PrometheusProvider),
        "MetricsServer": ({}, MetricsServerProvider),
        "CustomMetrics": ({"nodeCpu": "cpu:avg"}, CustomMetricsProvider),
        "Recorded": ({"file": "load.json"}, RecordedProvider),
    }
    for name, (args, wanted) in made.items():
        found = provider_of(Provider(name=name, args=args), context)  # type: ignore[arg-type]
        assert isinstance(found, wanted)
        assert found.name == name


def test_relative_files_stand_in_the_policys_folder(tmp_path: Path) -> None:
    """Wherever the command was started."""
    found = provider_of(Provider(name="Recorded", args={"file": "load.json"}), ProviderContext(folder=tmp_path))
    with pytest.raises(MetricsError, match=str(tmp_path / "load.json")):
        found.sample([], now=0.0, with_pods=False)


@pytest.mark.parametrize("name", ["MetricsServer", "CustomMetrics"])
def test_without_a_cluster_there_is_nobody_to_ask(name: Any) -> None:
    """As when a recording is looked at."""
    with pytest.raises(MetricsError, match=f"{name} asks the cluster itself"):
        provider_of(Provider(name=name), ProviderContext())


def test_warnings_reach_the_caller() -> None:
    """A certificate that nobody checks is no secret."""
    said: list[str] = []
    args = {"address": "https://p.example", "tls": {"insecureSkipVerify": True}}
    provider_of(Provider(name="Prometheus", args=args), ProviderContext(warn=said.append))
    assert "ANY certificate" in said[0]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "usage.providers[2].args.address: missing; write address"),
        ({"address": "p:9090"}, "usage.providers[2].args.address: found 'p:9090'; wanted an http:// or https://"),
        ({"address": "http://p:99999"}, "found 'http://p:99999'; wanted an http:// or https:// address"),
        ({"address": "http://p:port"}, "found 'http://p:port'; wanted"),
        ({"address": "http://:9090"}, "found 'http://:9090'; wanted"),
        ({"address": "http://p/\x00"}, "args.address: found"),
        ({"address": "http://p/?token=a"}, "args.address: a query in an address is refused"),
        ({"address": "http://u:p@h"}, "usage.providers[2].args.address: credentials in an address are refused"),
        ({"address": 7}, "usage.providers[2].args.address: found 7; wanted a text"),
        ({**ADDRESS, "adress": "x"}, "usage.providers[2].args.adress: unknown argument; did you mean address?"),
        ({**ADDRESS, "timeuot": "1s"}, "usage.providers[2].args.timeuot: unknown argument; did you mean timeout?"),
        ({**ADDRESS, "caFile": "x"}, "args.caFile: unknown argument here; it belongs under args.tls"),
        ({**ADDRESS, "zzzz": 1}, "args.zzzz: unknown argument; there are address, basicAuth, bearerToken"),
        ({**ADDRESS, "timeout": "soon"}, "args.timeout: 'soon' is not a duration"),
        ({**ADDRESS, "timeout": "0s"}, "leaves no time at all"),
        ({**ADDRESS, "bearerToken": "abc"}, "args.bearerToken: "),
        ({**ADDRESS, "bearerToken": {"file": "a", "secret": "n/s/k"}}, "args.bearerToken: write either file or secret"),
        ({**ADDRESS, "headers": {"Authorization": "x"}}, "headers must not carry Authorization"),
        ({**ADDRESS, "headers": {"x-api-key": "x"}}, "headers must not carry x-api-key"),
        ({**ADDRESS, "headers": {"X-A": "a\r\nX-B: c"}}, "args.headers: the value of X-A cannot be sent"),
        ({**ADDRESS, "headers": {"X A:": "a"}}, "args.headers: 'X A:' is no name of a header"),
        ({**ADDRESS, "headers": {"Content-Length": "3"}}, "Content-Length is set by the connection itself"),
        ({**ADDRESS, "tls": {"insecureSkipVerify": "yes"}}, "args.tls.insecureSkipVerify: "),
        ({**ADDRESS, "hostPattern": "("}, "args.hostPattern: no regular expression"),
        ({**ADDRESS, "hostPattern": "(a)(b)"}, "args.hostPattern: more than one group"),
        ({**ADDRESS, "queries": {"nodeCpu": "up"}}, "args.queries.nodeCpu: "),
        ({**ADDRESS, "queries": {"nodeCpu": {"query": ""}}}, "args.queries.nodeCpu.query: "),
        ({**ADDRESS, "queries": {"nodeGpu": {"query": "up"}}}, "args.queries.nodeGpu: unknown argument; did you mean"),
        ({**ADDRESS, "matchers": {"a b": "x"}}, "args.matchers"),
    ],
)
def test_wrong_arguments_are_told_as_the_loader_tells_them(args: dict[str, Any], said: str) -> None:
    """Path, what was found, what was wanted, the choices; and never a secret."""
    text = problem_of("Prometheus", **args)
    assert said in text
    assert "abc" not in text


def test_all_that_is_wrong_is_told_at_once() -> None:
    """One round of corrections is enough."""
    assert len(problem_of("Prometheus", timeout="x", hostLabel="1", more=1).splitlines()) == 4


def test_arguments_that_do_not_exist() -> None:
    """Where there is next to nothing to set."""
    assert "unknown argument; there are timeout" in problem_of("MetricsServer", zzzz="x")
    assert "usage.providers[2].args.file: missing" in problem_of("Recorded")


def test_a_provider_of_another_package_that_cannot_be_made_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its load is unknown, as that of any other that fails."""
    installed(monkeypatch, PROVIDERS.group, ("Broken", f"{__name__}:Broken"))
    with pytest.raises(MetricsError, match="Broken cannot be made: KeyError: 'moon'"):
        provider_of(Provider(name="Broken"), ProviderContext())


class Broken(RecordedProvider):
    """A provider whose own code fails."""

    name = "Broken"
    arguments = PolicyModel  # type: ignore[assignment]

    @classmethod
    def made(cls, arguments: Any, context: ProviderContext) -> Broken:
        """It does not get this far."""
        raise KeyError("moon")
