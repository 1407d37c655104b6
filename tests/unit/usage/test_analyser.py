"""Tests of the verdict on each node, and of what is remembered between passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rescheduler.model.usage.samples import NodeSamples, no_samples
from rescheduler.model.usage.trust import Assessment, TrustState
from rescheduler.policy.fields.usage import UsageTrust
from rescheduler.usage.analyser import Memory, assess, remember
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.plausibility import sift
from tests.builders import NOW, node
from tests.unit.usage.cases import evidence, lively, nan, nodes, samples

WINDOW = 300.0


def judged(found: Evidence, memory: Memory | None = None, window: float = WINDOW) -> Assessment:
    """One pass."""
    return assess(found, window, remember(found, memory or Memory(), 900.0))


def states(assessment: Assessment) -> list[str]:
    """State of each node."""
    return [str(trust.state) for trust in assessment.nodes]


def test_healthy_nodes_are_trusted() -> None:
    """Without reasons, without a freeze."""
    found = judged(evidence())
    assert states(found) == ["Trusted"] * 5
    assert (found.freeze, found.falls_back) == ("", False)
    assert all(trust.reason == "" for trust in found.nodes)


def ladder() -> list[tuple[str, dict[str, Any]]]:
    """States from the worst on, each with what must be put right to get to the next."""
    lively_times = samples(lively(20)).measured_at
    moving = lively(20)
    return [
        ("Implausible", {"rejected": {}}),
        ("Predicted", {"oldest_bound": np.full(20, -np.inf)}),
        ("New", {"exists_since": np.full(20, NOW - 86400)}),
        ("Stale", {"measured_at": lively_times}),
        ("Implausible", {"pod_totals": None}),
        ("Frozen", {"cpu": moving}),
        ("Disputed", {"disputed": {}}),
        ("Settling", {"touched": {}}),
        ("Trusted", {}),
    ]


def broken(fixes: dict[str, Any]) -> Evidence:
    """A node n0 with everything wrong but what is put right."""
    cpu = lively(20)
    cpu[:, 0] = 0.01
    memory = np.tile(np.linspace(0.2, 0.4, 20), (20, 1))
    memory[:, 1:] += lively(19, seed=1) / 10
    at = samples(cpu).measured_at.copy()
    at[:, 0] -= 100.0
    fields: dict[str, Any] = {
        "rejected": {"n0": "cpu of inf"},
        "oldest_bound": np.full(20, NOW),
        "exists_since": np.where(np.arange(20) == 0, NOW - 60, NOW - 86400),
        "pod_totals": np.full((2, 20), 1000.0),
        "disputed": {"n0": "two disagree"},
        "touched": {"n0": NOW},
        **fixes,
    }
    given_samples = samples(fields.pop("cpu", cpu), memory, measured_at=fields.pop("measured_at", at))
    return evidence(given_samples, **fields)


def test_the_worst_objection_gives_the_state() -> None:
    """Each cause that is put right shows the next, in the order in which they count."""
    fixes: dict[str, Any] = {}
    for state, fix in ladder():
        assert states(judged(broken(fixes)))[0] == state
        fixes.update(fix)


def test_a_window_with_too_little_in_it_is_new() -> None:
    """And a longer one is not."""
    given_samples = samples(lively(), times=NOW + 150.0 * np.arange(-19, 1))
    assert states(judged(evidence(given_samples), window=300.0)) == ["New"] * 5
    assert states(judged(evidence(given_samples), window=900.0)) == ["Trusted"] * 5


def test_young_and_settling_nodes_are_covered() -> None:
    """Their samples are good; they are left alone for another reason."""
    found = judged(evidence(exists_since=np.full(5, NOW - 60)))
    assert states(found) == ["New"] * 5
    assert (found.freeze, found.falls_back) == ("", False)
    found = judged(evidence(touched={f"n{number}": NOW for number in range(5)}))
    assert states(found) == ["Settling"] * 5
    assert (found.freeze, found.falls_back) == ("", False)


def test_a_young_node_without_samples_is_covered_once_it_is_predicted() -> None:
    """A scale-up of empty nodes freezes nothing."""
    cpu, memory = lively(), lively(seed=1)
    cpu[:, 3:], memory[:, 3:] = nan, nan
    since = np.where(np.arange(5) >= 3, NOW - 60, NOW - 86400)
    found = judged(evidence(samples(cpu, memory), exists_since=since, oldest_bound=np.full(5, np.inf)))
    assert states(found) == ["Trusted"] * 3 + ["Predicted"] * 2
    assert found.freeze == ""
    found = judged(evidence(samples(cpu, memory), exists_since=since))
    assert states(found) == ["Trusted"] * 3 + ["New"] * 2
    assert "only 3 of 5 nodes" in found.freeze


def test_the_freeze_tells_what_most_nodes_lack() -> None:
    """With an example."""
    found = judged(evidence(no_samples(("n0", "n1"), NOW), nodes=nodes(2)))
    assert found.falls_back
    assert "only 0 of 2 nodes" in found.freeze
    assert "(2 Missing: no cpu and no memory sample within 300s)" in found.freeze


def test_no_nodes_are_no_reason_to_fail() -> None:
    """An empty cluster."""
    empty = evidence(samples(np.zeros((0, 0)), np.zeros((0, 0))))
    found = judged(empty)
    assert (found.nodes, found.falls_back) == ((), False)


@pytest.mark.parametrize("window", [300.0, 600.0])
def test_a_freeze_lasts_one_window_and_thaws(window: float) -> None:
    """From when its cause was last seen; each window by its own length."""
    memory = remember(evidence(), Memory(), 900.0, distrust="Prometheus lies")
    for ago, is_frozen in ((0.0, True), (window - 1, True), (window, False)):
        later = evidence(samples(lively(), times=NOW + ago + 15.0 * np.arange(-19, 1)), now=NOW + ago)
        found = assess(later, window, memory)
        assert bool(found.freeze) == is_frozen
        if is_frozen:
            assert found.freeze == f"Prometheus lies ({ago:.0f}s ago; frozen for {window:.0f}s)"


def test_a_drop_and_equal_values_freeze() -> None:
    """Found in the samples, and once only."""
    cpu = np.full((20, 5), 0.4) + lively() / 100
    cpu[-1] /= 3
    memory = remember(evidence(samples(cpu)), Memory(), 900.0)
    assert [freeze.at for freeze in memory.freezes] == [NOW]
    assert remember(evidence(samples(cpu)), memory, 900.0).freezes == memory.freezes
    assert "cpu of the whole cluster fell by" in assess(evidence(samples(cpu)), WINDOW, memory).freeze
    equal = lively()
    equal[-1] = 0.4
    assert "5 of 5 nodes showed the same cpu" in judged(evidence(samples(equal))).freeze


def test_history_is_searched_for_causes_too() -> None:
    """Four minutes ago is within the window, whoever looked then."""
    equal = lively()
    equal[3] = 0.4
    assert "(240s ago; frozen for 300s)" in judged(evidence(samples(equal))).freeze


def test_a_lie_that_looked_possible_is_held_against_the_node_for_one_window() -> None:
    """Its values are still in the averages. A node made anew is not to blame."""
    memory = remember(evidence(disputed={"n1": "two disagree"}), Memory(), 900.0)
    later = evidence(samples(lively(), times=NOW + 60 + 15.0 * np.arange(-19, 1)), now=NOW + 60)
    found = assess(later, WINDOW, memory)
    assert states(found) == ["Trusted", "Disputed", "Trusted", "Trusted", "Trusted"]
    assert found.nodes[1].reason == "two disagree (60s ago; not believed for 300s)"
    assert states(assess(replace(later, now=NOW + 300), 3600.0, memory))[1] != "Trusted"
    anew = replace(later, nodes=(later.nodes[0], type(later.nodes[1])(name="n1", uid="another"), *later.nodes[2:]))
    assert states(assess(anew, WINDOW, memory)) == ["Trusted"] * 5


def test_what_is_older_than_the_longest_window_is_forgotten() -> None:
    """The memory does not grow."""
    memory = remember(evidence(disputed={"n1": "why"}), Memory(), 900.0, distrust="lies")
    later = evidence(samples(lively(), times=NOW + 900 + 15.0 * np.arange(-19, 1)), now=NOW + 900)
    forgotten = remember(later, memory, 900.0)
    assert (forgotten.freezes, dict(forgotten.held)) == ((), {})


def test_a_clock_that_is_set_back_neither_loses_nor_prolongs_what_was_found() -> None:
    """It counts as found now, and thaws one window later; and new causes are found at once."""
    memory = remember(evidence(disputed={"n1": "why"}), Memory(), 900.0, distrust="lies")
    earlier = NOW - 86400

    def later(seconds: float, cpu: np.ndarray) -> Evidence:
        given_samples = samples(cpu, times=earlier + seconds + 15.0 * np.arange(-19, 1))
        return evidence(given_samples, now=earlier + seconds, exists_since=np.full(5, -np.inf))

    back = remember(later(0, lively()), memory, 900.0)
    assert "lies (0s ago" in assess(later(0, lively()), WINDOW, back).freeze
    assert states(assess(later(299, lively()), WINDOW, back))[1] == "Disputed"
    assert assess(later(300, lively()), WINDOW, back).freeze == ""
    equal = lively()
    equal[-1] = 0.4
    assert "showed the same cpu" in assess(later(300, equal), WINDOW, remember(later(300, equal), back, 900.0)).freeze


def test_the_memory_passed_in_is_left_as_it_was() -> None:
    """Pure: state in, state out."""
    memory = Memory()
    remember(evidence(disputed={"n1": "why"}), memory, 900.0, distrust="lies")
    assert memory == Memory()


anything = arrays.arrays(np.float64, (6, 4), elements=st.one_of(st.floats(width=64), st.floats(0.1, 0.6), st.just(nan)))


@settings(max_examples=60)
@given(anything, anything, st.permutations(range(4)))
def test_whatever_a_source_says_no_node_is_trusted_without_values(
    cpu: np.ndarray, memory: np.ndarray, order: list[int]
) -> None:
    """Nothing raises; a usable node has a possible newest value; and the order of the nodes changes nothing."""
    sifted = sift(samples(cpu, memory), {})
    found = evidence(sifted.samples, rejected=sifted.reasons)
    assessment = judged(found)
    for number, trust in enumerate(assessment.nodes):
        assert (trust.state is TrustState.TRUSTED) == (trust.reason == "")
        if trust.is_usable:
            known = [found.newest[metric][number] for metric in found.expected]
            assert all(0 <= value <= 1.5 for value in known)
    turned = sift(samples(cpu[:, order], memory[:, order]), {}).samples
    named = NodeSamples(tuple(f"n{at}" for at in order), turned.times, turned.values, turned.measured_at)
    again = judged(evidence(named, nodes=tuple(node(f"n{at}") for at in order), rejected=sifted.reasons))
    assert [again.nodes[order.index(number)] for number in range(4)] == list(assessment.nodes)
    assert (again.freeze, again.falls_back) == (assessment.freeze, assessment.falls_back)


@given(st.integers(0, 30), st.floats(0, 1))
def test_more_coverage_never_freezes_what_less_did_not(missing_nodes: int, coverage: float) -> None:
    """A node whose samples vanish can only make things worse."""
    cpu, memory = lively(30), lively(30, seed=1)
    # Of one node left the load may well fall, and of none it cannot: only coverage is meant here.
    trust = UsageTrust(coverage=coverage, largest_drop=1.0)

    def freeze(count: int) -> str:
        less_cpu, less_memory = cpu.copy(), memory.copy()
        less_cpu[:, :count], less_memory[:, :count] = nan, nan
        return judged(evidence(samples(less_cpu, less_memory), trust=trust)).freeze

    if missing_nodes < 30 and freeze(missing_nodes):
        assert freeze(missing_nodes + 1)
