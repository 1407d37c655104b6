"""The form of the VM mappings: hosts of two NUMA nodes, and VMs that lie on one of them or on both.

A variant names a base file beside it and the VMs to leave out. Everything is checked while it is read.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fragments.fragmented import Fragmented
from benchmarks.fragments.item_moves import WIDE, Item
from benchmarks.snapshot_form import InstanceError

CORES, MEMORY = 0, 1


@dataclass(frozen=True)
class VmMapping:
    """One instance as arrays, with the names that stand in the file."""

    name: str
    problem: Fragmented
    items: list[Item]
    vm_names: list[Any]
    host_names: list[Any]


def read_mapping(path: Path) -> VmMapping:
    """Read a mapping, or a variant with its base. Raises InstanceError or OSError."""
    document = _document(path)
    removed: set[Any] = set()
    if isinstance(document, dict) and "base" in document:
        removed = set(document.get("removed", ()))
        document = _document(_base_file(path, str(document["base"])))
    try:
        return _mapping(path.name, document, removed)
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise InstanceError(f"{path}: not in the form of a VM mapping: {type(error).__name__} {error}") from None


def _base_file(path: Path, name: str) -> Path:
    for candidate in (path.parent / name, path.parent / f"{name}.xz"):
        if candidate.exists():
            return candidate
    raise InstanceError(f"{path}: its base {name} (or {name}.xz) does not lie beside it")


def _document(path: Path) -> Any:
    data = path.read_bytes()
    try:
        return json.loads(lzma.decompress(data) if data[:6] == b"\xfd7zXZ\x00" else data)
    except (lzma.LZMAError, ValueError) as error:
        raise InstanceError(f"{path}: not JSON, plain or xz: {error}") from None


def _mapping(name: str, document: Any, removed: set[Any]) -> VmMapping:
    hosts = [host for cluster in document["cluster_list"] for host in cluster["host_info"]]
    vms = [
        vm for cluster in document["cluster_list"] for vm in cluster["vm_instance"] if vm["instance_id"] not in removed
    ]
    host_names = [host["node_id"] for host in hosts]
    index = {host: number for number, host in enumerate(host_names)}
    capacity = np.array([_capacity(host) for host in hosts], dtype=np.int64)
    kinds: dict[tuple[bool, int, int], int] = {}
    items = [_item(number, vm, index, kinds) for number, vm in enumerate(vms)]
    request = np.array([kind[1:] for kind in kinds], dtype=np.int64).reshape(-1, 2)
    present = np.zeros((len(hosts), 2, len(kinds)), dtype=np.int64)
    for item in items:
        present[item.host, slice(None) if item.compartment == WIDE else item.compartment, item.kind] += 1
    free = capacity - present @ request
    is_wide = np.array([kind[0] for kind in kinds], dtype=np.bool_)
    pinned = [number for number, vm in enumerate(vms) if not vm.get("allow_migration", True)]
    for number in pinned:
        item = items[number]
        present[item.host, slice(None) if item.compartment == WIDE else item.compartment, item.kind] -= 1
    movable = [item for item in items if item.number not in set(pinned)]
    problem = Fragmented(free, request, is_wide, present)
    return VmMapping(name, problem, movable, [vm["instance_id"] for vm in vms], host_names)


def _capacity(host: Any) -> list[list[int]]:
    numa = {int(part["node"]): part for part in host["numa"]}
    if sorted(numa) != [0, 1]:
        raise ValueError(f"host {host['node_id']!r} has the NUMA nodes {sorted(numa)}; wanted 0 and 1")
    return [[int(numa[node]["total_cpu"]), int(numa[node]["memory_huge_total_mb"])] for node in (0, 1)]


def _item(number: int, vm: Any, index: dict[Any, int], kinds: dict[tuple[bool, int, int], int]) -> Item:
    parts = vm["numa"]
    amounts = {(int(part["cpu"]), int(-(-part["mem_mb"] // 1))) for part in parts}
    if len(parts) not in (1, 2) or len(amounts) != 1:
        raise ValueError(
            f"VM {vm['instance_id']!r} lies on {len(parts)} NUMA nodes with {sorted(amounts)}; wanted equal halves"
        )
    kind = (len(parts) == 2, *amounts.pop())
    compartment = WIDE if kind[0] else int(parts[0]["node"])
    return Item(number, kinds.setdefault(kind, len(kinds)), index[vm["host_id"]], compartment)
