"""`make bench`: run every measurement, print a line a figure, write bench.json."""

import importlib
import json
import pkgutil
import sys
from dataclasses import asdict
from pathlib import Path

import bench

PLUMBING = {
    "__main__",
    "crowd",
    "ensemble",
    "figure",
    "follower",
    "foremost",
    "painted",
    "quiet",
    "soak",
    "soak_ui",
}


def main() -> int:
    """Run the named measurements, or all; exit 1 when a budget is exceeded."""
    found = [module.name for module in pkgutil.iter_modules(bench.__path__)]
    names = sys.argv[1:] or [name for name in found if name not in PLUMBING]
    figures = []
    for name in names:
        for figure in importlib.import_module(f"bench.{name}").figures():
            print(figure, flush=True)
            figures.append({**asdict(figure), "ratio": figure.ratio, "holds": figure.holds})
    Path("bench.json").write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if all(figure["holds"] for figure in figures) else 1


sys.exit(main())
