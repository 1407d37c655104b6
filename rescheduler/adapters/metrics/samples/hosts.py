"""Which node a provider's host name means: names, addresses with or without a port, short names; never a guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import Final

from rescheduler.model.objects.node import Node
from rescheduler.model.usage.usage_readings import short_host

HOST_LABELS: Final = (
    "node",
    "nodename",
    "kubernetes_node",
    "kubernetes_io_hostname",
    "instance",
    "host",
    "hostname",
)
"""Labels that may name the node, in the order in which they are tried."""
_HOSTNAME: Final = "kubernetes.io/hostname"
_PORT: Final = re.compile(r"(?:\[([0-9a-fA-F:.%a-z]+)\]|([^:]+))(?::[0-9]{1,5})?")


class Hosts:
    """The nodes asked for, findable by what sources call them."""

    def __init__(
        self,
        nodes: Sequence[Node],
        *,
        label: str | None = None,
        pattern: str | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        """``label``: the only one to look at. ``pattern``: its group, or all it finds, is the host.

        ``aliases``: further names for what a source calls a host, such as instance -> nodename of node_uname_info.
        """
        self.labels = (label,) if label else HOST_LABELS
        self._pattern = re.compile(pattern) if pattern else None
        self._aliases = aliases or {}
        self._names = _index((node.name.lower(), at) for at, node in enumerate(nodes))
        self._addresses = _index((name.lower(), at) for at, node in enumerate(nodes) for name in _other_names(node))
        self._shorts = _index((short_host(node.name), at) for at, node in enumerate(nodes) if not _is_ip(node.name))
        self._plain = {name: found for name, found in self._shorts.items() if name in self._names}
        self._known: dict[str, tuple[int, ...]] = {}

    def of_labels(self, labels: Mapping[str, str]) -> tuple[int, ...]:
        """The node that a series belongs to, by the first label that names any; as ``of_host``."""
        for label in self.labels:
            host = labels.get(label)
            found = self.of_host(host) if host else ()
            if found:
                return found
        return ()

    def of_host(self, host: str) -> tuple[int, ...]:
        """The index of the node that a host name means; none for an unknown one, several for an ambiguous one."""
        known = self._known.get(host)
        if known is None:
            known = self._known[host] = self._sought(host) or self._sought(self._aliases.get(host, ""))
        return known

    def host_in(self, labels: Mapping[str, str]) -> str | None:
        """What a series calls its host, for messages."""
        return next((labels[label] for label in self.labels if labels.get(label)), None)

    def _sought(self, text: str) -> tuple[int, ...]:
        if self._pattern is not None and text:
            match = self._pattern.search(text)
            text = (match.group(match.re.groups) or "") if match else ""
        text = text.lower()
        return self._found(text) or self._found(without_port(text))

    def _found(self, host: str) -> tuple[int, ...]:
        exact = self._names.get(host) or self._addresses.get(host)
        if exact or not host or _is_ip(host):
            return exact or ()
        # A name in full may mean a node by its short name and the other way round, but two names in full must agree.
        return self._plain.get(short_host(host), ()) if "." in host else self._shorts.get(host, ())


def without_port(host: str) -> str:
    """``host:port`` and ``[address]:port`` without the port."""
    match = _PORT.fullmatch(host)
    return (match.group(1) or match.group(2)) if match else host


def _other_names(node: Node) -> Iterable[str]:
    """Addresses and host name, the node's own name apart."""
    names = {address for _, address in node.addresses} | {node.labels.get(_HOSTNAME, "")}
    return names - {"", node.name}


def _index(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for name, at in pairs:
        if at not in found.get(name, ()):
            found[name] = (*found.get(name, ()), at)
    return found


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
