"""Foretells what a DeschedulerPolicy would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.descheduler.foretelling import OwnRules, foretold_plan
from rescheduler.descheduler.policy_file import (
    DeschedulerPolicy,
    is_descheduler_text,
    read_descheduler_policy,
)
from rescheduler.extension_points import LedgerReading
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.foretold_plan import ForetoldPlan
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.policy_text import MOST_BYTES
from rescheduler.scheduling.schedulers import Schedulers


def descheduler_files(files: Sequence[str]) -> tuple[str, ...]:
    """Those of the files that are DeschedulerPolicies, told by their beginning; what cannot be read is not."""
    return tuple(file for file in files if is_descheduler_text(_text(file)))


def read_file(file: str) -> DeschedulerPolicy:
    """Read one. Raises PolicyError."""
    return read_descheduler_policy(_text(file), file)


def only_one(files: Sequence[str]) -> None:
    """Raise PolicyError where there are two of them."""
    if len(files) > 1:
        text = f"a second DeschedulerPolicy beside {files[0]}; name one of them"
        raise PolicyError([ReadingProblem(files[1], 0, 0, "", text)])


def plan(
    cluster: Cluster,
    written: DeschedulerPolicy,
    policy: Policy,
    *,
    selection: Selection,
    schedulers: Schedulers,
    earlier: LedgerReading,
) -> ForetoldPlan:
    """Walk one cycle; writes nothing."""
    stop = stop_file(policy.stop.file) or earlier.stop
    return foretold_plan(cluster, written, schedulers, OwnRules(policy, selection, earlier.ledger, stop))


def _text(file: str) -> str:
    path = Path(file)
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""
