"""``schedulers`` of a policy: where the configuration of each scheduler of the cluster stands."""

from __future__ import annotations

import re
from pathlib import Path as FilePath
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.reading.document import Document

_CONFIG_MAP = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?"


def _namespace_and_name(text: str) -> str:
    if re.fullmatch(_CONFIG_MAP, text) is None:
        found = repr(printable(text, 60))
        raise PydanticCustomError("config_map", "found {found}; wanted NAMESPACE/NAME", {"found": found})
    return text


ConfigMapName: TypeAlias = Annotated[
    str, AfterValidator(_namespace_and_name), WithJsonSchema({"type": "string", "pattern": f"^{_CONFIG_MAP}$"})
]
"""A ConfigMap by its namespace and name."""


class SchedulerSource(PolicyModel):
    """One scheduler's own configuration: a file, a ConfigMap, or with ``schedulerName`` alone the built-in defaults."""

    file: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """A KubeSchedulerConfiguration, Volcano's scheduler configuration, or a legacy Policy; relative to this file."""
    config_map: ConfigMapName | None = None
    """NAMESPACE/NAME of a ConfigMap that holds one of them."""
    scheduler_name: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """The name that pods give, where the configuration names none itself (Volcano's, the legacy Policy)."""

    @model_validator(mode="after")
    def _one_source(self) -> SchedulerSource:
        if self.file is not None and self.config_map is not None:
            raise PydanticCustomError("two_sources", "both file and configMap are given; keep one")
        if self.file is None and self.config_map is None and self.scheduler_name is None:
            raise PydanticCustomError(
                "no_source", "nothing is given; write file, configMap, or schedulerName for kube-scheduler's defaults"
            )
        return self


def anchor_files(document: Document) -> None:
    """Make the relative files that a policy names relative to the policy's own folder.

    Done before several policies become one, since each may stand in another folder.
    """
    folder = FilePath(document.file).parent
    for source in _sources(document.data):
        name = source.get("file")
        if isinstance(name, str) and name and not FilePath(name).is_absolute():
            source["file"] = str(folder / name)


def _sources(data: Any) -> list[dict[str, Any]]:
    found = data.get("schedulers") if isinstance(data, dict) else None
    return [source for source in found if isinstance(source, dict)] if isinstance(found, list) else []
