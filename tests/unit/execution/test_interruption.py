"""Ctrl-C and failures at any call: no further eviction, every placeholder released, an honest report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.extension_points import ClusterError, ExecutionInterruptedError
from rescheduler.model.plan.plan import PodReference
from tests.unit.execution.worlds import World, chain, chained, executor, fragmented, outcomes, two_moves

CALLS = ("read", "read_pod", "read_pods", "evict", "hold", "renew", "nominate", "leftovers", "record", "can_hold")


class Breaking(World):
    """Raises an error at the n-th call of the ExecutionTarget, before or after the call has had its effect."""

    def __init__(self, start: Any, error: BaseException, at: int, *, after: bool) -> None:
        super().__init__(start)
        self.left = at
        self.log: list[str] = []
        for name in CALLS:
            setattr(self, name, self._counted(name, getattr(self, name), error, after=after))

    def _counted(self, name: str, call: Callable[..., Any], error: BaseException, *, after: bool) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.left -= 1
            strikes = self.left == 0
            if strikes and not after:
                self.log.append("strike")
                raise error
            answer = call(*arguments, **named)
            self.log.append(f"{name} {'dry' if named.get('dry_run') else ''}".strip())
            if strikes:
                self.log.append("strike")
                raise error
            return answer

        return counted


@settings(max_examples=120, deadline=None)
@given(at=st.integers(1, 70), after=st.booleans(), is_chain=st.booleans())
def test_ctrl_c_at_any_call_ends_evictions_and_leaves_nothing(at: int, after: bool, is_chain: bool) -> None:
    """No eviction is sent after the interrupt, no placeholder stands, and every eviction sent is accounted for."""
    start = chained() if is_chain else fragmented()
    plan = chain(start) if is_chain else two_moves(start)
    world = Breaking(start, KeyboardInterrupt(), at, after=after)
    try:
        result = executor(world).carry_out(plan)
    except ExecutionInterruptedError as interrupted:
        result = interrupted.result
        assert not any(act.startswith("evict") for act in world.log[world.log.index("strike") :])
    world.left = 0  # what is asked from here on is not broken any more
    told = outcomes(result)
    for name in world.evicted:
        assert told[name][0] in ("Landed", "LandedElsewhere", "Unknown")
    assert world.leftovers() == []


@settings(max_examples=120, deadline=None)
@given(at=st.integers(1, 70), after=st.booleans(), is_chain=st.booleans())
def test_a_failing_cluster_at_any_call_leaves_nothing_and_loses_no_pod(at: int, after: bool, is_chain: bool) -> None:
    """Errors of the cluster stop the plan or are lived through; all pods that ran before run in the end."""
    start = chained() if is_chain else fragmented()
    plan = chain(start) if is_chain else two_moves(start)
    world = Breaking(start, ClusterError("connection refused"), at, after=after)
    running = sum(pod.node_name is not None for pod in start.pods)
    try:
        result = executor(world).carry_out(plan)
    except ClusterError:
        assert not world.writes
    else:
        for name in world.evicted:
            assert outcomes(result)[name][0] in ("Landed", "LandedElsewhere", "Unknown")
    world.left = 0
    assert world.leftovers() == []
    world.settle()
    assert sum(pod.is_ready for pod in world.read().pods) >= running


def test_an_interrupt_during_an_eviction_tells_whether_it_took_effect() -> None:
    """The answer never came, so the pod itself is asked."""
    start = fragmented()
    world = World(start)

    def cut(reference: PodReference, dry_run: bool) -> None:
        super(World, world).evict(reference, world.pod(reference.name).resource_version, dry_run=dry_run)
        raise KeyboardInterrupt

    world.script = [None, cut]
    with pytest.raises(ExecutionInterruptedError) as caught:
        executor(world).carry_out(two_moves(start))
    move = caught.value.result.moves[0]
    assert move.outcome.value == "Unknown"
    assert "the pod has left" in move.message
    assert outcomes(caught.value.result)["web-01"] == ("NotAttempted", None)


def test_placeholders_that_cannot_be_removed_are_told() -> None:
    """They go by themselves, and the report says when."""
    start = fragmented()
    world = World(start)

    def refuse(names: object) -> None:
        raise ClusterError("403 Forbidden")

    world.release = refuse  # type: ignore[method-assign, assignment]
    result = executor(world).carry_out(two_moves(start))
    assert any("within 65 s" in warning and "rescheduler clean" in warning for warning in result.warnings)


def test_a_cluster_that_cannot_be_read_at_all_is_an_error_not_a_result() -> None:
    """Nothing was done, so there is nothing to report but the reason."""
    world = Breaking(fragmented(), ClusterError("no route to host"), 1, after=False)
    with pytest.raises(ClusterError, match="no route"):
        executor(world).carry_out(two_moves(fragmented()))


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_what_was_told_in_passing_has_come_to_its_end_when_a_plan_is_over(is_interrupted: bool) -> None:
    """Whatever way it ends, and even while somebody loses patience with that."""
    start = fragmented()
    world = World(start)
    calls: list[str] = []
    record = world.record
    world.record = lambda *given, **named: calls.append("record") or record(*given, **named)  # type: ignore[func-returns-value,method-assign]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def finish() -> None:
        calls.append("finish")
        raise KeyboardInterrupt

    world.finish_telling = finish  # type: ignore[method-assign]
    if is_interrupted:
        world.script = [None, None, interrupt]
        with pytest.raises(ExecutionInterruptedError):
            executor(world).carry_out(two_moves(start))
    else:
        executor(world).carry_out(two_moves(start))
    assert "record" in calls
    assert calls.index("finish") == len(calls) - 1
