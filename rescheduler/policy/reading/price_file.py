"""Reads a table of prices as JSON, YAML or CSV, strictly: what is no price is told with its row, and never guessed."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rescheduler.model.objects.resources import CPU, MEMORY, PODS, QuantityError, Resources, offered_amount, resources
from rescheduler.model.prices import KEYS, Place, PriceRow, PriceTable
from rescheduler.model.printable import printable, shown
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.prices import CURRENCY, HIGHEST_PRICE
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.file_bytes import file_bytes, unusable
from rescheduler.policy.reading.yaml_reader import FAST_LOADER, YamlReader, YamlTextError

MOST_BYTES: Final = 64 * 1024 * 1024
MOST_ROWS: Final = 200_000
LONGEST_VALUE: Final = 253
MOST_TOLD: Final = 20
_TOP: Final = ("currency", "per", "prices")
_COLUMNS: Final = (*KEYS, "price", "resources")
_CSV_COLUMNS: Final = (*KEYS, "price", CPU, MEMORY, PODS)
_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?", re.ASCII)


def with_price_file(policy: Policy, instead: str | None = None) -> Policy:
    """The policy with what its ``prices.file`` says, or another file ``instead``. Raises PolicyError."""
    prices = policy.prices
    file = prices.file if instead is None else instead
    if file is None:
        return policy
    table = read_prices(file)
    if table.currency is not None and "currency" in prices.model_fields_set and prices.currency != table.currency:
        text = (
            f"found {table.currency}, and the policy's prices.currency is {prices.currency}; amounts are not converted"
        )
        raise PolicyError([ReadingProblem(file, 0, 0, "currency", f"{text}: write one of them")])
    return policy.model_copy(update={"prices": prices.model_copy(update={"file": file}).with_table(table)})


def read_prices(file: str) -> PriceTable:
    """The table that a file holds. Raises PolicyError with what is wrong, each with its row."""
    raw = file_bytes(file, MOST_BYTES, "a table of prices")
    if len(raw) > MOST_BYTES:
        raise unusable(file, f"larger than {MOST_BYTES >> 20} MB; leave out types that are not used")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise unusable(file, f"not UTF-8 at byte {error.start}; save the file as UTF-8") from None
    if file.lower().endswith(".csv"):
        return _Reading(file).table({"prices": list(_csv_rows(file, text))})
    return _Reading(file).table(_json(file, text) if text.lstrip()[:1] in ("{", "[") else _yaml(file, text))


def _json(file: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError) as error:
        raise unusable(file, f"not JSON: {printable(str(error), 120)}") from None


class _PriceYaml(YamlReader):
    deepest = 8
    most_entries = 600_000
    few_lines = "write a table as large as this as JSON or CSV, which are read faster"
    loader = FAST_LOADER


def _yaml(file: str, text: str) -> Any:
    try:
        found = list(_PriceYaml(text, file).documents())
    except YamlTextError as error:
        problem = error.problem
        raise PolicyError(
            [problem._replace(text=f"not YAML: {problem.text}" if error.is_syntax else problem.text)]
        ) from None
    if len(found) > 1:
        raise unusable(file, f"found {len(found)} documents; wanted one table of prices")
    return found[0] if found else None


def _csv_rows(file: str, text: str) -> Iterator[dict[str, Any]]:
    """Rows as JSON has them; an empty cell says nothing."""
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(lines, [])]
        unknown = next((name for name in header if name not in _CSV_COLUMNS), None)
        if unknown is not None or "price" not in header:
            wrong = "no column price" if unknown is None else f"no such column as {printable(unknown, 60)!r}"
            raise unusable(file, f"{wrong}; the first line names the columns: {', '.join(_CSV_COLUMNS)}")
        if len(set(header)) < len(header):
            raise unusable(file, "a column stands twice; write it once")
        for line in lines:
            if len(line) > len(header):
                raise unusable(file, f"line {lines.line_num}: {len(line)} cells, and the first line has {len(header)}")
            cells = {name: cell.strip() for name, cell in zip(header, line, strict=False) if cell.strip()}
            if cells:
                yield _row_of_cells(cells)
    except csv.Error as error:
        raise unusable(file, f"not CSV at line {lines.line_num}: {printable(str(error), 80)}") from None


def _row_of_cells(cells: dict[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {name: cells[name] for name in KEYS if name in cells}
    if "price" in cells:
        row["price"] = float(cells["price"]) if _NUMBER.fullmatch(cells["price"]) else cells["price"]
    offered = {name: cells[name] for name in (CPU, MEMORY, PODS) if name in cells}
    return {**row, "resources": offered} if offered else row


class _Reading:
    """Of one file: what is wrong so far, and the rows that were read already."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[ReadingProblem] = []
        self._known: dict[Place, int] = {}

    def table(self, data: Any) -> PriceTable:
        if not isinstance(data, dict):
            self._tell("", f"found {shown(data)}; wanted a map with prices: a list of rows")
            raise PolicyError(self._problems)
        self._unknown(data, _TOP, "")
        currency, per, rows = data.get("currency"), data.get("per", "hour"), data.get("prices")
        if currency is not None and (not isinstance(currency, str) or re.fullmatch(CURRENCY, currency) is None):
            self._tell("currency", f"found {shown(currency)}; wanted 1 to 8 letters such as USD")
        if per not in ("hour", "month"):
            self._tell("per", f"found {shown(per)}; wanted hour or month")
        if not isinstance(rows, list):
            self._tell("prices", f"found {shown(rows)}; wanted a list of rows")
            rows = []
        if len(rows) > MOST_ROWS:
            self._tell("prices", f"{len(rows):,} rows; at most {MOST_ROWS:,} are read")
            rows = []
        found = [self._row(number, row) for number, row in enumerate(rows)]
        if self._problems:
            raise PolicyError(self._problems)
        return PriceTable([row for row in found if row is not None], currency, per)

    def _row(self, number: int, row: Any) -> PriceRow | None:
        where, before = f"prices[{number}]", len(self._problems)
        if before >= MOST_TOLD:
            return None
        if not isinstance(row, dict):
            self._tell(where, f"found {shown(row)}; wanted a map such as instanceType: m5.large, price: 0.096")
            return None
        self._unknown(row, _COLUMNS, where)
        place = tuple(self._key(row, key, where) for key in KEYS)
        price = row.get("price")
        if "price" not in row:
            self._tell(f"{where}.price", "missing; write what such a node costs")
        elif isinstance(price, bool) or not isinstance(price, int | float) or not math.isfinite(price):
            self._tell(f"{where}.price", f"found {shown(price)}; wanted a finite number, 0 or more")
        elif not 0 <= price <= HIGHEST_PRICE:
            self._tell(f"{where}.price", f"found {price}; wanted 0 to {HIGHEST_PRICE:g}")
        offered = self._resources(row["resources"], f"{where}.resources") if "resources" in row else ()
        if len(self._problems) > before:
            return None
        if not any(place):
            self._tell(where, f"no key: a row says of which nodes it speaks by {', '.join(KEYS)}")
        elif place in self._known:
            self._tell(where, f"the same keys as prices[{self._known[place]}]; keep one")
        self._known.setdefault(place, number)
        assert isinstance(price, int | float)
        return PriceRow(place, float(price), offered)

    def _key(self, row: Mapping[str, Any], key: str, where: str) -> str | None:
        value = row.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value or len(value) > LONGEST_VALUE:
            self._tell(f"{where}.{key}", f"found {shown(value)}; wanted a text of 1 to {LONGEST_VALUE} characters")
            return None
        return value

    def _resources(self, offered: Any, where: str) -> Resources:
        if not isinstance(offered, dict) or not {CPU, MEMORY} <= offered.keys():
            self._tell(
                where, f'found {shown(offered)}; wanted at least cpu and memory, such as cpu: "3900m", memory: 7Gi'
            )
            return ()
        found = []
        for name, amount in offered.items():
            text = str(amount) if isinstance(amount, int | float) and not isinstance(amount, bool) else amount
            try:
                found.append((str(name), offered_amount(str(name), text if isinstance(text, str) else "")))
            except QuantityError as error:
                self._tell(f"{where}.{printable(str(name), 60)}", str(error))
        return resources(found)

    def _unknown(self, data: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for name in data:
            if name not in known:
                place = f"{where}.{printable(str(name), 60)}" if where else printable(str(name), 60)
                self._tell(place, f"no such field; there are {', '.join(known)}")

    def _tell(self, path: str, text: str) -> None:
        self._problems.append(ReadingProblem(self._file, 0, 0, path, text))
