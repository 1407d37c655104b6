"""What a daemon runs by where a DeschedulerPolicy is among its files: our own rules beside it, and its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rescheduler.composition.foretelling import policy_beside, read_file, read_only_one
from rescheduler.composition.given_policies import is_theirs, sorted_out
from rescheduler.daemon.plugins import load_policy
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
from rescheduler.policy.fields.daemon.triggers import every
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem


def load_run_policy(files: Sequence[str], interval_seconds: float | None = None) -> Policy:
    """The policy that binds a daemon. Raises PolicyError, also for a DeschedulerPolicy that upstream would refuse.

    ``interval_seconds``: between two cycles of a DeschedulerPolicy, in place of triggers.
    """
    given = sorted_out(files)
    policy = load_policy(given.own)
    if read_only_one(given) is not None:
        beside = policy_beside(policy, given.own)
        return beside.model_copy(update={"triggers": every(interval_seconds)}) if interval_seconds else beside
    if interval_seconds is not None:
        text = "is for a DeschedulerPolicy, and none is given; write triggers into the policy"
        raise PolicyError([ReadingProblem("--descheduling-interval", 0, 0, "", text)])
    return policy


def descheduler_policy_in(contents: Mapping[str, bytes]) -> DeschedulerPolicy | None:
    """The one among the contents of files, if any. Raises PolicyError."""
    return next((read_file(file, raw) for file, raw in sorted(contents.items()) if is_theirs(raw)), None)


def descheduler_files(files: Sequence[str]) -> tuple[str, ...]:
    """Those of the files that are DeschedulerPolicies."""
    return tuple(file for file, _ in sorted_out(files).theirs)
