"""What keys do that no page does by itself: one function for each entry of the table of keys."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from zktop.ui.actions import contenders as contending
from zktop.ui.actions import export as keeping
from zktop.ui.actions import time as timing
from zktop.ui.actions import view as asking
from zktop.ui.actions import view as looking
from zktop.ui.actions import view as recording

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {
    **looking.VIEW_ACTIONS,
    **keeping.ACTIONS,
    **asking.HELP_ACTIONS,
    **contending.ACTIONS,
    **recording.RECORD_ACTIONS,
    **timing.ACTIONS,
}
