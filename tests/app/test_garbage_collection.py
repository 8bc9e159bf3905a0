"""How rarely the UI collects garbage."""

import gc
from collections.abc import Callable, Iterator

import pytest

from zktop.app import run_ui
from zktop.app.clusters import Clusters, open_cluster
from zktop.app.garbage_collection import NEW_OBJECTS, collect_rarely
from zktop.config.keys_and_defaults import Config
from zktop.ui.app import Zktop
from zktop.ui.settings import UiSettings

PICTURES, OBJECTS = 200, 3_000


@pytest.fixture(autouse=True)
def python_default() -> Iterator[None]:
    """Collect as Python does, and after the test as before it."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def full_collections(work: Callable[[], object]) -> int:
    """Count the full collections during some work."""
    before = gc.get_stats()[2]["collections"]
    work()
    return gc.get_stats()[2]["collections"] - before


def draw_pictures() -> None:
    """Create a picture after another; each lives until the next one is there."""
    picture: list[list[int]] = []
    for _ in range(PICTURES):
        picture = [[] for _ in range(OBJECTS)]
    assert picture


def test_drawing_causes_no_full_collection() -> None:
    """With Python's default, it causes many."""
    assert full_collections(draw_pictures) > 1
    collect_rarely()
    assert full_collections(draw_pictures) == 0


def test_the_ui_collects_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """From its first picture on."""
    monkeypatch.setattr(Zktop, "run", lambda _app: gc.get_threshold()[0])
    clusters = Clusters({"zk1": ""}, lambda name: open_cluster(name, Config()))

    assert run_ui._run(clusters, UiSettings()) == NEW_OBJECTS
