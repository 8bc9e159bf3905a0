"""Garbage is collected between keys, not while a key takes effect."""

import asyncio
import gc

import pytest
from ui.fake_feed import app_of, pressed

from zktop.ui.textual_fixes import garbage_at_rest
from zktop.ui.textual_fixes.garbage_at_rest import MIN_ROUNDS, GarbageAtRest, collect_if_much

SOON_S = 0.01


def rounds(number: int) -> None:
    """Make so many small collections after a full one."""
    gc.collect()
    for _ in range(number):
        gc.collect(1)


@pytest.mark.parametrize(("number", "is_full"), [(MIN_ROUNDS, True), (MIN_ROUNDS - 1, False)])
def test_it_collects_only_what_python_would_soon(number: int, *, is_full: bool) -> None:
    """A full collection ends the count of small ones."""
    gc.disable()
    try:
        rounds(number)
        collect_if_much()
        assert (gc.get_count()[2] == 0) == is_full
    finally:
        gc.enable()


async def test_a_further_key_puts_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs once, after the last key."""
    runs = asyncio.Queue[float]()
    clock = asyncio.get_running_loop().time
    monkeypatch.setattr(garbage_at_rest, "REST_S", SOON_S)
    monkeypatch.setattr(garbage_at_rest, "collect_if_much", lambda: runs.put_nowait(clock()))
    garbage = GarbageAtRest()
    for _ in range(3):
        last = clock()
        garbage.after_key()

    assert await runs.get() - last >= SOON_S * 0.9
    assert runs.empty()


async def test_each_key_of_the_app_puts_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a key that does nothing."""
    keys: list[str] = []
    monkeypatch.setattr(GarbageAtRest, "after_key", lambda _self: keys.append("key"))
    async with app_of().run_test() as pilot:
        await pressed(pilot, "down", "f12")

    assert keys == ["key", "key"]
