"""The policy in force, and the one that waits: a change that reaches further needs somebody who says yes to it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from rescheduler.daemon.policies.policy_files import FileProblem, PolicyFiles, PolicyReading
from rescheduler.daemon.policies.widening import widenings
from rescheduler.daemon.steering.steering_errors import UnknownHeldPolicyError
from rescheduler.disruption.eligibility_context import DEFAULT_SCHEDULERS
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.notices import Notice, PolicyHeld, PolicyKept, PolicyLoaded
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.values import format_duration

__all__ = ["Held", "PolicyInForce"]


class Held(NamedTuple):
    """A policy that waits, and why. Its number is its own ``policy_id``, so that whoever says yes means just this."""

    reading: PolicyReading
    widening: tuple[str, ...]


class PolicyInForce:
    """Polled and acknowledged by the main loop. ``hear`` is told why a change is not in force.

    ``reading``: what is in force. The first policy of a process needs nobody's yes.
    """

    def __init__(self, files: PolicyFiles, clock: Clock, hear: Callable[[Notice], None]) -> None:
        """Reads the files. Raises as their ``load``."""
        self._files = files
        self._clock = clock
        self._hear = hear
        self._lock = threading.Lock()
        self._held: Held | None = None
        self._acknowledged = ""
        self._accepted = ""
        self._is_kept = False
        self._before: PolicyReading | None = None
        self.reading = files.first()
        self._since = clock.now()

    @property
    def held(self) -> Held | None:
        """What waits to be acknowledged."""
        return self._held

    def acknowledge(self, held_id: str, who: str = "") -> None:
        """Say yes to the policy that waits; ``poll`` brings it in force. Raises UnknownHeldPolicyError."""
        del who  # whoever asked tells who it was
        with self._lock:
            if self._held is None or self._held.reading.policy_id != held_id:
                raise UnknownHeldPolicyError("no policy of this number waits to be acknowledged")
            self._acknowledged = held_id

    def revert(self, problem: str, *, try_again: bool) -> None:
        """What ``poll`` brought in force last cannot be used after all; the one before is in force again, and told.

        ``try_again``: it may yet be usable, without another change of its files.
        """
        if self._before is not None:
            self.reading, self._before = self._before, None
        if try_again:
            self._files.look_again()
        self._keep(FileProblem(problem))

    def poll(
        self,
        cluster: Callable[[], Cluster | None] = lambda: None,
        *,
        schedulers: frozenset[str] = DEFAULT_SCHEDULERS,
        at_once: bool = False,
    ) -> PolicyReading | None:
        """The policy that has come in force since the last call; None: the one before still is.

        ``cluster``: the newest snapshot, asked for only where a new policy is to be judged. ``schedulers``: names of
        those that can be predicted. ``at_once``: does not wait for the files to settle.
        """
        with self._lock:
            if self._held is not None and self._acknowledged == self._held.reading.policy_id:
                return self._in_force(self._held.reading)
        found = self._files.poll(at_once=at_once)
        if isinstance(found, FileProblem):
            self._keep(found)
            return None
        return None if found is None else self._judge(found, cluster, schedulers)

    def _judge(
        self, found: PolicyReading, cluster: Callable[[], Cluster | None], schedulers: frozenset[str]
    ) -> PolicyReading | None:
        if found.policy_id == self.reading.policy_id:
            self._back_to_normal()
            return None
        old = self.reading
        words = widenings(
            old.policy, found.policy,
            files=(old.contents, found.contents), cluster=cluster(), schedulers=schedulers,
        )  # fmt: skip
        if not words or found.policy_id in (found.policy.metadata.acknowledged, self._accepted):
            return self._in_force(found)
        self._hold(found, words)
        return None

    def _in_force(self, reading: PolicyReading) -> PolicyReading:
        self._held, self._acknowledged, self._is_kept = None, "", False
        self._before, self._accepted = self.reading, reading.policy_id
        self.reading, self._since = reading, self._clock.now()
        return reading

    def _hold(self, reading: PolicyReading, words: tuple[str, ...]) -> None:
        meant = reading.policy.metadata.acknowledged
        if meant is not None:
            words = (*words, f"metadata.acknowledged names another policy, {meant}")
        words = (*words, f'acknowledge with metadata.acknowledged: "{reading.policy_id}"')
        with self._lock:
            self._held, self._acknowledged = Held(reading, words), ""
        self._hear(PolicyHeld(self._clock.now(), self.reading.policy_id, reading.policy_id, words))

    def _keep(self, problem: FileProblem) -> None:
        with self._lock:
            self._held, self._acknowledged = None, ""
        self._is_kept = True
        age = format_duration(float(round(max(self._clock.now() - self._since, 0.0))))
        text = f"keeping the policy that has been in force for {age} (sha256 {self.reading.policy_id}): {problem.text}"
        self._hear(PolicyKept(self._clock.now(), self.reading.policy_id, text))

    def _back_to_normal(self) -> None:
        """The files say again what is in force."""
        was_other = self._is_kept or self._held is not None
        with self._lock:
            self._held, self._acknowledged = None, ""
        self._is_kept = False
        if was_other:
            policy = self.reading.policy
            now = self._clock.now()
            self._hear(PolicyLoaded(now, self.reading.policy_id, policy.metadata.name, policy.mode.value))
