"""Which kinds of pods may be moved where more than yes or no is to be said: by controller, by storage class."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, GetJsonSchemaHandler, StringConstraints, model_serializer, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from rescheduler.model.printable import shown
from rescheduler.policy.fields.policy_model import PolicyModel

_STAY: Final = frozenset({"DaemonSet", "Node"})
_NEVER: Final = frozenset({("batch", "Job"), ("batch", "CronJob"), ("", "Pod")})


class OwnerKind(PolicyModel):
    """A kind of controller, of whose pods the operator says that it replaces them."""

    group: Annotated[str, StringConstraints(pattern=r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$", max_length=253)]
    """API group, without the version: of ``apps.kruise.io/v1alpha1`` the first part; empty for the core group."""
    kind: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]*$", max_length=63)]
    """Kind, as in the pods' ``ownerReferences``."""

    @model_validator(mode="after")
    def _can_be_moved(self) -> OwnerKind:
        if self.kind in _STAY or (self.group, self.kind) in _NEVER:
            text = "pods of a {kind} are never moved: nothing would make such a pod again on another node"
            raise PydanticCustomError("owner_kind", text, {"kind": self.kind})
        return self


class PersistentVolumes(PolicyModel):
    """Deny, Allow, or a map with the storage classes whose volumes may be detached and attached again."""

    storage_classes: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=253)], ...] | None,
        Field(strict=False, max_length=64),
    ] = ()
    """Names of StorageClasses."""

    @property
    def denies_all(self) -> bool:
        """No pod with a claim may be moved."""
        return self.storage_classes == ()

    def allows(self, storage_class: str | None) -> bool:
        """Whether volumes of a class may follow their pod; None: the class is not known."""
        return self.storage_classes is None or storage_class in self.storage_classes

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        """Kept as all classes for Allow, and none for Deny."""
        if not isinstance(value, str):
            return value
        if value not in ("Deny", "Allow"):
            found = {"found": shown(value), "form": "{storageClasses: [NAME]}"}
            raise PydanticCustomError("persistent_volumes", "found {found}; there are Deny, Allow and {form}", found)
        return {"storageClasses": None} if value == "Allow" else {}

    @model_serializer(mode="plain")
    def _written(self) -> str | dict[str, Any]:
        if self.storage_classes is None:
            return "Allow"
        return {"storageClasses": list(self.storage_classes)} if self.storage_classes else "Deny"

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Both forms that are read."""
        names = {"type": "array", "maxItems": 64, "items": {"type": "string", "minLength": 1, "maxLength": 253}}
        names["description"] = "Names of StorageClasses."
        form = {"type": "object", "additionalProperties": False, "properties": {"storageClasses": names}}
        return {"anyOf": [form, {"type": "string", "enum": ["Deny", "Allow"]}]}
