"""``telemetry`` and ``audit`` of a policy: where a daemon answers, and where it writes down what it did."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.policy.loader import load_policy
from tests.unit.policy.policies import HEAD, policy, problem


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
