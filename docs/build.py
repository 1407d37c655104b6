"""Builds the documentation as a site: python -m docs.build [FOLDER]; a link that leads nowhere is an error."""

from __future__ import annotations

import sys
from pathlib import Path

CONFIGURATION = Path(__file__).parent / "site" / "mkdocs.yml"
DEFAULT_FOLDER = Path("build") / "site"


def build(folder: Path) -> None:
    """Write the site into a folder, which is emptied first. Raises mkdocs' Abort where anything is amiss."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    config = load_config(str(CONFIGURATION), strict=True, site_dir=str(folder.resolve()))
    config.plugins.on_startup(command="build", dirty=False)
    try:
        build_site(config)
    finally:
        config.plugins.on_shutdown()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER
    build(target)
    sys.stdout.write(f"{target / 'index.html'}\n")
