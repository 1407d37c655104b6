"""Whatever stands in a file, it is read or refused: never a traceback, never an eviction by a broken one."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rescheduler.composition.foretelling import read_file
from rescheduler.composition.given_policies import is_theirs
from rescheduler.daemon.plugins import parse_policy
from rescheduler.descheduler.converting.convert import converted
from rescheduler.descheduler.foretelling import foretold_plan
from rescheduler.descheduler.own_rules import OwnRules
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
from rescheduler.extension_points import ReschedulerError
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import budget, cluster, node, pod, taint, workload

VALID = b"""\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
nodeSelector: "kubernetes.io/hostname in (a,b,c)"
maxNoOfPodsToEvictTotal: 3
gracePeriodSeconds: 10
profiles:
- name: p
  pluginConfig:
  - {name: DefaultEvictor, args: {nodeFit: true, minReplicas: 2, minPodAge: 1h, priorityThreshold: {value: 5}}}
  - {name: RemovePodsViolatingNodeTaints, args: {excludedTaints: ["a=b"], namespaces: {exclude: [x]}}}
  - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 60, states: [Running]}}
  - {name: LowNodeUtilization, args: {thresholds: {cpu: 20.5}, targetThresholds: {cpu: 50}}}
  plugins:
    deschedule: {enabled: [RemovePodsViolatingNodeTaints, PodLifeTime]}
    balance: {enabled: [LowNodeUtilization]}
"""
WORLD = cluster(
    node("a", taints=[taint("x")]), node("b"), node("c"),
    *[pod(f"web-{number}", node="a", owner="web", priority=number) for number in range(3)],
    pod("lost-0", node="b", owner=None, phase="Failed"), workload("web", 3), budget("web", 1),
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=8),
    st.sampled_from(["1h", "-1", "0x10", "~", "!!python/none", "é", "\x00", "a=b", "9" * 400]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def judged(raw: bytes) -> DeschedulerPolicy | None:
    """What is read of a file, all of which may be asked for; None where it is refused with words."""
    written = read_or_refused(raw) if is_theirs(raw) else None
    if written is None:
        return None
    parse_policy(converted(written, "d.yaml"))
    absent = any(
        profile.evictor.priority_threshold is not None and profile.evictor.priority_threshold.name
        for profile in written.profiles
    )
    with pytest.raises(ReschedulerError, match="PriorityClass") if absent else nullcontext():
        foretold_plan(WORLD, written, DEFAULTS, OwnRules())
    return written


def read_or_refused(raw: bytes) -> DeschedulerPolicy | None:
    """Each refusal names the file."""
    try:
        return read_file("d.yaml", raw)
    except PolicyError as error:
        told = str(error)
    assert told.startswith("d.yaml")
    return None


@settings(max_examples=200, deadline=None)
@example(0, len(VALID), b"")
@example(VALID.index(b"kubernetes.io/"), 0, b"A")
@example(len(VALID), 0, b"\xff\xfe")
@example(0, 0, b"\xef\xbb\xbf")
@given(st.integers(0, len(VALID)), st.integers(0, 40), st.binary(max_size=12))
def test_a_file_with_any_bytes_in_it_is_read_or_refused(at: int, gone: int, more: bytes) -> None:
    """As after a slip of the hand, or a write that was cut off."""
    judged(VALID[:at] + more + VALID[at + gone :])


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values stand."""
    below = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(found for key, value in below for found in places(value, (*path, key)))]


PLACES = places(yaml.safe_load(VALID))[1:]


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(PLACES), VALUES)
def test_any_value_in_any_place_is_read_or_refused(path: tuple[Any, ...], value: Any) -> None:
    """Also where it is of another type; what is read makes a plan."""
    data = yaml.safe_load(VALID)
    level = data
    for step in path[:-1]:
        level = level[step]
    level[path[-1]] = value
    judged(yaml.safe_dump(data, allow_unicode=True).encode("utf-8", errors="surrogatepass"))


def test_the_file_itself_is_read_and_asks_for_evictions() -> None:
    """Else these tests would show nothing."""
    written = judged(VALID)
    assert written is not None
    assert foretold_plan(WORLD, written, DEFAULTS, OwnRules()).objectives[0].value


def test_a_file_that_is_cut_off_is_refused_where_it_is_too_large() -> None:
    """What was read of it would be another policy than was written."""
    with pytest.raises(PolicyError, match="larger than 1024 KiB"):
        read_file("d.yaml", VALID + b"#" * 1024 * 1024)
