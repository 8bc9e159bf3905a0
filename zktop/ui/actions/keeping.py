"""What is taken out of the UI: text, files, recordings."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zktop.ui.app import Zktop


def _copy(app: "Zktop") -> None:
    text = app.page.copied() if app.page else ""
    if not text:
        app.tell("There is nothing here to copy.")
        return
    app.copy_to_clipboard(text)
    app.tell(f"Copied {len(text.splitlines())} lines." if "\n" in text else f"Copied: {text}")


ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {"copy": _copy}
