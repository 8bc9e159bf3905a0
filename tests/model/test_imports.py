"""Every module of the model can be the first that a program imports."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EACH_FIRST = """
import importlib, pathlib, sys
for file in sorted(pathlib.Path("zktop/model").rglob("*.py")):
    for name in [name for name in sys.modules if name.partition(".")[0] == "zktop"]:
        del sys.modules[name]
    try:
        importlib.import_module(".".join(file.with_suffix("").parts))
    except ImportError as error:
        print(file, error)
"""


def test_no_module_needs_another_to_be_imported_before_it() -> None:
    """Else a test fails or passes by the order in which files are collected."""
    done = subprocess.run(
        [sys.executable, "-c", EACH_FIRST], capture_output=True, text=True, check=True, cwd=ROOT
    )

    assert done.stdout == ""
