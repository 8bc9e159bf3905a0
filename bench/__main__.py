"""`make bench`: run every measurement, print one line per figure, write bench.json.

`python -m bench --short` runs each of them in seconds, with sizes that are too small to judge.
"""

import importlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from bench import MEASUREMENTS
from bench.sizes import SHORT


def main() -> int:
    """Run the named measurements, or all; exit with 1 if a budget is exceeded."""
    names = [name for name in sys.argv[1:] if name != "--short"]
    short = "--short" in sys.argv
    if short:
        os.environ[SHORT] = "1"
    figures = []
    for name in names or MEASUREMENTS:
        for figure in importlib.import_module(f"bench.{name}").figures():
            print(figure, flush=True)
            figures.append({**asdict(figure), "ratio": figure.ratio, "holds": figure.holds})
    if short:
        return 0
    Path("bench.json").write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if all(figure["holds"] for figure in figures) else 1


sys.exit(main())
