"""Writes the published schemas and the policy reference anew: python docs/generate.py."""

from __future__ import annotations

import json
from pathlib import Path

from rescheduler.adapters.metrics.reference import providers_reference
from rescheduler.daemon.plugins import policy_reference, policy_schema
from rescheduler.report.documents import plan_schema

FOLDER = Path(__file__).parent


def generated() -> dict[str, str]:
    """The text of each generated file by its name."""
    return {
        "plan.schema.json": json.dumps(plan_schema(), indent=2) + "\n",
        "policy.schema.json": json.dumps(policy_schema(), indent=2) + "\n",
        "policy-reference.md": policy_reference(),
        "metrics-providers.md": providers_reference(),
    }


if __name__ == "__main__":
    for name, text in generated().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
