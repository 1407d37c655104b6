"""The rows of a back-test as a Parquet file, for DuckDB and pandas."""

from __future__ import annotations

import io
import json
from typing import Any

from rescheduler.extension_points import ReschedulerError


def parquet_bytes(document: dict[str, Any]) -> bytes:
    """All rows; one column for each field that was set, by its name. Raises ReschedulerError without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ReschedulerError(f"-o parquet: {error}; pip install 'kube-rescheduler[parquet]'") from error
    fields = list(dict.fromkeys(field for row in document["rows"] for field in row["setting"]))
    values = {field: _alike([row["setting"].get(field) for row in document["rows"]]) for field in fields}
    rows = [
        {**{name: value for name, value in row.items() if name != "setting"}, "refusals": list(row["refusals"].items())}
        for row in document["rows"]
    ]
    columns = {name: [row[name] for row in rows] for name in _schema(pa).names}
    table = pa.table(columns, schema=_schema(pa))
    for field in fields:
        table = table.append_column(field, pa.array(values[field]))
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def _schema(pa: Any) -> Any:
    pod = pa.struct([("namespace", pa.string()), ("name", pa.string()), ("uid", pa.string())])
    move = pa.struct([("pod", pod), ("fromNode", pa.string()), ("toNode", pa.string())])
    objective = pa.struct([
        ("name", pa.string()), ("status", pa.string()), ("value", pa.float64()), ("bound", pa.float64()),
        ("helped", pa.int64()), ("wanted", pa.int64()),
    ])  # fmt: skip
    cost = pa.struct([("currency", pa.string()), ("before", pa.float64()), ("after", pa.float64())])
    return pa.schema([
        ("time", pa.string()), ("policy", pa.string()), ("objectives", pa.list_(objective)),
        ("evictions", pa.int64()), ("moves", pa.list_(move)), ("nodesInUse", pa.int64()),
        ("nodesEmptied", pa.int64()), ("pendingBefore", pa.int64()), ("pendingAfter", pa.int64()),
        ("pendingMinutes", pa.float64()), ("refusals", pa.map_(pa.string(), pa.int64())), ("churn", pa.int64()),
        ("overload", pa.float64()), ("cost", cost),
    ])  # fmt: skip


def _alike(values: list[Any]) -> list[Any]:
    """Values of one kind as they are; of several kinds, or of none that a column has, as JSON."""
    kinds = {type(value) for value in values if value is not None}
    is_plain = len(kinds) <= 1 and kinds <= {int, float, str, bool}
    return values if is_plain else [None if value is None else json.dumps(value) for value in values]
