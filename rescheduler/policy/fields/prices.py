"""What nodes cost, and where that stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr

from rescheduler.model.prices import PriceTable
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.selectors import LabelKey

HIGHEST_PRICE = 1e12
CURRENCY = r"^[A-Za-z]{1,8}$"
Price = Annotated[float, Field(ge=0, le=HIGHEST_PRICE)]


class PricesPolicy(PolicyModel):
    """What a node costs: the number in its label, else its row of the file, else the default. With any of them
    EmptyNodes saves the most money, and plans tell what the nodes cost before and after."""

    currency: Annotated[str, Field(pattern=CURRENCY)] = "USD"
    """Printed with amounts, never converted; left out: what the file says, or USD."""
    hours_per_month: Annotated[float, Field(gt=0, le=1000)] = 730.0
    """How many hours a month has, for prices of an hour."""
    file: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """A table of prices as JSON, YAML or CSV, relative to this file; docs/prices.md."""
    label: LabelKey | None = None
    """Label of nodes whose value is the node's price; it beats the file."""
    per: Literal["hour", "month"] = "hour"
    """What ``label`` and ``default`` are prices of; a file says its own."""
    default: Price | None = None
    """Price of a node that is found nowhere else; left out: it has none, and weighs nothing."""

    _table: PriceTable = PrivateAttr(default_factory=PriceTable)

    @property
    def table(self) -> PriceTable:
        """What the file says."""
        return self._table

    def with_table(self, table: PriceTable) -> PricesPolicy:
        """The same with what a file says, and its currency where none is written."""
        is_written = "currency" in self.model_fields_set
        currency = self.currency if is_written or table.currency is None else table.currency
        changed: PricesPolicy = self.model_copy(update={"currency": currency})
        changed._table = table
        return changed

    @property
    def is_asked_for(self) -> bool:
        """Whether there is anything by which a node could have a price."""
        return self.file is not None or self.label is not None or self.default is not None

    def a_month(self, labels: Mapping[str, str]) -> float | None:
        """What a node with these labels costs; None: nobody knows."""
        told = self.told_by_label(labels)
        if told is not None:
            return self._monthly(told, self.per)
        row = self._table.row_for(labels)
        if row is not None:
            return self._monthly(row.price, self._table.per)
        return None if self.default is None else self._monthly(self.default, self.per)

    def told_by_label(self, labels: Mapping[str, str]) -> float | None:
        """The price in a node's label; None: there is no such label, or it is no price."""
        text = None if self.label is None else labels.get(self.label)
        try:
            price = math.nan if text is None else float(text)
        except ValueError:
            return None
        return price if 0 <= price <= HIGHEST_PRICE else None

    def _monthly(self, price: float, per: str) -> float:
        return price * self.hours_per_month if per == "hour" else price
