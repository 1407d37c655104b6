"""Other schedulers' metrics blocks as entries of usage.providers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.daemon.plugins import parse_policy
from rescheduler.policy.fields.usage import Provider
from rescheduler.scheduling.reading.metrics_source import offer_of, trimaran_metrics, volcano_metrics

SECRET = "pa55-in-a-f1le"
HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"


def offered(**values: str) -> tuple[tuple[Provider, ...], tuple[str, ...]]:
    """What is offered for Volcano's block; double underscores stand for dots."""
    found = volcano_metrics({name.replace("__", "."): value for name, value in values.items()})
    assert found is not None
    offer = offer_of(found)
    return offer.providers, offer.warnings


@pytest.mark.parametrize(
    ("values", "provider"),
    [
        (
            {"type": "prometheus", "address": "http://p:9090"},
            Provider(name="Prometheus", args={"address": "http://p:9090"}),
        ),
        ({"address": "http://p:9090"}, Provider(name="Prometheus", args={"address": "http://p:9090"})),
        ({"type": "prometheus_adaptor"}, Provider(name="CustomMetrics")),
        ({"type": "prometheus_adapt"}, Provider(name="CustomMetrics")),
        (
            {"type": "elasticsearch", "address": "http://e:9200/es/"},
            Provider(name="Elasticsearch", args={"address": "http://e:9200/es", "cpuFields": ["host.cpu.usage"]}),
        ),
        (
            {
                "type": "elasticsearch",
                "address": "https://e",
                "elasticsearch__index": "custom-index-name",
                "elasticsearch__hostnameFieldName": "host.name",
            },
            Provider(
                name="Elasticsearch",
                args={
                    "address": "https://e",
                    "cpuFields": ["host.cpu.usage"],
                    "index": "custom-index-name",
                    "hostField": "host.name",
                },
            ),
        ),
    ],
)
def test_volcanos_three_sources(values: dict[str, str], provider: Provider) -> None:
    """Each in its spellings, with its defaults left to ours where they are the same."""
    assert offered(**values) == ((provider,), ())


@pytest.mark.parametrize(
    ("written", "is_skipped"),
    [("true", True), ("false", False), ("True", False), ("1", False), ("yes", False), ("", False)],
)
def test_truth_is_the_text_true_for_volcano(written: str, is_skipped: bool) -> None:
    """Anything else is false there; what it trusts is carried over with a warning."""
    (provider,), warnings = offered(address="https://p", tls__insecureSkipVerify=written)
    assert ("tls" in provider.args) == is_skipped
    assert any("trusts any certificate" in warning for warning in warnings) == is_skipped


@pytest.mark.parametrize(
    "values",
    [
        {"type": "elasticsearch", "elasticsearch__username": "elastic", "elasticsearch__password": SECRET},
        {"basicauth": "true", "username": "u", "password": SECRET},
        {"address": f"https://u:{SECRET}@host:9090/x"},
    ],
)
def test_credentials_of_volcanos_file_are_not_used(values: dict[str, str]) -> None:
    """Nor kept, nor shown; where to put them is said."""
    found = volcano_metrics({"address": "https://host:9090/x", **{k.replace("__", "."): v for k, v in values.items()}})
    assert found is not None
    offer = offer_of(found)
    assert offer.providers[0].args["address"] == "https://host:9090/x"
    assert any("basicAuth" in warning for warning in offer.warnings)
    assert SECRET not in repr((found, offer, str(offer)))


def test_an_unknown_kind_is_no_source() -> None:
    """Volcano itself reads nothing then."""
    assert volcano_metrics({"type": "graphite", "address": "http://g"}) is None


@pytest.mark.parametrize("address", ["", "p:9090", "ftp://p", "http://", "http://a b", "http://[::1"])
def test_an_address_that_cannot_be_asked_is_told(address: str) -> None:
    """No entry that the policy would refuse."""
    providers, warnings = offered(type="prometheus", address=address)
    assert providers == ()
    assert "wanted one such as http://host:9090" in warnings[0]


@pytest.mark.parametrize(
    ("written", "seconds"), [("30s", 30), ("1m", 60), ("", 30), ("0", 30), ("often", 30), (None, 30)]
)
def test_volcanos_interval(written: str | None, seconds: float) -> None:
    """As Volcano reads it."""
    found = volcano_metrics({} if written is None else {"interval": written})
    assert found is not None
    assert offer_of(found).interval_seconds == seconds


def test_trimarans_prometheus() -> None:
    """With its address, or its own default; certificates are verified, unlike there."""
    offer = offer_of(trimaran_metrics({"type": "Prometheus", "address": "https://prometheus-k8s.monitoring.svc:9090"}))
    assert offer.providers == (
        Provider(name="Prometheus", args={"address": "https://prometheus-k8s.monitoring.svc:9090"}),
    )
    assert "here it is verified" in offer.warnings[0]
    assert offer_of(trimaran_metrics({"type": "Prometheus"})).providers[0].args == {
        "address": "http://prometheus-k8s:9090"
    }


def test_trimarans_switch_is_carried_over_where_it_is_written() -> None:
    """As true, with a warning; as false, without; a text is no truth value to kube-scheduler."""
    block = {"type": "Prometheus", "address": "https://p"}
    written = offer_of(trimaran_metrics({**block, "insecureSkipVerify": True}))
    assert written.providers[0].args["tls"] == {"insecureSkipVerify": True}
    assert "trusts any certificate" in written.warnings[0]
    denied = offer_of(trimaran_metrics({**block, "insecureSkipVerify": False}))
    assert (denied.providers[0].args, denied.warnings) == ({"address": "https://p"}, ())
    assert "tls" not in offer_of(trimaran_metrics({**block, "insecureSkipVerify": "true"})).providers[0].args


@pytest.mark.parametrize("block", [{}, {"type": "KubernetesMetricsServer"}, {"type": 7}])
def test_trimarans_default_is_the_metrics_server(block: dict[str, object]) -> None:
    """Nothing written means that."""
    assert offer_of(trimaran_metrics(block)).providers == (Provider(name="MetricsServer"),)


@pytest.mark.parametrize("kind", ["SignalFx", "Prometheus"])
def test_a_token_in_the_schedulers_file_is_not_used(kind: str) -> None:
    """Nor kept, nor shown; SignalFx cannot be asked without one."""
    found = trimaran_metrics({"type": kind, "address": "https://s", "token": SECRET, "insecureSkipVerify": False})
    offer = offer_of(found)
    assert bool(offer.providers) == (kind == "Prometheus")
    assert any("not used" in warning for warning in offer.warnings)
    assert SECRET not in repr((found, offer, str(offer)))


def test_a_load_watcher_is_no_source_of_ours() -> None:
    """Its source has to be named; a credential in its address is not told."""
    offer = offer_of(trimaran_metrics({"type": "Prometheus"}, f"http://u:{SECRET}@watcher:2020"))
    assert offer.providers == ()
    assert "http://watcher:2020" in offer.warnings[0]
    assert SECRET not in offer.warnings[0]


def test_an_unknown_kind_of_trimaran_is_told() -> None:
    """With what it was."""
    assert "Graphite" in offer_of(trimaran_metrics({"type": "Graphite"})).warnings[0]


@pytest.mark.parametrize(
    "values",
    [
        {"address": "https://p:9090", "tls.insecureSkipVerify": "true", "interval": "1m"},
        {"type": "elasticsearch", "address": "http://e", "elasticsearch.index": "x"},
        {"type": "prometheus_adaptor"},
    ],
)
def test_the_offer_can_be_pasted_into_a_policy(values: dict[str, str]) -> None:
    """The line reads back as what is offered."""
    found = volcano_metrics(values)
    assert found is not None
    offer = offer_of(found)
    usage = parse_policy(f"{HEAD}{offer}\n").usage
    assert usage is not None
    assert (usage.providers, usage.interval) == (offer.providers, offer.interval_seconds)


def test_no_offer_is_no_text() -> None:
    """Rather than an empty field."""
    assert str(offer_of(trimaran_metrics({"type": "SignalFx"}))) == ""


@given(
    st.dictionaries(st.sampled_from(["type", "address", "interval", "tls.insecureSkipVerify"]), st.text(max_size=20))
)
def test_any_text_of_volcano_is_survived(values: dict[str, str]) -> None:
    """Whatever stands there, what is offered is an entry or a warning."""
    found = volcano_metrics(values)
    if found is not None:
        offer = offer_of(found)
        assert offer.providers or offer.warnings


@given(
    st.dictionaries(
        st.sampled_from(["type", "address", "token", "insecureSkipVerify"]), st.text() | st.booleans() | st.none()
    )
)
def test_any_value_of_trimaran_is_survived(block: dict[str, object]) -> None:
    """The same."""
    offer = offer_of(trimaran_metrics(block))
    assert offer.providers or offer.warnings
