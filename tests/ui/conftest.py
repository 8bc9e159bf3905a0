"""The UI as every test needs it, whatever terminal the tests run in."""

import os

import pytest
from textual import app, constants, pilot, screen
from ui.quiet_loop import pause, press, wait_for_quiet

from zktop.ui.screens.locks import screen as locks

for name in ("NO_COLOR", "TEXTUAL_THEME"):
    os.environ.pop(name, None)
constants.TEXTUAL_ANIMATIONS = "none"
screen.UPDATE_PERIOD = 0.004  # instead of 16 ms, which each key waits for several times
app.wait_for_idle = pilot.wait_for_idle = wait_for_quiet
pilot.Pilot.press, pilot.Pilot.pause = press, pause
# tests read the panes at once; `Throttle` has tests of its own
locks.READABLE_S = locks.EVENTS_S = 0.0


_paint = screen.Screen._compositor_refresh


@pytest.fixture
def paints() -> None:
    """Have the screen painted after each change, as in a terminal."""


@pytest.fixture(autouse=True)
def _paint_what_is_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests paint the screen when they read it, with `settled`.

    Textual paints after each change, even without a terminal, and drops the result. That takes a
    third of the processor time of all tests here.
    """
    if "paints" not in request.fixturenames:
        monkeypatch.setattr(screen.Screen, "_compositor_refresh", _forget_what_changed)


def _forget_what_changed(changed: screen.Screen[object]) -> None:
    if changed is not changed.app.screen:
        _paint(changed)  # it is below a dialog, which shows it
        return
    changed._dirty_widgets.clear()
    changed._compositor._dirty_regions.clear()
