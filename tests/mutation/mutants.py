"""Every small fault that can be put into a module: conditions turned round, comparisons shifted, lines dropped."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

_SHIFTED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip


Change = tuple[str, Callable[[Any], None]]
"""What is done to a node, in words, and the function that does it to the node's copy."""


class Mutant(NamedTuple):
    """A module's text with one fault in it; ``what`` tells which, and where."""

    what: str
    text: str


def mutants(text: str) -> Iterator[Mutant]:
    """All faults of a module, in the order in which they stand there."""
    tree = ast.parse(text)
    for what, number, change in _faults(tree):
        changed = copy.deepcopy(tree)
        change(list(ast.walk(changed))[number])
        yield Mutant(what, ast.unparse(ast.fix_missing_locations(changed)))


def faults(text: str) -> list[str]:
    """What ``mutants`` tells of each fault, without making it."""
    return [what for what, _, _ in _faults(ast.parse(text))]


def _faults(tree: ast.Module) -> Iterator[tuple[str, int, Callable[[Any], None]]]:
    """In words, the number of the node as ``ast.walk`` comes by it, and what is done to it."""
    ignored = _ignored(tree)
    around = {id(inner): node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in ignored:
            for name, change in chain(_turned(node), _shifted(node), _dropped(node)):
                yield f"line {getattr(node, 'lineno', 0)}: {name}: {_called(node, around)}", number, change


def _called(node: ast.AST, around: Mapping[int, ast.AST]) -> str:
    """What is changed; a constant with what stands around it, since one ``True`` is not another."""
    shown = node
    while isinstance(shown, ast.Constant | ast.keyword | ast.UnaryOp) and id(shown) in around:
        shown = around[id(shown)]
    return " ".join(ast.unparse(shown).split())[:90]


def _turned(node: ast.AST) -> Iterator[Change]:
    """Conditions that ask for the opposite."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition turned round", lambda at: setattr(at, "test", _negated(at.test))
    if isinstance(node, ast.comprehension):
        for place in range(len(node.ifs)):
            yield "filter turned round", lambda at, place=place: at.ifs.__setitem__(place, _negated(at.ifs[place]))
    if isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"to {other.__name__}", lambda at: setattr(at, "op", other())


def _shifted(node: ast.AST) -> Iterator[Change]:
    """Comparisons, numbers and arithmetic a little beside the right ones."""
    if isinstance(node, ast.Compare):
        for place, old in enumerate(node.ops):
            for new in _SHIFTED[type(old)]:
                yield f"to {new.__name__}", lambda at, place=place, new=new: at.ops.__setitem__(place, new())
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC:
        swapped = _ARITHMETIC[type(node.op)]
        yield f"to {swapped.__name__}", lambda at: setattr(at, "op", swapped())
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        value = (not node.value) if isinstance(node.value, bool) else node.value + 1
        yield f"to {value}", lambda at: setattr(at, "value", value)


def _dropped(node: ast.AST) -> Iterator[Change]:
    """Lines that do nothing, answers that are none."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom | ast.Call):
        yield "dropped", lambda at: setattr(at, "value", _nothing(at.value))
    if isinstance(node, ast.AugAssign):
        yield "dropped", lambda at: setattr(at, "value", ast.Constant(0))
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "returns None", lambda at: setattr(at, "value", ast.Constant(None))


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _nothing(value: ast.expr) -> ast.expr:
    """Nothing in the place of a statement; a generator stays a generator."""
    return ast.YieldFrom(ast.Tuple([], ast.Load())) if isinstance(value, ast.Yield | ast.YieldFrom) else ast.Constant(0)


def _is_none(value: ast.expr) -> bool:
    """None, and False, for which None is as good."""
    return isinstance(value, ast.Constant) and (value.value is None or value.value is False)


def _ignored(tree: ast.Module) -> frozenset[int]:
    """Annotations, assertions and f-strings' words: a fault in them is none, or only changes words."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        if isinstance(node, ast.FunctionDef):
            parts.append(node.returns)
        if isinstance(node, ast.Assert | ast.JoinedStr):
            parts.append(node)
        for part in parts:
            found |= {id(inner) for inner in ast.walk(part)} if part is not None else set()
    return frozenset(found)
