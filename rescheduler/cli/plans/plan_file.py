"""Reads a plan that was written before; an edited or broken one is refused with the field that is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, structs

from rescheduler.cli.streams import say
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.objects.resources import CPU, MEMORY, QuantityError, offered_amount
from rescheduler.model.plan.plan import API_VERSION, Landing, Plan, marked_waves
from rescheduler.model.plan.what_if import AddedNode, WhatIf
from rescheduler.model.printable import printable
from rescheduler.policy.reading.yaml_reader import FAST_LOADER, YamlReader, YamlTextError

if TYPE_CHECKING:
    from rescheduler.composition.live.cluster_source import ClusterOptions
    from rescheduler.policy.fields.policy import Policy

# What is raised for a file that is no plan.


class PlanFileError(ReschedulerError):
    """A file is no plan that can be carried out: names the file and the field."""


# Waves whose pods leave before they arrive, as a plan file marks them: in its list of waves, or on each move.


def with_marks_of_waves(plan: Plan) -> Plan:
    """The plan with its marks on the moves and in the list alike. Raises PlanFileError where they contradict."""
    listed = _listed(plan)
    first: dict[int, tuple[int, bool]] = {}
    for number, move in enumerate(plan.moves):
        where = f"moves[{number}].evictFirst"
        is_marked = bool(move.evict_first)
        if move.wave in listed:
            said = listed[move.wave]
            if move.evict_first is not UNSET and is_marked != said:
                raise PlanFileError(
                    f"{where}: found {_json(is_marked)}; the list of waves says {_json(said)} of wave {move.wave}"
                )
            is_marked = said
        earlier, said = first.setdefault(move.wave, (number, is_marked))
        if is_marked != said:
            raise PlanFileError(
                f"{where}: found {_json(is_marked)}; wanted {_json(said)} as in moves[{earlier}] of the same wave, "
                "whose pods leave first all or none"
            )
    moves = tuple(
        structs.replace(move, evict_first=True, needs_guidance=True)
        if first[move.wave][1]
        else structs.replace(move, evict_first=UNSET)
        for move in plan.moves
    )
    return structs.replace(plan, moves=moves, waves=marked_waves(moves))


def _listed(plan: Plan) -> dict[int, bool]:
    """What the list of waves says, by wave."""
    listed: dict[int, bool] = {}
    known = {move.wave for move in plan.moves}
    for number, item in enumerate(plan.waves or ()):
        where = f"waves[{number}].wave"
        if item.wave in listed:
            raise PlanFileError(f"{where}: wave {item.wave} stands twice")
        if item.wave not in known:
            raise PlanFileError(f"{where}: found {item.wave}, and no move is in that wave")
        listed[item.wave] = item.evict_first
    return listed


def _json(value: bool) -> str:
    return "true" if value else "false"


MOST_BYTES = 64 * 1024 * 1024


def read_plan_file(file: str, *, is_to_be_carried_out: bool = True, buys: bool = False) -> Plan:
    """Read JSON or YAML as ``plan -o json`` and ``-o yaml`` write it. Raises PlanFileError.

    ``is_to_be_carried_out``: then a plan for nodes that do not exist is none; ``buys``: unless they are machines that
    were chosen to replace others.
    """
    try:
        with Path(file).open("rb") as stream:
            raw = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise PlanFileError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > MOST_BYTES:
        raise PlanFileError(f"{file}: larger than {MOST_BYTES // 1024**2} MiB; that is no plan")
    try:
        return parse_plan(raw, is_to_be_carried_out=is_to_be_carried_out, buys=buys)
    except PlanFileError as error:
        raise PlanFileError(f"{file}: {error}") from None


def read_plan_to_resume(wanted: str, options: ClusterOptions, policy: Policy) -> Plan:
    """A plan that was interrupted, by its file or its number in ``history``.

    Raises PlanFileError for one that is not known, or of which nothing was begun; ClusterError, StoreError.
    """
    from rescheduler.composition.live.history import kept_plans, was_begun

    if wanted.isascii() and wanted.isdigit() and not Path(wanted).exists():
        kept = kept_plans(options)
        if int(wanted) not in kept:
            known = f"it has {', '.join(map(str, sorted(kept)))}" if kept else "it has none"
            raise PlanFileError(
                f"plan {wanted}: not among the plans of this cluster that this machine keeps ({known}); "
                "give the plan's file"
            )
        plan = parse_plan(kept[int(wanted)]())
    else:
        plan = read_plan_file(wanted)
    if not was_begun(plan, options, policy, say):
        raise PlanFileError(
            f"{wanted}: nothing of this plan was begun, so there is nothing to go on with; "
            "apply --plan FILE carries out a plan from its beginning"
        )
    return plan


def parse_plan(raw: bytes, *, is_to_be_carried_out: bool = True, buys: bool = False) -> Plan:
    """Read a plan's bytes strictly; see ``read_plan_file``. Raises PlanFileError."""
    try:
        plan = _plan_from(_data(raw))
    except RecursionError:
        raise PlanFileError("nested too deeply; that is no plan") from None
    if is_to_be_carried_out:
        _refuse_added_nodes(plan, buys=buys)
    return plan


def _plan_from(data: Any) -> Plan:
    if not isinstance(data, dict):
        raise PlanFileError(f"found {_kind(data)}; wanted a Plan as plan -o json writes it")
    for field, wanted in (("apiVersion", API_VERSION), ("kind", "Plan")):
        if data.get(field) != wanted:
            raise PlanFileError(f"{field}: found {_shown(data.get(field))}; wanted {wanted}")
    data = _with_origins(data)
    try:
        plan = msgspec.convert(data, Plan)
    except msgspec.ValidationError as error:
        raise PlanFileError(_field_first(str(error))) from None
    _refuse_unknown(data, msgspec.to_builtins(plan), "")
    _refuse_contradictions(plan)
    return with_marks_of_waves(plan)


def _with_origins(data: dict[str, Any]) -> dict[str, Any]:
    """A pod that nobody makes again goes nowhere, which a move says by naming its own node."""
    moves = data.get("moves")
    if not isinstance(moves, list):
        return data
    return {**data, "moves": [_with_origin(move) if isinstance(move, dict) else move for move in moves]}


def _with_origin(move: dict[str, Any]) -> dict[str, Any]:
    is_going = move.get("landing") == Landing.NO_REPLACEMENT.value and move.get("toNode", "") is None
    return {**move, "toNode": move.get("fromNode")} if is_going else move


def _data(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanFileError(f"not UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise PlanFileError("the file is empty; wanted a Plan as plan -o json writes it")
    if text.lstrip()[0] in "{[":
        try:
            return json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_refuse_constant)
        except ValueError as error:
            raise PlanFileError(f"not JSON: {error}") from None
    return _yaml_data(text)


class _PlanReader(YamlReader):
    """What ``plan -o yaml`` writes needs no aliases, and no depth."""

    loader = FAST_LOADER
    allows_aliases = True
    too_deep = "nested too deeply; that is no plan"

    def repeated(self, event: Any) -> None:
        self.refuse(event, "aliases are not allowed in a plan")


def _yaml_data(text: str) -> Any:
    try:
        documents = [*_PlanReader(text).documents()]
    except YamlTextError as error:
        _, line, column, _, told = error.problem
        where = f"line {line}, column {column}: " if line else ""
        raise PlanFileError(f"not YAML: {where}{told}" if error.is_syntax else f"{where}{told}") from None
    if len(documents) > 1:
        raise PlanFileError("not YAML: several documents; wanted one Plan")
    return documents[0] if documents else None


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise PlanFileError(f"the field {_shown(double)} stands twice in one place")
    return data


def _refuse_constant(text: str) -> None:
    raise PlanFileError(f"{text} is no number that a plan can hold")


def _refuse_unknown(found: Any, read: Any, path: str) -> None:
    """Raise for a field that a plan does not have; ``read`` is what was understood of it."""
    if isinstance(found, dict) and isinstance(read, dict):
        for name in found:
            here = f"{path}.{name}" if path else name
            if name not in read:
                raise PlanFileError(f"{printable(here, 100)}: a plan has no such field; was the file edited?")
            _refuse_unknown(found[name], read[name], here)
    elif isinstance(found, list) and isinstance(read, list | tuple):
        for number, (one, other) in enumerate(zip(found, read, strict=True)):
            _refuse_unknown(one, other, f"{path}[{number}]")


def _refuse_contradictions(plan: Plan) -> None:
    """Raise for what no planner writes: pods without uid, moved twice or not at all, waves out of order."""
    _refuse_doubles("moves", (move.pod.key for move in plan.moves))
    _refuse_doubles("placements", (place.pod.key for place in plan.placements))
    wave = 1
    for number, move in enumerate(plan.moves):
        where = f"moves[{number}]"
        if not move.pod.uid:
            raise PlanFileError(f"{where}.pod.uid: empty; without it another pod of this name could be evicted")
        if move.destination is not None and move.from_node == move.to_node:
            raise PlanFileError(f"{where}.toNode: the pod is on {_shown(move.to_node)} already")
        if move.wave < wave:
            raise PlanFileError(f"{where}.wave: found {move.wave}; wanted {wave} or more, as waves run in order")
        wave = move.wave
    for number, place in enumerate(plan.placements):
        if not 0 <= place.wave <= wave:
            raise PlanFileError(f"placements[{number}].wave: found {place.wave}; wanted 0 to {wave}")


def _refuse_added_nodes(plan: Plan, *, buys: bool) -> None:
    """Raise for what nobody can carry out: a plan for nodes that do not exist, and that nobody is asked for."""
    if not isinstance(plan.what_if, WhatIf) or not plan.what_if.added_nodes:
        return
    if plan.what_if.replacement is not UNSET and buys:
        _refuse_bad_machines(plan.what_if.added_nodes)
        return
    name = _shown(plan.what_if.added_nodes[0].name)
    again = "plan again without --add-node once there is such a node"
    if plan.what_if.replacement is not UNSET:
        again = "apply --plan FILE --buy has it made first, or plan again with --remove-node once there is such a node"
    raise PlanFileError(f"whatIf.addedNodes: {name} does not exist, so this plan cannot be carried out; {again}")


def _refuse_bad_machines(machines: Iterable[AddedNode]) -> None:
    """Raise for machines that nobody could be asked for."""
    seen: set[str] = set()
    for number, machine in enumerate(machines):
        where = f"whatIf.addedNodes[{number}]"
        if machine.name in seen:
            raise PlanFileError(f"{where}.name: {_shown(machine.name)} stands twice")
        seen.add(machine.name)
        if not machine.instance_type:
            raise PlanFileError(f"{where}.instanceType: missing; without it anything might be bought")
        for resource, amount in machine.allocatable.items():
            try:
                offered_amount(resource, amount)
            except QuantityError as error:
                raise PlanFileError(f"{where}.allocatable.{_shown(resource)}: {error}") from None
        if not {CPU, MEMORY} <= machine.allocatable.keys():
            raise PlanFileError(f"{where}.allocatable: wanted cpu and memory at least")


def _refuse_doubles(field: str, keys: Iterable[str]) -> None:
    seen: set[str] = set()
    for number, key in enumerate(keys):
        if key in seen:
            raise PlanFileError(f"{field}[{number}].pod: {_shown(key)} stands twice; a pod moves at most once")
        seen.add(key)


def _field_first(message: str) -> str:
    """A decoder's ``what - at `$.field``` turned round: ``field: what``."""
    what, separator, where = message.rpartition(" - at `$")
    return f"{where.rstrip('`').lstrip('.')}: {what}" if separator else message


def _shown(value: Any) -> str:
    return "nothing" if value is None else printable(str(value), 60)


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else f"{_shown(value)}"
