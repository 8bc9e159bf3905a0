"""The page of the shipped incident is that of this version."""

import subprocess
from pathlib import Path

from tmux import ZKTOP

DOCS = Path(__file__).parents[2] / "docs"
MAX_PICTURE_BYTES = 150_000


def test_the_page_is_current(tmp_path: Path) -> None:
    """`make pictures` writes it again."""
    made = tmp_path / "incident.html"
    command = [*ZKTOP, "report", "--from", DOCS / "incident.zktop", "-o", made]
    subprocess.run(command, check=True, timeout=60, stderr=subprocess.DEVNULL)

    assert made.read_text(encoding="utf-8") == (DOCS / "incident.html").read_text(encoding="utf-8")


def test_its_picture_is_small() -> None:
    """README shows it."""
    assert (DOCS / "report.png").stat().st_size < MAX_PICTURE_BYTES
