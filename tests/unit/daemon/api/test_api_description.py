"""The API does what its own OpenAPI description says, for requests that schemathesis makes up."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import SchemathesisConfig

from rescheduler.daemon.load_watcher.app import create_app
from tests.clocks import FakeClock
from tests.unit.daemon.api.records import SetSource, collected, pods_using

APP = create_app(SetSource(collected(**pods_using(("a", "n1", 1.0, 1.0)))), FakeClock(), interval=15.0)
CONFIGURATION = SchemathesisConfig(seed=1)
schema = schemathesis.openapi.from_asgi("/openapi.json", APP, config=CONFIGURATION)


@schema.parametrize()
@settings(max_examples=40, deadline=None, database=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
def test_answers_are_as_described(case: Any) -> None:
    """Status, content type and body of each answer are among those described; nothing makes a fault of the server."""
    case.call_and_validate()
