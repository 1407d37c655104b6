"""The metrics block of Volcano's configuration in both of its forms."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.scores.node_usage import NodeUsageArguments
from tests.unit.scheduling.configuration.reading import argument, only, read, refusal

PLUGINS = "actions: allocate\ntiers: [{plugins: [{name: usage, arguments: {thresholds: {cpu: 50}}}]}]\n"


def metrics(lines: str) -> str:
    """A configuration with this metrics block."""
    return PLUGINS + "metrics:\n" + "".join(f"  {line}\n" for line in lines.splitlines())


def warnings(lines: str) -> str:
    """All warnings about a metrics block."""
    return "\n".join(read(metrics(lines)).warnings)


def test_the_flat_form_of_the_code() -> None:
    """It is read without a word; the interval tells how late metrics are."""
    text = metrics(
        "type: elasticsearch\naddress: http://e:9200\ninterval: 60s\ntls.insecureSkipVerify: 'true'\n"
        "elasticsearch.index: x\nelasticsearch.username: u\nelasticsearch.password: p\n"
        "elasticsearch.hostnameFieldName: host.name"
    )
    profile = only(text)
    assert profile.load_source == "elasticsearch at http://e:9200"
    found = argument(profile, "usage")
    assert isinstance(found, NodeUsageArguments)
    assert found.interval == 60.0
    assert not read(text).warnings


def test_the_nested_form_of_the_design() -> None:
    """It is read alike; Volcano's own code would reject the whole file over it."""
    lines = "type: elasticsearch\naddress: http://e:9200\ntls: {insecureSkipVerify: 'true'}\nelasticsearch: {index: x}"
    assert only(metrics(lines)).load_source == "elasticsearch at http://e:9200"
    assert warnings(lines).count("rejects the whole file over a map") == 2


@pytest.mark.parametrize(
    ("lines", "said", "source"),
    [
        ("type: prometheus_adapt", "read as prometheus_adaptor", "prometheus_adaptor"),
        ("address: http://p", "its design says prometheus, but Volcano's code then collects", "prometheus at http://p"),
        ("type: prometeus\naddress: http://p", "did you mean prometheus?", ""),
        ("type: prometheus", "address is missing; prometheus needs one", "prometheus"),
        (
            "type: prometheus\naddress: http://p\nbasicauth: 'true'",
            "Volcano never reads this",
            "prometheus at http://p",
        ),
        ("type: prometheus\naddress: http://p\ntls.insecure: 'true'", "did you mean tls.ins", "prometheus at http://p"),
        ("type: prometheus\naddress: http://u:s@p\ninterval: 0s", 'found "0s", no duration', "prometheus at http://p"),
        ("type: prometheus\naddress: http://p\ninterval: soon", 'found "soon", no duration', "prometheus at http://p"),
        ("type: prometheus\naddress: http://p\ninterval: -5s", 'found "-5s", no duration', "prometheus at http://p"),
    ],
)
def test_what_volcano_makes_of_it(lines: str, said: str, source: str) -> None:
    """What Volcano ignores, corrects or spells otherwise is a warning; credentials are never repeated."""
    assert said in warnings(lines)
    assert only(metrics(lines)).load_source == source


def test_a_value_that_is_no_text() -> None:
    """A list or an unknown map makes Volcano reject the file; a number is read as a text."""
    assert "Volcano rejects the whole file" in refusal(metrics("type: [prometheus]"))
    assert "Volcano rejects the whole file" in refusal(metrics("type: prometheus\nbasic: {user: x}"))
    assert "prometheus_adaptor" in only(metrics("type: prometheus_adaptor\ninterval: 30")).load_source


def test_secrets_are_never_told() -> None:
    """Neither warnings nor the profile repeat a password."""
    lines = "type: prometheus\naddress: http://me:hush@p\nusername: me\npassword: hush\nelasticsearch: {password: hush}"
    configuration = read(metrics(lines))
    assert "hush" not in "\n".join(configuration.warnings)
    assert "hush" not in repr(configuration.profiles)
