"""The pictures of the documentation show what the screens show today."""

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = ("locks", "lock", "deadlock", "sessions", "timeline", "demo")
SMALL = 100_000


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all pictures, drawn just now."""
    folder = tmp_path_factory.mktemp("pictures")
    subprocess.run([sys.executable, DOCS / "pictures.py", folder], check=True, timeout=100)
    return folder


def read(picture: Path) -> list[str]:
    """What is written in a picture; another release of Textual may place it a little elsewhere."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    return [html.unescape(text).replace("\xa0", " ") for text in texts]


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_current(drawn: Path, name: str) -> None:
    """To the letter; `make pictures` draws them anew."""
    file = f"{name}.svg"

    assert read(DOCS / file) == read(drawn / file), "run: make pictures"


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_small_and_loads_nothing(name: str) -> None:
    """A page with all of them opens at once, and nobody hears of it."""
    picture = (DOCS / f"{name}.svg").read_text(encoding="utf-8")

    assert len(picture) < SMALL
    assert set(re.findall(r"https?://[^\s\"'<)]+", picture)) <= {
        "http://www.w3.org/2000/svg",
        "https://www.textualize.io",  # in a comment: who wrote the picture
    }


def test_all_pictures_are_drawn(drawn: Path) -> None:
    """There is none in the folder that nobody draws."""
    assert sorted(each.name for each in DOCS.glob("*.svg")) == sorted(
        each.name for each in drawn.iterdir()
    )
