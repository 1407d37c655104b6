"""Bad policies, by the number of their case: each is wrong use, told with its place, before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.policy.policies import HEAD

PROVIDER = "usage: {providers: [{name: Prometheus, args: {address: 'http://h:1', %s}}]}"
ADDRESS = "usage: {providers: [{name: Prometheus, args: {address: '%s'}}]}"
LABELS = "scope: {labelSelector: {%s}}"
BUDGET = "disruption: {budgets: [{%s}]}"
WINDOW = "disruption: {budgets: [{schedule: '%s', duration: %s, timeZone: %s}]}"
DEADLINE = "limits: {deadline: %s}"
NO_DURATION = "is not a duration; write it like 90s, 5m or 1h30m"


def refused(shell: Any, folder: Path, raw: bytes) -> str:
    """What ``check`` says of a policy that it refuses: exit 2, one line a problem, each with the file, no data."""
    path = folder / "p.yaml"
    path.write_bytes(raw)
    answer = shell("check", str(path))
    assert (answer.code, answer.out) == (2, "")
    assert all(line.startswith((str(path), "    ")) for line in answer.err.splitlines())
    assert "Traceback" not in answer.err
    return str(answer.err)


FILES = [
    ("P1-nothing", b"", "the policy is empty: nothing would ever be moved"),
    ("P1-comments", b"# soon\n", "the policy is empty: nothing would ever be moved"),
    ("P2-not-utf8", b"kind: \xe9", "not UTF-8 at byte 6"),
    ("P2-utf16", "kind: x".encode("utf-16"), "not UTF-8 at byte 0"),
    ("P3-syntax", b"kind: {a: ]\n", "p.yaml:1:11: not YAML"),
    ("P3-tab", b"limits:\n\tdeadline: 5s\n", "p.yaml:2:1: not YAML: a tab stands where YAML wants spaces"),
    ("P25-not-quoted", b"schedule: */5 * * * *\n", 'that begins with * or @ in quotes, such as "*/5 * * * *"'),
    ("P25-name-not-quoted", b"- schedule: @daily\n", "put a text that begins with * or @ in quotes"),
    ("P4-two-documents", f"{HEAD}---\n{HEAD}".encode(), "only one document is allowed; a second one starts at line 3"),
    ("P7-bytes", b"x" * (10 * 2**20), "larger than 1024 KiB"),
    ("P7-depth", b"x: " + b"[" * 200, "nested deeper than 20 levels"),
    ("P7-entries", b"x: [" + b"a," * 400_000 + b"]", "more than 10,000 entries"),
    ("P11-missing", b"kind: ReschedulerPolicy\n", "apiVersion: missing; write apiVersion: rescheduler/v1alpha1"),
    ("P11-newer", b"apiVersion: rescheduler/v2\nkind: ReschedulerPolicy\n", "there is only rescheduler/v1alpha1"),
    ("P11-another-kind", b"apiVersion: v1\nkind: Pod\n", "found 'Pod'; there is only ReschedulerPolicy"),
    ("P11-no-fields", b"- a\n", "p.yaml:1:1: not a policy; write fields such as apiVersion"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "text"), [each[1:] for each in FILES], ids=[each[0] for each in FILES])
def test_a_file_that_is_no_policy_is_refused(shell: Any, tmp_path: Path, raw: bytes, text: str) -> None:
    """Encoding, syntax, size and version are told with the place at which reading ended."""
    assert text in refused(shell, tmp_path, raw)


BODIES = [
    ("P5", "mode: DryRun\nmode: Execute", "4:1: mode: the same field twice, at lines 3 and 4; keep one"),
    ("P6-anchor", "x: &a [1]", "3:4: x: anchors are not allowed"),
    ("P6-alias", "x: *a", "3:4: x: aliases are not allowed"),
    ("P8-python", "mode: !!python/object/apply:os.system [id]", "is not allowed; write plain values"),
    ("P8-own-tag", "mode: !mine x", "the tag !mine is not allowed"),
    ("P9", "limits: {maxEvictonsPerNode: 1}", "unknown field; did you mean maxEvictionsPerNode?"),
    ("P9-other-case", "limits: {max_evictions: 1}", "3:10: limits.max_evictions: unknown field; did you mean maxEvic"),
    ("P9-of-objective", "objectives: [{move_cost: 1}]", "unknown field; did you mean moveCost?"),
    ("P9-without-value", "limits: {maxEvictons: }", "3:10: limits.maxEvictons: unknown field; did you mean maxEvict"),
    ("P10-limit", "maxEvictions: 1", "3:1: maxEvictions: unknown field here; it belongs under limits"),
    ("P10-argument", "objectives: [{prize: 5}]", "prize: unknown field here; it belongs under objectives[].args"),
    ("P10-weight", "objectives: [{args: {weight: 5}}]", "unknown argument; weight stands beside name, not under args"),
    ("P12-text", "objectives: [{args: {allOrNothing: 'false'}}]", "found 'false'; wanted true or false, without quo"),
    ("P12-number", "objectives: [{args: {allOrNothing: 1}}]", "found 1; wanted true or false, without quotes"),
    ("P13", "scope: {namespaces: {exclude: [no]}}", "YAML reads no as a boolean; wanted a text: put it in quotes"),
    ("P14-base-60", "limits: {maxEvictions: 1:30}", "1:30 is no number in its plain form; write a plain number"),
    ("P14-octal", "limits: {maxEvictions: 010}", "010 is no number in its plain form"),
    ("P14-exponent", "limits: {maxEvictions: 1e3}", "found '1e3'; wanted a whole number such as 20"),
    ("P14-exponent-of-weight", "objectives: [{weight: 1e3}]", "found '1e3'; wanted a number, such as 20 or 0.5"),
    ("P14-underscore", "limits: {maxEvictions: 12_000}", "12_000 is no number in its plain form"),
    ("P15", "scope: {namespaces: {include: []}}", "selects nothing, so nothing would ever be moved; leave it out to"),
    ("P16", "scope: {namespaces: {include: ['*']}}", "patterns are not read here: name each namespace"),
    ("P17", "scope: {namespaces: {include: [a], exclude: [a]}}", "a is both included (line 3) and excluded (line 3)"),
    ("P15-budget", BUDGET % "namespaces: [], maxMoving: 1", "selects nothing; leave it out to mean all namespaces"),
    ("P19-operator", LABELS % "matchExpressions: [{key: a, operator: Equals}]", "there are In, NotIn, Exists, Does"),
    ("P19-in", LABELS % "matchExpressions: [{key: a, operator: In}]", "In needs values"),
    ("P19-exists", LABELS % "matchExpressions: [{key: a, operator: Exists, values: [b]}]", "Exists takes no values"),
    ("P19-no-key", LABELS % "matchLabels: {'a b': c}", "no label has the key 'a b'; write it like app or example.com"),
    ("P19-no-value", LABELS % "matchLabels: {a: 'b c'}", "no label has the value 'b c'; wanted 63 letters"),
    ("P19-no-key-of-rule", LABELS % "matchExpressions: [{key: /a, operator: DoesNotExist}]", "has the key '/a'"),
    ("P19-no-value-of-rule", LABELS % "matchExpressions: [{key: a, operator: NotIn, values: ['-']}]", "has the value"),
    ("P19-left-empty", LABELS % "matchLabels: {tier: }", "matchLabels.tier: found nothing; wanted a text"),
    ("P19-left-empty-nodes", "scope: {nodeSelector: {pool: }}", "nodeSelector.pool: found nothing; wanted a text"),
    ("P19-budget", BUDGET % "labelSelector: {}, maxMoving: 1", "selects nothing; leave it out to mean all pods"),
    ("P20-high", "disruption: {workloads: {maxUnavailable: 150%}}", "or a share such as 10%"),
    ("P20-negative", "disruption: {workloads: {maxUnavailable: -5%}}", "or a share such as 10%"),
    ("P20-space", "disruption: {workloads: {maxUnavailable: 10 %}}", "found '10 %'; write a whole number of pods"),
    ("P20-fraction", "disruption: {workloads: {maxUnavailable: 0.1}}", "found 0.1; write a whole number of pods"),
    ("P20-quoted", "disruption: {workloads: {maxUnavailable: '10'}}", "found '10'; write a whole number of pods"),
    ("P20-boolean", "disruption: {workloads: {maxUnavailable: yes}}", "found true; write a whole number of pods"),
    ("P21", "disruption: {workloads: {maxUnavailable: 100%}}", "would allow a whole workload to be down at once"),
    ("P20-budget", BUDGET % "maxUnavailable: 150%", "found '150%'; write a whole number of pods"),
    ("P21-budget", BUDGET % "maxMoving: 100%", "would allow a whole workload to be down at once"),
    ("P22-nan", "objectives: [{weight: .nan}]", ".nan is no finite number"),
    ("P22-inf", "limits: {maxEvictions: .inf}", ".inf is no finite number"),
    ("P23-number", DEADLINE % "5", f"5 {NO_DURATION}"),
    ("P23-fraction", DEADLINE % "5.5", f"5.5 {NO_DURATION}"),
    ("P23-negative-age", "scope: {minimumAge: -5.5}", f"-5.5 {NO_DURATION}"),
    ("P23-unit", DEADLINE % "5mins", f"'5mins' {NO_DURATION}"),
    ("P23-negative", DEADLINE % "-1h", f"'-1h' {NO_DURATION}"),
    ("P23-none", DEADLINE % "0s", "'0s' leaves no time at all"),
    ("P23-exponent", DEADLINE % "1e9h", f"'1e9h' {NO_DURATION}"),
    ("P23-iso", DEADLINE % "PT5M", f"'PT5M' {NO_DURATION}"),
    ("P23-list", DEADLINE % "[5s]", f"a list {NO_DURATION}"),
    ("P23-boolean", DEADLINE % "on", f"true {NO_DURATION}"),
    ("P23-ages", DEADLINE % "99999999999999h", "is longer than ten years"),
    ("P23-rate", BUDGET % "rate: {maxEvictions: 1, window: 5mins}", f"'5mins' {NO_DURATION}"),
    ("P23-short-rate", BUDGET % "rate: {maxEvictions: 1, window: 1s}", "a rate is counted over 1m to 168h"),
    ("P25-cron", WINDOW % ("0 25 * * *", "1h", "UTC"), "is not a schedule (bad hour); write five fields"),
    ("P25-zone", WINDOW % ("0 22 * * *", "1h", "CEST"), "found 'CEST'; wanted a name of the IANA time zone database"),
    ("P25-no-zone", WINDOW % ("0 22 * * *", "1h", ""), "has schedule and duration, but no timeZone"),
    ("P25-period", WINDOW % ("0 22 * * *", "24h", "UTC"), "never closes: the next one opens before it ends"),
    ("P25-never", WINDOW % ("0 0 30 2 *", "1h", "UTC"), "never opens: no such day is in those months"),
    ("P25-no-limit", BUDGET % "per: Node", "limits nothing; write maxUnavailable, maxMoving, rate or windows"),
    ("P27-file", ADDRESS % "file:///etc/passwd", "wanted an http:// or https:// address"),
    ("P27-link-local", ADDRESS % "http://169.254.169.254/latest", "a link-local address, where clouds serve"),
    ("P27-mapped", ADDRESS % "http://[::ffff:169.254.169.254]:80", "a link-local address, where clouds serve"),
    ("P27-link-local-6", ADDRESS % "http://[fe80::1]:80", "a link-local address, where clouds serve"),
    ("P27-port", ADDRESS % "http://h:0/", "wanted an http:// or https:// address"),
    ("P27-other-case", PROVIDER % "bearer_token: {file: t}", "unknown argument; did you mean bearerToken?"),
    ("P30-matcher-left-empty", PROVIDER % "matchers: {cluster: }", "matchers.cluster: found nothing; wanted a text"),
    ("P31", "objectives: [{weight: -1}]", "found -1; wanted more than 0"),
    ("P31-zero", "objectives: [{weight: 0}]", "found 0; wanted more than 0"),
    ("P22-telemetry", 'telemetry: {address: "h:99999"}', "telemetry.address: found 'h:99999'; wanted a port of"),
    ("P22-telemetry-token", "telemetry: {bearerToken: abc}", "telemetry.bearerToken: unknown field"),
    ("P22-audit", "audit: {file: {}}", "audit.file: found a map; wanted a text"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text"), [each[1:] for each in BODIES], ids=[each[0] for each in BODIES])
def test_a_field_that_says_nothing_sensible_is_refused(shell: Any, tmp_path: Path, body: str, text: str) -> None:
    """The one problem is told: where it stands, what was found, what to write instead."""
    told = refused(shell, tmp_path, f"{HEAD}{body}\n".encode())
    assert text in told
    assert len(told.splitlines()) == 1


SECRETS = [
    ("P27", ADDRESS % "http://user:hunter2@h:1", "credentials in an address are refused"),
    ("P28-token", PROVIDER % "bearerToken: hunter2", "put it into a file and write bearerToken.file: PATH"),
    ("P28-password", PROVIDER % "basicAuth: {username: a, password: hunter2}", "write password.file: PATH"),
    ("P28-unknown", PROVIDER % "token: hunter2", "unknown argument"),
]


@pytest.mark.parametrize(("body", "text"), [each[1:] for each in SECRETS], ids=[each[0] for each in SECRETS])
def test_a_secret_in_a_policy_is_refused_and_not_repeated(shell: Any, tmp_path: Path, body: str, text: str) -> None:
    """What refuses it may be logged: the rule is told, the secret is not."""
    told = refused(shell, tmp_path, f"{HEAD}{body}\n".encode())
    assert text in told
    assert "hunter2" not in told


STOPS = [
    ("limits: {maxEvictions: 0}", "limits.maxEvictions is 0"),
    ("limits: {maxEvictionsPerNode: 0}", "limits.maxEvictionsPerNode is 0"),
    ("limits: {maxEvictionsPerNamespace: 0}", "limits.maxEvictionsPerNamespace is 0"),
    ("disruption: {workloads: {maxUnavailable: 0}}", "disruption.workloads.maxUnavailable is 0"),
    ("disruption: {workloads: {maxUnavailable: 0%}}", "disruption.workloads.maxUnavailable is 0%"),
    (BUDGET % "maxMoving: 0", "maxMoving of budget 1 is 0"),
    (BUDGET % "rate: {maxEvictions: 0, window: 1h}", "rate.maxEvictions of budget 1 is 0"),
]


@pytest.mark.parametrize(("body", "reason"), STOPS, ids=[f"P33-{number}" for number in range(len(STOPS))])
def test_numbers_under_which_nothing_can_move_are_told(shell: Any, tmp_path: Path, body: str, reason: str) -> None:
    """Such a policy is valid, and ``check`` says what stops everything."""
    path = tmp_path / "p.yaml"
    path.write_text(HEAD + body)
    answer = shell("check", str(path))
    assert answer.code == 0
    assert f"no eviction is possible because {reason}" in answer.out


def test_p2_a_byte_order_mark_is_accepted(shell: Any, tmp_path: Path) -> None:
    """An editor's mark at the beginning of a good policy changes nothing."""
    (tmp_path / "p.yaml").write_bytes(b"\xef\xbb\xbf" + HEAD.encode())
    assert shell("check", str(tmp_path / "p.yaml")).code == 0


def test_all_problems_are_told_at_once(shell: Any, tmp_path: Path) -> None:
    """What cannot be read as a number does not hide what else is wrong, and is told once."""
    told = refused(shell, tmp_path, f"{HEAD}limits: {{maxEvictions: .nan, x: 1}}\nmode: [a]\n".encode())
    assert [line.split(": ")[1] for line in told.splitlines()] == ["limits.maxEvictions", "limits.x", "mode"]
