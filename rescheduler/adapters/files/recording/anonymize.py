"""Replaces names in recorded objects, the same name by the same word everywhere, so that plans keep their form."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

KEPT_NAMESPACES: Final = frozenset({"", "default", "kube-system", "kube-public", "kube-node-lease"})
KEPT_CLASSES: Final = frozenset({"", "system-cluster-critical", "system-node-critical", "default-scheduler"})
KEPT_LABELS: Final = frozenset(
    {
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "karpenter.sh/capacity-type",
        "app.kubernetes.io/managed-by",
        "type",
    }
)
"""Labels whose values say nothing about their owner but decide plans."""

# Words that carry meaning beside being names: numbers can be compared, these are read as settings.
_MEANINGFUL: Final = re.compile(r"|true|false|-?\d{1,9}", re.IGNORECASE)
_KUBERNETES_DOMAINS: Final = ("kubernetes.io", "k8s.io", "karpenter.sh", "rescheduler.dev")


class Anonymizer:
    """Maps every name by a keyed digest: without the salt nobody can tell, or try out, what it was."""

    def __init__(self, salt: bytes) -> None:
        """``salt``: random bytes; the same salt gives the same words."""
        self._salt = salt
        self._known: dict[str, str] = {}

    def anonymized(self, raw: bytes) -> bytes:
        """A slim recorded object with its names replaced."""
        found: dict[str, Any] = msgspec.json.decode(raw)
        kind = str(found.get("kind"))
        changed = {key: self._replaced(key, value) for key, value in found.items() if key not in _HEAD}
        changed["metadata"] = self._metadata(kind, found.get("metadata") or {})
        if kind in ("CSINode", "CSIDriver"):  # names of drivers, not of things
            changed["spec"] = found.get("spec")
        return msgspec.json.encode({key: found[key] for key in _HEAD[:2] if key in found} | changed)

    def word(self, text: str) -> str:
        """What stands for a name; empty, numeric and true/false texts stay."""
        if _MEANINGFUL.fullmatch(text):
            return text
        known = self._known.get(text)
        if known is None:
            digest = hmac.new(self._salt, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
            known = self._known[text] = f"x{digest[:12]}"
        return known

    def namespace(self, name: str) -> str:
        """A namespace; those that every cluster has stay."""
        return name if name in KEPT_NAMESPACES else self.word(name)

    def label_key(self, key: str) -> str:
        """A label's or taint's key: a foreign domain is replaced, the rest says what rules look at."""
        domain, slash, name = key.rpartition("/")
        return key if not slash or domain.endswith(_KUBERNETES_DOMAINS) else f"{self.word(domain)}/{name}"

    def label_value(self, key: str, value: str) -> str:
        """A label's or taint's value; well-known labels keep theirs."""
        if key == "kubernetes.io/metadata.name":
            return self.namespace(value)
        return value if key in KEPT_LABELS else self.word(value)

    def _metadata(self, kind: str, meta: dict[str, Any]) -> dict[str, Any]:
        changed = {key: self._replaced(key, value) for key, value in meta.items()}
        name = str(meta.get("name", ""))
        owners = meta.get("ownerReferences") or []
        if kind == "Namespace":
            changed["name"] = self.namespace(name)
        elif kind == "CSIDriver":
            changed["name"] = name
        elif kind == "PriorityClass":
            changed["name"] = self._class(name)
        elif kind == "PersistentVolumeClaim" and owners and owners[0].get("kind") == "Pod":
            # An ephemeral volume's claim is named after pod and volume.
            pod = str(owners[0].get("name", ""))
            if name.startswith(f"{pod}-"):
                changed["name"] = f"{self.word(pod)}-{self.word(name.removeprefix(f'{pod}-'))}"
        return changed

    def _replaced(self, key: str, value: Any) -> Any:
        """A field's value with all names in it replaced, by what the field is called."""
        if value is None or key in _KEPT_FIELDS:
            return value
        if key in _RULES:
            return _RULES[key](self, value)
        if isinstance(value, dict):
            return {inner: self._replaced(inner, part) for inner, part in value.items()}
        if isinstance(value, list):
            return [self._replaced(key, part) if isinstance(part, dict) else part for part in value]
        return value

    def _class(self, name: str) -> str:
        return name if name in KEPT_CLASSES else self.word(name)

    def _image(self, name: str) -> str:
        tagged = name if ":" in name.rpartition("/")[2] or "@" in name else f"{name}:latest"
        return f"{self.word(tagged)}:1"

    def _labels(self, labels: dict[str, Any]) -> dict[str, Any]:
        return {self.label_key(key): self.label_value(key, value) for key, value in labels.items()}

    def _selector(self, selector: dict[str, Any]) -> dict[str, Any]:
        """A label selector, or the bare labels of a Service."""
        is_bare = all(isinstance(value, str) for value in selector.values())
        return (
            self._labels(selector) if is_bare else {key: self._replaced(key, value) for key, value in selector.items()}
        )

    def _keyed(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rules, taints and tolerations: a key, and a value or values that belong to it."""
        return [self._one_keyed(entry) for entry in entries]

    def _one_keyed(self, entry: dict[str, Any]) -> dict[str, Any]:
        key, changed = entry.get("key") or "", dict(entry)
        if key:
            changed["key"] = self.label_key(key)
        if changed.get("value"):
            changed["value"] = self.label_value(key, changed["value"])
        if changed.get("values"):
            changed["values"] = [self.label_value(key, value) for value in changed["values"]]
        return changed

    def _requirements(self, entries: Any) -> list[dict[str, Any]]:
        """Rules of a kind that is read loosely: those that are none are left out."""
        rules = entries if isinstance(entries, list) else []
        return self._keyed([rule for rule in rules if isinstance(rule, dict) and _is_rule(rule)])

    def _fields(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**entry, "values": [self.word(value) for value in entry.get("values") or ()]} for entry in entries]

    def _annotations(self, annotations: dict[str, str]) -> dict[str, str]:
        return {key: self.word(value) if key in _NAMING_ANNOTATIONS else value for key, value in annotations.items()}


def _is_rule(rule: dict[str, Any]) -> bool:
    values = rule.get("values") or []
    are_texts = isinstance(values, list) and all(isinstance(value, str) for value in values)
    return isinstance(rule.get("key"), str) and are_texts and isinstance(rule.get("value", ""), str)


_HEAD: Final = ("apiVersion", "kind", "metadata")
_KEPT_FIELDS: Final = frozenset(
    {"conditions", "requests", "limits", "allocatable", "capacity", "overhead", "allocatedResources", "ports",
     "kind", "provisioner", "attacher", "driver", "resourceVersion"}
)  # fmt: skip
_NAMING_ANNOTATIONS: Final = (
    "volume.kubernetes.io/selected-node", "volume.beta.kubernetes.io/storage-class", "rescheduler.dev/stop",
)  # fmt: skip
_NAMES: Final = (
    "name", "uid", "nodeName", "nominatedNodeName", "claimName", "volumeName", "storageClassName",
    "persistentVolumeName", "volumeHandle", "pdName", "volumeID", "iqn", "pool", "address",
)  # fmt: skip
_RULES: Final[dict[str, Callable[[Anonymizer, Any], Any]]] = {
    **dict.fromkeys(_NAMES, Anonymizer.word),
    "namespace": Anonymizer.namespace,
    "namespaces": lambda self, names: [self.namespace(name) for name in names],
    "priorityClassName": Anonymizer._class,
    "schedulerName": Anonymizer._class,
    "image": Anonymizer._image,
    "names": lambda self, names: [self._image(name) for name in names],
    "labels": Anonymizer._labels,
    "matchLabels": Anonymizer._labels,
    "nodeSelector": Anonymizer._labels,
    "selector": Anonymizer._selector,
    "annotations": Anonymizer._annotations,
    "matchExpressions": Anonymizer._keyed,
    "matchLabelExpressions": Anonymizer._keyed,
    "requirements": Anonymizer._requirements,
    "matchFields": Anonymizer._fields,
    "taints": Anonymizer._keyed,
    "tolerations": Anonymizer._keyed,
    "topologyKey": Anonymizer.label_key,
    "matchLabelKeys": lambda self, keys: [self.label_key(key) for key in keys],
    "disruptedPods": lambda self, pods: {self.word(name): value for name, value in pods.items()},
}
"""What a field is called decides what stands in it, wherever it occurs in the objects of a recording."""
