"""The daemon's API does what its own OpenAPI description says, for requests that schemathesis makes up."""

from __future__ import annotations

import itertools
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from tests.unit.daemon.api.daemon_bench import HOST, bench

BENCH = bench()
HEADERS = {"Authorization": "Bearer token-jane", "Host": HOST}
schema = schemathesis.openapi.from_asgi("/openapi.json", BENCH.app, headers=HEADERS, config=SchemathesisConfig(seed=1))
SECONDS = itertools.count(1)


@schema.parametrize()
@settings(max_examples=25, deadline=None, database=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
def test_answers_are_as_described(case: Any) -> None:
    """Status, content type and body of each answer are among those described; nothing makes a fault of the server."""
    BENCH.clock.time += next(SECONDS)  # no rate is exceeded
    # What was told before decides about these, which no schema can say.
    is_remembered = "continue" in (case.query or {}) or {"If-Match", "Idempotency-Key"} & set(case.headers or {})
    excluded = [positive_data_acceptance] if is_remembered else []
    if "Authorization" not in (case.headers or {}):  # it is put back, so the request may be a valid one
        excluded.append(negative_data_rejection)
    case.call_and_validate(headers=HEADERS, excluded_checks=excluded)
    assert BENCH.faults == []


def test_every_operation_is_tried() -> None:
    """The description leaves none out."""
    assert len(list(schema.get_all_operations())) == 14
