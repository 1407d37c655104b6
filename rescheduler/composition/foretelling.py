"""Foretells what a DeschedulerPolicy would do."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.composition.given_policies import GivenFiles, bytes_of, sorted_out
from rescheduler.cycle import Asked, CycleOptions, make_plan
from rescheduler.descheduler.converting.convert import converted
from rescheduler.descheduler.foretelling import by_state, foretold_plan, profiles_of, walked
from rescheduler.descheduler.improving.finished import finished_victims
from rescheduler.descheduler.improving.improving import Ends, within_limits
from rescheduler.descheduler.own_rules import OwnRules
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, read_descheduler_policy
from rescheduler.extension_points import Clock, LedgerReading, Progress, ReschedulerError, no_progress
from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.foretold_plan import ForetoldPlan
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Guidance, Permission, Policy, with_unready
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.policy_text import MOST_BYTES
from rescheduler.scheduling.schedulers import Schedulers


def read_file(file: str, raw: bytes) -> DeschedulerPolicy:
    """Read what stands in one. Raises PolicyError."""
    if len(raw) > MOST_BYTES:
        raise PolicyError([ReadingProblem(file, 0, 0, "", f"larger than {MOST_BYTES // 1024} KiB; that is no policy")])
    try:
        return read_descheduler_policy(raw.decode("utf-8-sig"), file)
    except UnicodeDecodeError as error:
        raise PolicyError([ReadingProblem(file, 0, 0, "", f"not UTF-8 at byte {error.start}")]) from None


def read_only_one(given: GivenFiles) -> DeschedulerPolicy | None:
    """The one that is there, if any. Raises PolicyError where there are two of them."""
    if len(given.theirs) > 1:
        (first, _), (second, _) = given.theirs[:2]
        text = f"a second DeschedulerPolicy beside {first}; name one of them"
        raise PolicyError([ReadingProblem(second, 0, 0, "", text)])
    return read_file(*given.theirs[0]) if given.theirs else None


def converted_file(file: str) -> str:
    """The policy of our own that comes nearest to a DeschedulerPolicy. Raises PolicyError."""
    given = sorted_out([file])
    written = read_only_one(given)
    if written is None:
        text = "is no DeschedulerPolicy, nor a ConfigMap that holds one" if bytes_of(file) else "cannot be read"
        raise PolicyError([ReadingProblem(file, 0, 0, "", text)])
    return converted(written, file)


def policy_beside(policy: Policy, files: Sequence[str]) -> Policy:
    """Our own rules beside a DeschedulerPolicy: its plugins are the objectives, and kube-scheduler places the pods.

    Raises PolicyError for objectives of our own.
    """
    if "objectives" in policy.model_fields_set:
        text = "stand beside a DeschedulerPolicy, whose plugins are the objectives; leave them out"
        raise PolicyError([ReadingProblem(", ".join(files), 0, 0, "objectives", text)])
    return policy.model_copy(update={"guidance": Guidance.PREDICT})


def refuse_absent_classes(written: DeschedulerPolicy, cluster: Cluster, file: str = "") -> None:
    """Raise PolicyError for a PriorityClass that is not there: descheduler would not start."""
    try:
        profiles_of(written, cluster)
    except ReschedulerError as error:
        raise PolicyError([ReadingProblem(file, 0, 0, "", str(error))]) from None


def plan(
    cluster: Cluster,
    written: DeschedulerPolicy,
    policy: Policy,
    *,
    selection: Selection,
    schedulers: Schedulers,
    earlier: LedgerReading,
) -> ForetoldPlan:
    """Walk one cycle; writes nothing. Raises PolicyError for a PriorityClass that is not there."""
    refuse_absent_classes(written, cluster)
    stop = stop_file(policy.stop.file) or earlier.stop
    return foretold_plan(cluster, written, schedulers, OwnRules(policy, selection, earlier.ledger, stop))


def improve(
    cluster: Cluster,
    written: DeschedulerPolicy,
    policy: Policy,
    *,
    selection: Selection,
    schedulers: Schedulers,
    earlier: LedgerReading,
    seed: int = 0,
    clock: Clock | None = None,
    progress: Progress = no_progress,
) -> Plan:
    """Plan for the ends of the policy's plugins; writes nothing. Raises as ``plan``."""
    refuse_absent_classes(written, cluster)
    stop = stop_file(policy.stop.file) or earlier.stop
    walk, policy = walked(cluster, written, schedulers), within_limits(policy, written)
    finished = finished_victims(walk, OwnRules(policy, selection, earlier.ledger, stop), schedulers)
    are_lenient = bool(by_state(written)) and policy.disruption.not_ready is Permission.DENY
    ends = Ends(walk, written, unready_stay=are_lenient)
    left = finished.policy_for_moves
    options = CycleOptions(
        clock or SystemClock(), schedulers, selection, seed, progress, ledger=earlier.ledger, stop=stop
    )

    def asked(columns: Columns) -> Asked:
        return Asked(ends.asked(columns), ends.recounts())

    plan = finished.beside(make_plan(cluster, with_unready(left) if are_lenient else left, options, asked))
    return ends.beside(plan, schedulers, finished.left_by(plan))
