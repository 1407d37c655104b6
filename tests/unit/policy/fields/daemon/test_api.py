"""``api`` and ``approval`` of a policy: how people reach a daemon, and how long a plan waits for one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.daemon.plugins import load_policy
from rescheduler.policy.fields.daemon.api import ApiPolicy, ServerTls
from rescheduler.policy.telling.summary import steering_sentences
from tests.unit.policy.policies import HEAD, policy, problem

# ``telemetry`` and ``audit`` of a policy: where a daemon answers, and where it writes down what it did.


def test_by_default_it_answers_this_machine_and_writes_nothing() -> None:
    """Nobody else learns anything unless that is asked for."""
    found = policy()
    assert (found.telemetry.address, found.audit.file) == ("127.0.0.1:8080", None)


@pytest.mark.parametrize("address", ["0.0.0.0:8080", "[::]:8080", ":9090", "localhost:0"])
def test_any_address_of_the_machine_may_be_given(address: str) -> None:
    """Kubelets and Prometheus come from elsewhere."""
    assert policy(f'telemetry: {{address: "{address}"}}').telemetry.address == address


def test_the_audit_log_is_found_beside_the_policy(tmp_path: Path) -> None:
    """Wherever the daemon was started; later policies win, each with its own folder."""
    (tmp_path / "a").mkdir()
    first, second = tmp_path / "p.yaml", tmp_path / "a" / "q.yaml"
    first.write_text(f"{HEAD}audit: {{file: audit.jsonl}}\n")
    second.write_text(f"{HEAD}audit: {{file: other.jsonl}}\n")
    assert load_policy([first]).audit.file == str(tmp_path / "audit.jsonl")
    assert load_policy([first, second]).audit.file == str(tmp_path / "a" / "other.jsonl")
    first.write_text(f"{HEAD}audit: {{file: /var/log/audit.jsonl}}\n")
    assert load_policy([first]).audit.file == "/var/log/audit.jsonl"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("telemetry: {address: 8080}", "telemetry.address: found 8080"),
        ('telemetry: {address: "8080"}', "telemetry.address: found '8080'"),
        ('telemetry: {address: "h:99999"}', "telemetry.address: found 'h:99999'; wanted a port of at most 65535"),
        ("telemetry: {addres: x}", "telemetry.addres: unknown field; did you mean address?"),
        ("telemetry: true", "telemetry: found true; wanted fields below it"),
        ("audit: {file: ''}", "audit.file: found ''; wanted a text that is not empty"),
        ('audit: {file: "a\\nb"}', "wanted the name of a file, without control characters"),
        ("audit: {file: [a]}", "audit.file: found a list; wanted a text"),
        ("audit: {path: a}", "audit.path: unknown field"),
        ("audit: log", "audit:"),
    ],
)
def test_each_mistake_is_told_with_its_place(body: str, text: str) -> None:
    """As everywhere in a policy."""
    assert text in problem(body)


TLS = "tls: {certFile: /c.pem, keyFile: /k.pem}"


def test_there_is_no_api_unless_it_is_written() -> None:
    """An empty value takes it back; ``{}`` is one with its defaults, on this machine only."""
    assert policy().api is None
    assert policy("api:").api is None
    assert policy("api: {}").api == ApiPolicy(address="127.0.0.1:2021", tls=None, audience="rescheduler", hosts=())
    assert policy().approval.expires == 3600.0


def test_every_field_can_be_written() -> None:
    """Names are camelCase."""
    body = "tls: {certFile: /c.pem, keyFile: /k.pem, caFile: /ca.pem}, audience: 'https://x', hosts: [a.example.org]"
    found = policy(f"api: {{address: '0.0.0.0:2021', {body}}}\napproval: {{expires: 30m}}")
    tls = ServerTls(cert_file="/c.pem", key_file="/k.pem", ca_file="/ca.pem")
    assert found.api == ApiPolicy(address="0.0.0.0:2021", tls=tls, audience="https://x", hosts=("a.example.org",))
    assert found.approval.expires == 1800.0


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.9.9.9:2021", "localhost:2021", "[::1]:2021"])
def test_this_machine_needs_no_tls(address: str) -> None:
    """A token is asked for all the same."""
    found = policy(f'api: {{address: "{address}"}}').api
    assert found is not None
    assert found.address == address


@pytest.mark.parametrize("address", ["0.0.0.0:2021", ":2021", "[::]:2021", "10.0.0.1:2021", "example.org:2021"])
def test_any_other_address_needs_tls(address: str) -> None:
    """Tokens would be read on their way."""
    text = problem(f'api: {{address: "{address}"}}')
    assert f"api: address '{address}' can be reached from elsewhere, and tokens would travel in clear text" in text
    assert policy(f'api: {{address: "{address}", {TLS}}}').api is not None


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("api: {address: 2021}", "api.address: found 2021; wanted a text"),
        ("api: {address: '127.0.0.1'}", "api.address: found '127.0.0.1'"),
        ("api: {address: '127.0.0.1:99999'}", "wanted a port of at most 65535"),
        ("api: {tls: {certFile: c.pem}}", "api.tls.keyFile: missing; write keyFile"),
        ("api: {tls: {certFile: c, keyFile: k, insecureSkipVerify: true}}", "insecureSkipVerify: unknown field"),
        ("api: {token: secret}", "api.token: unknown field"),
        ("api: {audience: ''}", "api.audience"),
        ("api: {audience: 'a b'}", "api.audience: found 'a b'"),
        ("api: {hosts: ['http://x']}", "api.hosts[0]: found 'http://x'"),
        ("api: {hosts: ['*']}", "api.hosts[0]: found '*'"),
        ("api: {hosts: x}", "api.hosts: found 'x'; wanted a list"),
        ("api: true", "api: found true; wanted fields below it"),
        ("approval: {expires: 0s}", "approval.expires: '0s' leaves no time at all"),
        ("approval: {expires: 30}", "approval.expires: 30 is not a duration"),
        ("approval: {expire: 1h}", "approval.expire: unknown field; did you mean expires?"),
        ("approvals: {expires: 1h}", "approvals: unknown field; did you mean approval?"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(body: str, text: str) -> None:
    """With its place and what was wanted."""
    assert text in problem(body)


def test_its_files_are_found_beside_the_policy(tmp_path: Path) -> None:
    """Whatever the folder that the daemon runs in."""
    file = tmp_path / "p.yaml"
    file.write_text(f"{HEAD}api: {{tls: {{certFile: tls.crt, keyFile: /abs/tls.key}}}}\n")
    found = load_policy([file]).api
    assert found is not None
    assert found.tls == ServerTls(cert_file=str(tmp_path / "tls.crt"), key_file="/abs/tls.key")


def test_who_steers_is_told_in_words() -> None:
    """By default nobody."""
    assert list(steering_sentences(policy())) == []
    found = policy("mode: Approve\napi: {}\napproval: {expires: 30m}")
    assert list(steering_sentences(found)) == [
        "run carries a plan out once a person has approved it, within 30m",
        "run answers over HTTP on 127.0.0.1:2021 whoever shows a token for rescheduler",
    ]
    assert "over HTTPS on 0.0.0.0:2021" in next(steering_sentences(policy(f"api: {{address: '0.0.0.0:2021', {TLS}}}")))
