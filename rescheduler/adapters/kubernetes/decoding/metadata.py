"""Fields that all API objects share."""

from __future__ import annotations

from msgspec import Raw, Struct


class Decoded(Struct, gc=False, rename="camel", omit_defaults=True):
    """A slim struct: camelCase in JSON, unknown fields skipped, absent and null the same.

    Parts that repeat from object to object are ``Raw`` and decoded once for each distinct text.
    """


class ObjectMeta(Decoded):
    """Name, identity and the marks on an object."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: Raw = Raw()
    annotations: Raw = Raw()
    owner_references: Raw = Raw()


class OwnerReferenceObject(Decoded):
    """One entry of ``metadata.ownerReferences``."""

    kind: str
    name: str
    uid: str | None = None
    controller: bool | None = None


class LabelSelectorRequirementObject(Decoded):
    """One rule of a label or node selector."""

    key: str
    operator: str
    values: list[str] | None = None


class LabelSelectorObject(Decoded):
    """A label selector."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelSelectorRequirementObject] | None = None


class NodeSelectorTermObject(Decoded):
    """One term of a node selector."""

    match_expressions: list[LabelSelectorRequirementObject] | None = None
    match_fields: list[LabelSelectorRequirementObject] | None = None


class NodeSelectorObject(Decoded):
    """Terms of which one must hold."""

    node_selector_terms: list[NodeSelectorTermObject] | None = None


class Condition(Decoded):
    """One condition of a pod or node."""

    type: str
    status: str = ""
    reason: str | None = None
    last_transition_time: str | None = None
