"""Pods by what became of them: restarted too often, failed, older than a bound, or in a state that is named."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rescheduler.descheduler.arguments import (
    IncludeOrExclude,
    PodArguments,
    Unsigned,
    refused,
)
from rescheduler.descheduler.cycle import PluginTurn, Reply
from rescheduler.model.objects.pod import APP, INIT, Pod
from rescheduler.model.objects.pod_detail import EPHEMERAL, ContainerDetail, PodDetail
from rescheduler.policy.fields.policy_model import PolicyModel

ExitCode = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class TooManyRestartsArguments(PodArguments):
    """Evict pods whose containers were restarted often."""

    pod_restart_threshold: Annotated[int, Field(ge=1, le=2**31 - 1)]
    including_init_containers: bool = False
    states: tuple[Literal["Running", "CrashLoopBackOff"], ...] = ()


class FailedPodsArguments(PodArguments):
    """Evict pods in phase Failed."""

    exclude_owner_kinds: tuple[str, ...] = ()
    min_pod_lifetime_seconds: Unsigned | None = 3600
    reasons: tuple[str, ...] = ()
    exit_codes: tuple[ExitCode, ...] = ()
    including_init_containers: bool = False


class OwnerKinds(IncludeOrExclude):
    """Kinds of owners to keep to, or to leave out."""


class ConditionFilter(PolicyModel):
    """A condition of a pod; fields that are left out are not asked for."""

    type: str = ""
    status: str = ""
    reason: str = ""
    min_time_since_last_transition_seconds: Unsigned | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> ConditionFilter:
        if not (self.type or self.status or self.reason) and self.min_time_since_last_transition_seconds is None:
            raise refused("empty; write type, status, reason or minTimeSinceLastTransitionSeconds")
        return self


PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
STATUS_REASONS = ("NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError")
WAITING_REASONS = (
    "PodInitializing", "ContainerCreating", "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "CrashLoopBackOff",
    "CreateContainerConfigError", "CreateContainerError",
)  # fmt: skip
ENDED_REASONS = (
    "OOMKilled", "Error", "Completed", "DeadlineExceeded", "Evicted", "ContainerCannotRun", "StartError",
)  # fmt: skip
STATES = frozenset((*PHASES, *STATUS_REASONS, *WAITING_REASONS, *ENDED_REASONS))


class PodLifeTimeArguments(PodArguments):
    """Evict pods that are older than a bound, or in a state, condition, or with an exit code."""

    owner_kinds: OwnerKinds = OwnerKinds()
    max_pod_life_time_seconds: Unsigned | None = None
    states: tuple[str, ...] = ()
    conditions: tuple[ConditionFilter, ...] = ()
    exit_codes: tuple[ExitCode, ...] = ()
    including_init_containers: bool = False
    including_ephemeral_containers: bool = False

    @property
    def goes_by_state(self) -> bool:
        """Whether more than age is asked for."""
        return bool(self.states or self.conditions or self.exit_codes)

    @model_validator(mode="after")
    def _has_criterion(self) -> Any:
        if self.max_pod_life_time_seconds is None and not self.goes_by_state:
            raise refused("no criterion; write maxPodLifeTimeSeconds, states, conditions or exitCodes")
        unknown = sorted(set(self.states) - STATES)
        if unknown:
            raise refused(f"states: no state {unknown[0]!r}; there are {', '.join(sorted(STATES))}")
        return self


def remove_restarting_pods(step: PluginTurn, arguments: TooManyRestartsArguments) -> str:
    """Node by node, most restarts first; pods of all phases."""
    kinds = (APP, INIT) if arguments.including_init_containers else (APP,)
    for node in step.nodes:
        counted = [
            (_restarts(step.detail(pod), kinds), pod)
            for pod in step.wanted(node, arguments, finished_too=True)
            if not arguments.states or _is_in_state(step, pod, arguments)
        ]
        found = [(count, pod) for count, pod in counted if count >= arguments.pod_restart_threshold]
        found.sort(key=lambda item: -item[0])
        if not step.evict_each((pod, f"its containers were restarted {count} times") for count, pod in found):
            break
    return ""


def _restarts(detail: PodDetail, kinds: tuple[str, ...]) -> int:
    return sum(item.restart_count for item in _of_kinds(detail, kinds))


def _is_in_state(step: PluginTurn, pod: Pod, arguments: TooManyRestartsArguments) -> bool:
    kinds = (APP, INIT) if arguments.including_init_containers else (APP,)
    waiting = {item.waiting for item in _of_kinds(step.detail(pod), kinds)}
    return pod.phase in arguments.states or bool(waiting.intersection(arguments.states))


def remove_failed_pods(step: PluginTurn, arguments: FailedPodsArguments) -> str:
    """Pods in phase Failed; reasons and exit codes must both hit where they are named."""
    for node in step.nodes:
        failed = [
            (pod, f"failed{f' ({pod.trouble})' if pod.trouble else ''}")
            for pod in step.wanted(node, arguments, finished_too=True)
            if pod.phase == "Failed" and _is_failed_as_named(step, pod, arguments)
        ]
        if not step.evict_each(failed):
            break
    return ""


def _is_failed_as_named(step: PluginTurn, pod: Pod, arguments: FailedPodsArguments) -> bool:
    detail = step.detail(pod)
    least, age = arguments.min_pod_lifetime_seconds, _age(step, pod)
    if least is not None and (age is None or age < least):
        return False
    if any(owner.kind in arguments.exclude_owner_kinds for owner in pod.owners):
        return False
    kinds = (APP, INIT) if arguments.including_init_containers else (APP,)
    containers = [*_of_kinds(detail, kinds)]
    if arguments.reasons and not _reasons(detail, containers).intersection(arguments.reasons):
        return False
    return not arguments.exit_codes or bool(_exit_codes(containers).intersection(arguments.exit_codes))


def remove_old_pods(step: PluginTurn, arguments: PodLifeTimeArguments) -> str:
    """Pods of all phases and nodes, oldest first."""
    found = [
        pod
        for node in step.nodes
        for pod in step.wanted(node, arguments, finished_too=True)
        if _is_past_its_time(step, pod, arguments)
    ]
    found.sort(key=lambda pod: -math.inf if pod.created_at is None else pod.created_at)
    for pod in found:
        if step.evict(pod, f"is {_age(step, pod)}s old") is Reply.TOTAL_LIMIT:
            break
    return ""


def _is_past_its_time(step: PluginTurn, pod: Pod, arguments: PodLifeTimeArguments) -> bool:
    detail, age, most = step.detail(pod), _age(step, pod), arguments.max_pod_life_time_seconds
    if most is not None and (age is None or age < 0 or age <= most):
        return False
    kinds = {owner.kind for owner in pod.owners}
    owners = arguments.owner_kinds
    if (owners.include and not kinds.intersection(owners.include)) or kinds.intersection(owners.exclude):
        return False
    with_init = (APP, INIT) if arguments.including_init_containers else (APP,)
    with_all = (*with_init, EPHEMERAL) if arguments.including_ephemeral_containers else with_init
    states = {pod.phase} | _reasons(detail, [*_of_kinds(detail, with_all)])
    if arguments.states and not states.intersection(arguments.states):
        return False
    if arguments.conditions and not any(_holds(step, detail, wanted) for wanted in arguments.conditions):
        return False
    codes = _exit_codes([*_of_kinds(detail, with_init)])
    return not arguments.exit_codes or bool(codes.intersection(arguments.exit_codes))


def _holds(step: PluginTurn, detail: PodDetail, wanted: ConditionFilter) -> bool:
    """Whether a condition equals the fields that are set and has been so for long enough."""
    for found in detail.conditions:
        is_equal = all(
            not getattr(wanted, field) or getattr(wanted, field) == getattr(found, field)
            for field in ("type", "status", "reason")
        )
        least = wanted.min_time_since_last_transition_seconds
        is_old = least is None or (found.since is not None and math.floor(step.cycle.now - found.since) >= least)
        if is_equal and is_old:
            return True
    return False


def _age(step: PluginTurn, pod: Pod) -> int | None:
    """Whole seconds since the pod was made."""
    return None if pod.created_at is None else math.floor(step.cycle.now - pod.created_at)


def _of_kinds(detail: PodDetail, kinds: tuple[str, ...]) -> Iterator[ContainerDetail]:
    return (item for item in detail.containers if item.kind in kinds)


def _reasons(detail: PodDetail, containers: list[ContainerDetail]) -> set[str]:
    """Of the pod, and for which containers wait or have ended."""
    found = {detail.reason, *(item.waiting for item in containers), *(item.terminated for item in containers)}
    return found - {""}


def _exit_codes(containers: list[ContainerDetail]) -> set[int]:
    return {item.exit_code for item in containers if item.exit_code is not None}
