"""Which part of what is known is on the screen.

Dialogs about zktop itself: the help, and the choice of a theme.

Recording from the UI: the same key begins and ends it.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zktop.ui.actions.contenders import why_none
from zktop.ui.keys import DEMO, known_on
from zktop.ui.screens import PAGES
from zktop.ui.screens.findings.list import worst_first
from zktop.ui.state import Selection

if TYPE_CHECKING:
    from zktop.ui.app import Zktop


def _page(number: int, app: "Zktop") -> None:
    name = PAGES[number].name
    if name == DEMO and app.stage is None:
        app.tell(why_none(app))
    else:
        app.turn_to(name, _live_case(app) if name == "findings" else None)


def _live_case(app: "Zktop") -> Selection | None:
    """Choose the worst deadlock where the one that was looked at last is over."""
    frame, page, pointed = app.moment.frame, app.page, app.pointed
    if frame is None or page is None or page.NAME == "findings" or not frame.report.deadlocks:
        return None
    live = [one.id for one in worst_first(frame.report)]
    is_over = pointed.case in app.tape.deadlocks and pointed.case not in live
    return pointed._replace(case=live[0]) if is_over else None


def _back(app: "Zktop") -> None:
    """Undo the newest of: a filter, a pause, a way into something."""
    if app.filter_text:
        app.set_filter("")
    elif app.feed.is_live and not app.playback.is_newest:
        app.seek(None)
    else:
        app.turn_back()


def _pause(app: "Zktop") -> None:
    playback = app.playback
    app.pause(on=playback.is_newest if app.feed.is_live else playback.is_playing)


def _next_alert(app: "Zktop") -> None:
    """Go from one deadlock or critical finding to the next, on the page of findings."""
    frame = app.moment.frame
    if frame is None:
        return
    report = frame.report
    told = [deadlock.id for deadlock in report.deadlocks]
    told += [
        finding.id
        for finding in report.findings
        if finding.severity == "critical" and finding.id not in told and not finding.cause
    ] or [finding.id for finding in report.findings if finding.id not in told][:1]
    if not told:
        app.tell("Nothing is wrong that could be seen.")
        return
    case = app.subject.case
    following = told[(told.index(case) + 1) % len(told)] if case in told else told[0]
    app.turn_to("findings", Selection(case=following))


def _palette(app: "Zktop") -> None:
    from zktop.ui.dialogs.base import PaletteDialog  # noqa: PLC0415  the first frame needs none

    app.push_screen(PaletteDialog(id="--command-palette"))


VIEW_ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {
    **{f"page_{number + 1}": partial(_page, number) for number in range(len(PAGES))},
    "back": _back,
    "pause": _pause,
    "next_alert": _next_alert,
    "filter": lambda app: app.ask_filter(),
    "faster": lambda app: app.set_refresh(app.refresh_rate + 5),
    "slower": lambda app: app.set_refresh(app.refresh_rate - 5),
    "palette": _palette,
    "next_pane": lambda app: app.action_focus_next(),
    "previous_pane": lambda app: app.action_focus_previous(),
    "quit": lambda app: app.leave(),
}


def _help(app: "Zktop") -> None:
    from zktop.ui.dialogs.help import HelpDialog  # noqa: PLC0415  the first frame needs no dialog

    page = app.page
    if page is not None:
        app.push_screen(
            HelpDialog(page.TITLE, page.HELP or "", tuple(known_on(page.NAME, app.table)))
        )


def _theme(app: "Zktop") -> None:
    from zktop.ui.dialogs.choice import ThemeDialog  # noqa: PLC0415  as above

    wardrobe = app.look.themes()
    for wrong in wardrobe.mistakes:
        app.tell(wrong, is_wrong=True)
    if not wardrobe.designs:
        app.tell("There are no themes to choose from.", is_wrong=True)
        return

    def chosen(name: str | None) -> None:
        if name is not None:
            app.tell(f"The theme is {name} now.")

    app.push_screen(ThemeDialog(wardrobe, app.theme), chosen)


HELP_ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {"help": _help, "theme": _theme}


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
