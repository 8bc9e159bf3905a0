"""What is taken out of the UI: text on the clipboard, and files."""

import asyncio
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zktop.ui.app import Zktop
    from zktop.ui.dialogs.export import Order

LONGEST_TOLD: Final = 60  # characters of what was copied


def _copy(app: "Zktop") -> None:
    text = app.page.copied() if app.page else ""
    if not text:
        app.tell("There is nothing here to copy.")
        return
    app.copy_to_clipboard(text)
    first, *rest = text.splitlines()
    told = first if len(first) <= LONGEST_TOLD else f"{first[: LONGEST_TOLD - 3]}..."
    more = f" (and {len(rest)} more lines)" if rest else ""
    app.tell(f"Copied, if your terminal lets us: {told}{more}")


def _export(app: "Zktop") -> None:
    from zktop.ui.dialogs.export import Export  # noqa: PLC0415  the first frame needs no dialog

    frame = app.moment.frame
    forms = [*(app.exports.forms if app.exports is not None and frame else ()), "svg"]
    stem = f"zktop-{datetime.now(UTC):%Y%m%d-%H%M%S}"

    def chosen(order: "Order | None") -> None:
        if order is not None:
            app.call_after_refresh(partial(_begin, app, order))

    app.push_screen(Export(forms, stem), chosen)


def _begin(app: "Zktop", order: "Order") -> None:
    """Take what is on the screen now, and have it written while the screen goes on."""
    frame, exports = app.moment.frame, app.exports
    if order.form == "svg":
        picture = app.export_screenshot(title="zktop")
        app.run_worker(_write(app, order.file, lambda: picture))
    elif frame is not None and exports is not None:
        text = partial(exports.export, frame.report, order.form)
        app.run_worker(_write(app, order.file, text))


async def _write(app: "Zktop", file: Path, text: Callable[[], str]) -> None:
    loop = asyncio.get_running_loop()
    try:
        with ThreadPoolExecutor(1) as one:  # gone afterwards, unlike those of `to_thread`
            await loop.run_in_executor(one, lambda: keep(file, text()))
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        app.tell(f"{file} could not be written: {why}.", is_wrong=True)
    else:
        app.tell(f"Written: {file}")


def keep(file: Path, text: str) -> None:
    """Write a file whole or not at all; one that is there already is never touched."""
    number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}.")
    try:
        with os.fdopen(number, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(name, 0o666 & ~_umask())  # noqa: PTH101  mkstemp keeps others out; they may read
        os.link(name, file)  # unlike a rename, this refuses to replace
    finally:
        os.unlink(name)  # noqa: PTH108  a name, not a Path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {"copy": _copy, "export": _export}
