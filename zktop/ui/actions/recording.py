"""Recording from the UI: the same key begins and ends it."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zktop.ui.app import Zktop


def _record(app: "Zktop") -> None:
    if not app.feed.is_live:
        app.tell("This is a recording already.")
    elif app.recording:
        app.feed.record(None)
        app.tell(f"The recording is finished: {app.recording}. `zktop replay` shows it.")
        app.recording = ""
        app.draw()
    else:
        path = Path.cwd() / f"zktop-{datetime.now(UTC):%Y%m%d-%H%M%S}.zktop"
        app.recording = str(path)
        app.feed.record(path)
        app.tell(f"Recording into {path}; r ends it.")
        app.draw()


RECORD_ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {"record": _record}
