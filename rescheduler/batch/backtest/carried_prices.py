"""A policy's prices as a task carries them: with its table, so that nobody needs the file where plans are made."""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Any

import msgspec

from rescheduler.model.prices import Place, PriceRow, PriceTable
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.prices import PricesPolicy


class _Carried(msgspec.Struct, frozen=True):
    """``rows``: keys and price; what such a node offers is for what-ifs, and stays behind."""

    fields: dict[str, Any]
    per: str
    rows: list[tuple[Place, float]]


def packed_prices(policy: Policy) -> bytes:
    """What a policy says that nodes cost, compressed; nothing where nobody asks for prices."""
    prices = policy.prices
    if not prices.is_asked_for:
        return b""
    fields = prices.model_dump(mode="json", exclude={"file"})
    rows = [(row.place, row.price) for row in prices.table.rows()]
    return zlib.compress(msgspec.json.encode(_Carried(fields, prices.table.per, rows)))


@lru_cache(maxsize=8)  # the tasks of one policy carry the same
def unpacked_prices(packed: bytes) -> PricesPolicy:
    """The prices as they were; without any: those that nobody asked for."""
    if not packed:
        return PricesPolicy()
    found = msgspec.json.decode(zlib.decompress(packed), type=_Carried)
    prices = PricesPolicy(**found.fields)
    if not found.rows:
        return prices
    table = PriceTable((PriceRow(place, price) for place, price in found.rows), per=found.per)
    return prices.model_copy(update={"file": "the task's"}).with_table(table)
