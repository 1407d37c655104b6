"""What pods ask of nodes and of each other, as data: selectors, taints, affinity, spread, ports, volumes."""

from __future__ import annotations

from msgspec import Struct


class Requirement(Struct, frozen=True, gc=False):
    """One rule of a selector. ``operator``: In, NotIn, Exists, DoesNotExist, and for nodes Gt, Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True, gc=False):
    """All rules must hold; no rule at all selects everything. An absent selector (None) selects nothing."""

    requirements: tuple[Requirement, ...] = ()


class NodeSelectorTerm(Struct, frozen=True, gc=False):
    """All label rules and all field rules (``metadata.name``) must hold; an empty term matches nothing."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


class PreferredNodeTerm(Struct, frozen=True, gc=False):
    """A wish for nodes, with a weight of 1 to 100."""

    weight: int
    term: NodeSelectorTerm


class NodeAffinityRules(Struct, frozen=True, gc=False):
    """``required`` is None when absent; an empty tuple of terms matches no node."""

    required: tuple[NodeSelectorTerm, ...] | None = None
    preferred: tuple[PreferredNodeTerm, ...] = ()


class Taint(Struct, frozen=True, gc=False):
    """A mark on a node that keeps pods off. ``effect``: NoSchedule, PreferNoSchedule, NoExecute."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


class Toleration(Struct, frozen=True, gc=False):
    """What a pod puts up with; an empty key or effect stands for all. ``operator``: Exists, Equal (also ""), Lt, Gt."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class PodAffinityTerm(Struct, frozen=True, gc=False):
    """Pods to be near to, or far from, within one topology domain.

    Both ``namespaces`` empty and ``namespace_selector`` None: the pod's own namespace.
    """

    topology_key: str
    selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None


class PreferredPodAffinityTerm(Struct, frozen=True, gc=False):
    """A wish about other pods, with a weight of 1 to 100."""

    weight: int
    term: PodAffinityTerm


class TopologySpreadConstraint(Struct, frozen=True, gc=False):
    """How unevenly matching pods may lie over the domains of a topology key."""

    topology_key: str
    max_skew: int
    when_unsatisfiable: str = "DoNotSchedule"
    selector: LabelSelector | None = None
    min_domains: int = 1
    match_label_keys: tuple[str, ...] = ()
    honors_node_affinity: bool = True
    honors_node_taints: bool = False


class HostPort(Struct, frozen=True, gc=False):
    """A port of the node's own that a container takes."""

    port: int
    protocol: str = "TCP"
    host_ip: str = "0.0.0.0"  # noqa: S104 - the API's own word for "every address"


class Volume(Struct, frozen=True, gc=False):
    """A volume of a pod.

    ``kind``: PersistentVolumeClaim, Ephemeral (``claim`` is the generated claim's name), EmptyDir, HostPath,
    GCEPersistentDisk, AWSElasticBlockStore, ISCSI, RBD (``identity`` names the disk), or another volume
    type's own field name. Config maps, secrets, projected, downward-API and image volumes are left out: they bind
    nothing.
    """

    kind: str
    claim: str = ""
    identity: str = ""
    is_read_only: bool = False
