"""What every part of a policy has in common: frozen, camelCase in files, unknown fields refused."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class PolicyModel(BaseModel):
    """One level of a policy file. The text under each field is its published description."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )
