"""docs/incident.html is what this version writes."""

import re
import subprocess
from base64 import b64decode
from pathlib import Path
from zlib import decompress

from tmux import ZKTOP

DOCS = Path(__file__).parents[2] / "docs"
MAX_PICTURE_BYTES = 150_000


def test_the_page_is_current(tmp_path: Path) -> None:
    """`make pictures` writes it again."""
    made = tmp_path / "incident.html"
    command = [*ZKTOP, "report", "--from", DOCS / "incident.zktop", "-o", made]
    subprocess.run(command, check=True, timeout=60, stderr=subprocess.DEVNULL)

    assert unpacked(made) == unpacked(DOCS / "incident.html"), "run: make pictures"


def unpacked(page: Path) -> str:
    """The text of a page; how its time line is packed may depend on the release of zlib."""
    text = page.read_text(encoding="utf-8")
    return re.sub(
        r'(?<="packed":")[^"]*', lambda found: decompress(b64decode(found[0])).decode(), text
    )


def test_its_picture_is_small() -> None:
    """README shows it."""
    assert (DOCS / "report.png").stat().st_size < MAX_PICTURE_BYTES
