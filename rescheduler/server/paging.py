"""Long lists in pages: how many, and from where on."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final, NamedTuple

from rescheduler.server.refusals import RefusedError

MOST_ITEMS: Final = 500


class Page(NamedTuple):
    """``limit`` items after the first ``start``, of the list that ``of`` names ("": not said)."""

    limit: int
    start: int = 0
    of: str = ""

    def next(self, length: int, of: str = "") -> str:
        """What the page after this one is asked for with; "" if there is none."""
        end = self.start + self.limit
        return "" if end >= length else base64.urlsafe_b64encode(f"{end}.{of}".encode()).decode()


def page_of(parameters: Mapping[str, str]) -> Page:
    """The page that is asked for. Raises RefusedError."""
    limit = parameters.get("limit", "100")
    if not limit.isascii() or not limit.isdigit() or len(limit) > 9 or not 1 <= int(limit) <= MOST_ITEMS:
        raise RefusedError(400, f"limit: wanted a whole number from 1 to {MOST_ITEMS}")
    text = parameters.get("continue", "")
    if not text:
        return Page(int(limit))
    try:
        start, _, of = base64.b64decode(text.encode(), altchars=b"-_", validate=True).decode().partition(".")
    except (binascii.Error, UnicodeError):
        raise _broken() from None
    if not start.isascii() or not start.isdigit() or len(start) > 9:
        raise _broken()
    return Page(int(limit), int(start), of)


def _broken() -> RefusedError:
    return RefusedError(400, "continue: wanted what the page before has told, as it stands there")
