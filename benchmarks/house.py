"""How calm the house is: files, lines, imports, entries a folder, class names that stand twice, frames to the solver.

python -m benchmarks.house [FOLDER OF A CHECKOUT]
"""

from __future__ import annotations

import ast
import collections
import contextlib
import io
import statistics
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

MOST_LINES = 40
"""Of a function."""


def main() -> int:
    """Print a table in Markdown."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    package = root / "rescheduler"
    files = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    lines = {path: text.count("\n") for path, text in files.items()}
    trees = {path: ast.parse(text) for path, text in files.items()}
    twice = repeated_classes(trees)
    figures = {
        "files": f"{len(files):,}",
        "lines": f"{sum(lines.values()):,}",
        "lines a file, median and most": f"{statistics.median(lines.values()):.0f}, {max(lines.values())}",
        "functions of more than 40 lines": ", ".join(sorted(long_functions(trees))) or "none",
        "lines that are imports": f"{100 * sum(map(import_lines, trees.values())) / sum(lines.values()):.1f} %",
        "entries of the fullest folder": "{1} ({0})".format(*fullest_folder(package)),
        "class names that stand twice": f"{len(twice)} ({', '.join(sorted(twice)) or 'none'})",
        "lines of tests": f"{sum(path.read_text().count(chr(10)) for path in (root / 'tests').rglob('*.py')):,}",
    }
    if root == Path.cwd():
        figures["own frames from main to the first solver call"] = str(frames_to_solver(package))
    print("\n".join(f"| {name} | {value} |" for name, value in figures.items()))
    return 0


def long_functions(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Names of functions that are longer than this project lets them be."""
    for tree in trees.values():
        found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        yield from (node.name for node in found if (node.end_lineno or node.lineno) - node.lineno >= MOST_LINES)


def import_lines(tree: ast.Module) -> int:
    """Lines that imports take."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in found)


def repeated_classes(trees: Mapping[Path, ast.Module]) -> dict[str, list[Path]]:
    """Public names of classes that stand in several files, but for the filter and the score of one plugin."""
    found: dict[str, list[Path]] = collections.defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1 and not is_one_plugin(paths)}


def is_one_plugin(paths: list[Path]) -> bool:
    """Whether these are the filter and the score of one plugin of Kubernetes."""
    return sorted(path.parent.name for path in paths) == ["filters", "scores"]


def fullest_folder(package: Path) -> tuple[str, int]:
    """The folder with most modules and folders in it, its face left out."""
    found = {folder: sum(1 for _ in entries(folder)) for folder in (package, *package.rglob("*/"))}
    folder = max(found, key=lambda each: found[each])
    return str(folder.relative_to(package.parent)), found[folder]


def entries(folder: Path) -> Iterator[Path]:
    """Modules and rooms in a folder."""
    for path in folder.iterdir():
        is_room = path.is_dir() and (path / "__init__.py").exists()
        if is_room or (path.suffix == ".py" and path.name != "__init__.py"):
            yield path


def frames_to_solver(package: Path) -> int:
    """Frames of the package, libraries left out, when a plan for the chain example first calls CP-SAT."""
    from ortools.sat.python import cp_model

    from rescheduler.cli.main import main as command

    depths: list[int] = []
    solve = cp_model.CpSolver.solve

    def counted(*arguments: object, **options: object) -> object:
        frames = traceback.extract_stack()
        depths.append(sum(1 for frame in frames if Path(frame.filename).is_relative_to(package)))
        return solve(*arguments, **options)  # type: ignore[arg-type]

    cp_model.CpSolver.solve = counted  # type: ignore[method-assign, assignment]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            command(["plan", "-f", "docs/examples/chain.yaml"])
    finally:
        cp_model.CpSolver.solve = solve  # type: ignore[method-assign]
    return depths[0]


if __name__ == "__main__":
    raise SystemExit(main())
