"""The recorded session of `zktop contend` matches what contenders print today."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
HOLD_S = "5"


def shape(text: str) -> list[str]:
    """The text without the parts that differ in every run."""
    text = re.sub(r"\d\d:\d\d:\d\d\.\d{3}", "TIME", text)
    text = re.sub(r"session 0x[0-9a-f]+", "SESSION", text)
    text = re.sub(r"--hold \S+", "--hold", text)
    return re.sub(r"works for .*", "works", text).splitlines()


def test_the_three_windows_equal_the_recording(tmp_path: Path) -> None:
    """Recorded again, with shorter work."""
    again = tmp_path / "contend.txt"
    subprocess.run([sys.executable, DOCS / "windows.py", HOLD_S, again], check=True, timeout=100)

    recorded = (DOCS / "contend.txt").read_text(encoding="utf-8")
    assert shape(again.read_text(encoding="utf-8")) == shape(recorded)
