"""Drawings that a reader could not follow are made less often."""

import asyncio
from collections.abc import Callable

import pytest
from textual.message import Message

from zktop.ui.messages import DrawingFailed
from zktop.ui.screens.common.throttle import EARLY_SHARE, Throttle

PAUSE_S = 0.05


class Owner:
    """A widget that makes the calls of its timers."""

    def __init__(self) -> None:
        self.posted: list[Message] = []

    def call_later(self, call: Callable[[], object]) -> None:
        """Call it at once."""
        call()

    def post_message(self, message: Message) -> None:
        """Keep it."""
        self.posted.append(message)


async def test_many_requests_become_two_drawings() -> None:
    """The first one at once, and one for all those that came within the pause."""
    drawn = asyncio.Queue[float]()
    clock = asyncio.get_running_loop().time
    throttle = Throttle(Owner(), lambda: drawn.put_nowait(clock()), PAUSE_S)  # type: ignore[arg-type]  # all that it needs
    for _ in range(5):
        throttle.when_due()
    assert drawn.qsize() == 1
    first, second = await drawn.get(), await drawn.get()
    assert second - first >= PAUSE_S * 0.9
    assert drawn.empty()


@pytest.mark.parametrize(("passed", "number"), [(1 - EARLY_SHARE, 2), (0.9 - EARLY_SHARE, 1)])
async def test_a_drawing_that_is_nearly_due_shares_the_frame(passed: float, number: int) -> None:
    """Earlier requests wait for the end of the pause."""
    drawn = asyncio.Queue[None]()
    throttle = Throttle(Owner(), lambda: drawn.put_nowait(None), pause_s=60.0)  # type: ignore[arg-type]  # all that it needs
    throttle.now()
    throttle._drawn_at -= 60.0 * passed
    throttle.when_due()

    assert drawn.qsize() == number


async def test_a_drawing_at_once_replaces_the_one_that_was_due() -> None:
    """What a key does is drawn at once; nothing is drawn twice."""
    drawn = asyncio.Queue[None]()
    throttle = Throttle(Owner(), lambda: drawn.put_nowait(None), PAUSE_S)  # type: ignore[arg-type]  # all that it needs
    throttle.when_due()
    throttle.when_due()
    throttle.now()
    throttle._later()
    assert drawn.qsize() == 2


async def test_a_drawing_that_was_made_early_is_not_made_again_when_it_was_due() -> None:
    """The next one has its own pause."""
    drawn = asyncio.Queue[None]()
    throttle = Throttle(Owner(), lambda: drawn.put_nowait(None), pause_s=60.0)  # type: ignore[arg-type]  # all that it needs
    throttle.when_due()
    throttle.when_due()
    throttle._drawn_at -= 60.0 * (1 - EARLY_SHARE)
    throttle.when_due()
    throttle.when_due()
    throttle._later()
    assert drawn.qsize() == 2


async def test_a_delayed_drawing_that_fails_is_reported() -> None:
    """It does not end the program."""
    owner, shelf = Owner(), list[int]()
    throttle = Throttle(owner, shelf.pop, PAUSE_S)  # type: ignore[arg-type]  # all that it needs
    throttle._is_scheduled, throttle._drawn_at = True, 0.0
    throttle._later()

    (message,) = owner.posted
    assert isinstance(message, DrawingFailed)
