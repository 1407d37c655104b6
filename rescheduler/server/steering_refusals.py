"""The statuses for what the daemon itself will not do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rescheduler.daemon.people import People
from rescheduler.daemon.steering_errors import (
    ApprovalRefusedError,
    ChangedError,
    KeyReusedError,
    NotLeadingError,
    ObjectionError,
    UnknownHeldPolicyError,
    UnknownPlanError,
)
from rescheduler.extension_points import ReschedulerError
from rescheduler.server.daemon_composing import maybe_told
from rescheduler.server.refusals import Details, RefusedError


@contextmanager
def refused(people: People, plan_id: str) -> Iterator[None]:
    """Turn the daemon's refusals into answers; ``plan_id``: which plan is spoken of, if any."""
    try:
        yield
    except NotLeadingError as error:
        raise RefusedError(503, str(error), {"Retry-After": "5"}, Details(leader=error.holder)) from None
    except UnknownPlanError:
        raise _without_approval(people, plan_id) from None
    except UnknownHeldPolicyError as error:
        raise RefusedError(404, str(error)) from None
    except ApprovalRefusedError as error:
        raise RefusedError(409, str(error), details=Details(newer_plan=error.newer)) from None
    except ObjectionError as error:
        raise RefusedError(409, str(error), details=Details(until=maybe_told(error.until))) from None
    except ChangedError as error:
        raise RefusedError(412, str(error)) from None
    except KeyReusedError as error:
        raise RefusedError(422, str(error), details=Details(path="Idempotency-Key")) from None
    except ReschedulerError as error:
        raise RefusedError(409, str(error)) from None


def _without_approval(people: People, plan_id: str) -> RefusedError:
    """A plan that never waited is not the same as none at all."""
    standing = people.state()
    report = standing.round_of(plan_id)
    if report is None:
        return RefusedError(404, "there is no such plan among the last ones")
    waiting = standing.approvals.proposal
    newer = "" if waiting is None else waiting.plan_id
    text = f"this plan of round {report.number} does not wait for approval; it was made under mode {report.mode}"
    return RefusedError(409, text + (f"; plan {newer} waits now" if newer else ""), details=Details(newer_plan=newer))
