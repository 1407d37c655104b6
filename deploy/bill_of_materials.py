"""The bill of materials of a release: made of an installation, and held against the lock file that it was made from.

python deploy/bill_of_materials.py INSTALLATION -o FILE      (exit 1, and every fault by name, where it is not whole)
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parents[1]
LOCK: Final = ROOT / "requirements-run.lock"
PROJECT: Final = ROOT / "pyproject.toml"
OPTIONS: Final = (
    "--pyproject", str(PROJECT), "--mc-type", "application", "--gather-license-texts", "--output-reproducible",
    "--no-validate", "--of", "JSON",
)  # fmt: skip
"""With texts, since some packages tell their licence in words that no list knows, and are without one otherwise."""


def make_bill(installation: Path, target: Path) -> None:
    """Write what a virtual environment holds, whatever else this process may import."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "cyclonedx_py", "environment", *OPTIONS, "-o", str(target), str(installation)]
    subprocess.run(command, check=True, env=alone)  # noqa: S603


def faults(bill: Mapping[str, Any], lock: Mapping[str, str], direct: set[str]) -> Iterator[str]:
    """What a bill lacks, has too much, or does not tell. ``direct``: the names that the project itself asks for."""
    found = {normal(item["name"]): item for item in bill["components"]}
    for name in sorted(lock.keys() | found.keys()):
        if name not in found:
            yield f"{name} {lock[name]} is in {LOCK.name} and not in the bill"
        elif name not in lock:
            yield f"{name} {found[name]['version']} is in the bill and not in {LOCK.name}"
        elif found[name]["version"] != lock[name]:
            yield f"{name} is {found[name]['version']} in the bill and {lock[name]} in {LOCK.name}"
    for item in (bill["metadata"]["component"], *bill["components"]):
        if not any(_tells(entry) for entry in item.get("licenses", ())):
            yield f"{item['name']} {item['version']}: no licence is told"
    names = {item["bom-ref"]: normal(item["name"]) for item in bill["components"]}
    root = bill["metadata"]["component"]["bom-ref"]
    [needs] = [item.get("dependsOn", []) for item in bill["dependencies"] if item["ref"] == root]
    for name in sorted(direct - {names.get(reference) for reference in needs}):
        yield f"{name} is a dependency in {PROJECT.name} and not one of the project in the bill"


def _tells(entry: Mapping[str, Any]) -> bool:
    """An expression, an identifier, a known name, or the package's own words."""
    told = entry.get("license", {})
    words = told.get("text", {}).get("content", "").strip()
    own = str(told.get("name", "")).startswith("declared license of")
    return bool(entry.get("expression") or told.get("id") or words or (told.get("name") and not own))


def locked(text: str) -> dict[str, str]:
    """Names and versions of a lock file, as far as they are for this Python and this system."""
    lines = (line.partition("\\")[0].strip() for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line))
    asked = [Requirement(line) for line in lines]
    return {
        normal(one.name): next(iter(one.specifier)).version
        for one in asked
        if one.marker is None or one.marker.evaluate()
    }


def direct_dependencies(text: str) -> set[str]:
    """Those of the project without its extras."""
    return {normal(Requirement(line).name) for line in tomllib.loads(text)["project"]["dependencies"]}


def normal(name: str) -> str:
    """As the index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """Make one, and look whether it is whole."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("installation", type=Path, help="a virtual environment with the packages of the lock file")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    make_bill(arguments.installation, arguments.output)
    bill = json.loads(arguments.output.read_text(encoding="utf-8"))
    wrong = list(faults(bill, locked(LOCK.read_text()), direct_dependencies(PROJECT.read_text())))
    sys.stderr.writelines(f"{arguments.output}: {fault}\n" for fault in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
