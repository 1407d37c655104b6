"""Names, labels, owners and annotations; equal ones are one object in memory."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from msgspec import Raw, Struct

from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError, decode
from rescheduler.model.objects.annotations import STEERING_ANNOTATIONS, STEERING_PREFIXES
from rescheduler.model.objects.pod import GROUPS, OwnerReference
from rescheduler.model.printable import shortened

# Fields that all API objects share.


class ApiStruct(Struct, gc=False, rename="camel", omit_defaults=True):
    """A slim struct: camelCase in JSON, unknown fields skipped, absent and null the same.

    Parts that repeat from object to object are ``Raw`` and decoded once for each distinct text.
    """


class ObjectMeta(ApiStruct):
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


class OwnerReferenceObject(ApiStruct):
    """One entry of ``metadata.ownerReferences``."""

    kind: str
    name: str
    api_version: str | None = None
    uid: str | None = None
    controller: bool | None = None


class LabelSelectorRequirementObject(ApiStruct):
    """One rule of a label or node selector."""

    key: str
    operator: str
    values: list[str] | None = None


class LabelSelectorObject(ApiStruct):
    """A label selector."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelSelectorRequirementObject] | None = None


class NodeSelectorTermObject(ApiStruct):
    """One term of a node selector."""

    match_expressions: list[LabelSelectorRequirementObject] | None = None
    match_fields: list[LabelSelectorRequirementObject] | None = None


class NodeSelectorObject(ApiStruct):
    """Terms of which one must hold."""

    node_selector_terms: list[NodeSelectorTermObject] | None = None


class Condition(ApiStruct):
    """One condition of a pod or node."""

    type: str
    status: str = ""
    reason: str | None = None
    last_transition_time: str | None = None


K = TypeVar("K")
T = TypeVar("T")

NULL: Final = (b"", b"null")
_LARGEST_CACHE: Final = 50_000
# A backslash may hide any character, so such a text is always looked at.
_STEERS: Final = re.compile(
    "|".join([r"\\", *(re.escape(key) for key in (*STEERING_ANNOTATIONS, *STEERING_PREFIXES))]).encode()
)
NO_LABELS: Final[Mapping[str, str]] = {}


class SharedMetadata:
    """Labels, owners, annotations and names of many objects, each distinct text decoded once.

    The caches are bounded: when one is full it starts afresh, and only sharing is lost.
    """

    def __init__(self) -> None:
        """Start empty; one instance for one snapshot."""
        self._labels: dict[bytes, Mapping[str, str]] = {}
        self._owners: dict[bytes, tuple[OwnerReference, ...]] = {}
        self._annotations: dict[bytes, Mapping[str, str]] = {}
        self._names: dict[str, str] = {}

    def labels(self, meta: ObjectMeta) -> Mapping[str, str]:
        """``metadata.labels``. Raises ObjectError."""
        raw = bytes(meta.labels)
        found = self._labels.get(raw)
        return _kept(self._labels, raw, _decode_labels(raw)) if found is None else found

    def owners(self, meta: ObjectMeta) -> tuple[OwnerReference, ...]:
        """``metadata.ownerReferences``. Raises ObjectError."""
        raw = bytes(meta.owner_references)
        found = self._owners.get(raw)
        return _kept(self._owners, raw, _decode_owners(raw)) if found is None else found

    def annotations(self, meta: ObjectMeta) -> Mapping[str, str]:
        """Those annotations that steer disruption. Raises ObjectError."""
        raw = bytes(meta.annotations)
        found = self._annotations.get(raw)
        return _kept(self._annotations, raw, annotations_like(meta, _STEERS, _steers)) if found is None else found

    def name(self, text: str) -> str:
        """One object for all equal names, escaped where they hold characters that no name has."""
        found = self._names.get(text)
        return _kept(self._names, text, shown_name(text)) if found is None else found


def annotations_like(meta: ObjectMeta, text: re.Pattern[bytes], wanted: Callable[[str], bool]) -> Mapping[str, str]:
    """Annotations whose key is ``wanted``; decoded only if ``text`` occurs. Raises ObjectError."""
    raw = bytes(meta.annotations)
    if raw in NULL or text.search(raw) is None:
        return NO_LABELS
    values = decode(raw, dict[str, Raw], "metadata.annotations")
    kept = {key: value for key, value in values.items() if wanted(key)}
    if not kept:
        return NO_LABELS
    return {key: decode(value, str, f"metadata.annotations.{key}") for key, value in kept.items()}


def name_of(meta: ObjectMeta | None) -> str:
    """``metadata.name``, escaped where it holds characters that no name has. Raises ObjectError if it is missing."""
    if meta is None or not meta.name:
        raise ObjectError("metadata.name", "is missing")
    return shown_name(meta.name)


def namespace_of(meta: ObjectMeta) -> str:
    """``metadata.namespace``; ``default`` where it is not written, as for kubectl."""
    return sys.intern(shown_name(meta.namespace or "default"))


def shown_name(name: str) -> str:
    """A name, escaped where it holds characters that no name has."""
    return name if is_plain(name) else shortened(name)


def is_plain(name: str) -> bool:
    """Whether a name can be shown as it is."""
    return name.isprintable() and len(name) <= 253


def _steers(key: str) -> bool:
    return key in STEERING_ANNOTATIONS or key.startswith(STEERING_PREFIXES)


def _kept(cache: dict[K, T], key: K, value: T) -> T:
    if len(cache) >= _LARGEST_CACHE:
        cache.clear()
    cache[key] = value
    return value


def _decode_labels(raw: bytes) -> Mapping[str, str]:
    if raw in NULL:
        return NO_LABELS
    found = decode(raw, dict[str, str], "metadata.labels")
    return {sys.intern(key): sys.intern(value) for key, value in found.items()}


def _decode_owners(raw: bytes) -> tuple[OwnerReference, ...]:
    if raw in NULL:
        return ()
    found = decode(raw, list[OwnerReferenceObject], "metadata.ownerReferences")
    return tuple(
        OwnerReference(
            sys.intern(owner.kind),
            shortened(owner.name),
            owner.uid or "",
            # Without a uid nobody can say which object this is: it counts as no controller.
            bool(owner.controller and owner.uid),
            foreign_group(owner.kind, owner.api_version),
        )
        for owner in found
    )


def foreign_group(kind: str, api_version: str | None) -> str | None:
    """The API group of a kind that is not Kubernetes' own, else None; an API server always says which group it is."""
    if api_version is None:
        return None
    group = shortened(api_version.rpartition("/")[0])
    return None if GROUPS.get(kind) == group else sys.intern(group)
