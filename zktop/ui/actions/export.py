"""What is taken out of the UI: text on the clipboard, and files.

A picture of the screen that looks the same in every program, with or without a network.

What Textual draws loads its font from elsewhere, and begins pieces of text with blanks, which many
programs leave out: then columns are no columns any more.
"""

import asyncio
import os
import re
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zktop.ui.app import Zktop
    from zktop.ui.dialogs.export import ExportRequest
    from zktop.ui.past.tape import Tape
    from zktop.ui.ports import Frame
    from zktop.ui.state import TimeRange

BLANK: Final = "&#160;"
CELL: Final = 12.2  # the width of a letter in a picture
TEXT: Final = (
    r'(?P<before><text class="[^"]*" )x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" '
    r'textLength="(?P<width>[\d.]+)"(?P<rest>[^>]*)>(?P<text>[^<]*)</text>'
)


def plain(picture: str) -> str:
    """Take out what loads fonts from elsewhere, and blanks, which not every program draws."""
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code", "Fira Code, DejaVu Sans Mono, Menlo, Consolas")
    picture = re.sub(r"terminal-\d+-", "zktop-", picture)  # the number is that of this run
    return re.sub(TEXT, _without_blanks, picture)


def _without_blanks(found: re.Match[str]) -> str:
    """Begin and end a piece of text with what is to be seen of it."""
    text = found["text"].replace(BLANK, " ")
    seen = text.strip(" ")
    if not seen:
        return ""
    left = float(found["x"]) + CELL * (len(text) - len(text.lstrip(" ")))
    width = float(found["width"]) - CELL * (len(text) - len(seen))
    place = f'x="{left:g}" y="{found["y"]}" textLength="{width:g}"'
    return f"{found['before']}{place}{found['rest']}>{seen.replace(' ', BLANK)}</text>"


LONGEST_TOLD: Final = 60  # characters of what was copied
LEAD_MS: Final = 60_000  # before a clip: no verdict takes longer than that to be made
REPLAYS: Final = ". `zktop replay` shows it, and the minute before it."


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
    from zktop.ui.dialogs.export import ExportDialog  # noqa: PLC0415  the first frame needs no dialog

    frame, exports = app.moment.frame, app.exports
    stretch = app.page.stretch if app.page is not None and exports is not None else None
    forms = [*(exports.forms if exports is not None and frame else ()), "svg"]
    stem = f"zktop-{datetime.now(UTC):%Y%m%d-%H%M%S}"

    def chosen(order: "ExportRequest | None") -> None:
        if order is not None:
            app.call_after_refresh(partial(_begin, app, order, stretch))

    app.push_screen(ExportDialog(forms, stem, stretch), chosen)


def _begin(app: "Zktop", order: "ExportRequest", stretch: "TimeRange | None") -> None:
    """Take what is on the screen now, and have it written while the screen goes on."""
    frame, exports = app.moment.frame, app.exports
    if order.form == "svg":
        picture = plain(app.export_screenshot(title="zktop")).encode()
        app.run_worker(_write(app, order.file, lambda: picture))
    elif frame is None or exports is None:
        return
    elif order.form == "clip" and stretch is not None:
        frames = _frames(app.tape, stretch)
        app.run_worker(_write(app, order.file, lambda: exports.clip(frames), REPLAYS))
    else:
        text = partial(exports.export, frame.report, order.form)
        app.run_worker(_write(app, order.file, lambda: text().encode()))


def _frames(tape: "Tape", stretch: "TimeRange") -> "list[Frame]":
    """Take what is kept of a stretch of time, and of the minute that its verdicts rest on."""
    begin, end = stretch
    frames = [one for one in tape.frames(begin - LEAD_MS) if one.at <= end]
    last = tape.last
    is_left = last is not None and last.at <= end and last is not frames[-1]
    return [*frames, last] if last is not None and is_left else frames


async def _write(app: "Zktop", file: Path, content: Callable[[], bytes], more: str = "") -> None:
    loop = asyncio.get_running_loop()
    try:
        with ThreadPoolExecutor(1) as one:  # gone afterwards, unlike those of `to_thread`
            await loop.run_in_executor(one, lambda: keep(file, content()))
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        app.tell(f"{file} could not be written: {why}.", is_wrong=True)
    else:
        app.tell(f"Written: {file}{more}")


def keep(file: Path, content: bytes) -> None:
    """Write a file whole or not at all; one that is there already is never touched."""
    number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}.")
    try:
        with os.fdopen(number, "wb") as out:
            out.write(content)
        os.chmod(name, 0o666 & ~_umask())  # noqa: PTH101  mkstemp keeps others out; they may read
        os.link(name, file)  # unlike a rename, this refuses to replace
    finally:
        os.unlink(name)  # noqa: PTH108  a name, not a Path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {"copy": _copy, "export": _export}
