"""What metrics ask for when they are scraped: functions that answer at once, from memory, in any thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rescheduler.adapters.kubernetes.client.request_record import RequestCount
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster

_Found = TypeVar("_Found")


def _unknown() -> None:
    return None


@dataclass(frozen=True)
class Sources:
    """Each gives None where nothing is known. None of them may ask the API server or wait for a lock for long.

    ``ledger``: as last read, with what was told since, None while another one leads; ``snapshot``: as last decided
    on; ages in seconds;
    ``requests``: every request to the API server so far, by verb, kind and outcome (``RequestRecord.counts``);
    ``leads``: whether we lead, left out: what notices told; ``out_of_sync``: kinds that are not watched;
    ``frozen``: whether the cluster's health forbids evictions; ``triggers``: names of the policy's.
    """

    ledger: Callable[[], Ledger | None] = _unknown
    snapshot: Callable[[], Cluster | None] = _unknown
    watch_age: Callable[[], float | None] = _unknown
    usage_age: Callable[[], float | None] = _unknown
    heartbeat_age: Callable[[], float | None] = _unknown
    requests: Callable[[], Mapping[RequestCount, int] | None] = _unknown
    leads: Callable[[], bool | None] = _unknown
    out_of_sync: Callable[[], tuple[str, ...] | None] = _unknown
    frozen: Callable[[], bool | None] = _unknown
    triggers: Callable[[], tuple[str, ...] | None] = _unknown


NOTHING_KNOWN = Sources()


def asked(source: Callable[[], _Found | None]) -> _Found | None:
    """The answer, None also where the source fails: a scrape tells what it can."""
    try:
        return source()
    except Exception:  # noqa: BLE001 - the metric is absent then, and that is what tells of it
        return None
