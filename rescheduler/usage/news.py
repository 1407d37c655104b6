"""What has changed from one tick to the next that people should know of, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.usage.collected import Collected
from rescheduler.usage.provider_health import ProviderHealth


def news(before: Collected, after: Collected) -> Iterator[str]:
    """One sentence for each thing that went wrong, or is well again, since the tick before."""
    earlier = before.providers if before.ticks else tuple(ProviderHealth(one.name) for one in after.providers)
    for old, new in zip(earlier, after.providers, strict=True):
        yield from _changed("", old.error, new.error, f"{new.name}: answers again")
        yield from _changed("", old.distrust, new.distrust, f"{new.name}: its answers are believed again")
        yield from _changed("", old.history_error, new.history_error, "")
        for text in new.warnings:
            if text not in old.warnings:
                yield f"{new.name}: {text}"
    yield from _changed("", before.cluster_error, after.cluster_error, "nodes and pods can be read again")
    yield from _changed("", before.store_error, after.store_error, "samples are kept in the file again")
    yield from _changed("frozen: ", _freeze(before), _freeze(after), "measured load may steer moves again")


def _changed(prefix: str, old: str, new: str, is_well: str) -> Iterator[str]:
    """Only the coming and going is news: the text itself may count seconds."""
    if new and not old:
        yield prefix + new
    elif old and not new and is_well:
        yield is_well


def _freeze(collected: Collected) -> str:
    """Why load over the longest window may steer nothing."""
    windows = collected.windows.by_seconds
    assessment = windows[max(windows)].assessment if windows else None
    return "" if assessment is None else assessment.freeze
