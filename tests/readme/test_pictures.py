"""The pictures in the documentation show the current screens."""

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = ("locks", "lock", "deadlock", "sessions", "timeline", "demo")
SMALL = 130_000


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all pictures, drawn now."""
    folder = tmp_path_factory.mktemp("pictures")
    subprocess.run([sys.executable, DOCS / "pictures.py", folder], check=True, timeout=100)
    return folder


def read(picture: Path) -> list[str]:
    """The text of a picture; positions may depend on the release of Textual."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    return [html.unescape(text).replace("\xa0", " ") for text in texts]


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_current(drawn: Path, name: str) -> None:
    """Its text equals a new one's; `make pictures` redraws it."""
    file = f"{name}.svg"

    assert read(DOCS / file) == read(drawn / file), "run: make pictures"


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_small_and_loads_nothing(name: str) -> None:
    """It is small, and requests nothing from the network."""
    picture = (DOCS / f"{name}.svg").read_text(encoding="utf-8")

    assert len(picture) < SMALL
    assert set(re.findall(r"https?://[^\s\"'<)]+", picture)) <= {
        "http://www.w3.org/2000/svg",
        "https://www.textualize.io",  # in a comment about the generator
    }


def test_all_pictures_are_drawn(drawn: Path) -> None:
    """The folder has no other picture."""
    assert sorted(each.name for each in DOCS.glob("*.svg")) == sorted(
        each.name for each in drawn.iterdir()
    )
