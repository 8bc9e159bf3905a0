"""Light strips: they do what Textual's do, and have of it only what was asked for."""

import gc
import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.strip import Strip

from zktop.ui.textual_fixes.memory import lean


def as_it_comes() -> type[Strip]:
    """Give Textual's class as nobody has changed it yet."""
    spec = importlib.util.find_spec("textual.strip")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kind: type[Strip] = module.Strip
    return kind


def caches(strip: Strip) -> int:
    """Count the caches that a strip has."""
    return sum(type(one).__name__ == FIFOCache.__name__ for one in gc.get_referents(strip))


def test_a_strip_has_no_cache_before_it_needs_one() -> None:
    """A line that is drawn once and thrown away needs none of the seven."""
    kind = as_it_comes()
    before = caches(kind([Segment("line")]))
    is_lean = lean(kind)
    strip = kind([Segment("line")])

    assert before == 7
    assert is_lean
    assert caches(strip) == 0
    assert strip.crop(1, 3) is strip.crop(1, 3)
    assert caches(strip) == 1


def test_the_uis_own_strips_are_light() -> None:
    """With the Textual that is installed; whether another one is as this one is, is seen here."""
    assert lean()
    assert caches(Strip([Segment("line")])) == 0


WHOLE = as_it_comes()
TEXTS = st.text("ab あ", max_size=5)
STYLES = st.sampled_from([None, Style(bold=True), Style(color="red")])


@given(st.lists(st.tuples(TEXTS, STYLES), max_size=5), st.lists(st.integers(0, 20)))
def test_a_light_strip_does_what_a_whole_one_does(
    told: list[tuple[str, Style | None]], cuts: list[int]
) -> None:
    """Whatever is written on it, and wherever it is cut."""
    lean()
    segments = [Segment(text, style) for text, style in told if text]
    light, whole = Strip(segments), WHOLE(segments)
    cuts = [*sorted({cut for cut in cuts if 0 < cut < whole.cell_length}), whole.cell_length]

    for _ in range(2):  # the second time from its caches
        assert light.cell_length == whole.cell_length
        assert light.text == whole.text
        assert list(map(list, light.divide(cuts))) == list(map(list, whole.divide(cuts)))
        assert list(light.crop(1, cuts[0])) == list(whole.crop(1, cuts[0]))
        assert list(light.adjust_cell_length(9)) == list(whole.adjust_cell_length(9))
        assert list(light.apply_style(Style(dim=True))) == list(whole.apply_style(Style(dim=True)))
        assert light.link_ids == whole.link_ids


def test_strips_of_another_make_are_left_alone() -> None:
    """A newer Textual may keep more in one than is known here."""

    class Newer(Strip):
        __slots__ = (*Strip.__slots__, "_colour")

        def __init__(self, segments: list[Segment], cell_length: int | None = None) -> None:
            super().__init__(segments, cell_length)
            self._colour = "red"

    assert not lean(Newer)
    assert Newer([Segment("line")])._colour == "red"


def test_what_a_strip_never_had_is_still_missing() -> None:
    """A name that is not one of its own is an error, as before."""
    lean()

    with pytest.raises(AttributeError, match="_nothing"):
        _ = Strip([Segment("line")])._nothing  # type: ignore[attr-defined]
