"""Which part of what is known is on the screen."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from zktop.ui.actions.contending import why_none
from zktop.ui.draw.cases import worst_first
from zktop.ui.keys import DEMO
from zktop.ui.moment import Subject
from zktop.ui.pages import PAGES

if TYPE_CHECKING:
    from zktop.ui.app import Zktop


def _page(number: int, app: "Zktop") -> None:
    name = PAGES[number].name
    if name == DEMO and app.stage is None:
        app.tell(why_none(app))
    else:
        app.turn_to(name, _live_case(app) if name == "findings" else None)


def _live_case(app: "Zktop") -> Subject | None:
    """Choose the worst deadlock where the one that was looked at last is over."""
    frame, page, pointed = app.moment.frame, app.page, app.pointed
    if frame is None or page is None or page.NAME == "findings" or not frame.report.deadlocks:
        return None
    live = [one.id for one in worst_first(frame.report)]
    is_over = pointed.case in app.tape.cases and pointed.case not in live
    return pointed._replace(case=live[0]) if is_over else None


def _back(app: "Zktop") -> None:
    """Undo the newest of: a filter, a pause, a way into something."""
    if app.filter_text:
        app.set_filter("")
    elif app.feed.is_live and not app.travel.is_newest:
        app.seek(None)
    else:
        app.turn_back()


def _pause(app: "Zktop") -> None:
    travel = app.travel
    app.pause(on=travel.is_newest if app.feed.is_live else travel.is_playing)


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
    app.turn_to("findings", Subject(case=following))


def _palette(app: "Zktop") -> None:
    from zktop.ui.dialogs.once import Palette  # noqa: PLC0415  the first frame needs none

    app.push_screen(Palette(id="--command-palette"))


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
