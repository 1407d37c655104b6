"""When a policy's cron schedules ask for a round next, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from rescheduler.disruption.windows import told
from rescheduler.policy.cron import openings, zone_of
from rescheduler.policy.models import Policy
from rescheduler.policy.trigger_arguments import trigger_arguments
from rescheduler.policy.triggers import ScheduleArgs

TIMES_TOLD: Final = 3


def round_times(policy: Policy, now: float) -> Iterator[str]:
    """The next three times of each schedule after a moment, in UTC and in its own time zone."""
    for trigger in policy.triggers:
        args = trigger_arguments(trigger)
        if not isinstance(args, ScheduleArgs) or args.cron is None or args.time_zone is None:
            continue
        zone = args.time_zone
        times = [told(at, zone) for at in islice(openings(args.cron, zone_of(zone), now), TIMES_TOLD)]
        what = f"the schedule {args.cron} ({zone})"
        yield f"{what} asks for rounds next at {', '.join(times)}" if times else f"{what} asks for no more rounds"
